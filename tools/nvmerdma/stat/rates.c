// SPDX-License-Identifier: GPL-2.0
/* What was done between two samples, and how long it took */
#include "stat/stat.h"

#include <math.h>
#include <string.h>

struct work work_of(const struct counters *counters)
{
	struct work work = {
		.n = {
			[WORK_COMMANDS]	= counter(counters, "responses"),
			[WORK_READ]	= counter(counters, "bytes_read"),
			[WORK_WRITTEN]	= counter(counters, "bytes_written"),
			[WORK_WAITS]	= counter_sum(counters, "wait_"),
		},
	};

	memcpy(work.hist, counters->hist, sizeof(work.hist));
	return work;
}

/* No count goes down, but where it begins at 0 again */
static bool began_anew(const struct work *now, const struct work *old)
{
	size_t i;

	for (i = 0; i < NR_WORK; i++) {
		if (now->n[i] < old->n[i])
			return true;
	}
	for (i = 0; i < HIST_BUCKETS; i++) {
		if (now->hist[i] < old->hist[i])
			return true;
	}
	return false;
}

struct work work_since(const struct work *now, const struct work *old)
{
	struct work work = *now;
	size_t i;

	if (began_anew(now, old))
		return work;
	for (i = 0; i < NR_WORK; i++)
		work.n[i] -= old->n[i];
	for (i = 0; i < HIST_BUCKETS; i++)
		work.hist[i] -= old->hist[i];
	return work;
}

void work_add(struct work *sum, const struct work *work)
{
	size_t i;

	for (i = 0; i < NR_WORK; i++)
		sum->n[i] += work->n[i];
	for (i = 0; i < HIST_BUCKETS; i++)
		sum->hist[i] += work->hist[i];
}

/* Where a bucket begins, and with it where the one before ends */
static double bucket_us(size_t i)
{
	return i ? HIST_UNIT_US * (1u << (i - 1)) : 0;
}

double percentile_us(const uint64_t hist[HIST_BUCKETS], double part)
{
	double before = 0, wanted = 0;
	size_t i;

	for (i = 0; i < HIST_BUCKETS; i++)
		wanted += hist[i] * part;
	if (wanted <= 0)
		return NAN;
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		if (hist[i] && before + hist[i] >= wanted)
			return bucket_us(i) + (bucket_us(i + 1) - bucket_us(i)) *
			       (wanted - before) / hist[i];
		before += hist[i];
	}
	return bucket_us(HIST_BUCKETS - 1);
}
