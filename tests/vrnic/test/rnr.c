// SPDX-License-Identifier: GPL-2.0
/*
 * Retries: the other end has no receive (RNR), or does not answer. The time until the failure
 * is known, the number of attempts, and the remaining state of both.
 */

#include "vrnic_test.h"

static u64 rnr_count(struct vt_end *e)
{
	return READ_ONCE(to_vqp(e->qp)->counts.rnr);
}

static u64 lost_count(struct vt_end *e)
{
	return READ_ONCE(to_vqp(e->qp)->counts.lost);
}

static u64 us_since(ktime_t at)
{
	return ktime_us_delta(ktime_get(), at);
}

static void test_waits(struct vt_devs *d)
{
	/* Coded so: 10.24 ms (InfiniBand Architecture, RNR NAK timer field) */
	struct vt_opt opt = { .min_rnr_timer = 20, .rnr_retry = 6 };
	struct vt_pair p;
	struct ib_wc wc;
	ktime_t at;

	if (vt_pair_make(&p, d, &opt))
		return;
	at = ktime_get();
	vt_equal(0, vt_send(&p.a, 1, NULL), "SEND posted, no receive is there");
	vt_equal(0, vt_send(&p.a, 2, NULL), "and one behind it");
	vt_ok(vt_none(p.a.scq), "it waits");
	vt_equal(1, rnr_count(&p.a), "one RNR");
	vt_equal(0, vt_recv(&p.b, 3, NULL, 0), "receive posted");
	vt_equal(0, vt_recv(&p.b, 4, NULL, 0), "receive posted");
	vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "it goes on");
	vt_at_least(10240, us_since(at), "not before the responder's timer");
	vt_equal(1, wc.wr_id, "the first");
	vt_expect(p.a.scq, IB_WC_SUCCESS, &wc, "and the second");
	vt_equal(2, wc.wr_id, "the second");
	vt_expect(p.b.rcq, IB_WC_SUCCESS, &wc, "both arrived");
	vt_equal(3, wc.wr_id, "in their order");
	vt_expect(p.b.rcq, IB_WC_SUCCESS, NULL, "both arrived");
	vt_pair_free(&p);
}

static void exhausted(struct vt_devs *d, int retry)
{
	/* 1.28 ms */
	struct vt_opt opt = { .min_rnr_timer = 14, .rnr_retry = retry,
			      .retry_cnt = 7, .no_retry = true };
	struct vt_pair p;
	struct ib_wc wc;
	ktime_t at;

	if (vt_pair_make(&p, d, &opt))
		return;
	at = ktime_get();
	vt_equal(0, vt_send(&p.a, 1, NULL), "SEND posted");
	vt_equal(0, vt_post(&p.a, &(struct vt_wr) { .op = IB_WR_SEND, .id = 2 }),
		 "and one behind it");
	vt_expect(p.a.scq, IB_WC_RNR_RETRY_EXC_ERR, &wc, "rnr_retry %d: fails", retry);
	vt_at_least(retry * 1280, us_since(at), "rnr_retry %d: after so many waits",
		    retry);
	vt_equal(1, wc.wr_id, "rnr_retry %d: wr_id", retry);
	vt_equal(retry + 1, rnr_count(&p.a), "rnr_retry %d: tries", retry);
	vt_expect(p.a.scq, IB_WC_WR_FLUSH_ERR, &wc, "rnr_retry %d: the next is flushed",
		  retry);
	vt_equal(2, wc.wr_id, "rnr_retry %d: it is", retry);
	vt_equal(IB_QPS_ERR, vt_state(&p.a), "rnr_retry %d: the sender is in ERR", retry);
	vt_equal(IB_QPS_RTS, vt_state(&p.b), "rnr_retry %d: the other is not", retry);
	vt_pair_free(&p);
}

static void test_exhausted(struct vt_devs *d)
{
	exhausted(d, 0);
	exhausted(d, 2);
}

static void test_endless(struct vt_devs *d)
{
	struct vt_opt opt = { .min_rnr_timer = 1, .rnr_retry = 7 };
	struct vt_pair p;

	if (vt_pair_make(&p, d, &opt))
		return;
	vt_equal(0, vt_send(&p.a, 1, NULL), "SEND posted");
	vt_ok(vt_until(rnr_count(&p.a) > 100), "rnr_retry 7: tried a hundred times");
	vt_ok(vt_none(p.a.scq), "rnr_retry 7: and still");
	vt_equal(0, vt_recv(&p.b, 1, NULL, 0), "receive posted");
	vt_expect(p.a.scq, IB_WC_SUCCESS, NULL, "rnr_retry 7: until there is a receive");
	vt_pair_free(&p);
}

/* Tries are of a message; the next has all of them */
static void test_again(struct vt_devs *d)
{
	/* 81.92 ms */
	struct vt_opt opt = { .min_rnr_timer = 26, .rnr_retry = 1 };
	struct vt_pair p;
	int i;

	if (vt_pair_make(&p, d, &opt))
		return;
	for (i = 0; i < 3; i++) {
		vt_equal(0, vt_send(&p.a, i, NULL), "SEND posted");
		vt_equal(0, vt_recv(&p.b, i, NULL, 0), "receive posted");
		vt_expect(p.a.scq, IB_WC_SUCCESS, NULL, "message %d, tried twice", i);
		vt_equal(i + 1, rnr_count(&p.a), "one RNR each");
	}
	vt_pair_free(&p);
}

/* The other end does not answer, as @how has seen to */
static void lost(struct vt_devs *d, const char *why,
		 int (*how)(struct vt_devs *d, struct vt_end *b))
{
	/* 1.05 ms */
	struct vt_opt opt = { .timeout = 8, .retry_cnt = 2 };
	struct vt_pair p;
	struct ib_wc wc;
	ktime_t at;

	if (vt_pair_make(&p, d, &opt))
		return;
	vt_equal(0, vt_recv(&p.b, 1, NULL, 0), "receive posted");
	vt_equal(0, how(d, &p.b), "%s: it is", why);
	at = ktime_get();
	vt_equal(0, vt_send(&p.a, 1, NULL), "%s: SEND posted", why);
	vt_expect(p.a.scq, IB_WC_RETRY_EXC_ERR, &wc, "%s: fails", why);
	vt_at_least(2 * 1048, us_since(at), "%s: after two waits", why);
	vt_equal(3, lost_count(&p.a), "%s: tries", why);
	vt_equal(IB_QPS_ERR, vt_state(&p.a), "%s: the sender is in ERR", why);
	vt_events_were(&p.a, 0, IB_EVENT_QP_FATAL, "%s: it was told by the completion",
		       why);
	vt_pair_free(&p);
}

static int gone(struct vt_devs *d, struct vt_end *b)
{
	vt_end_free(b);
	return 0;
}

static int in_err(struct vt_devs *d, struct vt_end *b)
{
	return vt_to(b, IB_QPS_ERR);
}

static int in_reset(struct vt_devs *d, struct vt_end *b)
{
	return vt_to(b, IB_QPS_RESET);
}

static int in_init(struct vt_devs *d, struct vt_end *b)
{
	return vt_to(b, IB_QPS_RESET) ?: vt_to_init(b);
}

/* It is connected to itself now, and has a receive */
static int elsewhere(struct vt_devs *d, struct vt_end *b)
{
	int ret = vt_to(b, IB_QPS_RESET) ?: vt_connect(b, b);

	return ret ?: vt_recv(b, 1, NULL, 0);
}

static int port_down(struct vt_devs *d, struct vt_end *b)
{
	return vt_fault(d->b, "port down");
}

static int own_port_down(struct vt_devs *d, struct vt_end *b)
{
	return vt_fault(d->a, "port down");
}

static void test_lost(struct vt_devs *d)
{
	lost(d, "peer gone", gone);
	lost(d, "peer in ERR", in_err);
	lost(d, "peer in RESET", in_reset);
	lost(d, "peer in INIT", in_init);
	lost(d, "peer connected elsewhere", elsewhere);
	lost(d, "peer's port down", port_down);
	vt_equal(0, vt_fault(d->b, "port up"), "port up");
	lost(d, "own port down", own_port_down);
	vt_equal(0, vt_fault(d->a, "port up"), "port up");
}

/* The port is up again in time */
static void test_back(struct vt_devs *d)
{
	/* 268 ms, and so about two seconds in all */
	struct vt_opt opt = { .timeout = 16, .retry_cnt = 7 };
	struct vt_pair p;
	struct ib_wc wc;

	if (vt_pair_make(&p, d, &opt))
		return;
	vt_equal(0, vt_recv(&p.b, 5, NULL, 0), "receive posted");
	vt_equal(0, vt_fault(d->b, "port down"), "port down");
	vt_equal(0, vt_send(&p.a, 1, NULL), "SEND posted");
	vt_ok(vt_none(p.a.scq), "it waits");
	vt_equal(1, lost_count(&p.a), "it was tried");
	vt_equal(0, vt_fault(d->b, "port up"), "port up");
	vt_expect(p.a.scq, IB_WC_SUCCESS, NULL, "the port is back: it goes on");
	vt_expect(p.b.rcq, IB_WC_SUCCESS, &wc, "and arrives");
	vt_equal(5, wc.wr_id, "once");
	vt_ok(vt_none(p.b.rcq), "and not twice");
	vt_equal(IB_QPS_RTS, vt_state(&p.a), "the sender is in RTS");
	vt_pair_free(&p);
}

const struct vt_test vt_rnr[] = {
	{ "waits", test_waits },
	{ "exhausted", test_exhausted },
	{ "endless", test_endless },
	{ "again", test_again },
	{ "lost", test_lost },
	{ "back", test_back },
	{}
};
