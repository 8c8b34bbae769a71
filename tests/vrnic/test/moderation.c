// SPDX-License-Identifier: GPL-2.0
/*
 * Moderation of interrupts: by count, by period, and what counts while a CQ is armed.
 *
 * The absence of an interrupt can be seen only on the CPU where it would have occurred: there it
 * occurs before post_send returns. A test whose steps have to come within a period begins again
 * if they did not.
 */

#include <linux/cpumask.h>
#include <linux/sched.h>
#include "vrnic_test.h"

#define TRIES	20
/* Microseconds: as long as the device can */
#define LONG	VRNIC_MAX_CQ_PERIOD

struct moder {
	struct vt_pair p;
	struct vt_cq *cq;	/* of b's receives */
	ktime_t at;		/* when the period began, or before */
};

static int called(const struct moder *m)
{
	return atomic_read(&m->cq->called);
}

static int set(struct moder *m, u16 count, u16 period)
{
	return rdma_set_cq_moderation(m->cq->cq, count, period);
}

static void arm(struct moder *m)
{
	vt_equal(0, ib_req_notify_cq(m->cq->cq, IB_CQ_NEXT_COMP), "armed");
}

/* @n completions */
static void come(struct moder *m, int n, int flags)
{
	int i;

	m->at = ktime_get();
	for (i = 0; i < n; i++) {
		vt_equal(0, vt_recv(&m->p.b, i, NULL, 0), "receive posted");
		vt_equal(0, vt_post(&m->p.a, &(struct vt_wr) {
			.op = IB_WR_SEND, .flags = flags }), "SEND posted");
	}
}

static bool in_time(const struct moder *m, u32 us)
{
	return ktime_get() < ktime_add_us(m->at, us);
}

static int moder_make(struct moder *m, struct vt_devs *d)
{
	struct vt_opt opt = { .sig_all = false, .send_wr = 200, .recv_wr = 200 };

	if (vt_pair_make(&m->p, d, &opt))
		return -EINVAL;
	m->cq = m->p.b.rcq;
	return 0;
}

/* @run: a test; it returns false if it has to begin again */
static void repeat(struct vt_devs *d, const char *what, bool (*run)(struct moder *m))
{
	struct moder m;
	bool good;
	int i;

	vt_equal(0, set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask))),
		 "where the interrupt comes");
	for (i = 0, good = false; i < TRIES && !good; i++) {
		if (moder_make(&m, d))
			break;
		good = run(&m);
		vt_pair_free(&m.p);
	}
	vt_ok(good, "%s: in time", what);
	set_cpus_allowed_ptr(current, cpu_online_mask);
}

static bool by_count(struct moder *m)
{
	int before;

	vt_equal(0, set(m, 4, LONG), "count 4");
	arm(m);
	come(m, 3, 0);
	before = called(m);
	if (!in_time(m, LONG))
		return false;
	vt_equal(0, before, "count 4: no interrupt of three");
	come(m, 1, 0);
	vt_equal(1, vt_called(m->cq, 1), "count 4: with the fourth");
	vt_ok(READ_ONCE(m->cq->hard), "count 4: a hard interrupt");
	come(m, 9, 0);
	usleep_range(2 * LONG, 3 * LONG);
	vt_equal(1, called(m), "count 4: not armed, none");
	return true;
}

static void test_count(struct vt_devs *d)
{
	repeat(d, "count", by_count);
}

static bool by_period(struct moder *m)
{
	bool good;

	vt_equal(0, set(m, 100, 2000), "period 2000 us");
	arm(m);
	come(m, 1, 0);
	good = called(m) == 0;
	/* Not even late: that shows that it does not come at once */
	if (!good && !in_time(m, 2000))
		return false;
	vt_ok(good, "period: no interrupt at once");
	vt_ok(vt_until(called(m)), "period: an interrupt at its end");
	vt_at_least(2000, ktime_us_delta(ktime_get(), m->at), "period: it is over");
	come(m, 3, 0);
	usleep_range(5000, 6000);
	vt_equal(1, called(m), "period: not armed, none");
	return true;
}

/* It is the first completion's, and later ones do not move it */
static bool by_first(struct moder *m)
{
	ktime_t first;

	vt_equal(0, set(m, 100, LONG), "a long period");
	arm(m);
	come(m, 1, 0);
	first = m->at;
	usleep_range(LONG / 2, LONG / 2 + 100);
	come(m, 1, 0);
	if (called(m) || ktime_get() >= ktime_add_us(first, LONG))
		return false;
	vt_ok(vt_until(called(m)), "period: an interrupt at the first one's end");
	vt_at_least(LONG, ktime_us_delta(ktime_get(), first), "period of the first: is over");
	/* As the second's is not; a machine that is late does not show it */
	return in_time(m, LONG);
}

static void test_period(struct vt_devs *d)
{
	repeat(d, "period", by_period);
	repeat(d, "period of the first", by_first);
}

static bool by_arm(struct moder *m)
{
	bool good;

	vt_equal(0, set(m, 3, LONG), "count 3");
	come(m, 2, 0);
	arm(m);
	come(m, 2, 0);
	if (!in_time(m, LONG))
		return false;
	vt_equal(0, called(m), "what came before does not count");
	arm(m);
	come(m, 1, 0);
	vt_equal(1, vt_called(m->cq, 1), "to arm it again does not begin anew");
	arm(m);
	come(m, 2, 0);
	good = called(m) == 1;
	come(m, 1, 0);
	if (!good)
		return false;
	vt_equal(2, vt_called(m->cq, 2), "after an interrupt it begins anew");
	return true;
}

/* For solicited ones the others do not count */
static bool by_solicited(struct moder *m)
{
	bool good;

	vt_equal(0, set(m, 2, LONG), "count 2");
	vt_equal(0, ib_req_notify_cq(m->cq->cq, IB_CQ_SOLICITED), "armed for solicited ones");
	come(m, 3, 0);
	vt_equal(0, called(m), "solicited: others do not count");
	come(m, 1, IB_SEND_SOLICITED);
	come(m, 2, 0);
	good = !called(m);
	if (!good)
		return false;
	come(m, 1, IB_SEND_SOLICITED);
	vt_equal(1, vt_called(m->cq, 1), "solicited: the second");
	return true;
}

static void test_arm(struct vt_devs *d)
{
	repeat(d, "arm", by_arm);
	repeat(d, "solicited", by_solicited);
}

/* What is polled before has its interrupt still, as on hardware */
static bool by_poll(struct moder *m)
{
	vt_equal(0, set(m, 2, LONG), "count 2");
	arm(m);
	come(m, 1, 0);
	vt_ok(!vt_none(m->cq), "polled");
	if (called(m))
		return false;
	come(m, 1, 0);
	vt_equal(1, vt_called(m->cq, 1), "polled: it counts");
	arm(m);
	come(m, 1, 0);
	vt_ok(vt_until(called(m) == 2), "polled: at the end of the period, too");
	return true;
}

static void test_poll(struct vt_devs *d)
{
	repeat(d, "poll", by_poll);
}

/* It changes while completions are held */
static bool by_change(struct moder *m)
{
	vt_equal(0, set(m, 10, LONG), "count 10");
	arm(m);
	come(m, 3, 0);
	vt_equal(0, set(m, 4, LONG), "count 4");
	if (called(m))
		return false;
	vt_equal(0, called(m), "three of four");
	vt_equal(0, set(m, 3, LONG), "count 3");
	vt_equal(1, vt_called(m->cq, 1), "three of three interrupt at once");
	arm(m);
	come(m, 2, 0);
	if (called(m) != 1)
		return false;
	vt_equal(0, set(m, 0, 0), "off");
	vt_equal(2, vt_called(m->cq, 2), "what is held interrupts when it is switched off");
	arm(m);
	come(m, 1, 0);
	vt_equal(3, vt_called(m->cq, 3), "off: each interrupts");
	arm(m);
	vt_equal(0, set(m, 1, LONG), "count 1");
	come(m, 1, 0);
	vt_equal(4, vt_called(m->cq, 4), "count 1: each interrupts");
	arm(m);
	vt_equal(0, set(m, 8, 0), "period 0");
	come(m, 1, 0);
	vt_equal(5, vt_called(m->cq, 5), "period 0: each interrupts");
	vt_equal(0, set(m, 100, LONG), "a long period");
	arm(m);
	come(m, 1, 0);
	vt_equal(0, set(m, 100, 1), "and a short one");
	vt_ok(vt_until(called(m) == 6), "it ends");
	return true;
}

static void test_change(struct vt_devs *d)
{
	repeat(d, "change", by_change);
}

/* Errors and flushes are held as others are, and the CQ may go while they are */
static bool by_error(struct moder *m)
{
	int i;

	vt_equal(0, set(m, 3, LONG), "count 3");
	arm(m);
	for (i = 0; i < 4; i++)
		vt_equal(0, vt_recv(&m->p.b, i, NULL, 0), "receive posted");
	vt_equal(0, vt_to(&m->p.b, IB_QPS_ERR), "to ERR");
	vt_equal(1, vt_called(m->cq, 1), "flushed: the third interrupts");
	arm(m);
	vt_equal(0, vt_recv(&m->p.b, i, NULL, 0), "receive posted, and flushed");
	return true;
}

static void test_error(struct vt_devs *d)
{
	repeat(d, "error", by_error);
}

static void test_says(struct vt_devs *d)
{
	struct moder m;

	vt_equal(65535, d->b->attrs.cq_caps.max_cq_moderation_count, "the most for a count");
	vt_equal(LONG, d->b->attrs.cq_caps.max_cq_moderation_period, "the longest period");
	vt_equal(0, d->b->use_cq_dim, "the core does not adapt it");
	if (moder_make(&m, d))
		return;
	vt_equal((u64)-EINVAL, set(&m, 2, LONG + 1), "a longer period");
	vt_equal(0, to_vcq(m.cq->cq)->moder.calls, "is not counted");
	vt_equal(0, set(&m, 65535, LONG), "the most");
	vt_equal(1, to_vcq(m.cq->cq)->moder.calls, "is counted");
	vt_pair_free(&m.p);
}

const struct vt_test vt_moderation[] = {
	{ "says", test_says },
	{ "count", test_count },
	{ "period", test_period },
	{ "arm", test_arm },
	{ "poll", test_poll },
	{ "change", test_change },
	{ "error", test_error },
	{}
};

/* Of a device that is made with cq_moderation=N */
static void test_none(struct vt_devs *d)
{
	struct moder m;

	vt_equal(0, d->b->attrs.cq_caps.max_cq_moderation_count, "it says so");
	vt_equal(0, d->b->attrs.cq_caps.max_cq_moderation_period, "it says so");
	if (moder_make(&m, d))
		return;
	vt_equal((u64)-EOPNOTSUPP, set(&m, 2, 10), "no moderation");
	vt_pair_free(&m.p);
}

const struct vt_test vt_moderation_none[] = {
	{ "none", test_none },
	{}
};

/* ---- the core's own, of devices that are made with use_cq_dim=Y ---- */

#define MESSAGES	20000

static void dim_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct completion *done = cq->cq_context;

	if (wc->status == IB_WC_SUCCESS)
		complete(done);
}

static struct ib_cqe dim_cqe = { .done = dim_done };

/* Messages one by one, then by eights: the load changes, and the core adapts */
static void dim_load(struct vt_pair *p, struct completion *done)
{
	int i, j, n, ret = 0;

	for (i = 0; i < MESSAGES && !ret; i += n) {
		n = i < MESSAGES / 4 ? 1 : 8;
		for (j = 0; j < n; j++) {
			struct ib_recv_wr recv = { .wr_cqe = &dim_cqe };

			ret |= ib_post_recv(p->b.qp, &recv, NULL);
			/* Signaled, so that the send queue gets its places back */
			ret |= vt_send(&p->a, 0, NULL);
		}
		for (j = 0; j < n; j++) {
			if (!wait_for_completion_timeout(done, 10 * HZ) ||
			    vt_none(p->a.scq))
				ret = -EIO;
		}
	}
	vt_equal(0, ret, "messages arrive");
}

static void test_dim(struct vt_devs *d)
{
	struct completion done;
	struct vt_cq rcq = {};
	struct vt_opt opt = { .rcq = &rcq };
	struct vt_pair p = {};
	u64 calls;

	vt_equal(1, d->b->use_cq_dim, "the core adapts it");
	init_completion(&done);
	rcq.cq = ib_alloc_cq(d->b, &done, 64, 0, IB_POLL_SOFTIRQ);
	if (!vt_ok(!IS_ERR(rcq.cq), "CQ made"))
		return;
	if (vt_equal(0, vt_end_make(&p.a, d->a, NULL), "end made") &&
	    vt_equal(0, vt_end_make(&p.b, d->b, &opt), "end made") &&
	    vt_equal(0, vt_connect(&p.a, &p.b), "connected")) {
		dim_load(&p, &done);
		calls = READ_ONCE(to_vcq(rcq.cq)->moder.calls);
		vt_at_least(1, calls, "it has adapted it");
	}
	vt_pair_free(&p);
	ib_free_cq(rcq.cq);
}

const struct vt_test vt_dim[] = {
	{ "dim", test_dim },
	{}
};
