// SPDX-License-Identifier: GPL-2.0
/*
 * Bounce pages for data that a memory region cannot describe.
 *
 * If the device cannot reach all memory (a confidential guest, a narrow DMA mask), the DMA
 * API copies data to its own slots (swiotlb). It aligns a slot to a page only if the
 * segment has a page or more, and no driver of RDMA devices asks it to keep offsets. So
 * segments that began or ended at a page boundary may not do so any more, and a region
 * that maps pages cannot describe the gaps.
 *
 * Operation: nvme_rdma_bounce() copies data to be written to whole pages of the driver,
 * and maps these instead of the request's. nvme_rdma_end_bounce() copies data that was
 * read back. The region is longer than the data, up to the end of a page, and the SGL is
 * not: beyond the data, the peer writes bytes that nothing reads, and reads zeroes. Pages
 * for reads are cleared, as a peer may write less than it reports.
 *
 * Memory: queue_rq() cannot sleep. If no memory is available, one request uses the reserve
 * of the controller, and others wait inside blk-mq. So writeback that frees memory makes
 * progress. A device that supports gaps (IBK_SG_GAPS_REG) has regions that map them, see
 * device.c, and needs no bounce pages.
 */
#include <linux/slab.h>

#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "dma.h"

/**
 * struct nvme_rdma_bounce - pages in place of a request's data
 * @reserve: it is the reserve of the controller
 * @nr: pages in use
 * @sgt: the pages, one an entry
 * @page: the pages
 */
struct nvme_rdma_bounce {
	bool		reserve;
	unsigned int	nr;
	struct sg_table	sgt;
	struct page	*page[];
};

static void bounce_free(struct nvme_rdma_bounce *bounce)
{
	unsigned int i;

	for (i = 0; i < bounce->nr; i++)
		__free_page(bounce->page[i]);
	sg_free_table(&bounce->sgt);
	kfree(bounce);
}

static struct nvme_rdma_bounce *bounce_alloc(unsigned int nr, gfp_t gfp)
{
	struct nvme_rdma_bounce *bounce;
	struct scatterlist *sg;

	bounce = kmalloc(struct_size(bounce, page, nr), gfp);
	if (!bounce)
		return NULL;
	bounce->reserve = false;
	bounce->nr = 0;
	if (sg_alloc_table(&bounce->sgt, nr, gfp)) {
		kfree(bounce);
		return NULL;
	}
	for (sg = bounce->sgt.sgl; bounce->nr < nr; sg = sg_next(sg)) {
		struct page *page = alloc_page(gfp);

		if (!page) {
			bounce_free(bounce);
			return NULL;
		}
		bounce->page[bounce->nr++] = page;
		sg_set_page(sg, page, PAGE_SIZE, 0);
	}
	return bounce;
}

/**
 * nvme_rdma_make_bounce_reserve() - allocate bounce pages for one request
 * @ctrl: the controller, on a device, whose limits are known
 *
 * Does nothing for a device that reaches all memory.
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_make_bounce_reserve(struct nvme_rdma_ctrl *ctrl)
{
	size_t most = (size_t)ctrl->ctrl.max_hw_sectors << SECTOR_SHIFT;

	if (ctrl->bounce || nvme_rdma_max_mapping(ctrl->device->dev) == SIZE_MAX)
		return 0;
	ctrl->bounce = bounce_alloc(PFN_UP(most), GFP_KERNEL);
	if (!ctrl->bounce)
		return -ENOMEM;
	ctrl->bounce->reserve = true;
	return 0;
}

/**
 * nvme_rdma_free_bounce_reserve() - undo nvme_rdma_make_bounce_reserve()
 * @ctrl: the controller, without requests
 *
 * Context: any.
 */
void nvme_rdma_free_bounce_reserve(struct nvme_rdma_ctrl *ctrl)
{
	if (!ctrl->bounce)
		return;
	ctrl->bounce->nr = ctrl->bounce->sgt.orig_nents;
	bounce_free(ctrl->bounce);
}

static struct nvme_rdma_bounce *bounce_get(struct nvme_rdma_ctrl *ctrl,
					   unsigned int nr)
{
	struct nvme_rdma_bounce *bounce;

	bounce = bounce_alloc(nr, GFP_NOWAIT | __GFP_NOWARN);
	if (bounce)
		return bounce;
	bounce = ctrl->bounce;
	if (!bounce || nr > bounce->sgt.orig_nents ||
	    test_and_set_bit_lock(0, &ctrl->bounce_used))
		return NULL;
	bounce->nr = nr;
	return bounce;
}

static void bounce_put(struct nvme_rdma_ctrl *ctrl,
		       struct nvme_rdma_bounce *bounce)
{
	if (bounce->reserve)
		clear_bit_unlock(0, &ctrl->bounce_used);
	else
		bounce_free(bounce);
}

/* Copy from the request's data to the pages, or back */
static void bounce_copy(struct nvme_rdma_request *req, bool back)
{
	struct nvme_rdma_bounce *bounce = req->bounce;
	struct sg_mapping_iter it;
	size_t at, done = 0, len;
	void *page;

	sg_miter_start(&it, req->sgt.sgl, req->nents, SG_MITER_ATOMIC |
		       (back ? SG_MITER_TO_SG : SG_MITER_FROM_SG));
	while (sg_miter_next(&it)) {
		for (at = 0; at < it.length; at += len, done += len) {
			page = page_address(bounce->page[done >> PAGE_SHIFT]) +
			       offset_in_page(done);
			len = min_t(size_t, it.length - at,
				    PAGE_SIZE - offset_in_page(done));
			if (back)
				memcpy(it.addr + at, page, len);
			else
				memcpy(page, it.addr + at, len);
		}
	}
	sg_miter_stop(&it);
}

static void bounce_fill(struct nvme_rdma_request *req, struct request *rq)
{
	size_t len = blk_rq_payload_bytes(rq);
	unsigned int i;

	if (rq_data_dir(rq) == WRITE) {
		bounce_copy(req, false);
		if (offset_in_page(len))
			memset(page_address(req->bounce->page[len >> PAGE_SHIFT]) +
			       offset_in_page(len), 0,
			       PAGE_SIZE - offset_in_page(len));
		return;
	}
	for (i = 0; i < req->bounce->nr; i++)
		clear_page(page_address(req->bounce->page[i]));
}

/**
 * nvme_rdma_bounce() - map bounce pages in place of a request's data
 * @req: the request; its data is in its scatter list, not mapped
 * @count: set to the number of mapped entries
 *
 * Context: as queue_rq().
 * Return: the list of pages; NULL if it cannot be allocated or mapped now.
 */
struct scatterlist *nvme_rdma_bounce(struct nvme_rdma_request *req, int *count)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_rdma_bounce *bounce;

	bounce = bounce_get(queue->ctrl, PFN_UP(blk_rq_payload_bytes(rq)));
	if (!bounce)
		return NULL;
	req->bounce = bounce;
	bounce_fill(req, rq);
	*count = ib_dma_map_sg(queue->device->dev, bounce->sgt.sgl, bounce->nr,
			       rq_dma_dir(rq));
	if (*count > 0)
		return bounce->sgt.sgl;
	req->bounce = NULL;
	bounce_put(queue->ctrl, bounce);
	return NULL;
}

/**
 * nvme_rdma_end_bounce() - undo nvme_rdma_bounce()
 * @req: the request, whose pages no device accesses any more
 *
 * Context: any.
 */
void nvme_rdma_end_bounce(struct nvme_rdma_request *req)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_rdma_bounce *bounce = req->bounce;

	ib_dma_unmap_sg(queue->device->dev, bounce->sgt.sgl, bounce->nr,
			rq_dma_dir(rq));
	if (rq_data_dir(rq) == READ)
		bounce_copy(req, true);
	req->bounce = NULL;
	bounce_put(queue->ctrl, bounce);
}
