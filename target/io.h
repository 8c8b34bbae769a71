/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: starting and executing commands */
#ifndef NVMET_RDMA_IO_H
#define NVMET_RDMA_IO_H

#include "queue.h"

/* check.c */

u16 nvmet_rdma_check_command(struct nvmet_rdma_rsp *rsp);

/* io.c */

extern const struct nvmet_fabrics_ops *nvmet_rdma_core_ops;

/*
 * Shall a queue, which the caller has taken from its list, run alone? Context: any. Return: true
 * if it has several commands, or is an admin queue.
 */
static inline bool nvmet_rdma_io_runs_alone(const struct nvmet_rdma_queue *queue)
{
	/* Nothing takes commands from these lists but a work that runs the queue */
	const struct nvmet_rdma_rsp *ready = READ_ONCE(queue->ready.first);

	return !queue->qid || READ_ONCE(queue->nr_waiting) + !!ready > 1 ||
	       (ready && READ_ONCE(ready->next));
}

void nvmet_rdma_io_batch(struct nvmet_rdma_queue *queue, unsigned int max);
void nvmet_rdma_io_retry_work(struct work_struct *work);

#endif /* NVMET_RDMA_IO_H */
