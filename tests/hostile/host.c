// SPDX-License-Identifier: GPL-2.0
/*
 * A host that breaks the rules, against a target that must not be harmed.
 *
 *	hostile-host ADDRESS PORT SUBNQN list
 *	hostile-host [OPTION...] ADDRESS PORT SUBNQN all|CASE...
 *	hostile-host [OPTION...] ADDRESS PORT SUBNQN fuzz SEED COUNT [FIRST]
 *
 *	--after NAME	run only what follows this outcome
 *	--moves FILE	statistics of a block device whose I/O must continue
 *	--queues DIR	the target's queues; at the end as many as before
 *	--other PORT	another port of the same address and subsystem
 *	--hostnqn NQN	what the host calls itself
 *	--locked NQN	a subsystem of the same port that requires a key of this host
 *	--device NAME	an RDMA device; at the end the kernel has as many objects of it as before
 *	--check N	while fuzzing, check the others after each N inputs
 *	--every N	of a case's outcomes after the first FULLY, only every Nth
 *	--stop yes	stop after a case that harmed the others
 *
 * Each case runs in a process of its own. It prints a line for each outcome:
 *
 *	case NAME: expected WHAT; got WHAT; ok|BAD
 *
 * A further line, NAME/beside, is about the others: a well-behaved host connects, writes,
 * reads and compares, as fast as before the first case; FILE still counts; DIR, the device's
 * objects and the kernel's memory are unchanged. "try NAME" is printed before a case, so that
 * a crash can be assigned to it. The status is 0 if all was ok.
 */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

/* Status of the program: the others were harmed, and --stop */
#define EXIT_STOPPED	4

#define FUZZ_SECONDS	60
/* Outcomes of a case that --every does not leave out */
#define FULLY		32

static const struct hostile_case *const all_cases[] = {
	cm_cases, length_cases, capsule_cases, sgl_cases, key_cases, connect_cases,
	auth_cases, admin_cases, io_cases, flow_cases,
};

static struct {
	const char *after, *moves, *queues, *device, *other;
	unsigned int check, every;
	bool stop;
} options = { .check = 50, .every = 1 };

static struct {
	const struct hostile_case *running;
	char name[128];
	unsigned int parts;
	int bad;
} now;

/* ---- outcomes ---- */

bool begin(const char *fmt, ...)
{
	char part[96];
	va_list args;

	va_start(args, fmt);
	vsnprintf(part, sizeof(part), fmt, args);
	va_end(args);
	snprintf(now.name, sizeof(now.name), "%s%s%s", now.running->name,
		 *part ? "/" : "", part);
	if (options.after) {
		if (!strcmp(options.after, now.name))
			options.after = NULL;
		return false;
	}
	if (now.parts++ >= FULLY && now.parts % options.every)
		return false;
	printf("try %s\n", now.name);
	fflush(stdout);
	return true;
}

bool is_one_of(const char *got, const char *expected)
{
	char pattern[128];
	size_t len;

	for (;; expected += len + 1) {
		len = strcspn(expected, "|");
		snprintf(pattern, sizeof(pattern), "%.*s", (int)len, expected);
		if (!fnmatch(pattern, got, 0))
			return true;
		if (!expected[len])
			return false;
	}
}

void outcome(const char *expected, const char *fmt, ...)
{
	char got[160];
	va_list args;
	bool good;

	va_start(args, fmt);
	vsnprintf(got, sizeof(got), fmt, args);
	va_end(args);
	good = is_one_of(got, expected);
	now.bad += !good;
	printf("case %s: expected %s; got %s; %s\n", now.name, expected, got,
	       good ? "ok" : "BAD");
	fflush(stdout);
}

void cannot(const char *what)
{
	outcome("what comes before it works", "%s", what);
	exit(EXIT_BAD);
}

/* ---- processes ---- */

const char *in_process(void (*run)(void), int seconds, int *status)
{
	uint64_t end = own_ms() + slow_ms(seconds * 1000);
	pid_t pid = fork();

	if (pid < 0)
		die("no process");
	if (!pid) {
		/* not longer than the deadline of the waiting process */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		now.bad = 0;
		run();
		fflush(stdout);
		_exit(now.bad ? EXIT_BAD : EXIT_GOOD);
	}
	while (waitpid(pid, status, WNOHANG) == 0) {
		if (own_ms() >= end) {
			kill(pid, SIGKILL);
			waitpid(pid, status, 0);
			return "no end";
		}
		usleep(2000);
	}
	if (WIFSIGNALED(*status))
		return strsignal(WTERMSIG(*status));
	if (WEXITSTATUS(*status) != EXIT_GOOD &&
	    WEXITSTATUS(*status) != EXIT_BAD &&
	    WEXITSTATUS(*status) != EXIT_SHORT)
		return "the local machine refused";
	return NULL;
}

/* ---- cases ---- */

/* Is it one that --after has had? If it was in the middle of it, it has not. */
static bool was_had(const struct hostile_case *c)
{
	size_t len;

	if (!options.after)
		return false;
	len = strcspn(options.after, "/");
	if (strlen(c->name) != len || strncmp(options.after, c->name, len))
		return true;
	if (strcmp(options.after + len, "/beside"))
		return false;
	options.after = NULL;
	return true;
}

static void run_case(const struct hostile_case *c)
{
	int queues_before = others_queues();
	int status = 0, bad = now.bad;
	const char *wrong, *harmed;

	if (was_had(c))
		return;
	now.running = c;
	snprintf(now.name, sizeof(now.name), "%s", c->name);
	now.bad = 0;
	wrong = in_process(c->run, c->seconds ? c->seconds : CASE_SECONDS,
			   &status);
	if (wrong)
		outcome("an end in time", "%s", wrong);
	/* The process that was forked has found it, if it was in this case */
	options.after = NULL;
	snprintf(now.name, sizeof(now.name), "%s/beside", c->name);
	printf("try %s\n", now.name);
	harmed = others(queues_before);
	outcome("unharmed", "%s", harmed);
	bad += now.bad || (!wrong && WEXITSTATUS(status));
	now.bad = bad;
	if (options.stop && strcmp(harmed, "unharmed"))
		exit(EXIT_STOPPED);
}

/* All of them, or those that match @pattern: NULL for all; prints if @list */
static int for_cases(const char *pattern, bool list)
{
	const struct hostile_case *c;
	int found = 0;
	size_t i;

	for (i = 0; i < sizeof(all_cases) / sizeof(*all_cases); i++) {
		for (c = all_cases[i]; c->name; c++) {
			if (pattern && fnmatch(pattern, c->name, 0))
				continue;
			found++;
			if (list)
				printf("%-24s %s\n", c->name, c->about);
			else
				run_case(c);
		}
	}
	return found;
}

/* ---- fuzzing ---- */

static uint64_t fuzz_seed, fuzz_number;
static bool fuzz_aloud;

static void fuzz_one(void)
{
	if (fuzz_input(fuzz_seed, fuzz_number, fuzz_aloud))
		return;
	fflush(stdout);
	_exit(EXIT_SHORT);
}

/* False if there was no outcome, because a prerequisite was not available */
static bool fuzz_next(void)
{
	const char *wrong;
	int status = 0;

	snprintf(now.name, sizeof(now.name), "fuzz/%llu-%llu",
		 (unsigned long long)fuzz_seed, (unsigned long long)fuzz_number);
	printf("try %s\n", now.name);
	fflush(stdout);
	wrong = in_process(fuzz_one, FUZZ_SECONDS, &status);
	if (wrong)
		outcome("an end in time", "%s", wrong);
	return wrong || WEXITSTATUS(status) != EXIT_SHORT;
}

/* Of so many that were tried; without a controller for most, it was no test */
static void fuzz_total(uint64_t inputs, uint64_t tried)
{
	snprintf(now.name, sizeof(now.name), "fuzz/%llu",
		 (unsigned long long)fuzz_seed);
	printf("%llu inputs of seed %llu; %llu more had no controller or queue\n",
	       (unsigned long long)inputs, (unsigned long long)fuzz_seed,
	       (unsigned long long)(tried - inputs));
	if (2 * inputs < tried)
		outcome("most can be made", "%llu of %llu can be made",
			(unsigned long long)inputs, (unsigned long long)tried);
}

static int fuzz(uint64_t first, uint64_t count)
{
	static const struct hostile_case fuzzing = { .name = "fuzz" };
	int queues_before = others_queues();
	uint64_t i, inputs = 0;

	now.running = &fuzzing;
	fuzz_aloud = count == 1;
	for (i = 0; i < count; i++) {
		fuzz_number = first + i;
		inputs += fuzz_next();
		if (!((i + 1) % options.check) || i + 1 == count)
			outcome("unharmed", "%s", others(queues_before));
	}
	fuzz_total(inputs, count);
	return now.bad != 0;
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: hostile-host ADDRESS PORT SUBNQN list\n"
	      "       hostile-host [OPTION...] ADDRESS PORT SUBNQN all|CASE...\n"
	      "       hostile-host [OPTION...] ADDRESS PORT SUBNQN fuzz SEED COUNT [FIRST]\n"
	      "options: --after NAME --moves FILE --queues DIR --device NAME\n"
	      "         --other PORT --locked NQN --check N --every N --stop yes\n",
	      stderr);
	exit(2);
}

static char **take_options(char **argv)
{
	for (; *argv && !strncmp(*argv, "--", 2); argv += 2) {
		if (!argv[1])
			usage();
		if (!strcmp(*argv, "--after"))
			options.after = argv[1];
		else if (!strcmp(*argv, "--moves"))
			options.moves = argv[1];
		else if (!strcmp(*argv, "--queues"))
			options.queues = argv[1];
		else if (!strcmp(*argv, "--device"))
			options.device = argv[1];
		else if (!strcmp(*argv, "--other"))
			options.other = argv[1];
		else if (!strcmp(*argv, "--hostnqn"))
			target.hostnqn = argv[1];
		else if (!strcmp(*argv, "--locked"))
			target.locked = argv[1];
		else if (!strcmp(*argv, "--every") && atoi(argv[1]) > 0)
			options.every = (unsigned int)atoi(argv[1]);
		else if (!strcmp(*argv, "--stop"))
			options.stop = !strcmp(argv[1], "yes");
		else if (!strcmp(*argv, "--check") && atoi(argv[1]) > 0)
			options.check = (unsigned int)atoi(argv[1]);
		else
			usage();
	}
	return argv;
}

int main(int argc, char **argv)
{
	target.hostnqn = "nqn.2026-01.test:hostile-host";
	argv = take_options(argv + (argc > 0));
	if (!argv[0] || !argv[1] || !argv[2] || !argv[3])
		usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	target.at = look_up(argv[0], argv[1]);
	if (options.other)
		target.other = look_up(argv[0], options.other);
	target.subnqn = argv[2];
	memset(target.hostid, 0x5c, sizeof(target.hostid));
	argv += 3;

	if (strcmp(*argv, "list"))
		others_remember(options.moves, options.queues, options.device);
	if (!strcmp(*argv, "fuzz")) {
		if (!argv[1] || !argv[2])
			usage();
		fuzz_seed = strtoull(argv[1], NULL, 0);
		return fuzz(argv[3] ? strtoull(argv[3], NULL, 0) : 0,
			    strtoull(argv[2], NULL, 0));
	}
	if (!strcmp(*argv, "list"))
		return !for_cases(NULL, true);
	for (; *argv; argv++) {
		if (!for_cases(strcmp(*argv, "all") ? *argv : NULL, false)) {
			fprintf(stderr, "hostile-host: no case '%s'\n", *argv);
			return 2;
		}
	}
	return now.bad != 0;
}
