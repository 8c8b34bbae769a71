// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a request.
 *
 * The context that clears the last bit of a request's waits calls
 * nvme_rdma_finish_request(). Requests without a response are cancelled under
 * cancel_lock, and pass through nvme_rdma_complete_rq(), too.
 */
#include "completion.h"
#include "ctrl.h"
#include "data.h"
#include "error.h"

/* Release what the driver has of a request */
static void nvme_rdma_end_rq(struct request *rq)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);

	/*
	 * Bits are still set only if the request was cancelled. Its queue is drained then,
	 * and no later event may find the bits.
	 */
	if (unlikely(atomic_read(&req->waits))) {
		WARN_ON_ONCE(!nvme_rdma_queue_drained(req->queue));
		atomic_set(&req->waits, 0);
	}
	nvme_rdma_unmap_data(req);
}

/**
 * nvme_rdma_complete_rq() - complete a request, successful or not
 * @rq: the request, which no device accesses any more
 *
 * Context: any.
 */
void nvme_rdma_complete_rq(struct request *rq)
{
	nvme_rdma_end_rq(rq);
	nvme_complete_rq(rq);
}

/**
 * nvme_rdma_complete_batch() - complete several successful requests
 * @iob: the requests
 *
 * Context: any.
 */
void nvme_rdma_complete_batch(struct io_comp_batch *iob)
{
	nvme_complete_batch(iob, nvme_rdma_end_rq);
}

/*
 * The request ends, and the controller was asked to abort it. If it was aborted and its
 * disk may have other paths, the core would send it by this path again until its retries
 * are used up. So the path recovers, and the core does not choose it meanwhile.
 */
static void nvme_rdma_check_aborted(struct nvme_rdma_request *req)
{
	struct request *rq = blk_mq_rq_from_pdu(req);

	if (((le16_to_cpu(req->status) >> 1) & 0x7ff) != NVME_SC_ABORT_REQ ||
	    !(rq->cmd_flags & REQ_NVME_MPATH))
		return;
	nvme_rdma_queue_msg(warn, req->queue,
			    "tag %d opcode %#x: aborted by the controller; retrying on another path\n",
			    rq->tag, req->cmd.common.opcode);
	req->status = cpu_to_le16(NVME_SC_HOST_ABORTED_CMD << 1);
	nvme_rdma_error_recovery(req->queue->ctrl);
}

/**
 * nvme_rdma_finish_request() - complete a request that waits for nothing any more
 * @req: the request, with its response
 * @iob: complete it together with others, where the kernel allows that; or NULL
 *
 * Context: any.
 */
void nvme_rdma_finish_request(struct nvme_rdma_request *req,
			      struct io_comp_batch *iob)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	u16 status;

	if (unlikely(req->data == NVME_RDMA_DATA_PROTECTED)) {
		status = nvme_rdma_check_pi(req);
		if (!(le16_to_cpu(req->status) >> 1))
			req->status = cpu_to_le16(status << 1);
	}
	if (unlikely(READ_ONCE(req->aborted)))
		nvme_rdma_check_aborted(req);
	if (nvme_try_complete_req(rq, req->status, req->result))
		return;
	/* Some kernels take a failed passthrough command for a successful one */
	status = nvme_req(rq)->status;
	if (unlikely(status) ||
	    !blk_mq_add_to_batch(rq, iob, status, nvme_rdma_complete_batch))
		nvme_rdma_complete_rq(rq);
}
