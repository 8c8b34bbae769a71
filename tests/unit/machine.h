/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine for the doctor's checks: its programs, files and RDMA devices are simulated, and
 * the peer's answers as well. Findings are kept for the checks.
 */
#ifndef NVMERDMA_UNIT_MACHINE_H
#define NVMERDMA_UNIT_MACHINE_H

#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/nvmerdma/doctor/peer.h"

/* ---- the simulated environment of the checks ---- */

/* Programs by the start of their command line; all others fail */
static const struct program {
	const char *line, *says;
} *programs;

static const char *ran;			/* all command lines */
static const char *root;
static const char *details;		/* of all findings */

uid_t geteuid(void)
{
	return 0;
}

char *program_output(unsigned int seconds, const char *name, ...)
{
	const struct program *p;
	const char *line = name, *arg;
	va_list ap;

	(void)seconds;
	va_start(ap, name);
	while ((arg = va_arg(ap, const char *)))
		line = mem_fmt("%s %s", line, arg);
	va_end(ap);
	ran = mem_fmt("%s%s\n", ran, line);
	for (p = programs; p && p->line; p++) {
		if (!strncmp(line, p->line, strlen(p->line)))
			return mem_str(p->says);
	}
	return NULL;
}

void verbs_ask(const struct verbs_question *question, struct verbs_answer *answer)
{
	(void)question;
	*answer = (struct verbs_answer) { .step = STEP_PROGRAMS, .error = ENOENT };
}

#define TEXT(fmt)					\
({							\
	char *_text;					\
	va_list _ap;					\
							\
	va_start(_ap, fmt);				\
	assert_true(vasprintf(&_text, fmt, _ap) >= 0);	\
	va_end(_ap);					\
	char *_copy = mem_str(_text);			\
	free(_text);					\
	_copy;						\
})

void report(struct doctor *d, enum severity severity, const char *fmt, ...)
{
	d->finding = mem_grow(d->finding, d->nr_findings, sizeof(*d->finding));
	d->finding[d->nr_findings++] = (struct finding) {
		.severity = severity, .what = TEXT(fmt),
	};
}

void report_reason(struct doctor *d, const char *fmt, ...)
{
	d->finding[d->nr_findings - 1].why = TEXT(fmt);
}

void report_fix(struct doctor *d, enum where where, const char *fmt, ...)
{
	struct finding *f = &d->finding[d->nr_findings - 1];

	f->remedy = mem_grow(f->remedy, f->nr_remedies, sizeof(*f->remedy));
	f->remedy[f->nr_remedies++] = (struct remedy) { where, TEXT(fmt) };
}

void report_detail(struct doctor *d, const char *fmt, ...)
{
	(void)d;
	details = mem_fmt("%s%s\n", details, TEXT(fmt));
}

/* ---- a machine ---- */

static struct rdma_link links[] = {
	{ .device = "rxe0", .port = 1, .kind = "RoCE", .netdev = "eth0", .state = "ACTIVE",
	  .active = true },
	{ .device = "rxe1", .port = 1, .kind = "RoCE", .netdev = "eth1", .state = "ACTIVE",
	  .active = true },
};

static __attribute__((unused)) void file_is(const char *path, const char *text)
{
	char *full = mem_fmt("%s/%s", root, path), *at;
	FILE *file;

	for (at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(full, 0700);
		*at = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* One that reaches its peer by eth0 and RoCE */
static struct doctor machine(const struct program *made_up)
{
	programs = made_up;
	ran = "";
	details = "";
	links[0].kind = "RoCE";
	return (struct doctor) {
		.root = root, .address = "192.0.2.9", .port = "4420", .family = AF_INET,
		.links = { links, NR(links) }, .link = &links[0], .iface = "eth0",
		.source = "192.0.2.1", .pings = true,
	};
}

/* The one finding that there is */
static const struct finding *only(const struct doctor *d)
{
	unit_equal(1, d->nr_findings);
	return &d->finding[0];
}

static void finds(const struct doctor *d, enum severity severity, const char *words)
{
	const struct finding *f = only(d);

	if (f->severity != severity || !strstr(f->what, words))
		fail_msg("%s: found is %u \"%s\", expected %u \"%s\"", unit_where, f->severity,
			 f->what, severity, words);
}

static __attribute__((unused)) void mends(const struct doctor *d, size_t i, const char *command)
{
	const struct finding *f = only(d);

	if (i >= f->nr_remedies || strcmp(f->remedy[i].command, command))
		fail_msg("%s: remedy %zu of \"%s\" is \"%s\", expected \"%s\"", unit_where, i,
			 f->what, i < f->nr_remedies ? f->remedy[i].command : "none", command);
}

static __attribute__((unused)) void no_command_has(const struct doctor *d, const char *words)
{
	size_t i, k;

	for (i = 0; i < d->nr_findings; i++) {
		for (k = 0; k < d->finding[i].nr_remedies; k++) {
			if (strstr(d->finding[i].remedy[k].command, words))
				fail_msg("%s: a remedy is \"%s\"", unit_where,
					 d->finding[i].remedy[k].command);
		}
	}
}

/* In a separate directory for the files of the machine */
static int run_on_machine(const struct CMUnitTest *tests, size_t nr)
{
	char dir[] = "/tmp/nvmerdma-unit.XXXXXX";
	int failed;

	root = mkdtemp(dir);
	if (!root)
		return 1;
	failed = _cmocka_run_group_tests("doctor", tests, nr, NULL, NULL);
	return system(mem_fmt("rm -r %s", dir)) ? 1 : failed;
}

#endif
