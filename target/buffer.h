/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: a cache of contiguous, DMA-mapped chunks for each device */
#ifndef NVMET_RDMA_BUFFER_H
#define NVMET_RDMA_BUFFER_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

/* A page: smaller chunks would take one, too */
#define NVMET_RDMA_CHUNK_MIN		PAGE_SIZE
#define NVMET_RDMA_CHUNK_MAX		SZ_128K
/* 4, 8, 16, 32, 64, 128 KiB, with pages of 4 KiB */
#define NVMET_RDMA_CHUNK_CLASSES	(18 - PAGE_SHIFT)
/* The most chunks of one size that a CPU may keep */
#define NVMET_RDMA_MAGAZINE		32

/**
 * struct nvmet_rdma_chunk - contiguous memory that a device may access
 * @entry: in the cache, while it is unused
 * @next: in a list of nvmet_rdma_chunks_put()
 * @page: first page of the memory
 * @dma: the device's address of it, mapped in both directions
 * @size_class: its size is NVMET_RDMA_CHUNK_MIN << @size_class
 */
struct nvmet_rdma_chunk {
	union {
		struct list_head	entry;
		struct nvmet_rdma_chunk	*next;
	};
	struct page		*page;
	u64			dma;
	u8			size_class;
};

/**
 * struct nvmet_rdma_buffers - the unused chunks of a device
 * @magazines: of each CPU; read for each chunk
 * @mag_bytes: bytes that a magazine may hold
 * @ib: the device that the chunks are mapped for
 * @lock: protects @free, @bytes and @cached; taken in any context. On another cache line than
 *	the above, which all CPUs read.
 * @free: chunks that the CPUs share, by size class, the last one used first
 * @bytes: of each class in @free
 * @cached: bytes in @free
 * @max_cached: bytes that may be in @free
 * @missing: bits of classes of which there were no chunks
 * @refill_work: allocates chunks of @missing
 * @refill_delay: delay of @refill_work, in jiffies
 * @closing: no chunks are needed any more; set once, by nvmet_rdma_buffers_exit()
 * @entry: in the list that the shrinker walks
 */
struct nvmet_rdma_buffers {
	struct nvmet_rdma_magazine __percpu *magazines;
	u32			mag_bytes;
	struct ib_device	*ib;
	spinlock_t		lock ____cacheline_aligned_in_smp; /* see above */
	struct list_head	free[NVMET_RDMA_CHUNK_CLASSES];
	size_t			bytes[NVMET_RDMA_CHUNK_CLASSES];
	size_t			cached;
	size_t			max_cached;
	unsigned long		missing;
	struct delayed_work	refill_work;
	unsigned long		refill_delay;
	bool			closing;
	struct list_head	entry;
};

/* Context: any. Return: bytes of a chunk. */
static inline u32 nvmet_rdma_chunk_size(const struct nvmet_rdma_chunk *chunk)
{
	return NVMET_RDMA_CHUNK_MIN << chunk->size_class;
}

int nvmet_rdma_buffers_register(void);
void nvmet_rdma_buffers_unregister(void);
int nvmet_rdma_buffers_init(struct nvmet_rdma_buffers *bufs,
			    struct ib_device *ib);
void nvmet_rdma_buffers_exit(struct nvmet_rdma_buffers *bufs);
struct nvmet_rdma_chunk *nvmet_rdma_chunk_get(struct nvmet_rdma_buffers *bufs,
					      u32 len);
void nvmet_rdma_chunk_put(struct nvmet_rdma_buffers *bufs,
			  struct nvmet_rdma_chunk *chunk);
void nvmet_rdma_chunks_put(struct nvmet_rdma_buffers *bufs,
			   struct nvmet_rdma_chunk *first);

#endif /* NVMET_RDMA_BUFFER_H */
