// SPDX-License-Identifier: GPL-2.0
/*
 * target/buffer.c: how many chunks a CPU keeps of its own, and how many there are in all,
 * whatever the number of CPUs.
 */
#include "kernel.h"

#define MOST_CPUS	512

static unsigned int cpus, this_cpu, shared_locked, allocated;

static void *shared_lock;

struct page { int unused; };

static void unit_lock(void *lock)
{
	if (lock == shared_lock)
		shared_locked++;
}

#undef spin_lock
#define spin_lock(l)		unit_lock(l)
#undef spin_lock_irqsave
#define spin_lock_irqsave(l, f)	(unit_lock(l), (f) = 0)
#define DEFINE_SPINLOCK(name)	spinlock_t name
#define num_possible_cpus()	cpus
#define for_each_possible_cpu(c) for ((c) = 0; (c) < (int)cpus; (c)++)
#define alloc_percpu(type)	((type *)calloc(MOST_CPUS, sizeof(type)))
#define free_percpu(p)		free(p)
#define per_cpu_ptr(p, c)	(&(p)[c])
#undef raw_cpu_ptr
#define raw_cpu_ptr(p)		(&(p)[this_cpu])
#define list_add(e, l)		((e)->next = (l)->next, (e)->prev = (l), \
				 (l)->next->prev = (e), (l)->next = (e))
#define noinline
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define clamp_t(t, v, a, b)	clamp((t)(v), (t)(a), (t)(b))
#define div_u64(a, b)		((a) / (b))
#define DIV_ROUND_UP(a, b)	(((a) + (b) - 1) / (b))
#define SZ_1M			(1024 * 1024)
#define ilog2(x)		(31 - __builtin_clz(x))
#define order_base_2(x)		((x) > 1 ? 32 - __builtin_clz((u32)(x) - 1) : 0)
#define get_order(size)		order_base_2((size) >> PAGE_SHIFT)
#define __GFP_NOWARN		0u
#define __GFP_COMP		0u
#define __GFP_RECLAIM		0u
#define __GFP_NORETRY		0u
#define GFP_NOFS		0u
#define DMA_BIDIRECTIONAL	0
#define WARN_ON_ONCE(x)		(x)
#define set_bit(nr, p)		(*(p) |= 1ul << (nr))
#define xchg(p, v)		({ unsigned long _was = *(p); *(p) = (v); _was; })
#define for_each_set_bit(b, p, n) \
	for ((b) = next_bit(*(p), 0, n); (b) < (n); (b) = next_bit(*(p), (b) + 1, n))
#define system_unbound_wq	NULL
#define SHRINK_EMPTY		(~0ul - 1)
#define SHRINK_STOP		(~0ul)

static unsigned int next_bit(unsigned long bits, unsigned int from, unsigned int n)
{
	while (from < n && !(bits & 1ul << from))
		from++;
	return from;
}

struct nvmet_rdma_shrinker {
	unsigned long (*count)(struct nvmet_rdma_shrinker *shrinker);
	unsigned long (*scan)(struct nvmet_rdma_shrinker *shrinker, unsigned long pages);
};

static int nvmet_rdma_shrinker_register(struct nvmet_rdma_shrinker *shrinker, const char *name)
{
	return 0;
}

static void nvmet_rdma_shrinker_unregister(struct nvmet_rdma_shrinker *shrinker)
{
}

static int ibdev_to_node(struct ib_device *ib)
{
	return 0;
}

/* A chunk: counted, and no memory */
#undef kmalloc_node
static void *kmalloc_node(size_t size, gfp_t gfp, int node)
{
	return malloc(size);
}

#undef kfree
static void kfree(void *p)
{
	free(p);
}

static struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order)
{
	static struct page page;

	allocated++;
	return &page;
}

static void __free_pages(struct page *page, unsigned int order)
{
	allocated--;
}

static u64 ib_dma_map_page(struct ib_device *ib, struct page *page, size_t at, size_t size, int dir)
{
	return 1;
}

static bool ib_dma_mapping_error(struct ib_device *ib, u64 dma)
{
	return false;
}

static void ib_dma_unmap_page(struct ib_device *ib, u64 dma, size_t size, int dir)
{
}

#include "target/buffer.c"

#include "harness.h"

unsigned int nvmet_rdma_buffer_cache_mb;

static struct nvmet_rdma_buffers bufs;
static struct ib_device ib = { .name = "unit0" };

static void begin(unsigned int nr_cpus, unsigned int mb)
{
	cpus = nr_cpus;
	nvmet_rdma_buffer_cache_mb = mb;
	this_cpu = 0;
	INIT_LIST_HEAD(&buffers_list);
	assert_int_equal(nvmet_rdma_buffers_init(&bufs, &ib), 0);
	shared_lock = &bufs.lock;
}

static void end(void)
{
	nvmet_rdma_buffers_exit(&bufs);
	assert_int_equal(allocated, 0);
}

static size_t in_cache(void)
{
	return bufs.cached + magazines_bytes(&bufs);
}

static void check_rooms(void)
{
	struct nvmet_rdma_magazine *mag;
	unsigned int cpu, class;
	int room;

	for (cpu = 0; cpu < cpus; cpu++) {
		mag = per_cpu_ptr(bufs.magazines, cpu);
		room = bufs.mag_bytes;
		for (class = 0; class < NVMET_RDMA_CHUNK_CLASSES; class++)
			room -= mag->nr[class] * class_size(class);
		assert_int_equal(mag->room, room);
		assert_true(room >= 0);
	}
}

/* Takes and puts back @nr chunks on a CPU, @times */
static void load(unsigned int cpu, u32 size, unsigned int nr, unsigned int times)
{
	struct nvmet_rdma_chunk *chunks[64];
	unsigned int i;

	this_cpu = cpu;
	while (times--) {
		for (i = 0; i < nr; i++) {
			chunks[i] = nvmet_rdma_chunk_get(&bufs, size);
			assert_non_null(chunks[i]);
			assert_true(nvmet_rdma_chunk_size(chunks[i]) >= size);
		}
		for (i = 0; i < nr; i++)
			nvmet_rdma_chunk_put(&bufs, chunks[i]);
	}
}

/* Once it is warm, a CPU does not take the lock that all share, however many CPUs there are */
static void no_shared_lock(void **state)
{
	static const struct { unsigned int cpus; u32 size; unsigned int nr; } cases[] = {
		{ 2, SZ_4K, 32 }, { 2, SZ_128K, 32 }, { 8, SZ_128K, 32 },
		{ 64, SZ_4K, 32 }, { 64, SZ_64K, 8 }, { 64, SZ_128K, 4 },
		{ 256, SZ_4K, 32 }, { 256, SZ_64K, 2 }, { 256, SZ_128K, 1 },
		{ 512, SZ_4K, 16 }, { 512, SZ_64K, 1 },
	};
	size_t i;
	u32 size;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_context("%u CPUs, %u chunks of %u", cases[i].cpus, cases[i].nr,
			     cases[i].size);
		begin(cases[i].cpus, 64);
		/* an earlier load of each size is in the magazine */
		for (size = SZ_4K; size <= SZ_128K; size *= 2)
			load(1, size, 16, 2);
		load(1, cases[i].size, cases[i].nr, 16);
		shared_locked = 0;
		load(1, cases[i].size, cases[i].nr, 100);
		unit_equal(0, shared_locked);
		end();
	}
}

/* All CPUs with chunks of all sizes keep to buffer_cache_mb */
static void bounds(void **state)
{
	static const unsigned int many[] = { 1, 2, 5, 64, 512 }, mb[] = { 0, 1, 3, 64 };
	unsigned int round, nr;
	u64 random = 1;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(many) * ARRAY_SIZE(mb); i++) {
		j = i % ARRAY_SIZE(mb);
		begin(many[i / ARRAY_SIZE(mb)], mb[j]);
		unit_context("%u CPUs, %u MiB", cpus, mb[j]);
		for (round = 0; round < 3000; round++) {
			nr = 1 + unit_random(&random) % 40;
			load(unit_random(&random) % cpus,
			     1 + unit_random(&random) % SZ_128K, nr, 1);
			if (in_cache() > (size_t)mb[j] * SZ_1M)
				unit_equal((size_t)mb[j] * SZ_1M, in_cache());
			check_rooms();
		}
		end();
	}
}

/*
 * What a CPU puts, others find, many at a time: nothing is allocated in the long run. The one
 * that takes has a magazine that is full of another size.
 */
static void from_cpu_to_cpu(void **state)
{
	struct nvmet_rdma_chunk *chunk;
	unsigned int i, before;

	begin(64, 64);
	load(1, SZ_128K, NVMET_RDMA_MAGAZINE, 1);
	before = allocated;
	shared_locked = 0;
	for (i = 0; i < 8000; i++) {
		this_cpu = 1;
		chunk = nvmet_rdma_chunk_get(&bufs, SZ_4K);
		this_cpu = 2;
		nvmet_rdma_chunk_put(&bufs, chunk);
	}
	assert_in_range(allocated - before, 1, NVMET_RDMA_MAGAZINE + 1);
	assert_in_range(shared_locked, 2, 2 * 8000 / (NVMET_RDMA_MAGAZINE / 2) + 32);
	end();
}

/* Chunks of several sizes that are put together, more than a magazine has room for */
static void put_together(void **state)
{
	static const struct { unsigned int cpus, mb; } cases[] = {
		{ 1, 0 }, { 4, 64 }, { 512, 64 },
	};
	struct nvmet_rdma_chunk *first, *chunk;
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_context("%u CPUs, %u MiB", cases[i].cpus, cases[i].mb);
		begin(cases[i].cpus, cases[i].mb);
		this_cpu = 0;
		for (n = 0, first = NULL; n < 3 * NVMET_RDMA_MAGAZINE; n++) {
			chunk = nvmet_rdma_chunk_get(&bufs, n % 3 ? SZ_4K : SZ_128K);
			chunk->next = first;
			first = chunk;
		}
		nvmet_rdma_chunks_put(&bufs, first);
		check_rooms();
		/* All of them, if they may be kept */
		if (cases[i].mb)
			unit_equal(NVMET_RDMA_MAGAZINE * (SZ_128K + 2 * SZ_4K), in_cache());
		else
			unit_equal(0, in_cache());
		end();
	}
}

static void warmest_first(void **state)
{
	struct nvmet_rdma_chunk *first, *last;

	begin(4, 64);
	first = nvmet_rdma_chunk_get(&bufs, SZ_4K);
	last = nvmet_rdma_chunk_get(&bufs, SZ_4K);
	first->next = last;
	last->next = NULL;
	nvmet_rdma_chunks_put(&bufs, first);
	assert_ptr_equal(last, nvmet_rdma_chunk_get(&bufs, SZ_4K));
	assert_ptr_equal(first, nvmet_rdma_chunk_get(&bufs, SZ_4K));
	nvmet_rdma_chunk_put(&bufs, first);
	nvmet_rdma_chunk_put(&bufs, last);
	end();
}

static void memory_is_short(void **state)
{
	begin(4, 64);
	load(0, SZ_128K, 40, 1);
	load(3, SZ_4K, 10, 1);
	assert_int_equal(nvmet_rdma_shrink_count(&nvmet_rdma_shrinker), 40 * 32 + 10);
	assert_in_range(nvmet_rdma_shrink_scan(&nvmet_rdma_shrinker, 100), 100, 100 + 16 * 32);
	nvmet_rdma_shrink_scan(&nvmet_rdma_shrinker, ~0ul >> PAGE_SHIFT);
	assert_int_equal(in_cache(), 0);
	load(0, SZ_128K, 16, 2);
	assert_int_equal(in_cache(), 16 * SZ_128K);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_shared_lock),
		cmocka_unit_test(bounds),
		cmocka_unit_test(from_cpu_to_cpu),
		cmocka_unit_test(put_together),
		cmocka_unit_test(warmest_first),
		cmocka_unit_test(memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
