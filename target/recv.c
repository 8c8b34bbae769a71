// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: the ring of capsules that the HCA writes into.
 *
 * Operation: a queue has one receive for each command that its host may have
 * outstanding. Its first element is the command, in one array for the queue
 * that is mapped once; its second is the in-capsule data, contiguous pages of
 * the receive's own, as large as the queue's port says.
 *
 * Ownership: posted, a receive belongs to the HCA. Completed, it belongs to
 * nvmet_rdma_recv_done(), which hands it to io.c. The core works on the command
 * and on in-capsule data in place, so that the receive is posted again only
 * when the response is about to be posted: not earlier, for the core still
 * reads it; not later, for the host may send its next command the moment it has
 * the response.
 *
 * Failure: a receive that completes in error, or that cannot be posted again,
 * is lost to the queue. A queue one short would answer its host with
 * receiver-not-ready for ever, so that the queue is ended. All receives of an
 * ended queue are freed with it, wherever they are.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include "nvmet_rdma.h"

static void nvmet_rdma_recv_sync(struct nvmet_rdma_cmd *cmd, u32 icd_len)
{
	struct ib_device *ib = cmd->queue->dev->ib;

	ib_dma_sync_single_for_cpu(ib, cmd->sge[0].addr, cmd->sge[0].length,
				   DMA_FROM_DEVICE);
	if (icd_len)
		ib_dma_sync_single_for_cpu(ib, cmd->sge[1].addr, icd_len,
					   DMA_FROM_DEVICE);
}

static void nvmet_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_cmd *cmd = container_of(wc->wr_cqe,
						  struct nvmet_rdma_cmd, cqe);
	struct nvmet_rdma_queue *queue = cmd->queue;
	u32 received = wc->byte_len;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvmet_rdma_wc_failed(queue, wc, "receiving a capsule");
		return;
	}

	/* An RDMA WRITE with immediate data eats a receive and fills nothing */
	if (unlikely(wc->opcode != IB_WC_RECV))
		received = 0;

	nvmet_rdma_recv_sync(cmd, received > NVMET_RDMA_SQE_LEN ?
			     received - NVMET_RDMA_SQE_LEN : 0);
	if (unlikely(!nvmet_rdma_parse_sgl((const u8 *)cmd->capsule, received,
					   &queue->limits, &cmd->sgl))) {
		nvmet_rdma_queue_warn(queue,
				      "expected a capsule of %u bytes or more, %u came; closing the connection, check the host's NVMe/RDMA driver\n",
				      NVMET_RDMA_SQE_LEN, received);
		nvmet_rdma_queue_fail(queue);
		return;
	}
	nvmet_rdma_io_arrived(cmd);
}

static int nvmet_rdma_recv_post(struct nvmet_rdma_cmd *cmd)
{
	struct ib_device *ib = cmd->queue->dev->ib;
	int i;

	for (i = 0; i < cmd->wr.num_sge; i++)
		ib_dma_sync_single_for_device(ib, cmd->sge[i].addr,
					      cmd->sge[i].length,
					      DMA_FROM_DEVICE);
	return ib_post_recv(cmd->queue->qp, &cmd->wr, NULL);
}

/**
 * nvmet_rdma_recv_repost() - give a receive back to the HCA
 * @cmd: the receive; nobody needs its content any more
 *
 * The core may call from a completion of the block layer.
 *
 * Context: any.
 */
void nvmet_rdma_recv_repost(struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_queue *queue = cmd->queue;
	int ret;

	/* Past that state it would only be flushed */
	if (unlikely(!nvmet_rdma_queue_is_live(queue)))
		return;

	ret = nvmet_rdma_recv_post(cmd);
	if (unlikely(ret)) {
		nvmet_rdma_queue_warn(queue,
				      "%s cannot post a receive again (error %d); closing the connection, the host will reconnect\n",
				      queue->dev->ib->name, ret);
		nvmet_rdma_queue_fail(queue);
	}
}

/**
 * nvmet_rdma_recv_post_all() - post every receive of a new queue
 * @queue: the queue; its QP has been made and the host not been answered
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_recv_post_all(struct nvmet_rdma_queue *queue)
{
	u32 i;
	int ret;

	for (i = 0; i < queue->depth; i++) {
		ret = nvmet_rdma_recv_post(&queue->cmds[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int nvmet_rdma_recv_init(struct nvmet_rdma_queue *queue, u32 i)
{
	struct nvmet_rdma_cmd *cmd = &queue->cmds[i];
	u32 lkey = queue->dev->pd->local_dma_lkey;
	struct ib_device *ib = queue->dev->ib;
	u32 room = queue->limits.capsule_room;

	cmd->queue = queue;
	cmd->capsule = &queue->capsules[i];
	cmd->cqe.done = nvmet_rdma_recv_done;
	INIT_LIST_HEAD(&cmd->entry);
	cmd->sge[0].addr = queue->capsules_dma + i * sizeof(*queue->capsules);
	cmd->sge[0].length = sizeof(*queue->capsules);
	cmd->sge[0].lkey = lkey;
	cmd->wr.wr_cqe = &cmd->cqe;
	cmd->wr.sg_list = cmd->sge;
	cmd->wr.num_sge = 1;
	if (!room)
		return 0;

	cmd->icd = alloc_pages_exact(room, GFP_KERNEL | __GFP_NOWARN);
	if (!cmd->icd)
		return -ENOMEM;
	cmd->sge[1].addr = ib_dma_map_single(ib, cmd->icd, room,
					     DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ib, cmd->sge[1].addr)) {
		free_pages_exact(cmd->icd, room);
		cmd->icd = NULL;
		return -ENOMEM;
	}
	cmd->sge[1].length = room;
	cmd->sge[1].lkey = lkey;
	cmd->wr.num_sge = 2;
	return 0;
}

/**
 * nvmet_rdma_recv_alloc() - allocate and map the receives of a queue
 * @queue: the queue; device, depth and limits are set
 *
 * Context: may sleep. Return: 0 or a negative errno; nothing is left behind.
 */
int nvmet_rdma_recv_alloc(struct nvmet_rdma_queue *queue)
{
	size_t size = queue->depth * sizeof(*queue->capsules);
	struct ib_device *ib = queue->dev->ib;
	u32 i;

	BUILD_BUG_ON(sizeof(*queue->capsules) != NVMET_RDMA_SQE_LEN);

	queue->capsules = kzalloc_node(size, GFP_KERNEL, ibdev_to_node(ib));
	if (!queue->capsules)
		return -ENOMEM;
	queue->capsules_dma = ib_dma_map_single(ib, queue->capsules, size,
						DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ib, queue->capsules_dma))
		goto err_free_capsules;

	queue->cmds = kvcalloc(queue->depth, sizeof(*queue->cmds), GFP_KERNEL);
	if (!queue->cmds)
		goto err_unmap;

	for (i = 0; i < queue->depth; i++) {
		if (nvmet_rdma_recv_init(queue, i)) {
			nvmet_rdma_recv_free(queue);
			return -ENOMEM;
		}
	}
	return 0;

err_unmap:
	ib_dma_unmap_single(ib, queue->capsules_dma, size, DMA_FROM_DEVICE);
err_free_capsules:
	kfree(queue->capsules);
	return -ENOMEM;
}

/**
 * nvmet_rdma_recv_free() - free the receives of a queue
 * @queue: the queue; the HCA does not know it any more
 *
 * Context: may sleep.
 */
void nvmet_rdma_recv_free(struct nvmet_rdma_queue *queue)
{
	struct ib_device *ib = queue->dev->ib;
	u32 room = queue->limits.capsule_room;
	u32 i;

	for (i = 0; i < queue->depth; i++) {
		struct nvmet_rdma_cmd *cmd = &queue->cmds[i];

		if (!cmd->icd)
			continue;
		ib_dma_unmap_single(ib, cmd->sge[1].addr, room,
				    DMA_FROM_DEVICE);
		free_pages_exact(cmd->icd, room);
	}
	kvfree(queue->cmds);
	ib_dma_unmap_single(ib, queue->capsules_dma,
			    queue->depth * sizeof(*queue->capsules),
			    DMA_FROM_DEVICE);
	kfree(queue->capsules);
}
