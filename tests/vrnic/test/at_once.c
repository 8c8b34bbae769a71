// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues of the modules (common/cq.c): the work that they do in one hard interrupt,
 * however many of them are due in it.
 */

#include <linux/hardirq.h>
#include <linux/slab.h>
#include "cq.h"
#include "vrnic_test.h"

/* More than one interrupt handles completions of, and each has one */
#define QUEUES	48
/* As many as it does: NVME_RDMA_CQ_AT_ONCE */
#define AT_ONCE	32

/**
 * struct at_once - the queues
 * @pair: a connection for each, by whose second end it receives
 * @cq: the queue
 * @done: completion of the receive
 * @hard: receives that were handled in an interrupt
 * @soft: all other receives
 * @sent: a thread has sent to all
 */
struct at_once {
	struct vt_pair pair[QUEUES];
	struct nvme_rdma_cq *cq[QUEUES];
	struct ib_cqe done;
	atomic_t hard;
	atomic_t soft;
	struct completion sent;
};

static struct at_once *now;

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status == IB_WC_SUCCESS)
		atomic_inc(in_hardirq() ? &now->hard : &now->soft);
}

static void cq_failed(struct nvme_rdma_cq *cq)
{
}

static const struct nvme_rdma_cq_ops ops = { .failed = cq_failed };

static int send_one(struct at_once *t, int i)
{
	return vt_post(&t->pair[i].a, &(struct vt_wr) { .op = IB_WR_SEND });
}

/* With interrupts off, so that one interrupt serves all of them when they are on again */
static int send_all(void *arg)
{
	struct at_once *t = arg;
	unsigned long flags;
	int i, ret = 0;

	local_irq_save(flags);
	for (i = 0; i < QUEUES; i++)
		ret = ret ?: send_one(t, i);
	local_irq_restore(flags);
	complete(&t->sent);
	return ret;
}

/* To all queues, each of which has a receive for it */
static bool all_received(struct at_once *t)
{
	return vt_until(atomic_read(&t->hard) + atomic_read(&t->soft) == QUEUES);
}

static int post_receives(struct at_once *t)
{
	int i, ret = 0;

	atomic_set(&t->hard, 0);
	atomic_set(&t->soft, 0);
	for (i = 0; i < QUEUES; i++)
		ret = ret ?: vt_recv(&t->pair[i].b, (uintptr_t)&t->done, NULL, 0);
	return ret;
}

static void one_interrupt(struct at_once *t)
{
	struct vt_thread thread = {};

	if (!vt_equal(0, post_receives(t), "receives") ||
	    vt_thread_start(&thread, 0, send_all, t))
		return;
	wait_for_completion(&t->sent);
	vt_equal(0, vt_thread_stop(&thread), "sends, in one interrupt");
	vt_ok(all_received(t), "all are received");
	vt_equal(AT_ONCE, atomic_read(&t->hard), "handled in the interrupt");
}

/* The next interrupt has a full budget, and a queue without completions is armed */
static void many_interrupts(struct at_once *t)
{
	int i, ret;

	ret = post_receives(t);
	for (i = 0; i < QUEUES; i++) {
		ret = ret ?: send_one(t, i);
		vt_until(atomic_read(&t->hard) + atomic_read(&t->soft) > i);
	}
	vt_equal(0, ret, "sends, an interrupt for each");
	vt_ok(all_received(t), "all are received");
	vt_equal(QUEUES, atomic_read(&t->hard), "handled in interrupts");
}

static int make(struct at_once *t, struct vt_devs *d, int i)
{
	struct vt_opt opt = { .send_wr = 4, .recv_wr = 4 };
	struct vt_cq cq = {};
	int ret;

	t->cq[i] = nvme_rdma_cq_alloc(d->b, 16, 0, false, &ops, t);
	if (IS_ERR(t->cq[i])) {
		ret = PTR_ERR(t->cq[i]);
		t->cq[i] = NULL;
		return ret;
	}
	cq.cq = t->cq[i]->ib;
	ret = vt_end_make(&t->pair[i].a, d->a, &opt);
	opt.rcq = &cq;
	opt.scq = &cq;
	ret = ret ?: vt_end_make(&t->pair[i].b, d->b, &opt);
	ret = ret ?: vt_connect(&t->pair[i].a, &t->pair[i].b);
	/* it is on this stack */
	t->pair[i].b.rcq = NULL;
	t->pair[i].b.scq = NULL;
	return ret;
}

static void at_once(struct vt_devs *d)
{
	struct at_once *t = kvzalloc(sizeof(*t), GFP_KERNEL);
	int i, ret = 0;

	if (!vt_ok(t, "memory"))
		return;
	now = t;
	t->done.done = received;
	init_completion(&t->sent);
	for (i = 0; i < QUEUES && !ret; i++)
		ret = make(t, d, i);
	if (vt_equal(0, ret, "%d queues", QUEUES)) {
		one_interrupt(t);
		many_interrupts(t);
	}
	for (i = 0; i < QUEUES; i++) {
		vt_pair_free(&t->pair[i]);
		if (t->cq[i])
			nvme_rdma_cq_free(t->cq[i]);
	}
	now = NULL;
	kvfree(t);
}

const struct vt_test vt_at_once[] = {
	{ "what one interrupt handles", at_once },
	{}
};
