/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The target's side of compat.h. Include core-abi/core.h instead of this file.
 */
#ifndef NVME_RDMA_COMPAT_TARGET_H
#define NVME_RDMA_COMPAT_TARGET_H

#include <linux/blkdev.h>
#include <linux/shrinker.h>
#include <linux/version.h>
#include <linux/workqueue.h>

/* Works run on the CPU where they are queued; newer kernels need a flag for it */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define NVMET_RDMA_WQ_PERCPU	WQ_PERCPU
#else
#define NVMET_RDMA_WQ_PERCPU	0
#endif

/**
 * nvmet_rdma_cpu_is_wanted() - does another task want the CPU of this one?
 *
 * Newer kernels let a task run to its next tick before they take the CPU from it.
 *
 * Context: process.
 */
static inline bool nvmet_rdma_cpu_is_wanted(void)
{
#ifdef TIF_NEED_RESCHED_LAZY
	if (test_thread_flag(TIF_NEED_RESCHED_LAZY))
		return true;
#endif
	return need_resched();
}

/**
 * nvmet_rdma_plug_expect() - tell the block layer how many requests a plug will collect
 * @plug: the plug, started
 * @nr: number of requests, at most 32
 *
 * The first request then takes the tags of all. Tags that are not used are freed when the
 * plug ends or the task sleeps.
 */
static inline void nvmet_rdma_plug_expect(struct blk_plug *plug, unsigned int nr)
{
#ifdef HAVE_BLK_PLUG_NR_IOS
	plug->nr_ios = nr;
#endif
}

/**
 * nvmet_rdma_plug_newest() - the request that a plug has collected last
 * @plug: the plug
 *
 * Return: the request, or NULL.
 */
static inline struct request *nvmet_rdma_plug_newest(struct blk_plug *plug)
{
#ifdef HAVE_STRUCT_RQ_LIST
	return plug->mq_list.tail;
#else
	return rq_list_peek(&plug->mq_list);
#endif
}

/**
 * nvmet_rdma_may_be_polled() - may a disk have hardware queues to be polled?
 * @q: the queue of requests of a blk-mq disk
 *
 * Context: any.
 */
static inline bool nvmet_rdma_may_be_polled(const struct request_queue *q)
{
#ifdef QUEUE_FLAG_POLL
	return test_bit(QUEUE_FLAG_POLL, &q->queue_flags);
#else
	return q->limits.features & BLK_FEAT_POLL;
#endif
}

/*
 * Softirqs are off while disks are polled, so that what ends is told from what a task executes.
 * 6.1, which BLK_POLL_NOSLEEP stands for, warns of bios from a cache (REQ_ALLOC_CACHE) that end
 * then, and others may have such.
 */
static inline void nvmet_rdma_polling_begins(void)
{
#ifndef BLK_POLL_NOSLEEP
	local_bh_disable();
#endif
}

static inline void nvmet_rdma_polling_ends(void)
{
#ifndef BLK_POLL_NOSLEEP
	local_bh_enable();
#endif
}

/**
 * nvmet_rdma_poll() - poll a hardware queue once
 * @bdev: the disk; the caller has a reference of its queue of requests
 * @number: the number of the hardware queue, which exists
 *
 * The block layer polls for a bio. Kernels that can sleep then have the tag behind the number.
 *
 * Context: between nvmet_rdma_polling_begins() and nvmet_rdma_polling_ends(). Commands end here.
 */
static inline void nvmet_rdma_poll(struct block_device *bdev, unsigned int number)
{
	struct bio bio = { .bi_bdev = bdev, .bi_cookie = number };
	struct io_comp_batch batch = {};
	unsigned int how = BLK_POLL_ONESHOT;

#ifdef BLK_POLL_NOSLEEP
	how |= BLK_POLL_NOSLEEP;
	bio.bi_cookie <<= 16;
#endif
	bio_poll(&bio, &batch, how);
	if (batch.complete)
		batch.complete(&batch);
}

/**
 * nvmet_rdma_cq_init() - set up the core's part of a completion queue
 * @cq: the queue, zeroed
 *
 * Newer kernels count references; nvmet_rdma_cq_put() drops ours.
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
 * nvmet_rdma_req_init() - let the core check and set up a command
 * @req: the request; cmd, cqe and port are set
 * @cq: the completion queue of the command
 * @sq: the submission queue of the command
 * @ops: our transport
 *
 * Context: may sleep.  Return: true if the caller has to execute the command; false
 * if the core has completed it with an error.
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
 * nvmet_rdma_port_max_queue_size() - param_max_queue_size of a port
 * @port: the port
 *
 * Return: the value of the attribute; -1 if it is not set, or if the kernel (6.1) has
 * no such attribute.
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
 * nvmet_rdma_port_set_max_queue_size() - set param_max_queue_size of a port
 * @port: the port
 * @size: the queue size that the port uses
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

/*
 * NVMET_RDMA_OPS_HOST_TRADDR() - the initializer of host_traddr in a struct
 * nvmet_fabrics_ops; 6.1 has no such member
 */
#ifdef HAVE_NVMET_FABRICS_OPS_HOST_TRADDR
#define NVMET_RDMA_OPS_HOST_TRADDR(fn)	.host_traddr = (fn),
#else
#define NVMET_RDMA_OPS_HOST_TRADDR(...)
#endif

/**
 * struct nvmet_rdma_shrinker - frees memory when the kernel is short of it
 * @count: returns the number of objects that could be freed; called in any context that
 *	   may allocate
 * @scan: frees up to @nr objects; returns the number of freed objects, or SHRINK_STOP
 * @shrinker: the kernel's shrinker; on 6.1 it is part of this struct
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
 * nvmet_rdma_shrinker_register() - register a shrinker
 * @s: the shrinker; @count and @scan are set and may be called before the return
 * @name: name in debugfs
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
 * nvmet_rdma_shrinker_unregister() - undo nvmet_rdma_shrinker_register()
 * @s: the shrinker; its callbacks do not run after the return
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
