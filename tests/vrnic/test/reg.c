// SPDX-License-Identifier: GPL-2.0
/* Registration and invalidation: refused calls, and their status */

#include "vrnic_test.h"

#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

struct reg {
	struct vt_pair p;
	struct vt_mem mem;
	struct ib_mr *mr;	/* of the end b, of one page */
};

static void reg_end(struct reg *r)
{
	if (!IS_ERR_OR_NULL(r->mr))
		vt_equal(0, ib_dereg_mr(r->mr), "MR gone");
	vt_pair_free(&r->p);
	vt_mem_free(&r->mem);
}

static int reg_make(struct reg *r, struct vt_devs *d, const struct vt_opt *opt)
{
	memset(r, 0, sizeof(*r));
	if (vt_pair_make(&r->p, d, opt))
		return -EINVAL;
	r->mr = ib_alloc_mr(r->p.b.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!vt_ok(!IS_ERR(r->mr), "MR made") || vt_mem_make(&r->mem, d->b, 2)) {
		reg_end(r);
		return -ENOMEM;
	}
	return 0;
}

/* A work request of the end b that fails, and takes it to ERR */
static void fails(struct reg *r, const char *what, const struct vt_wr *w,
		  const char *why)
{
	vt_equal(0, vt_post(&r->p.b, w), "%s: posted", what);
	vt_violations(1, why, "%s: reported", what);
	vt_expect(r->p.b.scq, IB_WC_MW_BIND_ERR, NULL, "%s: status", what);
	vt_equal(IB_QPS_ERR, vt_state(&r->p.b), "%s: it is in ERR", what);
	vt_equal(IB_QPS_RTS, vt_state(&r->p.a), "%s: the other end is not", what);
}

static void map_one(struct reg *r)
{
	vt_equal(1, ib_map_mr_sg(r->mr, r->mem.sg, 1, NULL, PAGE_SIZE), "mapped");
}

static void test_twice(struct vt_devs *d)
{
	struct reg r;

	if (!reg_make(&r, d, NULL)) {
		vt_reg(&r.p.b, r.mr, r.mem.sg, 1, ALL);
		fails(&r, "registered twice", &(struct vt_wr) {
			.op = IB_WR_REG_MR, .mr = r.mr, .key = r.mr->rkey,
			.access = ALL }, "is registered already");
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		vt_reg(&r.p.b, r.mr, r.mem.sg, 1, ALL);
		vt_inv(&r.p.b, r.mr->rkey);
		fails(&r, "invalidated twice", &(struct vt_wr) {
			.op = IB_WR_LOCAL_INV, .imm = r.mr->rkey }, "LOCAL_INV");
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		/* It may be in between */
		vt_reg(&r.p.b, r.mr, r.mem.sg, 1, ALL);
		vt_inv(&r.p.b, r.mr->rkey);
		vt_reg(&r.p.b, r.mr, r.mem.sg + 1, 1, ALL);
		vt_inv(&r.p.b, r.mr->rkey);
		reg_end(&r);
	}
}

/* An MR of another protection domain, or even of another device */
static void foreign(struct reg *r, struct ib_pd *pd, const char *what,
		    const char *why)
{
	struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);

	if (!vt_ok(!IS_ERR(mr), "MR of %s", what))
		return;
	swap(r->mr, mr);
	map_one(r);
	fails(r, what, &(struct vt_wr) {
		.op = IB_WR_REG_MR, .mr = r->mr, .key = r->mr->rkey,
		.access = ALL }, why);
	swap(r->mr, mr);
	ib_dereg_mr(mr);
}

static void test_bad(struct vt_devs *d)
{
	struct reg r;

	if (!reg_make(&r, d, NULL)) {
		fails(&r, "LOCAL_INV of an unknown key", &(struct vt_wr) {
			.op = IB_WR_LOCAL_INV, .imm = 0xbad00 }, "unknown");
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		vt_reg(&r.p.b, r.mr, r.mem.sg, 1, ALL);
		fails(&r, "LOCAL_INV of another key", &(struct vt_wr) {
			.op = IB_WR_LOCAL_INV, .imm = r.mr->rkey + 1 },
			"of an earlier registration");
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		map_one(&r);
		fails(&r, "REMOTE_WRITE without LOCAL_WRITE", &(struct vt_wr) {
			.op = IB_WR_REG_MR, .mr = r.mr, .key = r.mr->rkey,
			.access = IB_ACCESS_REMOTE_WRITE },
			"remote write without local write");
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		map_one(&r);
		fails(&r, "a key of another MR", &(struct vt_wr) {
			.op = IB_WR_REG_MR, .mr = r.mr, .key = r.mr->rkey + 0x100,
			.access = ALL }, "not its index");
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		fails(&r, "no memory", &(struct vt_wr) {
			.op = IB_WR_REG_MR, .mr = r.mr, .key = r.mr->rkey,
			.access = ALL }, "has no memory");
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		struct ib_pd *pd = ib_alloc_pd(d->b, 0);

		if (vt_ok(!IS_ERR(pd), "another PD")) {
			foreign(&r, pd, "another PD", "another protection domain");
			ib_dealloc_pd(pd);
		}
		reg_end(&r);
	}
	if (!reg_make(&r, d, NULL)) {
		foreign(&r, r.p.a.pd, "another device", d->a == d->b ?
			"another protection domain" : "another device's");
		reg_end(&r);
	}
}

/* As many pages as it was made for, and no more */
static void test_pages(struct vt_devs *d)
{
	u32 most = to_vdev(d->b)->config.max_mr_pages;
	struct ib_mr *mr;
	struct reg r;

	if (reg_make(&r, d, NULL))
		return;
	vt_equal(1, ib_map_mr_sg(r.mr, r.mem.sg, 2, NULL, PAGE_SIZE),
		 "two pages for an MR of one");
	vt_equal(PAGE_SIZE, r.mr->length, "what it has then");
	mr = ib_alloc_mr(r.p.b.pd, IB_MR_TYPE_MEM_REG, most);
	vt_ok(!IS_ERR(mr), "an MR of %u pages", most);
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	mr = ib_alloc_mr(r.p.b.pd, IB_MR_TYPE_MEM_REG, most + 1);
	if (!vt_equal((u64)-EINVAL, PTR_ERR_OR_ZERO(mr), "one of more"))
		ib_dereg_mr(mr);
	reg_end(&r);
}

/* A SEND that invalidates at the other end */
static void test_remote(struct vt_devs *d)
{
	struct ib_wc wc;
	struct reg r;

	if (reg_make(&r, d, NULL))
		return;
	vt_reg(&r.p.b, r.mr, r.mem.sg, 1, ALL);
	vt_equal(0, vt_recv(&r.p.b, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_recv(&r.p.b, 2, NULL, 0), "receive posted");
	vt_equal(0, vt_post(&r.p.a, &(struct vt_wr) {
		.op = IB_WR_SEND_WITH_INV, .flags = IB_SEND_SIGNALED,
		.imm = r.mr->rkey }), "SEND_WITH_INV posted");
	vt_expect(r.p.a.scq, IB_WC_SUCCESS, NULL, "SEND_WITH_INV");
	vt_expect(r.p.b.rcq, IB_WC_SUCCESS, &wc, "it arrives");
	vt_equal(IB_WC_WITH_INVALIDATE, wc.wc_flags, "it says that it invalidated");
	vt_equal(r.mr->rkey, wc.ex.invalidate_rkey, "and what");
	/* It may be registered again: so it is not any more */
	vt_reg(&r.p.b, r.mr, r.mem.sg + 1, 1, ALL);
	vt_equal(0, vt_post(&r.p.a, &(struct vt_wr) {
		.op = IB_WR_SEND_WITH_INV, .flags = IB_SEND_SIGNALED,
		.imm = r.mr->rkey + 1 }), "SEND_WITH_INV of another key posted");
	vt_expect(r.p.b.rcq, IB_WC_LOC_ACCESS_ERR, &wc, "of another key: the receive");
	vt_violations(1, "a peer's invalidation of key", "of another key: reported");
	vt_equal(2, wc.wr_id, "of another key: wr_id");
	vt_expect(r.p.a.scq, IB_WC_REM_ACCESS_ERR, NULL, "of another key: the SEND");
	vt_ok(vt_until(vt_state(&r.p.b) == IB_QPS_ERR), "of another key: both in ERR");
	vt_equal(IB_QPS_ERR, vt_state(&r.p.a), "of another key: both in ERR");
	reg_end(&r);
}

/* A work request's values count when it is executed, not when it is posted */
static void test_order(struct vt_devs *d)
{
	struct vt_buf buf = {};
	struct ib_sge sge;
	struct reg r;

	if (reg_make(&r, d, NULL))
		return;
	if (vt_buf_make(&buf, d->a, PAGE_SIZE))
		goto out;
	memset(buf.va, 0x77, PAGE_SIZE);
	vt_reg(&r.p.b, r.mr, r.mem.sg, 1, ALL);
	/* Another list of pages, not registered yet: the old one is in use */
	vt_equal(1, ib_map_mr_sg(r.mr, r.mem.sg + 1, 1, NULL, PAGE_SIZE), "mapped");
	sge = vt_sge(&r.p.a, &buf, 0, 64);
	vt_equal(0, vt_post(&r.p.a, &(struct vt_wr) {
		.op = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .raddr = sg_dma_address(r.mem.sg),
		.rkey = r.mr->rkey }), "WRITE posted");
	vt_expect(r.p.a.scq, IB_WC_SUCCESS, NULL, "WRITE by the old list");
	vt_ok(vt_is_all(r.mem.va, 64, 0x77), "it went there");
	vt_ok(vt_is_all(r.mem.va + PAGE_SIZE, PAGE_SIZE, 0), "and not by the new one");
	vt_inv(&r.p.b, r.mr->rkey);
	vt_reg(&r.p.b, r.mr, NULL, 1, ALL);
	vt_equal(0, vt_post(&r.p.a, &(struct vt_wr) {
		.op = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .raddr = r.mr->iova, .rkey = r.mr->rkey }),
		"WRITE posted");
	vt_expect(r.p.a.scq, IB_WC_SUCCESS, NULL, "WRITE by the new list");
	vt_ok(vt_is_all(r.mem.va + PAGE_SIZE, 64, 0x77), "it went there");
out:
	vt_buf_free(&buf);
	reg_end(&r);
}

/*
 * A REG_MR whose MR is destroyed while it waits in the queue. @again: another MR has its index
 * by then
 */
static void gone(struct vt_devs *d, bool again)
{
	/* 1.28 ms */
	struct vt_opt opt = { .min_rnr_timer = 14, .rnr_retry = 7 };
	struct ib_wc wc;
	struct reg r;
	u32 key;

	if (reg_make(&r, d, &opt))
		return;
	map_one(&r);
	key = r.mr->rkey;
	vt_equal(0, vt_send(&r.p.b, 1, NULL), "SEND posted, no receive is there");
	vt_equal(0, vt_post(&r.p.b, &(struct vt_wr) {
		.op = IB_WR_REG_MR, .id = 2, .mr = r.mr, .key = key,
		.access = ALL }), "REG_MR posted behind it");
	vt_equal(0, ib_dereg_mr(r.mr), "its MR gone");
	r.mr = NULL;
	if (again) {
		to_vdev(d->b)->next_mr = key >> 8;
		r.mr = ib_alloc_mr(r.p.b.pd, IB_MR_TYPE_MEM_REG, 1);
		if (!vt_ok(!IS_ERR(r.mr), "another made"))
			goto out;
		vt_equal(key, r.mr->rkey, "with the same key");
		map_one(&r);
	}
	vt_equal(0, vt_recv(&r.p.a, 1, NULL, 0), "receive posted");
	vt_expect(r.p.b.scq, IB_WC_SUCCESS, &wc, "again %d: the SEND goes on", again);
	vt_equal(1, wc.wr_id, "again %d: it is that", again);
	vt_expect(r.p.b.scq, IB_WC_MW_BIND_ERR, &wc, "again %d: the REG_MR fails", again);
	vt_equal(2, wc.wr_id, "again %d: it is that", again);
	vt_violations(1, "the MR is gone", "again %d: reported", again);
	vt_equal(IB_QPS_ERR, vt_state(&r.p.b), "again %d: in ERR", again);
	if (again)
		vt_equal(VRNIC_MR_FREE, to_vmr(r.mr)->state, "the other one is free");
out:
	reg_end(&r);
}

static void test_gone(struct vt_devs *d)
{
	gone(d, false);
	gone(d, true);
}

const struct vt_test vt_reg_rules[] = {
	{ "twice", test_twice },
	{ "bad", test_bad },
	{ "pages", test_pages },
	{ "remote", test_remote },
	{ "order", test_order },
	{ "gone", test_gone },
	{}
};
