// SPDX-License-Identifier: GPL-2.0
/*
 * What a check finds, kept until it is shown.
 *
 * Names that go into it are a peer's words, or stand in files that a peer's words have come
 * into: nothing is kept that a terminal would obey, or no reader of JSON take.
 */
#include "doctor/doctor.h"
#include "common/util.h"

#include <stdlib.h>
#include <string.h>

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
	f->detail = mem_grow(f->detail, f->nr_details, sizeof(*f->detail));
	f->detail[f->nr_details++] = kept(text);
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
	f->remedy = mem_grow(f->remedy, f->nr_remedies, sizeof(*f->remedy));
	f->remedy[f->nr_remedies++] = (struct remedy) { where, command };
}
