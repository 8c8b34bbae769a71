// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgments that take time (ack_lag=4): work that has been executed
 * completes later, in its order; until then its memory has to stay as it was,
 * for hardware may send it once more.
 */

#include "vrnic_test.h"

struct lag {
	struct ib_pd *pd;	/* of the end a */
	struct vt_pair p;
	struct vt_buf from;
	struct vt_buf to;
	struct ib_mr *mr;
};

static void lag_end(struct lag *l)
{
	if (!IS_ERR_OR_NULL(l->mr))
		l->mr->device->ops.dereg_mr(l->mr, NULL);
	vt_pair_free(&l->p);
	vt_buf_free(&l->from);
	vt_buf_free(&l->to);
	if (!IS_ERR_OR_NULL(l->pd))
		ib_dealloc_pd(l->pd);
}

/* @owner: the module that the end a is of, as the device sees it */
static int lag_make(struct lag *l, struct vt_devs *d, const char *owner)
{
	struct vt_opt opt = { .inlined = 64 };
	int i;

	memset(l, 0, sizeof(*l));
	if (!vt_equal(4, to_vdev(d->a)->config.ack_lag, "the device lags"))
		return -EINVAL;
	l->pd = __ib_alloc_pd(d->a, 0, owner);
	if (!vt_ok(!IS_ERR(l->pd), "PD made"))
		return -ENOMEM;
	if (!vt_equal(0, vt_end_make(&l->p.b, d->b, &opt), "end made"))
		goto err;
	opt.pd = l->pd;
	if (!vt_equal(0, vt_end_make(&l->p.a, d->a, &opt), "end made") ||
	    !vt_equal(0, vt_connect(&l->p.a, &l->p.b), "connected"))
		goto err;
	if (vt_buf_make(&l->from, d->a, PAGE_SIZE) ||
	    vt_buf_make(&l->to, d->b, PAGE_SIZE))
		goto err;
	l->mr = d->b->ops.get_dma_mr(l->p.b.pd, IB_ACCESS_LOCAL_WRITE |
				     IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	if (!vt_ok(!IS_ERR(l->mr), "MR made"))
		goto err;
	for (i = 0; i < 16; i++) {
		struct ib_sge sge = vt_sge(&l->p.b, &l->to, 0, PAGE_SIZE);

		vt_equal(0, vt_recv(&l->p.b, i, &sge, 1), "receive posted");
	}
	vt_fill(l->from.va, PAGE_SIZE, 1);
	return 0;
err:
	lag_end(l);
	return -ENOMEM;
}

static void test_late(struct vt_devs *d)
{
	struct ib_sge sge;
	struct ib_wc wc;
	struct lag l;
	int i;

	if (lag_make(&l, d, KBUILD_MODNAME))
		return;
	for (i = 0; i < 10; i++) {
		sge = vt_sge(&l.p.a, &l.from, i * 64, 64);
		vt_equal(0, vt_send(&l.p.a, i, &sge), "SEND posted");
		vt_expect(l.p.b.rcq, IB_WC_SUCCESS, &wc, "SEND %d has arrived", i);
		/* The timer for the last may have come, but nothing before it */
		vt_equal(i, wc.wr_id, "SEND %d: the receive's wr_id", i);
	}
	for (i = 0; i < 10; i++) {
		vt_expect(l.p.a.scq, IB_WC_SUCCESS, &wc, "SEND %d completes", i);
		vt_equal(i, wc.wr_id, "SEND %d: wr_id", i);
	}
	vt_ok(vt_none(l.p.a.scq), "each completes once");
	lag_end(&l);
}

/* @touch: the buffer is changed at once, or when the completion has come */
static void one(struct vt_devs *d, const char *what, enum ib_wr_opcode op, int flags,
		bool touch, unsigned int expected)
{
	unsigned long irq;
	struct ib_sge sge;
	struct lag l;
	int ret;

	if (lag_make(&l, d, KBUILD_MODNAME))
		return;
	sge = vt_sge(&l.p.a, &l.from, 0, 64);
	if (flags & IB_SEND_INLINE)
		sge.addr = (uintptr_t)l.from.va;
	/* The timer that acknowledges comes as an interrupt of this CPU */
	local_irq_save(irq);
	ret = vt_post(&l.p.a, &(struct vt_wr) {
		.op = op, .flags = flags | IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .raddr = l.to.dma, .rkey = l.mr->rkey });
	if (touch)
		l.from.va[63] ^= 1;
	local_irq_restore(irq);
	vt_equal(0, ret, "%s: posted", what);
	vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "%s: completes", what);
	vt_violations(expected, "has changed before it was acknowledged", "%s: reported",
		      what);
	l.from.va[63] ^= 1;
	lag_end(&l);
}

static void test_changed(struct vt_devs *d)
{
	one(d, "SEND, changed", IB_WR_SEND, 0, true, 1);
	one(d, "SEND, unchanged", IB_WR_SEND, 0, false, 0);
	one(d, "WRITE, changed", IB_WR_RDMA_WRITE, 0, true, 1);
	one(d, "WRITE, unchanged", IB_WR_RDMA_WRITE, 0, false, 0);
	one(d, "inline SEND, changed", IB_WR_SEND, IB_SEND_INLINE, true, 0);
	one(d, "READ, changed", IB_WR_RDMA_READ, 0, true, 0);
}

/*
 * A SEND whose buffer is changed when a message has come after it: an NVMe host may
 * do so, and nobody else. @answer: whether one comes
 */
static void after_answer(struct vt_devs *d, const char *owner, enum ib_wr_opcode op,
			 bool answer, unsigned int expected)
{
	unsigned long irq;
	struct ib_sge sge;
	struct lag l;
	int ret;

	if (lag_make(&l, d, owner))
		return;
	vt_equal(0, vt_recv(&l.p.a, 1, NULL, 0), "receive posted");
	sge = vt_sge(&l.p.a, &l.from, 0, 64);
	local_irq_save(irq);
	ret = vt_post(&l.p.a, &(struct vt_wr) {
		.op = op, .flags = IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .raddr = l.to.dma, .rkey = l.mr->rkey });
	if (answer)
		ret |= vt_send(&l.p.b, 1, NULL);
	l.from.va[63] ^= 1;
	local_irq_restore(irq);
	vt_equal(0, ret, "%s, opcode %d: posted", owner, op);
	vt_equal(answer, !vt_none(l.p.a.rcq), "%s, opcode %d: answered", owner, op);
	vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "%s, opcode %d: completes", owner, op);
	vt_violations(expected, "has changed before it was acknowledged",
		      "%s, opcode %d, answered %d: reported", owner, op, answer);
	lag_end(&l);
}

static void test_answered(struct vt_devs *d)
{
	after_answer(d, KBUILD_MODNAME, IB_WR_SEND, true, 1);
	after_answer(d, "nvmet_rdma", IB_WR_SEND, true, 1);
	after_answer(d, "nvme_rdma", IB_WR_SEND, true, 0);
	after_answer(d, "nvme_rdma", IB_WR_SEND, false, 1);
	after_answer(d, "nvme_rdma", IB_WR_RDMA_WRITE, true, 1);
}

const struct vt_test vt_lag[] = {
	{ "late", test_late },
	{ "changed", test_changed },
	{ "answered", test_answered },
	{}
};
