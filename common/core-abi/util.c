// SPDX-License-Identifier: GPL-2.0
/* Messages and memory that cannot fail quietly. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

const char *run_context;
int fail_status = 1;

void vfail(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("core-abi: ", stderr);
	if (run_context)
		fprintf(stderr, "%s: ", run_context);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	exit(fail_status);
}

void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfail(fmt, ap);
}

char *say(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		fail("cannot format a message");
	return s;
}

void *must_alloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		fail("out of memory (%zu bytes asked for)", n);
	return p;
}

/* Room for one more element after @count of them. */
void *must_grow(void *p, size_t count, size_t size)
{
	void *q = realloc(p, (count + 1) * size);

	if (!q)
		fail("out of memory (%zu elements of %zu bytes)",
		     count + 1, size);
	memset((char *)q + count * size, 0, size);
	return q;
}

char *must_dup(const char *s)
{
	char *p = must_alloc(strlen(s) + 1);

	strcpy(p, s);
	return p;
}

char *upper(const char *s)
{
	char *p = must_dup(s);

	for (char *q = p; *q; q++)
		*q = (char)toupper((unsigned char)*q);
	return p;
}
