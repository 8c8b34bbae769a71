// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues that queues share.
 *
 * Operation: the queues of an SRQ share completion queues, and so do the queues of a completion
 * vector that have receives of their own. An interrupt then brings completions of several
 * queues. A new queue gets a completion queue with room for it. If there is none, a new one is
 * made, twice as large as the last, so that there are few. The first one of a vector without an
 * SRQ is as large as its queue needs, because most hosts have one queue there. A completion
 * queue is freed with its last queue.
 *
 * Room: a completion queue cannot overflow, whatever hosts do. A queue reserves an entry for
 * each work request that it may have posted: sends, as far as its credit reaches, receives of
 * its own, and the markers of a drain. A work request has at most one entry, which is removed
 * before its handler runs. Only after that its credit or its receive is posted again. Receives
 * of an SRQ complete on the completion queue of the QP that takes them, and one host could take
 * all. So @base has an entry for each. The reservation ends after the QP is destroyed, when no
 * completion of it is left (qp.c).
 *
 * Failure: the device reports it in any context. The queues of an SRQ are ended by its own work
 * (srq_low.c), as receives are lost to all of them. Others are ended by @fail_work. It walks
 * @queues under the lock that get and put take, so a queue that it finds is not freed: the
 * release frees it after the put. It finds each queue that a get has returned before. A get
 * that takes the lock later finds the completion queue broken, which is set before the event is
 * handled, and does not return it. After nvme_rdma_cq_free() there is no event any more that
 * could queue the work, so the work is cancelled after that. It does not use what that frees.
 *
 * Locks: dev->srq_lock protects all lists and counts. A completion queue that has left its list
 * is freed without it, because that waits for handlers, and the work takes the lock. Allocations
 * under the lock do no I/O: the disk might wait for receives that the work of an SRQ adds under
 * it (srq_low.c).
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "common/device_limit.h"
#include "cqs.h"
#include "error.h"
#include "wq.h"

/**
 * struct shared_cq - a completion queue
 * @entry: in the list of @cqs
 * @cqs: where it belongs
 * @cq: the completion queue, whose context is @batch
 * @batch: for completion handlers; see recv.c
 * @polled: for the thread of the vector
 * @queues: the queues that use it
 * @room: entries for queues
 * @used: number of them that queues have reserved
 * @fail_work: ends @queues
 */
struct shared_cq {
	struct list_head	entry;
	struct nvmet_rdma_cqs	*cqs;
	struct nvme_rdma_cq	*cq;
	struct nvmet_rdma_cq_batch batch;
	struct nvmet_rdma_polled polled;
	struct list_head	queues;
	u32			room;
	u32			used;
	struct work_struct	fail_work;
};

static void cq_fail_work(struct work_struct *work)
{
	struct shared_cq *cq = container_of(work, struct shared_cq, fail_work);
	struct nvmet_rdma_device *dev = cq->cqs->dev;
	struct nvmet_rdma_queue *queue;

	mutex_lock(&dev->srq_lock);
	list_for_each_entry(queue, &cq->queues, cq_entry) {
		nvmet_rdma_queue_warn(queue,
				      "%s reports that the completion queue has failed; closing the connection, the host will reconnect\n",
				      dev->ib->name);
		nvmet_rdma_event(queue, NVMET_RDMA_EV_QP);
		nvmet_rdma_queue_fail(queue);
	}
	mutex_unlock(&dev->srq_lock);
}

static struct shared_cq *shared_of(const struct nvme_rdma_cq *cq)
{
	return container_of(cq->context, struct shared_cq, batch);
}

static void cq_after_batch(struct nvme_rdma_cq *cq)
{
	struct nvmet_rdma_cq_batch *batch = cq->context;

	if (batch->first)
		batch->list(batch);
}

static void cq_failed(struct nvme_rdma_cq *of)
{
	struct shared_cq *cq = shared_of(of);

	if (cq->cqs->failed)
		cq->cqs->failed(cq->cqs);
	else
		queue_work(nvmet_rdma_wq, &cq->fail_work);
}

static const struct nvme_rdma_cq_ops shared_cq_ops = {
	.after_batch	= cq_after_batch,
	.failed		= cq_failed,
};

static int cq_alloc(struct shared_cq *cq, u32 room)
{
	struct nvmet_rdma_cqs *cqs = cq->cqs;

	cq->room = room;
	cq->cq = nvme_rdma_cq_alloc(cqs->dev->ib, cqs->base + room, cqs->vector, false,
				    &shared_cq_ops, &cq->batch);
	return PTR_ERR_OR_ZERO(cq->cq);
}

/* Makes one with room for @room entries if that is possible, else for @nr or more */
static struct shared_cq *new_cq(struct nvmet_rdma_cqs *cqs, u32 nr, u32 room)
{
	u32 most = nvme_rdma_limit_less(cqs->dev->ib->attrs.max_cqe, cqs->base);
	struct shared_cq *cq;
	int ret;

	if (nr > most)
		return ERR_PTR(-EINVAL);
	cq = kzalloc_node(sizeof(*cq), GFP_KERNEL, ibdev_to_node(cqs->dev->ib));
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->cqs = cqs;
	cq->batch.end = &cq->batch.first;
	INIT_LIST_HEAD(&cq->queues);
	INIT_WORK(&cq->fail_work, cq_fail_work);
	room = clamp(room, nr, most);
	ret = cq_alloc(cq, room);
	if (ret && room > nr)
		ret = cq_alloc(cq, nr);
	if (ret) {
		kfree(cq);
		return ERR_PTR(ret);
	}
	list_add_tail(&cq->entry, &cqs->list);
	cq->polled.cq = cq->cq;
	list_add_tail_rcu(&cq->polled.entry, &cqs->dev->vectors[cqs->vector].polled);
	return cq;
}

/* The last one is as large as all previous ones, so that the small ones are left and freed */
static struct shared_cq *find_cq(struct nvmet_rdma_cqs *cqs, u32 nr)
{
	struct shared_cq *cq;
	u32 room = cqs->first;

	list_for_each_entry_reverse(cq, &cqs->list, entry) {
		if (READ_ONCE(cq->cq->broken))
			continue;
		if (cq->room - cq->used >= nr)
			return cq;
		/* Devices round the size plus one up to a power of two */
		room = max(room, 2 * cq->room + 1);
	}
	return new_cq(cqs, nr, room);
}

/**
 * nvmet_rdma_cqs_get() - find a completion queue for a new queue
 * @cqs: where
 * @queue: the queue; nr_cqe is set
 *
 * Sets queue->cq.
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_cqs_get(struct nvmet_rdma_cqs *cqs, struct nvmet_rdma_queue *queue)
{
	unsigned int noio = memalloc_noio_save();
	struct shared_cq *cq;

	mutex_lock(&cqs->dev->srq_lock);
	cq = find_cq(cqs, queue->nr_cqe);
	if (!IS_ERR(cq)) {
		cq->used += queue->nr_cqe;
		list_add_tail(&queue->cq_entry, &cq->queues);
		queue->cq = cq->cq;
	}
	mutex_unlock(&cqs->dev->srq_lock);
	memalloc_noio_restore(noio);
	return PTR_ERR_OR_ZERO(cq);
}

/**
 * nvmet_rdma_cqs_put() - undo nvmet_rdma_cqs_get()
 * @queue: the queue; its QP is gone or was never made, and no completion of it is left
 *
 * Context: may sleep.
 */
void nvmet_rdma_cqs_put(struct nvmet_rdma_queue *queue)
{
	struct shared_cq *cq = shared_of(queue->cq);
	struct mutex *lock = &cq->cqs->dev->srq_lock;
	bool unused;

	mutex_lock(lock);
	list_del(&queue->cq_entry);
	cq->used -= queue->nr_cqe;
	unused = list_empty(&cq->queues);
	if (unused) {
		list_del(&cq->entry);
		/* The free waits for the vector's thread, which looks with RCU */
		list_del_rcu(&cq->polled.entry);
		cq->cqs->dev->vectors[cq->cqs->vector].interrupts += READ_ONCE(cq->cq->interrupts);
	}
	mutex_unlock(lock);
	if (!unused)
		return;
	nvme_rdma_cq_free(cq->cq);
	cancel_work_sync(&cq->fail_work);
	kfree(cq);
}
