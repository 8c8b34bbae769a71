/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of times by powers of two, and its line in debugfs files.
 *
 * Bucket 0 counts times below 1.024 us. Bucket n counts longer times, below 2^n times
 * that. The last bucket counts all longer times. Callers serialize additions.
 */
#ifndef NVME_RDMA_HIST_H
#define NVME_RDMA_HIST_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>

/*
 * 1 if the events of every command are counted. It is 0 only in a build that measures
 * the cost of counting (make COUNTS=0).
 */
#ifndef NVME_RDMA_COUNTS
#define NVME_RDMA_COUNTS	1
#endif

/* The last bucket begins at 2^24 * 1.024 us, 17 s: longer than any deadline */
#define NVME_RDMA_HIST_BUCKETS	26
#define NVME_RDMA_HIST_SHIFT	10

/*
 * Each time that a u64 can hold has a counter, so that an addition compares nothing. The
 * counters from the last bucket on are added when they are read.
 */
#define NVME_RDMA_HIST_COUNTERS	(65 - NVME_RDMA_HIST_SHIFT)

/**
 * struct nvme_rdma_hist - a histogram of times
 * @count: number of times for each power of two; written by one CPU at a time, read at any
 *	time
 */
struct nvme_rdma_hist {
	u64	count[NVME_RDMA_HIST_COUNTERS];
};

/**
 * nvme_rdma_hist_add() - add a time
 * @hist: the histogram
 * @ns: the time in nanoseconds
 *
 * Context: any; the caller serializes additions.
 */
static inline void nvme_rdma_hist_add(struct nvme_rdma_hist *hist, u64 ns)
{
	/* the bit makes all times of bucket 0 equal */
	ns |= BIT_ULL(NVME_RDMA_HIST_SHIFT - 1);
	hist->count[fls64(ns) - NVME_RDMA_HIST_SHIFT]++;
}

/**
 * nvme_rdma_hist_sum() - add the times of another histogram
 * @to: where to
 * @from: the other one, to which times may be added meanwhile
 *
 * Context: any.
 */
static inline void nvme_rdma_hist_sum(struct nvme_rdma_hist *to,
				      const struct nvme_rdma_hist *from)
{
	int i;

	for (i = 0; i < NVME_RDMA_HIST_COUNTERS; i++)
		to->count[i] += READ_ONCE(from->count[i]);
}

/**
 * nvme_rdma_hist_total() - number of times in a histogram
 * @hist: the histogram, which may change meanwhile
 *
 * Context: any. Return: the sum of all buckets.
 */
static inline u64 nvme_rdma_hist_total(const struct nvme_rdma_hist *hist)
{
	u64 total = 0;
	int i;

	for (i = 0; i < NVME_RDMA_HIST_COUNTERS; i++)
		total += READ_ONCE(hist->count[i]);
	return total;
}

/**
 * nvme_rdma_hist_show() - print a key and the count of each bucket
 * @m: the file
 * @key: the key
 * @hist: the histogram, which may change meanwhile
 *
 * Context: any.
 */
static inline void nvme_rdma_hist_show(struct seq_file *m, const char *key,
				       const struct nvme_rdma_hist *hist)
{
	u64 last = 0;
	int i;

	seq_puts(m, key);
	for (i = 0; i < NVME_RDMA_HIST_BUCKETS - 1; i++)
		seq_printf(m, " %llu", READ_ONCE(hist->count[i]));
	for (; i < NVME_RDMA_HIST_COUNTERS; i++)
		last += READ_ONCE(hist->count[i]);
	seq_printf(m, " %llu\n", last);
}

#endif /* NVME_RDMA_HIST_H */
