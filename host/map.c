// SPDX-License-Identifier: GPL-2.0
/*
 * Mapping of a request's data.
 *
 * The first of these that applies: no data; protection information, if the device has
 * signature offload (pi.c); in the capsule, for writes of up to the in-capsule size of
 * the controller; by the global key, if the administrator disabled registration and
 * the data is one DMA segment. All other data travels through the MR of the request's
 * tag, which grants the peer access in the direction of the transfer only.
 *
 * The mapping lasts until nvme_rdma_unmap_data(), when the request completes. That is
 * after its SEND for data in the capsule, after its MR is invalid for other data, or
 * after the queue was drained.
 */
#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "dma.h"
#include "params.h"

/*
 * The scatter list has the entries of the request first, then allocated chunks. It is out of
 * line, as a variable on its stack would cost each mapping.
 */
static noinline int nvme_rdma_build_sgt(struct nvme_rdma_request *req, struct request *rq,
					unsigned short segments)
{
	int ret;

	req->sgt.sgl = req->sg;
	ret = sg_alloc_table_chained(&req->sgt, segments, req->sg,
				     NVME_RDMA_REQUEST_SG_CNT);
	if (unlikely(ret))
		return -ENOMEM;
	req->nents = nvme_rdma_blk_rq_map_sg(rq, req->sgt.sgl);
	return 0;
}

/*
 * A request of one bvec needs no table: its only entry is in the request. It is mapped
 * as a page, which is cheaper. Memory of PCI devices can only be mapped as a list.
 */
static int nvme_rdma_map_single(struct nvme_rdma_request *req,
				struct request *rq)
{
	struct ib_device *ibdev = req->queue->device->dev;
	struct bio_vec bv = req_bvec(rq);
	struct scatterlist *sg = req->sg;
	u64 addr;

	sg_mark_end(sg);
	sg_set_page(sg, bv.bv_page, bv.bv_len, bv.bv_offset);
	req->sgt.sgl = sg;
	req->sgt.orig_nents = 1;
	req->sgt.nents = 1;
	if (unlikely(is_pci_p2pdma_page(bv.bv_page))) {
		/* the entry may still have flags of the DMA API, of an earlier request */
		sg_init_table(sg, 1);
		sg_set_page(sg, bv.bv_page, bv.bv_len, bv.bv_offset);
		req->nents = 1;
		return ib_dma_map_sg(ibdev, sg, 1, rq_dma_dir(rq));
	}
	req->nents = 0;
	addr = ib_dma_map_page(ibdev, bv.bv_page, bv.bv_offset, bv.bv_len,
			       rq_dma_dir(rq));
	if (unlikely(ib_dma_mapping_error(ibdev, addr)))
		return 0;
	sg_dma_address(sg) = addr;
	sg_dma_len(sg) = bv.bv_len;
	return 1;
}

static int nvme_rdma_in_capsule(struct nvme_rdma_request *req,
				struct request *rq, int count)
{
	struct nvme_rdma_queue *queue = req->queue;
	struct scatterlist *sg;
	int i;

	for_each_sg(req->sgt.sgl, sg, count, i) {
		struct ib_sge *sge = &req->sge[1 + i];

		sge->addr = sg_dma_address(sg);
		sge->length = sg_dma_len(sg);
		sge->lkey = queue->ctrl->pd->local_dma_lkey;
	}
	nvme_rdma_sgl_in_capsule(&req->cmd, blk_rq_payload_bytes(rq));
	req->data = NVME_RDMA_DATA_IN_CAPSULE;
	return count;
}

static void nvme_rdma_global_key(struct nvme_rdma_request *req)
{
	struct scatterlist *sg = req->sgt.sgl;

	nvme_rdma_sgl_keyed(&req->cmd, sg_dma_address(sg), sg_dma_len(sg),
			    req->queue->ctrl->pd->unsafe_global_rkey, false);
	req->data = NVME_RDMA_DATA_GLOBAL;
}

/*
 * ib_map_mr_sg() for bounced segments with gaps, see bounce.c. It is out of line, as
 * nvme_rdma_build_sgt(). Return: 0 or an errno.
 */
static noinline int nvme_rdma_map_bounced(struct nvme_rdma_request *req,
					  struct request *rq, struct ib_mr *mr)
{
	struct ib_device *ibdev = req->queue->device->dev;
	struct scatterlist *sg;
	int count;

	if (nvme_rdma_max_mapping(ibdev) == SIZE_MAX)
		return -EINVAL;
	sg = nvme_rdma_bounce(req, &count);
	if (!sg)
		return -ENOMEM;
	/* nvme_rdma_unmap_sgt() unmaps the bounce pages instead */
	ib_dma_unmap_sg(ibdev, req->sgt.sgl, req->nents, rq_dma_dir(rq));
	return ib_map_mr_sg(mr, sg, count, NULL, SZ_4K) < count ? -EINVAL : 0;
}

static int nvme_rdma_register(struct nvme_rdma_request *req,
			      struct request *rq, int count)
{
	struct ib_mr *mr = nvme_rdma_tag_mr(req->queue, rq->tag);
	int nr;

	if (unlikely(!mr))
		return -EAGAIN;
	nr = ib_map_mr_sg(mr, req->sgt.sgl, count, NULL, SZ_4K);
	if (unlikely(nr < count)) {
		nr = nr < 0 ? nr : nvme_rdma_map_bounced(req, rq, mr);
		if (nr)
			return nr;
	}
	nvme_rdma_build_reg_mr(req, mr, blk_rq_payload_bytes(rq), IB_WR_REG_MR);
	req->data = NVME_RDMA_DATA_REGISTERED;
	return 0;
}

static bool nvme_rdma_fits_capsule(struct nvme_rdma_request *req,
				   struct request *rq, int count)
{
	struct nvme_rdma_queue *queue = req->queue;

	return rq_data_dir(rq) == WRITE &&
	       blk_rq_payload_bytes(rq) <= queue->inline_size &&
	       count <= queue->device->max_inline_segments;
}

static int nvme_rdma_choose_transfer(struct nvme_rdma_request *req, struct request *rq,
				     int count)
{
	if (unlikely(req->queue->sig_mrs) && nvme_rdma_wants_pi(req))
		return nvme_rdma_register_pi(req, count);
	if (nvme_rdma_fits_capsule(req, rq, count))
		return nvme_rdma_in_capsule(req, rq, count);
	if (count == 1 && !nvme_rdma_register_always) {
		nvme_rdma_global_key(req);
		return 0;
	}
	return nvme_rdma_register(req, rq, count);
}

static noinline void nvme_rdma_unmap_list(struct nvme_rdma_request *req,
					  struct request *rq)
{
	struct ib_device *ibdev = req->queue->device->dev;

	if (unlikely(req->bounce))
		nvme_rdma_end_bounce(req);
	else
		ib_dma_unmap_sg(ibdev, req->sgt.sgl, req->nents, rq_dma_dir(rq));
	sg_free_table_chained(&req->sgt, NVME_RDMA_REQUEST_SG_CNT);
}

static __always_inline void nvme_rdma_unmap_sgt(struct nvme_rdma_request *req,
						struct request *rq)
{
	if (unlikely(req->nents))
		nvme_rdma_unmap_list(req, rq);
	else
		ib_dma_unmap_page(req->queue->device->dev, sg_dma_address(req->sg),
				  sg_dma_len(req->sg), rq_dma_dir(rq));
}

/**
 * nvme_rdma_map_data() - map a request's data and describe it in the command
 * @req: the request
 *
 * Context: as queue_rq().
 * Return: data segments in the capsule (@req->sge from 1 on), or a negative errno:
 * -ENOMEM or -EAGAIN if a retry may succeed. On failure nothing remains mapped.
 */
int nvme_rdma_map_data(struct nvme_rdma_request *req)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	unsigned short segments = blk_rq_nr_phys_segments(rq);
	int count, ret;

	req->data = NVME_RDMA_DATA_NONE;
	req->mr = NULL;
	req->bounce = NULL;
	if (!segments) {
		nvme_rdma_sgl_null(&req->cmd);
		return 0;
	}
	if (likely(segments == 1)) {
		count = nvme_rdma_map_single(req, rq);
	} else {
		ret = nvme_rdma_build_sgt(req, rq, segments);
		if (unlikely(ret))
			return ret;
		count = ib_dma_map_sg(req->queue->device->dev, req->sgt.sgl,
				      req->nents, rq_dma_dir(rq));
	}
	if (unlikely(count <= 0)) {
		/* P2P memory that the RDMA device cannot reach stays unreachable */
		ret = is_pci_p2pdma_page(sg_page(req->sgt.sgl)) ?
			-EREMOTEIO : -ENOMEM;
		sg_free_table_chained(&req->sgt, NVME_RDMA_REQUEST_SG_CNT);
		return ret;
	}
	ret = nvme_rdma_choose_transfer(req, rq, count);
	if (unlikely(ret < 0))
		nvme_rdma_unmap_sgt(req, rq);
	return ret;
}

/**
 * nvme_rdma_unmap_data() - undo nvme_rdma_map_data()
 * @req: the request, whose data no device accesses any more
 *
 * Context: any.
 */
void nvme_rdma_unmap_data(struct nvme_rdma_request *req)
{
	if (req->data == NVME_RDMA_DATA_NONE)
		return;
	if (unlikely(req->data == NVME_RDMA_DATA_PROTECTED))
		nvme_rdma_unmap_pi(req);
	nvme_rdma_unmap_sgt(req, blk_mq_rq_from_pdu(req));
	req->data = NVME_RDMA_DATA_NONE;
	req->mr = NULL;
}
