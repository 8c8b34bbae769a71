// SPDX-License-Identifier: GPL-2.0
/*
 * Slots of queues: when they return to the consumer, and the result of using more than there
 * are.
 */

#include "vrnic_test.h"

#define SLOTS	8

static int post_sends(struct vt_pair *p, int n, int signaled)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++) {
		if (p->b.opt.recv_wr > SLOTS)
			vt_recv(&p->b, i, NULL, 0);
		ret = vt_post(&p->a, &(struct vt_wr) {
			.op = IB_WR_SEND, .id = i,
			.flags = i == signaled ? IB_SEND_SIGNALED : 0 });
	}
	return ret;
}

/* Work without completions keeps its places until a later one is polled */
static void test_sq(struct vt_devs *d)
{
	struct vt_opt opt = { .send_wr = SLOTS, .recv_wr = 64, .cqe = 128 };
	struct ib_wc wc;
	struct vt_pair p;

	if (vt_pair_make(&p, d, &opt))
		return;
	vt_equal(0, post_sends(&p, SLOTS, SLOTS - 1), "as many as there are places");
	vt_equal((u64)-ENOMEM, vt_send(&p.a, 99, NULL),
		 "one more, nothing polled yet: refused");
	vt_violations(1, "SQ overrun", "one more: reported");
	vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "the only completion");
	vt_equal(SLOTS - 1, wc.wr_id, "is of the last");
	vt_equal(0, post_sends(&p, SLOTS, 3), "all places are back");
	vt_equal((u64)-ENOMEM, vt_send(&p.a, 99, NULL), "and no more");
	vt_violations(1, "SQ overrun", "no more: reported");
	vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "the completion of the fourth");
	vt_equal(0, post_sends(&p, 3, -1), "gives three places back");
	vt_equal(0, vt_recv(&p.b, 50, NULL, 0), "receive posted");
	vt_equal(0, vt_send(&p.a, 50, NULL), "and the fourth");
	vt_equal((u64)-ENOMEM, vt_send(&p.a, 99, NULL), "not those behind it");
	vt_violations(1, "SQ overrun", "those behind it: reported");
	vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "the last");
	vt_equal(50, wc.wr_id, "the last: wr_id");
	vt_ok(vt_none(p.a.scq), "no completion of what was refused");
	vt_pair_free(&p);
}

/* A chain that does not fit is taken up to where it does not */
static void test_chain(struct vt_devs *d)
{
	struct vt_opt opt = { .send_wr = 2, .recv_wr = 64, .cqe = 128 };
	const struct ib_send_wr *bad = NULL;
	const struct ib_recv_wr *bad_recv;
	struct ib_recv_wr recv[2] = {};
	struct ib_send_wr wr[3] = {};
	struct vt_pair p;
	int i;

	if (vt_pair_make(&p, d, &opt))
		return;
	for (i = 0; i < 3; i++) {
		vt_equal(0, vt_recv(&p.b, i, NULL, 0), "receive posted");
		wr[i].opcode = IB_WR_SEND;
		wr[i].send_flags = IB_SEND_SIGNALED;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	vt_equal((u64)-ENOMEM, ib_post_send(p.a.qp, wr, &bad), "the third is refused");
	vt_ok(bad == &wr[2], "it is the one that is named");
	vt_violations(1, "SQ overrun", "the third: reported");
	for (i = 0; i < 2; i++) {
		vt_expect(p.a.scq, IB_WC_SUCCESS, NULL, "SEND %d before it", i);
		vt_expect(p.b.rcq, IB_WC_SUCCESS, NULL, "receive %d before it", i);
	}
	vt_ok(vt_none(p.b.rcq), "the third did not arrive");
	recv[0].next = &recv[1];
	recv[1].num_sge = opt.recv_sge + 100;
	vt_equal((u64)-EINVAL, ib_post_recv(p.b.qp, recv, &bad_recv),
		 "the second receive is refused");
	vt_ok(bad_recv == &recv[1], "it is the one that is named");
	vt_violations(1, "a receive of", "the second receive: reported");
	vt_pair_free(&p);
}

/* A receive queue has as many places as it has, and one back with each that is polled */
static void overrun(struct vt_pair *p, const char *words)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		vt_equal(0, vt_recv(&p->b, i, NULL, 0), "receive %d", i);
	vt_equal((u64)-ENOMEM, vt_recv(&p->b, 99, NULL, 0), "one more: refused");
	vt_violations(1, words, "one more: reported");
	vt_equal(0, vt_send(&p->a, 1, NULL), "SEND posted");
	vt_equal((u64)-ENOMEM, vt_recv(&p->b, 99, NULL, 0),
		 "taken, but not polled yet: refused");
	vt_violations(1, words, "not polled yet: reported");
	vt_expect(p->b.rcq, IB_WC_SUCCESS, NULL, "polled");
	vt_equal(0, vt_recv(&p->b, SLOTS, NULL, 0), "now it is taken");
}

static void test_rq(struct vt_devs *d)
{
	struct vt_opt opt = { .recv_wr = SLOTS };
	struct vt_pair p;

	if (vt_pair_make(&p, d, &opt))
		return;
	overrun(&p, "RQ overrun");
	vt_equal((u64)-ENOMEM, vt_recv(&p.b, 99, NULL, 0), "and no more");
	vt_violations(1, "RQ overrun", "no more: reported");
	vt_pair_free(&p);
}

/*
 * Exactly @n receives can be posted now. A completion that comes twice gives a place
 * back once, and one that never comes none, until its QP goes.
 */
static void room_is(struct vt_end *e, int n, const char *words, const char *when)
{
	int i, taken = 0;

	for (i = 0; i < n; i++)
		taken += !vt_recv(e, i, NULL, 0);
	vt_equal(n, taken, "%s: receives that are taken", when);
	vt_violations(0, "no", "%s: nobody is blamed for them", when);
	vt_equal((u64)-ENOMEM, vt_recv(e, 99, NULL, 0), "%s: one more is refused", when);
	vt_violations(1, words, "%s: one more is reported", when);
}

/* A message comes, and its completion meets a fault: so many of it are there */
static void faulty(struct vt_pair *p, const char *action, int n)
{
	int i;

	vt_equal(0, vt_fault(p->b.dev, "cqe recv 1 %s qp=%u", action, p->b.qp->qp_num),
		 "%s: taken", action);
	vt_equal(0, vt_send(&p->a, 1, NULL), "%s: SEND posted", action);
	vt_expect(p->a.scq, IB_WC_SUCCESS, NULL, "%s: the sender's completion", action);
	for (i = 0; i < n; i++)
		vt_expect(p->b.rcq, IB_WC_SUCCESS, NULL, "%s: completion %d", action, i);
	vt_ok(vt_none(p->b.rcq), "%s: no more completions", action);
}

static void test_rq_faults(struct vt_devs *d)
{
	struct vt_opt opt = { .recv_wr = SLOTS };
	struct vt_pair p;

	if (vt_pair_make(&p, d, &opt))
		return;
	vt_equal(0, vt_recv(&p.b, 0, NULL, 0), "the only receive");
	faulty(&p, "twice", 2);
	room_is(&p.b, SLOTS, "RQ overrun", "the only one, twice");
	faulty(&p, "twice", 2);
	room_is(&p.b, 1, "RQ overrun", "one of many, twice");
	faulty(&p, "again 5000", 2);
	room_is(&p.b, 1, "RQ overrun", "again");
	faulty(&p, "never", 0);
	room_is(&p.b, 0, "RQ overrun", "never");
	vt_equal(0, vt_to(&p.b, IB_QPS_RESET), "to RESET");
	vt_equal(0, vt_to_init(&p.b), "to INIT");
	room_is(&p.b, SLOTS, "RQ overrun", "reset");
	vt_pair_free(&p);
}

/* A connection whose end b has an SRQ of SLOTS receives */
struct shared {
	struct ib_pd *pd;
	struct ib_srq *srq;
	struct vt_pair p;
};

static void shared_end(struct shared *s)
{
	vt_pair_free(&s->p);
	if (!IS_ERR_OR_NULL(s->srq))
		ib_destroy_srq(s->srq);
	if (!IS_ERR_OR_NULL(s->pd))
		ib_dealloc_pd(s->pd);
}

static int shared_make(struct shared *s, struct vt_devs *d, u32 cqe)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = SLOTS, .max_sge = 2 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct vt_opt opt = { .cqe = cqe };

	memset(s, 0, sizeof(*s));
	s->pd = ib_alloc_pd(d->b, 0);
	if (!vt_ok(!IS_ERR(s->pd), "PD made"))
		return -ENOMEM;
	s->srq = ib_create_srq(s->pd, &attr);
	if (!vt_ok(!IS_ERR(s->srq), "SRQ made"))
		goto err;
	opt.pd = s->pd;
	opt.srq = s->srq;
	if (vt_equal(0, vt_end_make(&s->p.a, d->a, NULL), "end made") &&
	    vt_equal(0, vt_end_make(&s->p.b, d->b, &opt), "end with SRQ made") &&
	    vt_equal(0, vt_connect(&s->p.a, &s->p.b), "connected"))
		return 0;
err:
	shared_end(s);
	return -EINVAL;
}

static void test_srq(struct vt_devs *d)
{
	struct shared s;

	if (shared_make(&s, d, 0))
		return;
	overrun(&s.p, "SRQ overrun");
	/* If its completion goes with its QP, it is no longer used either */
	vt_equal(0, vt_send(&s.p.a, 1, NULL), "SEND posted");
	vt_end_free(&s.p.b);
	vt_equal(0, vt_recv(&s.p.b, 1, NULL, 0), "the QP is gone, its receive is back");
	vt_equal((u64)-ENOMEM, vt_recv(&s.p.b, 99, NULL, 0), "and no more");
	vt_violations(1, "SRQ overrun", "no more: reported");
	shared_end(&s);
}

/* An SRQ outlives the QP: slots that the QP did not return are returned when it is destroyed */
static void test_srq_faults(struct vt_devs *d)
{
	struct shared s;
	int i;

	if (shared_make(&s, d, 0))
		return;
	vt_equal(0, vt_recv(&s.p.b, 0, NULL, 0), "the only receive");
	faulty(&s.p, "twice", 2);
	room_is(&s.p.b, SLOTS, "SRQ overrun", "the only one, twice");
	faulty(&s.p, "twice", 2);
	room_is(&s.p.b, 1, "SRQ overrun", "one of many, twice");
	faulty(&s.p, "never", 0);
	faulty(&s.p, "never", 0);
	room_is(&s.p.b, 0, "SRQ overrun", "never");
	vt_equal(0, vt_fault(d->b, "cqe recv 1 twice qp=%u", s.p.b.qp->qp_num), "taken");
	vt_equal(0, vt_send(&s.p.a, 1, NULL), "twice, and not polled: SEND posted");
	vt_end_free(&s.p.b);
	room_is(&s.p.b, 3, "SRQ overrun", "the QP is gone");
	shared_end(&s);

	/* Completions that did not fit into a CQ */
	if (shared_make(&s, d, 2))
		return;
	for (i = 0; i < SLOTS; i++)
		vt_equal(0, vt_recv(&s.p.b, i, NULL, 0), "receive posted");
	for (i = 0; i < 4; i++)
		vt_equal(0, vt_post(&s.p.a, &(struct vt_wr) { .op = IB_WR_SEND }),
			 "SEND posted");
	vt_violations(1, "overrun: it holds 2", "the CQ runs over");
	vt_end_free(&s.p.b);
	room_is(&s.p.b, 4, "SRQ overrun", "the QP is gone, and its CQ");
	shared_end(&s);
}

static void test_cq(struct vt_devs *d)
{
	struct vt_opt opt = { .recv_wr = 16, .send_wr = 16, .cqe = 4 };
	struct ib_wc wc;
	struct vt_pair p;
	int i;

	if (vt_pair_make(&p, d, &opt))
		return;
	for (i = 0; i < 8; i++)
		vt_equal(0, vt_recv(&p.b, i, NULL, 0), "receive posted");
	for (i = 0; i < 4; i++)
		vt_equal(0, vt_post(&p.a, &(struct vt_wr) { .op = IB_WR_SEND }),
			 "SEND posted");
	vt_violations(0, "CQ", "as many completions as there is room for");
	vt_equal(0, atomic_read(&p.b.rcq->errors), "no event yet");
	for (i = 0; i < 2; i++)
		vt_equal(0, vt_post(&p.a, &(struct vt_wr) { .op = IB_WR_SEND }),
			 "SEND posted");
	vt_violations(1, "overrun: it holds 4", "more: reported, once");
	vt_ok(vt_until(atomic_read(&p.b.rcq->errors) == 1), "and an event told of it");
	for (i = 0; i < 4; i++) {
		vt_expect(p.b.rcq, IB_WC_SUCCESS, &wc, "completion %d is there", i);
		vt_equal(i, wc.wr_id, "completion %d: wr_id", i);
	}
	vt_ok(vt_none(p.b.rcq), "those after it are lost");
	vt_equal(0, vt_post(&p.a, &(struct vt_wr) { .op = IB_WR_SEND }), "SEND posted");
	vt_ok(vt_none(p.b.rcq), "and there are no more");
	vt_equal(1, atomic_read(&p.b.rcq->errors), "it was one event");
	vt_pair_free(&p);
}

/* Operations that a QP was not created for */
static void test_refused(struct vt_devs *d)
{
	struct vt_opt opt = { .send_sge = 2, .recv_sge = 2, .inlined = 64 };
	struct ib_sge sge[3] = {};
	struct vt_pair p;

	if (vt_pair_make(&p, d, &opt))
		return;
	vt_equal((u64)-EINVAL, vt_post(&p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .sge = sge, .num_sge = 3 }), "SEND of too many SGEs");
	vt_violations(1, "cannot take", "SEND of too many SGEs: reported");
	vt_equal((u64)-EINVAL, vt_post(&p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .flags = IB_SEND_INLINE, .sge = sge,
		.num_sge = 3 }), "inline of too many SGEs");
	vt_violations(1, "cannot take", "inline of too many SGEs: reported");
	vt_equal((u64)-EINVAL, vt_recv(&p.a, 0, sge, 3), "a receive of too many SGEs");
	vt_violations(1, "a receive of 3", "a receive of too many SGEs: reported");
	vt_equal((u64)-EINVAL, vt_post(&p.a, &(struct vt_wr) {
		.op = IB_WR_ATOMIC_CMP_AND_SWP }), "an opcode that is not known");
	vt_violations(1, "cannot take", "an opcode that is not known: reported");
	vt_equal((u64)-EINVAL, vt_post(&p.a, &(struct vt_wr) {
		.op = IB_WR_RDMA_READ_WITH_INV }), "an opcode of iWARP alone");
	vt_violations(1, "cannot take", "an opcode of iWARP alone: reported");
	sge[0] = (struct ib_sge) {
		.length = 1U << 31, .lkey = p.a.pd->local_dma_lkey };
	sge[1] = sge[0];
	vt_equal((u64)-EINVAL, vt_post(&p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .sge = sge, .num_sge = 2 }),
		"a message of more than can be");
	vt_violations(1, "cannot take", "a message of more than can be: reported");
	vt_ok(vt_none(p.a.scq), "nothing of all this completes");
	vt_equal(IB_QPS_RTS, vt_state(&p.a), "the QP does not mind");
	vt_pair_free(&p);
}

const struct vt_test vt_slots[] = {
	{ "sq", test_sq },
	{ "chain", test_chain },
	{ "rq", test_rq },
	{ "rq-faults", test_rq_faults },
	{ "srq", test_srq },
	{ "srq-faults", test_srq_faults },
	{ "cq", test_cq },
	{ "refused", test_refused },
	{}
};
