// SPDX-License-Identifier: GPL-2.0
/*
 * Responses: from the core back to the host.
 *
 * Operation: the core calls nvmet_rdma_queue_response() when a command is done,
 * from any context: a completion of the block layer, a workqueue, or inside
 * nvmet_req_init(). It posts the command's receive again, and then, as one
 * chain, the RDMA WRITEs of the data that the host asked for and the SEND of
 * the completion entry, which invalidates the host's key if the host wants so.
 * The entry is copied by the post where the QP grants 16 bytes of inline data.
 *
 * Only the SEND is signaled. Work requests of a send queue complete in order,
 * so that with it everything of the command has: the buffer, the credit and the
 * response are free.
 *
 * Failure: if the post fails halfway down the chain, the HCA may still read the
 * buffer. The response then keeps it, and is freed with the queue, after the
 * drain. There is no retry: the queue is ended and the host reconnects.
 *
 * Counting: what a command did is counted here, when its response has completed,
 * because only one completion handler of a queue runs at a time. Until then it
 * is kept in the response.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include "nvmet_rdma.h"
#include "trace.h"

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

	n[NVMET_RDMA_N_RESPONSES]++;
	n[NVMET_RDMA_N_POSTS] += rsp->posts;
	n[NVMET_RDMA_N_WRS] += rsp->wrs;
	n[NVMET_RDMA_N_INVALIDATES] += rsp->sgl.invalidate;
	if (unlikely(rsp->cqe->status))
		n[NVMET_RDMA_N_ERRORS]++;
	else if (rsp->sgl.data != NVMET_RDMA_DATA_NONE)
		nvmet_rdma_count_transfer(rsp, n);
	nvme_rdma_hist_add(&counts->latency, rsp->ns);
}

static void nvmet_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_rsp *rsp = container_of(wc->wr_cqe,
						  struct nvmet_rdma_rsp,
						  send_cqe);
	struct nvmet_rdma_queue *queue = rsp->queue;

	nvmet_rdma_count(queue, NVMET_RDMA_N_SENDS);
	if (likely(wc->status == IB_WC_SUCCESS))
		nvmet_rdma_count_response(rsp);
	else
		nvmet_rdma_wc_failed(queue, wc, "sending a response");

	nvmet_rdma_xfer_destroy(rsp);
	WRITE_ONCE(rsp->posted, 0);
	WRITE_ONCE(queue->progress, jiffies);
	spin_lock_irq(&queue->lock);
	list_add(&rsp->entry, &queue->free_rsps);
	queue->credits += rsp->credit;
	rsp->credit = 0;
	spin_unlock_irq(&queue->lock);

	nvmet_rdma_io_start_waiting(queue);
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

/* The response is about to be posted, with whatever is before it */
static void nvmet_rdma_rsp_leaves(struct nvmet_rdma_rsp *rsp)
{
	rsp->ns = ktime_get_ns() - rsp->arrived_at;
	trace_nvmet_rdma_response(rsp);
}

static struct ib_send_wr *nvmet_rdma_rsp_wrs(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct ib_send_wr *send = &rsp->send_wr;

	send->next = NULL;
	if (rsp->sgl.invalidate) {
		send->opcode = IB_WR_SEND_WITH_INV;
		send->ex.invalidate_rkey = rsp->sgl.key;
	} else {
		send->opcode = IB_WR_SEND;
	}
	if (!queue->inline_rsp)
		ib_dma_sync_single_for_device(queue->dev->ib,
					      rsp->send_sge.addr,
					      rsp->send_sge.length,
					      DMA_TO_DEVICE);

	if (rsp->xfer.how == NVMET_RDMA_XFER_NONE || rsp->sgl.to_target ||
	    rsp->cqe->status) {
		nvmet_rdma_rsp_leaves(rsp);
		return send;
	}
	/* What the HCA finds goes into the response, which has to wait */
	if (unlikely(rsp->xfer.how == NVMET_RDMA_XFER_PI))
		return nvmet_rdma_xfer_wrs(rsp, NULL);
	nvmet_rdma_rsp_leaves(rsp);
	return nvmet_rdma_xfer_wrs(rsp, send);
}

/**
 * nvmet_rdma_rsp_post_wrs() - post work requests of a command, and count them
 * @rsp: the command
 * @first: the first of the chain
 *
 * Context: any. Return: as ib_post_send(). @rsp may be gone if that is 0.
 */
int nvmet_rdma_rsp_post_wrs(struct nvmet_rdma_rsp *rsp,
			    struct ib_send_wr *first)
{
	const struct ib_send_wr *wr;

	WRITE_ONCE(rsp->posted, jiffies | 1);
	rsp->posts++;
	for (wr = first; wr; wr = wr->next)
		rsp->wrs++;
	return ib_post_send(rsp->queue->qp, first, NULL);
}

static void nvmet_rdma_rsp_post(struct nvmet_rdma_rsp *rsp,
				struct ib_send_wr *first)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	int ret = nvmet_rdma_rsp_post_wrs(rsp, first);

	if (likely(!ret))
		return;
	nvmet_rdma_event(queue, NVMET_RDMA_EV_POST);
	if (nvmet_rdma_queue_is_live(queue))
		nvmet_rdma_queue_warn(queue,
				      "%s cannot post a response (error %d); closing the connection, the host will reconnect\n",
				      queue->dev->ib->name, ret);
	nvmet_rdma_queue_fail(queue);
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
	struct ib_send_wr *first = nvmet_rdma_rsp_wrs(rsp);
	struct nvmet_rdma_cmd *cmd = rsp->cmd;

	/* Before the host hears that it may send another command */
	rsp->cmd = NULL;
	atomic_dec(&rsp->queue->outstanding);
	nvmet_rdma_recv_repost(cmd);
	nvmet_rdma_rsp_post(rsp, first);
}

/**
 * nvmet_rdma_rsp_send() - post a response that waited for its data
 * @rsp: the response; its RDMA WRITE has completed
 *
 * Context: any.
 */
void nvmet_rdma_rsp_send(struct nvmet_rdma_rsp *rsp)
{
	if (!rsp->queue->inline_rsp)
		ib_dma_sync_single_for_device(rsp->queue->dev->ib,
					      rsp->send_sge.addr,
					      rsp->send_sge.length,
					      DMA_TO_DEVICE);
	nvmet_rdma_rsp_leaves(rsp);
	nvmet_rdma_rsp_post(rsp, &rsp->send_wr);
}

static void nvmet_rdma_rsp_init(struct nvmet_rdma_queue *queue, u32 i)
{
	struct nvmet_rdma_rsp *rsp = &queue->rsps[i];
	struct ib_send_wr *send = &rsp->send_wr;

	rsp->queue = queue;
	if (queue->p2p)
		rsp->req.p2p_client = &queue->dev->ib->dev;
	rsp->cqe = &queue->cqes[i];
	rsp->read_cqe.done = nvmet_rdma_io_read_done;
	rsp->write_cqe.done = nvmet_rdma_pi_write_done;
	rsp->data_cqe.done = nvmet_rdma_data_failed;
	rsp->send_cqe.done = nvmet_rdma_send_done;
	send->wr_cqe = &rsp->send_cqe;
	send->sg_list = &rsp->send_sge;
	send->num_sge = 1;
	send->send_flags = IB_SEND_SIGNALED;
	rsp->send_sge.length = sizeof(*rsp->cqe);
	if (queue->inline_rsp) {
		/* Copied by the CPU: the verbs take its own address */
		send->send_flags |= IB_SEND_INLINE;
		rsp->send_sge.addr = (uintptr_t)rsp->cqe;
	} else {
		rsp->send_sge.addr = queue->cqes_dma + i * sizeof(*rsp->cqe);
		rsp->send_sge.lkey = queue->dev->pd->local_dma_lkey;
	}
	list_add_tail(&rsp->entry, &queue->free_rsps);
}

/**
 * nvmet_rdma_rsp_alloc() - allocate the responses of a queue
 * @queue: the queue; its QP exists, so that inline_rsp is known
 *
 * Context: may sleep. Return: 0 or a negative errno; nothing is left behind.
 */
int nvmet_rdma_rsp_alloc(struct nvmet_rdma_queue *queue)
{
	size_t size = queue->nr_rsps * sizeof(*queue->cqes);
	struct ib_device *ib = queue->dev->ib;
	u32 i;

	queue->cqes = kzalloc_node(size, GFP_KERNEL, ibdev_to_node(ib));
	if (!queue->cqes)
		return -ENOMEM;
	queue->rsps = kvcalloc(queue->nr_rsps, sizeof(*queue->rsps),
			       GFP_KERNEL);
	if (!queue->rsps)
		goto err_free_cqes;

	if (!queue->inline_rsp) {
		queue->cqes_dma = ib_dma_map_single(ib, queue->cqes, size,
						    DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ib, queue->cqes_dma))
			goto err_free_rsps;
	}
	for (i = 0; i < queue->nr_rsps; i++)
		nvmet_rdma_rsp_init(queue, i);
	return 0;

err_free_rsps:
	kvfree(queue->rsps);
err_free_cqes:
	kfree(queue->cqes);
	return -ENOMEM;
}

/**
 * nvmet_rdma_rsp_free() - free the responses of a queue
 * @queue: the queue; nothing of it is in the HCA or in the core, its QP exists
 *
 * Takes the buffers of responses that could not be posted along, and gives shared
 * receives back.
 *
 * Context: may sleep.
 */
void nvmet_rdma_rsp_free(struct nvmet_rdma_queue *queue)
{
	u32 i;

	for (i = 0; i < queue->nr_rsps; i++) {
		struct nvmet_rdma_rsp *rsp = &queue->rsps[i];

		nvmet_rdma_xfer_destroy(rsp);
		/* Its data never came, so that there was no response */
		if (rsp->cmd)
			nvmet_rdma_recv_repost(rsp->cmd);
	}
	if (!queue->inline_rsp)
		ib_dma_unmap_single(queue->dev->ib, queue->cqes_dma,
				    queue->nr_rsps * sizeof(*queue->cqes),
				    DMA_TO_DEVICE);
	kvfree(queue->rsps);
	kfree(queue->cqes);
}
