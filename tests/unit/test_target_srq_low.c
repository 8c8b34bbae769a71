// SPDX-License-Identifier: GPL-2.0
/*
 * target/srq_low.c: how many lost receives are replaced, also if the HCA's report arrives after
 * a queue that joins has set the next low-water mark.
 */
#include "srq_hca.h"

#include "target/srq_low.c"

/* All its receives are there at once */
static struct nvmet_rdma_queue *join_deep(u32 depth)
{
	struct nvmet_rdma_queue *queue;

	dev.rnr_harms = true;
	queue = join(depth);
	assert_non_null(queue->srq);
	return queue;
}

static void hold_all(unsigned int n)
{
	assert_int_equal(hold(n), n);
}

/* A second after the report receives are counted */
static void work(struct nvmet_rdma_srq *srq)
{
	nvmet_rdma_srq_work(&srq->work.work);
	if (srq->level == NVMET_RDMA_SRQ_LOW_HANDLED)
		nvmet_rdma_srq_work(&srq->work.work);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_ARMED);
}

static void lost_ones_are_replaced(void **state)
{
	struct nvmet_rdma_srq *srq = join_deep(128)->srq;

	join_deep(128);
	lose(20);
	assert_false(reported);
	hold_all(nr_posted);
	report_arrives(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 20);
	/* and those that have replaced them */
	hold_all(nr_posted - 20);
	lose(20);
	report_arrives(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 40);
}

/* The receives of the queue that joins are new: they have not completed, and are not lost */
static void a_queue_joins_before_the_report_arrives(void **state)
{
	struct nvmet_rdma_srq *srq = join_deep(128)->srq;

	join_deep(128);
	lose(3);
	hold_all(nr_posted);
	join_deep(512);
	report_arrives(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 3);
	assert_false(srq->replacements_used_up);
}

/* Fewer than the mark before are left, which is higher than the one that was set since */
static void a_lower_mark_before_the_report_arrives(void **state)
{
	struct nvmet_rdma_queue *queue[20];
	struct nvmet_rdma_srq *srq;
	unsigned int i;

	for (i = 0; i < 20; i++)
		queue[i] = join_deep(64);
	srq = queue[0]->srq;
	assert_int_equal(mark, MOST / LOW_WATER);
	for (i = 10; i < 20; i++)
		nvmet_rdma_srq_leave(queue[i]);
	hold_all(nr_posted - MOST / LOW_WATER + 1);
	join_deep(64);
	assert_int_equal(mark, 1);
	report_arrives(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 0);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup(name, no_queues)
	const struct CMUnitTest tests[] = {
		TEST(lost_ones_are_replaced),
		TEST(a_queue_joins_before_the_report_arrives),
		TEST(a_lower_mark_before_the_report_arrives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
