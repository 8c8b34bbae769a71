// SPDX-License-Identifier: GPL-2.0
/*
 * Growing: how many receives an SRQ begins with, and more of them by use.
 *
 * An SRQ may have as many receives as its queues may have commands outstanding, at most
 * srq_size. Few hosts use more than a part of that, so it begins with a quarter, in steps of
 * BEGIN_STEP. While it has fewer than it may have, the low-water mark is half of what it has.
 * When the HCA reports that, the receives are doubled before anything else is done about it
 * (srq_low.c). srq_shrink.c takes them back when they are not used any more.
 *
 * So a host that never uses more than half of the receives does not make the SRQ grow. A burst
 * from idle may find no receive once or twice, and the HCA tells the sender to retry after
 * min_rnr_timer. By then there are more. One host that uses all that it may can empty a small
 * SRQ for others, too, but for no longer than that: it makes the SRQ grow to more than its
 * share. Each host retries without a limit: the CM tells it to (cm.c).
 *
 * Receives are not held back
 *
 *  - until the device has reported a low-water mark. That is known early: the first marks on a
 *    device are so high that the first commands reach them (srq_low.c). Without reports, or
 *    if a mark cannot be set, an SRQ would stay small for ever;
 *  - from soft-RoCE. A host of the same kind that is told to retry repeats its registrations of
 *    memory, too (rxe_requester()). The second one fails, and the connection ends;
 *  - if a receive has no in-capsule data, which is most of its memory.
 *
 * Shortage: if there is no memory when a queue joins, its part of the first receives has to be
 * there, or it gets receives of its own. Later, srq_low.c retries. Hosts wait meanwhile.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "srq.h"

/* Part of the receives that an SRQ begins with */
#define BEGIN_PART		4
/* In steps of so many, whose commands fill a page */
#define BEGIN_STEP		64u
/* Receives that are allocated, and retire, together (srq_shrink.c) */
#define MAX_BLOCK_RECVS		128u

/**
 * nvmet_rdma_srq_begin() - receives that an SRQ needs before they are used
 * @srq: the SRQ, the device's srq_lock held
 * @commands: commands that its hosts may have outstanding
 *
 * Context: any. Return: the number, at most what it may have.
 */
u32 nvmet_rdma_srq_begin(const struct nvmet_rdma_srq *srq, u32 commands)
{
	u32 most = min(commands, srq->dev->srq_size);

	lockdep_assert_held(&srq->dev->srq_lock);
	if (!READ_ONCE(srq->dev->srq_reports) || srq->dev->rnr_harms || !srq->room)
		return most;
	return min(most, max((u32)roundup(most / BEGIN_PART, BEGIN_STEP), BEGIN_STEP));
}

/**
 * nvmet_rdma_srq_in_use() - receives that the HCA does not have
 * @srq: the SRQ, the device's srq_lock held
 *
 * Context: any. Return: those that commands have, and that wait to be posted again.
 */
u32 nvmet_rdma_srq_in_use(const struct nvmet_rdma_srq *srq)
{
	const struct nvmet_rdma_recv_block *block;
	u32 used = 0, i;

	lockdep_assert_held(&srq->dev->srq_lock);
	list_for_each_entry(block, &srq->blocks, entry) {
		/* First: those that return meanwhile may count as used, not the other way round */
		used -= READ_ONCE(block->nr_returned);
		for (i = 0; i < block->nr; i++)
			used += !READ_ONCE(block->cmds[i].posted_epoch);
	}
	return used;
}

/**
 * nvmet_rdma_srq_report_is_missing() - has the HCA fewer than the mark, and not reported that?
 * @srq: the SRQ, the device's srq_lock held
 * @used: from nvmet_rdma_srq_in_use()
 *
 * Some devices compare with the mark only when they take a receive (soft-RoCE), and others do
 * not set a mark that is not exceeded (bnxt_re of 6.1). Neither reports a mark that is set too
 * late.
 *
 * Context: any.
 */
bool nvmet_rdma_srq_report_is_missing(const struct nvmet_rdma_srq *srq, u32 used)
{
	return nvmet_rdma_srq_is_small(srq) &&
	       READ_ONCE(srq->level) == NVMET_RDMA_SRQ_ARMED &&
	       used + nvmet_rdma_srq_growth_mark(srq) > srq->nr + NVMET_RDMA_SRQ_SPARE;
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

/*
 * Takes blocks into use again, until there are @nr receives or no block is left. All that still
 * retire come first: they need no memory, and if receives were lost (srq_low.c), all that are
 * left may be theirs. A block that has lost some never gets beyond that.
 */
static int srq_recall(struct nvmet_rdma_srq *srq, u32 nr)
{
	struct nvmet_rdma_recv_block *block;
	int ret = 0;

	if (srq->nr >= nr)
		return 0;
	list_for_each_entry(block, &srq->blocks, entry) {
		if (block->state == NVMET_RDMA_BLOCK_RETIRING)
			srq_recall_block(srq, block);
	}
	list_for_each_entry(block, &srq->blocks, entry) {
		if (ret || srq->nr >= nr)
			break;
		if (block->state == NVMET_RDMA_BLOCK_EMPTY)
			ret = srq_recall_block(srq, block);
	}
	return ret;
}

/**
 * nvmet_rdma_srq_grow() - have at least so many receives
 * @srq: the SRQ, the device's srq_lock held
 * @nr: receives, at most srq_size
 *
 * The caller sets the next low-water mark.
 *
 * Context: may sleep. Return: 0 or a negative errno; some may have been added then.
 */
int nvmet_rdma_srq_grow(struct nvmet_rdma_srq *srq, u32 nr)
{
	int ret = 0;

	/* A report of the present mark may be on its way: see srq_low.c */
	nvmet_rdma_srq_begin_epoch(srq);
	/* In a block of its own, as all others may retire */
	if (list_empty(&srq->blocks))
		ret = nvmet_rdma_srq_add(srq, NVMET_RDMA_SRQ_SPARE, true);
	if (!ret)
		ret = srq_recall(srq, nr);
	/* in small blocks: a large one could not retire while a few queues need it */
	while (!ret && srq->nr < nr) {
		u32 more = min(nr - srq->nr, MAX_BLOCK_RECVS);

		ret = nvmet_rdma_srq_add(srq, more, false);
		if (!ret)
			srq->nr += more;
	}
	return ret;
}
