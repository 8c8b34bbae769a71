// SPDX-License-Identifier: GPL-2.0
/*
 * Responses: from the core back to the host.
 *
 * Operation: the core calls nvmet_rdma_queue_response() when a command is done,
 * from any context: a completion of the block layer, a workqueue, or inside
 * nvmet_req_init(). It gives the command's receive back, and then, as one
 * chain, the RDMA WRITEs of the data that the host asked for and the SEND of
 * the completion entry, which invalidates the host's key if the host wants so,
 * to send.c. The entry is copied by the post where the QP grants 16 bytes of
 * inline data.
 *
 * Memory: a queue begins with a block of responses, and gets more when all are in
 * use; those go back when its host has sent nothing for a while. So queues that idle,
 * of which there may be thousands, cost little.
 *
 * Counting: what a command did is counted here, when it is known that its
 * response has completed, because only one completion handler of a queue runs at
 * a time. Until then it is kept in the response.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include "nvmet_rdma.h"

/* Responses of a block that fits a page, and the allocator's object of that size */
#define RSPS_OF_PAGE	((PAGE_SIZE - sizeof(struct nvmet_rdma_rsp_block)) / \
			 sizeof(struct nvmet_rdma_rsp))
static_assert(RSPS_OF_PAGE >= 1);

static void nvmet_rdma_count_transfer(const struct nvmet_rdma_rsp *rsp, u64 *n)
{
	n[rsp->sgl.to_target ? NVMET_RDMA_N_BYTES_WRITTEN :
			       NVMET_RDMA_N_BYTES_READ] += rsp->sgl.len;
	if (rsp->sgl.data != NVMET_RDMA_DATA_KEYED)
		return;
	if (likely(rsp->xfer.how == NVMET_RDMA_XFER_CHUNKS))
		n[NVMET_RDMA_N_BY_CHUNKS]++;
	else if (rsp->req.metadata_len)
		n[NVMET_RDMA_N_BY_PI]++;
	else
		n[NVMET_RDMA_N_BY_RW]++;
}

static void nvmet_rdma_count_response(const struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_counts *counts = &rsp->queue->counts;
	u64 *n = counts->n;

	if (!NVME_RDMA_COUNTS)
		return;
	n[NVMET_RDMA_N_INVALIDATES] += rsp->sgl.invalidate;
	if (unlikely(rsp->cqe->status))
		n[NVMET_RDMA_N_ERRORS]++;
	else if (rsp->sgl.data != NVMET_RDMA_DATA_NONE)
		nvmet_rdma_count_transfer(rsp, n);
	nvme_rdma_hist_add(&counts->latency, rsp->ns);
}

/**
 * nvmet_rdma_rsp_done() - a response has completed, and what was before it
 * @rsp: the response
 * @good: with success
 *
 * Context: a completion handler of the queue.
 */
void nvmet_rdma_rsp_done(struct nvmet_rdma_rsp *rsp, bool good)
{
	if (likely(good))
		nvmet_rdma_count_response(rsp);
	nvmet_rdma_xfer_destroy(rsp);
}

/**
 * nvmet_rdma_send_done() - a response that was signaled is sent, or one has failed
 * @cq: the completion queue
 * @wc: the response's completion
 *
 * Context: a completion handler of the queue.
 */
void nvmet_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_rsp *rsp = container_of(wc->wr_cqe,
						  struct nvmet_rdma_rsp,
						  send_cqe);
	struct nvmet_rdma_queue *queue = rsp->queue;
	bool good = wc->status == IB_WC_SUCCESS;

	rsp->send_cqe.done = nvmet_rdma_completed_twice;
	if (nvmet_rdma_too_late(queue))
		return;
	nvmet_rdma_count(queue, NVMET_RDMA_N_SENDS);
	if (unlikely(!good))
		nvmet_rdma_wc_failed(queue, wc, "sending a response");
	nvmet_rdma_retire(queue, rsp->sent, good,
			  rsp->send_wr.send_flags & IB_SEND_SIGNALED);
}

/* Only failures come here: the work requests are not signaled */
static void nvmet_rdma_data_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_rsp *rsp = container_of(wc->wr_cqe,
						  struct nvmet_rdma_rsp,
						  data_cqe);

	/* The last of the chain ends the command; it is flushed after this */
	if (wc->status != IB_WC_SUCCESS)
		nvmet_rdma_wc_failed(rsp->queue, wc, rsp->sgl.to_target ?
				     "an RDMA READ" : "an RDMA WRITE");
}

static void nvmet_rdma_rsp_sync(struct nvmet_rdma_rsp *rsp)
{
	if (!rsp->queue->inline_rsp)
		ib_dma_sync_single_for_device(rsp->queue->dev->ib,
					      rsp->send_sge.addr,
					      rsp->send_sge.length,
					      DMA_TO_DEVICE);
}

/* Its data goes with it: the host asked for some, and there is no error */
static bool nvmet_rdma_rsp_has_data(const struct nvmet_rdma_rsp *rsp)
{
	return rsp->xfer.how != NVMET_RDMA_XFER_NONE && !rsp->sgl.to_target &&
	       !rsp->cqe->status;
}

/**
 * nvmet_rdma_rsp_send() - have a response posted
 * @rsp: the response, whose data has gone before it or goes with it
 * @first: the first work request of the data; NULL without
 *
 * Context: any.
 */
void nvmet_rdma_rsp_send(struct nvmet_rdma_rsp *rsp, struct ib_send_wr *first)
{
	struct ib_send_wr *send = &rsp->send_wr;

	nvmet_rdma_rsp_sync(rsp);
	nvmet_rdma_send(rsp, first ?: send, send);
}

/**
 * nvmet_rdma_queue_response() - the core is done with a command
 * @req: the core's request
 *
 * As soon as the chain is posted, the response may complete and serve another
 * command: neither @req nor anything of it is touched then.
 *
 * Context: any.
 */
void nvmet_rdma_queue_response(struct nvmet_req *req)
{
	struct nvmet_rdma_rsp *rsp = container_of(req, struct nvmet_rdma_rsp,
						  req);
	struct ib_send_wr *send = &rsp->send_wr;
	struct nvmet_rdma_cmd *cmd = rsp->cmd;

	if (rsp->sgl.invalidate) {
		send->opcode = IB_WR_SEND_WITH_INV;
		send->ex.invalidate_rkey = rsp->sgl.key;
	} else {
		send->opcode = IB_WR_SEND;
	}
	/* Before the host hears that it may send another command */
	rsp->cmd = NULL;
	atomic_dec(&rsp->queue->outstanding);
	nvmet_rdma_recv_repost(cmd);

	if (!nvmet_rdma_rsp_has_data(rsp))
		nvmet_rdma_rsp_send(rsp, NULL);
	else if (likely(rsp->xfer.how != NVMET_RDMA_XFER_PI))
		nvmet_rdma_rsp_send(rsp, nvmet_rdma_xfer_wrs(rsp, send));
	else	/* What the HCA finds goes into the response, which waits */
		nvmet_rdma_xfer_send(rsp);
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
	rsp->data_cqe.done = nvmet_rdma_data_failed;
	send->wr_cqe = &rsp->send_cqe;
	send->sg_list = &rsp->send_sge;
	send->num_sge = 1;
	rsp->send_sge.length = sizeof(*rsp->cqe);
	if (queue->inline_rsp) {
		/* Copied by the CPU: the verbs take its own address */
		send->send_flags |= IB_SEND_INLINE;
		rsp->send_sge.addr = (uintptr_t)rsp->cqe;
	} else {
		rsp->send_sge.addr = block->cqes_dma + i * sizeof(*rsp->cqe);
		rsp->send_sge.lkey = queue->dev->pd->local_dma_lkey;
	}
}

/* Nobody has any of it */
static void nvmet_rdma_rsp_free_block(struct nvmet_rdma_queue *queue,
				      struct nvmet_rdma_rsp_block *block)
{
	if (!queue->inline_rsp)
		ib_dma_unmap_single(queue->dev->ib, block->cqes_dma,
				    sizeof(block->cqes), DMA_TO_DEVICE);
	kfree(block);
}

/* Its responses are free ones */
static void nvmet_rdma_rsp_add_block(struct nvmet_rdma_queue *queue,
				     struct nvmet_rdma_rsp_block *block)
{
	u32 i;

	lockdep_assert_held(&queue->lock);
	for (i = 0; i < block->nr; i++) {
		block->rsps[i].next = queue->free_rsps;
		queue->free_rsps = &block->rsps[i];
	}
	queue->has_rsps += block->nr;
}

/**
 * nvmet_rdma_rsp_grow() - allocate more responses for a queue
 * @queue: the queue; its QP exists, so that inline_rsp is known
 *
 * A queue that has some goes on with those if there is no memory. It takes a page of
 * them if there is not a block in one piece: see buffer.c, "Shortage".
 *
 * Context: may sleep; a new queue, or its io_work. Return: 0 or a negative errno;
 * nothing is left behind.
 */
int nvmet_rdma_rsp_grow(struct nvmet_rdma_queue *queue)
{
	u32 nr = min_t(u32, queue->nr_rsps - queue->has_rsps,
		       NVMET_RDMA_RSP_BLOCK);
	gfp_t gfp = queue->has_rsps ?
		GFP_NOWAIT | __GFP_NORETRY | __GFP_NOWARN : GFP_KERNEL;
	struct ib_device *ib = queue->dev->ib;
	struct nvmet_rdma_rsp_block *block;
	u32 i;

	block = kzalloc_node(struct_size(block, rsps, nr), gfp,
			     ibdev_to_node(ib));
	if (!block && queue->has_rsps) {
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
	spin_unlock_irq(&queue->lock);
	return 0;
}

/* All of them are in the list of the free ones, and so is nothing of them elsewhere */
static bool nvmet_rdma_rsp_all_free(const struct nvmet_rdma_queue *queue)
{
	const struct nvmet_rdma_rsp *rsp;
	u32 nr = 0;

	lockdep_assert_held(&queue->lock);
	for (rsp = queue->free_rsps; rsp; rsp = rsp->next)
		nr++;
	return nr == queue->has_rsps;
}

/**
 * nvmet_rdma_rsp_shrink() - free what a queue has not needed for a while
 * @queue: the queue, live
 *
 * Undoes nvmet_rdma_rsp_grow() of a queue that idles, but for its first block.
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
		queue->has_rsps = 0;
		nvmet_rdma_rsp_add_block(queue, queue->blocks);
	}
	spin_unlock_irq(&queue->lock);
	for (block = unused; block; block = next) {
		next = block->next;
		nvmet_rdma_rsp_free_block(queue, block);
	}
}

/**
 * nvmet_rdma_rsp_unmap() - responses that could not be posted let go of the QP
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
 * nvmet_rdma_rsp_free() - free the responses of a queue
 * @queue: the queue; nothing of it is in the HCA or in the core
 *
 * Takes the buffers of responses that could not be posted along, and gives shared
 * receives back.
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
			/* Its data never came, so that there was no response */
			if (rsp->cmd)
				nvmet_rdma_recv_repost(rsp->cmd);
		}
		nvmet_rdma_rsp_free_block(queue, block);
	}
}
