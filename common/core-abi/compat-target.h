/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The target's side of compat.h. Include core-abi/core.h instead of this file.
 */
#ifndef NVME_RDMA_COMPAT_TARGET_H
#define NVME_RDMA_COMPAT_TARGET_H

#include <linux/shrinker.h>
#include <linux/version.h>
#include <linux/workqueue.h>

/* Works run on the CPU where they are queued: newer kernels need a flag for that */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define NVMET_RDMA_WQ_PERCPU	WQ_PERCPU
#else
#define NVMET_RDMA_WQ_PERCPU	0
#endif

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
 * nvmet_rdma_req_init() - have the core check a command
 * @req: the request; cmd, cqe and port are set
 * @cq: the completion queue of the command
 * @sq: the submission queue of the command
 * @ops: our transport
 *
 * Context: may sleep.  Return: true if the command is to be executed; false if the core has
 * already answered it with an error.
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
 * the kernel (6.1) has no such attribute.
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
 * nvmet_rdma_port_set_max_queue_size() - report the port's effective queue size
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

/*
 * NVMET_RDMA_OPS_HOST_TRADDR() - the initializer of host_traddr, which nvmet
 * does not call on 6.1, in a struct nvmet_fabrics_ops
 */
#ifdef HAVE_NVMET_FABRICS_OPS_HOST_TRADDR
#define NVMET_RDMA_OPS_HOST_TRADDR(fn)	.host_traddr = (fn),
#else
#define NVMET_RDMA_OPS_HOST_TRADDR(...)
#endif

/**
 * struct nvmet_rdma_shrinker - something that gives memory back on request
 * @count: how many objects could be freed; any context that may allocate
 * @scan: free up to @nr of them; return how many were, or SHRINK_STOP
 * @shrinker: the kernel's handle, on 6.1 the whole of it
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
