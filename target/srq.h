/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: blocks of receives, and shared receive queues */
#ifndef NVMET_RDMA_SRQ_H
#define NVMET_RDMA_SRQ_H

#include "queue.h"

/* recv_block.c */

struct nvmet_rdma_recv_block *nvmet_rdma_recv_block_alloc(struct nvmet_rdma_device *dev,
							  u32 nr, u32 room);
void nvmet_rdma_recv_block_free(struct nvmet_rdma_device *dev,
				struct nvmet_rdma_recv_block *recvs);
void nvmet_rdma_recv_block_free_data(struct nvmet_rdma_device *dev,
				     struct nvmet_rdma_recv_block *recvs);
int nvmet_rdma_recv_block_alloc_data(struct nvmet_rdma_device *dev,
				     struct nvmet_rdma_recv_block *recvs);
void nvmet_rdma_recv_sync_for_device(struct ib_device *ib,
				     struct nvmet_rdma_cmd *cmd);

/* srq_post.c */

int nvmet_rdma_srq_post(struct nvmet_rdma_srq *srq,
			struct nvmet_rdma_cmd *cmd);
int nvmet_rdma_srq_post_list(struct nvmet_rdma_srq *srq,
			     struct nvmet_rdma_cmd *cmd);
void nvmet_rdma_srq_post_chain(struct nvmet_rdma_srq *srq);
int nvmet_rdma_srq_add(struct nvmet_rdma_srq *srq, u32 nr, bool permanent);

/* srq_grow.c */

/**
 * nvmet_rdma_srq_begin_epoch() - begin the epoch of the next low-water mark
 * @srq: the SRQ, the device's srq_lock held
 *
 * Receives that are posted from now on are newer than that mark. Does nothing if the epoch has
 * begun already. Handlers post receives at any time, and read @epoch without a lock: in which
 * of the two a receive is while this changes does not matter.
 *
 * Context: any.
 */
static inline void nvmet_rdma_srq_begin_epoch(struct nvmet_rdma_srq *srq)
{
	lockdep_assert_held(&srq->dev->srq_lock);
	/* 0 is none */
	WRITE_ONCE(srq->epoch, srq->mark_epoch + 1 ?: 1);
}

/**
 * nvmet_rdma_srq_may_have() - the most receives that an SRQ may have with its present queues
 * @srq: the SRQ; without the device's srq_lock this is a guess
 *
 * Context: any. Return: the number, without spare ones and replacements.
 */
static inline u32 nvmet_rdma_srq_may_have(const struct nvmet_rdma_srq *srq)
{
	return min(READ_ONCE(srq->nr_commands), srq->dev->srq_size);
}

/* Context: any; a guess as above. Return: whether an SRQ may have more receives. */
static inline bool nvmet_rdma_srq_is_small(const struct nvmet_rdma_srq *srq)
{
	return READ_ONCE(srq->nr) < nvmet_rdma_srq_may_have(srq);
}

/* Context: any, srq_lock is held. Return: the low-water mark of an SRQ that is small. */
static inline u32 nvmet_rdma_srq_growth_mark(const struct nvmet_rdma_srq *srq)
{
	return max(srq->nr / 2, 1u);
}

/*
 * No receive retires for this long after a queue has left, or the SRQ has grown by use. Longer
 * than hosts take to reconnect: their reconnect_delay is 10 s.
 */
#define NVMET_RDMA_SRQ_SHRINK_SECS	30

u32 nvmet_rdma_srq_begin(const struct nvmet_rdma_srq *srq, u32 commands);
int nvmet_rdma_srq_grow(struct nvmet_rdma_srq *srq, u32 nr);
u32 nvmet_rdma_srq_in_use(const struct nvmet_rdma_srq *srq);
bool nvmet_rdma_srq_report_is_missing(const struct nvmet_rdma_srq *srq, u32 used);

/* srq_low.c */

void nvmet_rdma_srq_arm(struct nvmet_rdma_srq *srq);
void nvmet_rdma_srq_reached(struct nvmet_rdma_srq *srq);
void nvmet_rdma_srq_work(struct work_struct *work);
void nvmet_rdma_srq_failed(struct nvmet_rdma_srq *srq, const char *what);
void nvmet_rdma_srq_event(struct ib_event *event, void *context);

/* srq_shrink.c */

void nvmet_rdma_srq_look_later(struct nvmet_rdma_srq *srq);
void nvmet_rdma_srq_shrink_later(struct nvmet_rdma_srq *srq);
void nvmet_rdma_srq_shrink_work(struct work_struct *work);

/* srq.c */

void nvmet_rdma_srq_join(struct nvmet_rdma_queue *queue,
			 const struct nvmet_rdma_srq_ops *ops);
void nvmet_rdma_srq_leave(struct nvmet_rdma_queue *queue);

#endif /* NVMET_RDMA_SRQ_H */
