/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: a cache of contiguous, DMA-mapped chunks for each device */
#ifndef NVMET_RDMA_BUFFER_H
#define NVMET_RDMA_BUFFER_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

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
 * @max_cached: bytes that may be in @free
 * @missing: classes that transfers did without, as bits
 * @refill_work: makes chunks of these
 * @refill_delay: how long that waits before it begins, in jiffies
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
	size_t			max_cached;
	unsigned long		missing;
	struct delayed_work	refill_work;
	unsigned long		refill_delay;
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

#endif /* NVMET_RDMA_BUFFER_H */
