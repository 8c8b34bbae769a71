// SPDX-License-Identifier: GPL-2.0
/*
 * A wire that takes time (the parameter delay_ns).
 *
 * Operation: post_send only queues a message and notes when it arrives, which is delay_ns
 * later. A timer of the QP executes it then, in an interrupt of the CPU that started the
 * timer. Its acknowledgment, or the answer to an RDMA READ, takes as long again: then the work
 * request completes. So nothing is answered before delay_ns, and post_send does nothing of the
 * peer's. Work that needs no peer (REG_MR, LOCAL_INV) takes no time; a datagram completes when
 * it has arrived, because nothing acknowledges it.
 *
 * Order: messages arrive in the order of the send queue, and work completes in it. Each work
 * request has one time, vrnic_swqe.at: of its arrival, until it is executed (sq_next), then of
 * its acknowledgment, until it is completed (sq_acked). The latter never decreases along the
 * queue.
 *
 * Memory: it is read and written when the message arrives. Until the completion it is the
 * device's, as on hardware, which may read it again. Memory that an RDMA READ fills is written
 * a delay before the answer is back.
 *
 * Waiting: no more RDMA READs are under way than max_rd_atomic; the next one, and a fenced work
 * request behind any, goes on the wire when an answer is back. A message that finds no receive
 * is sent again when its NAK has come and the peer's time is over; it and what is behind it
 * then take the way once more.
 *
 * Failure: of a work request that fails, the peer's answer takes its time, too. Nothing behind
 * it is executed any more, and when the answer is back the QP goes into the error state. A QP
 * that goes there flushes all that is not acknowledged, whether it had its effect or not.
 *
 * All of this is under sq_lock. The timer starts only in RTS; qp_reset() cancels it in the
 * state RESET, after which it cannot start.
 */

#include "vrnic.h"

/* Work of the device alone, without a message */
static bool is_local(const struct vrnic_swqe *wqe)
{
	return wqe->kind == VRNIC_REG || wqe->kind == VRNIC_INV;
}

/* Its acknowledgment has an effect: a completion, a failure, or room for another READ */
static bool matters(const struct vrnic_qp *qp, const struct vrnic_swqe *wqe)
{
	return wqe->status || wqe->flags & IB_SEND_SIGNALED || qp->sq_all ||
	       wqe->kind == VRNIC_READ || qp->dev->config.ack_lag;
}

/* A dead device does nothing until its QPs are in the error state */
static bool works(const struct vrnic_qp *qp)
{
	return qp->state == IB_QPS_RTS && !READ_ONCE(qp->dev->dead);
}

static enum hrtimer_restart wire_timeout(struct hrtimer *timer)
{
	struct vrnic_qp *qp = container_of(timer, struct vrnic_qp, wire.timer);
	unsigned long flags;

	spin_lock_irqsave(&qp->sq_lock, flags);
	vrnic_sq_run(qp);
	spin_unlock_irqrestore(&qp->sq_lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * vrnic_wire_init() - the wire of a new QP
 * @qp: the QP
 */
void vrnic_wire_init(struct vrnic_qp *qp)
{
	qp->wire.delay = qp->dev->config.delay_ns;
	qp->wire.tell = KTIME_MAX;
	hrtimer_setup(&qp->wire.timer, wire_timeout, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED);
}

/**
 * vrnic_wire_posted() - work requests were posted, and go on the wire
 * @qp: the QP
 * @first: the first of them
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_wire_posted(struct vrnic_qp *qp, u32 first)
{
	ktime_t now = ktime_get();
	u32 i;

	lockdep_assert_held(&qp->sq_lock);
	for (i = first; i != qp->sq_head; i++) {
		struct vrnic_swqe *wqe = vrnic_swqe(qp, i);

		wqe->stalled = false;
		wqe->at = is_local(wqe) ? now : now + qp->wire.delay;
	}
}

/* The next acknowledgment that matters; with ack_lag, those that are back may still wait */
static void find_next_to_tell(struct vrnic_qp *qp)
{
	u32 i;

	qp->wire.tell = KTIME_MAX;
	for (i = qp->sq_acked; i != qp->sq_next; i++) {
		const struct vrnic_swqe *wqe = vrnic_swqe(qp, i);

		if (wqe->at > qp->wire.now && matters(qp, wqe)) {
			qp->wire.tell = wqe->at;
			return;
		}
	}
}

/**
 * vrnic_wire_begin() - take what has come back, before more is executed
 * @qp: the QP
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_wire_begin(struct vrnic_qp *qp)
{
	struct vrnic_wire *wire = &qp->wire;

	lockdep_assert_held(&qp->sq_lock);
	wire->now = ktime_get();
	if (!works(qp))
		return;
	vrnic_sq_ack(qp, wire->failed ? 0 : qp->dev->config.ack_lag);
	if (wire->failed && qp->sq_acked == qp->sq_next)
		vrnic_qp_error(qp);
	else if (wire->tell <= wire->now)
		find_next_to_tell(qp);
}

/* It may not be sent before an answer to a READ is back. iWARP has no limit of its own. */
static bool stalls(const struct vrnic_qp *qp, const struct vrnic_swqe *wqe)
{
	if (!qp->wire.reads)
		return false;
	if (wqe->flags & IB_SEND_FENCE)
		return true;
	return wqe->kind == VRNIC_READ && qp->attr.max_rd_atomic &&
	       qp->wire.reads >= qp->attr.max_rd_atomic;
}

/**
 * vrnic_wire_arrived() - whether a work request can be executed
 * @qp: the QP
 * @wqe: the next one
 *
 * Context: any; interrupts are off, sq_lock is held.
 * Return: whether it has arrived
 */
bool vrnic_wire_arrived(struct vrnic_qp *qp, struct vrnic_swqe *wqe)
{
	struct vrnic_wire *wire = &qp->wire;

	lockdep_assert_held(&qp->sq_lock);
	if (wire->failed)
		return false;
	if (stalls(qp, wqe)) {
		wqe->stalled = true;
		return false;
	}
	if (wqe->stalled) {
		wqe->stalled = false;
		wqe->at = wire->now + (is_local(wqe) ? 0 : wire->delay);
	}
	return wqe->at <= wire->now;
}

/**
 * vrnic_wire_executed() - a work request was executed: its acknowledgment goes back
 * @qp: the QP
 * @wqe: the work request, with its status
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_wire_executed(struct vrnic_qp *qp, struct vrnic_swqe *wqe)
{
	struct vrnic_wire *wire = &qp->wire;
	bool answered = qp->ibqp.qp_type == IB_QPT_RC && !is_local(wqe);

	lockdep_assert_held(&qp->sq_lock);
	wire->last = max(wire->last, wire->now + (answered ? wire->delay : 0));
	wqe->at = wire->last;
	if (wqe->kind == VRNIC_READ)
		wire->reads++;
	if (wqe->status)
		wire->failed = true;
	if (wqe->at > wire->now && matters(qp, wqe))
		wire->tell = min(wire->tell, wqe->at);
}

/**
 * vrnic_wire_answered() - whether a work request can be completed
 * @qp: the QP
 * @wqe: its first one that is not
 *
 * Context: any; interrupts are off, sq_lock is held.
 * Return: whether its acknowledgment is back; then the caller completes it
 */
bool vrnic_wire_answered(struct vrnic_qp *qp, const struct vrnic_swqe *wqe)
{
	lockdep_assert_held(&qp->sq_lock);
	if (wqe->at > qp->wire.now)
		return false;
	/* A READ that is flushed may not have been executed */
	if (wqe->kind == VRNIC_READ && qp->wire.reads)
		qp->wire.reads--;
	return true;
}

/**
 * vrnic_wire_next() - start the timer for the next arrival
 * @qp: the QP
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_wire_next(struct vrnic_qp *qp)
{
	struct vrnic_wire *wire = &qp->wire;
	ktime_t at = wire->tell;

	lockdep_assert_held(&qp->sq_lock);
	if (!works(qp))
		return;
	if (qp->sq_next != qp->sq_head && !qp->sq_waits && !wire->failed) {
		const struct vrnic_swqe *wqe = vrnic_swqe(qp, qp->sq_next);

		/* One that stalls goes on when an answer is back, which matters */
		if (!wqe->stalled)
			at = min(at, wqe->at);
	}
	/* A timer that has fired and waits for sq_lock is not queued */
	if (at != KTIME_MAX && !(hrtimer_is_queued(&wire->timer) &&
				 hrtimer_get_expires(&wire->timer) <= at))
		hrtimer_start(&wire->timer, at, HRTIMER_MODE_ABS_PINNED);
}

/**
 * vrnic_wire_hurry() - what is on the wire arrives now, and is acknowledged
 * @qp: the QP, whose connection closes behind it
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_wire_hurry(struct vrnic_qp *qp)
{
	u32 i;

	lockdep_assert_held(&qp->sq_lock);
	if (!qp->wire.delay || !works(qp))
		return;
	for (i = qp->sq_acked; i != qp->sq_head; i++)
		vrnic_swqe(qp, i)->at = 0;
	qp->wire.last = 0;
	vrnic_sq_run(qp);
	for (i = qp->sq_acked; i != qp->sq_next; i++)
		vrnic_swqe(qp, i)->at = 0;
}

/**
 * vrnic_wire_reset() - the wire of a QP is empty
 * @qp: the QP, in the state RESET
 *
 * Context: may sleep.
 */
void vrnic_wire_reset(struct vrnic_qp *qp)
{
	struct vrnic_wire *wire = &qp->wire;

	hrtimer_cancel(&wire->timer);
	spin_lock_irq(&qp->sq_lock);
	wire->reads = 0;
	wire->failed = false;
	wire->last = 0;
	wire->tell = KTIME_MAX;
	spin_unlock_irq(&qp->sq_lock);
}
