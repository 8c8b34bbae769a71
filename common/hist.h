/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of times by powers of two, and how the files in debugfs print it.
 *
 * Bucket 0 counts what took less than 1.024 us, bucket n less than 2^n times
 * that, the last one all that took longer. One CPU at a time adds.
 */
#ifndef NVME_RDMA_HIST_H
#define NVME_RDMA_HIST_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>

/*
 * Whether what every command does is counted. It always is, but in a build that
 * shows what the counting costs (make COUNTS=0).
 */
#ifndef NVME_RDMA_COUNTS
#define NVME_RDMA_COUNTS	1
#endif

/* The last bucket begins at 2^24 * 1.024 us, 17 s: longer than any deadline */
#define NVME_RDMA_HIST_BUCKETS	26
#define NVME_RDMA_HIST_SHIFT	10

struct nvme_rdma_hist {
	u64	count[NVME_RDMA_HIST_BUCKETS];
};

/**
 * nvme_rdma_hist_add() - count one time
 * @hist: the histogram
 * @ns: the time in nanoseconds
 *
 * Context: any, one CPU at a time.
 */
static inline void nvme_rdma_hist_add(struct nvme_rdma_hist *hist, u64 ns)
{
	hist->count[min_t(unsigned int, fls64(ns >> NVME_RDMA_HIST_SHIFT),
			  NVME_RDMA_HIST_BUCKETS - 1)]++;
}

/**
 * nvme_rdma_hist_total() - how many times were counted
 * @hist: the histogram, which may change meanwhile
 *
 * Context: any. Return: their number.
 */
static inline u64 nvme_rdma_hist_total(const struct nvme_rdma_hist *hist)
{
	u64 total = 0;
	int i;

	for (i = 0; i < NVME_RDMA_HIST_BUCKETS; i++)
		total += READ_ONCE(hist->count[i]);
	return total;
}

/**
 * nvme_rdma_hist_show() - print the key, and each count behind it
 * @m: where to
 * @key: the key
 * @hist: the histogram, which may change meanwhile
 *
 * Context: any.
 */
static inline void nvme_rdma_hist_show(struct seq_file *m, const char *key,
				       const struct nvme_rdma_hist *hist)
{
	int i;

	seq_puts(m, key);
	for (i = 0; i < NVME_RDMA_HIST_BUCKETS; i++)
		seq_printf(m, " %llu", READ_ONCE(hist->count[i]));
	seq_putc(m, '\n');
}

#endif /* NVME_RDMA_HIST_H */
