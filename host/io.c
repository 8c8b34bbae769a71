// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: from blk-mq to the device and back to the core.
 *
 * Operation
 *
 * queue_rq() fills one request: data mapped, capsule and work requests built,
 * send queue slots taken. It is appended to the queue's pending list; with the
 * last request of a batch, or when blk-mq says commit, the whole list goes to
 * the device in one post.
 *
 * From the append on, the request belongs to the device and the completion
 * handlers: it may be completed and reused on another CPU at any time. A post
 * that fails breaks the queue, and the requests that it did not take are
 * cancelled with the others.
 *
 * A request that cannot be built for want of memory or slots goes back to
 * blk-mq, which tries again; nothing of it remains.
 *
 * queue_rq(), commit_rqs() and what poll() does run in an RCU read-side section. They
 * use a queue's resources only after they have seen it CONNECTED or LIVE, so
 * who closes a queue and waits for a grace period is alone with it. The core's
 * idea of readiness is not enough: it lets a Connect through in the state
 * CONNECTING, and everything in the state LIVE.
 */
#include "nvme_rdma.h"

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

static blk_status_t nvme_rdma_build_request(struct nvme_rdma_request *req)
{
	struct nvme_rdma_queue *queue = req->queue;
	int sges;

	sges = nvme_rdma_map_data(req);
	if (unlikely(sges < 0)) {
		if (sges == -ENOMEM)
			nvme_rdma_count(queue, NVME_RDMA_EV_NO_MEMORY);
		else if (sges == -EAGAIN)
			nvme_rdma_no_mr(queue);
		else
			nvme_rdma_queue_msg(err, queue,
					    "data of opcode %#x not mapped: error %d\n",
					    req->cmd.common.opcode, sges);
		return nvme_rdma_errno_status(sges);
	}
	if (unlikely(!nvme_rdma_take_credit(queue,
					    nvme_rdma_request_wrs(req)))) {
		nvme_rdma_count(queue, NVME_RDMA_EV_NO_SLOT);
		nvme_rdma_cq_kick(queue->cq);
		nvme_rdma_unmap_data(req);
		return BLK_STS_RESOURCE;
	}
	nvme_rdma_build_capsule(req, sges);
	return BLK_STS_OK;
}

/*
 * The controller is LIVE, and one of its queues is not. If that broke, this is as
 * nvme_rdma_recheck_queues(), should no event request come. If it was left idle, a
 * processor of its is online again: a reset connects at once.
 */
static void nvme_rdma_bring_back(struct nvme_rdma_queue *queue)
{
	if (READ_ONCE(queue->state) != NVME_RDMA_Q_IDLE)
		nvme_rdma_error_recovery(queue->ctrl);
	else if (!nvme_reset_ctrl(&queue->ctrl->ctrl))
		nvme_rdma_queue_msg(info, queue,
				    "wanted again: resetting the controller to connect it\n");
}

/*
 * Two commands in turn with one tag must not have one ID: a controller that answers the
 * first once more would complete the second. nvme-core counts the generation of an ID
 * by request. With an I/O scheduler, and for flushes, requests come to a tag from
 * elsewhere, each with a count of its own. So the request that was made with the tag
 * counts for them, too. Only the holder of the tag touches that count, and a tag passes
 * to its next holder with a barrier.
 */
static void nvme_rdma_number_command(struct request *rq)
{
	struct request *own = rq->mq_hctx->tags->static_rqs[rq->tag];
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);

	if (likely(rq == own))
		return;
	nvme_req(rq)->genctr = nvme_req(own)->genctr++;
	req->cmd.common.command_id = nvme_cid(rq);
}

static blk_status_t nvme_rdma_take_request(struct request_queue *q,
					   struct request *rq, bool last)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_ctrl *nctrl = &queue->ctrl->ctrl;
	blk_status_t ret;
	bool early;

	if (unlikely(!nvme_rdma_queue_usable(queue))) {
		/*
		 * Those of an authentication are to be tried again, for which
		 * who brings the queue up, or down, would wait in vain.
		 */
		if (nvme_is_fabrics(req->req.cmd))
			rq->cmd_flags |= REQ_FAILFAST_DRIVER;
		if (nvme_rdma_reroute(rq, &ret))
			return ret;
		if (nvme_ctrl_state(nctrl) == NVME_CTRL_LIVE)
			nvme_rdma_bring_back(queue);
		return nvme_fail_nonready_command(nctrl, rq);
	}
	if (!nvme_check_ready(nctrl, rq, nvme_rdma_queue_live(queue)))
		return nvme_fail_nonready_command(nctrl, rq);
	ret = nvme_setup_cmd(q->queuedata, rq);
	if (unlikely(ret))
		return ret;
	nvme_rdma_number_command(rq);
	/* newer cores leave 0, for the queue's. Data that waited for the queue keeps its own */
	if (unlikely(READ_ONCE(queue->ctrl->brief)) && blk_rq_is_passthrough(rq) &&
	    (!queue->qid || nvme_is_fabrics(req->req.cmd)))
		rq->timeout = min(rq->timeout ?: q->rq_timeout,
				  nvme_rdma_fabrics_tmo * HZ);
	WRITE_ONCE(req->aborted, false);
	WRITE_ONCE(req->ending, false);
	/* which sets the reference tags of what is written, before it is mapped */
	early = blk_integrity_rq(rq) && rq_data_dir(rq) == WRITE;
	if (unlikely(early))
		nvme_start_request(rq);
	ret = nvme_rdma_build_request(req);
	if (unlikely(ret)) {
		nvme_cleanup_cmd(rq);
		return ret;
	}
	/* Behind all that may fail: blk-mq ends what fails without the core's knowledge */
	if (likely(!early))
		nvme_start_request(rq);
	nvme_rdma_append(req, last);
	return BLK_STS_OK;
}

/**
 * nvme_rdma_queue_rq() - blk-mq hands over a request
 * @hctx: its hardware context
 * @bd: the request, and whether it is the last of a batch
 *
 * Context: process, under blk-mq's dispatch protection.
 * Return: BLK_STS_OK if the request is under way or has been completed.
 */
blk_status_t nvme_rdma_queue_rq(struct blk_mq_hw_ctx *hctx,
				const struct blk_mq_queue_data *bd)
{
	struct nvme_rdma_queue *queue = hctx->driver_data;
	blk_status_t ret;

	ret = nvme_rdma_take_request(hctx->queue, bd->rq, bd->last);
	/*
	 * blk-mq does not call commit_rqs() behind a last request, even when
	 * that one was not appended.
	 */
	if (bd->last && unlikely(READ_ONCE(queue->pending)))
		nvme_rdma_post_pending(queue);
	return ret;
}

/**
 * nvme_rdma_commit_rqs() - blk-mq has no more requests for now
 * @hctx: the hardware context
 *
 * Context: as nvme_rdma_queue_rq().
 */
void nvme_rdma_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	nvme_rdma_post_pending(hctx->driver_data);
}

/**
 * nvme_rdma_poll_queue() - handle what a polled queue's CQ holds
 * @queue: the queue, of any kind
 * @iob: where the caller ends requests in one go, or NULL
 *
 * Several CPUs may poll a queue; who comes while another is at it has nothing
 * to do.
 *
 * Context: any. Return: completions found; 0 for a queue with interrupts.
 */
int nvme_rdma_poll_queue(struct nvme_rdma_queue *queue,
			 struct io_comp_batch *iob)
{
	int found = 0;

	if (!nvme_rdma_polled(queue))
		return 0;
	rcu_read_lock();
	if (nvme_rdma_queue_usable(queue) &&
	    !test_and_set_bit_lock(0, &queue->polling)) {
		queue->done.polls += NVME_RDMA_COUNTS;
		queue->iob = iob ?: &queue->batch;
		found = nvme_rdma_cq_poll(queue->cq);
		queue->iob = &queue->batch;
		clear_bit_unlock(0, &queue->polling);
	}
	rcu_read_unlock();
	return found;
}

/**
 * nvme_rdma_poll() - look for completions of a polled queue
 * @hctx: the hardware context
 * @iob: where the caller ends requests in one go, or NULL
 *
 * While a queue is not LIVE, the only one to poll it is the sender of its
 * Connect, in blk_execute_rq(), which would spin for a network round trip: many
 * queues connect at once, so it sleeps a little.
 *
 * Context: process. Return: completions found.
 */
int nvme_rdma_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct nvme_rdma_queue *queue = hctx->driver_data;
	int found = nvme_rdma_poll_queue(queue, iob);

	if (unlikely(!found && hctx->queue == queue->ctrl->ctrl.connect_q))
		usleep_range(100, 200);
	return found;
}

/* What is ours of a request ends */
static void nvme_rdma_end_rq(struct request *rq)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);

	/*
	 * Events are still due only where the request was cancelled, and then
	 * its queue is drained. Nothing may find the bits later.
	 */
	if (unlikely(atomic_read(&req->waits))) {
		WARN_ON_ONCE(!nvme_rdma_queue_drained(req->queue));
		atomic_set(&req->waits, 0);
	}
	nvme_rdma_unmap_data(req);
}

/**
 * nvme_rdma_complete_rq() - a request is done, well or not
 * @rq: the request, which no device touches any more
 *
 * Context: any.
 */
void nvme_rdma_complete_rq(struct request *rq)
{
	nvme_rdma_end_rq(rq);
	nvme_complete_rq(rq);
}

/**
 * nvme_rdma_complete_batch() - several requests are done, and well
 * @iob: they
 *
 * Context: any.
 */
void nvme_rdma_complete_batch(struct io_comp_batch *iob)
{
	nvme_complete_batch(iob, nvme_rdma_end_rq);
}
