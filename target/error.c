// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a queue, and what ends it.
 *
 * These functions may be called from any file, and in any context but where noted. A queue is
 * ended by a change of its state. The call that changes it queues the release work, which owns
 * the queue from then on (release.c).
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "error.h"
#include "trace.h"
#include "wq.h"

/**
 * nvmet_rdma_queue_move() - change the state of a queue; nothing else does
 * @queue: the queue, its lock held
 * @to: the state to enter
 *
 * Context: any. Return: false if the table of state.c has no such move.
 */
bool nvmet_rdma_queue_move(struct nvmet_rdma_queue *queue,
			   enum nvmet_rdma_queue_state to)
{
	lockdep_assert_held(&queue->lock);
	if (!nvmet_rdma_queue_may_move(queue->state, to))
		return false;
	trace_nvmet_rdma_queue_state(queue, to);
	WRITE_ONCE(queue->state, to);
	return true;
}

/**
 * nvmet_rdma_queue_is_live() - is the queue established and not being ended?
 * @queue: the queue
 *
 * Context: any. Return: what was true a moment ago.
 */
bool nvmet_rdma_queue_is_live(struct nvmet_rdma_queue *queue)
{
	return READ_ONCE(queue->state) == NVMET_RDMA_Q_LIVE;
}

/**
 * nvmet_rdma_queue_release() - queue the release work of a queue
 * @queue: the queue, its lock held, published and DISCONNECTING
 * @was_live: it was LIVE before
 *
 * Over iWARP, an accepted connection cannot be ended before the host sends its first frame:
 * rdma_disconnect() and rdma_destroy_id() wait for that, with software iWARP for ever. So
 * releases of these have a workqueue of their own, and do not delay others.
 *
 * Context: any.
 */
void nvmet_rdma_queue_release(struct nvmet_rdma_queue *queue, bool was_live)
{
	bool waits = !was_live &&
		     rdma_protocol_iwarp(queue->dev->ib, queue->cm_id->port_num);

	queue_work(waits ? nvmet_rdma_unestablished_wq : queue->dev->release_wq,
		   &queue->release_work);
}

/* Queues that are unfinished, see unfinished.c */
atomic_t nvmet_rdma_nr_unfinished;

/**
 * nvmet_rdma_mark_unfinished() - a queue has ended, and a disk may still have commands of it
 * @queue: the queue
 *
 * Context: any, with the queue's lock.
 */
void nvmet_rdma_mark_unfinished(struct nvmet_rdma_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	if (queue->unfinished)
		return;
	queue->ended_at = jiffies;
	/* Pairs with nvmet_rdma_host_unfinished() */
	smp_store_release(&queue->unfinished, true);
	atomic_inc(&nvmet_rdma_nr_unfinished);
}

/**
 * nvmet_rdma_queue_disconnect() - end a queue
 * @queue: the queue, which is released some time later
 *
 * Context: any.
 */
void nvmet_rdma_queue_disconnect(struct nvmet_rdma_queue *queue)
{
	unsigned long flags;
	bool was_live;

	spin_lock_irqsave(&queue->lock, flags);
	was_live = queue->state == NVMET_RDMA_Q_LIVE;
	if (nvmet_rdma_queue_move(queue, NVMET_RDMA_Q_DISCONNECTING)) {
		/* An admin queue stands for I/O queues whose end is not known, and ends them */
		if (queue->authenticated && (!queue->qid || nvmet_rdma_outstanding(queue)))
			nvmet_rdma_mark_unfinished(queue);
		if (queue->published)
			nvmet_rdma_queue_release(queue, was_live);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
}

/**
 * nvmet_rdma_queue_fail() - end a queue, and its controller with it
 * @queue: the queue; the caller has logged why
 *
 * A transport error ends the association of host and controller (NVMe over
 * Fabrics, "Transport Error"), so that the host does not find one queue dead
 * and go on with the others.
 *
 * Context: any.
 */
void nvmet_rdma_queue_fail(struct nvmet_rdma_queue *queue)
{
	WRITE_ONCE(queue->failed, true);
	nvmet_rdma_queue_disconnect(queue);
}

/**
 * nvmet_rdma_wc_failed() - a work request completed in error
 * @queue: its queue
 * @wc: its completion
 * @what: what it was, for the log
 *
 * A flush follows from another reason for the end of the connection. It may be the only
 * sign of that, where the device has no event for a QP in error.
 *
 * Context: any.
 */
void nvmet_rdma_wc_failed(struct nvmet_rdma_queue *queue,
			  const struct ib_wc *wc, const char *what)
{
	trace_nvmet_rdma_work_failed(queue, wc);
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		nvmet_rdma_event(queue, NVMET_RDMA_EV_FLUSH);
		nvmet_rdma_queue_disconnect(queue);
		return;
	}
	nvmet_rdma_event(queue, NVMET_RDMA_EV_WC_ERROR);
	if (nvmet_rdma_queue_is_live(queue))
		nvmet_rdma_queue_warn(queue,
				      "%s failed: %s (vendor error %#x); closing the connection, see the host's log and the fabric\n",
				      what, ib_wc_status_msg(wc->status),
				      wc->vendor_err);
	nvmet_rdma_queue_fail(queue);
}

/**
 * nvmet_rdma_completed_twice() - completion handler of work requests that are not posted
 * @cq: the completion queue
 * @wc: a completion of one that has completed before
 *
 * A second completion would use a receive or a response twice. So this replaces the handler
 * from the first completion until the work request is posted again.
 *
 * Context: a completion handler of the queue.
 */
void nvmet_rdma_completed_twice(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_queue *queue = wc->qp->qp_context;

	nvmet_rdma_event(queue, NVMET_RDMA_EV_WC_ERROR);
	nvmet_rdma_queue_warn(queue,
			      "%s completed the same work request twice; closing the connection, check the device and its firmware\n",
			      queue->dev->ib->name);
	nvmet_rdma_queue_fail(queue);
}

/**
 * nvmet_rdma_count_refusal() - count a rejected connection request
 * @port: the port that it came to
 * @peer: the host's address
 * @qid: the queue that it asked for; 0 if that is not known
 * @why: the reason
 *
 * Context: any.
 */
void nvmet_rdma_count_refusal(struct nvmet_rdma_port *port,
			      const struct sockaddr_storage *peer, u16 qid,
			      enum nvmet_rdma_refusal why)
{
	atomic64_inc(&port->refused[why]);
	trace_nvmet_rdma_refused(port, peer, qid, why);
}
