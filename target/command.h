/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: receives, the commands in them, and shared receive queues */
#ifndef NVMET_RDMA_COMMAND_H
#define NVMET_RDMA_COMMAND_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/nvme.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

#include "device.h"
#include "pages.h"
#include "params.h"
#include "sgl.h"

struct nvmet_rdma_peer;
struct nvmet_rdma_queue;

/**
 * struct nvmet_rdma_recv_chain - receives to be posted next
 * @lock: protects the members; taken in any context
 * @first: the first of them, linked by their work requests; NULL if there is none
 * @last: the last one
 * @nr: how many
 * @done: handler of their completions
 */
struct nvmet_rdma_recv_chain {
	spinlock_t		lock; /* see above */
	struct ib_recv_wr	*first;
	struct ib_recv_wr	*last;
	unsigned int		nr;
	void			(*done)(struct ib_cq *cq, struct ib_wc *wc);
};

/**
 * struct nvmet_rdma_cmd - a receive: room for one capsule
 * @copied: not a receive, but a command that was moved out of one; see recv.c
 * @sync: its memory is to be synced
 * @cqe: completion of the receive
 * @sge: the command, and the in-capsule data behind it
 * @wr: the receive
 * @srq: the SRQ that it belongs to, NULL if it is a queue's own
 * @block: its block, if there is an @srq
 * @posted_epoch: the SRQ's epoch in which it was posted, 0 if it has completed since
 * @queue: the queue that the command came by
 * @capsule: the command, in the block's memory
 * @icd: in-capsule data, physically contiguous; NULL if there is no room
 * @sgl: where the command's data is
 * @number: of the command, by its arrival
 * @need: send work requests that the command takes
 * @delay_counted: it was counted as one that waits
 * @arrived_at: when the capsule was found, in ktime's nanoseconds
 * @next: the one that came next, in the queue's list of waiting commands
 * @entry: in the SRQ's list of spare receives, or its block's of those that are back
 *
 * Belongs to the HCA from ib_post_recv() to the completion, then to whoever
 * works on the command, until its response is about to be posted.
 */
struct nvmet_rdma_cmd {
	bool			copied;
	bool			sync;
	struct ib_cqe		cqe;
	struct ib_sge		sge[2];
	struct ib_recv_wr	wr;
	struct nvmet_rdma_srq	*srq;
	struct nvmet_rdma_recv_block	*block;
	u32			posted_epoch;
	struct nvmet_rdma_queue	*queue;
	struct nvme_command	*capsule;
	void			*icd;
	struct nvmet_rdma_sgl	sgl;
	u32			number;
	u32			need;
	bool			delay_counted;
	u64			arrived_at;
	struct nvmet_rdma_cmd	*next;
	struct list_head	entry;
};

/**
 * struct nvmet_rdma_recv_block - a block of receives
 * @entry: in an SRQ's list of blocks
 * @nr: receives
 * @room: bytes of in-capsule data of each
 * @cmds: receives
 * @capsules: their commands
 * @permanent: never retires; see srq_shrink.c for this and the next
 * @retiring: its receives are not posted again; with the SRQ's lock held, as the next two
 * @nr_returned: how many of them have come back
 * @returned: those
 * @empty: all have, and have no in-capsule data any more
 */
struct nvmet_rdma_recv_block {
	struct list_head	entry;
	u32			nr;
	u32			room;
	bool			permanent;
	bool			retiring;
	bool			empty;
	u32			nr_returned;
	struct list_head	returned;
	struct nvmet_rdma_cmd	*cmds;
	struct nvme_rdma_pages	*capsules;
};

/**
 * nvmet_rdma_recv_chain_add() - a receive that may be posted
 * @chain: the chain
 * @cmd: the receive, synced for the device; NULL for what there is
 * @full: how many make the chain full
 *
 * Whoever gets a chain posts it before releasing the lock: receives that are not
 * posted are never more than a chain may hold, and there are that many to spare.
 * Only now may they complete: until then a completion is one too many.
 *
 * Context: any; @chain's lock is held. Return: a full chain, or NULL.
 */
static inline struct ib_recv_wr *
nvmet_rdma_recv_chain_add(struct nvmet_rdma_recv_chain *chain,
			  struct nvmet_rdma_cmd *cmd, unsigned int full)
{
	struct ib_recv_wr *first, *wr;

	lockdep_assert_held(&chain->lock);
	if (cmd) {
		cmd->wr.next = NULL;
		if (chain->first)
			chain->last->next = &cmd->wr;
		else
			chain->first = &cmd->wr;
		chain->last = &cmd->wr;
		chain->nr++;
	}
	if (chain->nr < full)
		return NULL;
	first = chain->first;
	chain->first = NULL;
	chain->nr = 0;
	for (wr = first; wr; wr = wr->next)
		wr->wr_cqe->done = chain->done;
	return first;
}

/**
 * struct nvmet_rdma_srq_ops - what an SRQ asks of the files above srq.c
 * @recv_done: handler of completions of its receives
 * @vacate: move the waiting commands of a queue out of their receives; may sleep
 */
struct nvmet_rdma_srq_ops {
	void (*recv_done)(struct ib_cq *cq, struct ib_wc *wc);
	void (*vacate)(struct nvmet_rdma_queue *queue);
};

/* 64 vectors have those of some thousand hosts: each SRQ has a few hundred of them */
#define NVMET_RDMA_SRQ_SHARES_BITS	10

/**
 * struct nvmet_rdma_srq_share - what a host's queues have of an SRQ
 * @entry: in the SRQ's table
 * @peer: the host
 * @depth: commands that it may have outstanding on them
 */
struct nvmet_rdma_srq_share {
	struct hlist_node	entry;
	struct nvmet_rdma_peer	*peer;
	u32			depth;
};

/**
 * struct nvmet_rdma_srq - a shared receive queue
 * @entry: in the device's table
 * @dev: the device, which its queues hold references of
 * @ib: the verbs' part
 * @ops: of the files above
 * @vector: completion vector of its QPs
 * @room: bytes of in-capsule data of a receive
 * @nr: receives that there are, without lost and retiring ones
 * @nr_replaced: more of them, in place of lost ones
 * @replacements_used_up: more were lost than may be replaced: no queue joins any more
 * @nr_commands: commands that hosts may have outstanding on its queues
 * @queues: its queues
 * @shares: what each host has of it, by the host
 * @blocks: its receives
 * @cqs: the completion queues of its QPs
 * @epoch: counts how often a low-water mark was set; never 0
 * @low_mark: the last one
 * @limit_reached: the HCA said that fewer receives than that are left
 * @low: so did it, and hosts may send more commands: move them out of theirs
 * @low_handled: those that were waiting have been
 * @failed: the HCA said that it, or one of @cqs, does not work any more
 * @chain: receives to be posted next
 * @lock: protects @unposted and @closing; taken in any context
 * @unposted: receives that the HCA did not take
 * @closing: do not queue @work and @shrink_work
 * @work: what @limit_reached, @failed and @unposted ask for
 * @shrink_at: when receives may retire, in jiffies
 * @shrink_work: has them do so, and frees their memory
 */
struct nvmet_rdma_srq {
	struct hlist_node		entry;
	struct nvmet_rdma_device	*dev;
	struct ib_srq			*ib;
	const struct nvmet_rdma_srq_ops	*ops;
	u32				vector;
	u32				room;
	u32				nr;
	u32				nr_replaced;
	bool				replacements_used_up;
	u32				nr_commands;
	struct list_head		queues;
	DECLARE_HASHTABLE(shares, NVMET_RDMA_SRQ_SHARES_BITS);
	struct list_head		blocks;
	struct list_head		cqs;
	u32				epoch;
	u32				low_mark;
	bool				limit_reached;
	bool				low;
	bool				low_handled;
	bool				failed;
	struct nvmet_rdma_recv_chain	chain;
	spinlock_t			lock; /* see above */
	struct list_head		unposted;
	bool				closing;
	struct delayed_work		work;
	unsigned long			shrink_at;
	struct delayed_work		shrink_work;
};

/* When the HCA says that few are left, and when it took none: look again after */
#define NVMET_RDMA_SRQ_LOW_SECS		1

#endif /* NVMET_RDMA_COMMAND_H */
