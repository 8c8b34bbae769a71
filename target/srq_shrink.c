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

/* Longer than hosts take to reconnect: their reconnect_delay is 10 s */
#define SHRINK_SECS		30
/* Receives retire if there are more than so many times what is needed */
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
		if (block->permanent || block->state != NVMET_RDMA_BLOCK_USED ||
		    srq->nr - block->nr < srq->nr_commands)
			continue;
		spin_lock_irq(&srq->lock);
		WRITE_ONCE(block->state, NVMET_RDMA_BLOCK_RETIRING);
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

static int srq_recall_block(struct nvmet_rdma_srq *srq,
			    struct nvmet_rdma_recv_block *block)
{
	struct nvmet_rdma_cmd *cmd, *next;
	LIST_HEAD(back);

	if (block->state == NVMET_RDMA_BLOCK_EMPTY &&
	    nvmet_rdma_recv_block_alloc_data(srq->dev, block))
		return -ENOMEM;
	spin_lock_irq(&srq->lock);
	WRITE_ONCE(block->state, NVMET_RDMA_BLOCK_USED);
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
 * nvmet_rdma_srq_recall() - take retiring blocks into use again
 * @srq: the SRQ, the device's srq_lock held
 * @nr: receives that it is to have
 *
 * Context: may sleep. Return: 0 if it has them, or no block retires; or a negative errno.
 */
int nvmet_rdma_srq_recall(struct nvmet_rdma_srq *srq, u32 nr)
{
	struct nvmet_rdma_recv_block *block;
	int ret = 0;

	lockdep_assert_held(&srq->dev->srq_lock);
	list_for_each_entry(block, &srq->blocks, entry) {
		if (ret || srq->nr >= nr)
			break;
		if (block->state != NVMET_RDMA_BLOCK_USED)
			ret = srq_recall_block(srq, block);
	}
	return ret;
}

/**
 * nvmet_rdma_srq_shrink_later() - schedule shrinking after a queue has left
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
	/* The work postpones it if it runs earlier for a returned block */
	srq_shrink_in(srq, SHRINK_SECS * HZ);
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
