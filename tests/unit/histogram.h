/* SPDX-License-Identifier: GPL-2.0 */
/* A histogram as the modules print it; include it after the header of HIST_BUCKETS */
#ifndef NVME_RDMA_UNIT_HISTOGRAM_H
#define NVME_RDMA_UNIT_HISTOGRAM_H

/* "latency_log2_us" with @n in bucket @at, and @m in the one behind */
static inline const char *hist_line(size_t at, unsigned int n, unsigned int m)
{
	const char *line = "latency_log2_us";
	size_t i;

	for (i = 0; i < HIST_BUCKETS; i++)
		line = mem_fmt("%s %u", line, i == at ? n : i == at + 1 ? m : 0);
	return line;
}

#endif /* NVME_RDMA_UNIT_HISTOGRAM_H */
