// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of memory regions: the violator gets a status, and so does the other end; both QPs go
 * to ERR, if the rule was for both; memory stays unchanged.
 */

#include "vrnic_test.h"

#define PAGES	4
#define LENGTH	(PAGES * PAGE_SIZE - 300)
#define OFFSET	200
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

struct keys {
	struct vt_pair p;
	struct vt_end *b;	/* the peer of a: p.b, except for one test */
	struct vt_buf buf;	/* of the end a */
	struct vt_mem mem;	/* of the end b, in its @mr */
	struct ib_mr *mr;
};

static void keys_free(struct keys *k)
{
	vt_pair_free(&k->p);
	vt_buf_free(&k->buf);
	vt_mem_free(&k->mem);
}

/* The MR goes before the PD of the end b does */
static void keys_end(struct keys *k)
{
	if (!IS_ERR_OR_NULL(k->mr))
		vt_equal(0, ib_dereg_mr(k->mr), "MR gone");
	keys_free(k);
}

/* Both ends, and on the second an MR, which is registered if @access is not 0 */
static int keys_make(struct keys *k, struct vt_devs *d, int access,
		     const struct vt_opt *opt)
{
	int ret;

	memset(k, 0, sizeof(*k));
	ret = vt_pair_make(&k->p, d, opt);
	if (ret)
		return ret;
	k->b = &k->p.b;
	ret = vt_buf_make(&k->buf, d->a, PAGES * PAGE_SIZE);
	if (!ret)
		ret = vt_mem_make(&k->mem, d->b, PAGES);
	if (ret)
		goto err;
	k->mr = ib_alloc_mr(k->p.b.pd, IB_MR_TYPE_MEM_REG, PAGES);
	ret = PTR_ERR_OR_ZERO(k->mr);
	if (!vt_equal(0, ret, "MR made"))
		goto err;
	k->mem.sg[0].offset += OFFSET;
	sg_dma_address(&k->mem.sg[0]) += OFFSET;
	sg_dma_len(&k->mem.sg[0]) -= OFFSET;
	sg_dma_len(&k->mem.sg[PAGES - 1]) -= 300 - OFFSET;
	if (access)
		ret = vt_reg(&k->p.b, k->mr, k->mem.sg, PAGES, access);
	if (!ret)
		return 0;
err:
	keys_end(k);
	return ret;
}

static int rdma(struct keys *k, enum ib_wr_opcode op, u64 addr, u32 key, u32 len)
{
	struct ib_sge sge = vt_sge(&k->p.a, &k->buf, 0, len);

	return vt_post(&k->p.a, &(struct vt_wr) {
		.op = op, .flags = IB_SEND_SIGNALED, .sge = &sge, .num_sge = 1,
		.raddr = addr, .rkey = key });
}

/*
 * A remote access that is refused: with @status for the requester, and both in ERR, the other
 * with @event, its receive flushed, and nothing written.
 */
static void refused(struct keys *k, const char *what, enum ib_wr_opcode op,
		    u64 addr, u32 key, u32 len, const char *why,
		    enum ib_wc_status status, enum ib_event_type event)
{
	vt_equal(0, vt_recv(k->b, 1, NULL, 0), "%s: receive posted", what);
	vt_fill(k->buf.va, k->buf.len, 7);
	memset(k->mem.va, 0x11, PAGES * PAGE_SIZE);
	vt_equal(0, rdma(k, op, addr, key, len), "%s: posted", what);
	vt_expect(k->p.a.scq, status, NULL, "%s: status", what);
	vt_violations(1, why, "%s: reported", what);
	vt_equal(IB_QPS_ERR, vt_state(&k->p.a), "%s: requester in ERR", what);
	vt_ok(vt_until(vt_state(k->b) == IB_QPS_ERR), "%s: responder in ERR", what);
	vt_expect(k->b->rcq, IB_WC_WR_FLUSH_ERR, NULL, "%s: its receive flushed", what);
	vt_ok(vt_until(vt_event(k->b, event)), "%s: it is told by the event %d", what,
	      event);
	vt_ok(vt_is_all(k->mem.va, PAGES * PAGE_SIZE, 0x11), "%s: nothing written", what);
	vt_ok(vt_is_filled(k->buf.va, k->buf.len, 7), "%s: nothing read", what);
	vt_events_were(k->b, 1, event, "%s: it is told once", what);
	vt_events_were(&k->p.a, 0, event, "%s: the requester is not", what);
}

struct remote_case {
	const char *what;
	enum ib_wr_opcode op;
	int access;
	s64 from;		/* from the region's start */
	u32 len;
	u32 key_plus;
	const char *why;
};

static const struct remote_case cases[] = {
	{ "WRITE, wrong key of the same MR", IB_WR_RDMA_WRITE, ALL, 0, 64, 1,
	  "of an earlier registration" },
	{ "READ, wrong key of the same MR", IB_WR_RDMA_READ, ALL, 0, 64, 1,
	  "of an earlier registration" },
	{ "WRITE, unknown key", IB_WR_RDMA_WRITE, ALL, 0, 64, 0x700000, "unknown" },
	{ "WRITE, before the start", IB_WR_RDMA_WRITE, ALL, -1, 64, 0, "out of bounds" },
	{ "WRITE, beyond the end", IB_WR_RDMA_WRITE, ALL, LENGTH - 63, 64, 0,
	  "out of bounds" },
	{ "READ, beyond the end", IB_WR_RDMA_READ, ALL, 1, LENGTH, 0, "out of bounds" },
	{ "READ, at the end", IB_WR_RDMA_READ, ALL, LENGTH, 1, 0, "out of bounds" },
	{ "WRITE, past 2^64", IB_WR_RDMA_WRITE, ALL, S64_MAX, 64, 0, "out of bounds" },
	{ "WRITE, for READ only", IB_WR_RDMA_WRITE, IB_ACCESS_REMOTE_READ, 0, 64, 0,
	  "without the access" },
	{ "WRITE, local only", IB_WR_RDMA_WRITE, IB_ACCESS_LOCAL_WRITE, 0, 64, 0,
	  "without the access" },
	{ "READ, for WRITE only", IB_WR_RDMA_READ,
	  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE, 0, 64, 0,
	  "without the access" },
	{ "WRITE, not registered yet", IB_WR_RDMA_WRITE, 0, 0, 64, 0, "not valid" },
};

static void test_remote(struct vt_devs *d)
{
	struct keys k;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct remote_case *c = &cases[i];
		u64 addr;

		if (keys_make(&k, d, c->access, NULL))
			continue;
		addr = k.mr->iova + c->from;
		if (c->from == S64_MAX)
			addr = U64_MAX - 10;
		refused(&k, c->what, c->op, addr, k.mr->rkey + c->key_plus, c->len,
			c->why, IB_WC_REM_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR);
		keys_end(&k);
	}
}

/* Accesses that are allowed to the last byte */
static void test_bounds(struct vt_devs *d)
{
	struct keys k;

	if (keys_make(&k, d, ALL, NULL))
		return;
	vt_fill(k.buf.va, LENGTH, 9);
	memset(k.mem.va, 0x11, PAGES * PAGE_SIZE);
	vt_equal(LENGTH, k.mr->length, "the region's length");
	vt_equal(0, rdma(&k, IB_WR_RDMA_WRITE, k.mr->iova, k.mr->rkey, LENGTH),
		 "all of it: posted");
	vt_expect(k.p.a.scq, IB_WC_SUCCESS, NULL, "all of it");
	vt_ok(vt_is_filled(k.mem.va + OFFSET, LENGTH, 9), "all of it: the data");
	vt_ok(vt_is_all(k.mem.va, OFFSET, 0x11) &&
	      vt_is_all(k.mem.va + OFFSET + LENGTH, 300 - OFFSET, 0x11),
	      "all of it: nothing around it");
	vt_equal(0, rdma(&k, IB_WR_RDMA_READ, k.mr->iova + LENGTH - 1, k.mr->rkey, 1),
		 "its last byte: posted");
	vt_expect(k.p.a.scq, IB_WC_SUCCESS, NULL, "its last byte");
	vt_equal(k.mem.va[OFFSET + LENGTH - 1], k.buf.va[0], "its last byte: the data");
	vt_equal(0, rdma(&k, IB_WR_RDMA_WRITE, 12345, 0xbad, 0), "of no bytes: posted");
	vt_expect(k.p.a.scq, IB_WC_SUCCESS, NULL, "of no bytes: no key is looked at");
	keys_end(&k);
}

/* A key that was good once */
static void test_stale(struct vt_devs *d)
{
	struct keys k;
	u32 old;

	if (keys_make(&k, d, ALL, NULL))
		return;
	old = k.mr->rkey;
	if (!vt_inv(&k.p.b, old))
		refused(&k, "invalidated", IB_WR_RDMA_WRITE, k.mr->iova, old, 64,
			"not valid", IB_WC_REM_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR);
	keys_end(&k);

	if (keys_make(&k, d, ALL, NULL))
		return;
	old = k.mr->rkey;
	vt_inv(&k.p.b, old);
	ib_update_fast_reg_key(k.mr, ib_inc_rkey(old));
	vt_ok(k.mr->rkey != old, "another key");
	if (!vt_reg(&k.p.b, k.mr, k.mem.sg, PAGES, ALL)) {
		vt_equal(0, rdma(&k, IB_WR_RDMA_WRITE, k.mr->iova, k.mr->rkey, 64),
			 "with the new key: posted");
		vt_expect(k.p.a.scq, IB_WC_SUCCESS, NULL, "with the new key");
		refused(&k, "with the old key", IB_WR_RDMA_WRITE, k.mr->iova, old, 64,
			"of an earlier registration", IB_WC_REM_ACCESS_ERR,
			IB_EVENT_QP_ACCESS_ERR);
	}
	keys_end(&k);
}

/* A key is of a PD, and so is a QP */
static void test_pd(struct vt_devs *d)
{
	struct vt_end other;
	struct keys k;

	if (keys_make(&k, d, ALL, NULL))
		return;
	/* A QP of another PD at the same device; then it is connected to a */
	if (!vt_equal(0, vt_end_make(&other, d->b, NULL), "QP of another PD"))
		goto out;
	vt_equal(0, vt_to(&k.p.a, IB_QPS_RESET), "to RESET");
	vt_equal(0, vt_connect(&k.p.a, &other), "connected");
	k.b = &other;
	refused(&k, "of another PD", IB_WR_RDMA_WRITE, k.mr->iova, k.mr->rkey, 64,
		"of another protection domain", IB_WC_REM_ACCESS_ERR,
		IB_EVENT_QP_ACCESS_ERR);
	vt_end_free(&other);
out:
	keys_end(&k);
}

/* A QP that does not allow what its MRs would */
static void test_qp_access(struct vt_devs *d)
{
	struct vt_opt opt = { .access = IB_ACCESS_LOCAL_WRITE };
	struct keys k;

	if (!keys_make(&k, d, ALL, &opt)) {
		refused(&k, "WRITE, not for this QP", IB_WR_RDMA_WRITE, k.mr->iova,
			k.mr->rkey, 64, "does not allow", IB_WC_REM_INV_REQ_ERR,
			IB_EVENT_QP_REQ_ERR);
		keys_end(&k);
	}
	opt.access = IB_ACCESS_REMOTE_WRITE;
	if (!keys_make(&k, d, ALL, &opt)) {
		refused(&k, "READ, not for this QP", IB_WR_RDMA_READ, k.mr->iova,
			k.mr->rkey, 64, "does not allow", IB_WC_REM_INV_REQ_ERR,
			IB_EVENT_QP_REQ_ERR);
		keys_end(&k);
	}
}

/* ---- at home ---- */

/* The sender's own memory: the other end does not hear of it */
static void send_bad(struct keys *k, const char *what, enum ib_wr_opcode op,
		     struct ib_sge *sge, int n, const char *why)
{
	vt_equal(0, vt_recv(&k->p.b, 1, NULL, 0), "%s: receive posted", what);
	vt_equal(0, vt_post(&k->p.a, &(struct vt_wr) {
		.op = op, .flags = IB_SEND_SIGNALED, .sge = sge, .num_sge = n,
		.raddr = k->mr->iova, .rkey = k->mr->rkey }), "%s: posted", what);
	vt_expect(k->p.a.scq, IB_WC_LOC_PROT_ERR, NULL, "%s: status", what);
	vt_violations(1, why, "%s: reported", what);
	vt_equal(IB_QPS_ERR, vt_state(&k->p.a), "%s: it is in ERR", what);
	vt_equal(IB_QPS_RTS, vt_state(&k->p.b), "%s: the other is not", what);
	vt_ok(vt_none(k->p.b.rcq), "%s: and has its receive still", what);
	vt_events_were(&k->p.a, 0, IB_EVENT_QP_FATAL, "%s: no event", what);
}

static void test_local(struct vt_devs *d)
{
	struct ib_sge sge[2];
	struct keys k;

	if (!keys_make(&k, d, ALL, NULL)) {
		sge[0] = vt_sge(&k.p.a, &k.buf, 0, 64);
		sge[1] = vt_sge(&k.p.a, &k.buf, 64, 64);
		sge[1].lkey = 0xbad00;
		send_bad(&k, "SEND, unknown key", IB_WR_SEND, sge, 2, "unknown");
		keys_end(&k);
	}
	if (!keys_make(&k, d, ALL, NULL)) {
		sge[0] = vt_sge(&k.p.a, &k.buf, 0, 64);
		sge[0].lkey = 0xbad00;
		send_bad(&k, "WRITE, unknown key", IB_WR_RDMA_WRITE, sge, 1, "unknown");
		keys_end(&k);
	}
	if (!keys_make(&k, d, ALL, NULL)) {
		sge[0] = vt_sge(&k.p.a, &k.buf, 0, 64);
		sge[0].lkey = 0;
		send_bad(&k, "SEND, no key", IB_WR_SEND, sge, 1, "unknown");
		keys_end(&k);
	}
}

/* Into which a READ may not write */
static void test_sink(struct vt_devs *d)
{
	struct vt_mem mem = {};
	struct ib_sge sge;
	struct ib_mr *mr;
	struct keys k;

	if (keys_make(&k, d, ALL, NULL))
		return;
	mr = ib_alloc_mr(k.p.a.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!vt_ok(!IS_ERR(mr), "MR made"))
		goto out;
	if (!vt_mem_make(&mem, d->a, 1) &&
	    !vt_reg(&k.p.a, mr, mem.sg, 1, IB_ACCESS_REMOTE_READ)) {
		sge = (struct ib_sge) { mr->iova, 64, mr->lkey };
		send_bad(&k, "READ into what may not be written", IB_WR_RDMA_READ,
			 &sge, 1, "without the access");
		vt_ok(vt_is_all(mem.va, PAGE_SIZE, 0), "nothing was read");
	}
	ib_dereg_mr(mr);
	vt_mem_free(&mem);
out:
	keys_end(&k);
}

/* A receive that is no good; both know */
static void recv_bad(struct vt_devs *d, const char *what, u32 len, int access,
		     u32 plus, enum ib_wc_status here, enum ib_wc_status there,
		     const char *why)
{
	struct ib_sge sge, from;
	struct ib_wc wc;
	struct keys k;

	if (keys_make(&k, d, access, NULL))
		return;
	sge = (struct ib_sge) { k.mr->iova, 64, k.mr->lkey + plus };
	vt_equal(0, vt_recv(&k.p.b, 1, &sge, 1), "%s: receive posted", what);
	vt_equal(0, vt_recv(&k.p.b, 2, NULL, 0), "%s: one behind it", what);
	from = vt_sge(&k.p.a, &k.buf, 0, len);
	vt_equal(0, vt_send(&k.p.a, 3, &from), "%s: SEND posted", what);
	vt_expect(k.p.b.rcq, here, &wc, "%s: the receive's status", what);
	vt_violations(1, why, "%s: reported", what);
	vt_equal(1, wc.wr_id, "%s: the first receive's", what);
	vt_expect(k.p.a.scq, there, NULL, "%s: the sender's status", what);
	vt_expect(k.p.b.rcq, IB_WC_WR_FLUSH_ERR, &wc, "%s: the other is flushed", what);
	vt_equal(IB_QPS_ERR, vt_state(&k.p.a), "%s: the sender is in ERR", what);
	vt_ok(vt_until(vt_state(&k.p.b) == IB_QPS_ERR), "%s: the receiver, too", what);
	vt_events_were(&k.p.b, 0, IB_EVENT_QP_FATAL,
		       "%s: told by the completion, not by an event", what);
	keys_end(&k);
}

static void test_receive(struct vt_devs *d)
{
	recv_bad(d, "receive, unknown key", 64, ALL, 0x700000, IB_WC_LOC_PROT_ERR,
		 IB_WC_REM_OP_ERR, "unknown");
	recv_bad(d, "receive into what may not be written", 64, IB_ACCESS_REMOTE_READ,
		 0, IB_WC_LOC_PROT_ERR, IB_WC_REM_OP_ERR, "without the access");
	recv_bad(d, "receive that is too small", 65, ALL, 0, IB_WC_LOC_LEN_ERR,
		 IB_WC_REM_INV_REQ_ERR, "a message of 65 bytes for a receive of 64");
}

const struct vt_test vt_keys[] = {
	{ "remote", test_remote },
	{ "bounds", test_bounds },
	{ "stale", test_stale },
	{ "pd", test_pd },
	{ "qp-access", test_qp_access },
	{ "local", test_local },
	{ "sink", test_sink },
	{ "receive", test_receive },
	{}
};
