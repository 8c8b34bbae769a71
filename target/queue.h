/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: a connection, which is an NVMe queue pair */
#ifndef NVMET_RDMA_QUEUE_H
#define NVMET_RDMA_QUEUE_H

#include <linux/atomic.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/llist.h>
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
 * @NVMET_RDMA_PENDING: nothing, no Connect was received
 * @NVMET_RDMA_UNPROVED: the name in Connect; discovery stays in this standing
 * @NVMET_RDMA_PROVED: authenticated, if it has to be: the core executes its commands
 */
enum nvmet_rdma_standing {
	NVMET_RDMA_PENDING,
	NVMET_RDMA_UNPROVED,
	NVMET_RDMA_PROVED,
};

/**
 * struct nvmet_rdma_marker - a work request whose completion is waited for
 * @cqe: its completion
 * @done: it has completed
 */
struct nvmet_rdma_marker {
	struct ib_cqe		cqe;
	struct completion	done;
};

/**
 * struct nvmet_rdma_drain - the drain of a queue's QP
 * @send: posted last to the send queue
 * @recv: posted last to the QP's own receive queue
 * @last_wqe: the QP has taken its last shared receive
 * @forced: the HCA did not answer; set once by the release, under sq_lock;
 *	    see nvmet_rdma_drain_forced()
 */
struct nvmet_rdma_drain {
	struct nvmet_rdma_marker	send;
	struct nvmet_rdma_marker	recv;
	struct completion		last_wqe;
	bool				forced;
};

/**
 * enum nvmet_rdma_run_state - bits of a queue's @run_state; see run.c
 * @NVMET_RDMA_RUN_LISTED: it is in a list, or will be
 * @NVMET_RDMA_RUN_RUNNING: a work runs it
 * @NVMET_RDMA_RUN_STOPPED: it is being released
 */
enum nvmet_rdma_run_state {
	NVMET_RDMA_RUN_LISTED	= 1,
	NVMET_RDMA_RUN_RUNNING	= 2,
	NVMET_RDMA_RUN_STOPPED	= 4,
};

/**
 * struct nvmet_rdma_arrived - what a batch of completions brings to a queue; see recv.c
 * @first: received commands, in the order of arrival
 * @last: valid if there is a @first
 * @nr: number of them
 * @next: the next queue of the batch, if there is a @first
 */
struct nvmet_rdma_arrived {
	struct nvmet_rdma_cmd	*first;
	struct nvmet_rdma_cmd	*last;
	u32			nr;
	struct nvmet_rdma_queue	*next;
};

/**
 * struct nvmet_rdma_run - a work that runs queues
 * @work: the work
 * @list: the list that it was queued for
 * @rest: queues that another work has passed on, instead of @list
 */
struct nvmet_rdma_run {
	struct work_struct	work;
	struct llist_head	*list;
	struct llist_node	*rest;
};

/**
 * struct nvmet_rdma_queue - a connection, which is an NVMe queue pair
 * @nvme_sq: the core's submission queue
 * @nvme_cq: the core's completion queue
 * @cm_id: the CM's ID; its context is this queue
 * @qp: the queue pair
 * @cq: the completion queue of all that is posted, shared with other queues
 * @cq_entry: in the list of queues of @cq; see cqs.c
 * @nr_cqe: entries of @cq that the queue may use
 * @dev: the device
 * @port: the port that the host connected to
 * @peer_addr: the host's address
 * @quota: what the host has, and may have; see limits.c
 * @connected: Connect was accepted; set once, by run_work
 * @authenticated: a command was received that the core takes only from an authenticated
 *		   host; set once, by run_work, and read by the release
 * @number: unique number of the connection, for debugfs and tracepoints
 * @standing: how limits.c counts it; protected by its mutex, as is @charge
 * @charge: bytes that count against limits until the host is authenticated
 * @qid: the queue ID that the connection request named
 * @depth: commands that the host may have outstanding
 * @vector: completion vector
 * @limits: limits for the parser of capsules (sgl.c)
 * @max_read_sge: scatter elements of an RDMA READ
 * @max_write_sge: gather elements of an RDMA WRITE
 * @nr_credits: send work requests that may be outstanding
 * @use_rw: all transfers use rdma_rw
 * @pi: commands may have protection information
 * @p2p: the device reaches memory of other PCI devices
 * @inline_rsp: the QP copies a completion entry when it is posted
 * @srq: the SRQ; NULL if the queue has receives of its own
 * @srq_entry: in the SRQ's list of queues
 * @srq_share: its host's share of the SRQ
 * @recvs: receives of its own, if there is no @srq
 * @max_rsps: most responses that it may allocate
 * @max_unsignaled: a response is signaled if this many were posted since the last signaled one
 * @recv_chain: receives of its own to be posted next
 * @collected: chains that interrupts have collected, the newest first; see send.c
 * @post_collected: posts them
 * @arrivals: number of received commands, for their order and their depth; written by
 *	      completion handlers, read in any context
 * @arrived: commands of the present batch; used by the poller of @cq only
 * @lock: protects the members from @state to @published; taken in any context
 * @state: see state.c; moved by nvmet_rdma_queue_move()
 * @waiting: received commands that are not started: they wait for run_work, for the queue
 *	     to be live, for a response, for send credit or for memory. The oldest is
 *	     first; io.c says which commands may pass it
 * @waiting_end: where the next one is linked
 * @nr_waiting: number of @waiting
 * @head_blocked: the first of @waiting waits for a response, credit or memory; written by
 *		  run_work, read by stall.c and when a command arrives, and by send.c under
 *		  sq_lock alone
 * @ready: commands whose data was read
 * @blocks: allocated responses
 * @allocated_rsps: their number; written under @lock, raised by nvmet_rdma_rsp_grow() alone
 * @free_rsps: unused responses
 * @credits: send work requests that are not reserved
 * @min_chunk: bytes of the smallest chunk of the last transfer that had several, while
 *	       memory is short; used by run_work only
 * @published: the queue is in the list of queues, and may be released
 * @failed: the host or the fabric failed: end the controller, too. Set in any context and
 *	    without the lock, never cleared, and read by the release
 * @run: a work, and what it runs; see run.c for this and the next three
 * @run_node: in a list of queues that have something to do, or of those that are open (run.c)
 * @run_state: bits of enum nvmet_rdma_run_state; 0 is idle
 * @run_ended: no work runs the queue any more
 * @retry_work: runs the queue again if the first of @waiting waits for memory
 * @retry_delay: delay of @retry_work in jiffies; used by run_work only
 * @looks: the work that will run the queue, or runs it, counts as one that looks at @cq
 *	   (common/cq.c). Written by a handler that lists an idle queue, under the lock; by the
 *	   work that runs it; by the release
 * @waits: it has used a disk whose driver may sleep, so that no thread runs it (thread.c);
 *	   written by the thread that runs it
 * @thread: the thread that runs it, and shall not wait for a disk (bdev.c); NULL if a work does;
 *	    written by what runs it
 * @blocked: a disk would have kept the thread waiting, so a work runs the queue next; protected
 *	by the lock
 * @deep: the last run had several commands; written by run_work, under the lock
 * @batcher: the task of run_work, while it collects @batch; other tasks only compare it
 * @batch: chains that are posted together; used by @batcher only
 * @nr_batch: number of @batch
 * @plug: posts @batch, and looks at @cq, before @batcher sleeps
 * @sq_lock: orders posts to the send queue; protects the members from @answered to
 *	     @post_counts; taken in any context, innermost
 * @answered: commands whose receive was given back, as their response was about to be posted;
 *	      read in any context; see recv.c
 * @sent: number of the last response that was posted
 * @unretired: posted responses that are not known to have completed, in the order of the
 *	       send queue
 * @unsignaled: number of responses posted since the last signaled one
 * @unsignaled_bytes: bytes of their buffers
 * @signaled: number of signaled work requests that have not completed
 * @last_progress: when a signaled work request last completed, or the first was posted, in
 *		   jiffies
 * @sweep_cqe: completion of a sweep, of which at most one is under way; see send.c
 * @sweep_sent: @sent when the sweep was posted
 * @post_counts: counts of posts, by enum nvmet_rdma_count from %NVMET_RDMA_N_POSTS on
 * @sent_at_check: @sent at the last check of stall.c, which alone uses it
 * @stall_work: ends the queue if its host makes no progress; see stall.c
 * @release_work: releases the queue
 * @unfinished: the queue has ended with commands, of which some may still be at a disk; set under
 *	the lock, cleared by the release (unfinished.c)
 * @ended_at: when it ended, in jiffies, if it was @unfinished then
 * @deadline: ends the queue if no Connect is received
 * @drain: the drain of the QP, when the queue ends
 * @entry: in the list of queues
 * @visited: number of the last visit of all queues that included this one; under
 *	     queues_mutex, as are @entry, @ctrl, @ctrl_entry and @io_queues
 * @ctrl: the core's controller, from Connect on
 * @ctrl_entry: of an admin queue, in the table of these by controller
 * @io_queues: an admin queue's list of its controller's I/O queues that have not been told to end;
 *	of an I/O queue, its entry there
 * @file: in debugfs
 * @host_stats: statistics of the host, from Connect on; see host_stats.c
 * @host_entry: in the host's list of queues
 * @cntlid: ID of the controller, if there are @host_stats
 * @subsysnqn: NQN of its subsystem, NULL if there was no memory
 * @events: counts by enum nvmet_rdma_event
 * @counts: counts of what every command does, see counters.h
 */
struct nvmet_rdma_queue {
	struct nvmet_sq			nvme_sq;
	struct nvmet_cq			nvme_cq;
	struct rdma_cm_id		*cm_id;
	struct ib_qp			*qp;
	struct nvme_rdma_cq		*cq;
	struct list_head		cq_entry;
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
	u32				max_unsignaled;

	/* Written for each command, on the CPUs of completions and of disks */
	struct nvmet_rdma_recv_chain	recv_chain ____cacheline_aligned_in_smp;
	struct llist_head		collected;
	struct tasklet_struct		post_collected;

	u32				arrivals ____cacheline_aligned_in_smp;
	struct nvmet_rdma_arrived	arrived;
	spinlock_t			lock; /* see above */
	enum nvmet_rdma_queue_state	state;
	struct nvmet_rdma_cmd		*waiting;
	struct nvmet_rdma_cmd		**waiting_end;
	u32				nr_waiting;
	bool				head_blocked;
	struct nvmet_rdma_rsps		ready;
	struct nvmet_rdma_rsp_block	*blocks;
	u32				allocated_rsps;
	struct nvmet_rdma_rsp		*free_rsps;
	u32				credits;
	u32				min_chunk;
	bool				published;
	bool				failed;

	struct nvmet_rdma_run		*run;
	struct llist_node		run_node;
	atomic_t			run_state;
	struct completion		run_ended;
	struct delayed_work		retry_work;
	unsigned long			retry_delay;
	struct nvmet_rdma_thread	*thread;
	bool				looks;
	bool				waits;
	bool				blocked;
	bool				deep;
	struct task_struct		*batcher;
	struct nvmet_rdma_rsp		*batch[NVMET_RDMA_BATCH];
	u32				nr_batch;
	struct blk_plug_cb		plug;

	spinlock_t			sq_lock ____cacheline_aligned_in_smp; /* see above */
	u32				answered;
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
	bool				unfinished;
	unsigned long			ended_at;
	struct delayed_work		deadline;
	struct nvmet_rdma_drain		drain;
	struct list_head		entry;
	u32				visited;
	const struct nvmet_ctrl		*ctrl;
	struct hlist_node		ctrl_entry;
	struct list_head		io_queues;

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

/* Context: any. Return: commands that were received and not answered yet, or some more. */
static inline u32 nvmet_rdma_outstanding(const struct nvmet_rdma_queue *queue)
{
	/* Read first: what it counts has arrived, so the difference is not negative */
	u32 answered = smp_load_acquire(&queue->answered);

	return READ_ONCE(queue->arrivals) - answered;
}

/* Context: a completion handler of the queue. */
static inline void nvmet_rdma_count(struct nvmet_rdma_queue *queue,
				    enum nvmet_rdma_count what)
{
	if (NVME_RDMA_COUNTS)
		queue->counts.n[what]++;
}

/* Context: any, with sq_lock. */
static inline void nvmet_rdma_count_posts(struct nvmet_rdma_queue *queue,
					  enum nvmet_rdma_count what, u32 nr)
{
	if (NVME_RDMA_COUNTS)
		queue->post_counts[what - NVMET_RDMA_N_POSTS] += nr;
}

/*
 * Context: a completion handler of the queue. Return: true if the queue is released without
 * its HCA, so that the release already owns what has completed.
 */
static inline bool nvmet_rdma_drain_forced(const struct nvmet_rdma_queue *queue)
{
	return unlikely(READ_ONCE(queue->drain.forced));
}

/* Names the host and the queue. Rate-limited, because a peer may cause it */
#define nvmet_rdma_queue_warn(queue, fmt, ...)				\
do {									\
	const struct nvmet_rdma_queue *_queue = (queue);		\
									\
	pr_warn_ratelimited("host %pISpc, queue %u: " fmt,		\
			    &_queue->peer_addr, _queue->qid, ##__VA_ARGS__);	\
} while (0)

#endif /* NVMET_RDMA_QUEUE_H */
