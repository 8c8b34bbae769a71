// SPDX-License-Identifier: GPL-2.0
/* Receives that several QPs share */

#include "vrnic_test.h"

#define QPS	3

struct srq {
	struct ib_pd *pd;
	struct ib_srq *srq;
	struct vt_cq cq;
	struct vt_pair p[QPS];
	atomic_t limit;
};

static void srq_event(struct ib_event *event, void *context)
{
	struct srq *s = context;

	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		atomic_inc(&s->limit);
}

static void srq_end(struct srq *s)
{
	int i;

	for (i = 0; i < QPS; i++)
		vt_pair_free(&s->p[i]);
	if (!IS_ERR_OR_NULL(s->srq))
		ib_destroy_srq(s->srq);
	vt_cq_free(&s->cq);
	if (!IS_ERR_OR_NULL(s->pd))
		ib_dealloc_pd(s->pd);
}

static int srq_make(struct srq *s, struct vt_devs *d, u32 size)
{
	struct ib_srq_init_attr attr = {
		.event_handler = srq_event,
		.srq_context = s,
		.attr = { .max_wr = size, .max_sge = 2 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct vt_opt opt = {};
	int i;

	memset(s, 0, sizeof(*s));
	s->pd = ib_alloc_pd(d->b, 0);
	if (!vt_ok(!IS_ERR(s->pd), "PD made"))
		return -ENOMEM;
	s->srq = ib_create_srq(s->pd, &attr);
	if (!vt_ok(!IS_ERR(s->srq), "SRQ made") ||
	    !vt_equal(0, vt_cq_make(&s->cq, d->b, 256, 0), "CQ made"))
		goto err;
	opt.pd = s->pd;
	opt.srq = s->srq;
	opt.rcq = &s->cq;
	for (i = 0; i < QPS; i++) {
		if (!vt_equal(0, vt_end_make(&s->p[i].a, d->a, NULL), "end made") ||
		    !vt_equal(0, vt_end_make(&s->p[i].b, d->b, &opt),
			      "end with SRQ made") ||
		    !vt_equal(0, vt_connect(&s->p[i].a, &s->p[i].b), "connected"))
			goto err;
	}
	return 0;
err:
	srq_end(s);
	return -EINVAL;
}

/* Receives are taken in the order in which they were posted, by any QP */
static void test_order(struct vt_devs *d)
{
	struct vt_buf from = {}, to = {};
	struct ib_sge sge;
	struct ib_wc wc;
	static struct srq s;	/* large; one test runs at a time */
	int i;

	if (srq_make(&s, d, 16))
		return;
	if (vt_buf_make(&from, d->a, PAGE_SIZE) || vt_buf_make(&to, d->b, PAGE_SIZE))
		goto out;
	for (i = 0; i < 9; i++) {
		sge = vt_sge(&s.p[0].b, &to, i * 64, 64);
		vt_equal(0, vt_recv(&s.p[i % QPS].b, i, &sge, 1), "receive posted");
	}
	for (i = 0; i < 9; i++) {
		vt_fill(from.va + i * 64, 64, i);
		sge = vt_sge(&s.p[i * 2 % QPS].a, &from, i * 64, 64);
		vt_equal(0, vt_send(&s.p[i * 2 % QPS].a, i, &sge), "SEND posted");
	}
	for (i = 0; i < 9; i++) {
		vt_expect(&s.cq, IB_WC_SUCCESS, &wc, "message %d", i);
		vt_equal(i, wc.wr_id, "message %d: the oldest receive", i);
		vt_ok(wc.qp == s.p[i * 2 % QPS].b.qp, "message %d: qp", i);
		vt_ok(vt_is_filled(to.va + i * 64, 64, i), "message %d: the data", i);
	}
	vt_equal((u64)-EINVAL, ib_post_recv(s.p[0].b.qp,
					    &(struct ib_recv_wr) { .wr_id = 1 }, NULL),
		 "a receive of a QP that has an SRQ");
	vt_violations(1, "that has an SRQ", "a receive of its own: reported");
out:
	srq_end(&s);
	vt_buf_free(&from);
	vt_buf_free(&to);
}

static void test_limit(struct vt_devs *d)
{
	struct ib_srq_attr attr = { .srq_limit = 3 };
	static struct srq s;	/* large; one test runs at a time */
	int i;

	if (srq_make(&s, d, 16))
		return;
	for (i = 0; i < 5; i++)
		vt_equal(0, vt_recv(&s.p[0].b, i, NULL, 0), "receive posted");
	vt_equal(0, ib_modify_srq(s.srq, &attr, IB_SRQ_LIMIT), "limit 3");
	vt_equal(0, ib_query_srq(s.srq, &attr), "queried");
	vt_equal(3, attr.srq_limit, "the limit as given");
	vt_equal(16, attr.max_wr, "max_wr as given");
	vt_equal(0, vt_send(&s.p[0].a, 0, NULL), "four left");
	vt_equal(0, vt_send(&s.p[1].a, 0, NULL), "three left");
	vt_equal(0, ib_query_srq(s.srq, &attr), "queried");
	vt_equal(3, attr.srq_limit, "no event yet: the limit is still on");
	vt_equal(0, vt_send(&s.p[2].a, 0, NULL), "two left");
	vt_ok(vt_until(atomic_read(&s.limit) == 1), "the event");
	vt_equal(0, ib_query_srq(s.srq, &attr), "queried");
	vt_equal(0, attr.srq_limit, "the limit is off then");
	vt_equal(0, vt_send(&s.p[0].a, 0, NULL), "one left");
	attr.srq_limit = 2;
	vt_equal(0, ib_modify_srq(s.srq, &attr, IB_SRQ_LIMIT), "armed below it");
	vt_equal(0, vt_send(&s.p[0].a, 0, NULL), "none left");
	vt_ok(vt_until(atomic_read(&s.limit) == 2), "the event, at the next");
	attr.srq_limit = 17;
	vt_equal((u64)-EINVAL, ib_modify_srq(s.srq, &attr, IB_SRQ_LIMIT),
		 "a limit of more than there can be");
	srq_end(&s);
}

/* One of several QPs goes down; the receives are the others' */
static void test_error(struct vt_devs *d)
{
	struct ib_wc wc;
	static struct srq s;	/* large; one test runs at a time */

	if (srq_make(&s, d, 16))
		return;
	vt_equal(0, vt_recv(&s.p[0].b, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_recv(&s.p[0].b, 2, NULL, 0), "receive posted");
	vt_equal(0, vt_to(&s.p[0].b, IB_QPS_ERR), "one QP to ERR");
	vt_ok(vt_until(vt_event(&s.p[0].b, IB_EVENT_QP_LAST_WQE_REACHED)),
	      "LAST_WQE_REACHED");
	vt_ok(vt_none(&s.cq), "no receive is flushed");
	vt_equal(0, vt_send(&s.p[1].a, 1, NULL), "SEND to another");
	vt_expect(&s.cq, IB_WC_SUCCESS, &wc, "it arrives");
	vt_equal(1, wc.wr_id, "with the oldest receive");
	vt_equal(0, vt_to(&s.p[0].b, IB_QPS_ERR), "to ERR once more");
	vt_events_were(&s.p[0].b, 1, IB_EVENT_QP_LAST_WQE_REACHED, "told once");

	/* Receives of one of other size or key are that QP's fault */
	vt_equal(0, vt_recv(&s.p[0].b, 3, &(struct ib_sge) { 4096, 64, 0xbad00 }, 1),
		 "a bad receive");
	vt_equal(0, vt_send(&s.p[1].a, 1, NULL), "SEND with the good one");
	vt_expect(&s.cq, IB_WC_SUCCESS, NULL, "it arrives");
	vt_equal(0, vt_send(&s.p[1].a, 1, NULL), "SEND of no bytes with the bad one");
	vt_expect(&s.cq, IB_WC_SUCCESS, &wc, "no key is looked at for that");
	vt_equal(3, wc.wr_id, "it was the bad one");
	vt_events_were(&s.p[1].b, 0, IB_EVENT_QP_LAST_WQE_REACHED,
		       "no LAST_WQE_REACHED of the other");
	srq_end(&s);
}

const struct vt_test vt_srq[] = {
	{ "order", test_order },
	{ "limit", test_limit },
	{ "error", test_error },
	{}
};
