// SPDX-License-Identifier: GPL-2.0
/* Memory that is given back all at once */
#include "common/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct piece {
	struct piece *before;
	max_align_t data[];
};

static struct piece *last;

static _Noreturn void no_memory(void)
{
	fputs("nvmerdma: out of memory\n", stderr);
	exit(STATUS_FAILED);
}

void *mem_get(size_t size)
{
	struct piece *piece = calloc(1, sizeof(*piece) + size);

	if (!piece)
		no_memory();
	piece->before = last;
	last = piece;
	return piece->data;
}

char *mem_strn(const char *s, size_t len)
{
	char *copy;

	len = strnlen(s, len);
	copy = mem_get(len + 1);
	memcpy(copy, s, len);
	return copy;
}

char *mem_str(const char *s)
{
	return mem_strn(s, SIZE_MAX);
}

char *mem_fmt(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		no_memory();
	s = mem_get((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

/* Room doubles: what is void stays until the mark is released */
void *mem_grow(void *old, size_t count, size_t size)
{
	void *grown;

	if (count & (count - 1))
		return old;		/* between powers of two there is room */
	grown = mem_get((count ? count * 2 : 1) * size);
	if (count)
		memcpy(grown, old, count * size);
	return grown;
}

struct mem_mark mem_mark(void)
{
	return (struct mem_mark) { .at = last };
}

void mem_release(struct mem_mark mark)
{
	while (last != mark.at) {
		struct piece *piece = last;

		last = piece->before;
		free(piece);
	}
}

struct mem_mark mem_switch(struct mem_mark to)
{
	struct mem_mark before = mem_mark();

	last = to.at;
	return before;
}
