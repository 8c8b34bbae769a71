// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: memory for capsules that the HCA writes into.
 *
 * Operation: a receive has room for one capsule. Its first element is the
 * command, in an array that is mapped once for the whole block of receives; its
 * second is the in-capsule data, contiguous pages of the receive's own, as large
 * as the port says. A block belongs to a queue, one receive for each command
 * that the host may have outstanding, or to a shared receive queue (srq.c),
 * which feeds many queues. Receives that are given back are posted several at a
 * time; there are that many more of them.
 *
 * Ownership: posted, a receive belongs to the HCA. Completed, it belongs to
 * nvmet_rdma_recv_done(), which hands it to io.c; a shared receive belongs to
 * the queue whose QP took it until it is posted again. The core works on the
 * command and on in-capsule data in place, so that the receive is posted again
 * only when the response is about to be posted: not earlier, for the core still
 * reads it; not later, for the host may send its next command the moment it has
 * the response. When shared receives run low a command is moved out of its
 * receive before it starts (nvmet_rdma_recv_vacate(), io.c): a copy takes its
 * place, and is freed where the receive would have been posted again.
 *
 * Failure: a queue's own receive that completes in error, or that cannot be
 * posted again, is lost to the queue. A queue one short would answer its host
 * with receiver-not-ready for ever, so that the queue is ended; its receives are
 * freed with it, wherever they are. A shared receive outlives the queue: whoever
 * finds one in hand that leads to no response posts it again, whatever has
 * become of the queue: this file for what is no capsule, io.c for a capsule that
 * nobody wants any more, release.c for commands that were waiting, rsp.c for those
 * whose data never came.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/log2.h>
#include <linux/slab.h>

#include "nvmet_rdma.h"
#include "trace.h"

static void nvmet_rdma_recv_sync(struct nvmet_rdma_cmd *cmd, u32 icd_len)
{
	struct ib_device *ib = cmd->queue->dev->ib;

	if (!cmd->sync)
		return;
	ib_dma_sync_single_for_cpu(ib, cmd->sge[0].addr, cmd->sge[0].length,
				   DMA_FROM_DEVICE);
	if (icd_len)
		ib_dma_sync_single_for_cpu(ib, cmd->sge[1].addr, icd_len,
					   DMA_FROM_DEVICE);
}

/**
 * nvmet_rdma_recv_done() - a receive that was posted has completed
 * @cq: the completion queue
 * @wc: the completion
 *
 * Context: that of completions.
 */
void nvmet_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_cmd *cmd = container_of(wc->wr_cqe,
						  struct nvmet_rdma_cmd, cqe);
	struct nvmet_rdma_queue *queue;
	u32 received = wc->byte_len;

	cmd->cqe.done = nvmet_rdma_completed_twice;
	if (cmd->srq) {
		cmd->queue = wc->qp->qp_context;
		WRITE_ONCE(cmd->posted_in, 0);
	}
	queue = cmd->queue;

	if (nvmet_rdma_too_late(queue)) {
		nvmet_rdma_recv_repost(cmd);
		return;
	}
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvmet_rdma_wc_failed(queue, wc, "receiving a capsule");
		nvmet_rdma_recv_repost(cmd);
		return;
	}

	/* An RDMA WRITE with immediate data eats a receive and fills nothing */
	if (unlikely(wc->opcode != IB_WC_RECV))
		received = 0;

	nvmet_rdma_count(queue, NVMET_RDMA_N_RECEIVES);
	if (NVME_RDMA_COUNTS)
		cmd->arrived_at = nvme_rdma_cq_now(queue->cq);
	nvmet_rdma_recv_sync(cmd, received > NVMET_RDMA_SQE_LEN ?
			     received - NVMET_RDMA_SQE_LEN : 0);
	if (unlikely(!nvmet_rdma_parse_sgl((const u8 *)cmd->capsule, received,
					   &queue->limits, &cmd->sgl))) {
		nvmet_rdma_queue_warn(queue,
				      "expected a capsule of %u bytes or more, %u came; closing the connection, check the host's NVMe/RDMA driver\n",
				      NVMET_RDMA_SQE_LEN, received);
		nvmet_rdma_event(queue, NVMET_RDMA_EV_PROTOCOL);
		nvmet_rdma_queue_fail(queue);
		nvmet_rdma_recv_repost(cmd);
		return;
	}
	nvmet_rdma_count(queue, (enum nvmet_rdma_count)cmd->sgl.data);
	trace_nvmet_rdma_command(queue, cmd);
	nvmet_rdma_io_arrived(cmd);
}

/**
 * nvmet_rdma_recv_sync_for_device() - let the HCA write into a receive
 * @ib: the device
 * @cmd: the receive, about to be posted
 *
 * Context: any.
 */
void nvmet_rdma_recv_sync_for_device(struct ib_device *ib,
				     struct nvmet_rdma_cmd *cmd)
{
	int i;

	if (!cmd->sync)
		return;
	for (i = 0; i < cmd->wr.num_sge; i++)
		ib_dma_sync_single_for_device(ib, cmd->sge[i].addr,
					      cmd->sge[i].length,
					      DMA_FROM_DEVICE);
}

/* One of the queue's own, not of an SRQ */
static int nvmet_rdma_recv_post(struct nvmet_rdma_queue *queue,
				struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_recv_chain *chain = &queue->recv_chain;
	struct ib_recv_wr *first;
	unsigned long flags;
	int ret = 0;

	nvmet_rdma_recv_sync_for_device(queue->dev->ib, cmd);
	spin_lock_irqsave(&chain->lock, flags);
	first = nvmet_rdma_recv_chain_add(chain, cmd, NVMET_RDMA_RECV_CHAIN);
	if (first)
		ret = ib_post_recv(queue->qp, first, NULL);
	spin_unlock_irqrestore(&chain->lock, flags);
	return ret;
}

/**
 * nvmet_rdma_recv_nr() - receives of a queue that has its own
 * @queue: the queue
 *
 * Context: any. Return: one for each command that the host may have outstanding,
 * and those that wait to be posted.
 */
u32 nvmet_rdma_recv_nr(const struct nvmet_rdma_queue *queue)
{
	return queue->depth + NVMET_RDMA_RECV_CHAIN - 1;
}

/**
 * struct recv_copy - a command that has been moved out of its receive
 * @cmd: for those who work on the command, in place of the receive
 * @capsule: the command
 */
struct recv_copy {
	struct nvmet_rdma_cmd	cmd;
	struct nvme_command	capsule;
};

static void recv_free_copy(struct nvmet_rdma_cmd *cmd)
{
	kfree(cmd->icd);
	kfree(container_of(cmd, struct recv_copy, cmd));
}

/**
 * nvmet_rdma_recv_repost() - give a receive back to the HCA
 * @cmd: the receive, or the copy of a command, which is freed; nobody needs its
 *	 content any more
 *
 * The core may call from a completion of the block layer.
 *
 * Context: any.
 */
void nvmet_rdma_recv_repost(struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_queue *queue = cmd->queue;
	int ret;

	if (cmd->srq) {
		/* The SRQ keeps it, and tries again: nothing is lost */
		if (unlikely(nvmet_rdma_srq_post(cmd->srq, cmd)))
			nvmet_rdma_event(queue, NVMET_RDMA_EV_POST);
		return;
	}
	if (unlikely(cmd->copied)) {
		recv_free_copy(cmd);
		return;
	}
	/* Past that state it would only be flushed */
	if (unlikely(!nvmet_rdma_queue_is_live(queue)))
		return;

	ret = nvmet_rdma_recv_post(queue, cmd);
	if (unlikely(ret)) {
		nvmet_rdma_queue_warn(queue,
				      "%s cannot post a receive again (error %d); closing the connection, the host will reconnect\n",
				      queue->dev->ib->name, ret);
		nvmet_rdma_event(queue, NVMET_RDMA_EV_POST);
		nvmet_rdma_queue_fail(queue);
	}
}

/**
 * nvmet_rdma_recv_copy() - copy a command, and its in-capsule data
 * @cmd: the command, in a shared receive, not yet known to the core
 * @gfp: how to allocate
 *
 * nvmet_rdma_recv_repost() frees the copy.
 *
 * An allocation of more than a page does not wait for reclaim or compaction, whatever @gfp
 * says: see buffer.c, "Shortage".
 *
 * Context: as @gfp says. Return: what to use in place of @cmd, which stays the
 * caller's; NULL without memory.
 */
struct nvmet_rdma_cmd *nvmet_rdma_recv_copy(const struct nvmet_rdma_cmd *cmd,
					    gfp_t gfp)
{
	struct recv_copy *copy = kmalloc(sizeof(*copy), gfp);
	size_t size;

	if (!copy)
		return NULL;
	copy->cmd = *cmd;
	copy->cmd.copied = true;
	copy->cmd.srq = NULL;
	copy->capsule = *cmd->capsule;
	copy->cmd.capsule = &copy->capsule;
	copy->cmd.icd = NULL;
	if (cmd->sgl.data != NVMET_RDMA_DATA_CAPSULE)
		return &copy->cmd;

	/* A power of two, so that it is as aligned as block devices want it */
	size = roundup_pow_of_two(cmd->sgl.len);
	if (size > PAGE_SIZE)
		gfp &= ~__GFP_DIRECT_RECLAIM;
	copy->cmd.icd = kmalloc(size, gfp);
	if (!copy->cmd.icd) {
		kfree(copy);
		return NULL;
	}
	memcpy(copy->cmd.icd, cmd->icd + cmd->sgl.offset, cmd->sgl.len);
	copy->cmd.sgl.offset = 0;
	return &copy->cmd;
}

/**
 * nvmet_rdma_recv_vacate() - move a command out of its shared receive
 * @cmd: the command, not yet known to the core
 * @gfp: how to allocate
 *
 * For when shared receives run low: a command may stay for as long as a disk
 * takes, and one slow disk could hold all receives of many hosts. Without
 * memory for the move the command stays where it is.
 *
 * Context: as @gfp says. Return: where the command is now.
 */
struct nvmet_rdma_cmd *nvmet_rdma_recv_vacate(struct nvmet_rdma_cmd *cmd,
					      gfp_t gfp)
{
	struct nvmet_rdma_cmd *copy = nvmet_rdma_recv_copy(cmd,
							   gfp | __GFP_NOWARN);

	if (!copy)
		return cmd;
	if (READ_ONCE(cmd->srq->low))
		nvmet_rdma_event(cmd->queue, NVMET_RDMA_EV_NO_RECEIVE);
	nvmet_rdma_recv_repost(cmd);
	return copy;
}

/**
 * nvmet_rdma_recv_post_all() - post the receives of a new queue
 * @queue: the queue, with receives of its own; its QP has been made and the host
 *	   not been answered
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_recv_post_all(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_recvs *recvs = queue->recvs;
	u32 i;
	int ret;

	for (i = 0; i < recvs->nr; i++) {
		recvs->cmds[i].queue = queue;
		ret = nvmet_rdma_recv_post(queue, &recvs->cmds[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * The core writes into a command of a passthrough namespace. Where the CPU's caches are not
 * coherent with the device, it would write its neighbour in the cache line back with it,
 * over what the device has written there.
 */
static size_t capsule_stride(struct ib_device *ib)
{
	size_t line = ib_uses_virt_dma(ib) ? 1 : dma_get_cache_alignment();

	return max(roundup_pow_of_two(line), sizeof(struct nvme_command));
}

static void nvmet_rdma_recv_init(struct nvmet_rdma_device *dev,
				 struct nvmet_rdma_recvs *recvs, u32 i)
{
	struct nvmet_rdma_cmd *cmd = &recvs->cmds[i];
	size_t stride = capsule_stride(dev->ib);
	u32 lkey = dev->pd->local_dma_lkey;

	cmd->capsule = nvme_rdma_pages_at(recvs->capsules, i * stride);
	INIT_LIST_HEAD(&cmd->entry);
	cmd->sge[0].addr = nvme_rdma_pages_dma(recvs->capsules, i * stride);
	cmd->sge[0].length = sizeof(*cmd->capsule);
	cmd->sge[0].lkey = lkey;
	cmd->wr.wr_cqe = &cmd->cqe;
	cmd->wr.sg_list = cmd->sge;
	cmd->wr.num_sge = 1;
	cmd->sync = nvme_rdma_needs_sync(dev->ib, cmd->sge[0].addr);
}

static int recv_fill(struct nvmet_rdma_device *dev,
		     struct nvmet_rdma_recvs *recvs, struct nvmet_rdma_cmd *cmd)
{
	cmd->icd = alloc_pages_exact(recvs->room, GFP_KERNEL | __GFP_NOWARN);
	if (!cmd->icd)
		return -ENOMEM;
	cmd->sge[1].addr = ib_dma_map_single(dev->ib, cmd->icd, recvs->room,
					     DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(dev->ib, cmd->sge[1].addr)) {
		free_pages_exact(cmd->icd, recvs->room);
		cmd->icd = NULL;
		return -ENOMEM;
	}
	cmd->sge[1].length = recvs->room;
	cmd->sge[1].lkey = dev->pd->local_dma_lkey;
	cmd->wr.num_sge = 2;
	cmd->sync |= nvme_rdma_needs_sync(dev->ib, cmd->sge[1].addr);
	return 0;
}

/**
 * nvmet_rdma_recvs_empty() - free the in-capsule data of a block of receives
 * @dev: the device
 * @recvs: the block; the HCA does not know any of it any more
 *
 * Context: may sleep.
 */
void nvmet_rdma_recvs_empty(struct nvmet_rdma_device *dev,
			    struct nvmet_rdma_recvs *recvs)
{
	u32 i;

	for (i = 0; i < recvs->nr; i++) {
		struct nvmet_rdma_cmd *cmd = &recvs->cmds[i];

		if (!cmd->icd)
			continue;
		ib_dma_unmap_single(dev->ib, cmd->sge[1].addr, recvs->room,
				    DMA_FROM_DEVICE);
		free_pages_exact(cmd->icd, recvs->room);
		cmd->icd = NULL;
	}
}

/**
 * nvmet_rdma_recvs_fill() - allocate the in-capsule data of a block of receives
 * @dev: the device
 * @recvs: the block, which has none
 *
 * Context: may sleep. Return: 0 or a negative errno; the block has none then.
 */
int nvmet_rdma_recvs_fill(struct nvmet_rdma_device *dev,
			  struct nvmet_rdma_recvs *recvs)
{
	u32 i;

	for (i = 0; recvs->room && i < recvs->nr; i++) {
		if (recv_fill(dev, recvs, &recvs->cmds[i])) {
			nvmet_rdma_recvs_empty(dev, recvs);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * nvmet_rdma_recvs_alloc() - allocate and map a block of receives
 * @dev: the device, its protection domain there
 * @nr: receives, 1 or more
 * @room: bytes of in-capsule data of each
 *
 * Context: may sleep. Return: the block or an ERR_PTR().
 */
struct nvmet_rdma_recvs *nvmet_rdma_recvs_alloc(struct nvmet_rdma_device *dev,
						u32 nr, u32 room)
{
	struct nvmet_rdma_recvs *recvs;
	struct ib_device *ib = dev->ib;
	u32 i;

	BUILD_BUG_ON(sizeof(struct nvme_command) != NVMET_RDMA_SQE_LEN);

	recvs = kzalloc(sizeof(*recvs), GFP_KERNEL);
	if (!recvs)
		return ERR_PTR(-ENOMEM);
	recvs->nr = nr;
	recvs->room = room;
	recvs->capsules = nvme_rdma_pages_alloc(ib, nr * capsule_stride(ib),
						DMA_FROM_DEVICE);
	if (!recvs->capsules)
		goto err_free_recvs;
	recvs->cmds = nvme_rdma_alloc_array(ib, nr, sizeof(*recvs->cmds));
	if (!recvs->cmds)
		goto err_free_capsules;

	INIT_LIST_HEAD(&recvs->back);
	for (i = 0; i < nr; i++)
		nvmet_rdma_recv_init(dev, recvs, i);
	if (nvmet_rdma_recvs_fill(dev, recvs)) {
		nvmet_rdma_recvs_free(dev, recvs);
		return ERR_PTR(-ENOMEM);
	}
	return recvs;

err_free_capsules:
	nvme_rdma_pages_free(ib, recvs->capsules);
err_free_recvs:
	kfree(recvs);
	return ERR_PTR(-ENOMEM);
}

/**
 * nvmet_rdma_recvs_free() - free a block of receives
 * @dev: the device
 * @recvs: the block; the HCA does not know any of it any more
 *
 * Context: may sleep.
 */
void nvmet_rdma_recvs_free(struct nvmet_rdma_device *dev,
			   struct nvmet_rdma_recvs *recvs)
{
	nvmet_rdma_recvs_empty(dev, recvs);
	kvfree(recvs->cmds);
	nvme_rdma_pages_free(dev->ib, recvs->capsules);
	kfree(recvs);
}
