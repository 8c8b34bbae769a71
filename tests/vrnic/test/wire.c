// SPDX-License-Identifier: GPL-2.0
/*
 * A wire that takes time (delay_ns): a message takes effect one delay after its post, its work
 * request completes after two, all in their order.
 */

#include "wire.h"

/**
 * vt_wire_drop_mr() - the memory region of the end b goes
 * @w: the ends
 */
void vt_wire_drop_mr(struct wire *w)
{
	if (!IS_ERR_OR_NULL(w->mr))
		w->mr->device->ops.dereg_mr(w->mr, NULL);
	w->mr = NULL;
}

/**
 * vt_wire_end() - both ends go
 * @w: they
 */
void vt_wire_end(struct wire *w)
{
	vt_wire_drop_mr(w);
	vt_ends_free(&w->t);
}

/**
 * vt_wire_make() - two ends, with 20 receives of the end b unless it has no retries
 * @w: they
 * @d: their devices
 * @opt: options of both, or NULL
 *
 * Return: 0 or an error, which a check reports
 */
int vt_wire_make(struct wire *w, struct vt_devs *d, const struct vt_opt *opt)
{
	struct ib_sge sge;
	int i;

	memset(w, 0, sizeof(*w));
	w->delay = to_vdev(d->a)->config.delay_ns;
	if (!vt_at_least(20 * NSEC_PER_MSEC, w->delay, "the wire takes time") ||
	    vt_ends_make(&w->t, d, opt, PAGE_SIZE))
		return -EINVAL;
	w->mr = d->b->ops.get_dma_mr(w->t.p.b.pd, IB_ACCESS_LOCAL_WRITE |
				     IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	if (!vt_ok(!IS_ERR(w->mr), "MR made")) {
		vt_wire_end(w);
		return -ENOMEM;
	}
	vt_fill(w->t.from.va, LEN, 1);
	for (i = 0; i < (opt && opt->no_retry ? 0 : 20); i++) {
		sge = vt_sge(&w->t.p.b, &w->t.to, 0, LEN);
		vt_equal(0, vt_recv(&w->t.p.b, 100 + i, &sge, 1), "receive posted");
	}
	return 0;
}

/**
 * vt_wire_post() - post a work request to the end a
 * @w: the ends
 * @op: what: of LEN bytes
 * @id: its wr_id
 * @flags: its send_flags
 */
void vt_wire_post(struct wire *w, enum ib_wr_opcode op, u64 id, int flags)
{
	struct ib_sge sge = vt_sge(&w->t.p.a, &w->t.from, 0, LEN);

	if (flags & IB_SEND_INLINE)
		sge.addr = (uintptr_t)w->t.from.va;
	vt_equal(0, vt_post(&w->t.p.a, &(struct vt_wr) {
		.op = op, .id = id, .flags = flags, .sge = &sge, .num_sge = 1,
		.raddr = w->t.to.dma + RDMA_AT, .rkey = w->mr->rkey }), "%llu: posted", id);
}

/**
 * vt_wire_comes() - check the next completion
 * @w: the ends
 * @cq: a CQ of theirs
 * @status: its status
 * @id: its wr_id
 * @delays: how many it has taken at least
 * @what: the check's name
 *
 * Return: whether it has not taken one delay more
 */
bool vt_wire_comes(struct wire *w, struct vt_cq *cq, enum ib_wc_status status, u64 id,
		   int delays, const char *what)
{
	struct ib_wc wc;

	vt_expect(cq, status, &wc, "%s: comes", what);
	vt_at_least(delays * w->delay, ktime_get() - w->at, "%s: after %d delays", what,
		    delays);
	vt_equal(id, wc.wr_id, "%s: wr_id", what);
	return in_time(w, delays + 1);
}

/* @op: of a message that takes a receive, or of a WRITE, whose data is what is seen of it */
static bool one_is_late(struct vt_devs *d, enum ib_wr_opcode op, const char *what)
{
	bool soon = true;
	struct wire w;
	u8 *to;

	if (vt_wire_make(&w, d, NULL))
		return true;
	to = w.t.to.va + (op == IB_WR_SEND ? 0 : RDMA_AT);
	ib_req_notify_cq(w.t.p.b.rcq->cq, IB_CQ_NEXT_COMP);
	w.at = ktime_get();
	vt_wire_post(&w, op, 7, IB_SEND_SIGNALED);
	vt_ok(vt_until(READ_ONCE(to[LEN - 1])), "%s: its data arrives", what);
	vt_at_least(w.delay, ktime_get() - w.at, "%s: the data after one delay", what);
	if (op == IB_WR_SEND) {
		soon = vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 1, what);
		vt_ok(vt_until(atomic_read(&w.t.p.b.rcq->called)), "%s: interrupts", what);
		vt_ok(READ_ONCE(w.t.p.b.rcq->hard), "%s: in a hard interrupt", what);
	}
	soon &= vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 7, 2, what);
	vt_ok(vt_is_filled(to, LEN, 1), "%s: the data is right", what);
	vt_wire_end(&w);
	return soon;
}

static void test_late(struct vt_devs *d)
{
	int i;

	for (i = 0; i < TRIES && !one_is_late(d, IB_WR_SEND, "SEND"); i++)
		;
	vt_at_most(TRIES - 1, i, "SEND: not later than it has to");
	for (i = 0; i < TRIES && !one_is_late(d, IB_WR_RDMA_WRITE, "WRITE"); i++)
		;
	vt_at_most(TRIES - 1, i, "WRITE: not later than it has to");
}

static void test_read(struct vt_devs *d)
{
	struct wire w;
	int i;

	for (i = 0; i < TRIES; i++) {
		bool soon;

		if (vt_wire_make(&w, d, NULL))
			return;
		vt_fill(w.t.to.va + RDMA_AT, LEN, 2);
		w.at = ktime_get();
		vt_wire_post(&w, IB_WR_RDMA_READ, 3, IB_SEND_SIGNALED);
		soon = vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 3, 2, "READ");
		vt_ok(vt_is_filled(w.t.from.va, LEN, 2), "READ: the data is there");
		vt_wire_end(&w);
		if (soon)
			break;
	}
	vt_at_most(TRIES - 1, i, "READ: not later than it has to");
}

/* Without anybody to tell, there is no completion, and the next one brings it along */
static void test_unsignaled(struct vt_devs *d)
{
	struct wire w;
	int i;

	if (vt_wire_make(&w, d, NULL))
		return;
	w.at = ktime_get();
	for (i = 0; i < 3; i++)
		vt_wire_post(&w, IB_WR_SEND, i, 0);
	for (i = 0; i < 3; i++)
		vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100 + i, 1, "unsignaled SEND");
	there_and_back(&w);
	vt_ok(vt_none(w.t.p.a.scq), "unsignaled: no completion");
	w.at = ktime_get();
	vt_wire_send(&w, 9);
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 9, 2, "signaled SEND behind them");
	vt_wire_end(&w);
}

/* The device reads data when it arrives; until the completion it is the device's */
static void one_change(struct vt_devs *d, int flags, u32 seed)
{
	struct vt_opt opt = { .inlined = LEN };
	struct wire w;
	int i;

	for (i = 0; i < TRIES; i++) {
		bool good;

		if (vt_wire_make(&w, d, &opt))
			return;
		w.at = ktime_get();
		vt_wire_post(&w, IB_WR_SEND, 1, IB_SEND_SIGNALED | flags);
		vt_fill(w.t.from.va, LEN, 2);
		good = in_time(&w, 1);
		vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 1, "changed SEND");
		if (good)
			vt_ok(vt_is_filled(w.t.to.va, LEN, seed),
			      "flags %#x: data as of its arrival, inline data as of its post",
			      flags);
		vt_wire_end(&w);
		if (good)
			return;
	}
	vt_equal(0, TRIES, "changed in time");
}

static void test_changed(struct vt_devs *d)
{
	one_change(d, 0, 2);
	one_change(d, IB_SEND_INLINE, 1);
}

/* All kinds, one by one; no more READs than are allowed at once */
static void test_order(struct vt_devs *d)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_SEND, IB_WR_RDMA_WRITE,
	};
	struct ib_wc wc;
	struct wire w;
	int i;

	if (vt_wire_make(&w, d, NULL))
		return;
	w.at = ktime_get();
	for (i = 0; i < 30; i++)
		vt_wire_post(&w, ops[i % ARRAY_SIZE(ops)], i, IB_SEND_SIGNALED);
	for (i = 0; i < 30; i++) {
		vt_expect(w.t.p.a.scq, IB_WC_SUCCESS, &wc, "work request %d completes", i);
		vt_equal(i, wc.wr_id, "work request %d: in its order", i);
	}
	/* 6 READs, two at once */
	vt_at_least(6 * w.delay, ktime_get() - w.at, "each two READs take two delays");
	for (i = 0; i < 12; i++) {
		vt_expect(w.t.p.b.rcq, IB_WC_SUCCESS, &wc, "message %d arrives", i);
		vt_equal(100 + i, wc.wr_id, "message %d: in its order", i);
	}
	vt_ok(vt_none(w.t.p.b.rcq), "each once");
	vt_wire_end(&w);
}

/* Work of the device alone takes effect between the messages around it */
static void test_local(struct vt_devs *d)
{
	struct scatterlist sg;
	struct ib_sge sge;
	struct ib_mr *mr;
	struct wire w;
	int i;

	if (vt_wire_make(&w, d, NULL))
		return;
	mr = ib_alloc_mr(w.t.p.a.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!vt_ok(!IS_ERR(mr), "MR made"))
		goto out;
	sg_init_table(&sg, 1);
	sg_set_page(&sg, virt_to_page(w.t.from.va), PAGE_SIZE, 0);
	sg_dma_address(&sg) = w.t.from.dma;
	sg_dma_len(&sg) = PAGE_SIZE;
	for (i = 0; i < TRIES; i++) {
		w.at = ktime_get();
		if (vt_reg(&w.t.p.a, mr, &sg, 1, IB_ACCESS_LOCAL_WRITE))
			goto out_mr;
		if (in_time(&w, 1))
			break;
		vt_inv(&w.t.p.a, mr->rkey);
	}
	vt_at_most(TRIES - 1, i, "REG_MR alone needs no message");
	w.at = ktime_get();
	sge = (struct ib_sge) { .addr = mr->iova, .length = LEN, .lkey = mr->lkey };
	vt_equal(0, vt_send(&w.t.p.a, 1, &sge), "SEND from a region posted");
	vt_equal(0, vt_post(&w.t.p.a, &(struct vt_wr) {
		.op = IB_WR_LOCAL_INV, .id = 2, .flags = IB_SEND_SIGNALED,
		.imm = mr->rkey }), "its LOCAL_INV posted");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 1, 2, "SEND from a region");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 2, 2, "LOCAL_INV behind it");
	vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 1, "SEND from a region arrives");
	vt_ok(vt_is_filled(w.t.to.va, LEN, 1), "SEND from a region: its data");
out_mr:
	ib_dereg_mr(mr);
out:
	vt_wire_end(&w);
}

static void test_reads(struct vt_devs *d)
{
	struct wire w;

	if (vt_wire_make(&w, d, NULL))
		return;
	w.at = ktime_get();
	vt_wire_post(&w, IB_WR_RDMA_READ, 1, IB_SEND_SIGNALED);
	vt_wire_post(&w, IB_WR_RDMA_READ, 2, IB_SEND_SIGNALED);
	vt_wire_post(&w, IB_WR_RDMA_READ, 3, IB_SEND_SIGNALED);
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 1, 2, "READ 1 of 2 at once");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 2, 2, "READ 2 of 2 at once");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 3, 4, "READ 3 waits for an answer");
	w.at = ktime_get();
	vt_wire_post(&w, IB_WR_RDMA_READ, 4, 0);
	vt_wire_post(&w, IB_WR_SEND, 5, IB_SEND_SIGNALED | IB_SEND_FENCE);
	vt_wire_comes(&w, w.t.p.b.rcq, IB_WC_SUCCESS, 100, 3, "fenced SEND waits for the READ");
	vt_wire_comes(&w, w.t.p.a.scq, IB_WC_SUCCESS, 5, 4, "fenced SEND");
	vt_wire_end(&w);
}

const struct vt_test vt_wire[] = {
	{ "late", test_late },
	{ "read", test_read },
	{ "unsignaled", test_unsignaled },
	{ "changed", test_changed },
	{ "order", test_order },
	{ "local", test_local },
	{ "reads", test_reads },
	{}
};
