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
 * On 6.1 nvme_init_ctrl() also makes the character device and takes the reference for it, so
 * that nothing is left to do. If nvme_init_ctrl() fails, it undoes all of that, on every
 * kernel.
 */
static inline int nvme_add_ctrl(struct nvme_ctrl *ctrl)
{
	return 0;
}
#endif

#if NVME_INIT_CTRL_FINISH_NARGS == 1
/* 6.1 has no was_suspended, which only PCIe sets. */
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
 * @ctrl: the controller, which gets no further notice of a change
 *
 * Kernels without multipath have neither.
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
 * nvme_rdma_io_timeout() - how long an I/O of this controller may take
 * @ctrl: the controller
 *
 * Newer kernels let each controller's be set (io_timeout in sysfs).
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

#if NVME_WAIT_FREEZE_TIMEOUT_NARGS == 2
static inline int nvme_rdma_wait_freeze_timeout(struct nvme_ctrl *ctrl)
{
	return nvme_wait_freeze_timeout(ctrl, nvme_rdma_io_timeout(ctrl));
}

#define nvme_wait_freeze_timeout(ctrl)	nvme_rdma_wait_freeze_timeout(ctrl)
#endif

/**
 * nvme_rdma_reset_reconnects() - a controller is back
 * @ctrl: the controller
 *
 * Its attempts start from none; newer kernels show their sum in sysfs.
 */
static inline void nvme_rdma_reset_reconnects(struct nvme_ctrl *ctrl)
{
#ifdef HAVE_NVME_CTRL_ACC_RECONNECTS
	atomic_long_add(ctrl->nr_reconnects, &ctrl->acc_reconnects);
#endif
	ctrl->nr_reconnects = 0;
}

/*
 * NVME_RDMA_OPS_GET_VIRT_BOUNDARY - the initializer of get_virt_boundary in a struct
 * nvme_ctrl_ops, for kernels whose core calls it without a check for NULL. Others use the same
 * boundary for every transport: a transfer of one MR has no gaps, in pages of NVMe's 4 KiB.
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
/* By the names that 6.1 has for them. */
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
/* Then the core keeps the reset to itself, and does not ask a transport. */
static inline int nvmf_subsystem_reset(struct nvme_ctrl *ctrl)
{
	return -ENOTTY;
}
#endif

#if NVMF_SHOULD_RECONNECT_NARGS == 1
/* On 6.1 there is no reason to be given */
#define nvmf_should_reconnect(ctrl, status)	\
	((void)(status), nvmf_should_reconnect(ctrl))
#endif

/* ---- host: paths ---- */

/**
 * nvme_rdma_has_other_path() - can a disk be reached by another controller now?
 * @ns: the disk's path by this one
 *
 * Context: process. Return: false also where the kernel has no native multipath.
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
 * nvmf_set_io_queues() - divide I/O queues among reads, writes and polling
 * @opts: the user's options
 * @nr_io_queues: number of queues that the controller granted
 * @io_queues: set to the number of queues by enum hctx_type
 *
 * If writes have queues of their own, the user's nr_io_queues are for reads and come first;
 * otherwise both share the default queues.  Polling gets the remaining ones.
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
 * Return: NULL where the device does not say, as on newer kernels none can.
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

/* What init_request() gets as its NUMA node: newer kernels have it signed. */
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
 * nvmf_map_queues() - tell blk-mq which CPU uses which queue
 * @set: the I/O tag set
 * @ctrl: its controller
 * @io_queues: as nvmf_set_io_queues() made it
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
 * nvme_check_ready() - may this request be sent in the controller's state?
 * @ctrl: the controller
 * @rq: the request
 * @queue_live: is its queue connected?
 *
 * Context: queue_rq().  Return: false where nvme_fail_nonready_command() has to
 * decide what becomes of it.
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
 * nvme_start_request() - hand a request to the hardware, for blk-mq
 * @rq: the request; its timeout runs from here
 *
 * Newer kernels account for it in the multipath node, too, and the end of the
 * request relies on that this was called.
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
 * nvme_try_complete_req() - note a request's outcome and try to end it
 * @rq: the request
 * @status: the status field of the completion, as it came (with the phase bit)
 * @result: the completion's command-specific result
 *
 * Context: the completion handler.  Return: true if the request is on its way
 * to another CPU or to its timeout and must not be touched any more; false if
 * the caller is to end it.
 */
static inline bool nvme_try_complete_req(struct request *rq, __le16 status,
					 union nvme_result result)
{
	struct nvme_request *nrq = nvme_req(rq);

	if (!(nrq->ctrl->quirks & NVME_QUIRK_SKIP_CID_GEN))
		nrq->genctr++;
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
 * NVME_RDMA_END_IO() - the head of an rq_end_io_fn of a request rq with a status. Newer
 * kernels added an argument, to the block layer's own rq_end_io_fn as well, which tells them
 * apart.
 */
#if BLK_END_SYNC_RQ_NARGS == 2
#define NVME_RDMA_END_IO(name)						\
	enum rq_end_io_ret name(struct request *rq, blk_status_t status)
#else
#define NVME_RDMA_END_IO(name)						\
	enum rq_end_io_ret name(struct request *rq, blk_status_t status, \
				const struct io_comp_batch *iob)
#endif

/* The list that queue_rqs() gets: on 6.12 a struct, on 6.1 its first request. */
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

/**
 * nvme_rdma_blk_rq_map_sg() - a request's data as a scatterlist
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
 * nvme_rdma_integrity_segments() - number of pieces of metadata of a request
 * @rq: the request
 *
 * 6.1 counts only where it merges; @rq->nr_integrity_segments is 0 there for most requests
 * with metadata.
 *
 * Return: entries of a scatterlist that hold it; 0 if there is none.
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
 * nvme_rdma_map_integrity_sg() - a request's metadata as a scatterlist
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

/* Protection information: on 6.1 of the namespace, on 6.12 of its head. */
#ifdef HAVE_NVME_NS_HEAD_PI_TYPE
#define nvme_rdma_ns_pi(ns)	((ns)->head)
#else
#define nvme_rdma_ns_pi(ns)	(ns)
#endif

/**
 * nvme_rdma_ns_has_pi() - can the device make and strip the metadata?
 * @ns: the namespace
 *
 * True where all of the metadata is protection information.
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

/* The logical block's size as a power of two, in the same way. */
static inline u8 nvme_rdma_ns_lba_shift(struct nvme_ns *ns)
{
	return nvme_rdma_ns_pi(ns)->lba_shift;
}

/* The application tag of a read or write and its mask have two names each. */
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
