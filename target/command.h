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
 * @first: the first receive, linked by the work requests; NULL if there is none
 * @last: the last one
 * @nr: number of receives
 * @done: handler of their completions, set when the chain is made
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
 * @copied: a command that was moved out of its receive; see recv.c
 * @sync: its memory has to be synced
 * @cqe: completion of the receive
 * @sge: the command, and the in-capsule data behind it
 * @wr: the receive
 * @srq: its SRQ, NULL if it is a queue's own receive
 * @block: its block, if there is an @srq
 * @posted_epoch: the SRQ's epoch in which it was posted, 0 if it has completed since
 * @queue: the queue that received the command
 * @capsule: the command, in the block's memory
 * @icd: in-capsule data, physically contiguous; NULL if there is no room
 * @sgl: where the command's data is
 * @number: number of the command, in the order of arrival
 * @need: send work requests that the command takes
 * @delay_counted: its delay was counted
 * @arrived_at: when its completion was found, in nanoseconds of ktime
 * @next: the next one in the queue's list of waiting commands
 * @entry: in the SRQ's list @unposted, or its block's list @returned
 *
 * Belongs to the HCA from the post to the completion, then to the command until its
 * response is about to be posted.
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
 * enum nvmet_rdma_block_state - life of a block of shared receives; see srq_shrink.c
 * @NVMET_RDMA_BLOCK_USED: its receives are posted and used
 * @NVMET_RDMA_BLOCK_RETIRING: its receives are not posted again
 * @NVMET_RDMA_BLOCK_EMPTY: all have returned, and their in-capsule data is freed
 *
 * Written with the device's srq_lock held, and to and from USED with the SRQ's lock, too.
 */
enum nvmet_rdma_block_state {
	NVMET_RDMA_BLOCK_USED,
	NVMET_RDMA_BLOCK_RETIRING,
	NVMET_RDMA_BLOCK_EMPTY,
};

/**
 * struct nvmet_rdma_recv_block - a block of receives
 * @entry: in an SRQ's list of blocks
 * @nr: receives
 * @room: bytes of in-capsule data of each
 * @cmds: receives
 * @capsules: their commands
 * @permanent: never retires; see srq_shrink.c
 * @state: see there
 * @nr_returned: number of @returned; protected by the SRQ's lock, as is @returned
 * @returned: its receives that were not posted again
 */
struct nvmet_rdma_recv_block {
	struct list_head	entry;
	u32			nr;
	u32			room;
	bool			permanent;
	enum nvmet_rdma_block_state state;
	u32			nr_returned;
	struct list_head	returned;
	struct nvmet_rdma_cmd	*cmds;
	struct nvme_rdma_pages	*capsules;
};

/**
 * nvmet_rdma_recv_chain_add() - add a receive to a chain
 * @chain: the chain
 * @cmd: the receive, synced for the device; NULL to add none
 * @full: number of receives of a full chain
 *
 * The caller that gets a chain posts it before it releases the lock. So at most a chain of
 * receives is not posted, and there are that many to spare. The receives may complete only
 * from now on: an earlier completion is reported as an error.
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
 * struct nvmet_rdma_srq_ops - operations of higher layers
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
 * enum nvmet_rdma_srq_level - is an SRQ running low?
 * @NVMET_RDMA_SRQ_ARMED: no; a low-water mark is set
 * @NVMET_RDMA_SRQ_GROW: the HCA reported that fewer receives than the mark are left, and there
 *	may be more of them
 * @NVMET_RDMA_SRQ_REACHED: the same report, but there is a receive for each command
 * @NVMET_RDMA_SRQ_LOW: the same report, but hosts may send more commands than there can be
 *	receives: commands are moved out of theirs
 * @NVMET_RDMA_SRQ_LOW_HANDLED: the same; the waiting commands have been moved
 *
 * The HCA's event handler leaves ARMED. The SRQ's work writes the other moves, and goes back to
 * ARMED before it sets a new mark. The HCA reports a mark once. But a report may be on its way
 * while a queue that joins, or a block that retires, sets another mark. Then a second report may
 * come while the work writes. A level that is lost so is found again: after ARMED the work sets
 * a mark, and the HCA reports that at once if receives are still low. srq_low.c says how it
 * counts receives then.
 */
enum nvmet_rdma_srq_level {
	NVMET_RDMA_SRQ_ARMED,
	NVMET_RDMA_SRQ_GROW,
	NVMET_RDMA_SRQ_REACHED,
	NVMET_RDMA_SRQ_LOW,
	NVMET_RDMA_SRQ_LOW_HANDLED,
};

/**
 * struct nvmet_rdma_srq_share - a host's share of an SRQ
 * @entry: in the SRQ's table
 * @peer: the host
 * @depth: sum of the depths of its queues
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
 * @ops: operations of recv.c
 * @vector: completion vector of its QPs
 * @room: bytes of in-capsule data of a receive
 * @nr: number of receives, without lost and retiring ones
 * @nr_replaced: number of additional receives, in place of lost ones
 * @replacements_used_up: more were lost than may be replaced: no queue joins any more
 * @nr_commands: commands that hosts may have outstanding on its queues
 * @queues: its queues
 * @shares: shares of hosts, by host
 * @blocks: its receives
 * @cqs: the completion queues of its QPs
 * @epoch: of receives that are posted now: @mark_epoch or the next one; never 0
 * @mark_epoch: the epoch of the last low-water mark, which receives of earlier ones are older than
 * @low_mark: the last low-water mark
 * @count_mark: the higher one of the last two: fewer receives than that were left at a report
 * @level: is it running low?
 * @failed: the HCA reported that the SRQ, or one of @cqs, has failed; set in any context,
 *	    never cleared
 * @chain: receives to be posted next
 * @lock: protects @unposted and @closing; taken in any context
 * @unposted: receives that the HCA did not take
 * @closing: do not queue @work and @shrink_work; set once, by the last queue that leaves
 * @work: handles @level, @failed and @unposted
 * @shrink_at: when receives may retire, in jiffies
 * @shrink_work: looks at what is in use, retires receives, and frees their memory
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
	struct nvmet_rdma_cqs		cqs;
	u32				epoch;
	u32				mark_epoch;
	u32				low_mark;
	u32				count_mark;
	enum nvmet_rdma_srq_level	level;
	bool				failed;
	struct nvmet_rdma_recv_chain	chain;
	spinlock_t			lock; /* see above */
	struct list_head		unposted;
	bool				closing;
	struct delayed_work		work;
	unsigned long			shrink_at;
	struct delayed_work		shrink_work;
};

/* Context: any. Return: whether commands have to leave their receives. */
static inline bool nvmet_rdma_srq_is_low(const struct nvmet_rdma_srq *srq)
{
	return READ_ONCE(srq->level) >= NVMET_RDMA_SRQ_LOW;
}

/* Delay of the next check after a low-water report, or after a failed post */
#define NVMET_RDMA_SRQ_LOW_SECS		1

#endif /* NVMET_RDMA_COMMAND_H */
