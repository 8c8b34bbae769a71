// SPDX-License-Identifier: GPL-2.0
/*
 * What a check finds, kept, and then shown to people or programs.
 *
 * Names that go into it are a peer's words, or stand in files that a peer's words have come
 * into: nothing is kept that a terminal would obey, or no reader of JSON take.
 */
#include "doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#define INDENT	"          "

/* ---- found ---- */

static const char *kept(char *text)
{
	const char *copy = safe_words(text ? text : "?");

	free(text);
	return copy;
}

void report(struct doctor *d, enum severity severity, const char *fmt, ...)
{
	struct finding *f;
	char *text;

	FORMAT(text, fmt);
	d->finding = mem_grow(d->finding, d->nr_findings, sizeof(*f));
	f = &d->finding[d->nr_findings++];
	*f = (struct finding) { .check = d->check, .severity = severity, .what = kept(text) };
}

static struct finding *last_found(struct doctor *d)
{
	return &d->finding[d->nr_findings - 1];
}

void report_reason(struct doctor *d, const char *fmt, ...)
{
	char *text;

	FORMAT(text, fmt);
	last_found(d)->why = kept(text);
}

void report_detail(struct doctor *d, const char *fmt, ...)
{
	struct finding *f = last_found(d);
	char *text;

	FORMAT(text, fmt);
	mem_push(f->detail, f->nr_details, kept(text));
}

/* A command with a letter in the place of another one is another command */
void report_fix(struct doctor *d, enum where where, const char *fmt, ...)
{
	struct finding *f = last_found(d);
	const char *command;
	char *text;

	FORMAT(text, fmt);
	command = mem_str(text ? text : "");
	if (strcmp(command, kept(text))) {
		report_detail(d, "a command is left out: a name in it has what cannot be printed");
		return;
	}
	mem_push(f->remedy, f->nr_remedies, (struct remedy) { where, command });
}

/* ---- shown ---- */

static const char * const words[] = {
	[FOUND_OK]	= "ok",
	[FOUND_SKIPPED]	= "skipped",
	[FOUND_NOTE]	= "note",
	[FOUND_WARNING]	= "warning",
	[FOUND_ERROR]	= "error",
};

static const char *where_words(enum where where)
{
	return where == HERE ? "fix" : "fix on the target";
}

void print_finding(const struct doctor *d, const struct finding *f)
{
	size_t i;

	printf("%-9s [%s] %s\n", words[f->severity], f->check, f->what);
	if (f->why)
		printf(INDENT "why: %s\n", f->why);
	for (i = 0; i < f->nr_remedies; i++)
		printf(INDENT "%s: %s\n", where_words(f->remedy[i].where), f->remedy[i].command);
	for (i = 0; d->verbose && i < f->nr_details; i++)
		printf(INDENT "%s\n", f->detail[i]);
	fflush(stdout);
}

static size_t how_many(const struct doctor *d, enum severity severity)
{
	size_t i, n = 0;

	for (i = 0; i < d->nr_findings; i++)
		n += d->finding[i].severity == severity;
	return n;
}

void print_summary(const struct doctor *d, int status)
{
	if (status == DOCTOR_WARNINGS && !how_many(d, FOUND_WARNING))
		puts("all checks of --only were skipped");
	printf("%s, %s, %s; %zu ok, %zu skipped\n",
	       count_words(how_many(d, FOUND_ERROR), "error"),
	       count_words(how_many(d, FOUND_WARNING), "warning"),
	       count_words(how_many(d, FOUND_NOTE), "note"),
	       how_many(d, FOUND_OK), how_many(d, FOUND_SKIPPED));
}

static void put_text(struct json_object *obj, const char *key, const char *text)
{
	if (text)
		json_object_object_add(obj, key, json_object_new_string(text));
}

static struct json_object *json_finding(const struct finding *f)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *fixes = json_object_new_array();
	struct json_object *details = json_object_new_array();
	size_t i;

	put_text(obj, "check", f->check);
	put_text(obj, "severity", words[f->severity]);
	put_text(obj, "what", f->what);
	put_text(obj, "why", f->why);
	for (i = 0; i < f->nr_remedies; i++) {
		struct json_object *one = json_object_new_object();

		put_text(one, "where", f->remedy[i].where == HERE ? "here" : "target");
		put_text(one, "command", f->remedy[i].command);
		json_object_array_add(fixes, one);
	}
	for (i = 0; i < f->nr_details; i++)
		json_object_array_add(details, json_object_new_string(f->detail[i]));
	json_object_object_add(obj, "fix", fixes);
	json_object_object_add(obj, "details", details);
	return obj;
}

void print_findings_json(const struct doctor *d, int status)
{
	struct json_object *obj = json_object_new_object();
	struct json_object *findings = json_object_new_array();
	size_t i;

	put_text(obj, "address", d->address ? safe_words(d->address) : NULL);
	json_object_object_add(obj, "status", json_object_new_int(status));
	for (i = 0; i < d->nr_findings; i++)
		json_object_array_add(findings, json_finding(&d->finding[i]));
	json_object_object_add(obj, "findings", findings);
	puts(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
}
