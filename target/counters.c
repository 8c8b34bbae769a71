// SPDX-License-Identifier: GPL-2.0
/* Counters: their keys in debugfs, and their sums. */

#include <linux/seq_file.h>

#include "debugfs.h"

static_assert((int)NVMET_RDMA_N_WITHOUT_DATA == (int)NVMET_RDMA_DATA_NONE);
static_assert((int)NVMET_RDMA_N_IN_CAPSULE == (int)NVMET_RDMA_DATA_CAPSULE);
static_assert((int)NVMET_RDMA_N_KEYED == (int)NVMET_RDMA_DATA_KEYED);

static const char * const count_keys[NVMET_RDMA_NR_COUNTS] = {
	[NVMET_RDMA_N_WITHOUT_DATA]	= "commands_without_data",
	[NVMET_RDMA_N_IN_CAPSULE]	= "commands_in_capsule",
	[NVMET_RDMA_N_KEYED]		= "commands_keyed",
	[NVMET_RDMA_N_RECEIVES]		= "receives_completed",
	[NVMET_RDMA_N_SENDS]		= "sends_completed",
	[NVMET_RDMA_N_ERRORS]		= "responses_with_error",
	[NVMET_RDMA_N_INVALIDATES]	= "keys_invalidated",
	[NVMET_RDMA_N_POSTS]		= "posts",
	[NVMET_RDMA_N_WRS]		= "work_requests",
	[NVMET_RDMA_N_SWEEPS]		= "sweeps",
	[NVMET_RDMA_N_BY_CHUNKS]	= "transfers_in_chunks",
	[NVMET_RDMA_N_BY_RW]		= "transfers_in_pages",
	[NVMET_RDMA_N_BY_PI]		= "transfers_protected",
	[NVMET_RDMA_N_BYTES_READ]	= "bytes_read",
	[NVMET_RDMA_N_BYTES_WRITTEN]	= "bytes_written",
};

static const char * const event_keys[NVMET_RDMA_NR_EVENTS] = {
	[NVMET_RDMA_EV_NOT_LIVE]	= "wait_not_live",
	[NVMET_RDMA_EV_NO_CREDIT]	= "wait_no_credit",
	[NVMET_RDMA_EV_NO_RESPONSE]	= "wait_no_response",
	[NVMET_RDMA_EV_NO_MEMORY]	= "wait_no_memory",
	[NVMET_RDMA_EV_NO_TAG]		= "wait_no_tag",
	[NVMET_RDMA_EV_NO_CHUNK]	= "short_of_chunks",
	[NVMET_RDMA_EV_NO_RECEIVE]	= "short_of_receives",
	[NVMET_RDMA_EV_SGL]		= "error_sgl",
	[NVMET_RDMA_EV_PROTOCOL]	= "error_protocol",
	[NVMET_RDMA_EV_WC_ERROR]	= "error_work",
	[NVMET_RDMA_EV_FLUSH]		= "error_flush",
	[NVMET_RDMA_EV_POST]		= "error_post",
	[NVMET_RDMA_EV_TRANSFER]	= "error_transfer",
	[NVMET_RDMA_EV_PI]		= "error_protection",
	[NVMET_RDMA_EV_QP]		= "error_queue_pair",
	[NVMET_RDMA_EV_DRAIN]		= "error_drain",
};

/**
 * nvmet_rdma_show() - print a key and its value
 * @m: where to
 * @key: the key
 * @value: its value
 *
 * Context: any.
 */
void nvmet_rdma_show(struct seq_file *m, const char *key, u64 value)
{
	seq_printf(m, "%s %llu\n", key, value);
}

/**
 * nvmet_rdma_show_nqn() - print a key and an NQN
 * @m: where to
 * @key: the key
 * @nqn: the NQN, which a peer may have chosen; NULL if there is none
 *
 * Escapes what could be taken for another line.
 *
 * Context: any.
 */
void nvmet_rdma_show_nqn(struct seq_file *m, const char *key, const char *nqn)
{
	if (nqn)
		seq_printf(m, "%s %*pE\n", key, (int)strlen(nqn), nqn);
	else
		seq_printf(m, "%s -\n", key);
}

/**
 * nvmet_rdma_show_host() - print the NQN of a host
 * @m: where to
 * @host: the host, NULL if that is not known
 *
 * Context: any.
 */
void nvmet_rdma_show_host(struct seq_file *m,
			  const struct nvmet_rdma_host *host)
{
	nvmet_rdma_show_nqn(m, "host", host ? host->nqn : NULL);
}

/**
 * nvmet_rdma_sum() - add the counts of a queue
 * @sums: sums to add them to
 * @queue: the queue, which may go on counting
 *
 * Context: any.
 */
void nvmet_rdma_sum(struct nvmet_rdma_sums *sums,
		    const struct nvmet_rdma_queue *queue)
{
	const struct nvmet_rdma_counts *counts = &queue->counts;
	int i;

	for (i = 0; i < NVMET_RDMA_NR_COUNTS; i++)
		sums->counts.n[i] += READ_ONCE(counts->n[i]);
	for (i = 0; i < NVMET_RDMA_NR_POST_COUNTS; i++)
		sums->counts.n[NVMET_RDMA_N_POSTS + i] +=
			READ_ONCE(queue->post_counts[i]);
	nvme_rdma_hist_sum(&sums->counts.latency, &counts->latency);
	for (i = 0; i < NVMET_RDMA_NR_EVENTS; i++)
		sums->events[i] += atomic64_read(&queue->events[i]);
}

/**
 * nvmet_rdma_show_sums() - print the counts of queues
 * @m: where to
 * @sums: of one queue or of several
 *
 * Context: any.
 */
void nvmet_rdma_show_sums(struct seq_file *m,
			  const struct nvmet_rdma_sums *sums)
{
	int i;

	for (i = 0; i < NVMET_RDMA_NR_COUNTS; i++)
		nvmet_rdma_show(m, count_keys[i], sums->counts.n[i]);
	for (i = 0; i < NVMET_RDMA_NR_EVENTS; i++)
		nvmet_rdma_show(m, event_keys[i], sums->events[i]);
	nvmet_rdma_show(m, "responses",
			nvme_rdma_hist_total(&sums->counts.latency));
	nvme_rdma_hist_show(m, "latency_log2_us", &sums->counts.latency);
}
