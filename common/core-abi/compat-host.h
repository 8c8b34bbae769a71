/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The host's side of compat.h. Include core-abi/core.h instead of this file.
 */
#ifndef NVME_RDMA_COMPAT_HOST_H
#define NVME_RDMA_COMPAT_HOST_H

#include <rdma/ib_verbs.h>

/* ---- host: life of a controller ---- */

#ifndef HAVE_NVME_ADD_CTRL
/*
 * On 6.1 nvme_init_ctrl() also creates the character device and takes the
 * reference for it.  On every kernel, nvme_init_ctrl() undoes all of its work if
 * it fails.
 */
static inline int nvme_add_ctrl(struct nvme_ctrl *ctrl)
{
	return 0;
}
#endif

#if NVME_INIT_CTRL_FINISH_NARGS == 1
/* 6.1 lacks was_suspended, which only PCIe sets. */
#define nvme_init_ctrl_finish(ctrl, was_suspended)	\
	((void)(was_suspended), nvme_init_ctrl_finish(ctrl))
#endif

#if NVME_DISABLE_CTRL_NARGS == 1
static inline int nvme_rdma_disable_ctrl(struct nvme_ctrl *ctrl, bool shutdown)
{
	return shutdown ? nvme_shutdown_ctrl(ctrl) : nvme_disable_ctrl(ctrl);
}

#define nvme_disable_ctrl(ctrl, shutdown)	\
	nvme_rdma_disable_ctrl(ctrl, shutdown)
#endif

/**
 * nvme_rdma_stop_ana() - stop the core's work and timer for asymmetric access
 * @ctrl: the controller; it gets no more ANA events
 *
 * Kernels without multipath have neither of them.
 *
 * Context: process.
 */
static inline void nvme_rdma_stop_ana(struct nvme_ctrl *ctrl)
{
#ifdef HAVE_NVME_CTRL_ANATT_TIMER
	timer_delete_sync(&ctrl->anatt_timer);
	cancel_work_sync(&ctrl->ana_work);
#endif
}

/**
 * nvme_rdma_io_timeout() - timeout of a controller's I/O commands
 * @ctrl: the controller
 *
 * Newer kernels have an attribute for it in each controller's sysfs (io_timeout).
 *
 * Return: jiffies.
 */
static inline unsigned long nvme_rdma_io_timeout(const struct nvme_ctrl *ctrl)
{
#ifdef HAVE_NVME_CTRL_IO_TIMEOUT
	return ctrl->io_timeout;
#else
	return NVME_IO_TIMEOUT;
#endif
}

#ifndef HAVE_BLK_MQ_UNFREEZE_QUEUE_NON_OWNER
/* 6.1 does not track which task froze a queue. */
#define blk_freeze_queue_start_non_owner(q)	blk_freeze_queue_start(q)
#define blk_mq_unfreeze_queue_non_owner(q)	blk_mq_unfreeze_queue(q)
#endif

/**
 * nvme_rdma_set_frozen() - tell the core whether request queues are frozen
 * @ctrl: the controller
 * @frozen: scans add no namespace from now on; those of 6.1 do not look at it
 *
 * Context: any.
 */
static inline void nvme_rdma_set_frozen(struct nvme_ctrl *ctrl, bool frozen)
{
#ifdef HAVE_NVME_CTRL_FROZEN
	if (frozen)
		set_bit(NVME_CTRL_FROZEN, &ctrl->flags);
	else
		clear_bit(NVME_CTRL_FROZEN, &ctrl->flags);
#endif
}

/**
 * nvme_rdma_disks_are_busy() - would a change of a tag set's queues wait for a disk?
 * @set: the tag set
 *
 * On newer kernels it waits until a disk that is being removed is gone. The removal writes
 * data, and cannot while the disk is frozen.
 *
 * Context: process.
 */
static inline bool nvme_rdma_disks_are_busy(struct blk_mq_tag_set *set)
{
#ifdef HAVE_BLK_MQ_TAG_SET_UPDATE_NR_HWQ_LOCK
	if (!down_write_trylock(&set->update_nr_hwq_lock))
		return true;
	up_write(&set->update_nr_hwq_lock);
#endif
	return false;
}

/**
 * nvme_rdma_reset_reconnects() - reset the number of attempts to reconnect
 * @ctrl: the controller, which has reconnected
 *
 * Newer kernels show the sum of all attempts in sysfs.
 */
static inline void nvme_rdma_reset_reconnects(struct nvme_ctrl *ctrl)
{
#ifdef HAVE_NVME_CTRL_ACC_RECONNECTS
	atomic_long_add(ctrl->nr_reconnects, &ctrl->acc_reconnects);
#endif
	ctrl->nr_reconnects = 0;
}

/*
 * NVME_RDMA_OPS_GET_VIRT_BOUNDARY - the initializer of get_virt_boundary in a
 * struct nvme_ctrl_ops, for kernels that have it.  Their core calls it without a
 * check for NULL.  Other kernels use the same boundary for every transport: the
 * data of an MR has no gaps between pages of 4 KiB, the NVMe page size.
 */
#ifdef HAVE_NVME_CTRL_OPS_GET_VIRT_BOUNDARY
static inline unsigned long nvme_rdma_get_virt_boundary(struct nvme_ctrl *ctrl,
							bool is_admin)
{
	return SZ_4K - 1;
}

#define NVME_RDMA_OPS_GET_VIRT_BOUNDARY	\
	.get_virt_boundary = nvme_rdma_get_virt_boundary,
#else
#define NVME_RDMA_OPS_GET_VIRT_BOUNDARY
#endif

#ifndef HAVE_NVME_QUIESCE_ADMIN_QUEUE
/* 6.1 has other names for them. */
#define nvme_unquiesce_io_queues(ctrl)		nvme_start_queues(ctrl)
#define nvme_quiesce_admin_queue(ctrl)		nvme_stop_admin_queue(ctrl)
#define nvme_unquiesce_admin_queue(ctrl)	nvme_start_admin_queue(ctrl)
#endif

#ifndef HAVE_NVME_AUTH_STOP
/* A kernel built without NVME_HOST_AUTH. */
static inline void nvme_auth_stop(struct nvme_ctrl *ctrl)
{
}
#endif

#ifndef HAVE_NVMF_SUBSYSTEM_RESET
/* On these kernels the core does not offer a subsystem reset to transports. */
static inline int nvmf_subsystem_reset(struct nvme_ctrl *ctrl)
{
	return -ENOTTY;
}
#endif

#if NVMF_SHOULD_RECONNECT_NARGS == 1
/* 6.1 takes no reason */
#define nvmf_should_reconnect(ctrl, status)	\
	((void)(status), nvmf_should_reconnect(ctrl))
#endif

/* ---- host: paths ---- */

/**
 * nvme_rdma_has_other_path() - does a disk have a usable path by another controller?
 * @ns: the disk's path by this controller
 *
 * Context: process. Return: always false if the kernel has no native multipath.
 */
static inline bool nvme_rdma_has_other_path(struct nvme_ns *ns)
{
	bool found = false;
#ifdef HAVE_NVME_NS_ANA_STATE
	struct nvme_ns *other;
	int srcu;

	srcu = srcu_read_lock(&ns->head->srcu);
	list_for_each_entry_srcu(other, &ns->head->list, siblings,
				 srcu_read_lock_held(&ns->head->srcu)) {
		found = other != ns &&
			nvme_ctrl_state(other->ctrl) == NVME_CTRL_LIVE &&
			(READ_ONCE(other->ana_state) == NVME_ANA_OPTIMIZED ||
			 READ_ONCE(other->ana_state) == NVME_ANA_NONOPTIMIZED);
		if (found)
			break;
	}
	srcu_read_unlock(&ns->head->srcu, srcu);
#endif
	return found;
}

/* ---- host: queues ---- */

#ifndef HAVE_NVMF_SET_IO_QUEUES
/**
 * nvmf_set_io_queues() - distribute I/O queues over reads, writes and polled I/O
 * @opts: the user's options
 * @nr_io_queues: number of queues that the controller granted
 * @io_queues: set to the number of queues of each enum hctx_type
 *
 * If writes have separate queues, the option nr_io_queues is for reads, which get
 * their queues first.  Otherwise reads and writes share the default queues.  Polled
 * I/O gets the remaining queues.
 */
static inline void nvmf_set_io_queues(struct nvmf_ctrl_options *opts,
				      u32 nr_io_queues, u32 *io_queues)
{
	u32 left = nr_io_queues, wanted = opts->nr_io_queues;

	if (opts->nr_write_queues && wanted < left) {
		io_queues[HCTX_TYPE_READ] = wanted;
		left -= wanted;
		wanted = opts->nr_write_queues;
	}
	io_queues[HCTX_TYPE_DEFAULT] = min(wanted, left);
	left -= io_queues[HCTX_TYPE_DEFAULT];
	if (opts->nr_poll_queues && left)
		io_queues[HCTX_TYPE_POLL] = min(opts->nr_poll_queues, left);
}
#endif

/**
 * nvme_rdma_vector_affinity() - the CPUs that a completion vector interrupts
 * @ibdev: the device
 * @vector: the vector
 *
 * Return: the CPUs; NULL if the device does not report them. Newer kernels have no
 * interface for it.
 */
static inline const struct cpumask *
nvme_rdma_vector_affinity(struct ib_device *ibdev, int vector)
{
#ifdef HAVE_IB_DEVICE_OPS_GET_VECTOR_AFFINITY
	return ib_get_vector_affinity(ibdev, vector);
#else
	return NULL;
#endif
}

/* Type of init_request()'s NUMA node, which is signed on newer kernels. */
#define nvme_rdma_numa_node_t						\
	typeof(__builtin_choose_expr(					\
		__same_type(((struct blk_mq_ops *)NULL)->init_request,	\
			    int (*)(struct blk_mq_tag_set *,		\
				    struct request *, unsigned int, int)), \
		0, 0U))

#ifndef HAVE_NVMF_MAP_QUEUES
static inline void nvme_rdma_map_type(struct blk_mq_tag_set *set,
				      enum hctx_type type, u32 offset, u32 nr)
{
	set->map[type].queue_offset = offset;
	set->map[type].nr_queues = nr;
	blk_mq_map_queues(&set->map[type]);
}

/**
 * nvmf_map_queues() - map CPUs to queues for blk-mq
 * @set: the I/O tag set
 * @ctrl: its controller
 * @io_queues: the result of nvmf_set_io_queues()
 *
 * Context: the map_queues() method of @set.
 */
static inline void nvmf_map_queues(struct blk_mq_tag_set *set,
				   struct nvme_ctrl *ctrl, u32 *io_queues)
{
	u32 dflt = io_queues[HCTX_TYPE_DEFAULT];
	u32 reads = io_queues[HCTX_TYPE_READ];
	u32 polls = io_queues[HCTX_TYPE_POLL];

	nvme_rdma_map_type(set, HCTX_TYPE_DEFAULT, 0, dflt);
	if (ctrl->opts->nr_write_queues && reads)
		nvme_rdma_map_type(set, HCTX_TYPE_READ, dflt, reads);
	else
		nvme_rdma_map_type(set, HCTX_TYPE_READ, 0, dflt);
	if (ctrl->opts->nr_poll_queues && polls)
		nvme_rdma_map_type(set, HCTX_TYPE_POLL, dflt + reads, polls);

	dev_info(ctrl->device, "mapped %u/%u/%u default/read/poll queues.\n",
		 dflt, reads, polls);
}
#endif

/* ---- host: life of a request ---- */

/**
 * nvme_check_ready() - may a request be sent in the controller's state?
 * @ctrl: the controller
 * @rq: the request
 * @queue_live: is its queue connected?
 *
 * Context: queue_rq().  Return: false if the caller has to call
 * nvme_fail_nonready_command(), which fails or requeues the request.
 */
static inline bool nvme_check_ready(struct nvme_ctrl *ctrl, struct request *rq,
				    bool queue_live)
{
	enum nvme_ctrl_state state = nvme_ctrl_state(ctrl);

	if (likely(state == NVME_CTRL_LIVE))
		return true;
	if (state == NVME_CTRL_DELETING && (ctrl->ops->flags & NVME_F_FABRICS))
		return queue_live;
#if __NVME_CHECK_READY_NARGS == 3
	return __nvme_check_ready(ctrl, rq, queue_live);
#else
	return __nvme_check_ready(ctrl, rq, queue_live, state);
#endif
}

/**
 * nvme_start_request() - start a request, and its timeout
 * @rq: the request
 *
 * Newer kernels also account for it in the multipath disk.  The end of the request
 * relies on this.
 */
static inline void nvme_start_request(struct request *rq)
{
#ifdef HAVE_NVME_MPATH_START_REQUEST
	if (rq->cmd_flags & REQ_NVME_MPATH)
		nvme_mpath_start_request(rq);
#endif
	blk_mq_start_request(rq);
}

/**
 * nvme_rdma_plug_time() - the time at which the block layer began with a plug
 *
 * It has read the clock for the first request of the plug. Newer kernels have a plug at each
 * submission of a bio. They forget the time at the end of the plug, and when the task has been
 * preempted or has slept.
 *
 * Context: process. Return: nanoseconds of ktime; 0 if it is not known.
 */
static inline u64 nvme_rdma_plug_time(void)
{
#ifdef HAVE_BLK_PLUG_CUR_KTIME
	const struct blk_plug *plug = current->plug;

	if (likely(plug))
		return READ_ONCE(plug->cur_ktime);
#endif
	return 0;
}

/**
 * nvme_try_complete_req() - set a request's result and try to complete it
 * @rq: the request; unlike the core's function, this one leaves the generation of its
 *	command ID alone, which io.c sets for each command
 * @status: the status field of the completion, with the phase bit
 * @result: the completion's command-specific result
 *
 * Context: the completion handler.  Return: true if another CPU, or a fake timeout,
 * completes the request, and the caller must not access it any more; false if the
 * caller must end it.
 */
static inline bool nvme_try_complete_req(struct request *rq, __le16 status,
					 union nvme_result result)
{
	struct nvme_request *nrq = nvme_req(rq);

	nrq->status = le16_to_cpu(status) >> 1;
	nrq->result = result;
#ifdef HAVE_NVME_SHOULD_FAIL
	nvme_should_fail(rq);
#endif
	if (unlikely(blk_should_fake_timeout(rq->q)))
		return true;
	return blk_mq_complete_request_remote(rq);
}

/*
 * NVME_RDMA_END_IO() - the head of an rq_end_io_fn with the arguments rq and
 * status. Newer kernels have a third argument. The number of arguments of the
 * block layer's own function shows which kernel this is.
 */
#if BLK_END_SYNC_RQ_NARGS == 2
#define NVME_RDMA_END_IO(name)						\
	enum rq_end_io_ret name(struct request *rq, blk_status_t status)
#else
#define NVME_RDMA_END_IO(name)						\
	enum rq_end_io_ret name(struct request *rq, blk_status_t status, \
				const struct io_comp_batch *iob)
#endif

/* The argument of queue_rqs(): on 6.12 a struct, on 6.1 the first request. */
#ifdef HAVE_STRUCT_RQ_LIST
#define nvme_rdma_rq_list		struct rq_list

static inline void nvme_rdma_rq_list_init(nvme_rdma_rq_list *list)
{
	rq_list_init(list);
}

static inline bool nvme_rdma_rq_list_empty(nvme_rdma_rq_list *list)
{
	return rq_list_empty(list);
}

static inline void nvme_rdma_rq_list_add(nvme_rdma_rq_list *list,
					 struct request *rq)
{
	rq_list_add_head(list, rq);
}
#else
#define nvme_rdma_rq_list		struct request *

static inline void nvme_rdma_rq_list_init(nvme_rdma_rq_list *list)
{
	*list = NULL;
}

static inline bool nvme_rdma_rq_list_empty(nvme_rdma_rq_list *list)
{
	return rq_list_empty(*list);
}

static inline void nvme_rdma_rq_list_add(nvme_rdma_rq_list *list,
					 struct request *rq)
{
	rq_list_add(list, rq);
}
#endif

static inline struct request *nvme_rdma_rq_list_pop(nvme_rdma_rq_list *list)
{
	return rq_list_pop(list);
}

/*
 * NVME_RDMA_QUEUE_RQS() - a member of struct blk_mq_ops. Kernels without a struct rq_list count
 * the active requests of a tag set that disks share where they call queue_rq(), and uncount
 * those of a batch in any case. After a list, a tag might never be free for them again.
 */
#ifdef HAVE_STRUCT_RQ_LIST
#define NVME_RDMA_QUEUE_RQS(function)	.queue_rqs = function,
#else
#define NVME_RDMA_QUEUE_RQS(...)
#endif

/**
 * nvme_rdma_blk_rq_map_sg() - fill a scatterlist with a request's data
 * @rq: the request
 * @sgl: room for blk_rq_nr_phys_segments() entries
 *
 * Return: the number of entries used.
 */
static inline int nvme_rdma_blk_rq_map_sg(struct request *rq,
					  struct scatterlist *sgl)
{
#if __BLK_RQ_MAP_SG_NARGS == 4
	return blk_rq_map_sg(rq->q, rq, sgl);
#else
	return blk_rq_map_sg(rq, sgl);
#endif
}

/**
 * nvme_rdma_integrity_segments() - number of segments of a request's metadata
 * @rq: the request
 *
 * 6.1 counts them only when it merges requests: @rq->nr_integrity_segments is 0
 * there for most requests with metadata.
 *
 * Return: number of scatterlist entries; 0 if the request has no metadata.
 */
static inline unsigned int nvme_rdma_integrity_segments(struct request *rq)
{
	if (!blk_integrity_rq(rq))
		return 0;
#if BLK_RQ_MAP_INTEGRITY_SG_NARGS == 3
	return blk_rq_count_integrity_sg(rq->q, rq->bio);
#else
	return rq->nr_integrity_segments;
#endif
}

/**
 * nvme_rdma_map_integrity_sg() - fill a scatterlist with a request's metadata
 * @rq: the request
 * @sgl: room for nvme_rdma_integrity_segments() entries
 *
 * Return: the number of entries used.
 */
static inline int nvme_rdma_map_integrity_sg(struct request *rq,
					     struct scatterlist *sgl)
{
#if BLK_RQ_MAP_INTEGRITY_SG_NARGS == 3
	return blk_rq_map_integrity_sg(rq->q, rq->bio, sgl);
#else
	return blk_rq_map_integrity_sg(rq, sgl);
#endif
}

/* The format of protection information: in 6.1's nvme_ns, in 6.12's nvme_ns_head. */
#ifdef HAVE_NVME_NS_HEAD_PI_TYPE
#define nvme_rdma_ns_pi(ns)	((ns)->head)
#else
#define nvme_rdma_ns_pi(ns)	(ns)
#endif

/**
 * nvme_rdma_ns_has_pi() - can the device generate and strip the metadata?
 * @ns: the namespace
 *
 * Return: true if all of the metadata is protection information.
 */
static inline bool nvme_rdma_ns_has_pi(struct nvme_ns *ns)
{
	return nvme_rdma_ns_pi(ns)->pi_type &&
	       nvme_rdma_ns_pi(ns)->ms == nvme_rdma_ns_pi(ns)->pi_size;
}

static inline u8 nvme_rdma_ns_pi_type(struct nvme_ns *ns)
{
	return nvme_rdma_ns_pi(ns)->pi_type;
}

static inline u16 nvme_rdma_ns_pi_size(struct nvme_ns *ns)
{
	return nvme_rdma_ns_pi(ns)->pi_size;
}

/* The logical block size as a power of two, in the same struct. */
static inline u8 nvme_rdma_ns_lba_shift(struct nvme_ns *ns)
{
	return nvme_rdma_ns_pi(ns)->lba_shift;
}

/* The names of the application tag and its mask depend on the kernel. */
static inline u16 nvme_rdma_app_tag(const struct nvme_command *cmd)
{
#ifdef HAVE_NVME_RW_COMMAND_LBAT
	return le16_to_cpu(cmd->rw.lbat);
#else
	return le16_to_cpu(cmd->rw.apptag);
#endif
}

static inline u16 nvme_rdma_app_mask(const struct nvme_command *cmd)
{
#ifdef HAVE_NVME_RW_COMMAND_LBAT
	return le16_to_cpu(cmd->rw.lbatm);
#else
	return le16_to_cpu(cmd->rw.appmask);
#endif
}

#endif
