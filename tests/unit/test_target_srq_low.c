// SPDX-License-Identifier: GPL-2.0
/*
 * target/srq_low.c: how many lost receives are replaced, also if the HCA's report arrives after
 * a queue that joins has set the next low-water mark. The HCA of this test takes the oldest
 * receive first, and reports a mark once.
 */
#include "kernel.h"

#undef ib_post_srq_recv
static int ib_post_srq_recv(struct ib_srq *ib, struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad);
static int ib_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, int mask);

#include "target/srq_post.c"
#include "target/srq_grow.c"
#include "target/srq_shrink.c"
#include "target/srq_low.c"
#include "target/srq.c"

#include "harness.h"

#define MOST	1024

struct workqueue_struct *nvmet_rdma_wq;

static struct ib_device ib = {
	.name = "unit0", .num_comp_vectors = 1,
	.attrs = { .max_srq_wr = 32767, .max_srq = 1024, .max_srq_sge = 2, .max_cqe = 4194303 },
};

static struct nvmet_rdma_device dev = { .ib = &ib };

/* ---- the HCA, and commands ---- */

static struct nvmet_rdma_cmd *posted[2 * MOST], *held[2 * MOST];
static unsigned int nr_posted, nr_held, mark;
static bool reported;

static int ib_post_srq_recv(struct ib_srq *srq, struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad)
{
	for (; wr; wr = wr->next) {
		assert_in_range(nr_posted, 0, 2 * MOST - 1);
		posted[nr_posted++] = container_of(wr, struct nvmet_rdma_cmd, wr);
	}
	return 0;
}

static int ib_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr, int mask)
{
	mark = attr->srq_limit;
	return 0;
}

static struct nvmet_rdma_cmd *take(void)
{
	struct nvmet_rdma_cmd *cmd = posted[0];

	assert_int_not_equal(nr_posted--, 0);
	memmove(posted, posted + 1, nr_posted * sizeof(posted[0]));
	if (nr_posted < mark) {
		reported = true;
		mark = 0;
	}
	return cmd;
}

/* Connections that end inside a capsule, on an HCA that loses their receives */
static void lose(unsigned int n)
{
	while (n--)
		take();
}

/* Commands that a disk holds */
static void hold(unsigned int n)
{
	while (n--) {
		held[nr_held] = take();
		held[nr_held++]->posted_epoch = 0;
	}
}

static void answer(void)
{
	for (; nr_held; nr_held--)
		nvmet_rdma_srq_post(held[nr_held - 1]->srq, held[nr_held - 1]);
}

/* ---- what the SRQ uses of other files ---- */

struct nvmet_rdma_recv_block *
nvmet_rdma_recv_block_alloc(struct nvmet_rdma_device *d, u32 nr, u32 room)
{
	struct nvmet_rdma_recv_block *recvs = kzalloc(sizeof(*recvs), GFP_KERNEL);
	u32 i;

	INIT_LIST_HEAD(&recvs->returned);
	recvs->nr = nr;
	recvs->cmds = kcalloc(nr, sizeof(*recvs->cmds), GFP_KERNEL);
	for (i = 0; i < nr; i++) {
		INIT_LIST_HEAD(&recvs->cmds[i].entry);
		recvs->cmds[i].wr.wr_cqe = &recvs->cmds[i].cqe;
	}
	return recvs;
}

int nvmet_rdma_recv_block_alloc_data(struct nvmet_rdma_device *d,
				     struct nvmet_rdma_recv_block *recvs)
{
	return 0;
}

void nvmet_rdma_recv_block_free_data(struct nvmet_rdma_device *d,
				     struct nvmet_rdma_recv_block *recvs)
{
}

void nvmet_rdma_recv_block_free(struct nvmet_rdma_device *d, struct nvmet_rdma_recv_block *recvs)
{
}

void nvmet_rdma_completed_twice(struct ib_cq *cq, struct ib_wc *wc) { }
void nvmet_rdma_recv_sync_for_device(struct ib_device *d, struct nvmet_rdma_cmd *cmd) { }
void nvmet_rdma_queue_fail(struct nvmet_rdma_queue *queue) { }

static void vacate(struct nvmet_rdma_queue *queue) { }

static const struct nvmet_rdma_srq_ops ops = { .vacate = vacate };

/* ---- queues, each of another host, which have all their receives at once ---- */

static struct nvmet_rdma_queue *join(u32 depth)
{
	struct nvmet_rdma_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	queue->dev = &dev;
	queue->depth = depth;
	queue->impatient = true;
	queue->limits.capsule_room = SZ_4K;
	queue->quota = (struct nvmet_rdma_peer *)queue;
	nvmet_rdma_srq_join(queue, &ops);
	assert_non_null(queue->srq);
	return queue;
}

static int empty(void **state)
{
	hash_init(dev.srqs);
	dev.srq_size = MOST;
	dev.srq_reports = true;
	nr_posted = 0;
	nr_held = 0;
	mark = 0;
	reported = false;
	return 0;
}

/* The HCA's report arrives, now; a second later receives are counted */
static void report(struct nvmet_rdma_srq *srq)
{
	struct ib_event event = { .event = IB_EVENT_SRQ_LIMIT_REACHED };

	assert_true(reported);
	reported = false;
	nvmet_rdma_srq_event(&event, srq);
}

static void work(struct nvmet_rdma_srq *srq)
{
	nvmet_rdma_srq_work(&srq->work.work);
	if (srq->level == NVMET_RDMA_SRQ_LOW_HANDLED)
		nvmet_rdma_srq_work(&srq->work.work);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_ARMED);
}

static void lost_ones_are_replaced(void **state)
{
	struct nvmet_rdma_srq *srq = join(128)->srq;

	join(128);
	lose(20);
	assert_false(reported);
	hold(nr_posted);
	report(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 20);
	/* and those that have replaced them */
	hold(nr_posted - 20);
	lose(20);
	report(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 40);
}

/* The receives of the queue that joins are new: they have not completed, and are not lost */
static void a_queue_joins_before_the_report_arrives(void **state)
{
	struct nvmet_rdma_srq *srq = join(128)->srq;

	join(128);
	lose(3);
	hold(nr_posted);
	join(512);
	report(srq);
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
		queue[i] = join(64);
	srq = queue[0]->srq;
	assert_int_equal(mark, MOST / LOW_WATER);
	for (i = 10; i < 20; i++)
		nvmet_rdma_srq_leave(queue[i]);
	hold(nr_posted - MOST / LOW_WATER + 1);
	join(64);
	assert_int_equal(mark, 1);
	report(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 0);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup(name, empty)
	const struct CMUnitTest tests[] = {
		TEST(lost_ones_are_replaced),
		TEST(a_queue_joins_before_the_report_arrives),
		TEST(a_lower_mark_before_the_report_arrives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
