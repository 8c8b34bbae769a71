// SPDX-License-Identifier: GPL-2.0
/*
 * Shrinking: free the memory of shared receives that are not needed any more.
 *
 * When a queue has left, and SHRINK_SECS later there are more than twice as many receives as
 * the queues need, blocks of receives retire. The last blocks retire first, as many as leave
 * what is needed. An SRQ grows when more is needed than there is, and recalls retiring blocks
 * first. So one that has just grown does not shrink.
 *
 * Nothing takes a posted receive away from an HCA. Instead, a receive of a retiring block is
 * not posted again: it goes to its block's list when a command has used it. HCAs take the
 * oldest receive first, so all return once as many commands have arrived. Then the block's
 * in-capsule data is freed, which is most of the memory. The receives themselves stay until
 * the SRQ is destroyed: an HCA may report one twice (nvmet_rdma_completed_twice()), and the
 * core may look at a command that it has answered. A block with a lost receive (srq_low.c)
 * never finishes retiring.
 *
 * An SRQ grows by retiring blocks first. So retiring and other blocks together never exceed
 * srq_size, and its completion queues have room for them.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "srq.h"
#include "wq.h"

/* Longer than hosts take to come back, if they do: reconnect_delay is 10 s */
#define SHRINK_SECS		30
/* Receives are too many if they are so many times what is wanted */
#define SHRINK_FROM		2

static bool srq_too_large(const struct nvmet_rdma_srq *srq)
{
	return srq->room && !srq->replacements_used_up && srq->nr / SHRINK_FROM > srq->nr_commands;
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

static void srq_retire(struct nvmet_rdma_srq *srq)
{
	struct nvmet_rdma_recv_block *block;

	list_for_each_entry_reverse(block, &srq->blocks, entry) {
		if (block->permanent || block->retiring ||
		    srq->nr - block->nr < srq->nr_commands)
			continue;
		spin_lock_irq(&srq->lock);
		WRITE_ONCE(block->retiring, true);
		spin_unlock_irq(&srq->lock);
		srq->nr -= block->nr;
		pr_debug("%s: %u shared receives retire, %u are left for %u commands\n",
			 srq->dev->ib->name, block->nr, srq->nr, srq->nr_commands);
	}
	nvmet_rdma_srq_arm(srq);
}

static void srq_empty_blocks(struct nvmet_rdma_srq *srq)
{
	struct nvmet_rdma_recv_block *block;
	bool all;

	list_for_each_entry(block, &srq->blocks, entry) {
		spin_lock_irq(&srq->lock);
		all = block->retiring && block->nr_returned == block->nr;
		spin_unlock_irq(&srq->lock);
		if (!all || block->empty)
			continue;
		nvmet_rdma_recv_block_free_data(srq->dev, block);
		block->empty = true;
		pr_debug("%s: freed the memory of %u shared receives\n",
			 srq->dev->ib->name, block->nr);
	}
}

static int srq_recall_block(struct nvmet_rdma_srq *srq,
			    struct nvmet_rdma_recv_block *block)
{
	struct nvmet_rdma_cmd *cmd, *next;
	LIST_HEAD(back);

	if (block->empty && nvmet_rdma_recv_block_alloc_data(srq->dev, block))
		return -ENOMEM;
	block->empty = false;
	spin_lock_irq(&srq->lock);
	WRITE_ONCE(block->retiring, false);
	list_splice_init(&block->returned, &back);
	block->nr_returned = 0;
	spin_unlock_irq(&srq->lock);
	list_for_each_entry_safe(cmd, next, &back, entry) {
		list_del_init(&cmd->entry);
		nvmet_rdma_srq_post(srq, cmd);
	}
	srq->nr += block->nr;
	return 0;
}

/**
 * nvmet_rdma_srq_recall() - have blocks that retire stay
 * @srq: the SRQ, the device's srq_lock held
 * @nr: receives that it is to have
 *
 * Context: may sleep. Return: 0, and it has them, or none retires; or a negative errno.
 */
int nvmet_rdma_srq_recall(struct nvmet_rdma_srq *srq, u32 nr)
{
	struct nvmet_rdma_recv_block *block;
	int ret = 0;

	lockdep_assert_held(&srq->dev->srq_lock);
	list_for_each_entry(block, &srq->blocks, entry) {
		if (ret || srq->nr >= nr)
			break;
		if (block->retiring)
			ret = srq_recall_block(srq, block);
	}
	return ret;
}

/**
 * nvmet_rdma_srq_shrink_later() - a queue has left
 * @srq: the SRQ, the device's srq_lock held; it has other queues
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_shrink_later(struct nvmet_rdma_srq *srq)
{
	lockdep_assert_held(&srq->dev->srq_lock);
	if (!srq_too_large(srq) || time_before(jiffies, srq->shrink_at))
		return;
	srq->shrink_at = jiffies + SHRINK_SECS * HZ;
	/* Or later, by the work itself, if a block is just back */
	srq_shrink_in(srq, SHRINK_SECS * HZ);
}

/**
 * nvmet_rdma_srq_shrink_work() - a block is back, or it is time for blocks to retire
 * @work: of the SRQ
 *
 * Context: may sleep.
 */
void nvmet_rdma_srq_shrink_work(struct work_struct *work)
{
	struct nvmet_rdma_srq *srq =
		container_of(to_delayed_work(work), struct nvmet_rdma_srq,
			     shrink_work);

	mutex_lock(&srq->dev->srq_lock);
	srq_empty_blocks(srq);
	if (srq_too_large(srq)) {
		if (time_before(jiffies, srq->shrink_at))
			srq_shrink_in(srq, srq->shrink_at - jiffies);
		else
			srq_retire(srq);
	}
	mutex_unlock(&srq->dev->srq_lock);
}
