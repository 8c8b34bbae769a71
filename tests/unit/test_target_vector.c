// SPDX-License-Identifier: GPL-2.0
/* target/vector.c: which completion vector a new queue gets. */
#include "kernel.h"

#include "target/vector.c"

#include "harness.h"

#define VECTORS	5

static struct ib_device ib = { .name = "unit0", .num_comp_vectors = VECTORS };
static struct nvmet_rdma_vector vectors[VECTORS];
static struct nvmet_rdma_device dev = { .ib = &ib, .vectors = vectors };

static int fresh(void **state)
{
	memset(vectors, 0, sizeof(vectors));
	memset(dev.last_vector, 0, sizeof(dev.last_vector));
	return 0;
}

static void in_turn(void **state)
{
	u32 i;

	for (i = 1; i <= 3 * VECTORS; i++)
		assert_int_equal(nvmet_rdma_vector_get(&dev, false), i % VECTORS);
}

static void admin_queues_apart(void **state)
{
	u32 i;

	for (i = 1; i <= 3 * VECTORS; i++) {
		assert_int_equal(nvmet_rdma_vector_get(&dev, true), i % VECTORS);
		assert_int_equal(nvmet_rdma_vector_get(&dev, false), i % VECTORS);
	}
}

static void the_least_loaded_first(void **state)
{
	u32 i;

	for (i = 0; i < 4 * VECTORS; i++)
		nvmet_rdma_vector_get(&dev, false);
	/* a host of two queues on one vector, and of one on another, has left */
	nvmet_rdma_vector_put(&dev, 3, false);
	nvmet_rdma_vector_put(&dev, 3, false);
	nvmet_rdma_vector_put(&dev, 1, false);
	assert_int_equal(nvmet_rdma_vector_get(&dev, false), 3);
	/* as many on both now: the next one in turn */
	assert_int_equal(nvmet_rdma_vector_get(&dev, false), 1);
	assert_int_equal(nvmet_rdma_vector_get(&dev, false), 3);
	for (i = 0; i < VECTORS; i++)
		assert_int_equal(vectors[i].queues[0], 4);
	assert_int_equal(nvmet_rdma_vector_get(&dev, false), 4);
}

static void never_more_than_one_apart(void **state)
{
	u32 held[64], n = 0, i, least, most;
	u64 random = 1;
	int round;

	for (round = 0; round < 10000; round++) {
		if (n && (n == 64 || unit_random(&random) % 2)) {
			/* of the most loaded: others only make room that the next ones fill */
			most = 0;
			for (i = 1; i < n; i++)
				if (vectors[held[i]].queues[0] > vectors[held[most]].queues[0])
					most = i;
			nvmet_rdma_vector_put(&dev, held[most], false);
			held[most] = held[--n];
		} else {
			held[n++] = nvmet_rdma_vector_get(&dev, false);
		}
		least = vectors[0].queues[0];
		most = least;
		for (i = 1; i < VECTORS; i++) {
			least = min(least, vectors[i].queues[0]);
			most = max(most, vectors[i].queues[0]);
		}
		unit_context("round %d", round);
		unit_equal(1, most - least <= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_turn, fresh),
		cmocka_unit_test_setup(admin_queues_apart, fresh),
		cmocka_unit_test_setup(the_least_loaded_first, fresh),
		cmocka_unit_test_setup(never_more_than_one_apart, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
