/* SPDX-License-Identifier: GPL-2.0 */
/* A controller: its members, and the list of all controllers */
#ifndef NVME_RDMA_HOST_CTRL_H
#define NVME_RDMA_HOST_CTRL_H

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core-abi/core.h"
#include "queue.h"

/* The service ID of NVMe/RDMA, used if the user gives none */
#define NVME_RDMA_DEFAULT_PORT		4420

/**
 * struct nvme_rdma_ctrl - one NVMe over RDMA controller
 * @queues:	admin queue first; as many as were asked for, for life
 * @io_queues:	I/O queues by kind
 * @tag_set: @admin_tag_set: allocated between the core's alloc and remove
 * @have_admin_tags: @have_io_tags: whether they are allocated and shown to the abort
 *		work; written by the owner of the queues, under @cancel_lock unless they are new
 * @tag_set_depth: commands of a queue that the I/O tag set was allocated for; the number
 *		of its tags differs by kernel
 * @request_queues: of the I/O tag set, under @quiesce_lock; see quiesce.c
 * @rerouting:	reroute requests whose queue is gone, see reroute.c; written by the owner of
 *		the queues
 * @reroute_lock: protects @reroute_bios
 * @reroute_bios: @reroute_work: bios to submit again, and the work that does so
 * @err_lock:	makes the move to RESETTING and the queueing of @err_work one step
 * @cancel_lock: held while requests without a response are completed, so that no request
 *		is completed twice
 * @err_work:	error recovery
 * @abort_work:	completes requests of queues that failed while connecting
 * @reconnect_work: the next attempt to reconnect
 * @debugfs:	its directory in debugfs
 * @list:	in the list of all controllers, from creation on
 * @device:	device of the admin queue, and a reference to it, while that queue exists;
 *		written under nvme_rdma_ctrl_mutex
 * @pd:		protection domain of its queues, while the admin queue exists: a key of one
 *		controller is not valid for the peer of another
 * @addr: @src_addr: address of the controller, and of the host if one was given
 * @peer: @addr and its port, for messages
 * @jobs_left:	queues whose job has not ended, see jobs.c
 * @state_watch: @give_up_work: a deletion ends an attempt to connect, see giveup.c
 * @abort_errno: no queue connects any more, and fails with this errno; set once, by
 *		nvme_rdma_give_up()
 * @rejected:	the last attempt to connect was rejected for a property of either side; set
 *		by CM callbacks and the owner of the queues, cleared by the owner
 * @nr_rejections: consecutive attempts that were rejected, up to NVME_RDMA_MAX_PAUSE
 * @attempts:	to reconnect, since the controller was LIVE
 * @short_timeouts: queues come up or go down, and the controller is not LIVE: admin
 *		commands and Connects have fabrics_tmo; written by the owner of the queues
 * @mrs_before_connect: make all MRs before connecting; set once by an MR work, see mr.c
 * @max_mr_queues: I/O queues that the device had MRs for when it ran out of them; 0: it did
 *		not. Lowered by cmpxchg, by MR works and start jobs; cleared by recovery and reset,
 *		while none of these runs
 * @mr_shortage: an MR work ran out of MRs, and recovery starts for that; set by MR works,
 *		cleared by recovery, reset, and a setup that failed
 * @pi:		its I/O queues use protection information; for life
 * @inline_size: bytes of in-capsule data that the controller takes on an I/O queue
 * @bounce:	reserve of pages for one request, see bounce.c
 * @bounce_used: bit 0: @bounce is in use
 * @owns_opts:	creation succeeded, and the driver frees the options; set once by the
 *		creator, under nvme_rdma_ctrl_mutex
 * @device_removed: the removal of @device has begun its deletion; set under
 *		nvme_rdma_ctrl_mutex
 * @ctrl:	the core's part
 */
struct nvme_rdma_ctrl {
	struct nvme_rdma_queue	*queues;
	u32			io_queues[HCTX_MAX_TYPES];
	struct blk_mq_tag_set	tag_set;
	struct blk_mq_tag_set	admin_tag_set;
	bool			have_admin_tags;
	bool			have_io_tags;
	u32			tag_set_depth;
	u32			inline_size;
	/* protects request_queues */
	spinlock_t		quiesce_lock;
	struct list_head	request_queues;
	bool			rerouting;
	/* protects reroute_bios */
	spinlock_t		reroute_lock;
	struct bio_list		reroute_bios;
	struct work_struct	reroute_work;
	/* makes state change and queueing one step, see error.c */
	spinlock_t		err_lock;
	/* held while requests are cancelled, see above */
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
	atomic_t		jobs_left;
	struct wait_queue_entry	state_watch;
	struct work_struct	give_up_work;
	int			abort_errno;
	bool			rejected;
	unsigned int		nr_rejections;
	unsigned int		attempts;
	bool			short_timeouts;
	bool			mrs_before_connect;
	unsigned int		max_mr_queues;
	bool			mr_shortage;
	struct nvme_rdma_bounce	*bounce;
	unsigned long		bounce_used;
	bool			pi;
	bool			owns_opts;
	bool			device_removed;
	struct nvme_ctrl	ctrl;
};

static inline struct nvme_rdma_ctrl *to_rdma_ctrl(struct nvme_ctrl *ctrl)
{
	return container_of(ctrl, struct nvme_rdma_ctrl, ctrl);
}

/* Context: any. Return: the admin queue and the I/O queues that the user asked for. */
static inline u32 nvme_rdma_most_queues(const struct nvmf_ctrl_options *opts)
{
	return opts->nr_io_queues + opts->nr_write_queues +
	       opts->nr_poll_queues + 1;
}

/* Context: any. Is the queue polled? Its CQ raises no interrupts. */
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

/* ctrl_list.c */
extern struct list_head nvme_rdma_ctrl_list;
extern struct mutex nvme_rdma_ctrl_mutex;
extern struct wait_queue_head nvme_rdma_ctrl_gone;

#endif /* NVME_RDMA_HOST_CTRL_H */
