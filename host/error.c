// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of a queue: its state, and the start of recovery.
 *
 * Every error ends in nvme_rdma_break_queue(): the queue moves to FAILED, which
 * wakes the context that connects it, and recovery starts if the controller is
 * LIVE. If it is not, the abort work ends the commands of the queue. The first
 * error of a queue is the one that is reported.
 *
 * Nothing here sleeps: completion handlers and CM callbacks call these functions.
 * The works that they queue are those of recovery.c.
 */
#include "ctrl.h"
#include "error.h"
#include "trace.h"

/*
 * Resets and creations wait for requests that the abort work ends. Both run in workqueues of
 * the core. When no worker can be had, such a workqueue has one thread for all its works.
 * So the abort work does not run there.
 */
struct workqueue_struct *nvme_rdma_abort_wq;

/**
 * nvme_rdma_move_queue() - move a queue to another state; nothing else writes it
 * @queue: the queue
 * @to: the new state
 *
 * Context: @queue->state_lock held. Return: true if the queue moved, false if
 * the table has no such move and the queue stays where it is.
 */
bool nvme_rdma_move_queue(struct nvme_rdma_queue *queue,
			  enum nvme_rdma_queue_state to)
{
	lockdep_assert_held(&queue->state_lock);
	if (!nvme_rdma_queue_may_move(queue->state, to))
		return false;
	trace_nvme_rdma_queue_state(queue, to);
	/* pairs with nvme_rdma_queue_usable() and nvme_rdma_queue_live() */
	smp_store_release(&queue->state, to);
	wake_up_all(&queue->state_wait);
	return true;
}

/**
 * nvme_rdma_fail_queue() - mark a queue as failed
 * @queue: the queue
 * @error: negative errno for the context that waits for the connection
 *
 * The first error is kept.
 *
 * Context: any; does not sleep. Return: true for the first failure.
 */
bool nvme_rdma_fail_queue(struct nvme_rdma_queue *queue, int error)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&queue->state_lock, flags);
	first = nvme_rdma_move_queue(queue, NVME_RDMA_Q_FAILED);
	if (first)
		queue->error = error;
	spin_unlock_irqrestore(&queue->state_lock, flags);
	return first;
}

/**
 * nvme_rdma_recover_from() - start recovery from a state of the controller
 * @ctrl: the controller
 * @state: LIVE, or RESETTING of which the caller is the owner
 *
 * A deletion that comes after the state change waits for the work, so the work
 * must be queued by then: nvme_rdma_stop_ctrl() passes through err_lock.
 *
 * Context: any; does not sleep. Return: true if this call started recovery.
 */
bool nvme_rdma_recover_from(struct nvme_rdma_ctrl *ctrl,
			    enum nvme_ctrl_state state)
{
	unsigned long flags;
	bool mine;

	spin_lock_irqsave(&ctrl->err_lock, flags);
	mine = nvme_ctrl_state(&ctrl->ctrl) == state &&
	       (state == NVME_CTRL_RESETTING ||
		nvme_change_ctrl_state(&ctrl->ctrl, NVME_CTRL_RESETTING));
	if (mine)
		queue_work(nvme_reset_wq, &ctrl->err_work);
	spin_unlock_irqrestore(&ctrl->err_lock, flags);
	if (mine)
		trace_nvme_rdma_recovery(ctrl, 0, 0);
	return mine;
}

/**
 * nvme_rdma_error_recovery() - start recovery of a LIVE controller
 * @ctrl: the controller
 *
 * Does nothing in any other state: another context owns its queues then.
 *
 * Context: any; does not sleep. Return: true if this call started recovery.
 */
bool nvme_rdma_error_recovery(struct nvme_rdma_ctrl *ctrl)
{
	bool mine = nvme_rdma_recover_from(ctrl, NVME_CTRL_LIVE);

	if (mine)
		dev_warn(ctrl->ctrl.device, "starting error recovery\n");
	return mine;
}

/**
 * nvme_rdma_break_queue() - mark a queue as failed and start recovery
 * @queue: the queue
 * @error: negative errno for the context that waits for its connection
 *
 * Context: any; does not sleep. Return: true for the first failure of the queue.
 */
bool nvme_rdma_break_queue(struct nvme_rdma_queue *queue, int error)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	bool first = nvme_rdma_fail_queue(queue, error);
	bool recovers = nvme_rdma_error_recovery(ctrl);

	if (first && !recovers)
		queue_work(nvme_rdma_abort_wq, &ctrl->abort_work);
	return first;
}

/**
 * nvme_rdma_recheck_queues() - recover if a queue broke without starting recovery
 * @ctrl: the controller, which has just become LIVE
 *
 * That is a queue which broke after its own Connect and before the controller was LIVE,
 * or while the core waited for a firmware activation. An idle queue has no CPU and was
 * not connected.
 *
 * Context: any; does not sleep.
 */
void nvme_rdma_recheck_queues(struct nvme_rdma_ctrl *ctrl)
{
	int i;

	for (i = 0; i < ctrl->ctrl.queue_count; i++) {
		enum nvme_rdma_queue_state state =
			READ_ONCE(ctrl->queues[i].state);

		if (state != NVME_RDMA_Q_LIVE && state != NVME_RDMA_Q_IDLE)
			nvme_rdma_error_recovery(ctrl);
	}
}

/**
 * nvme_rdma_work_failed() - a work request completed with an error
 * @queue: the queue
 * @wc: the work completion
 * @what: the work request, for the message
 *
 * A flush is reported only if no other error was. While the queue connects, it is
 * ignored: the CM flushes the receives of a rejected request before it reports the
 * rejection, which is the error that the connecting context shall return.
 *
 * Context: any; does not sleep.
 */
void nvme_rdma_work_failed(struct nvme_rdma_queue *queue,
			   const struct ib_wc *wc, const char *what)
{
	bool first;

	trace_nvme_rdma_work_failed(queue, wc);
	nvme_rdma_count(queue, wc->status == IB_WC_WR_FLUSH_ERR ?
			NVME_RDMA_EV_FLUSH : NVME_RDMA_EV_WC_ERROR);
	if (wc->status == IB_WC_WR_FLUSH_ERR &&
	    READ_ONCE(queue->state) == NVME_RDMA_Q_CONNECTING)
		return;
	first = nvme_rdma_break_queue(queue, -EIO);
	if (first || wc->status != IB_WC_WR_FLUSH_ERR)
		nvme_rdma_queue_msg(err, queue,
				    "%s failed: %s (%d), vendor code %#x\n",
				    what, ib_wc_status_msg(wc->status),
				    wc->status, wc->vendor_err);
}

/**
 * nvme_rdma_protocol_error() - the controller or the device broke the protocol
 * @queue: the queue; its connection ends
 * @fmt: the message, without a newline; printed once for a connection
 *
 * Context: any; does not sleep.
 */
void nvme_rdma_protocol_error(struct nvme_rdma_queue *queue, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	nvme_rdma_count(queue, NVME_RDMA_EV_PROTOCOL);
	if (!nvme_rdma_break_queue(queue, -EPROTO))
		return;
	va_start(args, fmt);
	vaf.va = &args;
	nvme_rdma_queue_msg(err, queue, "%pV\n", &vaf);
	va_end(args);
}

/**
 * nvme_rdma_completed_twice() - the device completed a work request twice
 * @queue: the queue; its connection ends
 * @what: the work request, for the message
 *
 * Context: CQ.
 */
void nvme_rdma_completed_twice(struct nvme_rdma_queue *queue, const char *what)
{
	nvme_rdma_protocol_error(queue,
				 "a %s completed twice: check the device and its firmware",
				 what);
}
