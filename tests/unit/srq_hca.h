/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of shared receive queues: a device, its HCA, memory, commands and queues.
 * The HCA takes the oldest receive first. It reports a low-water mark once, and compares with it
 * only when it takes a receive. It has one list of receives, whatever their SRQ.
 *
 * Includes all that an SRQ consists of, but for target/srq_low.c: that, or what stands in for
 * it, is the test's.
 */
#ifndef NVME_RDMA_UNIT_SRQ_HCA_H
#define NVME_RDMA_UNIT_SRQ_HCA_H

#include "kernel.h"

#undef ib_post_srq_recv
static int ib_post_srq_recv(struct ib_srq *ib, struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad);
static int ib_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, int mask);

#include "target/srq_post.c"
#include "target/srq_grow.c"
#include "target/srq_shrink.c"
#include "target/srq.c"

#include "harness.h"

#define DEPTH	128
#define MOST	1024
#define SPARE	NVMET_RDMA_SRQ_SPARE

struct workqueue_struct *nvmet_rdma_wq;

static struct ib_device ib = {
	.name = "unit0", .num_comp_vectors = 1,
	.attrs = { .max_srq_wr = 32767, .max_srq = 1024, .max_srq_sge = 2, .max_cqe = 4194303 },
};

static struct nvmet_rdma_device dev = { .ib = &ib };

/* ---- the HCA, and commands ---- */

static struct nvmet_rdma_cmd *posted[2 * MOST], *held[2 * MOST];
static unsigned int nr_posted, nr_held, mark, nr_marks, with_memory, vacated;
static bool reported, no_memory, no_marks;

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

static int ib_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr, int mask)
{
	if (no_marks)
		return -EINVAL;
	mark = attr->srq_limit;
	nr_marks++;
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

/* Commands that a disk holds. Returns how many found a receive. */
static unsigned int hold(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && nr_posted; i++) {
		held[nr_held] = take();
		held[nr_held++]->posted_epoch = 0;
	}
	return i;
}

static void answer(void)
{
	for (; nr_held; nr_held--)
		nvmet_rdma_srq_post(held[nr_held - 1]->srq, held[nr_held - 1]);
}

/* One after the other: each comes, and is answered */
static void commands(unsigned int n)
{
	while (n--) {
		assert_int_equal(hold(1), 1);
		answer();
	}
}

/* The HCA's report arrives */
static void report_arrives(struct nvmet_rdma_srq *srq)
{
	struct ib_event event = { .event = IB_EVENT_SRQ_LIMIT_REACHED };

	assert_true(reported);
	reported = false;
	nvmet_rdma_srq_event(&event, srq);
}

static void look_after(struct nvmet_rdma_srq *srq, unsigned long secs)
{
	jiffies += secs * HZ;
	nvmet_rdma_srq_shrink_work(&srq->shrink_work.work);
}

/* ---- what the SRQ uses of other files ---- */

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
	unsigned int i, others = 0;

	for (i = 0; i < nr_posted; i++) {
		if (posted[i]->block != recvs)
			posted[others++] = posted[i];
	}
	nr_posted = others;
	nvmet_rdma_recv_block_free_data(d, recvs);
}

void nvmet_rdma_completed_twice(struct ib_cq *cq, struct ib_wc *wc) { }
void nvmet_rdma_recv_sync_for_device(struct ib_device *d, struct nvmet_rdma_cmd *cmd) { }
void nvmet_rdma_queue_fail(struct nvmet_rdma_queue *queue) { }

static void vacate(struct nvmet_rdma_queue *queue)
{
	vacated++;
}

static const struct nvmet_rdma_srq_ops ops = { .vacate = vacate };

/* ---- queues, each of another host ---- */

static struct nvmet_rdma_queue *join_as(u32 depth, u32 room)
{
	struct nvmet_rdma_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	queue->dev = &dev;
	queue->depth = depth;
	queue->limits.capsule_room = room;
	queue->quota = (struct nvmet_rdma_peer *)queue;
	nvmet_rdma_srq_join(queue, &ops);
	return queue;
}

static struct nvmet_rdma_queue *join(u32 depth)
{
	return join_as(depth, SZ_4K);
}

/* The setup of a test */
static int no_queues(void **state)
{
	hash_init(dev.srqs);
	dev.srq_size = MOST;
	dev.srq_reports = true;
	dev.rnr_harms = false;
	nr_posted = 0;
	nr_held = 0;
	mark = 0;
	with_memory = 0;
	vacated = 0;
	reported = false;
	no_memory = false;
	no_marks = false;
	return 0;
}

#endif /* NVME_RDMA_UNIT_SRQ_HCA_H */
