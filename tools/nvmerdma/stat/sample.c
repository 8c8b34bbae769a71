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

#include <string.h>

uint64_t stat_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Mostly they are in the order of before: the search goes round from @at on */
static const struct stat_queue *find_before(const struct stat_queues *before,
					    const struct stat_queue *queue, size_t *at)
{
	size_t i;

	for (i = 0; i < before->nr; i++) {
		const struct stat_queue *old = &before->list[(*at + i) % before->nr];

		if (!strcmp(old->id, queue->id) && old->instance == queue->instance) {
			*at = (*at + i + 1) % before->nr;
			return old;
		}
	}
	return NULL;
}

static void compare(struct sample *sample, enum side side, const struct history *history)
{
	const struct stat_queues *before = &history->before.queues[side];
	static const struct work none;
	size_t i, at = 0;

	for (i = 0; i < sample->queues[side].nr; i++) {
		struct stat_queue *queue = &sample->queues[side].list[i];
		const struct stat_queue *old = find_before(before, queue, &at);

		if (history->ns)
			queue->delta = work_since(&queue->total, old ? &old->total : &none);
		if (side == SIDE_HOST)
			queue->unanswered = flight_host(queue, old ? &old->unanswered : NULL);
	}
}

/* A thread that was started again has another process ID */
static void compare_threads(struct stat_threads *threads, const struct stat_threads *before)
{
	size_t i, j, k;

	for (i = 0; i < threads->nr; i++) {
		struct stat_thread *thread = &threads->list[i];

		memcpy(thread->delta, thread->total, sizeof(thread->delta));
		for (j = 0; j < before->nr; j++) {
			const struct stat_thread *old = &before->list[j];

			if (strcmp(old->name, thread->name) ||
			    counter(&old->counters, "pid") != counter(&thread->counters, "pid"))
				continue;
			for (k = 0; k < NR_THREAD; k++)
				thread->delta[k] -= old->total[k];
		}
	}
}

struct sample stat_sample(const struct stat_dirs *dirs, const struct history *history)
{
	struct mem_mark others = mem_switch((struct mem_mark) { 0 });
	struct sample sample = { 0 };

	sample.ns = stat_now();
	clock_gettime(CLOCK_REALTIME, &sample.time);
	if (history->ns)
		sample.seconds = (sample.ns - history->ns) / 1e9;
	if (dirs->debugfs[SIDE_HOST])
		stat_read_host(&sample, dirs->debugfs[SIDE_HOST], dirs->ctrls);
	if (dirs->debugfs[SIDE_TARGET])
		stat_read_target(&sample, dirs->debugfs[SIDE_TARGET], !dirs->no_target_queues);
	compare(&sample, SIDE_HOST, history);
	compare(&sample, SIDE_TARGET, history);
	compare_threads(&sample.threads, &history->before.threads);
	devices_read(&sample, dirs->devices, history);
	sample.memory = mem_switch(others);
	return sample;
}

void history_free(struct history *history)
{
	struct mem_mark others = mem_switch(history->before.memory);

	mem_release((struct mem_mark) { 0 });
	mem_switch(others);
	memset(history, 0, sizeof(*history));
}

void history_keep(struct history *history, const struct sample *sample)
{
	history_free(history);
	history->before = *sample;
	history->ns = sample->ns;
}
