/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: a connection, which is an NVMe queue pair */
#ifndef NVMET_RDMA_QUEUE_H
#define NVMET_RDMA_QUEUE_H

#include <linux/atomic.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/rdma_cm.h>

#include "command.h"
#include "core-abi/core.h"
#include "counters.h"
#include "cq.h"
#include "device.h"
#include "dma.h"
#include "port.h"
#include "response.h"
#include "sgl.h"
#include "state.h"

/**
 * enum nvmet_rdma_standing - what is known of a connection's host
 * @NVMET_RDMA_PENDING: nothing, no Connect has come
 * @NVMET_RDMA_UNPROVED: what it says in Connect; discovery stays so
 * @NVMET_RDMA_PROVED: the core takes its commands
 */
enum nvmet_rdma_standing {
	NVMET_RDMA_PENDING,
	NVMET_RDMA_UNPROVED,
	NVMET_RDMA_PROVED,
};

/**
 * struct nvmet_rdma_marker - a work request that is waited for
 * @cqe: its completion
 * @done: it has completed
 */
struct nvmet_rdma_marker {
	struct ib_cqe		cqe;
	struct completion	done;
};

/**
 * struct nvmet_rdma_drain - the drain of a queue's QP
 * @send: behind all of the send queue
 * @recv: behind all of the QP's own receive queue
 * @last_wqe: the QP has taken its last shared receive
 * @forced: the HCA did not answer; see nvmet_rdma_drain_forced()
 */
struct nvmet_rdma_drain {
	struct nvmet_rdma_marker	send;
	struct nvmet_rdma_marker	recv;
	struct completion		last_wqe;
	bool				forced;
};

/**
 * struct nvmet_rdma_queue - a connection, which is an NVMe queue pair
 * @nvme_sq: the core's submission queue
 * @nvme_cq: the core's completion queue
 * @cm_id: the CM's ID; its context is this queue
 * @qp: the queue pair
 * @cq: completions of all that is posted, shared with other queues
 * @nr_cqe: completions that the queue may have outstanding
 * @dev: the device
 * @port: the port that the host connected to
 * @peer_addr: the host's address
 * @quota: what the host has, see limits.c
 * @connected: Connect has come by the queue
 * @authenticated: so has a command that the core takes of an authenticated host only
 * @number: of the connection, to tell it from all others
 * @standing: what limits.c counts it as
 * @charge: bytes that it counts with against limits until it is proved
 * @qid: the queue ID that the connection request named
 * @depth: commands that the host may have outstanding
 * @vector: completion vector
 * @limits: what the parser of capsules has to know
 * @max_read_sge: scatter elements of an RDMA READ
 * @max_write_sge: gather elements of an RDMA WRITE
 * @nr_credits: send work requests that may be outstanding
 * @use_rw: every transfer goes through rdma_rw
 * @pi: commands may have protection information
 * @p2p: the device reaches memory of other PCI devices
 * @inline_rsp: the QP copies a completion entry when it is posted
 * @srq: where its receives come from; NULL if they are its own
 * @srq_entry: in the SRQ's list of queues
 * @srq_share: what its host has there
 * @recvs: receives of its own, if there is no @srq
 * @max_rsps: responses that it may have
 * @outstanding: commands that have come and not been answered; see io.c
 * @recv_chain: receives of its own to be posted next
 * @lock: protects the members from @state to @published; taken in any context
 * @state: see state.c; moved by nvmet_rdma_queue_move()
 * @waiting: commands that have come and not been started: for @io_work, for the
 *	     queue to be live, for a response, for send credit or memory; the oldest
 *	     first, and nobody overtakes but as io.c says
 * @waiting_end: where the next one is linked
 * @nr_waiting: their number
 * @arrivals: commands that have come, to tell which one came first
 * @head_blocked: the oldest of them waits for a response, credit or memory; read by send.c, and
 *	   when a command comes
 * @ready: commands whose data was read
 * @blocks: its responses
 * @allocated_rsps: their number
 * @free_rsps: responses that nobody uses
 * @credits: send work requests that nobody has reserved
 * @min_chunk: bytes of the smallest chunk that the last transfer of several had, while memory
 *	   is short; of @io_work alone
 * @published: others may find the queue, and release_work may end it
 * @failed: the host or the fabric broke the rules: end the controller, too; set by
 *	    whoever sees it, without the lock
 * @io_work: starts and executes commands
 * @retry_work: queues it again if the oldest command waits for memory
 * @retry_delay: of that, in jiffies; of @io_work alone
 * @batcher: the task that does, while it collects @batch; others only compare it
 * @batch: chains that are posted together; of @batcher alone
 * @nr_batch: their number
 * @plug: has @batch posted before @batcher sleeps
 * @sq_lock: orders posts to the send queue; protects the members from @sent to
 *	     @post_counts; taken in any context, innermost
 * @sent: number of the last response that was posted
 * @unretired: responses that were posted and of whose end nothing is known yet,
 *	       in the order of the send queue
 * @unsignaled: how many of them have been posted since the last signaled one
 * @unsignaled_bytes: of their buffers
 * @signaled: signaled work requests that have not completed
 * @last_progress: when one did last, or the first was posted, in jiffies
 * @sweep_cqe: completion of an empty RDMA WRITE, of which one is under way at
 *	       most
 * @sweep_sent: what @sent was when it was posted
 * @post_counts: counts of posts, by enum nvmet_rdma_count from %NVMET_RDMA_N_POSTS on
 * @sent_at_check: what @sent was when stall.c last looked
 * @stall_work: ends it if its host takes nothing, see stall.c
 * @release_work: takes the queue down
 * @deadline: ends a queue that no Connect comes by
 * @drain: of the QP, when the queue ends
 * @entry: in the list of queues
 * @visited: number of the last visit that has come to it
 * @ctrl: the core's controller that it belongs to, from Connect on
 * @ctrl_entry: in the table of queues by controller
 * @file: in debugfs
 * @host_stats: the host by its NQN, from Connect on; see host.c
 * @host_entry: in the host's list of queues
 * @cntlid: its controller, if there is a @host_stats
 * @subsysnqn: the subsystem of that, NULL if there was no memory
 * @events: counts by enum nvmet_rdma_event
 * @counts: counts of what every command does, see observe.h
 */
struct nvmet_rdma_queue {
	struct nvmet_sq			nvme_sq;
	struct nvmet_cq			nvme_cq;
	struct rdma_cm_id		*cm_id;
	struct ib_qp			*qp;
	struct nvme_rdma_cq		*cq;
	u32				nr_cqe;
	struct nvmet_rdma_device	*dev;
	struct nvmet_rdma_port		*port;
	struct sockaddr_storage		peer_addr;
	struct nvmet_rdma_peer		*quota;
	bool				connected;
	bool				authenticated;
	u32				number;
	enum nvmet_rdma_standing	standing;
	u64				charge;
	u16				qid;
	u32				depth;
	u32				vector;
	struct nvmet_rdma_sgl_limits	limits;
	u32				max_read_sge;
	u32				max_write_sge;
	u32				nr_credits;
	bool				use_rw;
	bool				pi;
	bool				p2p;
	bool				inline_rsp;

	struct nvmet_rdma_srq		*srq;
	struct list_head		srq_entry;
	struct nvmet_rdma_srq_share	*srq_share;
	struct nvmet_rdma_recv_block		*recvs;
	u32				max_rsps;

	/* Written for each command, on the CPUs of completions and of disks */
	atomic_t			outstanding ____cacheline_aligned_in_smp;
	struct nvmet_rdma_recv_chain	recv_chain;

	spinlock_t			lock ____cacheline_aligned_in_smp; /* see above */
	enum nvmet_rdma_queue_state	state;
	struct nvmet_rdma_cmd		*waiting;
	struct nvmet_rdma_cmd		**waiting_end;
	u32				nr_waiting;
	u32				arrivals;
	bool				head_blocked;
	struct nvmet_rdma_rsps		ready;
	struct nvmet_rdma_rsp_block	*blocks;
	u32				allocated_rsps;
	struct nvmet_rdma_rsp		*free_rsps;
	u32				credits;
	u32				min_chunk;
	bool				published;
	bool				failed;

	struct work_struct		io_work;
	struct delayed_work		retry_work;
	unsigned long			retry_delay;
	struct task_struct		*batcher;
	struct nvmet_rdma_rsp		*batch[NVMET_RDMA_BATCH];
	u32				nr_batch;
	struct blk_plug_cb		plug;

	spinlock_t			sq_lock ____cacheline_aligned_in_smp; /* see above */
	u64				sent;
	struct nvmet_rdma_rsps		unretired;
	u32				unsignaled;
	u32				unsignaled_bytes;
	u32				signaled;
	unsigned long			last_progress;
	struct ib_cqe			sweep_cqe;
	u64				sweep_sent;
	u64				post_counts[NVMET_RDMA_NR_POST_COUNTS];

	u64				sent_at_check;
	struct work_struct		stall_work;
	struct work_struct		release_work;
	struct delayed_work		deadline;
	struct nvmet_rdma_drain		drain;
	struct list_head		entry;
	u32				visited;
	const struct nvmet_ctrl		*ctrl;
	struct hlist_node		ctrl_entry;

	struct dentry			*file;
	struct nvmet_rdma_host		*host_stats;
	struct list_head		host_entry;
	u16				cntlid;
	const char			*subsysnqn;
	atomic64_t			events[NVMET_RDMA_NR_EVENTS];
	struct nvmet_rdma_counts	counts;
};

/* Context: any. */
static inline void nvmet_rdma_event(struct nvmet_rdma_queue *queue,
				    enum nvmet_rdma_event event)
{
	atomic64_inc(&queue->events[event]);
}

/* Context: a completion handler of the queue. */
static inline void nvmet_rdma_count(struct nvmet_rdma_queue *queue,
				    enum nvmet_rdma_count what)
{
	if (NVME_RDMA_COUNTS)
		queue->counts.n[what]++;
}

/* Context: any, with sq_lock. */
static inline void nvmet_rdma_count_post(struct nvmet_rdma_queue *queue,
					 enum nvmet_rdma_count what)
{
	if (NVME_RDMA_COUNTS)
		queue->post_counts[what - NVMET_RDMA_N_POSTS]++;
}

/*
 * Context: a completion handler of the queue. Return: true if the queue is being taken
 * down without its HCA, so that what has completed is the release's already.
 */
static inline bool nvmet_rdma_drain_forced(const struct nvmet_rdma_queue *queue)
{
	return unlikely(READ_ONCE(queue->drain.forced));
}

/* Says which host and which queue; a peer may cause it, so it is limited */
#define nvmet_rdma_queue_warn(queue, fmt, ...)				\
do {									\
	const struct nvmet_rdma_queue *_queue = (queue);		\
									\
	pr_warn_ratelimited("host %pISpc, queue %u: " fmt,		\
			    &_queue->peer_addr, _queue->qid, ##__VA_ARGS__);	\
} while (0)

#endif /* NVMET_RDMA_QUEUE_H */
