/* SPDX-License-Identifier: GPL-2.0 */
/* A queue: its members, and what every layer asks of it */
#ifndef NVME_RDMA_HOST_QUEUE_H
#define NVME_RDMA_HOST_QUEUE_H

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cq.h"
#include "hist.h"
#include "pages.h"
#include "request.h"
#include "state.h"

struct nvme_rdma_ctrl;
struct nvme_rdma_device;

/* The largest queue size of the core (its NVMF_MAX_QUEUE_SIZE) */
#define NVME_RDMA_MAX_DEPTH		1024

/*
 * Receives are posted in chains of this length. A queue has this many more receives than
 * commands, since those of a chain that is not full yet are not posted.
 */
#define NVME_RDMA_RECV_CHAIN		8

/* Command ID of the asynchronous event request; its capsule follows those of the tags */
#define NVME_RDMA_AEN_CID		NVME_AQ_BLK_MQ_DEPTH

/* Slots that one command can hold: REG_MR, SEND, LOCAL_INV */
#define NVME_RDMA_SLOTS_PER_COMMAND	3

/* The drain posts one work request of its own to each queue */
#define NVME_RDMA_DRAIN_SLOTS		1

/* Bounds for the number of slots between two signaled SENDs */
#define NVME_RDMA_SIGNAL_EVERY_MIN	4
#define NVME_RDMA_SIGNAL_EVERY_MAX	32

/* Rare events, counted by atomics; see debugfs.c */
enum nvme_rdma_event {
	NVME_RDMA_EV_NO_SLOT,		/* a request waits for send queue slots */
	NVME_RDMA_EV_NO_MEMORY,		/* or for memory to map its data */
	NVME_RDMA_EV_NO_MR,		/* or for the MR of its tag */
	NVME_RDMA_EV_CONNECT,		/* the queue became LIVE */
	NVME_RDMA_EV_CONNECT_FAILED,	/* an attempt to connect failed */
	NVME_RDMA_EV_LOST,		/* the CM reported the end of a connection */
	NVME_RDMA_EV_WC_ERROR,		/* a work request failed */
	NVME_RDMA_EV_FLUSH,		/* or was flushed after another failed */
	NVME_RDMA_EV_PROTOCOL,		/* the controller broke the protocol */
	NVME_RDMA_EV_POST,		/* the device refused a post */
	NVME_RDMA_EV_PI,		/* protection information was wrong */
	NVME_RDMA_EV_TIMEOUT,		/* a command timed out */
	NVME_RDMA_EV_ABORT,		/* the controller was asked to abort it */
	NVME_RDMA_NR_EVENTS,
};

/**
 * struct nvme_rdma_sent - counts of submission, under the queue's sq_lock
 * @by_data:	commands, by enum nvme_rdma_data
 * @bytes:	of their data, by direction
 * @posts:	calls of the provider, which ring a doorbell each
 * @signaled:	SENDs that ask for a completion
 */
struct nvme_rdma_sent {
	u64	by_data[NVME_RDMA_NR_DATA];
	u64	bytes[2];
	u64	posts;
	u64	signaled;
};

/**
 * struct nvme_rdma_done - counts of completion, written in the context of the CQ
 * @polls:	polls of the CQ of a polled queue
 * @sends:	completions of SENDs
 * @errors:	responses with a status other than success
 * @remote_invalidates: keys that the controller invalidated
 * @local_invalidates: keys that this host invalidated
 * @latency:	of all responses, from &nvme_rdma_request.sent_at
 */
struct nvme_rdma_done {
	u64	polls;
	u64	sends;
	u64	errors;
	u64	remote_invalidates;
	u64	local_invalidates;
	struct nvme_rdma_hist	latency;
};

/**
 * enum nvme_rdma_drain_state - what the device may still have of a queue
 * @NVME_RDMA_DRAIN_NONE: nothing, the QP has not begun to connect
 * @NVME_RDMA_DRAIN_DUE: work requests, and memory by keys
 * @NVME_RDMA_DRAIN_FLUSHED: memory by keys, the QP was drained
 * @NVME_RDMA_DRAIN_DONE: nothing, no key is valid any more
 *
 * They follow each other in this order. Freeing the queue leads back to the first.
 */
enum nvme_rdma_drain_state {
	NVME_RDMA_DRAIN_NONE,
	NVME_RDMA_DRAIN_DUE,
	NVME_RDMA_DRAIN_FLUSHED,
	NVME_RDMA_DRAIN_DONE,
};

/**
 * struct nvme_rdma_drain - the work request that drains one queue of a QP
 * @cqe:	its completion
 * @arrived:	it completed in the batch of completions that is being handled
 * @done:	completed at the end of that batch
 */
struct nvme_rdma_drain {
	struct ib_cqe		cqe;
	bool			arrived;
	struct completion	done;
};

/**
 * struct nvme_rdma_recv_chain - receives that are posted together
 * @nr:		number of receives in the chain
 * @wr:		the receives, always linked
 * @sge:	their completion entries
 */
struct nvme_rdma_recv_chain {
	unsigned int		nr;
	struct ib_recv_wr	wr[NVME_RDMA_RECV_CHAIN];
	struct ib_sge		sge[NVME_RDMA_RECV_CHAIN];
};

/**
 * struct nvme_rdma_queue - one queue pair of a controller
 * @ctrl:	the controller
 * @qid:	0 for the admin queue
 * @depth:	commands that may be outstanding: capsules, MRs, responses
 * @inline_size: bytes of in-capsule data that the controller takes; 0: none
 * @state:	see state.h; written under @state_lock, read anywhere
 * @state_lock:	protects @state and @error; taken in any context
 * @error:	errno of the error that moved the queue to FAILED; cleared without the lock
 *		by the start job, whose queue is IDLE and cannot fail
 * @state_wait:	woken by every change of @state
 * @drain_state: enum nvme_rdma_drain_state; written under @stop_lock, read anywhere
 * @key_lock:	held while @mrs and @sig_mrs are freed, which may take minutes; taken before
 *		@stop_lock
 * @stop_lock:	protects @drain_state; one context at a time connects, drains or frees
 *		the QP
 * @sq_drain: @rq_drain: for the drain
 * @ibdev_name: @vector: @cqn: device, completion vector and number of the completion queue of
 *		the last connection, for debugfs.c
 * @events:	counts by enum nvme_rdma_event
 * @work: @job: @result: the job of nvme_rdma_run_jobs(), and its result
 * @mr_work:	allocates @mrs
 * @mr_work_queued: @mr_work has been queued since the queue was connected; written under
 *		@stop_lock or @key_lock
 * @device_entry: in the list of the queues of @device
 *
 * Members between nvme_rdma_create_verbs() and nvme_rdma_destroy_verbs():
 * @cm_id: @device: @qp: @cq: the connection
 * @send_inline: the QP takes a 64-byte command inline
 * @capsules:	@depth commands
 * @generations: of the next command ID of each tag. Two consecutive commands with one tag must
 *		not have the same ID: a second response to the first would complete the
 *		second. nvme-core counts by request, but with an I/O scheduler, and for
 *		flushes, several requests use a tag. Accessed by the holder of the tag
 *		only; a tag passes to its next holder with a barrier
 * @rsps:	completion entries
 * @rsp_cqes:	the receive of each entry of @rsps
 * @mrs:	one MR a tag, NULL until it is allocated, see mr.c
 * @sig_mrs:	one integrity MR a tag, if the controller has @pi
 * @tags:	requests by tag; NULL while none can be in flight; written by the start job and
 *		the owner, read by handlers
 *
 * Submission:
 * @sq_lock:	protects the members below except @sq_taken; orders posts of requests; taken
 *		in process context. LOCAL_INVs, the event request and the drain post without it
 * @sq_taken:	SQ slots that were taken since the QP was made; a slot is taken before a
 *		work request is built
 * @pending:	requests to be posted, oldest first
 * @pending_tail: where the next one is linked
 * @unretired:	SQ slots posted since the last signaled SEND
 * @signal_every: a SEND is signaled when @unretired reaches this
 * @unsignaled_send: @unsignaled_reg: completions, in error only, of work requests that no
 *		request waits for
 * @plug_time:	time of the last plug, if a post has taken it
 * @sent:	counts of submission
 *
 * Completion:
 * @sq_given:	all SQ slots, and those that were given back, each when a signaled work request
 *		at or behind it completed; written by handlers, read anywhere
 * @done:	counts of completion
 * @recv_chain:	receives that completed and are to be posted again
 * @batch:	requests that are completed at the end of the batch of completions
 * @iob:	the batch that requests are added to: @batch, or that of the poller
 * @polling:	bit 0: a context polls the CQ of a polled queue; one at a time
 *
 * The asynchronous event request, on the admin queue:
 * @aen_cqe:	completion of its SEND
 * @aen_waits:	as a request's waits
 * @aen_status: @aen_result: its response
 */
struct nvme_rdma_queue {
	struct nvme_rdma_ctrl	*ctrl;
	u16			qid;
	u16			depth;
	u32			inline_size;
	enum nvme_rdma_queue_state state;

	struct ib_qp		*qp;
	struct nvme_rdma_device	*device;
	bool			send_inline;
	struct nvme_rdma_pages	*capsules;
	u8			*generations;
	struct ib_mr		**mrs;
	struct ib_mr		**sig_mrs;
	struct blk_mq_tags	*tags;
	struct nvme_rdma_pages	*rsps;
	struct ib_cqe		*rsp_cqes;

	/* protects submission, see above */
	spinlock_t		sq_lock ____cacheline_aligned_in_smp;
	atomic_t		sq_taken;
	struct nvme_rdma_request *pending;
	struct nvme_rdma_request **pending_tail;
	unsigned int		unretired;
	unsigned int		signal_every;
	struct ib_cqe		unsignaled_send;
	struct ib_cqe		unsignaled_reg;
	u64			plug_time;
	struct nvme_rdma_sent	sent;

	unsigned int		sq_given ____cacheline_aligned_in_smp;
	struct nvme_rdma_done	done;
	struct nvme_rdma_recv_chain recv_chain;
	struct io_comp_batch	batch;
	struct io_comp_batch	*iob;
	unsigned long		polling;
	struct nvme_rdma_cq	*cq;
	struct rdma_cm_id	*cm_id;
	/* protects state and error */
	spinlock_t		state_lock;
	int			error;
	wait_queue_head_t	state_wait;
	enum nvme_rdma_drain_state drain_state;
	/* one context at a time frees the MRs */
	struct mutex		key_lock;
	/* one context at a time connects, drains or frees the QP */
	struct mutex		stop_lock;
	struct nvme_rdma_drain	sq_drain;
	struct nvme_rdma_drain	rq_drain;
	char			ibdev_name[IB_DEVICE_NAME_MAX];
	unsigned int		vector;
	u32			cqn;
	atomic64_t		events[NVME_RDMA_NR_EVENTS];
	struct work_struct	work;
	int			(*job)(struct nvme_rdma_queue *queue);
	int			result;
	struct work_struct	mr_work;
	bool			mr_work_queued;
	struct list_head	device_entry;

	struct ib_cqe		aen_cqe;
	atomic_t		aen_waits;
	__le16			aen_status;
	union nvme_result	aen_result;
};

/* Context: any. */
static inline void nvme_rdma_count(struct nvme_rdma_queue *queue,
				   enum nvme_rdma_event event)
{
	atomic64_inc(&queue->events[event]);
}

/* Context: as queue_rq(). Return: the MR of a tag, NULL if it is not allocated yet */
static inline struct ib_mr *
nvme_rdma_tag_mr(const struct nvme_rdma_queue *queue, int tag)
{
	/* pairs with nvme_rdma_make_mr() */
	return smp_load_acquire(&queue->mrs[tag]);
}

/* Context: any. Only a LIVE queue takes commands other than Fabrics ones. */
static inline bool nvme_rdma_queue_live(const struct nvme_rdma_queue *queue)
{
	/* pairs with nvme_rdma_move_queue() */
	return smp_load_acquire(&queue->state) == NVME_RDMA_Q_LIVE;
}

/* Context: any. May work requests be posted, those of Fabrics commands among them? */
static inline bool nvme_rdma_queue_usable(const struct nvme_rdma_queue *queue)
{
	/* its device, QP and arrays are visible then; pairs with nvme_rdma_move_queue() */
	enum nvme_rdma_queue_state state = smp_load_acquire(&queue->state);

	return state == NVME_RDMA_Q_CONNECTED || state == NVME_RDMA_Q_LIVE;
}

/* Context: any. Does the device access nothing of the queue any more? */
static inline bool nvme_rdma_queue_drained(const struct nvme_rdma_queue *queue)
{
	/* pairs with nvme_rdma_set_drained_locked() */
	return smp_load_acquire(&queue->drain_state) == NVME_RDMA_DRAIN_DONE;
}

/* Context: CQ. Return: the queue whose completions a CQ holds */
static inline struct nvme_rdma_queue *nvme_rdma_cq_queue(const struct ib_cq *ib)
{
	const struct nvme_rdma_cq *cq = ib->cq_context;

	return cq->context;
}

#endif /* NVME_RDMA_HOST_QUEUE_H */
