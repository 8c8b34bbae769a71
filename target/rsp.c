// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of responses.
 *
 * A queue begins with one block of responses, and gets more when all are in use. These are
 * freed when its host has sent nothing for a while (stall.c). So idle queues, of which there
 * may be thousands, cost little.
 */

#include <linux/slab.h>

#include "error.h"
#include "recv.h"
#include "send.h"
#include "xfer.h"

/* Responses of a block that fits a page, which is also the size of the allocation */
#define RSPS_OF_PAGE	((PAGE_SIZE - sizeof(struct nvmet_rdma_rsp_block)) / \
			 sizeof(struct nvmet_rdma_rsp))
static_assert(RSPS_OF_PAGE >= 1);

/* Completes only on failure: the work requests are not signaled */
static void nvmet_rdma_data_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_rsp *rsp = container_of(wc->wr_cqe,
						  struct nvmet_rdma_rsp,
						  data_cqe);

	/* The last work request of the chain ends the command; it is flushed after this */
	if (wc->status != IB_WC_SUCCESS)
		nvmet_rdma_wc_failed(rsp->queue, wc, rsp->sgl.to_target ?
				     "an RDMA READ" : "an RDMA WRITE");
}

static void nvmet_rdma_rsp_init(struct nvmet_rdma_queue *queue,
				struct nvmet_rdma_rsp_block *block, u32 i)
{
	struct nvmet_rdma_rsp *rsp = &block->rsps[i];
	struct ib_send_wr *send = &rsp->send_wr;

	rsp->queue = queue;
	sg_init_table(&rsp->capsule_sg, 1);
	if (queue->p2p)
		rsp->req.p2p_client = &queue->dev->ib->dev;
	rsp->cqe = &block->cqes[i];
	/* The core keeps both */
	rsp->req.cqe = rsp->cqe;
	rsp->req.port = queue->port->nport;
	rsp->data_cqe.done = nvmet_rdma_data_failed;
	send->wr_cqe = &rsp->send_cqe;
	send->sg_list = &rsp->send_sge;
	send->num_sge = 1;
	rsp->send_sge.length = sizeof(*rsp->cqe);
	if (queue->inline_rsp) {
		/* Copied by the CPU: the verbs take the virtual address */
		send->send_flags |= IB_SEND_INLINE;
		rsp->send_sge.addr = (uintptr_t)rsp->cqe;
	} else {
		rsp->send_sge.addr = block->cqes_dma + i * sizeof(*rsp->cqe);
		rsp->send_sge.lkey = queue->dev->pd->local_dma_lkey;
	}
}

/* Frees a block; no response of it is in use */
static void nvmet_rdma_rsp_free_block(struct nvmet_rdma_queue *queue,
				      struct nvmet_rdma_rsp_block *block)
{
	if (!queue->inline_rsp)
		ib_dma_unmap_single(queue->dev->ib, block->cqes_dma,
				    sizeof(block->cqes), DMA_TO_DEVICE);
	kfree(block);
}

/* Adds the responses of a block to the free ones; the caller counts them */
static void nvmet_rdma_rsp_add_block(struct nvmet_rdma_queue *queue,
				     struct nvmet_rdma_rsp_block *block)
{
	u32 i;

	lockdep_assert_held(&queue->lock);
	for (i = 0; i < block->nr; i++) {
		block->rsps[i].next = queue->free_rsps;
		queue->free_rsps = &block->rsps[i];
	}
}

/**
 * nvmet_rdma_rsp_grow() - allocate more responses for a queue
 * @queue: the queue; its QP exists, so that inline_rsp is known
 *
 * Without memory, a queue that has some continues with these. It allocates a page of them if
 * there is no contiguous block: see buffer.c, "Shortage".
 *
 * Only this function raises @allocated_rsps, and one work at a time runs a queue.
 * The stall check may lower it meanwhile, to the first block. So the sum stays within
 * @max_rsps, although @allocated_rsps is read without the lock here.
 *
 * Context: may sleep; a new queue, or its run_work. Return: 0 or a negative errno;
 * nothing is left behind.
 */
int nvmet_rdma_rsp_grow(struct nvmet_rdma_queue *queue)
{
	u32 allocated = READ_ONCE(queue->allocated_rsps);
	u32 nr = min_t(u32, queue->max_rsps - allocated, NVMET_RDMA_RSP_BLOCK);
	gfp_t gfp = allocated ?
		GFP_NOWAIT | __GFP_NORETRY | __GFP_NOWARN : GFP_KERNEL;
	struct ib_device *ib = queue->dev->ib;
	struct nvmet_rdma_rsp_block *block;
	u32 i;

	block = kzalloc_node(struct_size(block, rsps, nr), gfp,
			     ibdev_to_node(ib));
	if (!block && allocated) {
		nr = min_t(u32, nr, RSPS_OF_PAGE);
		block = kzalloc_node(struct_size(block, rsps, nr), GFP_KERNEL,
				     ibdev_to_node(ib));
	}
	if (!block)
		return -ENOMEM;
	block->nr = nr;
	if (!queue->inline_rsp) {
		block->cqes_dma = ib_dma_map_single(ib, block->cqes,
						    sizeof(block->cqes),
						    DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ib, block->cqes_dma)) {
			kfree(block);
			return -ENOMEM;
		}
	}
	for (i = 0; i < nr; i++)
		nvmet_rdma_rsp_init(queue, block, i);

	spin_lock_irq(&queue->lock);
	block->next = queue->blocks;
	queue->blocks = block;
	nvmet_rdma_rsp_add_block(queue, block);
	WRITE_ONCE(queue->allocated_rsps, queue->allocated_rsps + nr);
	spin_unlock_irq(&queue->lock);
	return 0;
}

/* Are all responses free, so that nothing else refers to them? */
static bool nvmet_rdma_rsp_all_free(const struct nvmet_rdma_queue *queue)
{
	const struct nvmet_rdma_rsp *rsp;
	u32 nr = 0;

	lockdep_assert_held(&queue->lock);
	for (rsp = queue->free_rsps; rsp; rsp = rsp->next)
		nr++;
	return nr == queue->allocated_rsps;
}

/**
 * nvmet_rdma_rsp_shrink() - free responses that a queue has not needed for a while
 * @queue: the queue, live
 *
 * Undoes nvmet_rdma_rsp_grow() of an idle queue, except for its first block.
 *
 * Context: process.
 */
void nvmet_rdma_rsp_shrink(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_rsp_block *block, *next, *unused = NULL;

	spin_lock_irq(&queue->lock);
	if (queue->blocks->next && nvmet_rdma_rsp_all_free(queue)) {
		unused = queue->blocks;
		for (block = unused; block->next->next;)
			block = block->next;
		queue->blocks = block->next;
		block->next = NULL;
		queue->free_rsps = NULL;
		nvmet_rdma_rsp_add_block(queue, queue->blocks);
		/* in one step: nvmet_rdma_rsp_grow() must not see less */
		WRITE_ONCE(queue->allocated_rsps, queue->blocks->nr);
	}
	spin_unlock_irq(&queue->lock);
	for (block = unused; block; block = next) {
		next = block->next;
		nvmet_rdma_rsp_free_block(queue, block);
	}
}

/**
 * nvmet_rdma_rsp_unmap() - unmap the data of responses that could not be posted
 * @queue: the queue; nothing of it is in the core, and nothing in the HCA unless
 *	   that is dead
 *
 * Context: may sleep.
 */
void nvmet_rdma_rsp_unmap(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_rsp_block *block;
	u32 i;

	for (block = queue->blocks; block; block = block->next) {
		for (i = 0; i < block->nr; i++)
			nvmet_rdma_xfer_unmap(&block->rsps[i]);
	}
}

/**
 * nvmet_rdma_rsp_executes() - may the core or a disk have commands of a queue?
 * @queue: the queue, which nothing runs any more
 *
 * Context: process. Return: false only if they have none.
 */
bool nvmet_rdma_rsp_executes(const struct nvmet_rdma_queue *queue)
{
	const struct nvmet_rdma_rsp_block *block;
	u32 i;

	for (block = queue->blocks; block; block = block->next) {
		for (i = 0; i < block->nr; i++) {
			const struct nvmet_rdma_rsp *rsp = &block->rsps[i];

			/* They change when the command ends */
			if (READ_ONCE(rsp->cmd) && !smp_load_acquire(&rsp->reading) &&
			    !READ_ONCE(rsp->dropped))
				return true;
		}
	}
	return false;
}

/**
 * nvmet_rdma_rsp_free() - free the responses of a queue
 * @queue: the queue; nothing of it is in the HCA or in the core
 *
 * Frees the buffers of responses that could not be posted, too, and gives shared receives
 * back.
 *
 * Context: may sleep.
 */
void nvmet_rdma_rsp_free(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_rsp_block *block;
	u32 i;

	while ((block = queue->blocks)) {
		queue->blocks = block->next;
		for (i = 0; i < block->nr; i++) {
			struct nvmet_rdma_rsp *rsp = &block->rsps[i];

			nvmet_rdma_xfer_destroy(rsp);
			/* Its data never arrived, so there was no response */
			if (rsp->cmd)
				nvmet_rdma_recv_repost(rsp->cmd);
		}
		nvmet_rdma_rsp_free_block(queue, block);
	}
}
