// SPDX-License-Identifier: GPL-2.0
/*
 * Differences of iWARP (link=iwarp): the peer writes the sink of an RDMA READ, a READ may
 * invalidate it, a message is sent once it has left, and a sender of more messages than its
 * peer has receives for loses the connection.
 */

#include <linux/inetdevice.h>
#include <rdma/iw_cm.h>
#include "vrnic_test.h"

#define PORT	4420
#define BYTES	(2 * PAGE_SIZE)
#define LOCAL	IB_ACCESS_LOCAL_WRITE
#define SINK	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define ALL	(SINK | IB_ACCESS_REMOTE_READ)

enum { ACTIVE, PASSIVE };

/* A connection, made by iw_cm: a asks, b listens */
struct iw {
	struct vt_pair p;
	struct iw_cm_id *listener;
	struct iw_cm_id *id[2];
	int status;		/* the status of a's request */
	atomic_t events[2][IW_CM_EVENT_CLOSE + 1];
	struct vt_buf buf;	/* of a */
	struct vt_mem mem;	/* of a, in its @mr */
	struct ib_mr *mr;
	struct vt_mem far;	/* of b, in its @far_mr */
	struct ib_mr *far_mr;
};

/* ---- made and gone ---- */

static int called(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct iw *t = id->context;
	int side = id == t->id[ACTIVE] ? ACTIVE : PASSIVE;

	if (event->event == IW_CM_EVENT_CONNECT_REQUEST)
		WRITE_ONCE(t->id[PASSIVE], id);
	if (event->event == IW_CM_EVENT_CONNECT_REPLY)
		t->status = event->status;
	smp_mb__before_atomic();	/* a reader that sees the count sees the above */
	atomic_inc(&t->events[side][event->event]);
	return 0;
}

static bool was_told(struct iw *t, int side, enum iw_cm_event_type event)
{
	return vt_until(atomic_read(&t->events[side][event]));
}

static void set_address(struct sockaddr_storage *to, struct ib_device *dev, u16 port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)to;

	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	in->sin_addr.s_addr = inet_select_addr(to_vdev(dev)->ndev, 0,
					       RT_SCOPE_UNIVERSE);
}

static int listen(struct iw *t)
{
	t->listener = iw_create_cm_id(t->p.b.dev, called, t);
	if (IS_ERR(t->listener))
		return PTR_ERR(t->listener);
	set_address(&t->listener->local_addr, t->p.b.dev, PORT);
	return iw_cm_listen(t->listener, 4);
}

static int ask(struct iw *t)
{
	struct iw_cm_conn_param param = { .ord = 2, .ird = 2 };

	t->id[ACTIVE] = iw_create_cm_id(t->p.a.dev, called, t);
	if (IS_ERR(t->id[ACTIVE]))
		return PTR_ERR(t->id[ACTIVE]);
	set_address(&t->id[ACTIVE]->local_addr, t->p.a.dev, 0);
	set_address(&t->id[ACTIVE]->remote_addr, t->p.b.dev, PORT);
	param.qpn = t->p.a.qp->qp_num;
	return iw_cm_connect(t->id[ACTIVE], &param);
}

static int answer(struct iw *t)
{
	struct iw_cm_conn_param param = { .ord = 2, .ird = 2 };

	param.qpn = t->p.b.qp->qp_num;
	return iw_cm_accept(t->id[PASSIVE], &param);
}

static bool is_up(struct iw *t)
{
	return vt_equal(0, vt_to_init(&t->p.a) ?: vt_to_init(&t->p.b), "QPs in INIT") &&
	       vt_equal(0, listen(t), "b listens") &&
	       vt_equal(0, ask(t), "a asks") &&
	       vt_ok(was_told(t, PASSIVE, IW_CM_EVENT_CONNECT_REQUEST), "b is asked") &&
	       vt_equal(0, answer(t), "b accepts") &&
	       vt_ok(was_told(t, PASSIVE, IW_CM_EVENT_ESTABLISHED), "b is told") &&
	       vt_ok(was_told(t, ACTIVE, IW_CM_EVENT_CONNECT_REPLY), "a is told") &&
	       vt_equal(0, t->status, "that they are connected");
}

static bool has_memory(struct iw *t)
{
	if (vt_buf_make(&t->buf, t->p.a.dev, BYTES) ||
	    vt_mem_make(&t->mem, t->p.a.dev, 2) || vt_mem_make(&t->far, t->p.b.dev, 2))
		return false;
	t->mr = ib_alloc_mr(t->p.a.pd, IB_MR_TYPE_MEM_REG, 2);
	t->far_mr = ib_alloc_mr(t->p.b.pd, IB_MR_TYPE_MEM_REG, 2);
	return vt_ok(!IS_ERR(t->mr) && !IS_ERR(t->far_mr), "MRs made") &&
	       !vt_reg(&t->p.b, t->far_mr, t->far.sg, 2, ALL);
}

/* A connection goes, or one that was not made */
static void iw_end(struct iw *t)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!IS_ERR_OR_NULL(t->id[i]))
			iw_destroy_cm_id(t->id[i]);
	}
	if (!IS_ERR_OR_NULL(t->listener))
		iw_destroy_cm_id(t->listener);
	if (!IS_ERR_OR_NULL(t->mr))
		vt_equal(0, ib_dereg_mr(t->mr), "MR gone");
	if (!IS_ERR_OR_NULL(t->far_mr))
		vt_equal(0, ib_dereg_mr(t->far_mr), "MR gone");
	vt_pair_free(&t->p);
	vt_buf_free(&t->buf);
	vt_mem_free(&t->mem);
	vt_mem_free(&t->far);
	memset(t, 0, sizeof(*t));
}

static int iw_make(struct iw *t, struct vt_devs *d)
{
	memset(t, 0, sizeof(*t));
	if (vt_equal(0, vt_end_make(&t->p.a, d->a, NULL) ?:
			vt_end_make(&t->p.b, d->b, NULL), "two QPs") &&
	    is_up(t) && has_memory(t)) {
		vt_fill(t->far.va, BYTES, 1);
		memset(t->mem.va, 0x5a, BYTES);
		return 0;
	}
	iw_end(t);
	return -ENOTCONN;
}

/* Both ends of a connection that is over */
static void is_over(struct iw *t, const char *what)
{
	vt_ok(vt_until(vt_state(&t->p.a) == IB_QPS_ERR), "%s: a is in ERR", what);
	vt_ok(vt_until(vt_state(&t->p.b) == IB_QPS_ERR), "%s: b is in ERR", what);
	vt_ok(was_told(t, ACTIVE, IW_CM_EVENT_CLOSE), "%s: a is told of it", what);
	vt_ok(was_told(t, PASSIVE, IW_CM_EVENT_CLOSE), "%s: b is told of it", what);
}

static int post(struct iw *t, enum ib_wr_opcode op, struct ib_sge *sge, int n)
{
	return vt_post(&t->p.a, &(struct vt_wr) {
		.op = op, .flags = IB_SEND_SIGNALED, .sge = sge, .num_sge = n,
		.raddr = t->far_mr->iova, .rkey = t->far_mr->rkey });
}

static struct ib_sge in_mr(struct iw *t)
{
	return (struct ib_sge) { t->mr->iova, BYTES, t->mr->lkey };
}

/* ---- the device's description of itself ---- */

static void test_caps(struct vt_devs *d)
{
	struct vt_opt opt = { .integrity = true };
	struct ib_mr *mr;
	struct vt_end e;

	vt_ok(rdma_protocol_iwarp(d->a, VRNIC_PORT), "it is iWARP");
	vt_equal(1, d->a->attrs.max_sge_rd, "a READ has one SGE");
	vt_equal(0, d->a->attrs.kernel_cap_flags & IBK_INTEGRITY_HANDOVER,
		 "no signatures");
	vt_equal((u64)-EOPNOTSUPP, vt_end_make(&e, d->a, &opt),
		 "a QP for signatures: refused");
	if (!vt_equal(0, vt_end_make(&e, d->a, NULL), "a QP"))
		return;
	mr = ib_alloc_mr_integrity(e.pd, 1, 1);
	vt_equal((u64)-EOPNOTSUPP, PTR_ERR_OR_ZERO(mr), "a signature MR: refused");
	vt_end_free(&e);
}

/* ---- a connection ---- */

static void test_data(struct vt_devs *d)
{
	struct ib_sge sge, recv;
	struct ib_wc wc;
	struct iw t;

	if (iw_make(&t, d))
		return;
	vt_equal(IB_QPS_RTS, vt_state(&t.p.a), "a is in RTS");
	vt_equal(IB_QPS_RTS, vt_state(&t.p.b), "b is in RTS");
	vt_fill(t.buf.va, BYTES, 2);
	sge = vt_sge(&t.p.a, &t.buf, 0, BYTES);
	vt_equal(0, post(&t, IB_WR_RDMA_WRITE, &sge, 1), "WRITE posted");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "WRITE completes");
	vt_ok(vt_is_filled(t.far.va, BYTES, 2), "WRITE: the data");

	vt_fill(t.buf.va, BYTES, 3);
	recv = (struct ib_sge) { t.far_mr->iova, BYTES, t.far_mr->lkey };
	vt_equal(0, vt_recv(&t.p.b, 7, &recv, 1), "receive posted");
	vt_equal(0, vt_send(&t.p.a, 8, &sge), "SEND posted");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "SEND completes");
	vt_expect(t.p.b.rcq, IB_WC_SUCCESS, &wc, "SEND arrives");
	vt_equal(BYTES, wc.byte_len, "SEND: the length");
	vt_ok(vt_is_filled(t.far.va, BYTES, 3), "SEND: the data");

	/* The peer's own end is closed in order; this one is notified */
	vt_equal(0, iw_cm_disconnect(t.id[PASSIVE], 0), "b disconnects");
	is_over(&t, "b disconnected");
	iw_end(&t);
}

/* The end comes behind what was sent before it, even on a wire that takes time */
static void test_close(struct vt_devs *d)
{
	struct ib_sge sge;
	struct ib_wc wc;
	struct iw t;
	int i;

	if (iw_make(&t, d))
		return;
	sge = vt_sge(&t.p.a, &t.buf, 0, BYTES);
	for (i = 0; i < 2; i++) {
		struct ib_sge recv = { t.far_mr->iova, BYTES, t.far_mr->lkey };

		vt_equal(0, vt_recv(&t.p.b, i, &recv, 1), "receive posted");
		vt_equal(0, vt_send(&t.p.a, i, &sge), "SEND posted");
	}
	vt_equal(0, iw_cm_disconnect(t.id[ACTIVE], 0), "a disconnects");
	for (i = 0; i < 2; i++) {
		vt_expect(t.p.b.rcq, IB_WC_SUCCESS, &wc, "SEND %d before the end arrives", i);
		vt_equal(i, wc.wr_id, "SEND %d before the end: wr_id", i);
		vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "SEND %d before the end", i);
	}
	is_over(&t, "a disconnected");
	iw_end(&t);
}

/* Work requests that iWARP does not have */
static void test_unknown(struct vt_devs *d)
{
	static const struct {
		const char *what;
		enum ib_wr_opcode op;
		int sges;
	} cases[] = {
		{ "SEND with immediate data", IB_WR_SEND_WITH_IMM, 1 },
		{ "WRITE with immediate data", IB_WR_RDMA_WRITE_WITH_IMM, 1 },
		{ "READ into two pieces", IB_WR_RDMA_READ, 2 },
		{ "READ_WITH_INV into two pieces", IB_WR_RDMA_READ_WITH_INV, 2 },
	};
	struct ib_sge sge[2];
	struct iw t;
	int i;

	if (iw_make(&t, d))
		return;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		vt_split(sge, 2, &t.p.a, &t.buf, 0, BYTES);
		vt_equal((u64)-EINVAL, post(&t, cases[i].op, sge, cases[i].sges),
			 "%s: refused", cases[i].what);
		vt_violations(1, "a work request that the QP cannot take", "%s: reported",
			      cases[i].what);
	}
	vt_equal(IB_QPS_RTS, vt_state(&t.p.a), "the connection is still there");
	iw_end(&t);
}

/* ---- the sink of a READ ---- */

static void sink_bad(struct iw *t, const char *what, enum ib_wr_opcode op,
		     struct ib_sge *sge, const char *why)
{
	vt_equal(0, post(t, op, sge, 1), "%s: posted", what);
	vt_violations(1, why, "%s: reported", what);
	vt_expect(t->p.a.scq, IB_WC_LOC_PROT_ERR, NULL, "%s: status", what);
	is_over(t, what);
}

static void test_sink(struct vt_devs *d)
{
	struct ib_sge sge;
	struct iw t;

	if (!iw_make(&t, d) && !vt_reg(&t.p.a, t.mr, t.mem.sg, 2, LOCAL)) {
		sge = in_mr(&t);
		/* It is good enough for its sender, which also receives into it */
		vt_equal(0, post(&t, IB_WR_RDMA_WRITE, &sge, 1), "WRITE of it: posted");
		vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "WRITE of it: completes");
		vt_ok(vt_is_all(t.far.va, BYTES, 0x5a), "WRITE of it: the data");
		vt_fill(t.far.va, BYTES, 1);
		sink_bad(&t, "a sink for local writes", IB_WR_RDMA_READ, &sge,
			 "without the access");
		vt_ok(vt_is_all(t.mem.va, BYTES, 0x5a), "nothing was read");
	}
	iw_end(&t);

	if (!iw_make(&t, d)) {
		memset(t.buf.va, 0x5a, BYTES);
		sge = vt_sge(&t.p.a, &t.buf, 0, BYTES);
		sink_bad(&t, "a sink of no region", IB_WR_RDMA_READ, &sge, "unknown");
		vt_ok(vt_is_all(t.buf.va, BYTES, 0x5a), "nothing was read");
	}
	iw_end(&t);

	if (!iw_make(&t, d) && !vt_reg(&t.p.a, t.mr, t.mem.sg, 2, SINK)) {
		sge = in_mr(&t);
		vt_equal(0, post(&t, IB_WR_RDMA_READ, &sge, 1), "a good sink: posted");
		vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "a good sink: status");
		vt_ok(vt_is_filled(t.mem.va, BYTES, 1), "a good sink: the data");
		vt_equal(VRNIC_MR_VALID, to_vmr(t.mr)->state, "its key is still good");
	}
	iw_end(&t);
}

/* A READ that invalidates its sink, again and again */
static void test_read_inv(struct vt_devs *d)
{
	struct ib_sge sge;
	struct ib_wc wc;
	struct iw t;
	u32 i;

	if (iw_make(&t, d))
		return;
	for (i = 0; i < 3; i++) {
		if (vt_reg(&t.p.a, t.mr, t.mem.sg, 2, SINK))
			goto out;
		vt_fill(t.far.va, BYTES, i);
		sge = in_mr(&t);
		vt_equal(0, post(&t, IB_WR_RDMA_READ_WITH_INV, &sge, 1),
			 "%u: posted", i);
		vt_expect(t.p.a.scq, IB_WC_SUCCESS, &wc, "%u: completes", i);
		vt_equal(IB_WC_RDMA_READ, wc.opcode, "%u: opcode", i);
		vt_ok(vt_is_filled(t.mem.va, BYTES, i), "%u: the data", i);
		vt_equal(VRNIC_MR_FREE, to_vmr(t.mr)->state, "%u: the key is gone", i);
		ib_update_fast_reg_key(t.mr, ib_inc_rkey(t.mr->rkey));
	}
	memset(t.mem.va, 0x5a, BYTES);
	sink_bad(&t, "once more into the same", IB_WR_RDMA_READ, &sge, "not valid");
	vt_ok(vt_is_all(t.mem.va, BYTES, 0x5a), "nothing was read");
out:
	iw_end(&t);
}

static void test_read_inv_bad(struct vt_devs *d)
{
	struct ib_sge sge;
	struct iw t;

	/* The key to be invalidated is gone before it is used */
	if (!iw_make(&t, d) && !vt_reg(&t.p.a, t.mr, t.mem.sg, 2, SINK) &&
	    !vt_inv(&t.p.a, t.mr->rkey)) {
		sge = in_mr(&t);
		sink_bad(&t, "a key that is gone", IB_WR_RDMA_READ_WITH_INV, &sge,
			 "not valid");
		vt_ok(vt_is_all(t.mem.va, BYTES, 0x5a), "nothing was read");
	}
	iw_end(&t);

	/* A READ that came to nothing invalidates nothing */
	if (!iw_make(&t, d) && !vt_reg(&t.p.a, t.mr, t.mem.sg, 2, SINK)) {
		sge = in_mr(&t);
		vt_equal(0, vt_post(&t.p.a, &(struct vt_wr) {
			.op = IB_WR_RDMA_READ_WITH_INV, .flags = IB_SEND_SIGNALED,
			.sge = &sge, .num_sge = 1, .raddr = t.far_mr->iova,
			.rkey = 0xbad00 }), "a bad source: posted");
		vt_violations(1, "a peer's RDMA READ: key 0xbad00",
			      "a bad source: reported");
		vt_expect(t.p.a.scq, IB_WC_REM_ACCESS_ERR, NULL, "a bad source: status");
		vt_equal(VRNIC_MR_VALID, to_vmr(t.mr)->state, "the sink's key is there");
		is_over(&t, "a bad source");
	}
	iw_end(&t);
}

/* ---- errors that the sender does not learn of ---- */

static void test_no_receive(struct vt_devs *d)
{
	struct ib_sge sge;
	struct ib_wc wc;
	struct iw t;

	if (iw_make(&t, d))
		return;
	sge = vt_sge(&t.p.a, &t.buf, 0, 64);
	vt_equal(0, vt_recv(&t.p.b, 1, NULL, 0), "one receive");
	vt_equal(0, vt_send(&t.p.a, 1, NULL), "a SEND for it: posted");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "a SEND for it");
	vt_expect(t.p.b.rcq, IB_WC_SUCCESS, NULL, "it arrives");
	vt_equal(0, vt_send(&t.p.a, 2, &sge), "one more: posted");
	vt_violations(1, "and no receive: that is the end of a connection over iWARP",
		      "one more: reported");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, &wc, "one more: it has left");
	vt_equal(2, wc.wr_id, "one more: wr_id");
	is_over(&t, "one more");
	vt_ok(vt_until(vt_event(&t.p.b, IB_EVENT_QP_FATAL)), "b's QP is told");
	vt_equal(0, vt_event(&t.p.a, IB_EVENT_QP_FATAL), "a's is not");
	vt_equal(0, vt_send(&t.p.a, 3, NULL), "after it: posted");
	vt_expect(t.p.a.scq, IB_WC_WR_FLUSH_ERR, NULL, "after it: flushed");
	iw_end(&t);
}

/* The same of a WRITE that the peer does not take */
static void test_write(struct vt_devs *d)
{
	struct ib_sge sge;
	struct iw t;

	if (iw_make(&t, d))
		return;
	sge = vt_sge(&t.p.a, &t.buf, 0, 64);
	vt_equal(0, vt_post(&t.p.a, &(struct vt_wr) {
		.op = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .raddr = t.far_mr->iova, .rkey = 0xbad00 }), "posted");
	vt_violations(1, "a peer's RDMA WRITE: key 0xbad00", "reported");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "it has left");
	is_over(&t, "a WRITE with a bad key");
	vt_ok(vt_until(vt_event(&t.p.b, IB_EVENT_QP_ACCESS_ERR)), "b's QP is told");
	vt_ok(vt_is_filled(t.far.va, BYTES, 1), "nothing written");
	iw_end(&t);
}

const struct vt_test vt_iwarp[] = {
	{ "caps", test_caps },
	{ "data", test_data },
	{ "close", test_close },
	{ "unknown", test_unknown },
	{ "sink", test_sink },
	{ "read-inv", test_read_inv },
	{ "read-inv-bad", test_read_inv_bad },
	{ "no-receive", test_no_receive },
	{ "write", test_write },
	{}
};
