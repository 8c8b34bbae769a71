/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: completion queues that queues share */
#ifndef NVMET_RDMA_CQS_H
#define NVMET_RDMA_CQS_H

#include <linux/list.h>
#include <linux/types.h>

struct nvmet_rdma_device;
struct nvmet_rdma_queue;

/**
 * struct nvmet_rdma_cq_batch - queues that the present batch of completions has brought commands to
 * @first: the first one
 * @end: where the next one is linked
 * @list: takes all of them out, and lists their commands; set if there is a @first
 *
 * The context of a completion queue. Its poller alone uses this, and the links.
 */
struct nvmet_rdma_cq_batch {
	struct nvmet_rdma_queue	*first;
	struct nvmet_rdma_queue	**end;
	void (*list)(struct nvmet_rdma_cq_batch *batch);
};

/**
 * struct nvmet_rdma_polled - a completion queue that the thread of its vector polls (thread.c)
 * @entry: in the vector's list
 * @cq: the completion queue
 * @counted: the thread counts as one that looks; used by the thread alone
 */
struct nvmet_rdma_polled {
	struct list_head	entry;
	struct nvme_rdma_cq	*cq;
	bool			counted;
};

/**
 * struct nvmet_rdma_cqs - completion queues that the queues of a vector share
 * @list: the completion queues; protected by the device's srq_lock
 * @dev: the device
 * @vector: their completion vector
 * @base: entries that each has besides those of its queues
 * @first: the minimum of entries for queues that the first one has
 * @failed: called when one has failed, in any context; if NULL, the queues of that one are
 *	    ended
 */
struct nvmet_rdma_cqs {
	struct list_head		list;
	struct nvmet_rdma_device	*dev;
	u32				vector;
	u32				base;
	u32				first;
	void (*failed)(struct nvmet_rdma_cqs *cqs);
};

/* The other members are 0 unless the caller sets them. Context: any. */
static inline void nvmet_rdma_cqs_init(struct nvmet_rdma_cqs *cqs,
				       struct nvmet_rdma_device *dev, u32 vector)
{
	INIT_LIST_HEAD(&cqs->list);
	cqs->dev = dev;
	cqs->vector = vector;
}

int nvmet_rdma_cqs_get(struct nvmet_rdma_cqs *cqs, struct nvmet_rdma_queue *queue);
void nvmet_rdma_cqs_put(struct nvmet_rdma_queue *queue);

#endif /* NVMET_RDMA_CQS_H */
