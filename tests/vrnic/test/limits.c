// SPDX-License-Identifier: GPL-2.0
/*
 * The module's parameters: the device reports and enforces them. The values are those of the
 * scenario, tests/guest/vrnic/vrnic.sh. The core has some objects of each kind for itself.
 */

#include "vrnic_test.h"

/* link=roce vectors=1 max_qp=5 ... in the scenario */
#define VECTORS		1
#define MAX_QP		5
#define MAX_QP_WR	600
#define MAX_SEND_SGE	3
#define MAX_RECV_SGE	2
#define MAX_SGE_RD	1
#define MAX_INLINE	40
#define MAX_CQ		8
#define MAX_CQE		1000
#define MAX_SRQ		2
#define MAX_SRQ_WR	30
#define MAX_MR		6
#define MAX_MR_ERRNO	28
#define MAX_MR_PAGES	8
#define MAX_RD_ATOM	3

static void test_attributes(struct vt_devs *d)
{
	const struct ib_device_attr *a = &d->a->attrs;

	vt_equal(VECTORS, d->a->num_comp_vectors, "vectors");
	vt_equal(MAX_QP, a->max_qp, "max_qp");
	vt_equal(MAX_QP_WR, a->max_qp_wr, "max_qp_wr");
	vt_equal(MAX_SEND_SGE, a->max_send_sge, "max_send_sge");
	vt_equal(MAX_RECV_SGE, a->max_recv_sge, "max_recv_sge");
	vt_equal(MAX_SGE_RD, a->max_sge_rd, "max_sge_rd");
	vt_equal(MAX_CQ, a->max_cq, "max_cq");
	vt_equal(MAX_CQE, a->max_cqe, "max_cqe");
	vt_equal(MAX_SRQ, a->max_srq, "max_srq");
	vt_equal(MAX_SRQ_WR, a->max_srq_wr, "max_srq_wr");
	vt_equal(MAX_RECV_SGE, a->max_srq_sge, "max_srq_sge");
	vt_equal(MAX_MR, a->max_mr, "max_mr");
	vt_equal(MAX_MR_PAGES, a->max_fast_reg_page_list_len, "max_mr_pages");
	vt_equal(MAX_RD_ATOM, a->max_qp_rd_atom, "max_rd_atom");
	vt_equal(MAX_RD_ATOM, a->max_qp_init_rd_atom, "max_rd_atom, as initiator");
	vt_equal(0, a->kernel_cap_flags & IBK_SG_GAPS_REG, "no SG_GAPS");
	vt_equal(0, a->kernel_cap_flags & IBK_LOCAL_DMA_LKEY, "no local_dma_lkey");
	vt_ok(a->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS,
	      "memory management extensions");
}

/* A QP that asks for as much as there is, and for one more of each */
static void test_qp(struct vt_devs *d)
{
	struct vt_opt most = {
		.send_wr = MAX_QP_WR, .recv_wr = MAX_QP_WR, .send_sge = MAX_SEND_SGE,
		.recv_sge = MAX_RECV_SGE, .inlined = MAX_INLINE, .cqe = MAX_CQE,
	};
	struct vt_opt more[] = { most, most, most, most, most, most };
	static struct vt_end e[MAX_QP];		/* large; one test runs at a time */
	int i, made = 0;

	memset(e, 0, sizeof(e));
	more[0].send_wr++;
	more[1].recv_wr++;
	more[2].send_sge++;
	more[3].recv_sge++;
	more[4].inlined++;
	more[5].cqe++;
	if (vt_equal(0, vt_end_make(&e[0], d->a, &most), "a QP of as much as there is"))
		vt_end_free(&e[0]);
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		if (!vt_equal((u64)-EINVAL, vt_end_make(&e[0], d->a, &more[i]),
			      "one more, case %d: refused", i))
			vt_end_free(&e[0]);
	}
	more[5] = most;
	more[5].vector = VECTORS;
	vt_equal((u64)-EINVAL, vt_end_make(&e[0], d->a, &more[5]), "vectors: refused");

	/* The core has one QP: GSI; and CQs are as many as are made */
	for (i = 0; i < MAX_QP; i++) {
		struct vt_cq *cq = i ? e[0].scq : NULL;
		struct vt_opt opt = { .scq = cq, .rcq = cq, .send_sge = 1,
				      .recv_sge = 1, .pd = e[0].pd };

		if (vt_end_make(&e[i], d->a, &opt))
			break;
		made++;
	}
	vt_equal(MAX_QP, made + 1, "as many QPs as there are");
	vt_equal(MAX_QP, atomic_read(&to_vdev(d->a)->nr_qps), "so many are counted");
	while (made--)
		vt_end_free(&e[made]);
}

static void test_cq(struct vt_devs *d)
{
	int i, n = MAX_CQ - atomic_read(&to_vdev(d->a)->nr_cqs);
	struct vt_cq cq[MAX_CQ] = {}, more;

	for (i = 0; i < n; i++)
		vt_equal(0, vt_cq_make(&cq[i], d->a, 4, 0), "a CQ");
	vt_equal((u64)-ENOMEM, vt_cq_make(&more, d->a, 4, 0), "one more: refused");
	for (i = 0; i < n; i++)
		vt_cq_free(&cq[i]);
}

static void test_srq(struct vt_devs *d)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = MAX_SRQ_WR, .max_sge = MAX_RECV_SGE },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_srq *srq[MAX_SRQ], *more;
	struct ib_pd *pd = ib_alloc_pd(d->a, 0);
	int i;

	if (!vt_ok(!IS_ERR(pd), "PD made"))
		return;
	for (i = 0; i < MAX_SRQ; i++) {
		srq[i] = ib_create_srq(pd, &attr);
		vt_ok(!IS_ERR(srq[i]), "an SRQ");
	}
	more = ib_create_srq(pd, &attr);
	vt_equal((u64)-ENOMEM, PTR_ERR_OR_ZERO(more), "one more: refused");
	for (i = 0; i < MAX_SRQ; i++) {
		if (!IS_ERR(srq[i]))
			ib_destroy_srq(srq[i]);
	}
	attr.attr.max_wr++;
	more = ib_create_srq(pd, &attr);
	vt_equal((u64)-EINVAL, PTR_ERR_OR_ZERO(more), "one with more receives: refused");
	attr.attr.max_wr--;
	attr.attr.max_sge++;
	more = ib_create_srq(pd, &attr);
	vt_equal((u64)-EINVAL, PTR_ERR_OR_ZERO(more), "one with more SGEs: refused");
	ib_dealloc_pd(pd);
}

/* Without local_dma_lkey each PD has an MR of all memory, which the core makes */
static void test_mr(struct vt_devs *d)
{
	struct ib_pd *pd = ib_alloc_pd(d->a, 0);
	struct ib_mr *mr[MAX_MR], *more;
	int i, n;

	if (!vt_ok(!IS_ERR(pd), "PD made"))
		return;
	n = MAX_MR - atomic_read(&to_vdev(d->a)->nr_mrs);
	vt_at_least(1, n, "MRs are left");
	for (i = 0; i < n; i++) {
		mr[i] = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, MAX_MR_PAGES);
		vt_ok(!IS_ERR(mr[i]), "an MR");
	}
	more = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
	vt_equal((u64)-MAX_MR_ERRNO, PTR_ERR_OR_ZERO(more), "one more: refused");
	for (i = 0; i < n; i++) {
		if (!IS_ERR(mr[i]))
			ib_dereg_mr(mr[i]);
	}
	more = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, MAX_MR_PAGES + 1);
	vt_equal((u64)-EINVAL, PTR_ERR_OR_ZERO(more), "one of more pages: refused");
	more = ib_alloc_mr(pd, IB_MR_TYPE_SG_GAPS, 1);
	vt_equal((u64)-EOPNOTSUPP, PTR_ERR_OR_ZERO(more), "one of SG_GAPS: refused");
	ib_dealloc_pd(pd);
}

/* Over the PD's own key, and not over none */
static void test_lkey(struct vt_devs *d)
{
	struct vt_opt opt = { .send_sge = 1, .recv_sge = 1 };
	struct vt_buf buf = {};
	struct ib_sge sge;
	struct vt_end e;

	if (!vt_equal(0, vt_end_make(&e, d->a, &opt), "QP made"))
		return;
	if (!vt_equal(0, vt_connect(&e, &e), "connected") ||
	    vt_buf_make(&buf, d->a, PAGE_SIZE))
		goto out;
	vt_ok(e.pd->local_dma_lkey, "the PD has a key");
	sge = vt_sge(&e, &buf, 0, 64);
	vt_equal(0, vt_recv(&e, 1, &sge, 1), "receive posted");
	vt_equal(0, vt_send(&e, 1, &sge), "SEND posted");
	vt_expect(e.scq, IB_WC_SUCCESS, NULL, "by that key");
	vt_expect(e.rcq, IB_WC_SUCCESS, NULL, "it arrives");
	sge.lkey = 0;
	vt_equal(0, vt_send(&e, 2, &sge), "SEND posted");
	vt_expect(e.scq, IB_WC_LOC_PROT_ERR, NULL, "by none");
	vt_violations(1, "key 0", "by none: reported");
out:
	vt_end_free(&e);
	vt_buf_free(&buf);
}

static void test_read_sge(struct vt_devs *d)
{
	struct vt_opt opt = { .send_sge = 2, .recv_sge = 1 };
	struct ib_sge sge[2] = {};
	struct vt_end e;

	if (!vt_equal(0, vt_end_make(&e, d->a, &opt), "QP made"))
		return;
	vt_equal(0, vt_connect(&e, &e), "connected");
	vt_equal((u64)-EINVAL, vt_post(&e, &(struct vt_wr) {
		.op = IB_WR_RDMA_READ, .sge = sge, .num_sge = 2 }),
		"a READ of two SGEs: refused");
	vt_violations(1, "cannot take", "a READ of two SGEs: reported");
	vt_equal(0, vt_post(&e, &(struct vt_wr) {
		.op = IB_WR_RDMA_READ, .flags = IB_SEND_SIGNALED, .sge = sge,
		.num_sge = 1 }), "of one: posted");
	vt_expect(e.scq, IB_WC_SUCCESS, NULL, "of one");
	vt_end_free(&e);
}

/* A SEND that would invalidate is one that does not */
static void test_remote_inv(struct vt_devs *d)
{
	struct vt_opt opt = { .send_sge = 1, .recv_sge = 1 };
	struct ib_wc wc;
	struct vt_end e;

	if (!vt_equal(0, vt_end_make(&e, d->a, &opt), "QP made"))
		return;
	vt_equal(0, vt_connect(&e, &e), "connected");
	vt_equal(0, vt_recv(&e, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_post(&e, &(struct vt_wr) {
		.op = IB_WR_SEND_WITH_INV, .flags = IB_SEND_SIGNALED, .imm = 0xbad }),
		"posted");
	vt_expect(e.scq, IB_WC_SUCCESS, NULL, "SEND_WITH_INV");
	vt_expect(e.rcq, IB_WC_SUCCESS, &wc, "it arrives");
	vt_equal(0, wc.wc_flags, "and says nothing of it");
	vt_end_free(&e);
}

const struct vt_test vt_limits[] = {
	{ "attributes", test_attributes },
	{ "qp", test_qp },
	{ "cq", test_cq },
	{ "srq", test_srq },
	{ "mr", test_mr },
	{ "lkey", test_lkey },
	{ "read-sge", test_read_sge },
	{ "remote-inv", test_remote_inv },
	{}
};

/* max_srq=0 max_inline=0 */
static void test_none(struct vt_devs *d)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct vt_opt opt = { .inlined = 1 };
	struct ib_pd *pd = ib_alloc_pd(d->a, 0);
	struct ib_srq *srq;
	struct vt_end e;

	if (!vt_ok(!IS_ERR(pd), "PD made"))
		return;
	vt_equal(0, d->a->attrs.max_srq, "max_srq");
	srq = ib_create_srq(pd, &attr);
	vt_equal((u64)-EOPNOTSUPP, PTR_ERR_OR_ZERO(srq), "an SRQ: there are none");
	vt_equal((u64)-EINVAL, vt_end_make(&e, d->a, &opt), "inline: there is none");
	ib_dealloc_pd(pd);
}

const struct vt_test vt_limits_none[] = {
	{ "none", test_none },
	{}
};
