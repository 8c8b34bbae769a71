// SPDX-License-Identifier: GPL-2.0
/*
 * shapes BASE MODULE: writes raw BTF that describes shapes.h, as that of a
 * module over its base. The offsets are the compiler's, those of bit-fields
 * found by setting them and looking which bits changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "shapes-shim.h"
#include "shapes.h"

static struct btf *mod;

static int must(int id, const char *what)
{
	if (id >= 0)
		return id;
	fprintf(stderr, "shapes: cannot add %s: %s\n", what, strerror(-id));
	exit(1);
}

static void field(const char *name, int type, size_t bit, size_t bits)
{
	must(btf__add_field(mod, name, type, (unsigned int)bit,
			    (unsigned int)bits), name);
}

static size_t first_bit(const void *p, size_t size, size_t *nr)
{
	const u8 *byte = p;
	size_t first = size * 8;

	*nr = 0;
	for (size_t i = 0; i < size * 8; i++) {
		if (!(byte[i / 8] & 1 << i % 8))
			continue;
		if (!(*nr)++)
			first = i;
	}
	return first;
}

#define FIELD(tag, name, type)						\
	field(#name, type, offsetof(tag, name) * 8, 0)

#define BITS(tag, name, type)						\
	do {								\
		tag x;							\
		size_t nr, at;						\
									\
		memset(&x, 0, sizeof(x));				\
		x.name--;	/* from 0: every bit */			\
		at = first_bit(&x, sizeof(x), &nr);			\
		field(#name, type, at, nr);				\
	} while (0)

static void save(struct btf *btf, const char *path)
{
	unsigned int size;
	const void *raw = btf__raw_data(btf, &size);
	FILE *f = fopen(path, "w");

	if (!raw || !f || fwrite(raw, 1, size, f) != size || fclose(f)) {
		fprintf(stderr, "shapes: cannot write %s\n", path);
		exit(1);
	}
}

static int ptr_to(int to)
{
	return must(btf__add_ptr(mod, to), "a pointer");
}

static int array_of(int index, int of, unsigned int nr)
{
	return must(btf__add_array(mod, index, of, nr), "an array");
}

int main(int argc, char **argv)
{
	struct btf *base = btf__new_empty();
	int t_int, t_char, u8_, u16_, u32_, u64_, s32_, pair, both, nothing;
	int inner, shapes, self, values, strings, method, plain;

	if (argc != 3 || !base)
		return 2;
	mod = base;
	t_int = must(btf__add_int(base, "int", 4, BTF_INT_SIGNED), "int");
	t_char = must(btf__add_int(base, "char", 1, BTF_INT_SIGNED), "char");
	u8_ = must(btf__add_int(base, "unsigned char", 1, 0), "u8");
	u16_ = must(btf__add_int(base, "short unsigned int", 2, 0), "u16");
	u32_ = must(btf__add_int(base, "unsigned int", 4, 0), "u32");
	u64_ = must(btf__add_int(base, "long unsigned int", 8, 0), "u64");
	u8_ = must(btf__add_typedef(base, "u8", u8_), "u8");
	u16_ = must(btf__add_typedef(base, "u16", u16_), "u16");
	u32_ = must(btf__add_typedef(base, "u32", u32_), "u32");
	u64_ = must(btf__add_typedef(base, "u64", u64_), "u64");
	s32_ = must(btf__add_typedef(base, "s32", t_int), "s32");
	save(base, argv[1]);

	mod = btf__new_empty_split(base);
	if (!mod)
		return 1;
	inner = must(btf__add_struct(mod, "inner", sizeof(struct inner)), "");
	FIELD(struct inner, a, u8_);
	FIELD(struct inner, b, u32_);

	pair = must(btf__add_struct(mod, NULL, 4), "");
	field("left", u16_, 0, 0);
	field("right", u16_, 16, 0);
	both = must(btf__add_union(mod, NULL, 4), "");
	field(NULL, pair, 0, 0);
	field("both", u32_, 0, 0);

	/* The struct comes last: its pointer type is made before it, by id. */
	strings = must(btf__add_const(mod, t_char), "const");
	strings = must(btf__add_const(mod, ptr_to(strings)), "const");
	strings = array_of(u32_, strings, 3);
	values = ptr_to(must(btf__add_const(mod, u32_), "const"));
	nothing = must(btf__add_func_proto(mod, t_int), "a prototype");
	plain = array_of(u32_, ptr_to(nothing), 2);
	self = (int)btf__type_cnt(mod);
	shapes = self + 6;
	must(btf__add_ptr(mod, shapes), "a pointer");
	method = must(btf__add_func_proto(mod, t_int), "a prototype");
	must(btf__add_func_param(mod, "self", self), "self");
	must(btf__add_func_param(mod, "values", values), "values");
	must(btf__add_func_param(mod, NULL, 0), "...");
	method = ptr_to(method);
	values = ptr_to(array_of(u32_, u8_, 4));
	must(btf__add_volatile(mod, u32_), "volatile");

	if (must(btf__add_struct(mod, "shapes", sizeof(struct shapes)), "") !=
	    shapes) {
		fprintf(stderr, "shapes: struct shapes is not type %d\n",
			shapes);
		return 1;
	}
	FIELD(struct shapes, first, u8_);
	BITS(struct shapes, low, u32_);
	BITS(struct shapes, mid, u32_);
	BITS(struct shapes, high, u32_);
	BITS(struct shapes, wide, u64_);
	BITS(struct shapes, negative, s32_);
	field(NULL, both, offsetof(struct shapes, both) * 8, 0);
	FIELD(struct shapes, names, strings);
	FIELD(struct shapes, method, method);
	FIELD(struct shapes, table, plain);
	FIELD(struct shapes, matrix, values);
	FIELD(struct shapes, embedded, inner);
	FIELD(struct shapes, reg, shapes + 1);
	FIELD(struct shapes, tail, u8_);
	must(btf__add_ptr(mod, shapes - 1), "a pointer");

	must(btf__add_struct(mod, "squeezed", sizeof(struct squeezed)), "");
	FIELD(struct squeezed, a, u8_);
	FIELD(struct squeezed, b, u32_);
	FIELD(struct squeezed, c, u16_);

	values = array_of(u32_, u8_, 12);
	must(btf__add_union(mod, "either", sizeof(union either)), "");
	FIELD(union either, word, u32_);
	FIELD(union either, bytes, values);
	FIELD(union either, wide, u64_);

	must(btf__add_func(mod, "shapes_call", BTF_FUNC_GLOBAL, nothing),
	     "a function");
	save(mod, argv[2]);
	return 0;
}
