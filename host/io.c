// SPDX-License-Identifier: GPL-2.0
/*
 * Submission: requests from blk-mq to the device.
 *
 * Operation
 *
 * queue_rq() maps the data of a request, builds its capsule and work requests, and
 * takes send queue slots. It adds the request to the pending list of the queue. The
 * last request of a batch, or commit_rqs(), posts the whole list at once. queue_rqs()
 * does so for all requests of a plug.
 *
 * From nvme_rdma_append() on, the device and the completion handlers own the request: it
 * may be completed and reused on another CPU at any time. A post that fails breaks the
 * queue, and the requests that it did not accept are cancelled with the others.
 *
 * A request that cannot be built for lack of memory or slots goes back to blk-mq, which
 * retries it; nothing of it stays mapped.
 *
 * queue_rq(), queue_rqs(), commit_rqs() and poll() use a queue in an RCU read-side
 * section. They use its resources only after they have seen it CONNECTED or LIVE. So a
 * context that closes a queue and waits for a grace period is its only user. The state of
 * the controller is not enough: the core lets a Connect pass in state CONNECTING, and
 * every command in state LIVE.
 */
#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "error.h"
#include "io.h"
#include "params.h"

static blk_status_t nvme_rdma_errno_status(int error)
{
	switch (error) {
	case -ENOMEM:
	case -EAGAIN:
		return BLK_STS_RESOURCE;
	default:
		return BLK_STS_IOERR;
	}
}

static blk_status_t nvme_rdma_not_mapped(struct nvme_rdma_request *req, int error)
{
	struct nvme_rdma_queue *queue = req->queue;

	if (error == -ENOMEM)
		nvme_rdma_count(queue, NVME_RDMA_EV_NO_MEMORY);
	else if (error == -EAGAIN)
		nvme_rdma_wait_for_mr(queue);
	else
		nvme_rdma_queue_msg(err, queue,
				    "cannot map the data of opcode %#x (error %d)\n",
				    req->cmd.common.opcode, error);
	return nvme_rdma_errno_status(error);
}

/*
 * Build the SEND of a request whose data is mapped, with @data_sges segments of in-capsule data
 * in @req->sge[1] and up. nvme_rdma_append() decides whether the SEND is signaled.
 */
static __always_inline void nvme_rdma_build_capsule(struct nvme_rdma_request *req,
						    int data_sges)
{
	struct nvme_rdma_queue *queue = req->queue;
	struct request *rq = blk_mq_rq_from_pdu(req);
	int flags = 0;

	/* NVMe over Fabrics: metadata, if any, is described by the SGL */
	req->cmd.common.flags |= NVME_CMD_SGL_METABUF;

	if (queue->send_inline && !data_sges) {
		req->sge[0].addr = (uintptr_t)&req->cmd;
		req->sge[0].length = sizeof(req->cmd);
		req->sge[0].lkey = 0;
		flags = IB_SEND_INLINE;
	} else {
		nvme_rdma_place_command(queue, &req->cmd, rq->tag,
					&req->sge[0]);
	}
	/* tagset.c has set the other members, but for the link: post.c does that */
	req->send_wr.wr_cqe = &queue->unsignaled_send;
	req->send_wr.num_sge = 1 + data_sges;
	req->send_wr.send_flags = flags;
}

static __always_inline blk_status_t
nvme_rdma_build_request(struct nvme_rdma_request *req)
{
	struct nvme_rdma_queue *queue = req->queue;
	int sges, wrs;

	sges = nvme_rdma_map_data(req);
	if (unlikely(sges < 0))
		return nvme_rdma_not_mapped(req, sges);
	/* SEND, and with an MR also REG_MR and LOCAL_INV */
	wrs = nvme_rdma_registered(req) ? 3 : 1;
	if (unlikely(!nvme_rdma_take_credit(queue, wrs))) {
		nvme_rdma_count(queue, NVME_RDMA_EV_NO_SLOT);
		nvme_rdma_cq_kick(queue->cq);
		nvme_rdma_unmap_data(req);
		return BLK_STS_RESOURCE;
	}
	nvme_rdma_build_capsule(req, sges);
	return BLK_STS_OK;
}

/*
 * The controller is LIVE, and one of its queues is not. If the queue broke, recover as
 * nvme_rdma_recheck_queues() does, which runs only with an event request. If the queue
 * is idle, one of its CPUs is online again, and a reset connects it.
 */
static void nvme_rdma_restore_queue(struct nvme_rdma_queue *queue)
{
	enum nvme_rdma_queue_state state;

	/* The queue came up before the controller, whose state the caller has read */
	smp_rmb();
	state = READ_ONCE(queue->state);
	/* It came up after the caller had looked at it, which may be long ago on a busy CPU */
	if (state == NVME_RDMA_Q_CONNECTED || state == NVME_RDMA_Q_LIVE)
		return;
	if (state != NVME_RDMA_Q_IDLE)
		nvme_rdma_error_recovery(queue->ctrl);
	else if (!nvme_reset_ctrl(&queue->ctrl->ctrl))
		nvme_rdma_queue_msg(info, queue,
				    "a CPU of this queue is online again: resetting the controller to connect it\n");
}

/* Does a request set the reference tags of written data, before the data is mapped? */
static bool nvme_rdma_starts_early(struct request *rq)
{
	return blk_integrity_rq(rq) && rq_data_dir(rq) == WRITE;
}

/*
 * Make a request ready to be appended. The queue is usable and the core lets the command
 * pass. @early is a constant for the requests of a list. On failure the request is as it was,
 * but for one that starts early.
 */
static __always_inline blk_status_t
nvme_rdma_prepare_request(struct request *rq, bool early)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_queue *queue = req->queue;
	blk_status_t ret;

	/* see nvme_rdma_queue, @generations; counted when the command is appended */
	nvme_req(rq)->genctr = queue->generations[rq->tag];
	ret = nvme_setup_cmd(rq->q->queuedata, rq);
	if (unlikely(ret))
		return ret;
	/* 0 in newer cores means that of the queue. Data commands keep their own timeout */
	if (unlikely(READ_ONCE(queue->ctrl->short_timeouts)) && blk_rq_is_passthrough(rq) &&
	    (!queue->qid || nvme_is_fabrics(req->req.cmd)))
		rq->timeout = min(rq->timeout ?: rq->q->rq_timeout,
				  nvme_rdma_fabrics_tmo * HZ);
	WRITE_ONCE(req->aborted, false);
	WRITE_ONCE(req->timed_out, false);
	if (unlikely(early))
		nvme_start_request(rq);
	ret = nvme_rdma_build_request(req);
	if (unlikely(ret)) {
		nvme_cleanup_cmd(rq);
		return ret;
	}
	/* After all steps that may fail: blk-mq ends a failed request without the core */
	if (likely(!early))
		nvme_start_request(rq);
	queue->generations[rq->tag]++;
	return BLK_STS_OK;
}

/*
 * The queue of a request is unusable. Out of line: a variable on its stack costs each request.
 */
static noinline blk_status_t nvme_rdma_refuse_request(struct request *rq)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_ctrl *nctrl = &queue->ctrl->ctrl;
	blk_status_t ret;

	/*
	 * The core would retry commands of an authentication, and the context that brings the
	 * queue up or down waits for their end.
	 */
	if (nvme_is_fabrics(req->req.cmd))
		rq->cmd_flags |= REQ_FAILFAST_DRIVER;
	if (nvme_rdma_reroute(rq, &ret))
		return ret;
	if (nvme_ctrl_state(nctrl) == NVME_CTRL_LIVE)
		nvme_rdma_restore_queue(queue);
	return nvme_fail_nonready_command(nctrl, rq);
}

static blk_status_t nvme_rdma_take_request(struct request *rq, bool last)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_ctrl *nctrl = &queue->ctrl->ctrl;
	blk_status_t ret;

	if (unlikely(!nvme_rdma_queue_usable(queue)))
		return nvme_rdma_refuse_request(rq);
	if (!nvme_check_ready(nctrl, rq, nvme_rdma_queue_live(queue)))
		return nvme_fail_nonready_command(nctrl, rq);
	ret = nvme_rdma_prepare_request(rq, nvme_rdma_starts_early(rq));
	if (likely(!ret))
		nvme_rdma_append(queue, req, req, last);
	return ret;
}

/**
 * nvme_rdma_queue_rq() - submit a request
 * @hctx: its hardware context
 * @bd: the request, and whether it is the last of a batch
 *
 * Context: process, under blk-mq's dispatch protection.
 * Return: BLK_STS_OK if the request is in flight or has been completed.
 */
blk_status_t nvme_rdma_queue_rq(struct blk_mq_hw_ctx *hctx,
				const struct blk_mq_queue_data *bd)
{
	struct nvme_rdma_queue *queue = hctx->driver_data;
	blk_status_t ret;

	ret = nvme_rdma_take_request(bd->rq, bd->last);
	/*
	 * blk-mq does not call commit_rqs() after a last request, even if that
	 * request was not appended.
	 */
	if (bd->last && unlikely(READ_ONCE(queue->pending)))
		nvme_rdma_post_pending(queue);
	return ret;
}

/*
 * Does a queue take all requests? One check is enough for the requests of a list: a context
 * that closes the queue waits for the end of queue_rqs(), see above. A controller that is not
 * LIVE takes some requests only, about which queue_rq() decides.
 */
static bool nvme_rdma_takes_all(struct nvme_rdma_queue *queue)
{
	return nvme_ctrl_state(&queue->ctrl->ctrl) == NVME_CTRL_LIVE &&
	       nvme_rdma_queue_usable(queue);
}

/**
 * nvme_rdma_queue_rqs() - submit a list of requests
 * @list: the requests, of one disk; from the first one that is not taken on, they are left
 *	in it, and blk-mq calls queue_rq() for each
 *
 * Consecutive requests of a queue are appended and posted together.
 *
 * Context: as nvme_rdma_queue_rq().
 */
void nvme_rdma_queue_rqs(nvme_rdma_rq_list *list)
{
	struct nvme_rdma_request *first = NULL, *end = NULL, *req;
	struct nvme_rdma_queue *queue = NULL;
	struct request *rq;
	bool takes = false;

	while ((rq = nvme_rdma_rq_list_pop(list))) {
		req = blk_mq_rq_to_pdu(rq);
		if (req->queue != queue) {
			if (unlikely(first))
				nvme_rdma_append(queue, first, end, true);
			first = NULL;
			queue = req->queue;
			takes = nvme_rdma_takes_all(queue);
		}
		/* If anything is special, queue_rq() tries again and knows what to do */
		if (unlikely(!takes || nvme_rdma_starts_early(rq) ||
			     nvme_rdma_prepare_request(rq, false))) {
			nvme_rdma_rq_list_add(list, rq);
			break;
		}
		if (first)
			end->next = req;
		else
			first = req;
		end = req;
	}
	if (first)
		nvme_rdma_append(queue, first, end, true);
}

/**
 * nvme_rdma_commit_rqs() - post the requests of a batch without a last one
 * @hctx: the hardware context
 *
 * Context: as nvme_rdma_queue_rq().
 */
void nvme_rdma_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	nvme_rdma_post_pending(hctx->driver_data);
}
