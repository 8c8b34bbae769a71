// SPDX-License-Identifier: GPL-2.0
/*
 * Data buffers: a cache of contiguous, DMA-mapped chunks for each device.
 *
 * Operation: a transfer takes chunks of 4 to 128 KiB, the smallest that hold it. A chunk is
 * allocated and mapped once, in both directions, and is then reused by transfer after
 * transfer. A steady load needs no allocation of data memory, no mapping and no IOMMU
 * operation for an I/O. The user of a chunk syncs it. The last chunk put is the first one
 * taken, while it is warm in the CPU's cache.
 *
 * A chunk still holds the data of its previous transfer, possibly another host's. Code that
 * sends a chunk to a host without filling all of it has to clear it first; see io.c.
 *
 * CPUs: each CPU has a magazine of chunks with its own lock, so that CPUs do not contend for
 * one lock for each I/O. Magazines are filled from and emptied to the shared part of the cache,
 * many chunks at a time. The CPUs share half of the cache equally. A CPU may use its share for
 * any size, up to 32 chunks of each: with the default buffer_cache_mb, a CPU among 64 keeps 16
 * chunks of 32 KiB, or 4 of 128 KiB. Chunks of another size make room.
 *
 * Shortage: an I/O never reclaims or compacts memory for more than a page. Commands run
 * without permission to wait for I/O (io.c), where the kernel cannot compact. A search for
 * large blocks would reclaim page after page and find none. If there is no block of the size,
 * a transfer gets a larger unused chunk, or several smaller ones, down to a page. Meanwhile a
 * work allocates chunks of the missing size, where the kernel may compact memory.
 *
 * Bounds: at most buffer_cache_mb megabytes are cached for a device. A chunk beyond that
 * replaces the coldest one of the size class with the most memory, so that chunks of an
 * earlier load do not keep out those of the present one. The shrinker frees cached chunks when
 * memory is short. If a page cannot be allocated or mapped, all cached chunks are freed first.
 * They are also freed when the last queue of the device ends.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "buffer.h"
#include "core-abi/core.h"
#include "params.h"

/* The part of a cache that full magazines may hold together */
#define MAGAZINES_PART	2
/* A share that holds more than all of a magazine's places is of no use */
#define MAG_MAX_BYTES	(NVMET_RDMA_MAGAZINE * 2 * NVMET_RDMA_CHUNK_MAX)
/* Chunks of a missing size that the refill allocates before it tries another size */
#define REFILL_CHUNKS	16
/*
 * Delay of the refill when the kernel has none, in jiffies, doubled each time: a search for
 * large blocks costs as much as thousands of I/Os
 */
#define MIN_REFILL_DELAY	HZ
#define MAX_REFILL_DELAY	(64 * HZ)

/**
 * struct nvmet_rdma_magazine - unused chunks of a CPU
 * @lock: protects the members; taken in any context, the shared part's nests inside
 * @room: bytes that it may hold in addition
 * @nr: number of chunks of each class
 * @chunk: the chunks, the last one used last
 */
struct nvmet_rdma_magazine {
	spinlock_t		lock; /* see above */
	u32			room;
	u8			nr[NVMET_RDMA_CHUNK_CLASSES];
	struct nvmet_rdma_chunk	*chunk[NVMET_RDMA_CHUNK_CLASSES]
				      [NVMET_RDMA_MAGAZINE];
};

/* Protects the list that the shrinker walks; the other locks nest inside it */
static DEFINE_SPINLOCK(buffers_lock);
static LIST_HEAD(buffers_list);

static u32 class_size(u8 size_class)
{
	return NVMET_RDMA_CHUNK_MIN << size_class;
}

static u8 chunk_class(u32 len)
{
	if (len <= NVMET_RDMA_CHUNK_MIN)
		return 0;
	return order_base_2(len) - ilog2(NVMET_RDMA_CHUNK_MIN);
}

static struct nvmet_rdma_chunk *chunk_alloc(struct ib_device *ib, u8 size_class,
					    gfp_t gfp)
{
	u32 size = class_size(size_class);
	struct nvmet_rdma_chunk *chunk;

	chunk = kmalloc_node(sizeof(*chunk), GFP_KERNEL, ibdev_to_node(ib));
	if (!chunk)
		return NULL;
	chunk->size_class = size_class;
	chunk->page = alloc_pages_node(ibdev_to_node(ib), gfp | __GFP_NOWARN |
				       __GFP_COMP, get_order(size));
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

/* For an I/O: see "Shortage" above */
static struct nvmet_rdma_chunk *chunk_alloc_now(struct ib_device *ib,
						u8 size_class)
{
	gfp_t gfp = GFP_KERNEL;

	if (get_order(class_size(size_class)))
		gfp = (gfp & ~__GFP_RECLAIM) | __GFP_NORETRY;
	return chunk_alloc(ib, size_class, gfp);
}

static void chunk_free(struct ib_device *ib, struct nvmet_rdma_chunk *chunk)
{
	u32 size = nvmet_rdma_chunk_size(chunk);

	ib_dma_unmap_page(ib, chunk->dma, size, DMA_BIDIRECTIONAL);
	__free_pages(chunk->page, get_order(size));
	kfree(chunk);
}

static void chunks_free(struct ib_device *ib, struct list_head *chunks)
{
	struct nvmet_rdma_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, chunks, entry)
		chunk_free(ib, chunk);
}

/* ---- the shared part ---- */

static void shared_add(struct nvmet_rdma_buffers *bufs,
		       struct nvmet_rdma_chunk *chunk)
{
	lockdep_assert_held(&bufs->lock);
	list_add(&chunk->entry, &bufs->free[chunk->size_class]);
	bufs->bytes[chunk->size_class] += nvmet_rdma_chunk_size(chunk);
	bufs->cached += nvmet_rdma_chunk_size(chunk);
}

static void shared_del(struct nvmet_rdma_buffers *bufs,
		       struct nvmet_rdma_chunk *chunk)
{
	lockdep_assert_held(&bufs->lock);
	list_del(&chunk->entry);
	bufs->bytes[chunk->size_class] -= nvmet_rdma_chunk_size(chunk);
	bufs->cached -= nvmet_rdma_chunk_size(chunk);
}

/*
 * Moves chunks to @taken until at most @most bytes are left: the coldest ones of the class
 * with the most memory
 */
static void shared_shrink(struct nvmet_rdma_buffers *bufs, size_t most,
			  struct list_head *taken)
{
	struct nvmet_rdma_chunk *chunk;
	unsigned int i, class;

	lockdep_assert_held(&bufs->lock);
	while (bufs->cached > most) {
		class = 0;
		for (i = 1; i < NVMET_RDMA_CHUNK_CLASSES; i++) {
			if (bufs->bytes[i] > bufs->bytes[class])
				class = i;
		}
		chunk = list_last_entry(&bufs->free[class],
					struct nvmet_rdma_chunk, entry);
		shared_del(bufs, chunk);
		list_add(&chunk->entry, taken);
	}
}

/* ---- magazines ---- */

static bool magazine_has_room(const struct nvmet_rdma_magazine *mag, u8 class)
{
	return mag->nr[class] < NVMET_RDMA_MAGAZINE && mag->room >= class_size(class);
}

static void magazine_push(struct nvmet_rdma_magazine *mag,
			  struct nvmet_rdma_chunk *chunk)
{
	u8 class = chunk->size_class;

	mag->room -= class_size(class);
	mag->chunk[class][mag->nr[class]++] = chunk;
}

static struct nvmet_rdma_chunk *magazine_pop(struct nvmet_rdma_magazine *mag,
					     u8 class)
{
	mag->room += class_size(class);
	return mag->chunk[class][--mag->nr[class]];
}

/*
 * Returns a chunk of the shared part. Takes others with it, for half of the places that the
 * magazine has for the size.
 */
static struct nvmet_rdma_chunk *magazine_fill(struct nvmet_rdma_buffers *bufs,
					      struct nvmet_rdma_magazine *mag,
					      u8 class)
{
	u8 most = min_t(u32, bufs->mag_bytes / class_size(class),
			NVMET_RDMA_MAGAZINE) / 2;
	struct nvmet_rdma_chunk *chunk, *first = NULL;

	lockdep_assert_held(&mag->lock);
	spin_lock(&bufs->lock);
	while (!first || (mag->nr[class] + 1 < most && magazine_has_room(mag, class))) {
		chunk = list_first_entry_or_null(&bufs->free[class],
						 struct nvmet_rdma_chunk,
						 entry);
		if (!chunk)
			break;
		shared_del(bufs, chunk);
		if (first)
			magazine_push(mag, chunk);
		else
			first = chunk;
	}
	spin_unlock(&bufs->lock);
	return first;
}

/* Moves the colder half of a size's chunks to the shared part */
static void magazine_empty(struct nvmet_rdma_buffers *bufs,
			   struct nvmet_rdma_magazine *mag, u8 class,
			   struct list_head *taken)
{
	u8 i, n = DIV_ROUND_UP(mag->nr[class], 2);

	lockdep_assert_held(&mag->lock);
	spin_lock(&bufs->lock);
	for (i = 0; i < n; i++)
		shared_add(bufs, mag->chunk[class][i]);
	shared_shrink(bufs, bufs->max_cached, taken);
	spin_unlock(&bufs->lock);
	mag->room += n * class_size(class);
	mag->nr[class] -= n;
	memmove(mag->chunk[class], mag->chunk[class] + n,
		mag->nr[class] * sizeof(mag->chunk[class][0]));
}

/*
 * Makes room for a chunk. If all places of the size are taken, half of them become free.
 * Otherwise the other size with the most memory goes, which may be of an earlier load, and the
 * size itself only if there is no other. The caller has checked that an empty magazine has room
 * for a chunk of the size.
 */
static void magazine_make_room(struct nvmet_rdma_buffers *bufs,
			       struct nvmet_rdma_magazine *mag, u8 class,
			       struct list_head *taken)
{
	u32 bytes, most;
	u8 i, of;

	if (mag->nr[class] == NVMET_RDMA_MAGAZINE)
		magazine_empty(bufs, mag, class, taken);
	while (!magazine_has_room(mag, class)) {
		most = 0;
		of = class;
		for (i = 0; i < NVMET_RDMA_CHUNK_CLASSES; i++) {
			bytes = mag->nr[i] * class_size(i);
			if (i != class && bytes > most) {
				most = bytes;
				of = i;
			}
		}
		magazine_empty(bufs, mag, of, taken);
	}
}

/* Takes all chunks of a CPU */
static size_t magazine_take(struct nvmet_rdma_magazine *mag,
			    struct list_head *taken)
{
	struct nvmet_rdma_chunk *chunk;
	size_t bytes = 0;
	u8 class;

	lockdep_assert_held(&mag->lock);
	for (class = 0; class < NVMET_RDMA_CHUNK_CLASSES; class++) {
		while (mag->nr[class]) {
			chunk = magazine_pop(mag, class);
			list_add(&chunk->entry, taken);
			bytes += class_size(class);
		}
	}
	return bytes;
}

static size_t magazines_bytes(const struct nvmet_rdma_buffers *bufs)
{
	const struct nvmet_rdma_magazine *mag;
	size_t bytes = 0;
	u8 class;
	int cpu;

	for_each_possible_cpu(cpu) {
		mag = per_cpu_ptr(bufs->magazines, cpu);
		for (class = 0; class < NVMET_RDMA_CHUNK_CLASSES; class++)
			bytes += READ_ONCE(mag->nr[class]) * class_size(class);
	}
	return bytes;
}

/*
 * Takes chunks out of the cache, at least @bytes if there are as many, and shared ones first.
 * Returns the bytes that it took.
 */
static size_t buffers_take(struct nvmet_rdma_buffers *bufs, size_t bytes,
			   struct list_head *taken)
{
	struct nvmet_rdma_magazine *mag;
	unsigned long flags;
	size_t sum;
	int cpu;

	spin_lock_irqsave(&bufs->lock, flags);
	sum = bufs->cached;
	shared_shrink(bufs, sum - min(sum, bytes), taken);
	sum -= bufs->cached;
	spin_unlock_irqrestore(&bufs->lock, flags);

	for_each_possible_cpu(cpu) {
		if (sum >= bytes)
			break;
		mag = per_cpu_ptr(bufs->magazines, cpu);
		spin_lock_irqsave(&mag->lock, flags);
		sum += magazine_take(mag, taken);
		spin_unlock_irqrestore(&mag->lock, flags);
	}
	return sum;
}

/* ---- transfers ---- */

/* A CPU that only takes chunks makes room as well: others may be of sizes that it does not use */
static noinline struct nvmet_rdma_chunk *
chunk_from_shared(struct nvmet_rdma_buffers *bufs, u8 class)
{
	struct nvmet_rdma_magazine *mag = raw_cpu_ptr(bufs->magazines);
	struct nvmet_rdma_chunk *chunk;
	unsigned long flags;
	LIST_HEAD(taken);

	spin_lock_irqsave(&mag->lock, flags);
	if (bufs->mag_bytes >= class_size(class))
		magazine_make_room(bufs, mag, class, &taken);
	chunk = magazine_fill(bufs, mag, class);
	spin_unlock_irqrestore(&mag->lock, flags);
	chunks_free(bufs->ib, &taken);
	return chunk;
}

static __always_inline struct nvmet_rdma_chunk *
cached_chunk(struct nvmet_rdma_buffers *bufs, u8 class)
{
	struct nvmet_rdma_magazine *mag = raw_cpu_ptr(bufs->magazines);
	struct nvmet_rdma_chunk *chunk = NULL;
	unsigned long flags;

	spin_lock_irqsave(&mag->lock, flags);
	if (likely(mag->nr[class]))
		chunk = magazine_pop(mag, class);
	spin_unlock_irqrestore(&mag->lock, flags);
	return likely(chunk) ? chunk : chunk_from_shared(bufs, class);
}

static void buffers_refill(struct nvmet_rdma_buffers *bufs, u8 class)
{
	/* A cache without room would free the chunk and miss it again at once */
	if (class_size(class) > bufs->max_cached)
		return;
	set_bit(class, &bufs->missing);
	queue_delayed_work(system_unbound_wq, &bufs->refill_work,
			   READ_ONCE(bufs->refill_delay));
}

/* There is no block of the size: returns another chunk, a larger one if possible */
static struct nvmet_rdma_chunk *other_chunk(struct nvmet_rdma_buffers *bufs,
					    u8 class)
{
	struct nvmet_rdma_chunk *chunk;
	LIST_HEAD(taken);
	u8 i;

	if (class)
		buffers_refill(bufs, class);
	for (i = class + 1; i < NVMET_RDMA_CHUNK_CLASSES; i++) {
		chunk = cached_chunk(bufs, i);
		if (chunk)
			return chunk;
	}
	for (i = class; i--;) {
		chunk = cached_chunk(bufs, i) ?: chunk_alloc_now(bufs->ib, i);
		if (chunk)
			return chunk;
	}

	/* No page can be allocated and mapped; cached chunks may be the reason */
	if (!buffers_take(bufs, SIZE_MAX, &taken))
		return NULL;
	chunks_free(bufs->ib, &taken);
	return chunk_alloc_now(bufs->ib, 0);
}

/**
 * nvmet_rdma_chunk_get() - take a chunk of memory
 * @bufs: the device's buffers
 * @len: bytes, 1 to NVMET_RDMA_CHUNK_MAX
 *
 * Context: may sleep.
 * Return: a chunk with undefined content, of at least @len bytes, or a smaller one if there
 * is no contiguous memory of the size; NULL if no page can be allocated and mapped.
 */
struct nvmet_rdma_chunk *nvmet_rdma_chunk_get(struct nvmet_rdma_buffers *bufs,
					      u32 len)
{
	u8 class = chunk_class(len);
	struct nvmet_rdma_chunk *chunk;

	if (WARN_ON_ONCE(class >= NVMET_RDMA_CHUNK_CLASSES))
		return NULL;
	chunk = cached_chunk(bufs, class);
	if (likely(chunk))
		return chunk;
	return chunk_alloc_now(bufs->ib, class) ?: other_chunk(bufs, class);
}

/* A chunk that no magazine has room for */
static void shared_put(struct nvmet_rdma_buffers *bufs,
		       struct nvmet_rdma_chunk *chunk)
{
	unsigned long flags;
	LIST_HEAD(taken);

	spin_lock_irqsave(&bufs->lock, flags);
	shared_add(bufs, chunk);
	shared_shrink(bufs, bufs->max_cached, &taken);
	spin_unlock_irqrestore(&bufs->lock, flags);
	chunks_free(bufs->ib, &taken);
}

/* A chunk that this CPU's magazine has no room for, or had none a moment ago */
static noinline void put_without_room(struct nvmet_rdma_buffers *bufs,
				      struct nvmet_rdma_chunk *chunk)
{
	struct nvmet_rdma_magazine *mag = raw_cpu_ptr(bufs->magazines);
	u8 class = chunk->size_class;
	unsigned long flags;
	LIST_HEAD(taken);

	if (bufs->mag_bytes < class_size(class)) {
		shared_put(bufs, chunk);
		return;
	}
	spin_lock_irqsave(&mag->lock, flags);
	magazine_make_room(bufs, mag, class, &taken);
	magazine_push(mag, chunk);
	spin_unlock_irqrestore(&mag->lock, flags);
	chunks_free(bufs->ib, &taken);
}

/**
 * nvmet_rdma_chunks_put() - give chunks back
 * @bufs: the device's buffers
 * @first: from nvmet_rdma_chunk_get(), not used any more; linked by @next, the warmest last
 *
 * Context: any.
 */
void nvmet_rdma_chunks_put(struct nvmet_rdma_buffers *bufs,
			   struct nvmet_rdma_chunk *first)
{
	struct nvmet_rdma_magazine *mag = raw_cpu_ptr(bufs->magazines);
	struct nvmet_rdma_chunk *next;
	unsigned long flags;

	spin_lock_irqsave(&mag->lock, flags);
	for (; first && magazine_has_room(mag, first->size_class); first = next) {
		next = first->next;
		magazine_push(mag, first);
	}
	spin_unlock_irqrestore(&mag->lock, flags);
	for (; unlikely(first); first = next) {
		next = first->next;
		put_without_room(bufs, first);
	}
}

/**
 * nvmet_rdma_chunk_put() - give a chunk back
 * @bufs: the device's buffers
 * @chunk: from nvmet_rdma_chunk_get(), not used any more
 *
 * Context: any.
 */
void nvmet_rdma_chunk_put(struct nvmet_rdma_buffers *bufs,
			  struct nvmet_rdma_chunk *chunk)
{
	chunk->next = NULL;
	nvmet_rdma_chunks_put(bufs, chunk);
}

/*
 * Allocates chunks of the missing sizes. If there are none of a size, there are usually none
 * of larger sizes. It may compact memory and do I/O for that, but not enter file systems:
 * these may be on a disk of a connection to this machine.
 */
static void nvmet_rdma_refill_work(struct work_struct *work)
{
	struct nvmet_rdma_buffers *bufs =
		container_of(to_delayed_work(work), struct nvmet_rdma_buffers,
			     refill_work);
	unsigned long missing = xchg(&bufs->missing, 0);
	struct nvmet_rdma_chunk *chunk;
	unsigned int class, i;

	for_each_set_bit(class, &missing, NVMET_RDMA_CHUNK_CLASSES) {
		for (i = 0; i < REFILL_CHUNKS; i++) {
			/*
			 * The end of the device's buffers waits for this work, and holds up others
			 */
			if (READ_ONCE(bufs->closing))
				return;
			chunk = chunk_alloc(bufs->ib, class,
					    GFP_NOFS | __GFP_NORETRY);
			if (!chunk)
				goto none;
			shared_put(bufs, chunk);
		}
	}
	WRITE_ONCE(bufs->refill_delay, 0);
	return;

none:
	WRITE_ONCE(bufs->refill_delay,
		   clamp_t(unsigned long, 2 * bufs->refill_delay,
			   MIN_REFILL_DELAY, MAX_REFILL_DELAY));
}

/* ---- the shrinker ---- */

static unsigned long
nvmet_rdma_shrink_count(struct nvmet_rdma_shrinker *shrinker)
{
	struct nvmet_rdma_buffers *bufs;
	unsigned long bytes = 0;

	spin_lock_irq(&buffers_lock);
	list_for_each_entry(bufs, &buffers_list, entry)
		bytes += READ_ONCE(bufs->cached) + magazines_bytes(bufs);
	spin_unlock_irq(&buffers_lock);

	return bytes >> PAGE_SHIFT ?: SHRINK_EMPTY;
}

/*
 * Unmaps and frees with buffers_lock held. The lock keeps the buffers, and so the device, from
 * being removed, and neither needs to sleep.
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
		got += buffers_take(bufs, want - got, &taken);
		chunks_free(bufs->ib, &taken);
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
 * nvmet_rdma_buffers_register() - register the shrinker
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

/* Bytes that a CPU may keep, so that all CPUs keep to their part */
static u32 magazine_bytes(void)
{
	u64 bytes = (u64)nvmet_rdma_buffer_cache_mb * SZ_1M / MAGAZINES_PART;

	return min_t(u64, div_u64(bytes, num_possible_cpus()), MAG_MAX_BYTES);
}

/**
 * nvmet_rdma_buffers_init() - make an empty cache
 * @bufs: the cache
 * @ib: the device that chunks shall be mapped for
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_buffers_init(struct nvmet_rdma_buffers *bufs,
			    struct ib_device *ib)
{
	struct nvmet_rdma_magazine *mag;
	unsigned int i;
	int cpu;

	bufs->magazines = alloc_percpu(struct nvmet_rdma_magazine);
	if (!bufs->magazines)
		return -ENOMEM;
	bufs->mag_bytes = magazine_bytes();
	for_each_possible_cpu(cpu) {
		mag = per_cpu_ptr(bufs->magazines, cpu);
		spin_lock_init(&mag->lock);
		mag->room = bufs->mag_bytes;
	}
	spin_lock_init(&bufs->lock);
	for (i = 0; i < NVMET_RDMA_CHUNK_CLASSES; i++) {
		INIT_LIST_HEAD(&bufs->free[i]);
		bufs->bytes[i] = 0;
	}
	bufs->cached = 0;
	bufs->max_cached = (size_t)nvmet_rdma_buffer_cache_mb * SZ_1M -
			   (size_t)bufs->mag_bytes * num_possible_cpus();
	bufs->ib = ib;
	bufs->missing = 0;
	bufs->refill_delay = 0;
	bufs->closing = false;
	INIT_DELAYED_WORK(&bufs->refill_work, nvmet_rdma_refill_work);

	spin_lock_irq(&buffers_lock);
	list_add_tail(&bufs->entry, &buffers_list);
	spin_unlock_irq(&buffers_lock);
	return 0;
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

	WRITE_ONCE(bufs->closing, true);
	cancel_delayed_work_sync(&bufs->refill_work);
	/* Not found by the shrinker any more, which holds the lock while it works */
	spin_lock_irq(&buffers_lock);
	list_del(&bufs->entry);
	spin_unlock_irq(&buffers_lock);

	buffers_take(bufs, SIZE_MAX, &taken);
	chunks_free(bufs->ib, &taken);
	free_percpu(bufs->magazines);
}
