// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA READs that a QP may not have, and memory that there is not, wherever a
 * DMA address can be given.
 */

#include "vrnic_test.h"

#define BYTES	PAGE_SIZE
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)
/* No guest has so much memory: 32 TiB */
#define NOWHERE	BIT_ULL(45)
#define NO_MEMORY	"there is no memory of 64 bytes at the DMA address 0x200000000000"

struct refuse {
	struct vt_pair p;
	struct vt_buf buf;	/* of a */
	struct vt_buf far;	/* of b, in its @mr, if there is any memory in that */
	struct ib_mr *mr;
};

static void refuse_end(struct refuse *r)
{
	if (!IS_ERR_OR_NULL(r->mr))
		vt_equal(0, ib_dereg_mr(r->mr), "MR gone");
	vt_pair_free(&r->p);
	vt_buf_free(&r->buf);
	vt_buf_free(&r->far);
}

/*
 * Two ends: a with the options @a, b with @b, or NULL; b has an MR, of memory that does not
 * exist if @nowhere.
 */
static int refuse_make(struct refuse *r, struct vt_devs *d, const struct vt_opt *a,
		       const struct vt_opt *b, bool nowhere)
{
	struct scatterlist sg;
	int ret;

	memset(r, 0, sizeof(*r));
	ret = vt_end_make(&r->p.a, d->a, a) ?: vt_end_make(&r->p.b, d->b, b) ?:
	      vt_connect(&r->p.a, &r->p.b);
	if (!vt_equal(0, ret, "two QPs are connected") ||
	    vt_buf_make(&r->buf, d->a, BYTES) || vt_buf_make(&r->far, d->b, BYTES))
		goto err;
	r->mr = ib_alloc_mr(r->p.b.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!vt_equal(0, PTR_ERR_OR_ZERO(r->mr), "MR made"))
		goto err;
	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = nowhere ? NOWHERE : r->far.dma;
	sg_dma_len(&sg) = BYTES;
	ret = vt_reg(&r->p.b, r->mr, &sg, 1, ALL);
	vt_fill(r->buf.va, BYTES, 1);
	vt_fill(r->far.va, BYTES, 2);
	if (!ret)
		return 0;
err:
	refuse_end(r);
	return -EINVAL;
}

static int post(struct refuse *r, enum ib_wr_opcode op, u64 addr)
{
	struct ib_sge sge = vt_sge(&r->p.a, &r->buf, 0, 64);

	sge.addr = addr;
	return vt_post(&r->p.a, &(struct vt_wr) {
		.op = op, .flags = IB_SEND_SIGNALED, .sge = &sge, .num_sge = 1,
		.raddr = r->mr->iova, .rkey = r->mr->rkey });
}

/* ---- RDMA READs ---- */

/* Its own QP was made for none */
static void test_begins(struct vt_devs *d)
{
	struct vt_opt opt = { .no_reads = true };
	struct refuse r;

	if (refuse_make(&r, d, &opt, NULL, false))
		return;
	vt_equal(0, post(&r, IB_WR_RDMA_WRITE, r.buf.dma), "WRITE posted");
	vt_expect(r.p.a.scq, IB_WC_SUCCESS, NULL, "WRITE works");
	vt_equal(0, post(&r, IB_WR_RDMA_READ, r.buf.dma + 64), "READ posted");
	vt_violations(1, "RDMA READ on a QP that may have none at once", "reported");
	vt_expect(r.p.a.scq, IB_WC_LOC_QP_OP_ERR, NULL, "its status");
	vt_equal(IB_QPS_ERR, vt_state(&r.p.a), "its QP is in ERR");
	vt_equal(IB_QPS_RTS, vt_state(&r.p.b), "the peer's is not");
	vt_ok(vt_is_filled(r.buf.va, BYTES, 1), "nothing was read");
	refuse_end(&r);
}

/* The peer's was */
static void test_answers(struct vt_devs *d)
{
	struct vt_opt opt = { .no_answers = true };
	struct refuse r;

	if (refuse_make(&r, d, NULL, &opt, false))
		return;
	vt_equal(0, post(&r, IB_WR_RDMA_WRITE, r.buf.dma), "WRITE posted");
	vt_expect(r.p.a.scq, IB_WC_SUCCESS, NULL, "WRITE works");
	vt_equal(0, post(&r, IB_WR_RDMA_READ, r.buf.dma + 64), "READ posted");
	vt_violations(1, "which this QP does not allow: access 0x7, READs at once 0",
		      "reported");
	vt_expect(r.p.a.scq, IB_WC_REM_INV_REQ_ERR, NULL, "its status");
	vt_equal(IB_QPS_ERR, vt_state(&r.p.a), "its QP is in ERR");
	vt_ok(vt_until(vt_state(&r.p.b) == IB_QPS_ERR), "the peer's, too");
	vt_ok(vt_is_filled(r.buf.va, BYTES, 1), "nothing was read");
	vt_events_were(&r.p.b, 1, IB_EVENT_QP_REQ_ERR, "the peer is told");
	refuse_end(&r);
}

/* Which only iWARP has */
static void test_read_inv(struct vt_devs *d)
{
	struct refuse r;

	if (refuse_make(&r, d, NULL, NULL, false))
		return;
	vt_equal((u64)-EINVAL, post(&r, IB_WR_RDMA_READ_WITH_INV, r.buf.dma),
		 "READ_WITH_INV: refused");
	vt_violations(1, "a work request that the QP cannot take: opcode 0xb", "reported");
	vt_equal(IB_QPS_RTS, vt_state(&r.p.a), "the QP goes on");
	vt_equal(0, post(&r, IB_WR_RDMA_READ, r.buf.dma), "READ posted");
	vt_expect(r.p.a.scq, IB_WC_SUCCESS, NULL, "READ works");
	vt_ok(!memcmp(r.buf.va, r.far.va, 64), "READ: the data");
	refuse_end(&r);
}

/* ---- memory that there is not ---- */

/* In a's work request, which b does not notice */
static void test_local(struct vt_devs *d)
{
	static const struct {
		const char *what;
		enum ib_wr_opcode op;
	} cases[] = {
		{ "WRITE", IB_WR_RDMA_WRITE },
		{ "READ", IB_WR_RDMA_READ },
	};
	struct refuse r;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (refuse_make(&r, d, NULL, NULL, false))
			continue;
		vt_equal(0, post(&r, cases[i].op, NOWHERE), "%s: posted", cases[i].what);
		vt_violations(1, NO_MEMORY, "%s: reported", cases[i].what);
		vt_expect(r.p.a.scq, IB_WC_LOC_PROT_ERR, NULL, "%s: status",
			  cases[i].what);
		vt_equal(IB_QPS_ERR, vt_state(&r.p.a), "%s: its QP is in ERR",
			 cases[i].what);
		vt_equal(IB_QPS_RTS, vt_state(&r.p.b), "%s: the peer's is not",
			 cases[i].what);
		vt_ok(vt_is_filled(r.far.va, BYTES, 2), "%s: nothing written",
		      cases[i].what);
		refuse_end(&r);
	}
}

/* The peer's receive has begun when a card finds that it has nothing to send */
static void test_send(struct vt_devs *d)
{
	struct ib_sge recv;
	struct refuse r;

	if (refuse_make(&r, d, NULL, NULL, false))
		return;
	recv = vt_sge(&r.p.b, &r.far, 0, 64);
	vt_equal(0, vt_recv(&r.p.b, 1, &recv, 1), "receive posted");
	vt_equal(0, post(&r, IB_WR_SEND, NOWHERE), "SEND posted");
	vt_violations(1, NO_MEMORY, "reported");
	vt_expect(r.p.a.scq, IB_WC_LOC_PROT_ERR, NULL, "the sender's status");
	vt_expect(r.p.b.rcq, IB_WC_REM_ABORT_ERR, NULL, "the receive's status");
	vt_ok(vt_until(vt_state(&r.p.b) == IB_QPS_ERR), "the receiver is in ERR");
	vt_ok(vt_is_filled(r.far.va, BYTES, 2), "nothing written");
	refuse_end(&r);
}

static void test_receive(struct vt_devs *d)
{
	struct ib_sge recv;
	struct refuse r;

	if (refuse_make(&r, d, NULL, NULL, false))
		return;
	recv = vt_sge(&r.p.b, &r.far, 0, 64);
	recv.addr = NOWHERE;
	vt_equal(0, vt_recv(&r.p.b, 1, &recv, 1), "receive posted");
	vt_equal(0, post(&r, IB_WR_SEND, r.buf.dma), "SEND posted");
	vt_violations(1, NO_MEMORY, "reported");
	vt_expect(r.p.b.rcq, IB_WC_LOC_PROT_ERR, NULL, "the receive's status");
	vt_expect(r.p.a.scq, IB_WC_REM_OP_ERR, NULL, "the sender's status");
	vt_equal(IB_QPS_ERR, vt_state(&r.p.a), "the sender is in ERR");
	vt_ok(vt_until(vt_state(&r.p.b) == IB_QPS_ERR), "the receiver, too");
	refuse_end(&r);
}

/* In what b has registered */
static void test_remote(struct vt_devs *d)
{
	static const struct {
		const char *what;
		enum ib_wr_opcode op;
	} cases[] = {
		{ "the peer's, WRITE", IB_WR_RDMA_WRITE },
		{ "the peer's, READ", IB_WR_RDMA_READ },
	};
	struct refuse r;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (refuse_make(&r, d, NULL, NULL, true))
			continue;
		vt_equal(0, post(&r, cases[i].op, r.buf.dma), "%s: posted",
			 cases[i].what);
		vt_violations(1, NO_MEMORY, "%s: reported", cases[i].what);
		vt_expect(r.p.a.scq, IB_WC_REM_ACCESS_ERR, NULL, "%s: status",
			  cases[i].what);
		vt_ok(vt_until(vt_state(&r.p.b) == IB_QPS_ERR), "%s: responder in ERR",
		      cases[i].what);
		vt_ok(vt_is_filled(r.buf.va, BYTES, 1), "%s: nothing read",
		      cases[i].what);
		vt_events_were(&r.p.b, 1, IB_EVENT_QP_ACCESS_ERR,
			       "%s: the responder is told", cases[i].what);
		refuse_end(&r);
	}
}

const struct vt_test vt_refuse[] = {
	{ "begins", test_begins },
	{ "answers", test_answers },
	{ "read-inv", test_read_inv },
	{ "local", test_local },
	{ "send", test_send },
	{ "receive", test_receive },
	{ "remote", test_remote },
	{}
};
