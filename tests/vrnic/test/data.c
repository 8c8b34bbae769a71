// SPDX-License-Identifier: GPL-2.0
/*
 * Data of messages: the received data equals the sent data, byte by byte, and nothing around
 * it has changed.
 */

#include "vrnic_test.h"

#define ROOM	(SZ_1M + 2 * PAGE_SIZE)
#define AT	100		/* on no boundary */
#define BEFORE	0xa5		/* content of a buffer before data arrives */

static const u32 sizes[] = { 0, 1, 64, PAGE_SIZE + 1, SZ_1M };

/* The buffer has the sent data at its place */
static void check_data(const struct vt_buf *b, u32 len, u32 seed, const char *what)
{
	vt_ok(vt_is_filled(b->va + AT, len, seed), "%s: the data", what);
	vt_ok(vt_is_all(b->va, AT, BEFORE) &&
	      vt_is_all(b->va + AT + len, b->len - AT - len, BEFORE),
	      "%s: nothing around it", what);
}

static void send_one(struct vt_ends *t, u32 len, int nfrom, int nto)
{
	struct ib_sge from[4], to[4];
	struct ib_wc wc;
	char what[64];

	snprintf(what, sizeof(what), "SEND of %u bytes, %d SGEs into %d", len,
		 nfrom, nto);
	vt_fill(t->from.va + AT, len, len + nfrom);
	memset(t->to.va, BEFORE, ROOM);
	vt_split(from, nfrom, &t->p.a, &t->from, AT, len);
	vt_split(to, nto, &t->p.b, &t->to, AT, len);
	vt_equal(0, vt_recv(&t->p.b, 7, to, nto), "%s: receive posted", what);
	vt_equal(0, vt_post(&t->p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .flags = IB_SEND_SIGNALED, .sge = from,
		.num_sge = nfrom }), "%s: posted", what);
	vt_expect(t->p.a.scq, IB_WC_SUCCESS, NULL, "%s: completes", what);
	vt_expect(t->p.b.rcq, IB_WC_SUCCESS, &wc, "%s: arrives", what);
	vt_equal(len, wc.byte_len, "%s: byte_len", what);
	check_data(&t->to, len, len + nfrom, what);
}

static void test_send(struct vt_devs *d)
{
	struct vt_ends t;
	int i;

	if (!vt_ends_make(&t, d, NULL, ROOM)) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			send_one(&t, sizes[i], 1, 1);
			send_one(&t, sizes[i], 4, 1);
			send_one(&t, sizes[i], 2, 3);
		}
	}
	vt_ends_free(&t);
}

/* A receive with more room than needed, and one whose SGEs are empty */
static void test_room(struct vt_devs *d)
{
	struct ib_sge from, to[3];
	struct ib_wc wc;
	struct vt_ends t;

	if (vt_ends_make(&t, d, NULL, ROOM))
		goto out;
	memset(t.to.va, BEFORE, ROOM);
	vt_fill(t.from.va + AT, 64, 1);
	from = vt_sge(&t.p.a, &t.from, AT, 64);
	to[0] = vt_sge(&t.p.b, &t.to, AT, 40);
	to[1] = vt_sge(&t.p.b, &t.to, 0, 0);
	to[2] = vt_sge(&t.p.b, &t.to, AT + 40, 1000);
	vt_equal(0, vt_recv(&t.p.b, 1, to, 3), "more room: receive posted");
	vt_equal(0, vt_send(&t.p.a, 1, &from), "more room: posted");
	vt_expect(t.p.b.rcq, IB_WC_SUCCESS, &wc, "more room: arrives");
	vt_equal(64, wc.byte_len, "more room: byte_len is the message's");
	check_data(&t.to, 64, 1, "more room");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "more room: completes");

	vt_equal(0, vt_recv(&t.p.b, 2, NULL, 0), "no SGE: receive posted");
	vt_equal(0, vt_send(&t.p.a, 2, NULL), "no SGE: posted");
	vt_expect(t.p.b.rcq, IB_WC_SUCCESS, &wc, "no SGE: arrives");
	vt_equal(0, wc.byte_len, "no SGE: byte_len");
	vt_equal(2, wc.wr_id, "no SGE: wr_id");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "no SGE: completes");
out:
	vt_ends_free(&t);
}

/* Inline data is given by the kernel's own addresses and needs no key */
static struct ib_sge inline_sge(const struct vt_ends *t, u32 at, u32 len)
{
	return (struct ib_sge) {
		.addr = (uintptr_t)t->from.va + at,
		.length = len,
		.lkey = 0xdead,
	};
}

static void send_inline(struct vt_ends *t, u32 len, int n)
{
	struct ib_sge from[2] = {}, to;
	struct ib_wc wc;
	char what[64];
	u32 first = n == 2 ? len / 3 : len;

	snprintf(what, sizeof(what), "inline, %u bytes, %d SGEs", len, n);
	memset(t->to.va, BEFORE, ROOM);
	vt_fill(t->from.va + AT, len, len);
	from[0] = inline_sge(t, AT, first);
	from[1] = inline_sge(t, AT + first, len - first);
	/* No receive is there yet: so it is sent after it was changed */
	vt_equal(0, vt_post(&t->p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .flags = IB_SEND_SIGNALED | IB_SEND_INLINE,
		.sge = from, .num_sge = n }), "%s: posted", what);
	memset(t->from.va, 0, ROOM);
	to = vt_sge(&t->p.b, &t->to, AT, ROOM - AT);
	vt_equal(0, vt_recv(&t->p.b, 7, &to, 1), "%s: receive posted", what);
	vt_expect(t->p.a.scq, IB_WC_SUCCESS, NULL, "%s: completes", what);
	vt_expect(t->p.b.rcq, IB_WC_SUCCESS, &wc, "%s: arrives", what);
	vt_equal(len, wc.byte_len, "%s: byte_len", what);
	check_data(&t->to, len, len, what);
}

static void test_inline(struct vt_devs *d)
{
	const u32 limit = 200;
	struct ib_sge sge;
	struct vt_ends t;

	if (vt_ends_make(&t, d, &(struct vt_opt) { .inlined = limit }, ROOM))
		goto out;
	send_inline(&t, 0, 1);
	send_inline(&t, 1, 1);
	send_inline(&t, 64, 2);
	send_inline(&t, limit, 1);
	send_inline(&t, limit, 2);
	sge = inline_sge(&t, AT, limit + 1);
	vt_equal((u64)-EINVAL, vt_post(&t.p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .flags = IB_SEND_SIGNALED | IB_SEND_INLINE,
		.sge = &sge, .num_sge = 1 }), "inline, one over: refused");
	vt_violations(1, "cannot take", "inline, one over: reported");
	vt_ok(vt_none(t.p.a.scq), "inline, one over: no completion");
	vt_equal((u64)-EINVAL, vt_post(&t.p.a, &(struct vt_wr) {
		.op = IB_WR_RDMA_READ, .flags = IB_SEND_SIGNALED | IB_SEND_INLINE,
		.sge = &sge, .num_sge = 1 }), "inline, of a READ: refused");
	vt_violations(1, "cannot take", "inline, of a READ: reported");
	send_inline(&t, 5, 1);
out:
	vt_ends_free(&t);
}

static void test_imm(struct vt_devs *d)
{
	struct ib_sge from, to;
	struct ib_wc wc;
	struct vt_ends t;

	if (vt_ends_make(&t, d, NULL, ROOM))
		goto out;
	memset(t.to.va, BEFORE, ROOM);
	vt_fill(t.from.va + AT, 64, 5);
	from = vt_sge(&t.p.a, &t.from, AT, 64);
	to = vt_sge(&t.p.b, &t.to, AT, 64);
	vt_equal(0, vt_recv(&t.p.b, 1, &to, 1), "imm: receive posted");
	vt_equal(0, vt_post(&t.p.a, &(struct vt_wr) {
		.op = IB_WR_SEND_WITH_IMM, .flags = IB_SEND_SIGNALED,
		.imm = 0x01020304, .sge = &from, .num_sge = 1 }), "imm: posted");
	vt_expect(t.p.b.rcq, IB_WC_SUCCESS, &wc, "imm: arrives");
	vt_equal(IB_WC_RECV, wc.opcode, "imm: opcode");
	vt_equal(IB_WC_WITH_IMM, wc.wc_flags, "imm: flags");
	vt_equal(0x01020304, be32_to_cpu(wc.ex.imm_data), "imm: data");
	check_data(&t.to, 64, 5, "imm");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, &wc, "imm: completes");
	vt_equal(IB_WC_SEND, wc.opcode, "imm: the sender's opcode");
out:
	vt_ends_free(&t);
}

/* One RDMA operation on all of memory at the other end */
static void rdma_one(struct vt_ends *t, enum ib_wr_opcode op, struct ib_mr *mr,
		     u32 len, int n, const char *name)
{
	bool read = op == IB_WR_RDMA_READ;
	struct vt_buf *src = read ? &t->to : &t->from;
	struct vt_buf *dst = read ? &t->from : &t->to;
	struct ib_sge sge[4];
	struct ib_wc wc;
	char what[64];

	snprintf(what, sizeof(what), "%s of %u bytes, %d SGEs", name, len, n);
	memset(dst->va, BEFORE, ROOM);
	vt_fill(src->va + AT, len, len + n);
	vt_split(sge, n, &t->p.a, &t->from, AT, len);
	if (op == IB_WR_RDMA_WRITE_WITH_IMM)
		vt_equal(0, vt_recv(&t->p.b, 9, NULL, 0), "%s: receive posted",
			 what);
	vt_equal(0, vt_post(&t->p.a, &(struct vt_wr) {
		.op = op, .flags = IB_SEND_SIGNALED, .sge = sge, .num_sge = n,
		.raddr = t->to.dma + AT, .rkey = mr->rkey, .imm = 77 }),
		"%s: posted", what);
	vt_expect(t->p.a.scq, IB_WC_SUCCESS, &wc, "%s: completes", what);
	vt_equal(read ? IB_WC_RDMA_READ : IB_WC_RDMA_WRITE, wc.opcode,
		 "%s: opcode", what);
	if (op == IB_WR_RDMA_WRITE_WITH_IMM) {
		vt_expect(t->p.b.rcq, IB_WC_SUCCESS, &wc, "%s: arrives", what);
		vt_equal(IB_WC_RECV_RDMA_WITH_IMM, wc.opcode,
			 "%s: the receive's opcode", what);
		vt_equal(len, wc.byte_len, "%s: byte_len", what);
		vt_equal(77, be32_to_cpu(wc.ex.imm_data), "%s: imm", what);
		vt_equal(9, wc.wr_id, "%s: the receive's wr_id", what);
	}
	vt_ok(vt_none(t->p.b.rcq), "%s: nothing more at the other end", what);
	check_data(dst, len, len + n, what);
}

static void test_rdma(struct vt_devs *d)
{
	struct ib_mr *mr;
	struct vt_ends t;
	int i;

	if (vt_ends_make(&t, d, NULL, ROOM))
		goto out;
	mr = t.p.b.pd->device->ops.get_dma_mr(t.p.b.pd, IB_ACCESS_LOCAL_WRITE |
					      IB_ACCESS_REMOTE_WRITE |
					      IB_ACCESS_REMOTE_READ);
	if (!vt_ok(!IS_ERR(mr), "an MR of all memory"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		rdma_one(&t, IB_WR_RDMA_WRITE, mr, sizes[i], 1, "WRITE");
		rdma_one(&t, IB_WR_RDMA_WRITE, mr, sizes[i], 4, "WRITE");
		rdma_one(&t, IB_WR_RDMA_WRITE_WITH_IMM, mr, sizes[i], 2,
			 "WRITE_WITH_IMM");
		rdma_one(&t, IB_WR_RDMA_READ, mr, sizes[i], 1, "READ");
		rdma_one(&t, IB_WR_RDMA_READ, mr, sizes[i], 3, "READ");
	}
	mr->device->ops.dereg_mr(mr, NULL);
out:
	vt_ends_free(&t);
}

/* A QP that is connected to itself */
static void test_self(struct vt_devs *d)
{
	struct vt_buf buf = {};
	struct ib_sge from, to;
	struct vt_end e;

	if (!vt_equal(0, vt_end_make(&e, d->a, NULL), "self: QP made"))
		return;
	if (!vt_equal(0, vt_connect(&e, &e), "self: connected") ||
	    vt_buf_make(&buf, d->a, PAGE_SIZE))
		goto out;
	vt_fill(buf.va, 64, 3);
	from = vt_sge(&e, &buf, 0, 64);
	to = vt_sge(&e, &buf, 1000, 64);
	vt_equal(0, vt_recv(&e, 1, &to, 1), "self: receive posted");
	vt_equal(0, vt_send(&e, 2, &from), "self: posted");
	vt_expect(e.scq, IB_WC_SUCCESS, NULL, "self: completes");
	vt_expect(e.rcq, IB_WC_SUCCESS, NULL, "self: arrives");
	vt_ok(vt_is_filled(buf.va + 1000, 64, 3), "self: the data");
out:
	vt_end_free(&e);
	vt_buf_free(&buf);
}

const struct vt_test vt_data[] = {
	{ "send", test_send },
	{ "room", test_room },
	{ "inline", test_inline },
	{ "imm", test_imm },
	{ "rdma", test_rdma },
	{ "self", test_self },
	{}
};
