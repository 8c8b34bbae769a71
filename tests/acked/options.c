// SPDX-License-Identifier: GPL-2.0
/* The command line; main.c says what it means */
#include "acked.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	SIZE, WRITERS, DEPTH, BLOCK, READS, FLUSH, PACE, SECONDS, DRAIN, SEED,
	NUMBERS, ERRORS = NUMBERS, STATUS, POLLED
};

static const struct option names[] = {
	[SIZE] = { "size", 1, NULL, SIZE },
	[WRITERS] = { "writers", 1, NULL, WRITERS },
	[DEPTH] = { "depth", 1, NULL, DEPTH },
	[BLOCK] = { "block", 1, NULL, BLOCK },
	[READS] = { "reads", 1, NULL, READS },
	[FLUSH] = { "flush", 1, NULL, FLUSH },
	[PACE] = { "pace", 1, NULL, PACE },
	[SECONDS] = { "seconds", 1, NULL, SECONDS },
	[DRAIN] = { "drain", 1, NULL, DRAIN },
	[SEED] = { "seed", 1, NULL, SEED },
	[ERRORS] = { "errors", 1, NULL, ERRORS },
	[STATUS] = { "status", 1, NULL, STATUS },
	[POLLED] = { "polled", 0, NULL, POLLED },
	{ }
};

static const struct { uint64_t usual, min, max; } numbers[NUMBERS] = {
	[SIZE] = { 16 << 20, MAX_BLOCK, 1ull << 32 },
	[WRITERS] = { 4, 1, MAX_WRITERS },
	[DEPTH] = { 4, 1, MAX_DEPTH },
	[BLOCK] = { MAX_BLOCK, SECTOR_MIN, MAX_BLOCK },
	[READS] = { 30, 0, 100 },
	[FLUSH] = { 100, 0, 1u << 30 },
	[PACE] = { 0, 0, 60000 },
	[SECONDS] = { 0, 0, 86400 },
	[DRAIN] = { 60, 1, 3600 },
	[SEED] = { 0, 0, UINT64_MAX },
};

static uint64_t number(int which, const char *text)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || end == text || value < numbers[which].min ||
	    value > numbers[which].max) {
		errno = 0;
		die("--%s %s: expected %" PRIu64 " to %" PRIu64,
		    names[which].name, text, numbers[which].min,
		    numbers[which].max);
	}
	return value;
}

static bool stops(const char *text)
{
	errno = 0;
	if (strcmp(text, "stop") && strcmp(text, "go"))
		die("--errors %s: expected stop or go", text);
	return !strcmp(text, "stop");
}

/* options_parse - DEVICE, LOG and options, behind the word that says what to do */
void options_parse(struct options *opt, int argc, char **argv)
{
	uint64_t value[NUMBERS];
	int c;

	memset(opt, 0, sizeof(*opt));
	for (c = 0; c < NUMBERS; c++)
		value[c] = numbers[c].usual;
	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (c == '?')
			exit(EXIT_USAGE);
		if (c < NUMBERS)
			value[c] = number(c, optarg);
		else if (c == STATUS)
			opt->status = optarg;
		else if (c == POLLED)
			opt->polled = true;
		else
			opt->stop_at_error = stops(optarg);
	}
	errno = 0;
	if (argc - optind != 2)
		die("usage: acked run|verify DEVICE LOG [OPTIONS]");
	opt->device = argv[optind];
	opt->log = argv[optind + 1];
	opt->bytes = value[SIZE];
	opt->seed = value[SEED];
	opt->writers = (unsigned int)value[WRITERS];
	opt->depth = (unsigned int)value[DEPTH];
	opt->block = (unsigned int)value[BLOCK];
	opt->reads = (unsigned int)value[READS];
	opt->flush = opt->polled ? 0 : (unsigned int)value[FLUSH];
	opt->pace = (unsigned int)value[PACE];
	opt->seconds = (unsigned int)value[SECONDS];
	opt->drain = (unsigned int)value[DRAIN];
}
