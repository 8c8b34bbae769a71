/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: RDMA devices, and the data buffers of each */
#ifndef NVMET_RDMA_DEVICE_H
#define NVMET_RDMA_DEVICE_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

/* MDTS is a power of two of CAP.MPSMIN, which the core sets to 4 KiB */
#define NVMET_RDMA_MDTS			8
#define NVMET_RDMA_MAX_LEN		(SZ_4K << NVMET_RDMA_MDTS)
/* The core clamps a port's max_queue_size to 1024, too */
#define NVMET_RDMA_MAX_DEPTH		1024

/* buffer.c - per-device cache of contiguous, DMA-mapped chunks */

/* A page is what there always is, and what a smaller one would take anyway */
#define NVMET_RDMA_CHUNK_MIN		PAGE_SIZE
#define NVMET_RDMA_CHUNK_MAX		SZ_128K
/* 4, 8, 16, 32, 64, 128 KiB, with pages of 4 KiB */
#define NVMET_RDMA_CHUNK_CLASSES	(18 - PAGE_SHIFT)
/* Chunks of one size that a CPU may keep for itself */
#define NVMET_RDMA_MAGAZINE		16

/**
 * struct nvmet_rdma_chunk - contiguous memory that a device may access
 * @entry: in the cache, while nobody uses it
 * @page: first page of the memory
 * @dma: the device's address of it, mapped in both directions
 * @size_class: its size is NVMET_RDMA_CHUNK_MIN << @size_class
 */
struct nvmet_rdma_chunk {
	struct list_head	entry;
	struct page		*page;
	u64			dma;
	u8			size_class;
};

/**
 * struct nvmet_rdma_buffers - the chunks of a device that nobody uses
 * @magazines: of each CPU
 * @room: chunks of each class that a magazine may hold
 * @lock: protects @free, @bytes and @cached; taken in any context
 * @free: chunks that the CPUs share, by size class, the last one used first
 * @bytes: of each class in @free
 * @cached: bytes in @free
 * @most: bytes that may be in @free
 * @missing: classes that transfers did without, as bits
 * @refill_work: makes chunks of these
 * @refill_rest: how long that waits before it begins, in jiffies
 * @closing: nobody needs chunks any more
 * @ib: the device that they are mapped for
 * @entry: in the list that the shrinker walks
 */
struct nvmet_rdma_buffers {
	struct nvmet_rdma_magazine __percpu *magazines;
	u8			room[NVMET_RDMA_CHUNK_CLASSES];
	spinlock_t		lock; /* see above */
	struct list_head	free[NVMET_RDMA_CHUNK_CLASSES];
	size_t			bytes[NVMET_RDMA_CHUNK_CLASSES];
	size_t			cached;
	size_t			most;
	unsigned long		missing;
	struct delayed_work	refill_work;
	unsigned long		refill_rest;
	bool			closing;
	struct ib_device	*ib;
	struct list_head	entry;
};

int nvmet_rdma_buffers_register(void);
void nvmet_rdma_buffers_unregister(void);
int nvmet_rdma_buffers_init(struct nvmet_rdma_buffers *bufs,
			    struct ib_device *ib);
void nvmet_rdma_buffers_exit(struct nvmet_rdma_buffers *bufs);
struct nvmet_rdma_chunk *nvmet_rdma_chunk_get(struct nvmet_rdma_buffers *bufs,
					      u32 len);
u32 nvmet_rdma_chunk_size(const struct nvmet_rdma_chunk *chunk);
void nvmet_rdma_chunk_put(struct nvmet_rdma_buffers *bufs,
			  struct nvmet_rdma_chunk *chunk);

/* device.c - RDMA devices that queues live on */

/**
 * enum nvmet_rdma_last_wqe - does a device say when a QP is done with an SRQ?
 * @NVMET_RDMA_LAST_WQE_UNKNOWN: no QP has been drained yet
 * @NVMET_RDMA_LAST_WQE_SAID: it has, once
 * @NVMET_RDMA_LAST_WQE_SILENT: it has been waited for in vain
 */
enum nvmet_rdma_last_wqe {
	NVMET_RDMA_LAST_WQE_UNKNOWN,
	NVMET_RDMA_LAST_WQE_SAID,
	NVMET_RDMA_LAST_WQE_SILENT,
};

/**
 * struct nvmet_rdma_device - an RDMA device, from its arrival to its removal
 * @entry: in the list of devices
 * @ib: the device; two devices are the same if this pointer is
 * @events: learns of its GIDs
 * @pd: protection domain, there while @pd_users is not 0
 * @pd_lock: protects @pd, @pd_users and the making of @bufs
 * @pd_users: queues that have @pd and @bufs
 * @users: queues on the device, and those that are about to take @pd_lock
 * @release_wq: releases its queues: of its own, as its driver may hang for minutes
 * @removing: no queue may be added any more; see nvmet_rdma_queue_publish()
 * @depth_limit: most commands that a queue on this device can have outstanding
 * @io_vectors, @admin_vectors: completion vectors are taken in turns, those of admin
 *	queues apart: else hosts of one I/O queue each would have these all on every
 *	other vector
 * @bufs: data buffers, there while @pd_users is not 0
 * @srq_size: most receives of an SRQ; 0 if there are no SRQs
 * @srq_lock: protects @srqs, and more of each; see srq.c
 * @srqs: shared receive queues, by vector
 * @last_wqe: does it say when a QP is done with an SRQ?
 * @dead: the HCA has not ended the work of the last QP that was drained
 */
struct nvmet_rdma_device {
	struct list_head		entry;
	struct ib_device		*ib;
	struct ib_event_handler		events;
	struct ib_pd			*pd;
	struct mutex			pd_lock; /* see above */
	unsigned int			pd_users;
	unsigned int			users;
	struct workqueue_struct		*release_wq;
	bool				removing;
	u32				depth_limit;
	atomic_t			io_vectors;
	atomic_t			admin_vectors;
	struct nvmet_rdma_buffers	bufs;
	u32				srq_size;
	struct mutex			srq_lock; /* see above */
	DECLARE_HASHTABLE(srqs, 6);
	enum nvmet_rdma_last_wqe	last_wqe;
	bool				dead;
};

int nvmet_rdma_devices_register(void);
void nvmet_rdma_devices_unregister(void);
struct nvmet_rdma_device *nvmet_rdma_device_get(struct ib_device *ib);
void nvmet_rdma_device_put(struct nvmet_rdma_device *dev);
u32 nvmet_rdma_devices_depth_limit(void);
bool nvmet_rdma_devices_have_pi(void);

#endif /* NVMET_RDMA_DEVICE_H */
