// SPDX-License-Identifier: GPL-2.0
/*
 * Transfers by the kernel's rdma_rw: it maps the core's page list, and registers it if needed.
 *
 * Used on iWARP, whose READs need a registered sink, for namespaces whose disk has memory that
 * the device reaches (p2pmem), and where use_rw_api asks for it. xfer.c decides that, and takes
 * the send credit. Commands with protection information use the page list, too (pi.c).
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "params.h"
#include "xfer.h"

/* rdma_rw may need three for a registration: invalidate, register, move */
#define WRS_PER_MR	3
/* It never registers more pages at once, whatever the device supports */
#define RW_PAGES_PER_MR	256

/**
 * nvmet_rdma_rw_nr_wrs() - send work requests that a transfer takes at most
 * @queue: the queue
 * @len: bytes, 1 to NVMET_RDMA_MAX_LEN
 * @to_target: RDMA READs, not WRITEs
 *
 * Context: any. Return: their number, if no two pages are contiguous.
 */
u32 nvmet_rdma_rw_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len, bool to_target)
{
	u32 pages = DIV_ROUND_UP(len, PAGE_SIZE);
	u32 mapped = DIV_ROUND_UP(pages, nvmet_rdma_xfer_max_sge(queue, to_target));
	u32 per_mr = min_t(u32, queue->dev->ib->attrs.max_fast_reg_page_list_len,
			   RW_PAGES_PER_MR);
	u32 registered = per_mr ? WRS_PER_MR * DIV_ROUND_UP(pages, per_mr) : 0;

	if (to_target && rdma_protocol_iwarp(queue->dev->ib,
					     queue->cm_id->port_num))
		return registered;
	return max(mapped, registered);
}

/**
 * nvmet_rdma_rw_max_mrs() - MRs that the largest transfer takes
 * @queue: the queue; its QP does not exist yet
 *
 * Context: any. Return: their number, 1 or more.
 */
u32 nvmet_rdma_rw_max_mrs(const struct nvmet_rdma_queue *queue)
{
	u32 per_mr = min_t(u32, queue->dev->ib->attrs.max_fast_reg_page_list_len,
			   RW_PAGES_PER_MR);

	return DIV_ROUND_UP(NVMET_RDMA_MAX_LEN / PAGE_SIZE, max(per_mr, 1u));
}

/**
 * nvmet_rdma_rw_alloc_list() - allocate the core's list of pages for a command's data
 * @rsp: the command; its req.transfer_len is set
 *
 * The core allocates the list in one piece, of two pages for 1 MiB. The allocator would search
 * for that without end while it may not compact memory. So the size is first allocated without
 * a search and freed again, and is there for the core then.
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_rw_alloc_list(struct nvmet_rdma_rsp *rsp)
{
	size_t pages = DIV_ROUND_UP(rsp->req.transfer_len, PAGE_SIZE);
	size_t bytes = array_size(pages, sizeof(struct scatterlist));
	void *list;

	if (unlikely(bytes > PAGE_SIZE) && !nvmet_rdma_rw_wants_p2p(rsp)) {
		list = kmalloc(bytes, GFP_NOWAIT | __GFP_NOWARN);
		if (!list)
			return -ENOMEM;
		kfree(list);
	}
	return nvmet_req_alloc_sgls(&rsp->req);
}

/**
 * nvmet_rdma_rw_init() - map the page list of a command
 * @rsp: the command, with its list
 *
 * Context: may sleep. Return: send work requests that the transfer takes, or a negative errno.
 */
int nvmet_rdma_rw_init(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_req *req = &rsp->req;

	/* rdma_rw divides by it, and some devices leave it at 0 */
	if (rsp->sgl.to_target && !queue->qp->max_read_sge)
		return -EOPNOTSUPP;
	return rdma_rw_ctx_init(&rsp->xfer.rw, queue->qp, queue->cm_id->port_num,
				req->sg, req->sg_cnt, 0, rsp->sgl.addr,
				rsp->sgl.key, nvmet_rdma_xfer_dir(rsp));
}

/**
 * nvmet_rdma_rw_destroy() - undo nvmet_rdma_rw_init()
 * @rsp: the command; the HCA does not know its transfer, or is dead
 *
 * Context: any.
 */
void nvmet_rdma_rw_destroy(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;

	rdma_rw_ctx_destroy(&rsp->xfer.rw, queue->qp, queue->cm_id->port_num, rsp->req.sg,
			    rsp->req.sg_cnt, nvmet_rdma_xfer_dir(rsp));
}

/*
 * rdma_rw mapped the pages before the core wrote into them. Memory of a disk was
 * written by the disk.
 */
static void rw_sync_for_device(const struct nvmet_rdma_rsp *rsp)
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
 * nvmet_rdma_rw_wrs() - make the work requests that move the data of a page list
 * @rsp: the command, also one of pi.c
 * @then: as for nvmet_rdma_xfer_wrs()
 *
 * Context: any. Return: the first of the chain.
 */
struct ib_send_wr *nvmet_rdma_rw_wrs(struct nvmet_rdma_rsp *rsp, struct ib_send_wr *then)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct ib_send_wr *first, *wr;

	if (!rsp->sgl.to_target)
		rw_sync_for_device(rsp);
	first = rdma_rw_ctx_wrs(&rsp->xfer.rw, queue->qp,
				queue->cm_id->port_num, rsp->sgl.to_target ?
				&rsp->read_cqe : &rsp->write_cqe, then);
	/* rdma_rw wants to hear of none but the last; a failure is ours to tell */
	for (wr = first; wr != then; wr = wr->next)
		if (!wr->wr_cqe)
			wr->wr_cqe = &rsp->data_cqe;
	return first;
}
