// SPDX-License-Identifier: GPL-2.0
/* The header that core-abi made of shapes.h's BTF against shapes.h itself. */
#include <stdio.h>
#include <string.h>

#include "shapes-shim.h"

/* The real ones, under other names. */
#define inner real_inner
#define shapes real_shapes
#define squeezed real_squeezed
#define either real_either
#include "shapes.h"
#undef inner
#undef shapes
#undef squeezed
#undef either

#include "shapes-gen.h"

static int wrong;

static void check(const char *what, size_t gen, size_t real)
{
	if (gen == real)
		return;
	fprintf(stderr, "%s: generated %zu, real %zu\n", what, gen, real);
	wrong = 1;
}

#define SAME(tag, real, field)						\
	do {								\
		check("offset of " #field, offsetof(tag, field),	\
		      offsetof(real, field));				\
		check("size of " #field, sizeof_field(tag, field),	\
		      sizeof_field(real, field));			\
	} while (0)

/* Sets a bit-field in both and compares the bytes. */
#define SAME_BITS(field)						\
	do {								\
		struct shapes a;					\
		struct real_shapes b;					\
									\
		memset(&a, 0, sizeof(a));				\
		memset(&b, 0, sizeof(b));				\
		a.field--;	/* from 0: every bit */			\
		b.field--;						\
		check("bits of " #field, !!memcmp(&a, &b, sizeof(b)), 0); \
	} while (0)

int main(void)
{
	/* a type that is wrong in the declarator would not compile here */
	struct shapes s = { .method = NULL, .table = { shapes_call } };
	u8 (*matrix)[4] = s.matrix;
	volatile u32 *reg = s.reg;
	const char *const *names = s.names;

	check("size", sizeof(struct shapes), sizeof(struct real_shapes));
	check("alignment", _Alignof(struct shapes),
	      _Alignof(struct real_shapes));
	SAME(struct shapes, struct real_shapes, first);
	SAME_BITS(low);
	SAME_BITS(mid);
	SAME_BITS(wide);
	SAME_BITS(negative);
	SAME(struct shapes, struct real_shapes, left);
	SAME(struct shapes, struct real_shapes, right);
	SAME(struct shapes, struct real_shapes, both);
	SAME(struct shapes, struct real_shapes, names);
	SAME(struct shapes, struct real_shapes, method);
	SAME(struct shapes, struct real_shapes, table);
	SAME(struct shapes, struct real_shapes, matrix);
	SAME(struct shapes, struct real_shapes, embedded);
	SAME(struct shapes, struct real_shapes, reg);
	check("packed size", sizeof(struct squeezed),
	      sizeof(struct real_squeezed));
	SAME(struct squeezed, struct real_squeezed, b);
	SAME(struct squeezed, struct real_squeezed, c);
	check("union size", sizeof(union either), sizeof(union real_either));
	SAME(union either, union real_either, bytes);
	SAME(union either, union real_either, wide);
	return wrong || matrix || reg || names[0];
}

int shapes_call(void)
{
	return 0;
}
