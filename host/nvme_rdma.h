/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NVMe over RDMA host: types and the functions that files call in each other,
 * grouped by file in the order in which a command and a connection meet them.
 */
#ifndef NVME_RDMA_HOST_H
#define NVME_RDMA_HOST_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/nvme-rdma.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core-abi/core.h"
#include "cq.h"
#include "hist.h"
#include "pages.h"
#include "cm_msg.h"
#include "response.h"
#include "state.h"

/*
 * A SEND carries the 64-byte command and, for in-capsule data, at most this
 * many more segments. Four cover the largest in-capsule size in the field,
 * 16 KiB, in 4 KiB pages.
 */
#define NVME_RDMA_MAX_INLINE_SEGMENTS	4

/* Scatter entries that live in the request itself: no allocation up to here */
#define NVME_RDMA_REQUEST_SG_CNT	2

/*
 * Most pages that one fast-registration MR covers: 1 MiB in 4 KiB pages, what
 * targets commonly advertise as MDTS. A smaller device limit wins.
 */
#define NVME_RDMA_MAX_MR_PAGES		256

/* What the core lets a user ask for (its NVMF_MAX_QUEUE_SIZE) */
#define NVME_RDMA_MAX_DEPTH		1024

/* NVMe/RDMA's service ID, where the user gives none */
#define NVME_RDMA_DEFAULT_PORT		4420

/* Scatter entries for metadata in the request itself: usually all there are */
#define NVME_RDMA_META_SG_CNT		1

/*
 * Receives are posted so many at a time, as one chain. There are as many more
 * than commands, so that those that wait for a chain to be full are not missed.
 */
#define NVME_RDMA_RECV_CHAIN		8

/* The asynchronous event's command ID; its capsule follows those of the tags */
#define NVME_RDMA_AEN_CID		NVME_AQ_BLK_MQ_DEPTH

/**
 * struct nvme_rdma_device - one RDMA device that queues of ours use
 * @dev:	the device; compared by pointer, its GUID need not be unique
 * @entry:	in the device list while the RDMA core knows the device
 * @events:	the RDMA core's of the device
 * @users:	queues, and controllers with an admin queue
 * @queues:	those queues
 * @dying:	device removal has begun: there is no new user
 * @max_inline_segments: data segments that a SEND may carry besides the command
 * @max_mr_pages: 4 KiB pages that one MR can map
 * @pi_pages:	pages of data, and of metadata, that one integrity MR can map; 0
 *		without signature offload
 * @max_depth:	commands that a queue may have outstanding
 * @mr_type:	of the memory regions
 * @up_wq: @down_wq: start queues, and end them: of its own, as its driver may hang for
 *		minutes; see queues.c
 * @mr_wq:	makes memory regions
 * @mr_made:	when it made the last one, in jiffies
 * @makes_mrs: @makes_sig_mrs: it has made one, of either kind: a later refusal is for want
 *		of them
 */
struct nvme_rdma_device {
	struct ib_device	*dev;
	struct list_head	entry;
	struct ib_event_handler	events;
	unsigned int		users;
	struct list_head	queues;
	bool			dying;
	unsigned int		max_inline_segments;
	unsigned int		max_mr_pages;
	unsigned int		pi_pages;
	unsigned int		max_depth;
	enum ib_mr_type		mr_type;
	struct workqueue_struct	*up_wq;
	struct workqueue_struct	*down_wq;
	struct workqueue_struct	*mr_wq;
	unsigned long		mr_made;
	bool			makes_mrs;
	bool			makes_sig_mrs;
};

/*
 * Memory regions are made by few works of a device at a time: there are thousands, and who
 * waits for the end of a connect or a reset waits for the processors that make them.
 */
#define NVME_RDMA_MR_WORKERS	2

/* How a request's data travels */
enum nvme_rdma_data {
	NVME_RDMA_DATA_NONE,		/* no data */
	NVME_RDMA_DATA_IN_CAPSULE,	/* behind the command in its capsule */
	NVME_RDMA_DATA_REGISTERED,	/* through an MR of this request's own */
	NVME_RDMA_DATA_PROTECTED,	/* so, with protection information */
	NVME_RDMA_DATA_GLOBAL,		/* by the unsafe global key */
	NVME_RDMA_NR_DATA,
};

/* What happens seldom enough to be counted by an atomic; see observe.c */
enum nvme_rdma_event {
	NVME_RDMA_EV_NO_SLOT,		/* a request waits for send queue slots */
	NVME_RDMA_EV_NO_MEMORY,		/* or for memory to map its data by */
	NVME_RDMA_EV_NO_MR,		/* or for the MR of its tag to be made */
	NVME_RDMA_EV_CONNECT,		/* the queue became LIVE */
	NVME_RDMA_EV_CONNECT_FAILED,	/* an attempt to connect failed */
	NVME_RDMA_EV_LOST,		/* the CM said that a connection ended */
	NVME_RDMA_EV_WC_ERROR,		/* a work request failed */
	NVME_RDMA_EV_FLUSH,		/* or was flushed after another failed */
	NVME_RDMA_EV_PROTOCOL,		/* the controller broke the rules */
	NVME_RDMA_EV_POST,		/* the device took no more work */
	NVME_RDMA_EV_PI,		/* protection information was wrong */
	NVME_RDMA_EV_TIMEOUT,		/* a command got no answer in time */
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
 * struct nvme_rdma_done - counts of completion, by the one who polls the CQ
 * @polls:	looks at the CQ of a polled queue
 * @sends:	completions of SENDs
 * @errors:	responses with a status other than success
 * @remote_invalidates: keys that the controller invalidated
 * @local_invalidates: keys that were invalidated here
 * @latency:	of all responses, from the post of the command
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
 * struct nvme_rdma_meta - a request's metadata, where it is apart from the data
 * @nents:	entries of @sgt before DMA mapping; 0: there is none
 * @count:	DMA segments
 * @pract:	the command came with PRACT, which the device does
 * @sgt:	the metadata
 * @sg:		first entries of @sgt
 */
struct nvme_rdma_meta {
	int			nents;
	int			count;
	bool			pract;
	struct sg_table		sgt;
	struct scatterlist	sg[NVME_RDMA_META_SG_CNT];
};

/**
 * struct nvme_rdma_request - the driver's part of a block request
 * @req:	the core's part; it must come first
 * @cmd:	the command as the core built it; @req.cmd points here for life
 * @queue:	the queue that owns the request for life
 * @waits:	enum nvme_rdma_wait; written before the post, cleared by events
 * @status:	from the response, wire format
 * @result:	from the response
 * @data:	how the data travels
 * @aborted:	the controller was asked to abort it
 * @ending:	it was late once, with its response
 * @nents:	entries of @sgt before DMA mapping; 0: the only one is mapped by
 *		itself
 * @mr:		this tag's MR while @data is registered or protected
 * @bounce:	pages in place of the data, see bounce.c; NULL: the data itself
 * @next:	next request that waits to be posted, under the queue's sq_lock
 * @sent_at:	when it was posted, in ktime's nanoseconds
 * @retires:	SQ slots that this request's signaled SEND gives back
 * @send_cqe:	completion of the SEND, if it is signaled
 * @inv_cqe:	completion of LOCAL_INV
 * @send_wr:	the capsule
 * @reg_wr:	the registration in front of it
 * @sge:	the command, then in-capsule data
 * @sgt:	the data
 * @sg:		first entries of @sgt
 * @meta:	there only if the controller has @pi
 */
struct nvme_rdma_request {
	struct nvme_request	req;
	struct nvme_command	cmd;
	struct nvme_rdma_queue	*queue;
	atomic_t		waits;
	__le16			status;
	union nvme_result	result;
	enum nvme_rdma_data	data;
	bool			aborted;
	bool			ending;
	int			nents;
	struct ib_mr		*mr;
	struct nvme_rdma_bounce	*bounce;
	struct nvme_rdma_request *next;
	u64			sent_at;
	unsigned int		retires;
	struct ib_cqe		send_cqe;
	struct ib_cqe		inv_cqe;
	struct ib_send_wr	send_wr;
	struct ib_reg_wr	reg_wr;
	struct ib_sge		sge[1 + NVME_RDMA_MAX_INLINE_SEGMENTS];
	struct sg_table		sgt;
	struct scatterlist	sg[NVME_RDMA_REQUEST_SG_CNT];
	struct nvme_rdma_meta	meta[];
};

/**
 * struct nvme_rdma_drain - the work request that a queue of a QP is drained by
 * @cqe:	its completion
 * @arrived:	it has come, in the batch of completions that is being handled
 * @done:	so has the end of that batch
 */
struct nvme_rdma_drain {
	struct ib_cqe		cqe;
	bool			arrived;
	struct completion	done;
};

/**
 * struct nvme_rdma_recv_chain - receives to be posted next
 * @nr:		how many there are
 * @wr:		the receives, linked for good
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
 * @state_lock:	protects @state and @error; taken in CM callbacks
 * @error:	errno of what moved the queue to FAILED
 * @moved:	woken by every change of @state
 * @drainable:	the QP began to connect: the device may have work of it
 * @flushed:	and has been drained
 * @drained:	and no key is good any more: the device let go of everything
 * @stop_lock:	protects the three; one begins to connect, drains or frees the QP
 *		at a time
 * @key_lock:	held while @mrs and @sig_mrs are ended, which may take minutes; taken
 *		before @stop_lock
 * @sq_drain: @rq_drain: for the drain
 * @ibdev_name: @vector: where it was connected last, for observe.c
 * @events:	counts by enum nvme_rdma_event
 * @work: @job: @result: what nvme_rdma_each_queue() does, and how it ended
 * @mr_work:	makes @mrs
 * @filling:	@mr_work has been queued since the queue was connected
 * @device_entry: in the list of the queues of @device
 *
 * Members between nvme_rdma_create_ib() and nvme_rdma_destroy_ib():
 * @cm_id: @device: @qp: @cq: the connection
 * @send_inline: the QP takes a 64-byte command inline
 * @capsules:	@depth commands
 * @rsps:	completion entries
 * @rsp_cqes:	the receive of each entry of @rsps
 * @mrs:	one MR a tag, NULL until it is made, see mr.c
 * @sig_mrs:	one integrity MR a tag, if the controller has @pi
 * @tags:	requests by tag; NULL as long as none can be under way
 *
 * Submission:
 * @sq_lock:	protects the members below except @sq_avail; orders posts
 * @pending:	requests to be posted, oldest first
 * @pending_tail: where the next one is linked
 * @unretired:	SQ slots posted since the last signaled SEND
 * @signal_every: a SEND is signaled when @unretired reaches this
 * @quiet_send: @quiet_reg: completions, in error only, of what no request waits for
 * @sent:	what was submitted
 * @sq_avail:	free SQ slots; a slot is taken before a work request is built
 *		and given back when a signaled one at or behind it completes
 *
 * Completion:
 * @done:	what came back
 * @recv_chain:	receives whose completions came, to be posted again
 * @batch:	requests to be ended with the batch of completions
 * @iob:	the batch that requests go to: @batch, or a poller's
 * @polling:	bit 0: somebody polls a queue without interrupts; one at a time
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
	struct ib_mr		**mrs;
	struct ib_mr		**sig_mrs;
	struct blk_mq_tags	*tags;
	struct nvme_rdma_pages	*rsps;
	struct ib_cqe		*rsp_cqes;

	/* protects submission, see above */
	spinlock_t		sq_lock ____cacheline_aligned_in_smp;
	struct nvme_rdma_request *pending;
	struct nvme_rdma_request **pending_tail;
	unsigned int		unretired;
	unsigned int		signal_every;
	struct ib_cqe		quiet_send;
	struct ib_cqe		quiet_reg;
	struct nvme_rdma_sent	sent;

	/* written by both sides */
	atomic_t		sq_avail ____cacheline_aligned_in_smp;

	struct nvme_rdma_done	done ____cacheline_aligned_in_smp;
	struct nvme_rdma_recv_chain recv_chain;
	struct io_comp_batch	batch;
	struct io_comp_batch	*iob;
	unsigned long		polling;
	struct nvme_rdma_cq	*cq;
	struct rdma_cm_id	*cm_id;
	/* protects state and error */
	spinlock_t		state_lock;
	int			error;
	wait_queue_head_t	moved;
	bool			drainable;
	bool			flushed;
	bool			drained;
	/* one ends the keys at a time */
	struct mutex		key_lock;
	/* one connects, drains or frees the QP at a time */
	struct mutex		stop_lock;
	struct nvme_rdma_drain	sq_drain;
	struct nvme_rdma_drain	rq_drain;
	char			ibdev_name[IB_DEVICE_NAME_MAX];
	unsigned int		vector;
	atomic64_t		events[NVME_RDMA_NR_EVENTS];
	struct work_struct	work;
	int			(*job)(struct nvme_rdma_queue *queue);
	int			result;
	struct work_struct	mr_work;
	bool			filling;
	struct list_head	device_entry;

	struct ib_cqe		aen_cqe;
	atomic_t		aen_waits;
	__le16			aen_status;
	union nvme_result	aen_result;
};

/**
 * struct nvme_rdma_ctrl - one NVMe over RDMA controller
 * @queues:	admin queue first; as many as were asked for, for life
 * @io_queues:	I/O queues by kind
 * @tag_set: @admin_tag_set: allocated between the core's alloc and remove
 * @have_admin_tags: @have_io_tags: they are
 * @tags_depth:	commands of a queue that the I/O tag set was made for; how many tags
 *		that is differs by kernel
 * @request_queues: of the I/O tag set, under @quiesce_lock; see quiesce.c
 * @rerouting:	requests whose queue is gone go another way, see reroute.c
 * @reroute_lock: protects @reroute_bios
 * @reroute_bios: @reroute_work: to be submitted again, and who does that
 * @err_lock:	makes one of "to RESETTING" and "queue err_work"
 * @cancel_lock: held by who completes requests that nobody answered, so that
 *		no two complete one
 * @err_work:	error recovery
 * @abort_work:	ends requests of queues that failed while connecting
 * @reconnect_work: the next attempt to reconnect
 * @debugfs:	its directory there
 * @list:	in the list of all controllers, from creation on
 * @device:	the admin queue's device and a reference to it, while that
 *		queue exists; written under nvme_rdma_ctrl_mutex
 * @pd:		protection domain of its queues, while there is an admin queue: no peer
 *		reaches by any key what is another controller's
 * @addr: @src_addr: the controller's address, and ours if one was given
 * @peer: @addr and its port, for messages
 * @jobs:	queues whose job has not ended, see queues.c
 * @watch: @give_up_work: a deletion ends an attempt to connect, see queues.c
 * @given_up:	errno; no queue shall connect any more, for good
 * @refused:	the last attempt to connect was refused for what either side is or can do,
 *		which the next one may find as it is
 * @refusals:	how many attempts in turn were, up to NVME_RDMA_MAX_PAUSE
 * @attempts:	to reconnect, since it was live
 * @brief:	queues are on their way up or down, and the controller not LIVE:
 *		admin commands and Connects have fabrics_tmo
 * @mrs_first:	make all MRs before connecting, see mr.c
 * @mr_queues:	I/O queues that the device had MRs for when it ran out of them; 0: it did not
 * @mr_short:	the recovery that begins is for want of MRs
 * @pi:		its I/O queues do protection information; for life
 * @inline_size: bytes of in-capsule data that the controller takes on an I/O queue
 * @bounce:	pages for one request that would have none, see bounce.c
 * @bounce_used: bit 0: it has them
 * @owns_opts:	creation succeeded: the options are ours to free
 * @ctrl:	the core's part
 */
struct nvme_rdma_ctrl {
	struct nvme_rdma_queue	*queues;
	u32			io_queues[HCTX_MAX_TYPES];
	struct blk_mq_tag_set	tag_set;
	struct blk_mq_tag_set	admin_tag_set;
	bool			have_admin_tags;
	bool			have_io_tags;
	u32			tags_depth;
	u32			inline_size;
	/* protects request_queues */
	spinlock_t		quiesce_lock;
	struct list_head	request_queues;
	bool			rerouting;
	/* protects reroute_bios */
	spinlock_t		reroute_lock;
	struct bio_list		reroute_bios;
	struct work_struct	reroute_work;
	/* holds state change and queueing together, see recovery.c */
	spinlock_t		err_lock;
	/* who cancels requests, see above */
	struct mutex		cancel_lock;
	struct work_struct	err_work;
	struct work_struct	abort_work;
	struct delayed_work	reconnect_work;
	struct list_head	list;
	struct dentry		*debugfs;
	struct nvme_rdma_device	*device;
	struct ib_pd		*pd;
	struct sockaddr_storage	addr;
	struct sockaddr_storage	src_addr;
	char			peer[64];
	atomic_t		jobs;
	struct wait_queue_entry	watch;
	struct work_struct	give_up_work;
	int			given_up;
	bool			refused;
	unsigned int		refusals;
	unsigned int		attempts;
	bool			brief;
	bool			mrs_first;
	unsigned int		mr_queues;
	bool			mr_short;
	struct nvme_rdma_bounce	*bounce;
	unsigned long		bounce_used;
	bool			pi;
	bool			owns_opts;
	struct nvme_ctrl	ctrl;
};

static inline struct nvme_rdma_ctrl *to_rdma_ctrl(struct nvme_ctrl *ctrl)
{
	return container_of(ctrl, struct nvme_rdma_ctrl, ctrl);
}

/* Context: any. The admin queue, and as many of each kind as were asked for. */
static inline u32 nvme_rdma_most_queues(const struct nvmf_ctrl_options *opts)
{
	return opts->nr_io_queues + opts->nr_write_queues +
	       opts->nr_poll_queues + 1;
}

/* Context: any. Does a request still wait for an event? */
static inline bool nvme_rdma_waits_for(struct nvme_rdma_request *req,
				       enum nvme_rdma_wait event)
{
	return atomic_read(&req->waits) & event;
}

/* Context: any. */
static inline void nvme_rdma_count(struct nvme_rdma_queue *queue,
				   enum nvme_rdma_event event)
{
	atomic64_inc(&queue->events[event]);
}

/* Context: as queue_rq(). Return: the MR of a tag, NULL if it is not made yet */
static inline struct ib_mr *
nvme_rdma_tag_mr(const struct nvme_rdma_queue *queue, int tag)
{
	/* pairs with nvme_rdma_make_mr() */
	return smp_load_acquire(&queue->mrs[tag]);
}

/* Context: any. Does its data travel through an MR? */
static inline bool nvme_rdma_registered(const struct nvme_rdma_request *req)
{
	return req->data == NVME_RDMA_DATA_REGISTERED ||
	       req->data == NVME_RDMA_DATA_PROTECTED;
}

/* Context: any. Only a LIVE queue takes commands other than Fabrics ones. */
static inline bool nvme_rdma_queue_live(const struct nvme_rdma_queue *queue)
{
	/* pairs with nvme_rdma_move_queue() */
	return smp_load_acquire(&queue->state) == NVME_RDMA_Q_LIVE;
}

/* Context: any. May work requests be posted? Fabrics Connect's may, too. */
static inline bool nvme_rdma_queue_usable(const struct nvme_rdma_queue *queue)
{
	/* its device, QP and arrays are seen, too; pairs with nvme_rdma_move_queue() */
	enum nvme_rdma_queue_state state = smp_load_acquire(&queue->state);

	return state == NVME_RDMA_Q_CONNECTED || state == NVME_RDMA_Q_LIVE;
}

/* Context: any. Has the device let go of everything, and for good? */
static inline bool nvme_rdma_queue_drained(const struct nvme_rdma_queue *queue)
{
	/* pairs with nvme_rdma_set_drained_locked() */
	return smp_load_acquire(&queue->drained);
}

/* A queue that its users poll: its CQ raises no interrupts */
static inline bool nvme_rdma_polled(const struct nvme_rdma_queue *queue)
{
	return queue->qid > queue->ctrl->io_queues[HCTX_TYPE_DEFAULT] +
			    queue->ctrl->io_queues[HCTX_TYPE_READ];
}

/* Message with controller, queue and peer in front */
#define nvme_rdma_queue_msg(level, queue, fmt, ...)			\
do {									\
	const struct nvme_rdma_queue *__q = (queue);			\
									\
	dev_##level##_ratelimited(__q->ctrl->ctrl.device,		\
				  "queue %u to %s: " fmt, __q->qid,	\
				  __q->ctrl->peer, ##__VA_ARGS__);	\
} while (0)

/* main.c */
extern bool nvme_rdma_register_always;
extern bool nvme_rdma_remote_invalidate;
extern bool nvme_rdma_t10_pi;
extern unsigned int nvme_rdma_resolve_tmo;
extern unsigned int nvme_rdma_connect_tmo;
extern unsigned int nvme_rdma_fabrics_tmo;
extern unsigned int nvme_rdma_min_rnr_timer;
extern unsigned int nvme_rdma_ack_timeout;
extern struct list_head nvme_rdma_ctrl_list;
extern struct mutex nvme_rdma_ctrl_mutex;
extern struct wait_queue_head nvme_rdma_ctrl_gone;

/* ctrl.c */
struct nvme_ctrl *nvme_rdma_create_ctrl(struct device *dev,
					struct nvmf_ctrl_options *opts);

/* connect.c */
int nvme_rdma_setup_ctrl(struct nvme_rdma_ctrl *ctrl, bool new);
void nvme_rdma_all_down(struct nvme_rdma_ctrl *ctrl, bool remove, bool fail);
void nvme_rdma_let_fail(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_recheck_queues(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_shutdown_ctrl(struct nvme_rdma_ctrl *ctrl, bool remove);

/* identify.c */
int nvme_rdma_check_limits(struct nvme_rdma_ctrl *ctrl);

/* queues.c */
int nvme_rdma_alloc_wqs(void);
void nvme_rdma_free_wqs(void);
int nvme_rdma_alloc_device_wqs(struct nvme_rdma_device *ndev);
void nvme_rdma_free_device_wqs(struct nvme_rdma_device *ndev);
void nvme_rdma_init_queue_work(struct nvme_rdma_queue *queue);
bool nvme_rdma_deleting(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_give_up(struct nvme_rdma_ctrl *ctrl, int error);
void nvme_rdma_watch(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_unwatch(struct nvme_rdma_ctrl *ctrl);
int nvme_rdma_each_queue(struct nvme_rdma_ctrl *ctrl, int first, int last,
			 int (*job)(struct nvme_rdma_queue *queue));

/* recovery.c */
void nvme_rdma_init_recovery(struct nvme_rdma_ctrl *ctrl);
bool nvme_rdma_error_recovery(struct nvme_rdma_ctrl *ctrl);
int nvme_rdma_subsystem_reset(struct nvme_ctrl *nctrl);
bool nvme_rdma_break_queue(struct nvme_rdma_queue *queue, int error);
void nvme_rdma_stop_ctrl(struct nvme_ctrl *nctrl);

/* abort.c */
void nvme_rdma_was_aborted(struct nvme_rdma_request *req);
enum blk_eh_timer_return nvme_rdma_timeout(struct request *rq);

/* tagset.c */
int nvme_rdma_alloc_admin_tags(struct nvme_rdma_ctrl *ctrl);
int nvme_rdma_alloc_io_tags(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_fit_tags(struct nvme_rdma_ctrl *ctrl);
bool nvme_rdma_queue_connectable(struct nvme_rdma_queue *queue);
bool nvme_rdma_queue_wanted(struct nvme_rdma_queue *queue);

/* quiesce.c */
void nvme_rdma_add_request_queue(struct nvme_rdma_ctrl *ctrl,
				 struct request_queue *q);
void nvme_rdma_del_request_queue(struct nvme_rdma_ctrl *ctrl,
				 struct request_queue *q);
void nvme_rdma_del_request_queues(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_quiesce_io(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_unquiesce_io(struct nvme_rdma_ctrl *ctrl);

/* reroute.c */
void nvme_rdma_init_reroute(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_start_reroute(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_stop_reroute(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_end_reroute(struct nvme_rdma_ctrl *ctrl);
bool nvme_rdma_reroute(struct request *rq, blk_status_t *ret);

/* queue.c */
void nvme_rdma_init_queue(struct nvme_rdma_ctrl *ctrl, u16 qid);
bool nvme_rdma_move_queue(struct nvme_rdma_queue *queue,
			  enum nvme_rdma_queue_state to);
bool nvme_rdma_fail_queue(struct nvme_rdma_queue *queue, int error);
bool nvme_rdma_refused(int status);
int nvme_rdma_start_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_close_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_flush_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_set_drained(struct nvme_rdma_queue *queue);
void nvme_rdma_drain_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_stop_queue(struct nvme_rdma_queue *queue);
bool nvme_rdma_fail_late_queue(struct nvme_rdma_queue *queue,
			       struct request *rq);
void nvme_rdma_stop_failed_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_free_queue(struct nvme_rdma_queue *queue);

/* ib.c */
unsigned int nvme_rdma_max_depth(const struct ib_device_attr *attrs);
int nvme_rdma_create_ib(struct nvme_rdma_queue *queue);
void nvme_rdma_destroy_ib(struct nvme_rdma_queue *queue);
unsigned int nvme_rdma_sq_slots(const struct nvme_rdma_queue *queue);

/* mr.c */
void nvme_rdma_init_mrs(struct nvme_rdma_queue *queue);
int nvme_rdma_alloc_mrs(struct nvme_rdma_queue *queue);
void nvme_rdma_fill_mrs(struct nvme_rdma_queue *queue);
void nvme_rdma_no_mr(struct nvme_rdma_queue *queue);
int nvme_rdma_fit_queues(struct nvme_rdma_ctrl *ctrl, unsigned int *nr);
void nvme_rdma_free_mrs(struct nvme_rdma_queue *queue);

/* drain.c */
void nvme_rdma_init_drain(struct nvme_rdma_queue *queue);
void nvme_rdma_drain_arrived(struct nvme_rdma_drain *drain);
void nvme_rdma_drain_qp(struct nvme_rdma_queue *queue);

/* cm.c */
int nvme_rdma_connect_queue(struct nvme_rdma_queue *queue);

/* device.c */
int nvme_rdma_add_device(struct ib_device *ibdev);
int nvme_rdma_get_device(struct nvme_rdma_queue *queue);
void nvme_rdma_release_device(struct nvme_rdma_queue *queue);
void nvme_rdma_hold_device(struct nvme_rdma_device *ndev);
void nvme_rdma_put_device(struct nvme_rdma_device *ndev);
bool nvme_rdma_device_dying(struct nvme_rdma_device *ndev);
void nvme_rdma_remove_device(struct ib_device *ibdev);

/* observe.c */
void nvme_rdma_observe_ctrl(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_unobserve_ctrl(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_observe_init(void);
void nvme_rdma_observe_exit(void);

/* io.c */
blk_status_t nvme_rdma_queue_rq(struct blk_mq_hw_ctx *hctx,
				const struct blk_mq_queue_data *bd);
void nvme_rdma_commit_rqs(struct blk_mq_hw_ctx *hctx);
int nvme_rdma_poll_queue(struct nvme_rdma_queue *queue,
			 struct io_comp_batch *iob);
int nvme_rdma_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob);
void nvme_rdma_complete_rq(struct request *rq);
void nvme_rdma_complete_batch(struct io_comp_batch *iob);

/* bounce.c */
int nvme_rdma_make_bounce_reserve(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_free_bounce_reserve(struct nvme_rdma_ctrl *ctrl);
struct scatterlist *nvme_rdma_bounce(struct nvme_rdma_request *req, int *count);
void nvme_rdma_end_bounce(struct nvme_rdma_request *req);

/* map.c */
int nvme_rdma_map_data(struct nvme_rdma_request *req);
void nvme_rdma_unmap_data(struct nvme_rdma_request *req);
void nvme_rdma_use_mr(struct nvme_rdma_request *req, struct ib_mr *mr,
		      u32 len, enum ib_wr_opcode opcode);

/* pi.c */
unsigned int nvme_rdma_device_pi_pages(const struct ib_device *ibdev);
bool nvme_rdma_try_pi(struct nvme_rdma_ctrl *ctrl);
bool nvme_rdma_wants_pi(struct nvme_rdma_request *req);
int nvme_rdma_register_pi(struct nvme_rdma_request *req, int count);
void nvme_rdma_unmap_pi(struct nvme_rdma_request *req);
u16 nvme_rdma_check_pi(struct nvme_rdma_request *req);

/* capsule.c */
void nvme_rdma_sgl_null(struct nvme_command *cmd);
void nvme_rdma_sgl_in_capsule(struct nvme_command *cmd, u32 len);
void nvme_rdma_sgl_keyed(struct nvme_command *cmd, u64 addr, u32 len, u32 key,
			 bool invalidate);
void nvme_rdma_build_capsule(struct nvme_rdma_request *req, int data_sges);
void nvme_rdma_submit_async_event(struct nvme_ctrl *nctrl);

/* post.c */
bool nvme_rdma_take_credit(struct nvme_rdma_queue *queue, int wrs);
void nvme_rdma_give_credit(struct nvme_rdma_queue *queue, int wrs);
int nvme_rdma_request_wrs(const struct nvme_rdma_request *req);
void nvme_rdma_append(struct nvme_rdma_request *req, bool last);
void nvme_rdma_post_pending(struct nvme_rdma_queue *queue);
void nvme_rdma_init_recv_chain(struct nvme_rdma_queue *queue);
int nvme_rdma_post_recv(struct nvme_rdma_queue *queue, struct ib_cqe *cqe);
int nvme_rdma_post_invalidate(struct nvme_rdma_request *req);

/* completion.c */
void nvme_rdma_after_batch(struct nvme_rdma_cq *cq);
void nvme_rdma_posted(struct nvme_rdma_request *req);
void nvme_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc);
void nvme_rdma_init_quiet(struct nvme_rdma_queue *queue);
void nvme_rdma_invalidate_done(struct ib_cq *cq, struct ib_wc *wc);
void nvme_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void nvme_rdma_aen_send_done(struct ib_cq *cq, struct ib_wc *wc);

#endif /* NVME_RDMA_HOST_H */
