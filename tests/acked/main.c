// SPDX-License-Identifier: GPL-2.0
/*
 * acked - writes, remembers what was acknowledged, and says whether it is there
 *
 *	acked run DEVICE LOG [OPTIONS]	I/O until SIGTERM or SIGINT, or --seconds N
 *	acked verify DEVICE LOG		reads all that such a run was about
 *
 *	--size BYTES	of the device, from its beginning (16777216, or all of it)
 *	--writers N	threads, each with a part of it (4)
 *	--depth N	I/Os that each has outstanding (4)
 *	--block BYTES	the largest of them, up to 64 KiB (that)
 *	--reads PERCENT	of them (30)
 *	--flush N	every so many I/Os of a writer, flush; 0: never (100)
 *	--pace MS	at least between two I/Os of a writer (0)
 *	--seconds N	then end (0: when told to)
 *	--drain SECONDS	for what is outstanding at the end (60)
 *	--polled	no interrupts; no flushes, which cannot be polled for
 *	--errors stop	end at the first I/O error (go: go on)
 *	--status FILE	how many I/Os have succeeded, failed, and are outstanding
 *	--seed N	which places; the same N, the same ones
 *
 * Both print a line "violation: ..." for what is wrong, then a line for each number,
 * and last "verdict ..."; the status is 0 if all is well, 1 if something is lost, stale,
 * torn, foreign or misplaced, 2 if it could not begin, 3 if I/O was not answered or, by
 * verify, could not be done. I/O errors of a run are told, and are no violation.
 *
 * Linux removes no I/O that hangs: a run that says so then stays until it ends.
 */
#include "acked.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_MS	50

static struct writer writers[MAX_WRITERS];
static struct device dev;

/* die - say why, with errno if that is not 0, and end */
void die(const char *fmt, ...)
{
	int error = errno;
	va_list args;

	fflush(stdout);
	fprintf(stderr, "acked: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(EXIT_USAGE);
}

/* now_ms - a clock that is never set */
uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void told_to_end(int number)
{
	(void)number;
	atomic_store(&stopping, true);
}

/* Share the device out among the writers, and begin the log */
static void prepare(const struct options *opt)
{
	struct log_head head = { .sector_bytes = dev.sector_bytes };
	uint64_t bytes = opt->bytes;
	struct known *known;
	unsigned int i;

	if (bytes > dev.bytes)
		bytes = dev.bytes;
	/* Parts of whole blocks, of which several are outstanding at once */
	bytes = bytes / opt->writers / MAX_BLOCK * MAX_BLOCK;
	errno = 0;
	if (!bytes)
		die("%s is too small for %u writers", dev.name, opt->writers);
	head.sectors = (uint32_t)(bytes / dev.sector_bytes) * opt->writers;
	known = calloc(head.sectors, sizeof(*known));
	if (!known || getrandom(&head.run, sizeof(head.run), 0) < 0)
		die("no memory, or no random number");
	for (i = 0; i < opt->writers; i++) {
		struct writer *w = &writers[i];

		w->opt = opt;
		w->dev = &dev;
		w->run = head.run;
		w->known = known;
		w->number = i;
		w->sectors = head.sectors / opt->writers;
		w->first = i * w->sectors;
		w->random = ((opt->seed ? opt->seed : head.run) + i) | 1;
	}
	log_open(opt->log, &head);
	printf("device %s\nrun %016" PRIx64 "\nsectors %" PRIu32
	       "\nsector_bytes %u\n", dev.name, head.run, head.sectors,
	       dev.sector_bytes);
}

static void show_status(const struct options *opt, int fd)
{
	unsigned long long succeeded = 0, failed = 0;
	unsigned int i, outstanding = 0;
	char line[64];
	int n;

	for (i = 0; i < opt->writers; i++) {
		succeeded += atomic_load(&writers[i].succeeded);
		failed += atomic_load(&writers[i].failed);
		outstanding += atomic_load(&writers[i].outstanding);
	}
	n = snprintf(line, sizeof(line), "%20llu %20llu %10u\n", succeeded,
		     failed, outstanding);
	if (fd >= 0 && pwrite(fd, line, (size_t)n, 0) != n)
		die("%s cannot be written", opt->status);
}

/* Keep the log and the status up to date, until it is time to end */
static void watch(const struct options *opt, int status)
{
	const struct timespec pause = { .tv_nsec = FLUSH_MS * 1000000L };
	uint64_t end = now_ms() + opt->seconds * 1000ull;

	while (!atomic_load(&stopping)) {
		nanosleep(&pause, NULL);
		log_flush();
		show_status(opt, status);
		if (opt->seconds && now_ms() >= end)
			atomic_store(&stopping, true);
	}
}

/* Wait for the writers; one that the kernel does not give back is left behind */
static void wait_for_writers(const struct options *opt)
{
	struct timespec until;
	unsigned int i;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += opt->drain + 2;
	for (i = 0; i < opt->writers; i++)
		pthread_timedjoin_np(writers[i].thread, NULL, &until);
}

static void add_up(struct counts *sum, const struct writer *w)
{
	const struct counts *c = &w->counts;
	uint64_t stall = c->stall_ms;
	int i;

	/* What never ended is a stall, too */
	if (atomic_load(&w->outstanding) &&
	    now_ms() - atomic_load(&w->event_ms) > stall)
		stall = now_ms() - atomic_load(&w->event_ms);
	for (i = 0; i < NR_OPS; i++) {
		sum->done[i] += c->done[i];
		sum->errors[i] += c->errors[i];
		sum->bytes[i] += c->bytes[i];
	}
	for (i = 0; i < NR_VERDICTS; i++)
		sum->verdicts[i] += c->verdicts[i];
	sum->verified += c->verified;
	sum->raced += c->raced;
	if (sum->stall_ms < stall)
		sum->stall_ms = stall;
	if (sum->outage_ms < c->outage_ms)
		sum->outage_ms = c->outage_ms;
	if (sum->slowest_ms < c->slowest_ms)
		sum->slowest_ms = c->slowest_ms;
	if (c->first_errno && (!sum->first_errno ||
			       sum->first_error_ms > c->first_error_ms)) {
		sum->first_errno = c->first_errno;
		sum->first_error_ms = c->first_error_ms;
	}
	if (sum->last_error_ms < c->last_error_ms)
		sum->last_error_ms = c->last_error_ms;
}

static void tell(const struct counts *c, uint64_t begin)
{
	printf("milliseconds %" PRIu64 "\n", now_ms() - begin);
	printf("reads %" PRIu64 "\nwrites %" PRIu64 "\nflushes %" PRIu64 "\n",
	       c->done[OP_READ], c->done[OP_WRITE], c->done[OP_FLUSH]);
	printf("bytes_read %" PRIu64 "\nbytes_written %" PRIu64
	       "\nbytes_verified %" PRIu64 "\n", c->bytes[OP_READ],
	       c->bytes[OP_WRITE], c->verified);
	printf("raced %" PRIu64 "\n", c->raced);
	printf("io_errors %" PRIu64 "\nread_errors %" PRIu64 "\nwrite_errors %"
	       PRIu64 "\nflush_errors %" PRIu64 "\n",
	       c->errors[OP_READ] + c->errors[OP_WRITE] + c->errors[OP_FLUSH],
	       c->errors[OP_READ], c->errors[OP_WRITE], c->errors[OP_FLUSH]);
	printf("first_error %s\n",
	       c->first_errno ? strerrorname_np(c->first_errno) : "none");
	if (c->first_errno)
		printf("first_error_ms %" PRIu64 "\nlast_error_ms %" PRIu64 "\n",
		       c->first_error_ms - begin, c->last_error_ms - begin);
	printf("longest_stall_ms %" PRIu64 "\nlongest_outage_ms %" PRIu64 "\n",
	       c->stall_ms, c->outage_ms);
	printf("slowest_io_ms %" PRIu64 "\n", c->slowest_ms);
}

/* The numbers of all writers. Return: the status of the program */
static int tell_all(const struct options *opt, uint64_t begin)
{
	unsigned int i, unanswered = 0;
	struct counts sum = { };
	int status = EXIT_GOOD;

	for (i = 0; i < opt->writers; i++) {
		add_up(&sum, &writers[i]);
		unanswered += atomic_load(&writers[i].outstanding);
	}
	tell(&sum, begin);
	printf("unanswered %u\n", unanswered);
	if (unanswered)
		status = EXIT_HANGS;
	for (i = 0; i < NR_VERDICTS; i++) {
		printf("%s %" PRIu64 "\n", verdict_name(i), sum.verdicts[i]);
		if (sum.verdicts[i] && verdict_bad(i))
			status = EXIT_BAD;
	}
	printf("verdict %s\n", status == EXIT_BAD ? "bad" :
			       unanswered ? "hangs" : "good");
	return status;
}

static int run(const struct options *opt)
{
	const struct sigaction action = { .sa_handler = told_to_end };
	uint64_t begin = now_ms();
	int status = -1, rc;
	unsigned int i;

	device_open(&dev, opt->device, true);
	prepare(opt);
	if (opt->status)
		status = open(opt->status, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			      0644);
	if (opt->status && status < 0)
		die("%s cannot be written", opt->status);
	if (sigaction(SIGTERM, &action, NULL) || sigaction(SIGINT, &action, NULL))
		die("no signal handler");
	for (i = 0; i < opt->writers; i++) {
		errno = pthread_create(&writers[i].thread, NULL, writer_run,
				       &writers[i]);
		if (errno)
			die("no thread");
	}
	watch(opt, status);
	wait_for_writers(opt);
	log_add(RECORD_END, 0, 0, atomic_load(&last_gen));
	log_flush();
	show_status(opt, status);
	rc = tell_all(opt, begin);
	fflush(stdout);
	_exit(rc);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct options opt;

	if (strcmp(what, "run") && strcmp(what, "verify")) {
		errno = 0;
		die("usage: acked run|verify DEVICE LOG [OPTIONS]");
	}
	options_parse(&opt, argc - 1, argv + 1);
	if (!strcmp(what, "verify"))
		return verify(opt.device, opt.log);
	return run(&opt);
}
