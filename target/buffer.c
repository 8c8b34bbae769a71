// SPDX-License-Identifier: GPL-2.0
/*
 * Data buffers: a cache of contiguous, DMA-mapped chunks for each device.
 *
 * Operation: a transfer takes chunks of 4 to 128 KiB, the smallest that hold
 * it. A chunk is allocated and mapped once, in both directions, and then goes
 * from transfer to transfer: no memory for data, no mapping and no IOMMU work for
 * an I/O in a steady load. Its user syncs it. The last chunk put is the first one
 * taken, while it is warm in the CPU's cache.
 *
 * A chunk still holds what the transfer before left in it, maybe another
 * host's data. Whoever sends a chunk to a host without having filled all of it
 * has to clear it first; see io.c.
 *
 * Bounds: no more than buffer_cache_mb megabytes lie unused for a device, the
 * shrinker takes them when memory is short, and they go when the last queue of
 * the device does.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/log2.h>
#include <linux/slab.h>

#include "nvmet_rdma.h"

/* Protects the list that the shrinker walks; bufs->lock nests inside it */
static DEFINE_SPINLOCK(buffers_lock);
static LIST_HEAD(buffers_list);

static u32 chunk_size(u8 size_class)
{
	return NVMET_RDMA_CHUNK_MIN << size_class;
}

static u8 chunk_class(u32 len)
{
	if (len <= NVMET_RDMA_CHUNK_MIN)
		return 0;
	return order_base_2(len) - ilog2(NVMET_RDMA_CHUNK_MIN);
}

static struct nvmet_rdma_chunk *chunk_alloc(struct ib_device *ib, u8 size_class)
{
	u32 size = chunk_size(size_class);
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_COMP;
	struct nvmet_rdma_chunk *chunk;

	/* A large block is worth a look, not a search: there is the other way */
	if (get_order(size) > PAGE_ALLOC_COSTLY_ORDER)
		gfp |= __GFP_NORETRY;

	chunk = kmalloc(sizeof(*chunk), GFP_KERNEL);
	if (!chunk)
		return NULL;
	chunk->size_class = size_class;
	chunk->page = alloc_pages_node(ibdev_to_node(ib), gfp,
				       get_order(size));
	if (!chunk->page)
		goto err_free_chunk;
	chunk->dma = ib_dma_map_page(ib, chunk->page, 0, size,
				     DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(ib, chunk->dma))
		goto err_free_pages;
	return chunk;

err_free_pages:
	__free_pages(chunk->page, get_order(size));
err_free_chunk:
	kfree(chunk);
	return NULL;
}

static void chunk_free(struct ib_device *ib, struct nvmet_rdma_chunk *chunk)
{
	u32 size = chunk_size(chunk->size_class);

	ib_dma_unmap_page(ib, chunk->dma, size, DMA_BIDIRECTIONAL);
	__free_pages(chunk->page, get_order(size));
	kfree(chunk);
}

/**
 * nvmet_rdma_chunk_get() - take a chunk of memory
 * @bufs: the device's buffers
 * @len: bytes, 1 to NVMET_RDMA_CHUNK_MAX
 *
 * Context: may sleep.
 * Return: a chunk of at least @len bytes, its content undefined; NULL if there
 * is no contiguous memory of the size.
 */
struct nvmet_rdma_chunk *nvmet_rdma_chunk_get(struct nvmet_rdma_buffers *bufs,
					      u32 len)
{
	u8 size_class = chunk_class(len);
	struct nvmet_rdma_chunk *chunk;
	unsigned long flags;

	if (WARN_ON_ONCE(size_class >= NVMET_RDMA_CHUNK_CLASSES))
		return NULL;

	spin_lock_irqsave(&bufs->lock, flags);
	chunk = list_first_entry_or_null(&bufs->free[size_class],
					 struct nvmet_rdma_chunk, entry);
	if (chunk) {
		list_del(&chunk->entry);
		bufs->cached -= chunk_size(size_class);
	}
	spin_unlock_irqrestore(&bufs->lock, flags);

	return chunk ?: chunk_alloc(bufs->ib, size_class);
}

/**
 * nvmet_rdma_chunk_put() - give a chunk back
 * @bufs: the device's buffers
 * @chunk: from nvmet_rdma_chunk_get(); nobody accesses it any more
 *
 * Context: any.
 */
void nvmet_rdma_chunk_put(struct nvmet_rdma_buffers *bufs,
			  struct nvmet_rdma_chunk *chunk)
{
	size_t size = chunk_size(chunk->size_class);
	size_t most = (size_t)nvmet_rdma_buffer_cache_mb * SZ_1M;
	unsigned long flags;
	bool keep;

	spin_lock_irqsave(&bufs->lock, flags);
	keep = bufs->cached + size <= most;
	if (keep) {
		list_add(&chunk->entry, &bufs->free[chunk->size_class]);
		bufs->cached += size;
	}
	spin_unlock_irqrestore(&bufs->lock, flags);

	if (!keep)
		chunk_free(bufs->ib, chunk);
}

/* Takes chunks out of the cache, the largest and coldest first */
static size_t buffers_take(struct nvmet_rdma_buffers *bufs, size_t bytes,
			   struct list_head *taken)
{
	struct nvmet_rdma_chunk *chunk, *next;
	size_t sum = 0;
	int i;

	lockdep_assert_held(&bufs->lock);
	for (i = NVMET_RDMA_CHUNK_CLASSES - 1; i >= 0 && sum < bytes; i--) {
		list_for_each_entry_safe_reverse(chunk, next, &bufs->free[i],
						 entry) {
			if (sum >= bytes)
				break;
			list_move(&chunk->entry, taken);
			sum += chunk_size(i);
		}
	}
	bufs->cached -= sum;
	return sum;
}

static void buffers_free(struct ib_device *ib, struct list_head *chunks)
{
	struct nvmet_rdma_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, chunks, entry)
		chunk_free(ib, chunk);
}

static unsigned long
nvmet_rdma_shrink_count(struct nvmet_rdma_shrinker *shrinker)
{
	struct nvmet_rdma_buffers *bufs;
	unsigned long bytes = 0;

	spin_lock_irq(&buffers_lock);
	list_for_each_entry(bufs, &buffers_list, entry)
		bytes += READ_ONCE(bufs->cached);
	spin_unlock_irq(&buffers_lock);

	return bytes >> PAGE_SHIFT ?: SHRINK_EMPTY;
}

/*
 * Unmaps and frees under buffers_lock: that lock keeps the device's buffers,
 * and so the device, from going away, and neither needs to sleep.
 */
static unsigned long
nvmet_rdma_shrink_scan(struct nvmet_rdma_shrinker *shrinker,
		       unsigned long pages)
{
	size_t want = pages << PAGE_SHIFT, got = 0;
	struct nvmet_rdma_buffers *bufs;
	LIST_HEAD(taken);

	spin_lock_irq(&buffers_lock);
	list_for_each_entry(bufs, &buffers_list, entry) {
		if (got >= want)
			break;
		spin_lock(&bufs->lock);
		got += buffers_take(bufs, want - got, &taken);
		spin_unlock(&bufs->lock);
		buffers_free(bufs->ib, &taken);
		INIT_LIST_HEAD(&taken);
	}
	spin_unlock_irq(&buffers_lock);

	return got >> PAGE_SHIFT ?: SHRINK_STOP;
}

static struct nvmet_rdma_shrinker nvmet_rdma_shrinker = {
	.count	= nvmet_rdma_shrink_count,
	.scan	= nvmet_rdma_shrink_scan,
};

/**
 * nvmet_rdma_buffers_register() - let the kernel ask for unused chunks
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_buffers_register(void)
{
	return nvmet_rdma_shrinker_register(&nvmet_rdma_shrinker,
					    "nvmet-rdma-buffers");
}

/**
 * nvmet_rdma_buffers_unregister() - undo nvmet_rdma_buffers_register()
 *
 * Context: may sleep.
 */
void nvmet_rdma_buffers_unregister(void)
{
	nvmet_rdma_shrinker_unregister(&nvmet_rdma_shrinker);
}

/**
 * nvmet_rdma_buffers_init() - make an empty cache
 * @bufs: the cache
 * @ib: the device that chunks shall be mapped for
 *
 * Context: may sleep.
 */
void nvmet_rdma_buffers_init(struct nvmet_rdma_buffers *bufs,
			     struct ib_device *ib)
{
	unsigned int i;

	spin_lock_init(&bufs->lock);
	for (i = 0; i < NVMET_RDMA_CHUNK_CLASSES; i++)
		INIT_LIST_HEAD(&bufs->free[i]);
	bufs->cached = 0;
	bufs->ib = ib;

	spin_lock_irq(&buffers_lock);
	list_add_tail(&bufs->entry, &buffers_list);
	spin_unlock_irq(&buffers_lock);
}

/**
 * nvmet_rdma_buffers_exit() - free a cache and all that is in it
 * @bufs: the cache; every chunk has been put back
 *
 * Context: may sleep.
 */
void nvmet_rdma_buffers_exit(struct nvmet_rdma_buffers *bufs)
{
	LIST_HEAD(taken);

	/* Ends the shrinker's interest; it holds the lock while it looks */
	spin_lock_irq(&buffers_lock);
	list_del(&bufs->entry);
	spin_unlock_irq(&buffers_lock);

	spin_lock_irq(&bufs->lock);
	buffers_take(bufs, SIZE_MAX, &taken);
	spin_unlock_irq(&bufs->lock);
	buffers_free(bufs->ib, &taken);
}
