// SPDX-License-Identifier: GPL-2.0
/*
 * Low water: add shared receives, move commands out of them (see srq.c), and count lost ones.
 *
 * While there may be more receives, a report means that more are used than there were to begin
 * with (srq_grow.c). The work doubles them before anything else: no command is moved, and no
 * receive is taken for lost. What is below about counting applies once there are all. A lost
 * receive looks like one in use meanwhile, so that an SRQ that loses receives grows, too, and
 * again each time it has shrunk.
 *
 *  - Without memory, these are as many as there can be for now: commands are moved out of
 *    theirs, and the work tries again every second. It does not count either.
 *  - A report of an earlier mark makes the SRQ grow before it has to, and it shrinks later.
 *  - If the HCA loses a report, the next queue that joins sets another mark, or the next look
 *    (srq_shrink.c) finds that fewer receives than the mark are left.
 *
 * A receive that a QP has taken completes, if only by a flush when the QP ends. Soft-RoCE
 * (6.12, 7.2) loses the receive of a half-received message when the QP enters the error state.
 * So each host that breaks off inside a capsule, by accident or on purpose, would leave the SRQ
 * with one receive less, until there is none.
 *
 * The HCA does not report how many receives an SRQ has. Only the low-water mark is known: when
 * the HCA reports it, fewer receives than that are left. So each receive notes the epoch in
 * which it was posted, and that it has completed. Each mark has an epoch, which begins before
 * the mark is set. Take the receives of earlier epochs that have not completed a second after
 * the report. Fewer of them than the mark were still in the SRQ. All others had been taken.
 * Some may belong to a message that is still arriving, and the rest are lost. It does not
 * matter which:
 *
 *  - No individual receive is taken for lost. All stay allocated until the SRQ is destroyed,
 *    after its last QP, and none is posted that has not completed. So the HCA never has one
 *    twice, whatever it remembers.
 *  - New receives are posted for the number that is missing. If one of a slow message
 *    completes after all, there is one more than needed. The next count finds fewer missing
 *    than were replaced, and adds nothing until more are. The same applies to a receive that
 *    was posted while the epoch changed, and was counted in the one before.
 *  - The number of replacements is bounded, and the SRQ and its completion queues have room
 *    for them (srq.c).
 *
 * A report does not say of which mark it is. It may be on its way while a queue that joins, or
 * a block that retires, sets another mark, and is then taken for one of that. Two things keep
 * the count right. The new mark may be lower: the count allows for the higher one of both. And
 * the queue may have added hundreds of receives: their epoch begins before they are posted, and
 * the new mark gets the same one (nvmet_rdma_srq_begin_epoch()). So they are not counted.
 *
 * Up to the mark less one, lost receives cannot be told from those that are left. The mark is
 * 1 where there are as many receives as commands, so that all lost ones are found there, with
 * the first report or, after the SRQ has grown, with the second. Otherwise up to an eighth of
 * the receives stay lost.
 *
 * Until a device has reported a mark, the mark is as high as there are receives, so that the
 * first commands reach it: a few of them are not posted, but wait for a full chain. Such a report
 * says nothing about the receives.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/sched/mm.h>

#include "error.h"
#include "srq.h"
#include "wq.h"

/* The HCA reports when fewer than this part of the receives are left */
#define LOW_WATER		8

/* May more commands come than there are receives? */
static bool srq_overcommitted(const struct nvmet_rdma_srq *srq)
{
	return READ_ONCE(srq->nr_commands) > READ_ONCE(srq->nr) ||
	       READ_ONCE(srq->replacements_used_up);
}

/* The next low-water mark */
static u32 srq_mark(const struct nvmet_rdma_srq *srq)
{
	/* The first commands reach it: see srq_grow.c */
	if (!READ_ONCE(srq->dev->srq_reports))
		return srq->nr;
	if (nvmet_rdma_srq_is_small(srq))
		return nvmet_rdma_srq_growth_mark(srq);
	return srq_overcommitted(srq) ? max(srq->nr / LOW_WATER, 1u) : 1;
}

static void srq_work_in(struct nvmet_rdma_srq *srq, unsigned long delay)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	if (!srq->closing)
		mod_delayed_work(nvmet_rdma_wq, &srq->work, delay);
	spin_unlock_irqrestore(&srq->lock, flags);
}

/* The work follows after @delay */
static void srq_set_level(struct nvmet_rdma_srq *srq, enum nvmet_rdma_srq_level level,
			  unsigned long delay)
{
	WRITE_ONCE(srq->level, level);
	srq_work_in(srq, delay);
}

/**
 * nvmet_rdma_srq_reached() - fewer receives than the low-water mark are left
 * @srq: the SRQ
 *
 * Context: any.
 */
void nvmet_rdma_srq_reached(struct nvmet_rdma_srq *srq)
{
	if (nvmet_rdma_srq_is_small(srq)) {
		srq_set_level(srq, NVMET_RDMA_SRQ_GROW, 0);
	} else if (srq_overcommitted(srq)) {
		pr_debug("%s: few shared receives are left\n",
			 srq->dev->ib->name);
		srq_set_level(srq, NVMET_RDMA_SRQ_LOW, 0);
	} else {
		srq_set_level(srq, NVMET_RDMA_SRQ_REACHED, NVMET_RDMA_SRQ_LOW_SECS * HZ);
	}
}

/**
 * nvmet_rdma_srq_arm() - set the low-water mark
 * @srq: the SRQ, the device's srq_lock held; it has its receives
 *
 * Does nothing after a report of the HCA, until the work has handled that.
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_arm(struct nvmet_rdma_srq *srq)
{
	struct ib_srq_attr attr = {};
	int ret;

	lockdep_assert_held(&srq->dev->srq_lock);
	/* All were in use, and there may be more now: that is not to wait for the work's time */
	if (READ_ONCE(srq->level) == NVMET_RDMA_SRQ_REACHED && nvmet_rdma_srq_is_small(srq))
		nvmet_rdma_srq_reached(srq);
	if (READ_ONCE(srq->level) != NVMET_RDMA_SRQ_ARMED)
		return;
	attr.srq_limit = srq_mark(srq);
	srq->count_mark = max(srq->low_mark, attr.srq_limit);
	srq->low_mark = attr.srq_limit;
	/* Before the mark is set: what is posted in this epoch is newer */
	nvmet_rdma_srq_begin_epoch(srq);
	srq->mark_epoch = srq->epoch;
	ret = ib_modify_srq(srq->ib, &attr, IB_SRQ_LIMIT);
	if (ret) {
		pr_debug("%s: cannot set the low-water mark (error %d)\n",
			 srq->dev->ib->name, ret);
		/* Nothing reports that there are few: from now on, all receives at once */
		WRITE_ONCE(srq->dev->srq_reports, false);
	}
	if (nvmet_rdma_srq_is_small(srq) &&
	    (ret || nvmet_rdma_srq_report_is_missing(srq, nvmet_rdma_srq_in_use(srq))))
		nvmet_rdma_srq_reached(srq);
}

static void srq_post_spare(struct nvmet_rdma_srq *srq)
{
	struct nvmet_rdma_cmd *cmd, *next;
	LIST_HEAD(spare);

	spin_lock_irq(&srq->lock);
	list_splice_init(&srq->unposted, &spare);
	spin_unlock_irq(&srq->lock);
	list_for_each_entry_safe(cmd, next, &spare, entry) {
		list_del_init(&cmd->entry);
		nvmet_rdma_srq_post(srq, cmd);
	}
}

/* Keeps the time of a work that is queued already */
static void srq_work_later(struct nvmet_rdma_srq *srq)
{
	spin_lock_irq(&srq->lock);
	if (!srq->closing)
		queue_delayed_work(nvmet_rdma_wq, &srq->work,
				   NVMET_RDMA_SRQ_LOW_SECS * HZ);
	spin_unlock_irq(&srq->lock);
}

/* Number of receives that have not completed, including replaced ones */
static u32 srq_lost(const struct nvmet_rdma_srq *srq)
{
	const struct nvmet_rdma_recv_block *recvs;
	u32 missing = 0, i;

	lockdep_assert_held(&srq->dev->srq_lock);
	list_for_each_entry(recvs, &srq->blocks, entry) {
		for (i = 0; i < recvs->nr; i++) {
			u32 in = READ_ONCE(recvs->cmds[i].posted_epoch);

			/* @epoch is that of the mark, or the next one */
			missing += in && in != srq->mark_epoch && in != srq->epoch;
		}
	}
	return missing < srq->count_mark ? 0 : missing - (srq->count_mark - 1);
}

/* The mark was reached a second ago */
static int srq_replace_lost(struct nvmet_rdma_srq *srq)
{
	u32 most = srq->dev->srq_size / NVMET_RDMA_SRQ_REPLACEABLE;
	u32 lost = srq_lost(srq);
	u32 nr;
	int ret;

	if (lost <= srq->nr_replaced)
		return 0;
	nr = min(lost, most) - srq->nr_replaced;
	if (lost > most && !srq->replacements_used_up) {
		srq->replacements_used_up = true;
		pr_warn("%s: %u shared receives lost to broken connections (at most %u are replaced); new connections get receives of their own until all that share are closed\n",
			srq->dev->ib->name, lost, most);
	}
	ret = nr ? nvmet_rdma_srq_add(srq, nr, true) : 0;
	if (!ret) {
		srq->nr_replaced += nr;
		pr_debug("%s: %u shared receives did not come back; posted as many new ones\n",
			 srq->dev->ib->name, nr);
	}
	return ret;
}

/* Receives of blocks that retire which the HCA has, or has taken */
static u32 srq_not_returned(const struct nvmet_rdma_srq *srq)
{
	const struct nvmet_rdma_recv_block *block;
	u32 nr = 0;

	lockdep_assert_held(&srq->dev->srq_lock);
	list_for_each_entry(block, &srq->blocks, entry) {
		if (block->state == NVMET_RDMA_BLOCK_RETIRING)
			nr += block->nr - READ_ONCE(block->nr_returned);
	}
	return nr;
}

/*
 * Doubles the receives, up to those that there may be; to all of them if the device does not
 * report marks. Does nothing if there are no more to have. Receives that retire and have not
 * returned come on top: all but a few are in use or lost, and give the HCA nothing. If these
 * alone were taken back, it could have none at all, and would never report that.
 */
static int srq_double(struct nvmet_rdma_srq *srq)
{
	u32 most = nvmet_rdma_srq_may_have(srq), nr = srq->nr;
	int ret;

	lockdep_assert_held(&srq->dev->srq_lock);
	if (nr >= most)
		return 0;
	ret = nvmet_rdma_srq_grow(srq, max(min(2 * nr + srq_not_returned(srq), most),
					   nvmet_rdma_srq_begin(srq, srq->nr_commands)));
	srq->shrink_at = jiffies + NVMET_RDMA_SRQ_SHRINK_SECS * HZ;
	pr_debug("%s: %u shared receives instead of %u, of at most %u (error %d)\n",
		 srq->dev->ib->name, srq->nr, nr, most, ret);
	return ret;
}

static void srq_rearm(struct nvmet_rdma_srq *srq)
{
	/* If it is still low, the HCA reports that again */
	WRITE_ONCE(srq->level, NVMET_RDMA_SRQ_ARMED);
	nvmet_rdma_srq_arm(srq);
}

static void srq_low_work(struct nvmet_rdma_srq *srq)
{
	enum nvmet_rdma_srq_level level = READ_ONCE(srq->level);
	struct nvmet_rdma_queue *queue;
	int ret = 0;

	lockdep_assert_held(&srq->dev->srq_lock);
	/* More receives before anything else: nothing is known to be lost, or short, before that */
	if (level == NVMET_RDMA_SRQ_GROW || nvmet_rdma_srq_is_small(srq)) {
		ret = srq_double(srq);
		if (!ret) {
			srq_rearm(srq);
			return;
		}
		/* As if these were all, until there is memory */
		if (level != NVMET_RDMA_SRQ_LOW_HANDLED)
			level = NVMET_RDMA_SRQ_LOW;
	}
	if (level == NVMET_RDMA_SRQ_LOW) {
		WRITE_ONCE(srq->level, NVMET_RDMA_SRQ_LOW_HANDLED);
		list_for_each_entry(queue, &srq->queues, srq_entry)
			srq->ops->vacate(queue);
		srq_work_later(srq);
		return;
	}
	/* There may be none left to take, and so no other report */
	if (ret || srq_replace_lost(srq)) {
		srq_work_later(srq);
		return;
	}
	srq_rearm(srq);
}

/**
 * nvmet_rdma_srq_work() - handle the events and failed posts of an SRQ
 * @work: of the SRQ
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_work(struct work_struct *work)
{
	struct nvmet_rdma_srq *srq = container_of(to_delayed_work(work),
						  struct nvmet_rdma_srq, work);
	unsigned int noio = memalloc_noio_save();
	struct nvmet_rdma_queue *queue;

	mutex_lock(&srq->dev->srq_lock);
	if (READ_ONCE(srq->failed)) {
		list_for_each_entry(queue, &srq->queues, srq_entry)
			nvmet_rdma_queue_fail(queue);
	} else {
		srq_post_spare(srq);
		nvmet_rdma_srq_post_chain(srq);
		if (READ_ONCE(srq->level) != NVMET_RDMA_SRQ_ARMED)
			srq_low_work(srq);
	}
	mutex_unlock(&srq->dev->srq_lock);
	memalloc_noio_restore(noio);
}

/**
 * nvmet_rdma_srq_failed() - end the queues of a failed SRQ
 * @srq: the SRQ
 * @what: what has failed, for the log
 *
 * Context: any.
 */
void nvmet_rdma_srq_failed(struct nvmet_rdma_srq *srq, const char *what)
{
	pr_err("%s reports that %s has failed; closing its connections, hosts will reconnect\n",
	       srq->dev->ib->name, what);
	WRITE_ONCE(srq->failed, true);
	srq_work_in(srq, 0);
}

static void srq_reported(struct nvmet_rdma_srq *srq)
{
	WRITE_ONCE(srq->dev->srq_reports, true);
	/* The report of a first mark says nothing about the receives; the work sets another mark */
	if (READ_ONCE(srq->low_mark) >= READ_ONCE(srq->nr))
		srq_set_level(srq, NVMET_RDMA_SRQ_GROW, 0);
	else
		nvmet_rdma_srq_reached(srq);
}

/**
 * nvmet_rdma_srq_event() - handle an event of an SRQ
 * @event: the event
 * @context: the SRQ
 *
 * Context: any.
 */
void nvmet_rdma_srq_event(struct ib_event *event, void *context)
{
	struct nvmet_rdma_srq *srq = context;

	switch (event->event) {
	case IB_EVENT_SRQ_LIMIT_REACHED:
		srq_reported(srq);
		break;
	case IB_EVENT_SRQ_ERR:
		nvmet_rdma_srq_failed(srq, "a shared receive queue");
		break;
	default:
		break;
	}
}
