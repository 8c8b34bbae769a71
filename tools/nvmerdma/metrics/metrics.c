// SPDX-License-Identifier: GPL-2.0
/* nvmerdma metrics: the counters for a monitoring system */
#include "command.h"
#include "metrics/metrics.h"

#include <getopt.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A host has some 50 series, and a controller some 100. With the default, a target of 1,000
 * hosts has some 5,000 series, which is a few times what node_exporter has.
 */
#define LIMIT_DEFAULT	100
#define LIMIT_MAX	100000

/* Of a request, and of its answer; Prometheus waits for 10 seconds */
#define HTTP_MS		10000

/* Users of other programs than this one read it */
#define TEXTFILE_MODE	0644
#define TEXTFILE_SUFFIX	".prom"

enum { OPT_TEXTFILE = 256, OPT_LIMIT };

static int parse_textfile(struct metrics_options *options, const char *path)
{
	size_t len = strlen(path), suffix = strlen(TEXTFILE_SUFFIX);

	if (len <= suffix || strcmp(path + len - suffix, TEXTFILE_SUFFIX))
		return usage_error("--textfile: invalid file \"%s\" (expected a name that ends in %s: node_exporter reads no other)",
				   path, TEXTFILE_SUFFIX);
	options->textfile = path;
	return 0;
}

/* 0; -1: only help was wanted; -STATUS_USAGE: it is wrong, as was said */
static int parse(struct metrics_options *options, int argc, char **argv)
{
	const struct option known[] = {
		{ "textfile", required_argument, NULL, OPT_TEXTFILE },
		{ "http", no_argument, &options->http, true },
		{ "limit", required_argument, NULL, OPT_LIMIT },
		{ "hash-hosts", no_argument, &options->hash_hosts, true },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", known, NULL)) >= 0) {
		switch (c) {
		case 0:
			break;
		case OPT_TEXTFILE:
			if (parse_textfile(options, optarg))
				return -STATUS_USAGE;
			break;
		case OPT_LIMIT:
			if (number_option("--limit", optarg, 1, LIMIT_MAX, &options->limit))
				return -STATUS_USAGE;
			break;
		case 'h':
			command_help(&cmd_metrics);
			return -1;
		default:
			return -STATUS_USAGE;
		}
	}
	if (optind < argc)
		return usage_error("unexpected argument \"%s\" (expected options only)",
				   argv[optind]);
	if (options->http && options->textfile)
		return usage_error("--http and --textfile: use only one of them");
	return 0;
}

const char *metrics_text(const struct metrics_options *options, enum metrics_format format)
{
	static const struct history none;
	struct sample sample;
	char *text = NULL;
	size_t len;
	FILE *out;

	if (stat_check_debugfs(options->dirs.mount, "nvmerdma metrics"))
		return NULL;
	sample = stat_sample(&options->dirs, &none);
	if (stat_check_read())
		return NULL;
	out = open_memstream(&text, &len);
	if (out)
		metrics_write(out, &sample, options, format);
	if (!out || fclose(out)) {
		error_msg("out of memory for the metrics: %m");
		return NULL;
	}
	return text;
}

static int run(int argc, char **argv)
{
	struct metrics_options options = { .dirs = STAT_DIRS, .limit = LIMIT_DEFAULT };
	const char *text;
	int ret;

	/* of which a target may have many thousands; its hosts' files have their sums */
	options.dirs.no_target_queues = true;
	/* a number has a point in every language */
	setlocale(LC_NUMERIC, "C");
	ret = parse(&options, argc, argv);
	if (ret == -1)
		return STATUS_OK;
	if (ret)
		return command_usage_hint(&cmd_metrics);
	if (options.http)
		return http_serve(STDIN_FILENO, &options, HTTP_MS);
	text = metrics_text(&options, options.textfile ? METRICS_CLASSIC : METRICS_OPENMETRICS);
	if (!text)
		return STATUS_FAILED;
	/* The next one follows in seconds: no disk has to write and flush each of them */
	if (options.textfile)
		return replace_file_unsynced(options.textfile, text, TEXTFILE_MODE) ?
		       STATUS_FAILED : STATUS_OK;
	fputs(text, stdout);
	return STATUS_OK;
}

const struct command cmd_metrics = {
	"metrics", run, "counters and latencies for Prometheus",
	"[OPTION...]\n\n"
	"Prints what stat counts, since the modules count it, in the OpenMetrics format.\n\n"
	"  --textfile FILE   replace FILE, for node_exporter's textfile collector, in the\n"
	"                    classic format, which is the only one that it reads\n"
	"  --http            answer one HTTP request on standard input, a socket\n"
	"  --limit N         series for N hosts and N controllers, and their sum for the\n"
	"                    rest (100)\n"
	"  --hash-hosts      a hash in place of each host's NQN\n"
};
