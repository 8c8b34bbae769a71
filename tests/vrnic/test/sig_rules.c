// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of signature regions: a violation is reported by a status or by the call, and nothing
 * is written.
 */

#include "sig.h"

#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

static const struct ib_t10_dif_domain dif = {
	.bg_type = IB_T10DIF_CRC, .pi_interval = 512, .app_tag = 0xa55a,
	.ref_tag = 0x1000, .ref_remap = true, .app_escape = true,
	.apptag_check_mask = 0xffff,
};

/* ---- when it is posted ---- */

/* A QP that was not made for it */
static void test_qp(struct vt_devs *d)
{
	struct ib_mr *mr;
	struct vt_pair p;

	if (vt_pair_make(&p, d, NULL))
		return;
	mr = ib_alloc_mr_integrity(p.a.pd, 1, 1);
	if (vt_equal(0, PTR_ERR_OR_ZERO(mr), "signature MR made")) {
		vt_equal((u64)-EINVAL, vt_sig_post_reg(&p.a, mr), "refused");
		vt_violations(1, "was made without IB_QP_CREATE_INTEGRITY_EN", "reported");
		vt_equal(IB_QPS_RTS, vt_state(&p.a), "the QP goes on");
		ib_dereg_mr(mr);
	}
	vt_pair_free(&p);
}

/* A QP for datagrams has no regions at all */
static void test_ud(struct vt_devs *d)
{
	struct vt_opt opt = { .type = IB_QPT_UD, .integrity = true };
	struct ib_mr *mr;
	struct vt_end e;

	if (!vt_equal(0, vt_end_make(&e, d->a, &opt), "UD QP made"))
		return;
	vt_equal(0, vt_to_init(&e) ?: vt_to_rtr(&e, NULL) ?: vt_to_rts(&e), "in RTS");
	mr = ib_alloc_mr_integrity(e.pd, 1, 1);
	if (vt_equal(0, PTR_ERR_OR_ZERO(mr), "signature MR made")) {
		vt_equal((u64)-EINVAL, vt_sig_post_reg(&e, mr), "refused");
		vt_violations(1, "the QP is none of a reliable connection", "reported");
		ib_dereg_mr(mr);
	}
	vt_end_free(&e);
}

/* The wrong kind of region for each of both registrations */
static void test_kind(struct vt_devs *d)
{
	struct vt_sig s;

	if (vt_sig_make(&s, d, &dif))
		return;
	vt_equal((u64)-EINVAL, vt_sig_post_reg(&s.p.b, s.wire_mr), "refused");
	vt_violations(1, "the region is none for signatures", "reported");
	vt_equal((u64)-EINVAL, vt_post(&s.p.a, &(struct vt_wr) {
		.op = IB_WR_REG_MR, .mr = s.mr, .key = s.mr->rkey, .access = ALL }),
		"the other way round: refused");
	vt_violations(1, "a work request that the QP cannot take",
		      "the other way round: reported");
	vt_sig_end(&s);
}

/* Each registration's status is asked for before the next is posted */
static void test_status(struct vt_devs *d)
{
	struct vt_sig s;

	if (vt_sig_make(&s, d, &dif))
		return;
	if (vt_sig_reg(&s, false, true, VT_SIG_CHECK_ALL))
		goto out;
	vt_inv(&s.p.a, s.mr->rkey);
	s.registered = false;
	vt_equal((u64)-EINVAL, vt_sig_post_reg(&s.p.a, s.mr), "refused");
	vt_violations(1, "nobody has asked for the status of the last registration",
		      "reported");
	vt_sig_no_error(&s, "now it is asked for");
	if (!vt_sig_reg(&s, false, true, VT_SIG_CHECK_ALL)) {
		vt_sig_fill(&s, VT_OUT_WRITE, false, true, 1);
		vt_is_status(IB_WC_SUCCESS, vt_sig_move(&s, VT_OUT_WRITE, 0,
							vt_sig_len(&s, true)), "it works");
		vt_ok(vt_sig_arrived(&s, VT_OUT_WRITE, false, true, 1), "the data");
		vt_sig_no_error(&s, "it works");
	}
out:
	vt_sig_end(&s);
}

/* The device's input: attributes count as they are at that time */
static void test_attrs(struct vt_devs *d)
{
	struct vt_sig s;

	if (vt_sig_make(&s, d, &dif))
		return;
	if (!vt_sig_reg(&s, false, true, VT_SIG_CHECK_ALL)) {
		memset(s.mr->sig_attrs, 0xff, sizeof(*s.mr->sig_attrs));
		vt_sig_fill(&s, VT_OUT_WRITE, false, true, 1);
		vt_is_status(IB_WC_SUCCESS, vt_sig_move(&s, VT_OUT_WRITE, 0,
							vt_sig_len(&s, true)), "moved");
		vt_ok(vt_sig_arrived(&s, VT_OUT_WRITE, false, true, 1), "the data");
		vt_sig_no_error(&s, "moved");
	}
	vt_sig_end(&s);
}

/* A region that goes while its registration waits behind a SEND */
static void test_gone(struct vt_devs *d)
{
	struct vt_sig s;

	if (vt_sig_make(&s, d, &dif))
		return;
	vt_sig_attrs(&s, false, true, VT_SIG_CHECK_ALL);
	vt_equal(0, ib_map_mr_sg_pi(s.mr, s.data_sg, s.data_n, NULL, NULL, 0, NULL,
				    PAGE_SIZE), "mapped");
	vt_equal(0, vt_send(&s.p.a, 1, NULL), "SEND posted, no receive is there");
	vt_equal(0, vt_sig_post_reg(&s.p.a, s.mr), "REG_MR_INTEGRITY posted behind it");
	vt_equal(0, ib_dereg_mr(s.mr), "its MR gone");
	s.mr = NULL;
	vt_equal(0, vt_recv(&s.p.b, 1, NULL, 0), "receive posted");
	vt_expect(s.p.a.scq, IB_WC_SUCCESS, NULL, "the SEND goes on");
	vt_expect(s.p.a.scq, IB_WC_MW_BIND_ERR, NULL, "the registration fails");
	vt_violations(1, "the MR is gone", "reported");
	vt_sig_end(&s);
}

/* ---- when it is used ---- */

/* What does not fit each other */
struct misfit {
	const char *what;
	bool mem_pi;
	bool wire_pi;
	u16 mem_block;
	u16 wire_block;
	u32 less_data;
	u32 less_meta;
	const char *why;
};

/* Registered as asked for, whatever that is */
static int misfit_reg(struct vt_sig *s, const struct misfit *c)
{
	vt_sig_attrs(s, c->mem_pi, c->wire_pi, VT_SIG_CHECK_ALL);
	s->mr->sig_attrs->mem.sig.dif.pi_interval = c->mem_block;
	s->mr->sig_attrs->wire.sig.dif.pi_interval = c->wire_block;
	sg_dma_len(&s->data_sg[s->data_n - 1]) -= c->less_data;
	sg_dma_len(&s->meta_sg[1]) -= c->less_meta;
	if (!vt_equal(0, ib_map_mr_sg_pi(s->mr, s->data_sg, s->data_n, NULL, s->meta_sg,
					 c->mem_pi ? 2 : 0, NULL, PAGE_SIZE),
		      "%s: mapped", c->what) ||
	    !vt_equal(0, vt_sig_post_reg(&s->p.a, s->mr), "%s: posted", c->what) ||
	    !vt_expect(s->p.a.scq, IB_WC_SUCCESS, NULL, "%s: registered", c->what))
		return -EIO;
	return 0;
}

static void one_misfit(struct vt_devs *d, const struct misfit *c, enum vt_sig_way way,
		       enum ib_wc_status status)
{
	struct vt_sig s;

	if (vt_sig_make(&s, d, &dif))
		return;
	if (!misfit_reg(&s, c)) {
		vt_sig_fill(&s, way, c->mem_pi, c->wire_pi, 1);
		vt_is_status(status, vt_sig_move(&s, way, 0, 512), "%s: status", c->what);
		vt_violations(1, c->why, "%s: reported", c->what);
		vt_ok(vt_until(vt_state(&s.p.a) == IB_QPS_ERR), "%s: it is in ERR",
		      c->what);
		vt_ok(vt_is_all(vt_sig_is_in(way) ? vt_sig_data(&s) : s.wire.va, 512, 0x5a),
		      "%s: nothing came", c->what);
	}
	vt_sig_end(&s);
}

static void test_misfits(struct vt_devs *d)
{
	static const struct misfit cases[] = {
		{ "blocks of two sizes", true, true, 512, 1024, 0, 0,
		  "blocks of two sizes" },
		{ "half a block", false, true, 0, 512, 256, 0,
		  "its data is not whole blocks: 2304 bytes in blocks of 512" },
		{ "half a block, in memory", true, false, 512, 0, 256, 0,
		  "its data is not whole blocks" },
		{ "blocks of no bytes", false, true, 0, 0, 0, 0,
		  "its data is not whole blocks" },
		{ "too little metadata", true, false, 512, 0, 0, 1,
		  "each block: 2560 bytes in blocks of 512, metadata 39" },
		{ "metadata of more blocks", true, true, 512, 512, 512, 0,
		  "its metadata is not 8 bytes for each block" },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		one_misfit(d, &cases[i], VT_OUT_WRITE, IB_WC_LOC_PROT_ERR);
		one_misfit(d, &cases[i], VT_IN_WRITE, IB_WC_REM_ACCESS_ERR);
	}
}

/* From elsewhere than where the last part ended */
static void test_order(struct vt_devs *d)
{
	struct vt_sig s;

	if (vt_sig_make(&s, d, &dif))
		return;
	if (!vt_sig_reg(&s, false, true, VT_SIG_CHECK_ALL)) {
		vt_is_status(IB_WC_LOC_PROT_ERR, vt_sig_move(&s, VT_OUT_WRITE, 520, 520),
			     "not from its begin");
		vt_violations(1, "is used from byte 520, it was up to byte 0",
			      "not from its begin: reported");
	}
	vt_sig_end(&s);

	if (vt_sig_make(&s, d, &dif))
		return;
	if (!vt_sig_reg(&s, true, false, 0)) {
		vt_is_status(IB_WC_SUCCESS, vt_sig_move(&s, VT_IN_WRITE, 0, 700),
			     "the first part");
		vt_is_status(IB_WC_REM_ACCESS_ERR, vt_sig_move(&s, VT_IN_WRITE, 0, 700),
			     "the same once more");
		vt_violations(1, "is used from byte 0, it was up to byte 700",
			      "the same once more: reported");
	}
	vt_sig_end(&s);
}

/*
 * Two users at once: both ends of the connection are in one protection domain, and the data
 * read is also written.
 */
static void test_two(struct vt_devs *d)
{
	struct vt_devs both_a = { .a = d->a, .b = d->a };
	struct vt_opt opt = { .integrity = true };
	struct ib_sge sge;
	struct vt_pair p;
	struct vt_sig s;

	if (vt_sig_make(&s, d, &dif))
		return;
	opt.pd = s.p.a.pd;
	if (vt_pair_make(&p, &both_a, &opt))
		goto out;
	if (!vt_sig_reg(&s, false, true, VT_SIG_CHECK_ALL)) {
		sge = (struct ib_sge) { s.mr->iova, 520, s.mr->lkey };
		vt_equal(0, vt_post(&p.a, &(struct vt_wr) {
			.op = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED, .sge = &sge,
			.num_sge = 1, .raddr = s.mr->iova, .rkey = s.mr->rkey }),
			"WRITE of a region into itself: posted");
		vt_expect(p.a.scq, IB_WC_LOC_PROT_ERR, NULL, "its status");
		vt_violations(1, "is used by two at once", "reported");
	}
	vt_pair_free(&p);
out:
	vt_sig_end(&s);
}

const struct vt_test vt_sig_rules[] = {
	{ "qp", test_qp },
	{ "ud", test_ud },
	{ "kind", test_kind },
	{ "status", test_status },
	{ "attributes", test_attrs },
	{ "gone", test_gone },
	{ "misfits", test_misfits },
	{ "order", test_order },
	{ "two", test_two },
	{}
};
