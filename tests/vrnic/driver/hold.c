// SPDX-License-Identifier: GPL-2.0
/*
 * Completions that meet a fault: held back, doubled, lost.
 *
 * A completion of a queue that is held back waits behind the earlier ones (hold_pass()): a
 * queue keeps its order.
 */

#include <linux/hrtimer.h>
#include <linux/slab.h>
#include "vrnic.h"

#define REORDER_WAIT	NSEC_PER_SEC

static struct vrnic_cq *cq_of(const struct vrnic_qp *qp, enum vrnic_queue queue)
{
	return to_vcq(queue == VRNIC_SQ ? qp->ibqp.send_cq : qp->ibqp.recv_cq);
}

/* Delivers held-back completions, in their order */
static void hold_release(struct vrnic_qp *qp, enum vrnic_queue queue)
{
	struct vrnic_hold *hold = &qp->hold[queue];
	u32 i;

	for (i = 0; i < hold->n; i++)
		vrnic_cq_add(cq_of(qp, queue), &hold->cqe[i], true);
	kfree(hold->cqe);
	memset(hold, 0, sizeof(*hold));
}

/* A completion of a queue has come: that was all that a reorder of the other waits for */
static void hold_met(struct vrnic_qp *qp, enum vrnic_queue queue)
{
	struct vrnic_hold *other = &qp->hold[!queue];

	if (other->reorder) {
		other->reorder = false;
		other->until = other->delay;
	}
}

/* Delivers what is due, and starts the timer for the rest */
static void hold_next(struct vrnic_qp *qp)
{
	ktime_t now = ktime_get(), at = KTIME_MAX;
	int i;

	lockdep_assert_held(&qp->hold_lock);
	/* The first queue once more: it may have waited for the other one */
	for (i = 0; i < 3; i++) {
		if (qp->hold[i % 2].n && qp->hold[i % 2].until <= now) {
			hold_release(qp, i % 2);
			hold_met(qp, i % 2);
		}
	}
	for (i = 0; i < 2; i++) {
		if (qp->hold[i].n)
			at = min(at, qp->hold[i].until);
	}
	WRITE_ONCE(qp->held, at != KTIME_MAX);
	if (at != KTIME_MAX)
		hrtimer_start(&qp->hold_timer, at, HRTIMER_MODE_ABS);
}

static enum hrtimer_restart hold_timeout(struct hrtimer *timer)
{
	struct vrnic_qp *qp = container_of(timer, struct vrnic_qp, hold_timer);
	unsigned long flags;

	spin_lock_irqsave(&qp->hold_lock, flags);
	hold_next(qp);
	spin_unlock_irqrestore(&qp->hold_lock, flags);
	return HRTIMER_NORESTART;
}

void vrnic_hold_init(struct vrnic_qp *qp)
{
	spin_lock_init(&qp->hold_lock);
	hrtimer_setup(&qp->hold_timer, hold_timeout, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
}

/**
 * vrnic_hold_drop() - drop held-back and lost completions of a QP that is being destroyed
 * @qp: the QP
 *
 * Context: may sleep.
 */
void vrnic_hold_drop(struct vrnic_qp *qp)
{
	u32 gone, i;

	hrtimer_cancel(&qp->hold_timer);
	spin_lock_irq(&qp->hold_lock);
	gone = atomic_xchg(&qp->lost, 0);
	for (i = 0; i < qp->hold[VRNIC_RQ].n; i++)
		gone += qp->hold[VRNIC_RQ].cqe[i].credit;
	/* An SRQ outlives the QP: what would be polled later, or never, is free now */
	if (qp->ibqp.srq)
		atomic_sub(gone, &to_vsrq(qp->ibqp.srq)->rq.held);
	kfree(qp->hold[VRNIC_SQ].cqe);
	kfree(qp->hold[VRNIC_RQ].cqe);
	memset(qp->hold, 0, sizeof(qp->hold));
	WRITE_ONCE(qp->held, false);
	spin_unlock_irq(&qp->hold_lock);
}

static bool hold_back(struct vrnic_hold *hold, const struct vrnic_cqe *cqe)
{
	if (hold->n == hold->max) {
		u32 max = max(2 * hold->max, 16U);
		void *more = krealloc(hold->cqe, max * sizeof(*cqe), GFP_ATOMIC);

		if (!more)
			return false;
		hold->cqe = more;
		hold->max = max;
	}
	hold->cqe[hold->n++] = *cqe;
	return true;
}

/* The completion starts to hold back its queue, or continues to */
static void hold_begin(struct vrnic_hold *hold, const struct vrnic_cqe *cqe,
		       const struct vrnic_fault_hit *hit)
{
	ktime_t until = ktime_get();

	if (!hold_back(hold, cqe)) {
		vrnic_cqe_lost(cqe);
		return;
	}
	if (hit->action == VRNIC_CQE_REORDER) {
		hold->reorder = true;
		until += REORDER_WAIT;
	} else {
		until += hit->arg * (u64)NSEC_PER_USEC;
		hold->delay = max(hold->delay, until);
	}
	hold->until = max(hold->until, until);
}

/* Behind those of its queue that are held back, or to the consumer */
static void hold_pass(struct vrnic_qp *qp, enum vrnic_queue queue,
		      const struct vrnic_cqe *cqe, bool solicited)
{
	struct vrnic_hold *hold = &qp->hold[queue];

	if (hold->n && hold_back(hold, cqe))
		return;
	vrnic_cq_add(cq_of(qp, queue), cqe, solicited);
	hold_met(qp, queue);
}

/* The completion meets a fault, or one before it in its queue has met one */
static void complete_faulty(struct vrnic_qp *qp, enum vrnic_queue queue,
			    const struct vrnic_cqe *cqe, bool solicited,
			    const struct vrnic_fault_hit *hit)
{
	struct vrnic_cqe again = *cqe;

	if (hit->action == VRNIC_CQE_OVERRUN || hit->action == VRNIC_CQE_OVERRUN_TOLD) {
		vrnic_cq_fail(cq_of(qp, queue), cqe, hit->arg);
		return;
	}
	if (hit->action == VRNIC_CQE_NEVER) {
		vrnic_cqe_lost(cqe);
		return;
	}
	/* Places of a send queue are back up to where they were already */
	if (queue == VRNIC_RQ)
		again.credit = 0;
	spin_lock(&qp->hold_lock);
	if (hit->action == VRNIC_CQE_DELAY || hit->action == VRNIC_CQE_REORDER)
		hold_begin(&qp->hold[queue], cqe, hit);
	else
		hold_pass(qp, queue, cqe, solicited);
	if (hit->action == VRNIC_CQE_TWICE)
		hold_pass(qp, queue, &again, solicited);
	else if (hit->action == VRNIC_CQE_AGAIN)
		hold_begin(&qp->hold[queue], &again, hit);
	hold_next(qp);
	spin_unlock(&qp->hold_lock);
}

/**
 * __vrnic_complete() - see vrnic_complete()
 * @qp: the QP
 * @queue: which of its queues
 * @cqe: the completion, which may meet a fault
 * @solicited: also interrupts for consumers that requested solicited completions only
 *
 * Context: any; interrupts are off. One at a time for each queue.
 */
void __vrnic_complete(struct vrnic_qp *qp, enum vrnic_queue queue,
		      const struct vrnic_cqe *cqe, bool solicited)
{
	struct vrnic_fault_hit hit = {};

	if (unlikely(vrnic_fault(qp->dev, VRNIC_FAULT_CQE, queue, qp, &hit) ||
		     READ_ONCE(qp->held)))
		complete_faulty(qp, queue, cqe, solicited, &hit);
	else
		vrnic_cq_add(cq_of(qp, queue), cqe, solicited);
}
