// SPDX-License-Identifier: GPL-2.0
/*
 * change BASE BTF CHANGE...: changes the BTF of a module, a file with nothing else, in place.
 * BASE is what it was made over. The changes keep its length:
 *
 *	gone STRUCT MEMBER	the member gets the name of its struct
 *	swap STRUCT A B		two members of one size change their places
 *	as FUNCTION OTHER	the function gets the prototype of the other one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

static struct btf *mod;

static void __attribute__((noreturn)) die(const char *what, const char *name)
{
	fprintf(stderr, "change: %s \"%s\"\n", what, name);
	exit(1);
}

/* A type of the module itself, writable. */
static struct btf_type *own(const char *name, unsigned int kind)
{
	unsigned int first = btf__type_cnt(btf__base_btf(mod));

	for (unsigned int id = first; id < btf__type_cnt(mod); id++) {
		const struct btf_type *t = btf__type_by_id(mod, id);

		if (btf_kind(t) == kind &&
		    !strcmp(btf__str_by_offset(mod, t->name_off), name))
			return (struct btf_type *)t;
	}
	die("the module's own BTF has no type", name);
}

static struct btf_member *member(struct btf_type *t, const char *name)
{
	struct btf_member *m = btf_members(t);

	for (unsigned int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__str_by_offset(mod, m[i].name_off), name))
			return &m[i];
	die("the struct has no member", name);
}

/* Returns the number of arguments that the change took. */
static int change(char **arg, int nr)
{
	struct btf_member *a, *b;
	struct btf_type *t;
	unsigned int at;

	if (nr >= 3 && !strcmp(arg[0], "gone")) {
		t = own(arg[1], BTF_KIND_STRUCT);
		member(t, arg[2])->name_off = t->name_off;
		return 3;
	}
	if (nr >= 4 && !strcmp(arg[0], "swap")) {
		t = own(arg[1], BTF_KIND_STRUCT);
		a = member(t, arg[2]);
		b = member(t, arg[3]);
		at = a->offset;
		a->offset = b->offset;
		b->offset = at;
		return 4;
	}
	if (nr >= 3 && !strcmp(arg[0], "as")) {
		own(arg[1], BTF_KIND_FUNC)->type =
			own(arg[2], BTF_KIND_FUNC)->type;
		return 3;
	}
	die("expected gone STRUCT MEMBER, swap STRUCT A B or as FUNCTION OTHER at",
	    arg[0]);
}

int main(int argc, char **argv)
{
	struct btf *base;
	const void *raw;
	unsigned int size;
	FILE *f;

	if (argc < 4)
		die("usage: change BASE BTF CHANGE..., not", argv[0]);
	base = btf__parse(argv[1], NULL);
	if (!base)
		die("cannot read the base", argv[1]);
	mod = btf__parse_split(argv[2], base);
	if (!mod)
		die("cannot read the BTF", argv[2]);
	for (int i = 3; i < argc;)
		i += change(argv + i, argc - i);
	raw = btf__raw_data(mod, &size);
	f = fopen(argv[2], "w");
	if (!raw || !f || fwrite(raw, 1, size, f) != size || fclose(f))
		die("cannot write", argv[2]);
	return 0;
}
