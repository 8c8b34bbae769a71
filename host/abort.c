// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that time out: send an Abort, or recover.
 *
 * A command that times out does not mean a lost connection: the QP of a peer that is gone
 * fails within seconds. So the first timeout of an I/O command sends an Abort for it and
 * restarts its timer. An aborted command is retried; other commands are not affected.
 * Recovery, which ends all of them, starts with the second timeout, with the timeout of
 * the Abort command, and if an aborted command can use another path. If the disk has
 * another path already, recovery starts with the first timeout.
 *
 * The controller limits the number of Abort commands (ACL). If none is left, the command
 * waits, and its timer is restarted.
 */
#include "completion.h"
#include "conn.h"
#include "ctrl.h"
#include "error.h"
#include "io.h"
#include "trace.h"

static NVME_RDMA_END_IO(nvme_rdma_abort_done)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_ctrl *nctrl = &req->queue->ctrl->ctrl;
	const struct nvme_abort_cmd *abort = &req->cmd.abort;

	/* bit 0 of the result is set if the command was not aborted */
	dev_warn_ratelimited(nctrl->device,
			     "Abort of command ID %#x of queue %u: %s (status %#x)\n",
			     abort->cid, le16_to_cpu(abort->sqid),
			     status ? "failed" :
			     le32_to_cpu(req->result.u32) & 1 ?
			     "the controller could not" : "done",
			     nvme_req(rq)->status);
	atomic_inc(&nctrl->abort_limit);
	blk_mq_free_request(rq);
	return RQ_END_IO_NONE;
}

/* Context: process. Return: false if no Abort can be sent. */
static bool nvme_rdma_send_abort(struct nvme_rdma_queue *queue, u16 cid)
{
	struct nvme_ctrl *nctrl = &queue->ctrl->ctrl;
	struct nvme_command cmd = {
		.abort.opcode	= nvme_admin_abort_cmd,
		.abort.cid	= cid,
		.abort.sqid	= cpu_to_le16(queue->qid),
	};
	struct request *rq;

	rq = blk_mq_alloc_request(nctrl->admin_q, REQ_OP_DRV_IN,
				  BLK_MQ_REQ_NOWAIT);
	if (IS_ERR(rq))
		return false;
	nvme_init_request(rq, &cmd);
	rq->end_io = nvme_rdma_abort_done;
	blk_execute_rq_nowait(rq, false);
	nvme_rdma_count(queue, NVME_RDMA_EV_ABORT);
	return true;
}

/* What to do about a request that timed out */
enum nvme_rdma_late {
	NVME_RDMA_LATE_ANSWERED,	/* nothing, it has just completed */
	NVME_RDMA_LATE_ENDING,		/* wait, only its SEND or key is outstanding */
	NVME_RDMA_LATE_RECOVER,		/* recover, no Abort can help */
	NVME_RDMA_LATE_ABORTING,	/* wait, an Abort was sent */
	NVME_RDMA_LATE_QUEUED,		/* wait, no Abort can be sent yet */
};

static enum nvme_rdma_late nvme_rdma_try_abort(struct request *rq)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_ctrl *nctrl = &queue->ctrl->ctrl;

	/* After its response, a request is completed, or waits for its SEND or its key */
	if (!nvme_rdma_waits_for(req, NVME_RDMA_WAIT_RESPONSE)) {
		if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
			return NVME_RDMA_LATE_ANSWERED;
		if (req->timed_out)
			return NVME_RDMA_LATE_RECOVER;
		WRITE_ONCE(req->timed_out, true);
		return NVME_RDMA_LATE_ENDING;
	}
	if (!queue->qid || req->aborted || !nvme_rdma_queue_live(queue) ||
	    (rq->cmd_flags & REQ_NVME_MPATH &&
	     nvme_rdma_has_other_path(rq->q->queuedata)))
		return NVME_RDMA_LATE_RECOVER;
	if (atomic_dec_if_positive(&nctrl->abort_limit) < 0)
		return NVME_RDMA_LATE_QUEUED;
	WRITE_ONCE(req->aborted, true);
	/* the request has another ID if its response comes just now, and it is used again */
	if (nvme_rdma_send_abort(queue, req->cmd.common.command_id))
		return NVME_RDMA_LATE_ABORTING;
	atomic_inc(&nctrl->abort_limit);
	return NVME_RDMA_LATE_RECOVER;
}

static void nvme_rdma_report_late(struct request *rq, enum nvme_rdma_late late)
{
	static const char * const what[] = {
		[NVME_RDMA_LATE_RECOVER] = "; ending the connection",
		[NVME_RDMA_LATE_ABORTING] =
			"; asking the controller to abort it",
		[NVME_RDMA_LATE_QUEUED]	  =
			"; waiting until the controller answers an earlier Abort",
	};
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_queue *queue = req->queue;

	nvme_rdma_count(queue, NVME_RDMA_EV_TIMEOUT);
	trace_nvme_rdma_timeout(req, late == NVME_RDMA_LATE_ABORTING);
	nvme_rdma_queue_msg(warn, queue,
			    "tag %d opcode %#x: no response within %u s%s%s%s%s\n",
			    rq->tag, req->cmd.common.opcode, rq->timeout / HZ,
			    nvme_rdma_waits_for(req, NVME_RDMA_WAIT_SEND) ?
			    "; SEND not completed" : "",
			    nvme_rdma_waits_for(req, NVME_RDMA_WAIT_RESPONSE) ?
			    "; response not received" : "",
			    nvme_rdma_waits_for(req, NVME_RDMA_WAIT_INVALIDATE) ?
			    "; key not invalidated" : "", what[late]);
}

/*
 * Handle completions that no context has polled for, or whose interrupt was lost. The lock
 * keeps the completion queue: a context that drains or frees it has closed the queue
 * before, and handles the completions itself.
 */
static void nvme_rdma_process_cq(struct nvme_rdma_queue *queue)
{
	if (nvme_rdma_polled(queue)) {
		nvme_rdma_poll_queue(queue, NULL);
		return;
	}
	if (!nvme_rdma_queue_usable(queue))
		return;
	mutex_lock(&queue->stop_lock);
	if (nvme_rdma_queue_usable(queue))
		nvme_rdma_cq_flush(queue->cq);
	mutex_unlock(&queue->stop_lock);
}

/**
 * nvme_rdma_timeout() - handle a request that timed out
 * @rq: the request
 *
 * On a LIVE controller, send an Abort, or start recovery, which completes the request. In
 * any other state, a context that brings the queues up or down may wait for this request:
 * the abort work drains its queue and completes it. That is not done here, as recovery
 * waits for this handler before it flushes the queues, and freeing the MRs may hang in the
 * driver of the device.
 *
 * Context: process (blk-mq's timeout work).
 * Return: BLK_EH_DONE if the request is completed, else BLK_EH_RESET_TIMER.
 */
enum blk_eh_timer_return nvme_rdma_timeout(struct request *rq)
{
	enum nvme_rdma_late late = NVME_RDMA_LATE_RECOVER;
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	bool live;

	/*
	 * Requests complete while blk-mq iterates over those that timed out: hundreds of
	 * them after a guest or a target was paused
	 */
	nvme_rdma_process_cq(queue);
	if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
		return BLK_EH_DONE;

	live = nvme_ctrl_state(&ctrl->ctrl) == NVME_CTRL_LIVE;
	if (live)
		late = nvme_rdma_try_abort(rq);
	if (late == NVME_RDMA_LATE_ANSWERED)
		return BLK_EH_DONE;
	if (late == NVME_RDMA_LATE_ENDING)
		return BLK_EH_RESET_TIMER;
	nvme_rdma_report_late(rq, late);
	if (late != NVME_RDMA_LATE_RECOVER)
		return BLK_EH_RESET_TIMER;
	if (live) {
		nvme_rdma_error_recovery(ctrl);
		return BLK_EH_RESET_TIMER;
	}
	/*
	 * If it did not time out, the owner has completed it and connects the queue again.
	 * The owner waits for the work after it has freed the queue, and when no timeout can
	 * happen any more. The controller may have become LIVE since its state was read.
	 */
	if (nvme_rdma_fail_late_queue(queue, rq) &&
	    !nvme_rdma_error_recovery(ctrl))
		queue_work(nvme_rdma_abort_wq, &ctrl->abort_work);
	return blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT ?
		BLK_EH_RESET_TIMER : BLK_EH_DONE;
}
