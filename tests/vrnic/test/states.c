// SPDX-License-Identifier: GPL-2.0
/*
 * States of a QP: allowed transitions, allowed posts in each state, and the fate of queued
 * work when it leaves them.
 */

#include "vrnic_test.h"

static const char *const names[] = {
	[IB_QPS_RESET] = "RESET", [IB_QPS_INIT] = "INIT", [IB_QPS_RTR] = "RTR",
	[IB_QPS_RTS] = "RTS", [IB_QPS_SQD] = "SQD", [IB_QPS_SQE] = "SQE",
	[IB_QPS_ERR] = "ERR",
};

/* From RESET to a state, connected to itself */
static int walk_to(struct vt_end *e, enum ib_qp_state state)
{
	int ret = 0;

	if (state == IB_QPS_RESET)
		return vt_to(e, IB_QPS_RESET);
	ret = vt_to(e, IB_QPS_RESET);
	if (!ret)
		ret = vt_to_init(e);
	if (!ret && state == IB_QPS_ERR)
		return vt_to(e, IB_QPS_ERR);
	if (!ret && state >= IB_QPS_RTR)
		ret = vt_to_rtr(e, e);
	if (!ret && state >= IB_QPS_RTS)
		ret = vt_to_rts(e);
	return ret;
}

static int go(struct vt_end *e, enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_INIT:
		return vt_to_init(e);
	case IB_QPS_RTR:
		return vt_to_rtr(e, e);
	case IB_QPS_RTS:
		return vt_to_rts(e);
	default:
		return vt_to(e, to);
	}
}

/* A QP in RESET cannot be in error: only one that has left it can */
static bool allowed(enum ib_qp_state from, enum ib_qp_state to)
{
	return to == IB_QPS_RESET || (to == IB_QPS_ERR && from != IB_QPS_RESET) ||
	       (from == IB_QPS_RESET && to == IB_QPS_INIT) ||
	       (from == IB_QPS_INIT && (to == IB_QPS_INIT || to == IB_QPS_RTR)) ||
	       (from == IB_QPS_RTR && to == IB_QPS_RTS);
}

static void try_transition(struct vt_end *e, enum ib_qp_state from,
			   enum ib_qp_state to)
{
	int ret;

	vt_equal(0, walk_to(e, from), "to %s", names[from]);
	vt_equal(from, vt_state(e), "it is in %s", names[from]);
	ret = go(e, to);
	if (allowed(from, to)) {
		vt_equal(0, ret, "%s to %s", names[from], names[to]);
		vt_equal(to, vt_state(e), "it is in %s", names[to]);
	} else {
		vt_equal((u64)-EINVAL, ret, "%s to %s: refused", names[from],
			 names[to]);
		vt_violations(1, "modify_qp from state", "%s to %s: reported",
			      names[from], names[to]);
		vt_equal(from, vt_state(e), "it is still in %s", names[from]);
	}
}

static void test_transitions(struct vt_devs *d)
{
	static const enum ib_qp_state all[] = {
		IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_ERR,
	};
	struct vt_end e;
	int i, j;

	if (!vt_equal(0, vt_end_make(&e, d->a, NULL), "QP made"))
		return;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (j = 0; j < ARRAY_SIZE(all); j++)
			try_transition(&e, all[i], all[j]);
	}
	vt_end_free(&e);
}

static void test_attributes(struct vt_devs *d)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp_init_attr init;
	struct vt_end e;

	if (!vt_equal(0, vt_end_make(&e, d->a, NULL), "QP made"))
		return;
	vt_equal((u64)-EINVAL, ib_modify_qp(e.qp, &attr, IB_QP_STATE | IB_QP_PORT),
		 "INIT without access flags and P_Key");
	vt_violations(1, "modify_qp from state", "without access flags: reported");
	vt_equal(IB_QPS_RESET, vt_state(&e), "it is still in RESET");

	vt_equal(0, walk_to(&e, IB_QPS_RTR), "to RTR");
	attr.qp_state = IB_QPS_RTS;
	attr.max_rd_atomic = to_vdev(d->a)->config.max_rd_atom + 1;
	attr.timeout = 14;
	vt_equal((u64)-EINVAL, ib_modify_qp(e.qp, &attr, IB_QP_STATE |
		 IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
		 IB_QP_MAX_QP_RD_ATOMIC), "more READs at once than the device has");
	attr.max_rd_atomic = 1;
	attr.cur_qp_state = IB_QPS_RTS;
	vt_equal((u64)-EINVAL, ib_modify_qp(e.qp, &attr, IB_QP_STATE |
		 IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
		 IB_QP_MAX_QP_RD_ATOMIC | IB_QP_CUR_STATE), "a wrong present state");
	vt_violations(1, "modify_qp: the present state", "a wrong present state: reported");
	vt_equal(IB_QPS_RTR, vt_state(&e), "it is still in RTR");
	attr.rnr_retry = 3;
	attr.retry_cnt = 2;
	vt_equal(0, ib_modify_qp(e.qp, &attr, IB_QP_STATE |
		 IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
		 IB_QP_MAX_QP_RD_ATOMIC), "to RTS");
	vt_equal(0, ib_query_qp(e.qp, &attr, IB_QP_STATE, &init), "queried");
	vt_equal(3, attr.rnr_retry, "rnr_retry as given");
	vt_equal(2, attr.retry_cnt, "retry_cnt as given");
	vt_equal(14, attr.timeout, "timeout as given");
	vt_equal(1, attr.max_rd_atomic, "max_rd_atomic as given");
	vt_equal(e.qp->qp_num, attr.dest_qp_num, "dest_qp_num as given");
	vt_equal(32, init.cap.max_send_wr, "max_send_wr as given");
	attr.min_rnr_timer = 9;
	vt_equal(0, ib_modify_qp(e.qp, &attr, IB_QP_MIN_RNR_TIMER), "no state named");
	vt_equal(0, ib_query_qp(e.qp, &attr, IB_QP_STATE, &init), "queried");
	vt_equal(9, attr.min_rnr_timer, "min_rnr_timer as given");
	attr.qp_state = IB_QPS_SQD;
	vt_equal((u64)-EINVAL, ib_modify_qp(e.qp, &attr, IB_QP_STATE), "no SQD here");
	vt_end_free(&e);
}

static void test_posts(struct vt_devs *d)
{
	struct vt_pair p = {};
	struct ib_wc wc;

	if (!vt_equal(0, vt_end_make(&p.a, d->a, NULL), "QP made") ||
	    !vt_equal(0, vt_end_make(&p.b, d->b, NULL), "QP made"))
		goto out;
	vt_equal((u64)-EINVAL, vt_send(&p.a, 1, NULL), "SEND in RESET: refused");
	vt_violations(1, "post_send in the state", "SEND in RESET: reported");
	vt_equal((u64)-EINVAL, vt_recv(&p.a, 1, NULL, 0), "receive in RESET: refused");
	vt_violations(1, "post_recv in the state RESET", "receive in RESET: reported");
	vt_equal(0, vt_to_init(&p.a), "to INIT");
	vt_equal(0, vt_to_init(&p.b), "to INIT");
	vt_equal((u64)-EINVAL, vt_send(&p.a, 1, NULL), "SEND in INIT: refused");
	vt_violations(1, "post_send in the state", "SEND in INIT: reported");
	vt_equal(0, vt_recv(&p.b, 5, NULL, 0), "receive in INIT");
	vt_equal(0, vt_to_rtr(&p.a, &p.b), "to RTR");
	vt_equal(0, vt_to_rtr(&p.b, &p.a), "to RTR");
	vt_equal((u64)-EINVAL, vt_send(&p.a, 1, NULL), "SEND in RTR: refused");
	vt_violations(1, "post_send in the state", "SEND in RTR: reported");
	vt_equal(0, vt_recv(&p.b, 6, NULL, 0), "receive in RTR");
	vt_equal(0, vt_to_rts(&p.a), "to RTS");

	/* The other is in RTR still, and takes messages */
	vt_equal(0, vt_event(&p.b, IB_EVENT_COMM_EST), "nothing has come yet");
	vt_equal(0, vt_send(&p.a, 1, NULL), "SEND in RTS");
	vt_equal(0, vt_send(&p.a, 2, NULL), "SEND in RTS");
	vt_expect(p.b.rcq, IB_WC_SUCCESS, &wc, "the receive of INIT");
	vt_equal(5, wc.wr_id, "the receive of INIT: wr_id");
	vt_expect(p.b.rcq, IB_WC_SUCCESS, &wc, "the receive of RTR");
	vt_equal(6, wc.wr_id, "the receive of RTR: wr_id");
	vt_ok(vt_until(vt_event(&p.b, IB_EVENT_COMM_EST)), "COMM_EST is told");
	vt_equal(0, vt_to_rts(&p.b), "to RTS");
	vt_equal(0, vt_recv(&p.b, 7, NULL, 0), "receive in RTS");
	vt_equal(0, vt_send(&p.a, 3, NULL), "SEND in RTS");
	vt_expect(p.b.rcq, IB_WC_SUCCESS, NULL, "the receive of RTS");
	vt_events_were(&p.b, 1, IB_EVENT_COMM_EST, "COMM_EST is told once");
	vt_events_were(&p.a, 0, IB_EVENT_COMM_EST, "and not the sender");
out:
	vt_pair_free(&p);
}

/* Work that waits, because the other end has no receive */
static void queue_sends(struct vt_end *e, int n)
{
	int i;

	for (i = 0; i < n; i++)
		vt_equal(0, vt_post(e, &(struct vt_wr) {
			.op = IB_WR_SEND, .id = i,
			.flags = i % 2 ? IB_SEND_SIGNALED : 0 }), "SEND %d queued", i);
}

static void test_flush(struct vt_devs *d)
{
	struct vt_pair p;
	struct ib_wc wc;
	int i;

	if (vt_pair_make(&p, d, NULL))
		return;
	queue_sends(&p.a, 4);
	for (i = 0; i < 3; i++)
		vt_equal(0, vt_recv(&p.a, 10 + i, NULL, 0), "receive posted");
	vt_ok(vt_none(p.a.scq) && vt_none(p.a.rcq), "all of it waits");
	vt_equal(0, vt_to(&p.a, IB_QPS_ERR), "to ERR");
	for (i = 0; i < 4; i++) {
		vt_expect(p.a.scq, IB_WC_WR_FLUSH_ERR, &wc, "SEND %d", i);
		vt_equal(i, wc.wr_id, "SEND %d: wr_id", i);
		vt_ok(wc.qp == p.a.qp, "SEND %d: qp", i);
	}
	for (i = 0; i < 3; i++) {
		vt_expect(p.a.rcq, IB_WC_WR_FLUSH_ERR, &wc, "receive %d", i);
		vt_equal(10 + i, wc.wr_id, "receive %d: wr_id", i);
	}
	vt_equal(0, vt_post(&p.a, &(struct vt_wr) { .op = IB_WR_SEND, .id = 20 }),
		 "SEND in ERR");
	vt_equal(0, vt_post(&p.a, &(struct vt_wr) {
		.op = IB_WR_LOCAL_INV, .id = 21, .imm = 0x1234 }), "LOCAL_INV in ERR");
	vt_equal(0, vt_recv(&p.a, 22, NULL, 0), "receive in ERR");
	vt_expect(p.a.scq, IB_WC_WR_FLUSH_ERR, &wc, "SEND in ERR: flushed");
	vt_equal(20, wc.wr_id, "SEND in ERR: wr_id");
	vt_expect(p.a.scq, IB_WC_WR_FLUSH_ERR, &wc, "LOCAL_INV in ERR: flushed");
	vt_equal(21, wc.wr_id, "LOCAL_INV in ERR: wr_id");
	vt_expect(p.a.rcq, IB_WC_WR_FLUSH_ERR, &wc, "receive in ERR: flushed");
	vt_equal(22, wc.wr_id, "receive in ERR: wr_id");
	vt_equal(0, vt_to(&p.a, IB_QPS_ERR), "to ERR once more");
	vt_ok(vt_none(p.a.scq) && vt_none(p.a.rcq), "each was flushed once");
	vt_events_were(&p.a, 0, IB_EVENT_QP_LAST_WQE_REACHED,
		       "no LAST_WQE_REACHED without an SRQ");
	vt_events_were(&p.a, 0, IB_EVENT_QP_FATAL, "no event of an error");
	vt_equal(IB_QPS_RTS, vt_state(&p.b), "the peer has seen nothing");
	vt_pair_free(&p);
}

/*
 * With flush_done: work that was sent without a completion, and is not covered by that of a
 * later work request, is flushed like waiting work
 */
static void test_flush_done(struct vt_devs *d)
{
	struct vt_opt opt = { .send_wr = 8 };
	struct vt_pair p;
	struct ib_wc wc;
	int i;

	if (!vt_ok(to_vdev(d->a)->config.flush_done, "the device does it") ||
	    vt_pair_make(&p, d, &opt))
		return;
	for (i = 0; i < 4; i++)
		vt_equal(0, vt_recv(&p.b, i, NULL, 0), "receive posted");
	/* The fifth waits, for there is no receive */
	queue_sends(&p.a, 3);
	queue_sends(&p.a, 1);
	queue_sends(&p.a, 1);
	for (i = 0; i < 4; i++)
		vt_expect(p.b.rcq, IB_WC_SUCCESS, NULL, "SEND %d arrives", i);
	vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "the second is the signaled one");
	vt_equal(1, wc.wr_id, "the second: wr_id");
	vt_ok(vt_none(p.a.scq), "and the only one");
	vt_equal(0, vt_to(&p.a, IB_QPS_ERR), "to ERR");
	vt_expect(p.a.scq, IB_WC_WR_FLUSH_ERR, &wc, "the third, which arrived");
	vt_equal(2, wc.wr_id, "the third: wr_id");
	for (i = 3; i < 5; i++) {
		vt_expect(p.a.scq, IB_WC_WR_FLUSH_ERR, &wc, "SEND %d", i);
		vt_equal(0, wc.wr_id, "SEND %d: wr_id", i);
	}
	vt_ok(vt_none(p.a.scq), "not the first: the second had a completion");
	vt_equal(0, vt_post(&p.a, &(struct vt_wr) { .op = IB_WR_SEND, .id = 20 }),
		 "SEND in ERR");
	vt_expect(p.a.scq, IB_WC_WR_FLUSH_ERR, &wc, "SEND in ERR: flushed");
	vt_equal(20, wc.wr_id, "SEND in ERR: wr_id");
	vt_equal(0, vt_to(&p.a, IB_QPS_ERR), "to ERR once more");
	vt_ok(vt_none(p.a.scq), "each was flushed once");

	vt_equal(0, vt_to(&p.a, IB_QPS_RESET), "to RESET");
	vt_equal(0, vt_to(&p.b, IB_QPS_RESET), "to RESET");
	vt_equal(0, vt_connect(&p.a, &p.b), "connected anew");
	for (i = 0; i < 8; i++)
		vt_equal(0, vt_recv(&p.b, i, NULL, 0), "receive posted");
	queue_sends(&p.a, 8);
	for (i = 0; i < 4; i++) {
		vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "every second SEND");
		vt_equal(2 * i + 1, wc.wr_id, "every second SEND: wr_id");
	}
	/* The last was signaled */
	vt_equal(0, vt_to(&p.a, IB_QPS_ERR), "to ERR");
	vt_ok(vt_none(p.a.scq), "nothing is left to flush");
	vt_pair_free(&p);
}

/* The state RESET forgets all that was queued; all places are back */
static void test_reuse(struct vt_devs *d)
{
	struct vt_opt opt = { .send_wr = 8, .recv_wr = 8 };
	struct ib_wc wc;
	struct vt_pair p;
	int i;

	if (vt_pair_make(&p, d, &opt))
		return;
	/* Of both kinds: completed and not polled, and waiting */
	for (i = 0; i < 2; i++)
		vt_equal(0, vt_recv(&p.b, i, NULL, 0), "receive posted");
	queue_sends(&p.a, 6);
	for (i = 0; i < 4; i++)
		vt_equal(0, vt_recv(&p.a, i, NULL, 0), "receive posted");
	vt_equal(0, vt_to(&p.a, IB_QPS_RESET), "to RESET");
	vt_equal(0, vt_to(&p.b, IB_QPS_RESET), "to RESET");
	vt_ok(vt_none(p.a.scq) && vt_none(p.a.rcq) && vt_none(p.b.rcq),
	      "no completions are left");
	vt_equal(0, vt_connect(&p.a, &p.b), "connected anew");
	for (i = 0; i < 8; i++)
		vt_equal(0, vt_recv(&p.b, 100 + i, NULL, 0), "all receives are back: %d", i);
	for (i = 0; i < 8; i++)
		vt_equal(0, vt_send(&p.a, 200 + i, NULL), "all places are back: %d", i);
	for (i = 0; i < 8; i++) {
		vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "SEND %d", i);
		vt_equal(200 + i, wc.wr_id, "SEND %d: wr_id", i);
		vt_expect(p.b.rcq, IB_WC_SUCCESS, &wc, "receive %d", i);
		vt_equal(100 + i, wc.wr_id, "receive %d: wr_id", i);
	}
	/* And from ERR */
	vt_equal(0, vt_to(&p.a, IB_QPS_ERR), "to ERR");
	vt_equal(0, vt_to(&p.a, IB_QPS_RESET), "from there to RESET");
	vt_equal(0, vt_to(&p.b, IB_QPS_RESET), "to RESET");
	vt_equal(0, vt_connect(&p.a, &p.b), "connected anew");
	vt_equal(0, vt_recv(&p.b, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_send(&p.a, 1, NULL), "SEND posted");
	vt_expect(p.a.scq, IB_WC_SUCCESS, NULL, "SEND after ERR");
	vt_pair_free(&p);
}

struct drained {
	struct ib_cqe cqe;
	int *count;
};

static void drained_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct drained *w = container_of(wc->wr_cqe, struct drained, cqe);

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		(*w->count)++;
}

/* ib_drain_qp returns when all queued work has been flushed */
static void drain_in(struct vt_devs *d, enum ib_qp_state state)
{
	struct drained send[4], recv[4];
	struct vt_cq cq = {};
	/* A sent message waits for half a second */
	struct vt_opt opt = { .scq = &cq, .rcq = &cq, .min_rnr_timer = 31 };
	int i, sends = 0, recvs = 0;
	struct vt_end e;

	cq.cq = ib_alloc_cq(d->a, NULL, 64, 0, IB_POLL_WORKQUEUE);
	if (!vt_ok(!IS_ERR(cq.cq), "CQ made"))
		return;
	if (!vt_equal(0, vt_end_make(&e, d->a, &opt), "QP made"))
		goto out;
	vt_equal(0, walk_to(&e, state), "to %s", names[state]);
	for (i = 0; i < 4; i++) {
		struct ib_recv_wr rwr = { .wr_cqe = &recv[i].cqe };
		struct ib_send_wr swr = {
			.wr_cqe = &send[i].cqe, .opcode = IB_WR_SEND,
		};

		recv[i] = (struct drained) { { drained_done }, &recvs };
		send[i] = (struct drained) { { drained_done }, &sends };
		if (state != IB_QPS_RTS)
			continue;
		vt_equal(0, ib_post_send(e.qp, &swr, NULL), "SEND queued");
		/* With none, the first SEND has begun to wait */
		if (i)
			vt_equal(0, ib_post_recv(e.qp, &rwr, NULL), "receive posted");
	}
	ib_drain_qp(e.qp);
	if (state == IB_QPS_RTS) {
		vt_equal(4, sends, "all sends are flushed");
		vt_equal(3, recvs, "all receives are flushed");
	}
	vt_equal(IB_QPS_ERR, vt_state(&e), "drained from %s: it is in ERR", names[state]);
	vt_end_free(&e);
out:
	ib_free_cq(cq.cq);
}

static void test_drain(struct vt_devs *d)
{
	drain_in(d, IB_QPS_INIT);
	drain_in(d, IB_QPS_RTR);
	drain_in(d, IB_QPS_RTS);
	drain_in(d, IB_QPS_ERR);
}

/* Posts until its QP goes down; completions arrived in order */
static int send_on(void *arg)
{
	struct vt_end *e = arg;
	ktime_t end = ktime_add_ms(ktime_get(), 20000);
	enum ib_wc_status worst = IB_WC_SUCCESS;
	u64 posted = 0, polled = 0;
	struct ib_wc wc;

	while (worst == IB_WC_SUCCESS || polled < posted) {
		if (ktime_after(ktime_get(), end))
			return -ETIMEDOUT;
		if (worst == IB_WC_SUCCESS && posted - polled < 32 &&
		    !vt_send(e, posted, NULL))
			posted++;
		if (ib_poll_cq(e->scq->cq, 1, &wc) != 1) {
			cond_resched();
			continue;
		}
		if (wc.wr_id != polled++)
			return -EILSEQ;
		if (worst == IB_WC_SUCCESS)
			worst = wc.status;
		else if (wc.status != IB_WC_WR_FLUSH_ERR)
			return -EPROTO;
	}
	return worst;
}

/* A QP goes while the peer sends to it */
static void test_destroy(struct vt_devs *d)
{
	struct vt_opt opt = { .timeout = 1, .retry_cnt = 1, .recv_wr = 64 };
	struct vt_thread thread = {};
	int good = 0, i, j, round;
	struct vt_pair p;

	for (round = 0; round < 40; round++) {
		if (vt_pair_make(&p, d, &opt))
			return;
		for (i = 0; i < 64; i++)
			vt_recv(&p.b, i, NULL, 0);
		if (vt_thread_start(&thread, round, send_on, &p.a))
			break;
		/* Some arrive first, another number in each round */
		for (i = 0; i < round; i++) {
			struct ib_wc wc;

			if (vt_poll(p.b.rcq, &wc))
				vt_recv(&p.b, i, NULL, 0);
		}
		if (round % 2)
			vt_to(&p.b, IB_QPS_ERR);
		vt_end_free(&p.b);
		j = vt_thread_stop(&thread);
		good += j == IB_WC_RETRY_EXC_ERR;
		if (j != IB_WC_RETRY_EXC_ERR)
			vt_equal(IB_WC_RETRY_EXC_ERR, j, "round %d: how it ended", round);
		vt_end_free(&p.a);
	}
	vt_equal(40, good, "each time nobody answered any more, and all completed in order");
	vt_end_free(&p.a);
	vt_end_free(&p.b);
}

/* Outstanding work goes with its QP, and its completions do, too */
static void test_outstanding(struct vt_devs *d)
{
	struct vt_cq cq = {};
	struct vt_opt opt = { .scq = &cq, .rcq = &cq };
	struct vt_pair p = {};

	if (!vt_equal(0, vt_cq_make(&cq, d->a, 64, 0), "CQ made"))
		return;
	if (vt_equal(0, vt_end_make(&p.a, d->a, &opt), "end made") &&
	    vt_equal(0, vt_end_make(&p.b, d->b, NULL), "end made") &&
	    vt_equal(0, vt_connect(&p.a, &p.b), "connected")) {
		vt_equal(0, vt_recv(&p.b, 1, NULL, 0), "a receive for one of them");
		vt_equal(0, vt_recv(&p.a, 1, NULL, 0), "a receive");
		queue_sends(&p.a, 5);
	}
	vt_end_free(&p.a);
	vt_ok(vt_none(&cq), "nothing is left of a QP that is gone");
	vt_pair_free(&p);
	vt_cq_free(&cq);
}

const struct vt_test vt_flush_done[] = {
	{ "flush-done", test_flush_done },
	{}
};

const struct vt_test vt_states[] = {
	{ "transitions", test_transitions },
	{ "attributes", test_attributes },
	{ "posts", test_posts },
	{ "flush", test_flush },
	{ "reuse", test_reuse },
	{ "drain", test_drain },
	{ "destroy", test_destroy },
	{ "outstanding", test_outstanding },
	{}
};
