// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receives: giving them to the HCA. A command uses nothing else of an SRQ.
 *
 * Receives are posted several at a time, unless they run low. One that the HCA does not take
 * waits in @unposted until it does. One of a block that retires is kept (srq_shrink.c).
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "error.h"
#include "srq.h"
#include "wq.h"

/* On failure *bad is the first receive that the HCA has not taken */
static int srq_post_wrs(struct nvmet_rdma_srq *srq, struct ib_recv_wr *first,
			const struct ib_recv_wr **bad)
{
	u32 epoch = READ_ONCE(srq->epoch);
	struct nvmet_rdma_cmd *cmd;
	struct ib_recv_wr *wr;

	for (wr = first; wr; wr = wr->next) {
		cmd = container_of(wr, struct nvmet_rdma_cmd, wr);
		WRITE_ONCE(cmd->posted_epoch, epoch);
	}
	*bad = first;
	return ib_post_srq_recv(srq->ib, first, bad);
}

static void srq_keep(struct nvmet_rdma_srq *srq, const struct ib_recv_wr *wr,
		     int error)
{
	struct nvmet_rdma_cmd *cmd;
	unsigned long flags;

	pr_warn_ratelimited("%s cannot post a shared receive (error %d); retrying every %u seconds\n",
			    srq->dev->ib->name, error, NVMET_RDMA_SRQ_LOW_SECS);
	spin_lock_irqsave(&srq->lock, flags);
	for (; wr; wr = wr->next) {
		cmd = container_of((struct ib_recv_wr *)wr,
				   struct nvmet_rdma_cmd, wr);
		cmd->cqe.done = nvmet_rdma_completed_twice;
		WRITE_ONCE(cmd->posted_epoch, 0);
		list_add_tail(&cmd->entry, &srq->unposted);
	}
	if (!srq->closing)
		queue_delayed_work(nvmet_rdma_wq, &srq->work, NVMET_RDMA_SRQ_LOW_SECS * HZ);
	spin_unlock_irqrestore(&srq->lock, flags);
}

/* Adds @cmd to the chain, and posts it if that has @full receives */
static __always_inline int srq_post(struct nvmet_rdma_srq *srq, struct nvmet_rdma_cmd *cmd,
				    unsigned int full)
{
	const struct ib_recv_wr *bad;
	struct ib_recv_wr *first;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&srq->chain.lock, flags);
	first = nvmet_rdma_recv_chain_add(&srq->chain, cmd, full);
	if (first)
		ret = srq_post_wrs(srq, first, &bad);
	spin_unlock_irqrestore(&srq->chain.lock, flags);
	if (unlikely(ret))
		srq_keep(srq, bad, ret);
	return ret;
}

/**
 * nvmet_rdma_srq_post_chain() - post receives that wait for a full chain
 * @srq: their SRQ
 *
 * Context: any.
 */
void nvmet_rdma_srq_post_chain(struct nvmet_rdma_srq *srq)
{
	srq_post(srq, NULL, 1);
}

/* Keeps a receive whose block retires. Returns false if it does not retire any more. */
static bool srq_take_back(struct nvmet_rdma_srq *srq, struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_recv_block *block = cmd->block;
	unsigned long flags;
	bool retiring;

	spin_lock_irqsave(&srq->lock, flags);
	retiring = block->state != NVMET_RDMA_BLOCK_USED;
	if (retiring) {
		list_add_tail(&cmd->entry, &block->returned);
		if (++block->nr_returned == block->nr && !srq->closing)
			mod_delayed_work(nvmet_rdma_wq, &srq->shrink_work, 0);
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return retiring;
}

/**
 * nvmet_rdma_srq_post() - give a shared receive to the HCA
 * @srq: its SRQ
 * @cmd: the receive
 *
 * It waits for a full chain, unless receives run low.
 *
 * Context: any. Return: 0, or an error if the SRQ keeps it and retries later.
 */
int nvmet_rdma_srq_post(struct nvmet_rdma_srq *srq, struct nvmet_rdma_cmd *cmd)
{
	if (unlikely(READ_ONCE(cmd->block->state) != NVMET_RDMA_BLOCK_USED) &&
	    srq_take_back(srq, cmd))
		return 0;
	nvmet_rdma_recv_sync_for_device(srq->dev->ib, cmd);
	return srq_post(srq, cmd, nvmet_rdma_srq_is_low(srq) ? 1 :
						NVMET_RDMA_RECV_CHAIN);
}

/**
 * nvmet_rdma_srq_post_list() - give several shared receives to the HCA
 * @srq: their SRQ
 * @cmd: the receives, linked by @next; their blocks did not retire a moment ago
 *
 * As nvmet_rdma_srq_post() for each of them.
 *
 * Context: any. Return: 0, or an error if the SRQ keeps some of them and retries later.
 */
int nvmet_rdma_srq_post_list(struct nvmet_rdma_srq *srq, struct nvmet_rdma_cmd *cmd)
{
	const struct ib_recv_wr *bad;
	struct nvmet_rdma_cmd *next;
	struct ib_recv_wr *first;
	int ret, error = 0;
	unsigned long flags;
	unsigned int full;

	do {
		ret = 0;
		spin_lock_irqsave(&srq->chain.lock, flags);
		full = nvmet_rdma_srq_is_low(srq) ? 1 : NVMET_RDMA_RECV_CHAIN;
		for (; cmd && !ret; cmd = next) {
			/* It may be another command when it is posted */
			next = cmd->next;
			nvmet_rdma_recv_sync_for_device(srq->dev->ib, cmd);
			first = nvmet_rdma_recv_chain_add(&srq->chain, cmd, full);
			if (first)
				ret = srq_post_wrs(srq, first, &bad);
		}
		spin_unlock_irqrestore(&srq->chain.lock, flags);
		if (unlikely(ret)) {
			srq_keep(srq, bad, ret);
			error = ret;
		}
	} while (cmd);
	return error;
}

/**
 * nvmet_rdma_srq_add() - post new receives to an SRQ
 * @srq: the SRQ, the device's srq_lock held
 * @nr: number of receives
 * @permanent: they never retire
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_srq_add(struct nvmet_rdma_srq *srq, u32 nr, bool permanent)
{
	struct nvmet_rdma_recv_block *recvs;
	u32 i;

	recvs = nvmet_rdma_recv_block_alloc(srq->dev, nr, srq->room);
	if (IS_ERR(recvs))
		return PTR_ERR(recvs);
	recvs->permanent = permanent;
	list_add_tail(&recvs->entry, &srq->blocks);
	for (i = 0; i < nr; i++) {
		recvs->cmds[i].srq = srq;
		recvs->cmds[i].block = recvs;
		nvmet_rdma_srq_post(srq, &recvs->cmds[i]);
	}
	return 0;
}
