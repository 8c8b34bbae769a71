// SPDX-License-Identifier: GPL-2.0
/*
 * A wire that takes time (delay_ns), and work that fails on it, waits, or is still under way
 * when its QP fails or goes.
 */

#include "wire.h"

static u64 rnr_count(struct wire *w)
{
	return READ_ONCE(to_vqp(w->t.p.a.qp)->counts.rnr);
}

/* The NAK takes a delay, and the second try another one */
static void test_rnr(struct vt_devs *d)
{
	/* 0.01 ms */
	struct vt_opt opt = { .no_retry = true, .rnr_retry = 7 };
	struct wire w;

	if (vt_wire_make(&w, d, &opt))
		return;
	w.at = ktime_get();
	vt_wire_send(&w, 1);
	vt_wire_send(&w, 2);
	vt_ok(vt_until(rnr_count(&w)), "no receive");
	vt_at_least(w.delay, ktime_get() - w.at, "no receive: noticed after one delay");
	vt_ok(vt_until(rnr_count(&w) > 1), "no receive: tried again");
	vt_at_least(3 * w.delay + 10000, ktime_get() - w.at, "tried again after three");
	vt_ok(vt_none(w.t.p.a.scq), "no receive: and so on");
	vt_wire_end(&w);
}

static void test_rnr_over(struct vt_devs *d)
{
	struct vt_opt opt = { .no_retry = true, .rnr_retry = 1 };
	struct ib_sge sge;
	struct wire w;

	if (vt_wire_make(&w, d, &opt))
		return;
	w.at = ktime_get();
	vt_wire_send(&w, 1);
	vt_wire_send(&w, 2);
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_RNR_RETRY_EXC_ERR, 1, 4, "no receive, twice");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_WR_FLUSH_ERR, 2, 4, "the next");
	vt_equal(2, rnr_count(&w), "tries");
	vt_wire_end(&w);

	opt.rnr_retry = 7;
	if (vt_wire_make(&w, d, &opt))
		return;
	w.at = ktime_get();
	vt_wire_send(&w, 1);
	vt_wire_send(&w, 2);
	vt_ok(vt_until(rnr_count(&w)), "no receive");
	sge = vt_sge(&w.t.p.b, &w.t.to, 0, LEN);
	vt_equal(0, vt_recv(&w.t.p.b, 100, &sge, 1), "receive posted");
	vt_equal(0, vt_recv(&w.t.p.b, 101, &sge, 1), "receive posted");
	vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 3, "there is a receive");
	vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 101, 3, "and one for the next");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 1, 4, "it goes on");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 2, 4, "so does the next");
	vt_wire_end(&w);
}

/* A peer that fails while a message is on its way to it */
static void test_lost(struct vt_devs *d)
{
	/* 1.05 ms */
	struct vt_opt opt = { .timeout = 8, .retry_cnt = 2 };
	struct wire w;
	int i;

	for (i = 0; i < TRIES; i++) {
		bool good;

		if (vt_wire_make(&w, d, &opt))
			return;
		w.at = ktime_get();
		vt_wire_send(&w, 1);
		vt_equal(0, vt_to(&w.t.p.b, IB_QPS_ERR), "the peer fails");
		good = in_time(&w, 1);
		if (good) {
			vt_wire_comes(&w, w.t.p.a.scq, IB_WC_RETRY_EXC_ERR, 1, 1, "to a dead peer");
			vt_ok(vt_is_all(w.t.to.va, LEN, 0), "dead peer: nothing arrives");
			vt_equal(3, READ_ONCE(to_vqp(w.t.p.a.qp)->counts.lost), "tries");
		}
		vt_wire_end(&w);
		if (good)
			return;
	}
	vt_equal(0, TRIES, "it fails in time");
}

/* @delays: how many messages have taken when the QP goes into the error state */
static void one_flush(struct vt_devs *d, int delays)
{
	struct wire w;
	int i, j;

	for (i = 0; i < TRIES; i++) {
		bool good;

		if (vt_wire_make(&w, d, NULL))
			return;
		w.at = ktime_get();
		for (j = 0; j < 3; j++)
			vt_wire_send(&w, j);
		for (j = 0; j < 3 && delays; j++)
			vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100 + j, 1,
				      "before the flush");
		vt_equal(0, vt_to(&w.t.p.a, IB_QPS_ERR), "to ERR");
		good = in_time(&w, delays + 1);
		for (j = 0; j < 3 && good; j++)
			vt_wire_comes(&w, w.t.p.a.scq, IB_WC_WR_FLUSH_ERR, j, 0, "under way");
		if (good) {
			there_and_back(&w);
			vt_ok(vt_none(w.t.p.a.scq), "flushed after %d: once", delays);
			vt_ok(vt_none(w.t.p.b.rcq), "flushed after %d: no more arrives",
			      delays);
			vt_equal(!delays, vt_is_all(w.t.to.va, LEN, 0),
				 "flushed after %d: whether it had its effect", delays);
		}
		vt_wire_end(&w);
		if (good)
			return;
	}
	vt_equal(0, TRIES, "to ERR in time");
}

static void test_flush(struct vt_devs *d)
{
	one_flush(d, 0);
	one_flush(d, 1);
}

/* A message that the peer refuses: the next is not executed, and the news takes its time */
static void test_refused(struct vt_devs *d)
{
	struct vt_opt opt = { .no_retry = true };
	struct ib_sge sge;
	struct wire w;

	if (vt_wire_make(&w, d, &opt))
		return;
	sge = vt_sge(&w.t.p.b, &w.t.to, 0, LEN - 1);
	vt_equal(0, vt_recv(&w.t.p.b, 100, &sge, 1), "a receive that is too short");
	sge.length = LEN;
	vt_equal(0, vt_recv(&w.t.p.b, 101, &sge, 1), "a receive");
	w.at = ktime_get();
	vt_wire_send(&w, 1);
	vt_wire_post(&w, IB_WR_RDMA_WRITE, 2, IB_SEND_SIGNALED);
	vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_LOC_LEN_ERR, 100, 1, "too short");
	vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_WR_FLUSH_ERR, 101, 1, "the peer fails");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_REM_INV_REQ_ERR, 1, 2, "too long");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_WR_FLUSH_ERR, 2, 2, "the next");
	vt_ok(vt_is_all(w.t.to.va, PAGE_SIZE, 0), "neither has an effect");
	vt_equal(IB_QPS_ERR, vt_state(&w.t.p.a), "the sender is in ERR");
	vt_violations(1, "a message of 64 bytes for a receive of 63", "too long: reported");
	vt_wire_end(&w);
}

static void one_fault(struct vt_devs *d, const char *how, bool effect)
{
	struct wire w;

	if (vt_wire_make(&w, d, NULL))
		return;
	vt_equal(0, vt_fault(d->a, "wr write 1 rem-op%s qp=%u", how, w.t.p.a.qp->qp_num),
		 "fault: armed");
	w.at = ktime_get();
	vt_wire_send(&w, 1);
	vt_wire_post(&w, IB_WR_RDMA_WRITE, 2, IB_SEND_SIGNALED);
	vt_wire_send(&w, 3);
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 1, 2, "before the fault");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_REM_OP_ERR, 2, 2, "the fault");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_WR_FLUSH_ERR, 3, 2, "behind the fault");
	vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 1, "before the fault");
	vt_ok(vt_none(w.t.p.b.rcq), "behind the fault nothing arrives");
	vt_equal(effect, vt_is_filled(w.t.to.va + RDMA_AT, LEN, 1),
		 "the fault: whether it had its effect");
	vt_wire_end(&w);
}

static void test_fault(struct vt_devs *d)
{
	one_fault(d, "", false);
	one_fault(d, " after", true);
}

/* A completion that is held back, or lost, behind the wire */
static void test_cqe_fault(struct vt_devs *d)
{
	struct wire w;

	if (vt_wire_make(&w, d, NULL))
		return;
	vt_equal(0, vt_fault(d->a, "cqe send 1 delay %llu qp=%u",
			     div_u64(2 * w.delay, 1000), w.t.p.a.qp->qp_num), "fault: armed");
	w.at = ktime_get();
	vt_wire_send(&w, 1);
	vt_wire_send(&w, 2);
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 1, 4, "held back");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 2, 4, "behind it");
	vt_wire_end(&w);
}

/* Either end goes while messages are under way, in both directions */
static void test_destroy(struct vt_devs *d)
{
	struct wire w;
	int i, j;

	for (i = 0; i < 20; i++) {
		if (vt_wire_make(&w, d, NULL))
			return;
		w.at = ktime_get();
		for (j = 0; j < 3; j++) {
			vt_wire_send(&w, j);
			vt_equal(0, vt_recv(&w.t.p.a, j, NULL, 0), "receive posted");
			vt_equal(0, vt_send(&w.t.p.b, j, NULL), "SEND back posted");
		}
		/* Also at the time when they arrive, or their acknowledgments */
		usleep_range(0, 1 + i % 5 * div_u64(w.delay, 2000));
		if (i % 2) {
			vt_wire_drop_mr(&w);
			vt_end_free(&w.t.p.b);
		} else {
			bool good;

			vt_end_free(&w.t.p.a);
			good = in_time(&w, 1);
			there_and_back(&w);
			if (good)
				vt_ok(vt_none(w.t.p.b.rcq), "nothing comes of a QP that is gone");
		}
		vt_wire_end(&w);
	}
}

/* A QP that was reset, and connected anew, has nothing of before on its wire */
static void test_reset(struct vt_devs *d)
{
	struct wire w;
	int i;

	for (i = 0; i < TRIES; i++) {
		bool good;

		if (vt_wire_make(&w, d, NULL))
			return;
		w.at = ktime_get();
		vt_wire_send(&w, 1);
		vt_wire_post(&w, IB_WR_RDMA_READ, 2, IB_SEND_SIGNALED);
		vt_equal(0, vt_to(&w.t.p.a, IB_QPS_RESET), "to RESET");
		good = in_time(&w, 1);
		vt_equal(0, vt_to_init(&w.t.p.a) ?: vt_to_rtr(&w.t.p.a, &w.t.p.b) ?:
			 vt_to_rts(&w.t.p.a), "connected again");
		if (good) {
			there_and_back(&w);
			vt_ok(vt_none(w.t.p.b.rcq), "nothing of before arrives");
			vt_ok(vt_none(w.t.p.a.scq), "nor completes");
			w.at = ktime_get();
			vt_wire_send(&w, 3);
			vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 1, "the next arrives");
			vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 3, 2, "the next");
		}
		vt_wire_end(&w);
		if (good)
			return;
	}
	vt_equal(0, TRIES, "to RESET in time");
}

const struct vt_test vt_wire_fail[] = {
	{ "rnr", test_rnr },
	{ "rnr-over", test_rnr_over },
	{ "lost", test_lost },
	{ "flush", test_flush },
	{ "refused", test_refused },
	{ "fault", test_fault },
	{ "cqe-fault", test_cqe_fault },
	{ "destroy", test_destroy },
	{ "reset", test_reset },
	{}
};

/* ---- acknowledgments that lag (ack_lag), too: memory has to stay from the post on ---- */

/* @delays: how many have passed when the buffer changes; -1: it does not */
static bool one_changed(struct vt_devs *d, int delays, const char *report)
{
	bool good = true;
	struct wire w;

	if (vt_wire_make(&w, d, NULL))
		return true;
	w.at = ktime_get();
	vt_wire_send(&w, 1);
	if (delays > 0)
		vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 1, "lags");
	if (delays >= 0) {
		w.t.from.va[1] ^= 1;
		good = in_time(&w, delays + 1);
	}
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 1, 2, "lags");
	/* If it came too late, nothing is known of it */
	if (good)
		vt_violations(delays >= 0, report, "changed after %d delays: reported", delays);
	vt_wire_end(&w);
	return good;
}

static void test_lags(struct vt_devs *d)
{
	vt_at_least(1, to_vdev(d->a)->config.ack_lag, "the device lags");
	vt_ok(one_changed(d, -1, "has changed"), "unchanged");
	vt_ok(one_changed(d, 0, "has changed before it was sent"), "changed in time");
	vt_ok(one_changed(d, 1, "has changed before it was acknowledged"),
	      "changed in time");
}

const struct vt_test vt_wire_lag[] = {
	{ "lags", test_lags },
	{}
};
