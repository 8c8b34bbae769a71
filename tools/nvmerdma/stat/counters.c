// SPDX-License-Identifier: GPL-2.0
/* A file of keys and values, as nvme-rdma(4) and nvmet-rdma(4) describe them */
#include "stat/stat.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIST_KEY	"latency_log2_us"

/* How a queue is set up, of which there is no sum */
static const char * const setup_keys[] = {
	"vector", "completion_queue", "polled", "depth", "in_capsule_size", "command_inline",
	"response_inline", "rdma_rw", "protection", "p2p", "srq", "receives_low", "controller",
	"qid", "port", NULL
};

/* A number from @text on, and where it ends; NULL if there is none, or too large a one */
static const char *number(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

static void parse_hist(struct counters *counters, const char *text)
{
	uint64_t counts[HIST_BUCKETS];
	size_t i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		text = number(text + strspn(text, " "), &counts[i]);
		if (!text || (*text && *text != ' '))
			return;
	}
	if (text[strspn(text, " ")])
		return;
	memcpy(counters->hist, counts, sizeof(counts));
	counters->has_hist = true;
}

static void parse_line(struct counters *counters, char *line)
{
	char *value = strchr(line, ' ');
	struct counter one = { .key = line };
	const char *end;

	if (!value || value == line)
		return;
	*value++ = 0;
	if (!strcmp(line, HIST_KEY)) {
		parse_hist(counters, value);
		return;
	}
	if (!*value)
		return;
	one.text = value;
	end = number(value, &one.value);
	one.is_number = end && !*end;
	mem_push(counters->list, counters->nr, one);
}

void counters_parse(struct counters *counters, char *text)
{
	char *line, *rest;

	memset(counters, 0, sizeof(*counters));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		parse_line(counters, line);
}

/* The first one, and why */
static struct {
	char path[256];
	int err;
} refused;

const char *counters_refused(void)
{
	errno = refused.err;
	return refused.err ? refused.path : NULL;
}

/* debugfs returns EIO for an open file that was removed, and ENODEV for a thread that ends */
static void note_refused(const char *path, int err)
{
	if (refused.err || err == ENOENT || err == EIO || err == ENODEV)
		return;
	snprintf(refused.path, sizeof(refused.path), "%s", path);
	refused.err = err;
}

bool counters_read(struct counters *counters, const char *fmt, ...)
{
	char *path, *text;

	FORMAT(path, fmt);
	text = path ? file_read("%s", path) : NULL;
	if (path && !text)
		note_refused(path, errno);
	free(path);
	if (!text)
		return false;
	counters_parse(counters, text);
	return true;
}

static const struct counter *find(const struct counters *counters, const char *key)
{
	size_t i;

	for (i = 0; i < counters->nr; i++) {
		if (!strcmp(counters->list[i].key, key))
			return &counters->list[i];
	}
	return NULL;
}

uint64_t counter(const struct counters *counters, const char *key)
{
	const struct counter *one = find(counters, key);

	return one && one->is_number ? one->value : 0;
}

const char *counter_text(const struct counters *counters, const char *key)
{
	const struct counter *one = find(counters, key);

	return one ? one->text : "-";
}

uint64_t counter_sum(const struct counters *counters, const char *prefix)
{
	size_t i, len = strlen(prefix);
	uint64_t sum = 0;

	for (i = 0; i < counters->nr; i++) {
		if (counters->list[i].is_number && !strncmp(counters->list[i].key, prefix, len))
			sum += counters->list[i].value;
	}
	return sum;
}

uint64_t counter_errors(const struct counters *counters)
{
	return counter_sum(counters, "error_") - counter(counters, "error_flush");
}

void counters_add(struct counters *sum, const struct counters *counters)
{
	struct counter *have;
	size_t i;

	sum->has_hist |= counters->has_hist;
	for (i = 0; i < HIST_BUCKETS; i++)
		sum->hist[i] += counters->hist[i];
	for (i = 0; i < counters->nr; i++) {
		const struct counter *one = &counters->list[i];

		if (!one->is_number || word_in(setup_keys, one->key))
			continue;
		have = (struct counter *)find(sum, one->key);
		if (have)
			have->value += one->value;
		else
			mem_push(sum->list, sum->nr, *one);
	}
}
