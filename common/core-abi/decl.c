// SPDX-License-Identifier: GPL-2.0
/*
 * C declarations out of BTF.
 *
 * A declarator is built from the inside out: decl() wraps what stands around
 * @inner, then recurses into the type that this one is made of.  On the way it
 * notes which tags are only pointed to (they need a forward declaration) and
 * which public types are embedded (their size must agree with the headers).
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

#define MAX_DEPTH	32

static void note_forward(struct decl_notes *notes, const char *name)
{
	for (size_t i = 0; i < notes->nr_forwards; i++)
		if (!strcmp(notes->forwards[i], name))
			return;
	notes->forwards = must_grow(notes->forwards, notes->nr_forwards,
				    sizeof(*notes->forwards));
	notes->forwards[notes->nr_forwards++] = must_dup(name);
}

/* One name has one size, or the kernel's BTF is not what we take it for. */
void note_embedded(struct decl_notes *notes, const char *name, uint64_t size)
{
	for (size_t i = 0; i < notes->nr_embedded; i++) {
		if (strcmp(notes->embedded[i].name, name))
			continue;
		if (notes->embedded[i].size != size)
			fail("%s has %llu bytes in one place and %llu in another",
			     name,
			     (unsigned long long)notes->embedded[i].size,
			     (unsigned long long)size);
		return;
	}
	notes->embedded = must_grow(notes->embedded, notes->nr_embedded,
				    sizeof(*notes->embedded));
	notes->embedded[notes->nr_embedded].name = must_dup(name);
	notes->embedded[notes->nr_embedded++].size = size;
}

const char *field_name(const struct btf *btf, uint32_t off)
{
	return btf__str_by_offset(btf, off);
}

/* "struct foo" + "*bar" */
static char *join(const char *base, const char *inner)
{
	return say("%s%s%s", base, *inner ? " " : "", inner);
}

static char *render(const struct btf *btf, uint32_t id, const char *inner,
		    bool by_value, int depth, struct decl_notes *notes);

/* Types only: a parameter with another name does not make another function. */
static char *params(const struct btf *btf, const struct btf_type *t,
		    int depth, struct decl_notes *notes)
{
	const struct btf_param *p = btf_params(t);
	uint32_t n = btf_vlen(t);
	char *list = must_dup(n ? "" : "void");

	for (uint32_t i = 0; i < n; i++) {
		char *one, *more;

		/* "..." is a last parameter without name and type */
		if (!p[i].type && i == n - 1)
			one = must_dup("...");
		else
			one = render(btf, p[i].type, "", true, depth + 1,
				     notes);
		more = say("%s%s%s", list, *list ? ", " : "", one);
		free(list);
		free(one);
		list = more;
	}
	return list;
}

static char *tagged(const struct btf *btf, const struct btf_type *t,
		    const char *tag, const char *inner, bool by_value,
		    struct decl_notes *notes)
{
	const char *name = field_name(btf, t->name_off);
	char *full, *s;

	/* its users know what is in it */
	if (!*name && by_value)
		return say("u8 %s[%u]", inner, t->size);
	if (!*name)
		fail("a %s without a name cannot be declared outside of the kernel (around \"%s\")",
		     tag, inner);
	full = say("%s %s", tag, name);
	if (strcmp(tag, "enum")) {
		if (by_value)
			note_embedded(notes, full, t->size);
		else
			note_forward(notes, full);
	}
	s = join(full, inner);
	free(full);
	return s;
}

static char *wrapped(const struct btf *btf, uint32_t id, char *inner,
		     bool by_value, int depth, struct decl_notes *notes)
{
	char *s = render(btf, id, inner, by_value, depth + 1, notes);

	free(inner);
	return s;
}

static bool is_kind(const struct btf *btf, uint32_t id, uint32_t kind)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	/* qualifiers without a name of their own are looked through */
	for (int i = 0; btf_is_mod(t) && i < MAX_DEPTH; i++)
		t = btf__type_by_id(btf, t->type);
	return btf_kind(t) == kind;
}

/* A qualifier of a pointer stands behind its star, any other before all. */
static char *qualified(const struct btf *btf, uint32_t id, const char *word,
		       const char *inner, bool by_value, int depth,
		       struct decl_notes *notes)
{
	char *s, *t;

	if (is_kind(btf, id, BTF_KIND_PTR))
		return wrapped(btf, id, join(word, inner), by_value, depth,
			       notes);
	s = render(btf, id, inner, by_value, depth + 1, notes);
	t = join(word, s);
	free(s);
	return t;
}

static char *render(const struct btf *btf, uint32_t id, const char *inner,
		    bool by_value, int depth, struct decl_notes *notes)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	uint32_t real;
	char *s;

	if (depth > MAX_DEPTH)
		fail("corrupt BTF: the type of \"%s\" nests without an end",
		     inner);
	if (!id)
		return join("void", inner);
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
		return join(field_name(btf, t->name_off), inner);
	case BTF_KIND_TYPEDEF:
		real = strip_modifiers(btf, id);
		if (by_value && btf_is_composite(btf__type_by_id(btf, real)))
			note_embedded(notes, field_name(btf, t->name_off),
				      btf__type_by_id(btf, real)->size);
		return join(field_name(btf, t->name_off), inner);
	case BTF_KIND_STRUCT:
		return tagged(btf, t, "struct", inner, by_value, notes);
	case BTF_KIND_UNION:
		return tagged(btf, t, "union", inner, by_value, notes);
	case BTF_KIND_FWD:
		return tagged(btf, t, btf_kflag(t) ? "union" : "struct", inner,
			      false, notes);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return tagged(btf, t, "enum", inner, by_value, notes);
	case BTF_KIND_CONST:
		return qualified(btf, t->type, "const", inner, by_value, depth,
				 notes);
	case BTF_KIND_VOLATILE:
		return qualified(btf, t->type, "volatile", inner, by_value,
				 depth, notes);
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return render(btf, t->type, inner, by_value, depth + 1, notes);
	case BTF_KIND_PTR:
		if (is_kind(btf, t->type, BTF_KIND_FUNC_PROTO) ||
		    is_kind(btf, t->type, BTF_KIND_ARRAY))
			s = say("(*%s)", inner);
		else
			s = say("*%s", inner);
		return wrapped(btf, t->type, s, false, depth, notes);
	case BTF_KIND_ARRAY:
		return wrapped(btf, btf_array(t)->type,
			       say("%s[%u]", inner, btf_array(t)->nelems),
			       by_value, depth, notes);
	case BTF_KIND_FUNC_PROTO:
		s = params(btf, t, depth, notes);
		return wrapped(btf, t->type, say("%s(%s)", inner, s), true,
			       depth, notes);
	default:
		fail("corrupt BTF: \"%s\" is of the kind %u, which is no type",
		     inner, btf_kind(t));
	}
}

/**
 * decl() - a C declaration
 * @btf: where the type is
 * @id: the type
 * @inner: the name to declare; "" for an abstract one
 * @notes: collects what the declaration relies on
 *
 * Returns a string for free().
 */
char *decl(const struct btf *btf, uint32_t id, const char *inner,
	   struct decl_notes *notes)
{
	return render(btf, id, inner, true, 0, notes);
}
