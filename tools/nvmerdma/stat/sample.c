// SPDX-License-Identifier: GPL-2.0
/*
 * One sample after another.
 *
 * A queue that was not in the sample before has begun since, and all that it has done
 * counts; so does all of one whose counts began anew, as those of a controller that was
 * made again under the same name. What a queue did between the last sample and its end
 * is lost.
 */
#include "stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer than the names of queues in debugfs: nvme2147483647/queue65535 */
#define ID_LEN	40

struct kept {
	char id[ID_LEN];
	uint64_t instance;
	struct work total;
	struct unanswered unanswered;
};

uint64_t stat_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_of(const struct kept *kept, const struct stat_queue *queue)
{
	return !strncmp(kept->id, queue->id, ID_LEN - 1) && kept->instance == queue->instance;
}

/* Mostly they are in the order of before: the search goes round from @at on */
static const struct kept *find_kept(const struct history *history, enum side side,
				    const struct stat_queue *queue, size_t *at)
{
	size_t i, nr = history->nr[side];

	for (i = 0; i < nr; i++) {
		const struct kept *kept = &history->list[side][(*at + i) % nr];

		if (is_of(kept, queue)) {
			*at = (*at + i + 1) % nr;
			return kept;
		}
	}
	return NULL;
}

static void compare(struct sample *sample, enum side side, const struct history *history)
{
	static const struct work none;
	size_t i, at = 0;

	for (i = 0; i < sample->queues[side].nr; i++) {
		struct stat_queue *queue = &sample->queues[side].list[i];
		const struct kept *kept = find_kept(history, side, queue, &at);

		if (history->ns)
			queue->delta = work_since(&queue->total, kept ? &kept->total : &none);
		if (side == SIDE_HOST)
			queue->unanswered = flight_host(queue, kept ? &kept->unanswered : NULL);
	}
}

struct sample stat_sample(const struct stat_dirs *dirs, const struct history *history)
{
	struct sample sample = { 0 };

	sample.ns = stat_now();
	clock_gettime(CLOCK_REALTIME, &sample.time);
	if (history->ns)
		sample.seconds = (sample.ns - history->ns) / 1e9;
	if (dirs->debugfs[SIDE_HOST])
		stat_read_host(&sample, dirs->debugfs[SIDE_HOST], dirs->ctrls);
	if (dirs->debugfs[SIDE_TARGET])
		stat_read_target(&sample, dirs->debugfs[SIDE_TARGET]);
	compare(&sample, SIDE_HOST, history);
	compare(&sample, SIDE_TARGET, history);
	devices_read(&sample, dirs->devices, history);
	return sample;
}

static int keep_side(struct history *history, enum side side, const struct sample *sample)
{
	size_t i, nr = sample->queues[side].nr;
	struct kept *list = nr ? calloc(nr, sizeof(*list)) : NULL;

	if (nr && !list)
		return error_msg("out of memory for what %zu queues have done", nr);
	for (i = 0; i < nr; i++) {
		const struct stat_queue *queue = &sample->queues[side].list[i];

		snprintf(list[i].id, sizeof(list[i].id), "%s", queue->id);
		list[i].instance = queue->instance;
		list[i].total = queue->total;
		list[i].unanswered = queue->unanswered;
	}
	free(history->list[side]);
	history->list[side] = list;
	history->nr[side] = nr;
	return 0;
}

int history_keep(struct history *history, const struct sample *sample)
{
	if (keep_side(history, SIDE_HOST, sample) || keep_side(history, SIDE_TARGET, sample) ||
	    devices_keep(history, sample))
		return -1;
	history->ns = sample->ns;
	return 0;
}

void history_free(struct history *history)
{
	free(history->list[SIDE_HOST]);
	free(history->list[SIDE_TARGET]);
	free(history->devices);
	memset(history, 0, sizeof(*history));
}
