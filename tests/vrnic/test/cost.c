// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of a message: a SEND of 64 bytes is delivered, completed at both ends and polled at
 * both, and its receive is posted again. In a guest whose clock counts instructions a
 * nanosecond is one (tests/vm/run --icount); elsewhere the figures have no meaning.
 */

#include <linux/sched/clock.h>
#include "vrnic_test.h"

#define COUNT	10000
/* About 1,500: kernels differ by the cost of their locks and interrupts */
#define LIMIT	1600

/* One message; its work requests are prepared beforehand, as far as possible */
static __always_inline int one(struct vt_ends *c, const struct ib_send_wr *send,
			       const struct ib_recv_wr *recv)
{
	struct ib_wc wc;

	if (ib_post_recv(c->p.b.qp, recv, NULL) ||
	    ib_post_send(c->p.a.qp, send, NULL) ||
	    ib_poll_cq(c->p.a.scq->cq, 1, &wc) != 1 || wc.status ||
	    ib_poll_cq(c->p.b.rcq->cq, 1, &wc) != 1 || wc.status)
		return -EIO;
	return 0;
}

/* Return: instructions for each message */
static u64 measure(struct vt_ends *c, int flags, bool interrupts)
{
	struct ib_sge to = vt_sge(&c->p.b, &c->to, 0, 64);
	struct ib_sge from = vt_sge(&c->p.a, &c->from, 0, 64);
	struct ib_recv_wr recv = { .sg_list = &to, .num_sge = 1 };
	struct ib_send_wr send = {
		.opcode = IB_WR_SEND, .sg_list = &from, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED | flags,
	};
	int i, ret = 0;
	u64 at;

	if (flags & IB_SEND_INLINE)
		from.addr = (uintptr_t)c->from.va;
	for (i = 0; i < 100; i++)
		ret |= one(c, &send, &recv);
	at = local_clock();
	for (i = 0; i < COUNT; i++) {
		if (interrupts) {
			ib_req_notify_cq(c->p.a.scq->cq, IB_CQ_NEXT_COMP);
			ib_req_notify_cq(c->p.b.rcq->cq, IB_CQ_NEXT_COMP);
		}
		ret |= one(c, &send, &recv);
	}
	at = local_clock() - at;
	vt_equal(0, ret, "messages arrive");
	return at / COUNT;
}

static void test_cost(struct vt_devs *d)
{
	struct vt_opt opt = { .inlined = 64 };
	struct vt_ends c;
	u64 n;

	if (vt_ends_make(&c, d, &opt, PAGE_SIZE))
		return;
	n = measure(&c, 0, false);
	vt_at_most(LIMIT, n, "instructions of a SEND of 64 bytes (%llu)", n);
	n = measure(&c, IB_SEND_INLINE, false);
	vt_at_most(LIMIT, n, "instructions of a SEND of 64 bytes, inline (%llu)", n);
	atomic_set(&c.p.a.scq->called, 0);
	atomic_set(&c.p.b.rcq->called, 0);
	n = measure(&c, 0, true);
	vt_tell("cost: a SEND of 64 bytes with two interrupts, armed each time: %llu instructions",
		n);
	vt_equal(COUNT, atomic_read(&c.p.a.scq->called), "an interrupt for each SEND");
	vt_equal(COUNT, atomic_read(&c.p.b.rcq->called), "an interrupt for each receive");
	vt_ends_free(&c);
}

const struct vt_test vt_cost[] = {
	{ "cost", test_cost },
	{}
};
