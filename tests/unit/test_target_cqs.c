// SPDX-License-Identifier: GPL-2.0
/*
 * target/cqs.c: which queues share a completion queue, how large it is, that it has room for all
 * of them, and whom its failure ends.
 */
#include "kernel.h"

#include "target/cqs.c"

#include "harness.h"

#define MAX_CQE	10000u

struct workqueue_struct *nvmet_rdma_wq;

static struct ib_device ib = {
	.name = "unit0", .num_comp_vectors = 1, .attrs.max_cqe = MAX_CQE,
};

static struct nvmet_rdma_vector vector = { .polled = LIST_HEAD_INIT(vector.polled) };
static struct nvmet_rdma_device dev = { .ib = &ib, .vectors = &vector };
static struct nvmet_rdma_cqs cqs;

static struct nvmet_rdma_queue *failed_queues[8];
static unsigned int nr_failed;

void nvmet_rdma_queue_fail(struct nvmet_rdma_queue *queue)
{
	assert_in_range(nr_failed, 0, ARRAY_SIZE(failed_queues) - 1);
	failed_queues[nr_failed++] = queue;
}

static int fresh(void **state)
{
	memset(&cqs, 0, sizeof(cqs));
	nvmet_rdma_cqs_init(&cqs, &dev, 0);
	unit_cq_most = ~0u;
	nr_failed = 0;
	warnings = 0;
	return 0;
}

static int try_get(u32 nr, struct nvmet_rdma_queue **queue)
{
	*queue = kzalloc(sizeof(**queue), GFP_KERNEL);
	(*queue)->dev = &dev;
	(*queue)->nr_cqe = nr;
	return nvmet_rdma_cqs_get(&cqs, *queue);
}

static struct nvmet_rdma_queue *get(u32 nr)
{
	struct nvmet_rdma_queue *queue;

	assert_int_equal(try_get(nr, &queue), 0);
	return queue;
}

/* A single queue takes as much as it needs; each further completion queue twice as much */
static void sizes(void **state)
{
	static const u32 sizes[] = { 100, 201, 201, 403, 403, 403, 403, 807 };
	struct nvmet_rdma_queue *queues[ARRAY_SIZE(sizes)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		queues[i] = get(100);
		unit_context("queue %zu", i);
		unit_equal(sizes[i], queues[i]->cq->size);
	}
	assert_int_equal(unit_cqs, 4);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		nvmet_rdma_cqs_put(queues[i]);
	assert_int_equal(unit_cqs, 0);
	assert_true(list_empty(&cqs.list));
}

static void those_of_an_srq(void **state)
{
	struct nvmet_rdma_queue *one, *other;

	cqs.base = 4000;
	cqs.first = 300;
	one = get(200);
	assert_int_equal(one->cq->size, 4300);
	other = get(200);
	assert_int_equal(other->cq->size, 4601);
	nvmet_rdma_cqs_put(one);
	/* the larger one stays, and has room */
	one = get(200);
	assert_ptr_equal(one->cq, other->cq);
	nvmet_rdma_cqs_put(one);
	nvmet_rdma_cqs_put(other);
	assert_int_equal(unit_cqs, 0);
}

static void a_base_beyond_the_device(void **state)
{
	struct nvmet_rdma_queue *none;

	cqs.base = MAX_CQE + 1;
	assert_int_equal(try_get(1, &none), -EINVAL);
	kfree(none);
	assert_int_equal(unit_cqs, 0);
}

static void limits(void **state)
{
	/* as an older kernel's int, and as the u32 of 7.3 */
	assert_int_equal(nvme_rdma_limit_less(10, 3), 7);
	assert_int_equal(nvme_rdma_limit_less(2, 3), 0);
	assert_int_equal(nvme_rdma_limit_less(3, 3), 0);
	assert_int_equal(nvme_rdma_limit_less(-1, 3), 0);
	assert_int_equal(nvme_rdma_limit_less(2u, 3), 0);
	assert_true(nvme_rdma_limit_less(~0u, 1) == ~0u - 1);
}

static void what_the_device_allows(void **state)
{
	struct nvmet_rdma_queue *one, *other, *none;

	cqs.base = 4000;
	assert_int_equal(try_get(6001, &none), -EINVAL);
	one = get(3500);
	assert_int_equal(one->cq->size, 7500);
	/* twice as large would be too large */
	other = get(3500);
	assert_int_equal(other->cq->size, MAX_CQE);
	nvmet_rdma_cqs_put(one);
	nvmet_rdma_cqs_put(other);
}

static void without_memory_for_more(void **state)
{
	struct nvmet_rdma_queue *one = get(100), *other, *none;

	unit_cq_most = 150;
	other = get(100);
	assert_int_equal(other->cq->size, 100);
	unit_cq_most = 99;
	assert_int_equal(try_get(100, &none), -ENOMEM);
	assert_int_equal(unit_cqs, 2);
	nvmet_rdma_cqs_put(one);
	nvmet_rdma_cqs_put(other);
	assert_int_equal(unit_cqs, 0);
}

/* Queues of any sizes come and go: what they reserve on one is never more than it has */
static void room_for_all(void **state)
{
	struct nvmet_rdma_queue *queues[64] = { 0 };
	u64 random = 1;
	int round;
	size_t i;

	for (round = 0; round < 20000; round++) {
		struct nvmet_rdma_queue **queue = &queues[unit_random(&random) % 64];
		u32 reserved = 0;

		if (*queue) {
			nvmet_rdma_cqs_put(*queue);
			*queue = NULL;
			continue;
		}
		*queue = get(1 + unit_random(&random) % 600);
		for (i = 0; i < ARRAY_SIZE(queues); i++)
			if (queues[i] && queues[i]->cq == (*queue)->cq)
				reserved += queues[i]->nr_cqe;
		unit_context("round %d", round);
		unit_equal(1, reserved <= (*queue)->cq->size && (*queue)->cq->size <= MAX_CQE);
	}
	for (i = 0; i < ARRAY_SIZE(queues); i++)
		if (queues[i])
			nvmet_rdma_cqs_put(queues[i]);
	assert_int_equal(unit_cqs, 0);
}

static void fails(struct nvme_rdma_cq *cq)
{
	cq->broken = true;
	cq->ops->failed(cq);
}

static void run_fail_work(struct nvme_rdma_cq *cq)
{
	struct shared_cq *of = shared_of(cq);

	of->fail_work.fn(&of->fail_work);
}

static void a_failure_ends_its_queues(void **state)
{
	struct nvmet_rdma_queue *alone = get(100), *one = get(100), *other = get(100), *next;

	assert_ptr_equal(one->cq, other->cq);
	fails(one->cq);
	/* before the work runs, and after */
	nvmet_rdma_cqs_put(alone);
	next = get(50);
	assert_ptr_not_equal(next->cq, one->cq);
	/* nor is one that fails again and again replaced by larger ones */
	assert_int_equal(next->cq->size, 50);
	run_fail_work(one->cq);
	assert_int_equal(nr_failed, 2);
	assert_ptr_equal(failed_queues[0], one);
	assert_ptr_equal(failed_queues[1], other);
	assert_int_equal(warnings, 2);
	assert_int_equal(one->events[NVMET_RDMA_EV_QP].v, 1);
	nvmet_rdma_cqs_put(one);
	nr_failed = 0;
	run_fail_work(other->cq);
	assert_int_equal(nr_failed, 1);
	nvmet_rdma_cqs_put(other);
	nvmet_rdma_cqs_put(next);
	assert_int_equal(unit_cqs, 0);
}

static unsigned int told;

static void of_an_srq_failed(struct nvmet_rdma_cqs *of)
{
	assert_ptr_equal(of, &cqs);
	told++;
}

static void a_failure_of_an_srq(void **state)
{
	struct nvmet_rdma_queue *queue = get(100);

	cqs.failed = of_an_srq_failed;
	fails(queue->cq);
	assert_int_equal(told, 1);
	assert_int_equal(nr_failed, 0);
	nvmet_rdma_cqs_put(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sizes, fresh),
		cmocka_unit_test_setup(those_of_an_srq, fresh),
		cmocka_unit_test_setup(a_base_beyond_the_device, fresh),
		cmocka_unit_test(limits),
		cmocka_unit_test_setup(what_the_device_allows, fresh),
		cmocka_unit_test_setup(without_memory_for_more, fresh),
		cmocka_unit_test_setup(room_for_all, fresh),
		cmocka_unit_test_setup(a_failure_ends_its_queues, fresh),
		cmocka_unit_test_setup(a_failure_of_an_srq, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
