// SPDX-License-Identifier: GPL-2.0
/*
 * The headers that emit() wrote for the tested kernels, as text: what report() compares another
 * kernel with.  Each declaration is one line there.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

/* Does a name that begins at @p end there, and is it declared and not used? */
static bool declares(const char *text, const char *p, size_t n)
{
	static const char *const after[] = {
		";", "[", "(", ")", " : ", " = " };

	if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(after); i++)
		if (!strncmp(p + n, after[i], strlen(after[i])))
			return true;
	return false;
}

/* The line of @text that begins with @start and declares @name; NULL if there is none. */
static char *line_of(const char *text, const char *start, const char *name)
{
	for (const char *p = text; (p = strstr(p, name)); p++) {
		const char *from = p;

		if (!declares(text, p, strlen(name)))
			continue;
		while (from > text && from[-1] != '\n')
			from--;
		from += strspn(from, "\t");
		if (*from == '#' || !strncmp(from, "core_abi_assert", 15) ||
		    strncmp(from, start, strlen(start)))
			continue;
		return say("%.*s", (int)strcspn(from, "\n"), from);
	}
	return NULL;
}

/* The lines between the braces of a struct, an empty string if the header has no such struct. */
static char *body_of(const struct known *k, const char *tag, const char *name)
{
	char *head = say("\n%s %s {\n", tag, name);
	const char *from = strstr(k->text, head), *to;

	free(head);
	if (!from)
		return must_dup("");
	from = strchr(from + 1, '\n');
	to = strstr(from, "\n}");
	return say("%.*s", to ? (int)(to - from) : 0, from);
}

/* The number that a tested kernel has for "sizeof(...)" or "offsetof(...)". */
bool known_number(const struct known *k, const char *what, uint64_t *nr)
{
	char *start = say("\ncore_abi_assert(%s == ", what);
	const char *p = strstr(k->text, start);

	if (p)
		*nr = strtoull(p + strlen(start), NULL, 10);
	free(start);
	return p;
}

/**
 * known_line() - how a tested kernel declares something
 * @k: the tested kernel
 * @w: an entry of the manifest
 * @start: what the line begins with
 * @name: the name that the line declares: that of @w or of one of its members
 *
 * Returns the line, for free(), or NULL if that kernel does not have it.
 */
char *known_line(const struct known *k, const struct want *w,
		 const char *start, const char *name)
{
	char *body, *line;

	if (w->kind == WANT_PUBLIC) {
		uint64_t size;
		char *what = say("sizeof(%s)", name);

		line = known_number(k, what, &size) ? must_dup(what) : NULL;
		free(what);
		return line;
	}
	if (w->kind != WANT_STRUCT)
		return line_of(k->text, start, name);
	body = body_of(k, w->is_union ? "union" : "struct", w->name);
	line = line_of(body, start, name);
	free(body);
	return line;
}

/* "6.12.117" is 6012: kernels of one series have one number. @where: for a message. */
static unsigned long series_of(const char *kver, const char *where)
{
	unsigned int major, minor;

	if (sscanf(kver, "%u.%u", &major, &minor) != 2)
		fail("%s: the kernel \"%s\" has no version, expected one such as 6.12.1",
		     where, kver);
	return major * 1000UL + minor;
}

void known_read(struct known *k, const char *path)
{
	static const char key[] = "#define CORE_ABI_KVER \"";
	struct blob b = blob_read(path);
	const char *p;

	k->text = say("%.*s", (int)b.size, (const char *)b.data);
	blob_free(&b);
	p = strstr(k->text, key);
	if (!p)
		fail("%s is no header of core-abi: it does not define CORE_ABI_KVER",
		     path);
	p += strlen(key);
	k->kver = say("%.*s", (int)strcspn(p, "\""), p);
	k->series = series_of(k->kver, path);
}

static bool is_rt(const char *kver)
{
	return strstr(kver, "-rt-");
}

/*
 * The newest tested series that is not newer than this kernel, or the oldest; of two kernels of a
 * series the one that is PREEMPT_RT if this one is.
 */
const struct known *known_near(const struct known *known, size_t nr,
			       const char *kver)
{
	const struct known *near = NULL, *oldest = NULL;
	unsigned long series = series_of(kver, kver);

	for (size_t i = 0; i < nr; i++) {
		const struct known *k = &known[i];

		if (k->series <= series &&
		    (!near || k->series > near->series ||
		     (k->series == near->series && is_rt(k->kver) == is_rt(kver))))
			near = k;
		if (!oldest || k->series < oldest->series)
			oldest = k;
	}
	return near ? near : oldest;
}
