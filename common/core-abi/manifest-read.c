// SPDX-License-Identifier: GPL-2.0
/* Reads the manifest.  Its grammar is described at the top of the manifest. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

#define MAX_WORDS	8

static bool identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static size_t split(char *line, char **word)
{
	size_t n = 0;
	char *save = NULL;

	for (char *w = strtok_r(line, " \t\n", &save); w && n < MAX_WORDS;
	     w = strtok_r(NULL, " \t\n", &save))
		word[n++] = w;
	return n;
}

static void add_field(struct manifest *m, struct want *w, char **word,
		      size_t n, int line)
{
	struct want_field *f;
	bool optional = !strcmp(word[0], "?");

	if (n != (optional ? 2u : 1u) || !identifier(word[optional]))
		fail("%s:%d: expected a member's name, or ? and a name",
		     m->path, line);
	if (!w || (w->kind != WANT_STRUCT && w->kind != WANT_ENUM))
		fail("%s:%d: a member (%s) outside of a struct or enum",
		     m->path, line, word[optional]);
	w->fields = must_grow(w->fields, w->nr_fields, sizeof(*w->fields));
	f = &w->fields[w->nr_fields++];
	f->name = must_dup(word[optional]);
	f->optional = optional;
}

/* "var NAME TYPE...": the type is the rest of the line. */
static char *join(char **word, size_t from, size_t n)
{
	char *s = must_dup("");

	for (size_t i = from; i < n; i++) {
		char *t = say("%s%s%s", s, *s ? " " : "", word[i]);

		free(s);
		s = t;
	}
	return s;
}

/* "public TYPE", "public func NAME", "public member STRUCT NAME" */
static void add_public(struct manifest *m, struct want *w, char **word,
		       size_t n)
{
	if (n == 2 && !strcmp(word[0], "func")) {
		w->kind = WANT_PUBLIC_FUNC;
		w->name = must_dup(word[1]);
	} else if (n == 3 && !strcmp(word[0], "member")) {
		w->kind = WANT_PUBLIC_MEMBER;
		w->name = must_dup(word[1]);
		w->fields = must_grow(NULL, 0, sizeof(*w->fields));
		w->fields[0].name = must_dup(word[2]);
		w->nr_fields = 1;
	} else {
		w->name = join(word, 0, n);
	}
	if (!*w->name)
		fail("%s:%d: public what?", m->path, w->line);
	/* any module may have a type; a function after a module is that one's */
	if (w->kind != WANT_PUBLIC_FUNC) {
		free(w->module);
		w->module = NULL;
	}
}

static struct want *add_want(struct manifest *m, const char *module,
			     char **word, size_t n, int line)
{
	static const struct {
		const char *word;
		enum want_kind kind;
	} kinds[] = {
		{ "struct", WANT_STRUCT }, { "union", WANT_STRUCT },
		{ "enum", WANT_ENUM }, { "func", WANT_FUNC },
		{ "var", WANT_VAR }, { "data", WANT_DATA },
		{ "public", WANT_PUBLIC },
	};
	struct want *w;
	size_t k, arg = 1;

	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		if (!strcmp(word[0], kinds[k].word))
			break;
	if (k == ARRAY_SIZE(kinds))
		fail("%s:%d: \"%s\" is not include, module, struct, union, enum, func, var, data or public",
		     m->path, line, word[0]);
	if (!module && kinds[k].kind != WANT_PUBLIC)
		fail("%s:%d: \"%s\" before the first \"module\"", m->path,
		     line, word[0]);

	m->wants = must_grow(m->wants, m->nr_wants, sizeof(*m->wants));
	w = &m->wants[m->nr_wants++];
	w->kind = kinds[k].kind;
	w->line = line;
	w->module = module ? must_dup(module) : NULL;
	w->is_union = !strcmp(word[0], "union");
	if (n > arg && !strcmp(word[arg], "?")) {
		w->optional = true;
		arg++;
	}
	if (w->kind == WANT_PUBLIC) {
		add_public(m, w, word + arg, n - arg);
		return w;
	}
	if (w->kind == WANT_ENUM && n == arg)
		return w;
	if (n <= arg || !identifier(word[arg]))
		fail("%s:%d: \"%s\" needs a name", m->path, line, word[0]);
	w->name = must_dup(word[arg++]);
	if (w->kind == WANT_VAR) {
		w->type = join(word, arg, n);
		if (!*w->type)
			fail("%s:%d: var %s needs a type", m->path, line,
			     w->name);
	} else if (w->kind == WANT_DATA) {
		if (n != arg + 2)
			fail("%s:%d: expected: data OBJECT STRUCT MEMBER",
			     m->path, line);
		w->type = must_dup(word[arg]);
		w->fields = must_grow(NULL, 0, sizeof(*w->fields));
		w->fields[0].name = must_dup(word[arg + 1]);
		w->nr_fields = 1;
	} else if (n != arg) {
		fail("%s:%d: \"%s\" after the name %s", m->path, line,
		     word[arg], w->name);
	}
	return w;
}

/* Two entries of one name would become two definitions of one type. */
static void no_twice(const struct manifest *m)
{
	for (size_t i = 0; i < m->nr_wants; i++) {
		const struct want *a = &m->wants[i];

		for (size_t j = 0; j < i && a->name; j++) {
			const struct want *b = &m->wants[j];

			if (b->name && a->kind == b->kind &&
			    a->kind != WANT_DATA &&
			    a->kind != WANT_PUBLIC_MEMBER &&
			    !strcmp(a->name, b->name))
				fail("%s:%d: %s stands on line %d already",
				     m->path, a->line, a->name, b->line);
		}
		for (size_t j = 0; j < a->nr_fields; j++)
			for (size_t k = 0; k < j; k++)
				if (!strcmp(a->fields[j].name,
					    a->fields[k].name))
					fail("%s:%d: %s: member %s stands here twice",
					     m->path, a->line,
					     a->name ? a->name : "enum",
					     a->fields[j].name);
		if (a->kind == WANT_ENUM && !a->name && !a->nr_fields)
			fail("%s:%d: an enum without a name needs an enumerator to be found by",
			     m->path, a->line);
	}
}

void manifest_read(struct manifest *m, const char *path)
{
	FILE *f = fopen(path, "r");
	struct want *current = NULL;
	char *module = NULL, *line = NULL;
	size_t room = 0;
	int nr = 0;

	if (!f)
		fail("cannot read the manifest %s: %s", path, strerror(errno));
	m->path = path;
	while (getline(&line, &room, f) >= 0) {
		bool indented = *line == '\t' || *line == ' ';
		char *hash = strchr(line, '#'), *word[MAX_WORDS];
		size_t n;

		nr++;
		if (hash)
			*hash = '\0';
		n = split(line, word);
		if (!n)
			continue;
		if (indented) {
			add_field(m, current, word, n, nr);
		} else if (!strcmp(word[0], "include") && n == 2) {
			m->includes = must_grow(m->includes, m->nr_includes,
						sizeof(*m->includes));
			m->includes[m->nr_includes++] = must_dup(word[1]);
		} else if (!strcmp(word[0], "module") && n == 2) {
			free(module);
			module = must_dup(word[1]);
			current = NULL;
		} else {
			current = add_want(m, module, word, n, nr);
		}
	}
	if (ferror(f))
		fail("cannot read the manifest %s: %s", path, strerror(errno));
	fclose(f);
	free(line);
	free(module);
	if (!m->nr_wants)
		fail("the manifest %s asks for nothing", path);
	no_twice(m);
}
