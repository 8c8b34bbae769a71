// SPDX-License-Identifier: GPL-2.0
/*
 * Moderation: fewer interrupts than completions.
 *
 * Operation: rdma_set_cq_moderation(), or the core by the load (use_cq_dim), gives a CQ a count
 * and a period. While the CQ is armed, its interrupt comes with the completion that is the
 * count's, or at the end of the period, which begins with the first completion: whichever is
 * first. A count of 0 or 1, or a period of 0, means that each comes at once, as on mlx5.
 *
 * Only completions count that would interrupt otherwise: those that come while the CQ is armed
 * and, if it is armed for solicited ones, are solicited or errors. The consumer may have polled
 * them when the interrupt comes, as on hardware. So @held is 0 unless the CQ is armed.
 */

#include "vrnic.h"

/* When an interrupt for what is held is due at the latest */
static ktime_t end_of_period(const struct vrnic_moder *m)
{
	return ktime_add_us(m->first, m->period);
}

/* Under the CQ's lock; the interrupt is made without it */
static void fire(struct vrnic_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	cq->moder.held = 0;
	cq->armed = 0;
	cq->events++;
}

/*
 * The count may be reached while this waits for the lock, and then others held: their period is
 * a later one, and the timer is started for it.
 */
static enum hrtimer_restart period_ends(struct hrtimer *timer)
{
	struct vrnic_cq *cq = container_of(timer, struct vrnic_cq, moder.timer);
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cq->lock, flags);
	due = cq->moder.held && ktime_get() >= end_of_period(&cq->moder);
	if (due)
		fire(cq);
	spin_unlock(&cq->lock);
	/* destroy_cq waits for this timer before it waits for the interrupt */
	if (due)
		vrnic_cq_interrupt(cq);
	local_irq_restore(flags);
	return HRTIMER_NORESTART;
}

/**
 * vrnic_moder_init() - of a new CQ, without moderation
 * @cq: the CQ
 */
void vrnic_moder_init(struct vrnic_cq *cq)
{
	hrtimer_setup(&cq->moder.timer, period_ends, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED);
}

/**
 * vrnic_moder_add() - a completion would interrupt
 * @cq: its CQ, which has moderation
 *
 * Context: any; interrupts are off, the CQ's lock is held.
 * Return: whether it does
 */
bool vrnic_moder_add(struct vrnic_cq *cq)
{
	struct vrnic_moder *m = &cq->moder;

	lockdep_assert_held(&cq->lock);
	if (++m->held >= m->count) {
		m->held = 0;
		hrtimer_try_to_cancel(&m->timer);
		return true;
	}
	if (m->held == 1) {
		m->first = ktime_get();
		hrtimer_start(&m->timer, end_of_period(m), HRTIMER_MODE_ABS_PINNED);
	}
	return false;
}

/* What is held keeps the time of its first completion */
static int vrnic_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct vrnic_cq *cq = to_vcq(ibcq);
	struct vrnic_moder *m = &cq->moder;
	unsigned long flags;
	bool due;

	if (period > VRNIC_MAX_CQ_PERIOD)
		return -EINVAL;
	spin_lock_irqsave(&cq->lock, flags);
	m->calls++;
	m->count = period && count > 1 ? count : 0;
	m->period = period;
	due = m->held && m->held >= m->count;
	if (due)
		fire(cq);
	else if (m->held)
		hrtimer_start(&m->timer, end_of_period(m), HRTIMER_MODE_ABS_PINNED);
	spin_unlock(&cq->lock);
	if (due)
		vrnic_cq_interrupt(cq);
	local_irq_restore(flags);
	return 0;
}

const struct ib_device_ops vrnic_moder_ops = {
	.modify_cq = vrnic_modify_cq,
};
