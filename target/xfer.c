// SPDX-License-Identifier: GPL-2.0
/*
 * Keyed data: between the host's memory and buffers here.
 *
 * Operation: nvmet_rdma_xfer_init() gives a command a buffer and hands it to
 * the core as req->sg; nvmet_rdma_xfer_wrs() makes the RDMA READs or WRITEs, of
 * which the caller posts one chain; nvmet_rdma_xfer_destroy() gives the buffer
 * back.
 *
 * The usual way takes chunks from the device's cache. Up to 128 KiB are one
 * chunk, one scatter element and one work request, all inside the response;
 * beyond, several chunks share work requests as the device's limits allow.
 *
 * The other way is the core's page list with rdma_rw: on iWARP, whose READs
 * need a registered sink; for namespaces whose disk has memory that the device
 * reaches (p2pmem); when no contiguous memory is left; and when use_rw_api asks
 * for it. Commands with protection information have pi.c. It may take more work
 * requests than the usual way, so that in a shortage of memory it has to find
 * more send credit; if it does not, the command fails with a status that lets
 * the host try again.
 *
 * Ownership: the buffer belongs to the response until the last completion that
 * can name it, which is that of the response.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "nvmet_rdma.h"

/* rdma_rw may need three for a registration: invalidate, register, move */
#define WRS_PER_MR	3
/* and never registers more pages at once, whatever the device can do */
#define RW_PAGES_PER_MR	256

/**
 * nvmet_rdma_xfer_dir() - the direction of a command's data, for the DMA API
 * @rsp: the command
 *
 * Context: any.
 */
enum dma_data_direction nvmet_rdma_xfer_dir(const struct nvmet_rdma_rsp *rsp)
{
	return rsp->sgl.to_target ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

static u32 xfer_max_sge(const struct nvmet_rdma_queue *queue, bool to_target)
{
	return to_target ? queue->max_read_sge : queue->max_write_sge;
}

/* Upper bound of what rdma_rw_ctx_init() will ask for: nothing is contiguous */
static u32 xfer_rw_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			  bool to_target)
{
	u32 pages = DIV_ROUND_UP(len, PAGE_SIZE);
	u32 mapped = DIV_ROUND_UP(pages, xfer_max_sge(queue, to_target));
	u32 per_mr = min_t(u32, queue->dev->ib->attrs.max_fast_reg_page_list_len,
			   RW_PAGES_PER_MR);
	u32 registered = per_mr ? WRS_PER_MR * DIV_ROUND_UP(pages, per_mr) : 0;

	if (to_target && rdma_protocol_iwarp(queue->dev->ib,
					     queue->cm_id->port_num))
		return registered;
	return max(mapped, registered);
}

/**
 * nvmet_rdma_xfer_max_mrs() - MRs that the largest transfer by rdma_rw takes
 * @queue: the queue, its QP not yet made
 *
 * Context: any. Return: their number, 1 or more.
 */
u32 nvmet_rdma_xfer_max_mrs(const struct nvmet_rdma_queue *queue)
{
	u32 per_mr = min_t(u32, queue->dev->ib->attrs.max_fast_reg_page_list_len,
			   RW_PAGES_PER_MR);

	return DIV_ROUND_UP(NVMET_RDMA_MAX_LEN / PAGE_SIZE, max(per_mr, 1u));
}

/**
 * nvmet_rdma_xfer_nr_wrs() - send work requests that a transfer takes
 * @queue: the queue
 * @len: bytes, 1 to NVMET_RDMA_MAX_LEN
 * @to_target: RDMA READs, not WRITEs
 *
 * Context: any. Return: their number.
 */
u32 nvmet_rdma_xfer_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			   bool to_target)
{
	u32 least = queue->pi ? NVMET_RDMA_PI_WRS : 1;

	if (unlikely(queue->use_rw))
		return max(least, xfer_rw_nr_wrs(queue, len, to_target));
	return max(least, DIV_ROUND_UP(DIV_ROUND_UP(len, NVMET_RDMA_CHUNK_MAX),
				       xfer_max_sge(queue, to_target)));
}

static int xfer_point_at_parts(struct nvmet_rdma_xfer *xfer, u32 nr_chunks)
{
	struct nvmet_rdma_xfer_many *many;

	if (likely(nr_chunks == 1)) {
		xfer->many = NULL;
		xfer->chunk = &xfer->one.chunk;
		xfer->sg = &xfer->one.sg;
		xfer->sge = &xfer->one.sge;
		xfer->wr = &xfer->one.wr;
		return 0;
	}

	many = kmalloc(sizeof(*many), GFP_KERNEL);
	if (!many)
		return -ENOMEM;
	xfer->many = many;
	xfer->chunk = many->chunk;
	xfer->sg = many->sg;
	xfer->sge = many->sge;
	xfer->wr = many->wr;
	return 0;
}

static void xfer_put_chunks(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;

	while (xfer->nr_chunks)
		nvmet_rdma_chunk_put(&rsp->queue->dev->bufs,
				     xfer->chunk[--xfer->nr_chunks]);
	kfree(xfer->many);
	xfer->many = NULL;
}

static int xfer_get_chunks(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	u32 n = DIV_ROUND_UP(rsp->sgl.len, NVMET_RDMA_CHUNK_MAX);
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	struct nvmet_rdma_chunk *chunk;
	u32 i, len, left = rsp->sgl.len;

	xfer->nr_chunks = 0;
	if (xfer_point_at_parts(xfer, n))
		return -ENOMEM;

	/* what the core reads of a single one is set below */
	if (likely(n == 1))
		sg_mark_end(xfer->sg);
	else
		sg_init_table(xfer->sg, n);
	for (i = 0; i < n; i++, left -= len) {
		len = min_t(u32, left, NVMET_RDMA_CHUNK_MAX);
		chunk = nvmet_rdma_chunk_get(&queue->dev->bufs, len);
		if (!chunk) {
			xfer_put_chunks(rsp);
			return -ENOMEM;
		}
		xfer->chunk[xfer->nr_chunks++] = chunk;
		sg_set_page(&xfer->sg[i], chunk->page, len, 0);
		xfer->sge[i].addr = chunk->dma;
		xfer->sge[i].length = len;
		xfer->sge[i].lkey = queue->dev->pd->local_dma_lkey;
	}

	xfer->how = NVMET_RDMA_XFER_CHUNKS;
	rsp->req.sg = xfer->sg;
	rsp->req.sg_cnt = n;
	return 0;
}

static void xfer_explain(const struct nvmet_rdma_rsp *rsp, int error)
{
	nvmet_rdma_event(rsp->queue, NVMET_RDMA_EV_NO_MEMORY);
	nvmet_rdma_queue_warn(rsp->queue,
			      "%s or memory has no room to move %zu bytes (error %d); the command fails\n",
			      rsp->queue->dev->ib->name, rsp->req.transfer_len,
			      error);
}

/* Then the core's buffers may be in the memory of a disk */
static bool wants_p2p(const struct nvmet_rdma_rsp *rsp)
{
	return rsp->queue->p2p && rsp->req.ns && rsp->req.ns->use_p2pmem;
}

/* The data is bounded by MDTS; rdma_rw and the page list are the core's */
static u16 xfer_get_rw(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	struct nvmet_req *req = &rsp->req;
	int ret, more;

	/* rdma_rw divides by it; some devices leave it at 0 */
	ret = -EOPNOTSUPP;
	if (rsp->sgl.to_target && !queue->qp->max_read_sge)
		goto err;
	ret = nvmet_req_alloc_sgls(req);
	if (ret)
		goto err;

	ret = rdma_rw_ctx_init(&xfer->rw, queue->qp, queue->cm_id->port_num,
			       req->sg, req->sg_cnt, 0, rsp->sgl.addr,
			       rsp->sgl.key, nvmet_rdma_xfer_dir(rsp));
	if (ret < 0)
		goto err_free_sgls;

	more = ret + NVMET_RDMA_RSP_WRS - rsp->credit;
	if (more > 0 && !nvmet_rdma_io_take_credit(rsp, more)) {
		ret = -EBUSY;
		goto err_destroy_rw;
	}

	xfer->how = NVMET_RDMA_XFER_RW;
	return NVME_SC_SUCCESS;

err_destroy_rw:
	rdma_rw_ctx_destroy(&xfer->rw, queue->qp, queue->cm_id->port_num,
			    req->sg, req->sg_cnt, nvmet_rdma_xfer_dir(rsp));
err_free_sgls:
	nvmet_req_free_sgls(req);
err:
	xfer_explain(rsp, ret);
	return NVME_SC_INTERNAL;
}

static u16 xfer_get(struct nvmet_rdma_rsp *rsp)
{
	int ret;

	if (unlikely(rsp->req.metadata_len)) {
		ret = nvmet_rdma_pi_init(rsp);
		if (ret)
			xfer_explain(rsp, ret);
		return ret ? NVME_SC_INTERNAL : NVME_SC_SUCCESS;
	}
	if (likely(!rsp->queue->use_rw && !wants_p2p(rsp))) {
		if (likely(!xfer_get_chunks(rsp)))
			return NVME_SC_SUCCESS;
		nvmet_rdma_event(rsp->queue, NVMET_RDMA_EV_NO_CHUNK);
	}
	return xfer_get_rw(rsp);
}

/**
 * nvmet_rdma_xfer_init() - get a buffer for a command's keyed data
 * @rsp: the command; its sgl and req.transfer_len are set, the length is not 0
 *
 * Sets req.sg and req.sg_cnt. The buffer holds whatever was there before.
 *
 * Context: may sleep.
 * Return: 0, or an NVMe status without the Do Not Retry bit.
 */
u16 nvmet_rdma_xfer_init(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	u32 bytes;
	u16 status;

	if (likely(queue->qid && READ_ONCE(queue->proved)))
		return xfer_get(rsp);
	bytes = max(roundup_pow_of_two(rsp->sgl.len), PAGE_SIZE);
	if (!nvmet_rdma_limits_take_data(queue, bytes))
		return NVME_SC_INTERNAL;
	status = xfer_get(rsp);
	if (status)
		nvmet_rdma_limits_give_data(queue, bytes);
	else
		rsp->xfer.charged = bytes;
	return status;
}

static struct ib_send_wr *xfer_chunk_wrs(struct nvmet_rdma_rsp *rsp,
					 struct ib_send_wr *then)
{
	u32 max_sge = xfer_max_sge(rsp->queue, rsp->sgl.to_target);
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	struct ib_device *ib = rsp->queue->dev->ib;
	struct ib_rdma_wr *wr = xfer->wr;
	u64 addr = rsp->sgl.addr;
	u32 i, in_wr;

	xfer->nr_wrs = 0;
	for (i = 0; i < xfer->nr_chunks; i += in_wr, wr++) {
		u32 j;

		in_wr = min(max_sge, xfer->nr_chunks - i);
		memset(wr, 0, sizeof(*wr));
		wr->wr.wr_cqe = &rsp->data_cqe;
		wr->wr.opcode = rsp->sgl.to_target ? IB_WR_RDMA_READ :
						     IB_WR_RDMA_WRITE;
		wr->wr.sg_list = &xfer->sge[i];
		wr->wr.num_sge = in_wr;
		wr->remote_addr = addr;
		wr->rkey = rsp->sgl.key;
		if (xfer->nr_wrs++)
			wr[-1].wr.next = &wr->wr;

		for (j = i; j < i + in_wr; j++) {
			addr += xfer->sge[j].length;
			ib_dma_sync_single_for_device(ib, xfer->sge[j].addr,
						      xfer->sge[j].length,
						      DMA_BIDIRECTIONAL);
		}
	}

	wr[-1].wr.next = then;
	if (!then) {
		wr[-1].wr.wr_cqe = &rsp->read_cqe;
		wr[-1].wr.send_flags = IB_SEND_SIGNALED;
	}
	return &xfer->wr[0].wr;
}

/*
 * rdma_rw mapped the pages before the core wrote into them. Memory of a disk was
 * written by the disk.
 */
static void xfer_sync_pages_for_device(const struct nvmet_rdma_rsp *rsp)
{
	struct ib_device *ib = rsp->queue->dev->ib;
	const struct nvmet_req *req = &rsp->req;

	if (ib_uses_virt_dma(ib) || req->p2p_dev)
		return;
	dma_sync_sg_for_device(ib->dma_device, req->sg, req->sg_cnt,
			       DMA_TO_DEVICE);
	if (req->metadata_sg)
		dma_sync_sg_for_device(ib->dma_device, req->metadata_sg,
				       req->metadata_sg_cnt, DMA_TO_DEVICE);
}

/**
 * nvmet_rdma_xfer_wrs() - make the work requests that move the data
 * @rsp: the command
 * @then: work request to follow, for a WRITE; NULL for a READ, the last of
 *	  which then completes at read_cqe, and for a WRITE that the response
 *	  waits for, which completes at write_cqe
 *
 * Only the last work request of the chain is signaled. It completes last
 * however the others end, so that nothing else needs to be waited for.
 *
 * Context: any. Return: the first of the chain, to be posted at once.
 */
struct ib_send_wr *nvmet_rdma_xfer_wrs(struct nvmet_rdma_rsp *rsp,
				       struct ib_send_wr *then)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct ib_send_wr *first, *wr;

	if (likely(rsp->xfer.how == NVMET_RDMA_XFER_CHUNKS))
		return xfer_chunk_wrs(rsp, then);
	if (!rsp->sgl.to_target)
		xfer_sync_pages_for_device(rsp);
	first = rdma_rw_ctx_wrs(&rsp->xfer.rw, queue->qp,
				queue->cm_id->port_num, rsp->sgl.to_target ?
				&rsp->read_cqe : &rsp->write_cqe, then);
	/* rdma_rw wants to hear of none but the last; a failure is ours to tell */
	for (wr = first; wr != then; wr = wr->next)
		if (!wr->wr_cqe)
			wr->wr_cqe = &rsp->data_cqe;
	return first;
}

/**
 * nvmet_rdma_xfer_send() - have a transfer posted that completes by itself
 * @rsp: the command
 *
 * Context: any.
 */
void nvmet_rdma_xfer_send(struct nvmet_rdma_rsp *rsp)
{
	struct ib_send_wr *first = nvmet_rdma_xfer_wrs(rsp, NULL);
	struct ib_send_wr *last = first;

	while (last->next)
		last = last->next;
	nvmet_rdma_send(rsp, first, last);
}

/**
 * nvmet_rdma_xfer_unmap() - give up what of a buffer needs the QP
 * @rsp: the command, with a buffer or without; the HCA does not know it any more, or
 *	 is dead
 *
 * The memory stays the command's.
 *
 * Context: any.
 */
void nvmet_rdma_xfer_unmap(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;

	if (xfer->how == NVMET_RDMA_XFER_PI)
		nvmet_rdma_pi_destroy(rsp);
	else if (xfer->how == NVMET_RDMA_XFER_RW)
		rdma_rw_ctx_destroy(&xfer->rw, queue->qp,
				    queue->cm_id->port_num, rsp->req.sg,
				    rsp->req.sg_cnt, nvmet_rdma_xfer_dir(rsp));
	else
		return;
	xfer->how = NVMET_RDMA_XFER_PAGES;
}

/**
 * nvmet_rdma_xfer_sync_for_cpu() - make data that was read visible here
 * @rsp: the command; its RDMA READs have completed
 *
 * With rdma_rw the data becomes visible when it is unmapped, which has to be
 * now: the core is about to read it.
 *
 * Context: any.
 */
void nvmet_rdma_xfer_sync_for_cpu(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	u32 i;

	if (unlikely(xfer->how != NVMET_RDMA_XFER_CHUNKS)) {
		nvmet_rdma_xfer_unmap(rsp);
		return;
	}
	for (i = 0; i < xfer->nr_chunks; i++)
		ib_dma_sync_single_for_cpu(queue->dev->ib, xfer->sge[i].addr,
					   xfer->sge[i].length,
					   DMA_BIDIRECTIONAL);
}

/**
 * nvmet_rdma_xfer_destroy() - give a command's buffer back
 * @rsp: the command, with or without one; the HCA does not know it any more
 *
 * Context: any.
 */
void nvmet_rdma_xfer_destroy(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;

	switch (xfer->how) {
	case NVMET_RDMA_XFER_NONE:
		return;
	case NVMET_RDMA_XFER_CHUNKS:
		xfer_put_chunks(rsp);
		break;
	case NVMET_RDMA_XFER_RW:
	case NVMET_RDMA_XFER_PI:
		nvmet_rdma_xfer_unmap(rsp);
		fallthrough;
	case NVMET_RDMA_XFER_PAGES:
		nvmet_req_free_sgls(&rsp->req);
		break;
	}
	xfer->how = NVMET_RDMA_XFER_NONE;
	if (unlikely(xfer->charged)) {
		nvmet_rdma_limits_give_data(rsp->queue, xfer->charged);
		xfer->charged = 0;
	}
}
