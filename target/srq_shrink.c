// SPDX-License-Identifier: GPL-2.0
/*
 * Shrinking: free the memory of shared receives that are not needed any more.
 *
 * Every SHRINK_SECS a work looks at an SRQ. Blocks of receives retire, the last ones first,
 *
 *  - if it has grown by use (srq_grow.c), and no more are in use at that moment than a queue's
 *    first receives are for: as many as leave the first ones;
 *  - if queues have left, and there are more than twice as many receives as the others may use:
 *    as many as leave what these may use.
 *
 * Neither happens for SHRINK_SECS after that. An SRQ grows when more is needed than there is,
 * and takes retiring blocks back first. A load that comes and goes makes it shrink and grow
 * once in SHRINK_SECS at most.
 *
 * Nothing takes a posted receive away from an HCA. Instead, a receive of a retiring block is
 * not posted again: it goes to its block's list when a command has used it. HCAs take the
 * oldest receive first, so all return once as many commands have arrived. Then the block's
 * in-capsule data is freed, which is most of the memory. The receives themselves stay until
 * the SRQ is destroyed: an HCA may report one twice (nvmet_rdma_completed_twice()), and the
 * core may look at a command that it has answered. A block with a lost receive (srq_low.c)
 * never finishes retiring.
 *
 * As an SRQ grows by retiring blocks first, retiring and other blocks together never exceed
 * srq_size, and its completion queues have room for them.
 *
 * The look also finds a low-water mark that was reached without a report.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "srq.h"
#include "wq.h"

#define SHRINK_SECS		NVMET_RDMA_SRQ_SHRINK_SECS
/* Receives retire if there are more than so many times what the queues need */
#define SHRINK_FROM		2

/* Are there far more receives than the queues may use? */
static bool srq_too_large(const struct nvmet_rdma_srq *srq)
{
	return srq->nr / SHRINK_FROM > srq->nr_commands;
}

/* How many receives are enough; @srq->nr if none shall retire */
static u32 srq_enough(const struct nvmet_rdma_srq *srq, u32 used)
{
	u32 begin = nvmet_rdma_srq_begin(srq, srq->nr_commands);

	if (!srq->room || srq->replacements_used_up)
		return srq->nr;
	/* With these, it would not grow again at once */
	if (begin < nvmet_rdma_srq_may_have(srq) && used <= begin / 2)
		return begin;
	return srq_too_large(srq) ? srq->nr_commands : srq->nr;
}

static void srq_shrink_in(struct nvmet_rdma_srq *srq, unsigned long delay)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	if (!srq->closing)
		queue_delayed_work(nvmet_rdma_wq, &srq->shrink_work,
				   delay);
	spin_unlock_irqrestore(&srq->lock, flags);
}

static void srq_retire(struct nvmet_rdma_srq *srq, u32 enough)
{
	struct nvmet_rdma_recv_block *block;
	bool any = false;

	list_for_each_entry_reverse(block, &srq->blocks, entry) {
		if (block->permanent || block->state != NVMET_RDMA_BLOCK_USED ||
		    srq->nr - block->nr < enough)
			continue;
		spin_lock_irq(&srq->lock);
		WRITE_ONCE(block->state, NVMET_RDMA_BLOCK_RETIRING);
		spin_unlock_irq(&srq->lock);
		srq->nr -= block->nr;
		any = true;
		pr_debug("%s: %u shared receives retire, %u are left for %u commands\n",
			 srq->dev->ib->name, block->nr, srq->nr, srq->nr_commands);
	}
	if (any)
		nvmet_rdma_srq_arm(srq);
}

static void srq_empty_blocks(struct nvmet_rdma_srq *srq)
{
	struct nvmet_rdma_recv_block *block;
	bool all;

	list_for_each_entry(block, &srq->blocks, entry) {
		if (block->state != NVMET_RDMA_BLOCK_RETIRING)
			continue;
		spin_lock_irq(&srq->lock);
		all = block->nr_returned == block->nr;
		spin_unlock_irq(&srq->lock);
		if (!all)
			continue;
		nvmet_rdma_recv_block_free_data(srq->dev, block);
		WRITE_ONCE(block->state, NVMET_RDMA_BLOCK_EMPTY);
		pr_debug("%s: freed the memory of %u shared receives\n",
			 srq->dev->ib->name, block->nr);
	}
}

/**
 * nvmet_rdma_srq_look_later() - begin to look at what is in use
 * @srq: the SRQ, the device's srq_lock held
 *
 * Does nothing if that has begun.
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_look_later(struct nvmet_rdma_srq *srq)
{
	srq_shrink_in(srq, SHRINK_SECS * HZ);
}

/**
 * nvmet_rdma_srq_shrink_later() - do not shrink at once after a queue has left
 * @srq: the SRQ, the device's srq_lock held; it has other queues
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_shrink_later(struct nvmet_rdma_srq *srq)
{
	lockdep_assert_held(&srq->dev->srq_lock);
	if (srq_too_large(srq) && !time_before(jiffies, srq->shrink_at))
		srq->shrink_at = jiffies + SHRINK_SECS * HZ;
}

/**
 * nvmet_rdma_srq_shrink_work() - free returned blocks, and retire others when it is time
 * @work: of the SRQ
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_shrink_work(struct work_struct *work)
{
	struct nvmet_rdma_srq *srq =
		container_of(to_delayed_work(work), struct nvmet_rdma_srq,
			     shrink_work);
	unsigned long next = SHRINK_SECS * HZ;
	u32 used, enough;

	mutex_lock(&srq->dev->srq_lock);
	srq_empty_blocks(srq);
	used = nvmet_rdma_srq_in_use(srq);
	enough = srq_enough(srq, used);
	if (nvmet_rdma_srq_report_is_missing(srq, used))
		nvmet_rdma_srq_reached(srq);
	else if (enough < srq->nr && time_before(jiffies, srq->shrink_at))
		next = srq->shrink_at - jiffies;
	else if (enough < srq->nr)
		srq_retire(srq, enough);
	srq_shrink_in(srq, next);
	mutex_unlock(&srq->dev->srq_lock);
}
