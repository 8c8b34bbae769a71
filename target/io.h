/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: starting and executing commands */
#ifndef NVMET_RDMA_IO_H
#define NVMET_RDMA_IO_H

#include "queue.h"

/* check.c */

u16 nvmet_rdma_check_command(struct nvmet_rdma_rsp *rsp);

/* bdev.c */

bool nvmet_rdma_bdev_execute(struct nvmet_rdma_rsp *rsp);

/* io.c */

extern const struct nvmet_fabrics_ops *nvmet_rdma_core_ops;

/* Commands of a queue that are executed in the plug of several queues */
#define NVMET_RDMA_SHARED_BATCH		8

/*
 * Commands that a queue, which the caller has taken from its list, can execute now. It has many
 * if the data of several was read: these are not counted. Context: any.
 */
static inline unsigned int nvmet_rdma_io_has(const struct nvmet_rdma_queue *queue)
{
	/* Nothing takes commands from these lists but a work that runs the queue */
	const struct nvmet_rdma_rsp *ready = READ_ONCE(queue->ready.first);

	if (unlikely(ready && READ_ONCE(ready->next)))
		return NVMET_RDMA_SHARED_BATCH + 1;
	return READ_ONCE(queue->nr_waiting) + !!ready;
}

void nvmet_rdma_io_batch(struct nvmet_rdma_queue *queue);
bool nvmet_rdma_io_shared(struct nvmet_rdma_queue *queue, unsigned int max, bool look);
void nvmet_rdma_io_shared_done(struct nvmet_rdma_queue *queue);
void nvmet_rdma_io_shared_sleeps(struct nvmet_rdma_queue *queue);
void nvmet_rdma_io_retry_work(struct work_struct *work);

#endif /* NVMET_RDMA_IO_H */
