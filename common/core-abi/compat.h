/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One face for all kernels: the newest one's.  Where an older kernel lacks a
 * function it is written here in terms of what that kernel has; where only the
 * arguments changed, a wrapper of our own (nvme_rdma_*, nvmet_rdma_*) takes the
 * newest ones.  No other file asks for HAVE_ or for a version.
 *
 * Do not include this file: include core-abi/core.h.
 */
#ifndef NVME_RDMA_COMPAT_H
#define NVME_RDMA_COMPAT_H

#include <linux/shrinker.h>

/* Until 6.11 this was <asm/unaligned.h>; Kbuild looks which one is there. */
#ifdef HAVE_LINUX_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* The macros of core-inline.h against what the in-tree modules were made of. */
#ifdef CORE_ABI_NVME_RDMA_CTRL_OPS_FLAGS
static_assert((CORE_ABI_NVME_RDMA_CTRL_OPS_FLAGS &
	       (NVME_F_FABRICS | NVME_F_METADATA_SUPPORTED)) ==
	      (NVME_F_FABRICS | NVME_F_METADATA_SUPPORTED));
#endif
#ifdef CORE_ABI_NVMET_RDMA_OPS_FLAGS
static_assert((CORE_ABI_NVMET_RDMA_OPS_FLAGS &
	       (NVMF_KEYED_SGLS | NVMF_METADATA_SUPPORTED)) ==
	      (NVMF_KEYED_SGLS | NVMF_METADATA_SUPPORTED));
#endif

/* ---- host: life of a controller ---- */

#ifndef HAVE_NVME_ADD_CTRL
/*
 * Until 6.10 nvme_init_ctrl() also made the character device and took the
 * reference for it, so nothing is left to do.  Where nvme_init_ctrl() fails it
 * has undone all of that, on every kernel.
 */
static inline int nvme_add_ctrl(struct nvme_ctrl *ctrl)
{
	return 0;
}
#endif

#if NVME_INIT_CTRL_FINISH_NARGS == 1
/* Until 6.1 there was no was_suspended, which only PCIe sets. */
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

#ifndef HAVE_NVME_QUIESCE_IO_QUEUES
/* Renamed in 6.2. */
#define nvme_quiesce_io_queues(ctrl)		nvme_stop_queues(ctrl)
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
/* Then the core keeps the reset to itself, and a transport has none. */
#define nvmf_subsystem_reset	NULL
#endif

#if NVMF_SHOULD_RECONNECT_NARGS == 1
/*
 * Until 6.9 the reason did not count.  An answer with "do not retry" will be
 * the same next time; a negative errno is none of the controller's answers.
 */
static inline bool nvme_rdma_should_reconnect(struct nvme_ctrl *ctrl,
					      int status)
{
	if (status > 0 && (status & NVME_STATUS_DNR))
		return false;
	return nvmf_should_reconnect(ctrl);
}

#define nvmf_should_reconnect(ctrl, status)	\
	nvme_rdma_should_reconnect(ctrl, status)
#endif

/* ---- host: queues ---- */

#ifndef HAVE_NVMF_SET_IO_QUEUES
/**
 * nvmf_set_io_queues() - share out I/O queues among reads, writes and polling
 * @opts: what the user asked for
 * @nr_io_queues: how many the controller granted
 * @io_queues: set to the number of queues by enum hctx_type
 *
 * Where writes have queues of their own, the user's nr_io_queues are for reads
 * and come first; otherwise both share the default ones.  Polling gets what is
 * left.
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
 * From 6.3 on the multipath node accounts for it, too, and the end of the
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

/* The list of requests that queue_rqs() gets: a struct of its own from 6.13. */
#ifdef HAVE_STRUCT_RQ_LIST
#define nvme_rdma_rq_list		struct rq_list

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
 * nvme_rdma_map_integrity_sg() - a request's metadata as a scatterlist
 * @rq: the request
 * @sgl: room for @rq->nr_integrity_segments entries
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

/* Protection information: of the namespace, and from 6.8 on of its head. */
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

/* The application tag of a read or write and its mask: renamed in 6.9. */
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

/* ---- target ---- */

/**
 * nvmet_rdma_cq_init() - set up the core's part of a completion queue
 * @cq: the queue, zeroed
 *
 * It counts its users on newer kernels; nvmet_rdma_cq_put() drops ours.
 */
static inline void nvmet_rdma_cq_init(struct nvmet_cq *cq)
{
#ifdef HAVE_NVMET_CQ_INIT
	nvmet_cq_init(cq);
#endif
}

static inline void nvmet_rdma_cq_put(struct nvmet_cq *cq)
{
#ifdef HAVE_NVMET_CQ_PUT
	nvmet_cq_put(cq);
#endif
}

/**
 * nvmet_rdma_sq_init() - set up the core's part of a submission queue
 * @sq: the queue, zeroed
 * @cq: its completion queue, after nvmet_rdma_cq_init()
 *
 * Context: may sleep.  Return: 0, or a negative errno.  nvmet_sq_destroy()
 * undoes it.
 */
static inline int nvmet_rdma_sq_init(struct nvmet_sq *sq, struct nvmet_cq *cq)
{
#if NVMET_SQ_INIT_NARGS == 1
	return nvmet_sq_init(sq);
#else
	return nvmet_sq_init(sq, cq);
#endif
}

/**
 * nvmet_rdma_req_init() - give a command to the core to be looked at
 * @req: the request; cmd, cqe and port are set
 * @cq: where it completes
 * @sq: where it came in
 * @ops: our transport
 *
 * Context: may sleep.  Return: true if it is to be executed; false if the core
 * has answered it with an error already.
 */
static inline bool nvmet_rdma_req_init(struct nvmet_req *req,
				       struct nvmet_cq *cq,
				       struct nvmet_sq *sq,
				       const struct nvmet_fabrics_ops *ops)
{
#if NVMET_REQ_INIT_NARGS == 4
	return nvmet_req_init(req, cq, sq, ops);
#else
	return nvmet_req_init(req, sq, ops);
#endif
}

/**
 * nvmet_rdma_port_max_queue_size() - the queue size that a port's user asked for
 * @port: the port
 *
 * Return: the value of param_max_queue_size; -1 where none was set, or where
 * the kernel (until 6.8) has no such attribute.
 */
static inline int nvmet_rdma_port_max_queue_size(const struct nvmet_port *port)
{
#ifdef HAVE_NVMET_PORT_MAX_QUEUE_SIZE
	return port->max_queue_size;
#else
	return -1;
#endif
}

/**
 * nvmet_rdma_port_set_max_queue_size() - show what the port settled for
 * @port: the port
 * @size: entries
 *
 * Context: add_port().
 */
static inline void nvmet_rdma_port_set_max_queue_size(struct nvmet_port *port,
						      int size)
{
#ifdef HAVE_NVMET_PORT_MAX_QUEUE_SIZE
	port->max_queue_size = size;
#endif
}

/**
 * struct nvmet_rdma_shrinker - something that gives memory back on request
 * @count: how many objects could be freed; any context that may allocate
 * @scan: free up to @nr of them; return how many were, or SHRINK_STOP
 * @shrinker: the kernel's handle, ours to embed until 6.6
 */
struct nvmet_rdma_shrinker {
	unsigned long (*count)(struct nvmet_rdma_shrinker *s);
	unsigned long (*scan)(struct nvmet_rdma_shrinker *s, unsigned long nr);
#ifdef HAVE_SHRINKER_ALLOC
	struct shrinker *shrinker;
#else
	struct shrinker shrinker;
#endif
};

static inline struct nvmet_rdma_shrinker *
to_nvmet_rdma_shrinker(struct shrinker *shrinker)
{
#ifdef HAVE_SHRINKER_ALLOC
	return shrinker->private_data;
#else
	return container_of(shrinker, struct nvmet_rdma_shrinker, shrinker);
#endif
}

static inline unsigned long
nvmet_rdma_shrinker_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct nvmet_rdma_shrinker *s = to_nvmet_rdma_shrinker(shrinker);

	return s->count(s);
}

static inline unsigned long
nvmet_rdma_shrinker_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct nvmet_rdma_shrinker *s = to_nvmet_rdma_shrinker(shrinker);

	return s->scan(s, sc->nr_to_scan);
}

/**
 * nvmet_rdma_shrinker_register() - offer memory to the kernel
 * @s: with @count and @scan set; they may be called before this returns
 * @name: shown in debugfs
 *
 * Context: may sleep.  Return: 0, or a negative errno.
 */
static inline int nvmet_rdma_shrinker_register(struct nvmet_rdma_shrinker *s,
					       const char *name)
{
#ifdef HAVE_SHRINKER_ALLOC
	s->shrinker = shrinker_alloc(0, "%s", name);
	if (!s->shrinker)
		return -ENOMEM;
	s->shrinker->count_objects = nvmet_rdma_shrinker_count;
	s->shrinker->scan_objects = nvmet_rdma_shrinker_scan;
	s->shrinker->private_data = s;
	shrinker_register(s->shrinker);
	return 0;
#else
	s->shrinker.count_objects = nvmet_rdma_shrinker_count;
	s->shrinker.scan_objects = nvmet_rdma_shrinker_scan;
	s->shrinker.seeks = DEFAULT_SEEKS;
	return register_shrinker(&s->shrinker, "%s", name);
#endif
}

/**
 * nvmet_rdma_shrinker_unregister() - take the offer back
 * @s: a registered one; its methods run no more once this returns
 *
 * Context: may sleep.
 */
static inline void nvmet_rdma_shrinker_unregister(struct nvmet_rdma_shrinker *s)
{
#ifdef HAVE_SHRINKER_ALLOC
	shrinker_free(s->shrinker);
#else
	unregister_shrinker(&s->shrinker);
#endif
}

#endif
