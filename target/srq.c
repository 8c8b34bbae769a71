// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues: making them, and their queues.
 *
 * Operation: there is one SRQ for each device, completion vector and in-capsule size. It is
 * made with the first queue of that kind and destroyed with the last. It may have as many
 * receives as its queues may have commands outstanding, but at most srq_size. It begins with a
 * part of these, and grows by use (srq_grow.c). So a few queues take no more memory than with
 * receives of their own, less if they are idle, and a thousand queues take what srq_size
 * allows. Memory that is not used any more is freed some time later (srq_shrink.c).
 * srq_post.c posts the receives.
 *
 * The in-capsule size is part of the key because the HCA gives the next receive to any sender:
 * ports that differ in it must not share. The vector is part of it so that a receive completes
 * on the CPU that posted it.
 *
 * Completion queues: receives of an SRQ complete on the completion queue of the QP that took
 * them, and one host that breaks the rules could take all of them at once. So each completion
 * queue of its QPs (cqs.c) has room for every receive of the SRQ besides their sends. It cannot
 * overflow, whatever hosts do. Those of the device's pool could.
 *
 * Shares: a queue whose host sends more than it may have outstanding is ended (recv.c). The
 * queues of one host (address) join an SRQ only up to half of srq_size, and get receives of
 * their own beyond that. So a host that keeps the rules cannot drain the SRQ alone, but for the
 * moment in which it grows. A host that breaks them loses its connection as soon as its capsules
 * are handled.
 *
 * Low water: the HCA reports when few receives are left. If there may be more, these are added,
 * and nothing else is done. If more commands are allowed than there can be receives, commands
 * are moved out of theirs for a second: waiting ones at once, and others before they start
 * (recv.c). Meanwhile a sender that finds no receive is told to retry after min_rnr_timer. If
 * there are as many receives as commands, the mark is at the last receive, and is reached by
 * hosts that use all they may. In the latter two cases the receives that have not completed are
 * counted then (srq_low.c).
 *
 * Ownership: see recv.c. A receive that the HCA does not take waits in @unposted. All receives
 * are freed with the SRQ, after the last QP that could write into them is gone. That includes
 * lost ones, which never completed. These are replaced, and never posted again.
 *
 * Failure: when the HCA reports that an SRQ or one of its completion queues has failed, no
 * queue joins any more, and its queues are ended.
 *
 * Locks: dev->srq_lock protects the table of SRQs and all members of one but @level, @failed,
 * @chain, @unposted and @closing. Completion handlers never take it. @lock protects @unposted
 * and @closing, and the returned receives of blocks, in any context.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "srq.h"

/* Part of srq_size that the queues of one host may share */
#define HOST_SHARE		2
/*
 * The minimum of sends that the first completion queue of an SRQ has room for. With the
 * receives of the default srq_size it is one less than a power of two, because devices round
 * the size plus one up to the next.
 */
#define FIRST_CQ_SENDS		3064

/* The most receives that there can be */
static u32 srq_room(const struct nvmet_rdma_device *dev)
{
	return dev->srq_size + dev->srq_size / NVMET_RDMA_SRQ_REPLACEABLE +
	       NVMET_RDMA_SRQ_SPARE;
}

/* Receives that complete there are lost with it */
static void srq_cq_failed(struct nvmet_rdma_cqs *cqs)
{
	nvmet_rdma_srq_failed(container_of(cqs, struct nvmet_rdma_srq, cqs),
			      "a completion queue of shared receives");
}

static struct nvmet_rdma_srq *srq_create(struct nvmet_rdma_device *dev,
					 u32 vector, u32 room,
					 const struct nvmet_rdma_srq_ops *ops)
{
	struct ib_srq_init_attr attr = {
		.event_handler	= nvmet_rdma_srq_event,
		.attr.max_wr	= srq_room(dev),
		.attr.max_sge	= room ? 2 : 1,
		.srq_type	= IB_SRQT_BASIC,
	};
	struct nvmet_rdma_srq *srq;
	struct ib_srq *ib;

	srq = kvzalloc_node(sizeof(*srq), GFP_KERNEL, ibdev_to_node(dev->ib));
	if (!srq)
		return ERR_PTR(-ENOMEM);
	srq->dev = dev;
	srq->ops = ops;
	srq->vector = vector;
	srq->room = room;
	INIT_LIST_HEAD(&srq->queues);
	hash_init(srq->shares);
	INIT_LIST_HEAD(&srq->blocks);
	nvmet_rdma_cqs_init(&srq->cqs, dev, vector);
	srq->cqs.base = srq_room(dev);
	srq->cqs.first = FIRST_CQ_SENDS;
	srq->cqs.failed = srq_cq_failed;
	INIT_LIST_HEAD(&srq->unposted);
	spin_lock_init(&srq->chain.lock);
	srq->chain.done = ops->recv_done;
	srq->epoch = 1;
	spin_lock_init(&srq->lock);
	INIT_DELAYED_WORK(&srq->work, nvmet_rdma_srq_work);
	srq->shrink_at = jiffies;
	INIT_DELAYED_WORK(&srq->shrink_work, nvmet_rdma_srq_shrink_work);

	attr.srq_context = srq;
	ib = ib_create_srq(dev->pd, &attr);
	if (IS_ERR(ib)) {
		kvfree(srq);
		return ERR_CAST(ib);
	}
	srq->ib = ib;
	return srq;
}

/* Nothing finds it any more, and the QPs that could write into it are destroyed */
static void srq_destroy(struct nvmet_rdma_srq *srq)
{
	struct nvmet_rdma_recv_block *recvs, *next_recvs;

	spin_lock_irq(&srq->lock);
	srq->closing = true;
	spin_unlock_irq(&srq->lock);
	cancel_delayed_work_sync(&srq->work);
	cancel_delayed_work_sync(&srq->shrink_work);

	ib_destroy_srq(srq->ib);
	list_for_each_entry_safe(recvs, next_recvs, &srq->blocks, entry)
		nvmet_rdma_recv_block_free(srq->dev, recvs);
	kvfree(srq);
}

static struct nvmet_rdma_srq *
srq_find(const struct nvmet_rdma_queue *queue,
	 const struct nvmet_rdma_srq_ops *ops)
{
	struct nvmet_rdma_device *dev = queue->dev;
	struct nvmet_rdma_srq *srq;

	hash_for_each_possible(dev->srqs, srq, entry, queue->vector) {
		if (srq->vector == queue->vector && !READ_ONCE(srq->failed) &&
		    srq->room == queue->limits.capsule_room)
			return srq;
	}
	srq = srq_create(dev, queue->vector, queue->limits.capsule_room, ops);
	if (!IS_ERR(srq))
		hash_add(dev->srqs, &srq->entry, srq->vector);
	return srq;
}

static struct nvmet_rdma_srq_share *
share_find(struct nvmet_rdma_srq *srq, struct nvmet_rdma_peer *peer)
{
	struct nvmet_rdma_srq_share *share;

	hash_for_each_possible(srq->shares, share, entry, (unsigned long)peer) {
		if (share->peer == peer)
			return share;
	}
	share = kzalloc(sizeof(*share), GFP_KERNEL);
	if (share) {
		share->peer = peer;
		hash_add(srq->shares, &share->entry, (unsigned long)peer);
	}
	return share;
}

/* An unused share is freed: the host may be freed with its last queue */
static void share_give(struct nvmet_rdma_srq_share *share, u32 depth)
{
	share->depth -= depth;
	if (share->depth)
		return;
	hash_del(&share->entry);
	kfree(share);
}

static int srq_try_join(struct nvmet_rdma_srq *srq,
			struct nvmet_rdma_queue *queue)
{
	u32 wanted = srq->nr_commands + queue->depth;
	struct nvmet_rdma_srq_share *share;
	int ret;

	if (srq->replacements_used_up)
		return -ENOSPC;
	share = share_find(srq, queue->quota);
	if (!share)
		return -ENOMEM;
	if (share->depth + queue->depth > srq->dev->srq_size / HOST_SHARE)
		ret = -EDQUOT;
	else
		ret = nvmet_rdma_srq_grow(srq, nvmet_rdma_srq_begin(srq, wanted));
	/* The present receives are enough for a while */
	if (ret == -EDQUOT || (ret && srq->nr < nvmet_rdma_srq_begin(srq, queue->depth))) {
		share_give(share, 0);
		return ret;
	}
	share->depth += queue->depth;
	queue->srq_share = share;
	srq->nr_commands = wanted;
	list_add_tail(&queue->srq_entry, &srq->queues);
	queue->srq = srq;
	nvmet_rdma_srq_arm(srq);
	nvmet_rdma_srq_look_later(srq);
	return 0;
}

/**
 * nvmet_rdma_srq_join() - find an SRQ for a new queue
 * @queue: the queue; its device, peer, vector, depth and limits are set
 * @ops: what a new SRQ calls
 *
 * Sets queue->srq, which stays NULL if the queue is to have receives of its own.
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_join(struct nvmet_rdma_queue *queue,
			 const struct nvmet_rdma_srq_ops *ops)
{
	struct nvmet_rdma_device *dev = queue->dev;
	struct nvmet_rdma_srq *srq;
	bool unused = false;
	unsigned int noio;
	int ret;

	if (!dev->srq_size)
		return;
	noio = memalloc_noio_save();
	mutex_lock(&dev->srq_lock);
	srq = srq_find(queue, ops);
	ret = PTR_ERR_OR_ZERO(srq);
	if (!ret) {
		ret = srq_try_join(srq, queue);
		unused = list_empty(&srq->queues);
		if (unused)
			hash_del(&srq->entry);
	}
	mutex_unlock(&dev->srq_lock);
	memalloc_noio_restore(noio);
	if (unused)
		srq_destroy(srq);
	if (ret)
		pr_debug("host %pISpc, queue %u: receives of its own (error %d)\n",
			 &queue->peer_addr, queue->qid, ret);
}

/**
 * nvmet_rdma_srq_leave() - undo nvmet_rdma_srq_join()
 * @queue: the queue, with an SRQ or without; its QP is gone, or was never made
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_leave(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_device *dev = queue->dev;
	struct nvmet_rdma_srq *srq = queue->srq;
	bool unused;

	if (!srq)
		return;
	queue->srq = NULL;
	mutex_lock(&dev->srq_lock);
	list_del(&queue->srq_entry);
	srq->nr_commands -= queue->depth;
	share_give(queue->srq_share, queue->depth);
	unused = list_empty(&srq->queues);
	if (unused)
		hash_del(&srq->entry);
	else
		nvmet_rdma_srq_shrink_later(srq);
	mutex_unlock(&dev->srq_lock);
	if (unused)
		srq_destroy(srq);
}
