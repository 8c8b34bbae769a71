/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queues of either module; see cq.c.
 */
#ifndef NVME_RDMA_CQ_H
#define NVME_RDMA_CQ_H

#include <linux/completion.h>
#include <linux/irq_poll.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

/* Completions that are taken out of a queue at a time */
#define NVME_RDMA_CQ_BATCH	16

struct nvme_rdma_cq;

/**
 * struct nvme_rdma_cq_ops - what an owner of completion queues has to say
 * @after_batch: called behind the handlers of each batch; may be NULL
 * @failed:	the device said that the queue has failed, which is @broken now; in
 *		any context, and perhaps more than once
 */
struct nvme_rdma_cq_ops {
	void (*after_batch)(struct nvme_rdma_cq *cq);
	void (*failed)(struct nvme_rdma_cq *cq);
};

/**
 * struct nvme_rdma_cq - a completion queue, or a pair of them
 * @ib:		the verbs' part: of receives, if there is @sends
 * @sends:	of the send queue, which interrupts only if somebody waits for it
 * @awaited:	how many of those completions somebody waits for; of the handlers
 *		alone
 * @draining:	a drain waits for all of them; set once, by the drain
 * @context:	of whoever made it
 * @ops:	what that one has to say
 * @broken:	it completes nothing any more, so nothing may wait for that; set once, by the
 *		device's event, in any context
 * @polled:	it has no interrupts, and nvme_rdma_cq_poll() looks at it
 * @at_once:	an interrupt may handle completions itself
 * @vector:	its completion vector
 * @flush_lock:	one flush, or stop, at a time
 * @wanted:	number of the last flush that was asked for; written under @flush_lock
 * @flushed:	number of the last one that has ended; written by the poller
 * @behind:	completions that were in the queue when it began, at most; of the poller
 * @flush_done:	it has ended
 * @now:	when the batch was taken out, in ktime's nanoseconds; 0 until asked
 * @pollers:	who polls, and who has and still asks for interrupts
 * @iop:	the poll in a softirq, if it has
 * @wc:		the batch
 *
 * The handlers of one queue run one at a time.
 */
struct nvme_rdma_cq {
	struct ib_cq	*ib;
	struct ib_cq	*sends;
	unsigned int	awaited;
	bool		draining;
	void		*context;
	const struct nvme_rdma_cq_ops *ops;
	bool		broken;
	bool		polled;
	bool		at_once;
	unsigned int	vector;
	struct mutex	flush_lock; /* see above */
	unsigned int	wanted;
	unsigned int	flushed;
	int		behind;
	struct completion flush_done;
	u64		now;
	atomic_t	pollers;
	struct irq_poll	iop;
	struct ib_wc	wc[NVME_RDMA_CQ_BATCH];
};

/* Context: a handler of the queue. Return: the time, the same for all of a batch. */
static inline u64 nvme_rdma_cq_now(struct nvme_rdma_cq *cq)
{
	if (!cq->now)
		cq->now = ktime_get_ns();
	return cq->now;
}

struct nvme_rdma_cq *
nvme_rdma_cq_alloc(struct ib_device *ibdev, unsigned int size,
		   unsigned int vector, bool polled,
		   const struct nvme_rdma_cq_ops *ops, void *context);
int nvme_rdma_cq_add_sends(struct nvme_rdma_cq *cq, unsigned int size);
void nvme_rdma_cq_free(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_kick(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_drain_sends(struct nvme_rdma_cq *cq);
int nvme_rdma_cq_poll(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_stop(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_discard(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_start(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_flush(struct nvme_rdma_cq *cq);

#endif /* NVME_RDMA_CQ_H */
