// SPDX-License-Identifier: GPL-2.0
/*
 * target/srq_shrink.c: shared receives that are too many give their memory back, and are there
 * again when they are wanted.
 */
#include "srq_hca.h"

/* In place of target/srq_low.c */
void nvmet_rdma_srq_arm(struct nvmet_rdma_srq *srq) { }
void nvmet_rdma_srq_reached(struct nvmet_rdma_srq *srq) { }
void nvmet_rdma_srq_work(struct work_struct *work) { }
void nvmet_rdma_srq_failed(struct nvmet_rdma_srq *srq, const char *what) { }
void nvmet_rdma_srq_event(struct ib_event *event, void *context) { }

static struct nvmet_rdma_queue *queue[8];

static int eight_queues(void **state)
{
	unsigned int i;

	no_queues(state);
	dev.srq_reports = false;
	for (i = 0; i < 8; i++) {
		queue[i] = join(DEPTH);
		assert_ptr_equal(queue[i]->srq, queue[0]->srq);
	}
	assert_int_equal(queue[0]->srq->nr, MOST);
	assert_int_equal(with_memory, MOST + SPARE);
	return 0;
}

/* The receives of the deep one come first, and are not all one block's */
static int deep_and_shallow(void **state)
{
	unsigned int i;

	no_queues(state);
	dev.srq_reports = false;
	dev.srq_size = 2 * MOST;
	queue[0] = join(MOST);
	queue[1] = join(16);
	for (i = 2; i < 8; i++)
		queue[i] = queue[1];
	assert_int_equal(queue[1]->srq->nr, MOST + 16);
	return 0;
}

static int none(void **state)
{
	unsigned int i;

	no_memory = false;
	for (i = 0; i < 8; i++)
		nvmet_rdma_srq_leave(queue[i]);
	assert_int_equal(with_memory, 0);
	return 0;
}

static void few_are_left(unsigned int few)
{
	while (few < 8)
		nvmet_rdma_srq_leave(queue[few++]);
}

static void memory_goes_with_the_load(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;

	few_are_left(2);
	/* Not at once, because they may return */
	look_after(srq, SHRINK_SECS - 1);
	assert_int_equal(srq->nr, MOST);
	look_after(srq, 1);
	assert_int_equal(srq->nr, 2 * DEPTH);
	/* The HCA still has them */
	assert_int_equal(with_memory, MOST + SPARE);
	commands(MOST / 2);
	look_after(srq, 0);
	assert_in_range(with_memory, 2 * DEPTH + SPARE, MOST - 1);
	commands(MOST);
	look_after(srq, 0);
	assert_int_equal(with_memory, 2 * DEPTH + SPARE);
	/* The remaining entries are used in turn */
	commands(10 * MOST);
	assert_in_range(nr_posted, 2 * DEPTH, 2 * DEPTH + SPARE);
}

static void a_deep_queue_leaves(void **state)
{
	struct nvmet_rdma_srq *srq = queue[1]->srq;

	nvmet_rdma_srq_leave(queue[0]);
	look_after(srq, SHRINK_SECS);
	assert_in_range(srq->nr, 16, DEPTH);
}

/* Neither a queue more nor one less has it grow or shrink at once */
static void no_churn(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;
	unsigned int i;

	few_are_left(4);
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, MOST);
	nvmet_rdma_srq_leave(queue[3]);
	look_after(srq, SHRINK_SECS);
	commands(4 * MOST);
	look_after(srq, 0);
	assert_int_equal(srq->nr, 3 * DEPTH);
	for (i = 0; i < 10; i++) {
		nvmet_rdma_srq_leave(queue[2]);
		look_after(srq, SHRINK_SECS);
		assert_int_equal(srq->nr, 3 * DEPTH);
		queue[2] = join(DEPTH);
		assert_int_equal(srq->nr, 3 * DEPTH);
	}
	assert_int_equal(with_memory, 3 * DEPTH + SPARE);
}

static void back_before_they_are_gone(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;
	unsigned int i;

	few_are_left(1);
	look_after(srq, SHRINK_SECS);
	commands(300);
	look_after(srq, 0);
	assert_in_range(with_memory, 1, MOST - 1);
	for (i = 1; i < 8; i++)
		queue[i] = join(DEPTH);
	assert_int_equal(srq->nr, MOST);
	assert_int_equal(with_memory, MOST + SPARE);
	commands(4 * MOST);
	assert_in_range(nr_posted, MOST, MOST + SPARE);
}

/* A queue that gets no memory works with what there is, and the SRQ stays */
static void no_memory_to_come_back(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;

	few_are_left(1);
	look_after(srq, SHRINK_SECS);
	commands(4 * MOST);
	look_after(srq, 0);
	assert_int_equal(srq->nr, DEPTH);
	no_memory = true;
	queue[1] = join(DEPTH);
	assert_ptr_equal(queue[1]->srq, srq);
	assert_int_equal(srq->nr, DEPTH);
	commands(MOST);
	no_memory = false;
	queue[2] = join(DEPTH);
	assert_int_equal(srq->nr, 3 * DEPTH);
	commands(MOST);
}

static void random_rounds(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;
	u64 seed = 20260102;
	unsigned int round, i;

	for (round = 0; round < 5000; round++) {
		i = 1 + unit_random(&seed) % 7;
		unit_context("round %u", round);
		if (queue[i]->srq)
			nvmet_rdma_srq_leave(queue[i]);
		else if (unit_random(&seed) % 3)
			queue[i] = join(16 + unit_random(&seed) % 400);
		no_memory = !(unit_random(&seed) % 8);
		commands(unit_random(&seed) % 500);
		look_after(srq, unit_random(&seed) % (2 * SHRINK_SECS));
		unit_equal(true, srq->nr <= MOST);
		unit_equal(true, nr_posted <= MOST + SPARE);
		unit_equal(true, nr_posted >= srq->nr);
	}
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, eight_queues, none)
	const struct CMUnitTest tests[] = {
		TEST(memory_goes_with_the_load),
		cmocka_unit_test_setup_teardown(a_deep_queue_leaves, deep_and_shallow, none),
		TEST(no_churn),
		TEST(back_before_they_are_gone),
		TEST(no_memory_to_come_back),
		TEST(random_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
