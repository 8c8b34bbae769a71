// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues of the modules (common/cq.c): the work that they do in one hard interrupt,
 * however many of them are due in it, and the interrupts that they do not ask for while a work
 * will look.
 */

#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/slab.h>
#include "cq.h"
#include "vrnic_test.h"

/* More than one interrupt handles completions of, and each has one */
#define QUEUES	48
/* As many as it does: NVME_RDMA_CQ_AT_ONCE */
#define AT_ONCE	32
/* With PREEMPT_RT, none: interrupts are threads, and leave all to the softirq */
#define IN_INTERRUPTS(n)	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 0 : (n))
/* Of each queue: nothing polls for their completions */
#define SENDS	128

/**
 * struct at_once - the queues
 * @pair: a connection for each, by whose second end it receives
 * @cq: the queue
 * @done: completion of the receive
 * @hard: receives that were handled in an interrupt
 * @soft: all other receives
 * @sent: a thread has sent what it shall
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

	vt_timers_off(flags);
	for (i = 0; i < QUEUES; i++)
		ret = ret ?: send_one(t, i);
	vt_timers_on(flags);
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
	vt_equal(IN_INTERRUPTS(AT_ONCE), atomic_read(&t->hard), "handled in the interrupt");
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
	vt_equal(IN_INTERRUPTS(QUEUES), atomic_read(&t->hard), "handled in interrupts");
}

static int total(struct at_once *t)
{
	return atomic_read(&t->hard) + atomic_read(&t->soft);
}

/* Receives of the first queue, which has room for so many */
static int post_four(struct at_once *t)
{
	int i, ret = 0;

	atomic_set(&t->hard, 0);
	atomic_set(&t->soft, 0);
	for (i = 0; i < 4; i++)
		ret = ret ?: vt_recv(&t->pair[0].b, (uintptr_t)&t->done, NULL, 0);
	return ret;
}

/* The time after which the queue may have been armed without a look */
#define LOOK_MS	3

/*
 * A send arrives before a look and is handled by it, on the CPU of the interrupts. Returns 1 if
 * this took too long to say that it was the look.
 */
static int look_round(struct at_once *t)
{
	struct nvme_rdma_cq *cq = t->cq[0];
	ktime_t end = ktime_add_ms(ktime_get(), LOOK_MS);
	int before, at, ret;

	nvme_rdma_cq_expect(cq);
	ret = send_one(t, 0);
	if (!vt_until(total(t) == 1))
		ret = -ETIMEDOUT;
	ret = ret ?: send_one(t, 0);
	usleep_range(100, 200);
	before = total(t);
	nvme_rdma_cq_looked(cq);
	at = total(t);
	ret = ret ?: send_one(t, 0);
	if (!vt_until(total(t) == 3))
		ret = -ETIMEDOUT;
	if (ret || ktime_after(ktime_get(), end))
		return ret ?: 1;
	vt_equal(1, before, "handled before the look");
	vt_equal(2, at, "handled when the work has looked");
	vt_equal(IN_INTERRUPTS(2), atomic_read(&t->hard), "handled in interrupts");
	return 0;
}

static int look_thread(void *arg)
{
	struct at_once *t = arg;
	int ret = look_round(t);

	complete(&t->sent);
	return ret;
}

/* The fourth receive is used, too, so that each round begins with none */
static void work_looks(struct at_once *t)
{
	struct vt_thread thread = {};
	int ret, tries = 20;

	do {
		ret = post_four(t);
		if (!vt_equal(0, ret, "receives") ||
		    vt_thread_start(&thread, 0, look_thread, t))
			return;
		wait_for_completion(&t->sent);
		ret = vt_thread_stop(&thread);
		if (ret >= 0 && send_one(t, 0))
			ret = -EIO;
		vt_ok(vt_until(total(t) == 4), "all are received");
	} while (ret == 1 && --tries);
	vt_equal(0, ret, "sends, and a look in time");
}

/* The work does not look: the queue is armed after some time */
static void work_is_late(struct at_once *t)
{
	struct nvme_rdma_cq *cq = t->cq[0];
	int i, ret;

	ret = post_four(t);
	nvme_rdma_cq_expect(cq);
	for (i = 0; i < 3; i++) {
		ret = ret ?: send_one(t, 0);
		vt_until(total(t) > i);
	}
	vt_equal(0, ret, "sends");
	vt_equal(3, total(t), "handled without a look");
	vt_at_least(1, atomic_read(&t->soft), "handled by the timer");
	nvme_rdma_cq_looked(cq);
	vt_equal(0, send_one(t, 0), "send");
	vt_ok(vt_until(total(t) == 4), "all are received");
}

static int make(struct at_once *t, struct vt_devs *d, int i)
{
	struct vt_opt opt = { .send_wr = SENDS, .recv_wr = 4 };
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
		work_looks(t);
		work_is_late(t);
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
