// SPDX-License-Identifier: GPL-2.0
/* nvmerdma stat: what it is asked for, and one report after another */
#include "common/util.h"
#include "command.h"
#include "stat/stat.h"

#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds. Below, reading the files is what would be measured */
#define INTERVAL_MIN	0.1
#define INTERVAL_MAX	3600

#define COUNT_MAX	1000000000UL

static int parse_interval(struct stat_options *options, const char *text)
{
	char *end;

	options->interval = strtod(text, &end);
	if (end == text || *end || !(options->interval >= INTERVAL_MIN) ||
	    options->interval > INTERVAL_MAX)
		return usage_error("INTERVAL: invalid value \"%s\" (expected %g to %d seconds)",
				   text,
				   INTERVAL_MIN, INTERVAL_MAX);
	return 0;
}

static int parse_by(struct stat_options *options, const char *text)
{
	options->by = by_named(text);
	if (options->by == NR_BY)
		return usage_error("--by: invalid value \"%s\" (expected controller, queue, host, port or thread)",
				   text);
	return 0;
}

static int parse_sort(struct stat_options *options, const char *text)
{
	options->sort = column_named(text);
	if (options->sort == NR_COLUMNS)
		return usage_error("--sort: invalid value \"%s\" (expected %s)",
				   text, column_names(options->by));
	return 0;
}

/* Neither --host nor --target is both; --by leaves out the side that has no such rows */
static int choose_sides(struct stat_options *options, const int wanted[NR_SIDES])
{
	static const char * const names[NR_SIDES] = { "host", "target" };
	bool some = wanted[SIDE_HOST] || wanted[SIDE_TARGET];
	enum side side;

	for (side = 0; side < NR_SIDES; side++) {
		bool has = by_has_side(options->by, side);

		if (wanted[side] && !has)
			return usage_error("--by %s has no rows on a %s", by_name(options->by),
					   names[side]);
		if (!has || (some && !wanted[side]))
			options->dirs.debugfs[side] = NULL;
	}
	/* --by may come after --sort */
	if (!column_is_of(options->sort, options->by))
		return usage_error("--sort: these rows have no such column (expected %s)",
				   column_names(options->by));
	return 0;
}

enum { OPT_COUNT = 256, OPT_BY, OPT_SORT };

static int parse_option(struct stat_options *options, int c)
{
	switch (c) {
	case 0:
		return 0;
	case OPT_COUNT:
		return number_option("--count", optarg, 1, COUNT_MAX, &options->count) ?
		       -STATUS_USAGE : 0;
	case OPT_BY:
		return parse_by(options, optarg);
	case OPT_SORT:
		return parse_sort(options, optarg);
	case 'h':
		command_help(&cmd_stat);
		return -1;
	default:
		return -STATUS_USAGE;
	}
}

/* 0; -1: only help was wanted; -STATUS_USAGE: it is wrong, as was said */
static int parse(struct stat_options *options, int argc, char **argv)
{
	int wanted[NR_SIDES] = { 0 };
	const struct option known[] = {
		{ "once", no_argument, &options->once, true },
		{ "count", required_argument, NULL, OPT_COUNT },
		{ "json", no_argument, &options->json, true },
		{ "host", no_argument, &wanted[SIDE_HOST], true },
		{ "target", no_argument, &wanted[SIDE_TARGET], true },
		{ "by", required_argument, NULL, OPT_BY },
		{ "sort", required_argument, NULL, OPT_SORT },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c, ret;

	while ((c = getopt_long(argc, argv, "h", known, NULL)) >= 0) {
		ret = parse_option(options, c);
		if (ret)
			return ret;
	}
	if (argc - optind > 1)
		return usage_error("unexpected argument \"%s\" (expected one INTERVAL)",
				   argv[optind + 1]);
	ret = optind < argc ? parse_interval(options, argv[optind]) : 0;
	if (ret)
		return ret;
	if (options->once && options->count > 1)
		return usage_error("--once and --count %lu: use only one of them", options->count);
	if (options->once)
		options->count = 1;
	return choose_sides(options, wanted);
}

/* Waits until @due; false if nobody reads what is printed any more */
static bool wait_until(uint64_t due)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	struct timespec left;
	uint64_t now;

	while ((now = stat_now()) < due) {
		left.tv_sec = (due - now) / 1000000000;
		left.tv_nsec = (due - now) % 1000000000;
		/* a pipe says ERR, a socket HUP */
		if (ppoll(&out, 1, &left, NULL) > 0 &&
		    out.revents & (POLLERR | POLLHUP | POLLNVAL))
			return false;
	}
	return true;
}

static int print_report(const struct stat_options *options, const struct sample *sample,
			struct plain_state *state)
{
	struct stat_rows rows = stat_rows(sample, options->by);
	int ret = 0;

	stat_sort(&rows, options->sort);
	if (options->json)
		ret = json_print(sample, &rows, options->by);
	else
		plain_print(state, sample, &rows);
	if (!rows.nr && !state->said_none) {
		note_msg(options->by == BY_THREAD ?
			 "no thread polls: io_threads of nvmet-rdma starts them" :
			 "nothing is connected");
		state->said_none = true;
	}
	/* a line that could not be written is gone: there is nothing to flush */
	if (!ret && (fflush(stdout) || ferror(stdout)))
		ret = error_msg("what was printed could not be written: %m");
	return ret;
}

/* The first sample is what the second one is compared with */
static int run_lines(const struct stat_options *options, struct history *history)
{
	uint64_t step = options->interval * 1e9, due = stat_now();
	struct plain_state state = { 0 };
	struct mem_mark base = mem_mark();
	unsigned long reports = 0;
	int ret = 0;

	/* who reads may stop reading, as head does: that is no error */
	signal(SIGPIPE, SIG_DFL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (!ret) {
		struct sample sample = stat_sample(&options->dirs, history);

		if (history->ns) {
			ret = print_report(options, &sample, &state);
			reports++;
		}
		history_keep(history, &sample);
		due = due + step > sample.ns ? due + step : sample.ns + step;
		mem_release(base);
		if (reports && reports == options->count)
			break;
		if (!ret && !wait_until(due))
			break;
	}
	return ret ? STATUS_FAILED : STATUS_OK;
}

static int run(int argc, char **argv)
{
	struct stat_options options = {
		.interval = 1,
		.dirs = STAT_DIRS,
	};
	struct history history = { 0 };
	int ret;

	/* 0.5 is half a second, and JSON is JSON, in every language */
	setlocale(LC_NUMERIC, "C");
	ret = parse(&options, argc, argv);
	if (ret == -1)
		return STATUS_OK;
	if (ret)
		return command_usage_hint(&cmd_stat);
	if (stat_check(&options.dirs))
		return STATUS_FAILED;
	ret = run_lines(&options, &history);
	history_free(&history);
	return ret;
}

const struct command cmd_stat = {
	"stat", run, "what the modules do now: IOPS, latency, errors",
	"[INTERVAL] [OPTION...]\n\n"
	"Shows each INTERVAL seconds (1) what was done in that time: on a host by controller,\n"
	"on a target by host.\n\n"
	"  --once            one report, of one interval\n"
	"  --count N         N reports\n"
	"  --json            a JSON object on a line for each report\n"
	"  --host, --target  only one side\n"
	"  --by WHAT         a row for each controller, queue, host, port or thread\n"
	"  --sort COLUMN     name, iops, read, write, p50, p99, inflight, reconnects, errors,\n"
	"                    retries, waits or credits, the largest first; of threads cpu,\n"
	"                    spun, rounds, sleeps, interrupts or absences\n"
};
