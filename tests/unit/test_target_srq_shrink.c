// SPDX-License-Identifier: GPL-2.0
/*
 * target/srq_shrink.c: shared receives that are too many give their memory back, and are there
 * again when they are wanted. The HCA of this test takes the oldest receive first.
 */
#include "kernel.h"

#undef ib_post_srq_recv
static int ib_post_srq_recv(struct ib_srq *ib, struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad);

#include "target/srq_post.c"
#include "target/srq_grow.c"
#include "target/srq_shrink.c"
#include "target/srq.c"

#include "harness.h"

#define DEPTH	128
#define MOST	1024

struct workqueue_struct *nvmet_rdma_wq;

static struct ib_device ib = {
	.name = "unit0", .num_comp_vectors = 1,
	.attrs = { .max_srq_wr = 32767, .max_srq = 1024, .max_srq_sge = 2, .max_cqe = 4194303 },
};

static struct nvmet_rdma_device dev = { .ib = &ib };

/* ---- the HCA, and memory ---- */

static struct nvmet_rdma_cmd *posted[2 * MOST];
static unsigned int nr_posted, with_memory;
static bool no_memory;

static int ib_post_srq_recv(struct ib_srq *srq, struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad)
{
	for (; wr; wr = wr->next) {
		assert_in_range(nr_posted, 0, 2 * MOST - 1);
		posted[nr_posted] = container_of(wr, struct nvmet_rdma_cmd, wr);
		assert_non_null(posted[nr_posted++]->icd);
	}
	return 0;
}

/* A command comes, and is answered */
static void command(void)
{
	struct nvmet_rdma_cmd *cmd = posted[0];

	assert_int_not_equal(nr_posted--, 0);
	memmove(posted, posted + 1, nr_posted * sizeof(posted[0]));
	cmd->posted_epoch = 0;
	nvmet_rdma_srq_post(cmd->srq, cmd);
}

static void commands(unsigned int n)
{
	while (n--)
		command();
}

int nvmet_rdma_recv_block_alloc_data(struct nvmet_rdma_device *d,
				     struct nvmet_rdma_recv_block *recvs)
{
	u32 i;

	if (no_memory)
		return -ENOMEM;
	for (i = 0; i < recvs->nr; i++)
		recvs->cmds[i].icd = recvs;
	with_memory += recvs->nr;
	return 0;
}

void nvmet_rdma_recv_block_free_data(struct nvmet_rdma_device *d,
				     struct nvmet_rdma_recv_block *recvs)
{
	u32 i, k;

	for (i = 0; i < recvs->nr; i++) {
		/* Not one that the HCA could write to */
		for (k = 0; k < nr_posted; k++)
			assert_ptr_not_equal(posted[k], &recvs->cmds[i]);
		with_memory -= !!recvs->cmds[i].icd;
		recvs->cmds[i].icd = NULL;
	}
}

struct nvmet_rdma_recv_block *
nvmet_rdma_recv_block_alloc(struct nvmet_rdma_device *d, u32 nr, u32 room)
{
	struct nvmet_rdma_recv_block *recvs = kzalloc(sizeof(*recvs), GFP_KERNEL);
	u32 i;

	INIT_LIST_HEAD(&recvs->returned);
	recvs->nr = nr;
	recvs->room = room;
	recvs->cmds = kcalloc(nr, sizeof(*recvs->cmds), GFP_KERNEL);
	for (i = 0; i < nr; i++) {
		INIT_LIST_HEAD(&recvs->cmds[i].entry);
		recvs->cmds[i].wr.wr_cqe = &recvs->cmds[i].cqe;
	}
	return nvmet_rdma_recv_block_alloc_data(d, recvs) ? ERR_PTR(-ENOMEM) : recvs;
}

/* With the SRQ, whose QPs have ended: the HCA has none of its receives any more */
void nvmet_rdma_recv_block_free(struct nvmet_rdma_device *d, struct nvmet_rdma_recv_block *recvs)
{
	nr_posted = 0;
	nvmet_rdma_recv_block_free_data(d, recvs);
}

static const struct nvmet_rdma_srq_ops ops;
void nvmet_rdma_completed_twice(struct ib_cq *cq, struct ib_wc *wc) { }
void nvmet_rdma_recv_sync_for_device(struct ib_device *d, struct nvmet_rdma_cmd *cmd) { }
void nvmet_rdma_srq_arm(struct nvmet_rdma_srq *srq) { }
void nvmet_rdma_srq_reached(struct nvmet_rdma_srq *srq) { }
void nvmet_rdma_srq_work(struct work_struct *work) { }
void nvmet_rdma_srq_failed(struct nvmet_rdma_srq *srq, const char *what) { }
void nvmet_rdma_srq_event(struct ib_event *event, void *context) { }

/* ---- queues, each of another host ---- */

static struct nvmet_rdma_queue *join(u32 depth)
{
	struct nvmet_rdma_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	queue->dev = &dev;
	queue->depth = depth;
	queue->limits.capsule_room = SZ_4K;
	queue->quota = (struct nvmet_rdma_peer *)queue;
	nvmet_rdma_srq_join(queue, &ops);
	return queue;
}

static void work_after(struct nvmet_rdma_srq *srq, unsigned long secs)
{
	jiffies += secs * HZ;
	nvmet_rdma_srq_shrink_work(&srq->shrink_work.work);
}

static struct nvmet_rdma_queue *queue[8];

static int eight_queues(void **state)
{
	unsigned int i;

	dev.srq_size = MOST;
	for (i = 0; i < 8; i++) {
		queue[i] = join(DEPTH);
		assert_ptr_equal(queue[i]->srq, queue[0]->srq);
	}
	assert_int_equal(queue[0]->srq->nr, MOST);
	assert_int_equal(with_memory, MOST + NVMET_RDMA_SRQ_SPARE);
	return 0;
}

/* The receives of the deep one come first, and are not all one block's */
static int deep_and_shallow(void **state)
{
	unsigned int i;

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
	work_after(srq, SHRINK_SECS - 1);
	assert_int_equal(srq->nr, MOST);
	work_after(srq, 1);
	assert_int_equal(srq->nr, 2 * DEPTH);
	/* The HCA still has them */
	assert_int_equal(with_memory, MOST + NVMET_RDMA_SRQ_SPARE);
	commands(MOST / 2);
	work_after(srq, 0);
	assert_in_range(with_memory, 2 * DEPTH + NVMET_RDMA_SRQ_SPARE, MOST - 1);
	commands(MOST);
	work_after(srq, 0);
	assert_int_equal(with_memory, 2 * DEPTH + NVMET_RDMA_SRQ_SPARE);
	/* The remaining entries are used in turn */
	commands(10 * MOST);
	assert_in_range(nr_posted, 2 * DEPTH, 2 * DEPTH + NVMET_RDMA_SRQ_SPARE);
}

static void a_deep_queue_leaves(void **state)
{
	struct nvmet_rdma_srq *srq = queue[1]->srq;

	nvmet_rdma_srq_leave(queue[0]);
	work_after(srq, SHRINK_SECS);
	assert_in_range(srq->nr, 16, DEPTH);
}

/* Neither a queue more nor one less has it grow or shrink at once */
static void no_churn(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;
	unsigned int i;

	few_are_left(4);
	work_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, MOST);
	nvmet_rdma_srq_leave(queue[3]);
	work_after(srq, SHRINK_SECS);
	commands(4 * MOST);
	work_after(srq, 0);
	assert_int_equal(srq->nr, 3 * DEPTH);
	for (i = 0; i < 10; i++) {
		nvmet_rdma_srq_leave(queue[2]);
		work_after(srq, SHRINK_SECS);
		assert_int_equal(srq->nr, 3 * DEPTH);
		queue[2] = join(DEPTH);
		assert_int_equal(srq->nr, 3 * DEPTH);
	}
	assert_int_equal(with_memory, 3 * DEPTH + NVMET_RDMA_SRQ_SPARE);
}

static void back_before_they_are_gone(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;
	unsigned int i;

	few_are_left(1);
	work_after(srq, SHRINK_SECS);
	commands(300);
	work_after(srq, 0);
	assert_in_range(with_memory, 1, MOST - 1);
	for (i = 1; i < 8; i++)
		queue[i] = join(DEPTH);
	assert_int_equal(srq->nr, MOST);
	assert_int_equal(with_memory, MOST + NVMET_RDMA_SRQ_SPARE);
	commands(4 * MOST);
	assert_in_range(nr_posted, MOST, MOST + NVMET_RDMA_SRQ_SPARE);
}

/* A queue that gets no memory works with what there is, and the SRQ stays */
static void no_memory_to_come_back(void **state)
{
	struct nvmet_rdma_srq *srq = queue[0]->srq;

	few_are_left(1);
	work_after(srq, SHRINK_SECS);
	commands(4 * MOST);
	work_after(srq, 0);
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
		work_after(srq, unit_random(&seed) % (2 * SHRINK_SECS));
		unit_equal(true, srq->nr <= MOST);
		unit_equal(true, nr_posted <= MOST + NVMET_RDMA_SRQ_SPARE);
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
