// SPDX-License-Identifier: GPL-2.0
/*
 * The file "counters": a known number of all operations is done, and the whole text has to
 * match. On a device that was used before, the shell subtracts the earlier counts
 * (vrnic_counters_since).
 */

#include "vrnic_test.h"

struct count {
	struct ib_pd *pd;	/* of the end b, as is the SRQ */
	struct ib_srq *srq;
	struct vt_pair p;
	struct vt_buf from;
	struct vt_buf to;
	struct scatterlist sg;
	struct ib_mr *mr;	/* of the end a */
	struct ib_mr *all;	/* of the end b */
};

static void count_end(struct count *c)
{
	if (!IS_ERR_OR_NULL(c->all))
		c->all->device->ops.dereg_mr(c->all, NULL);
	if (!IS_ERR_OR_NULL(c->mr))
		ib_dereg_mr(c->mr);
	vt_pair_free(&c->p);
	vt_buf_free(&c->from);
	vt_buf_free(&c->to);
	if (!IS_ERR_OR_NULL(c->srq))
		ib_destroy_srq(c->srq);
	if (!IS_ERR_OR_NULL(c->pd))
		ib_dealloc_pd(c->pd);
}

static int count_make(struct count *c, struct vt_devs *d)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = 8, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct vt_opt opt = { .inlined = 64, .no_retry = true };

	memset(c, 0, sizeof(*c));
	c->pd = ib_alloc_pd(d->b, 0);
	if (!vt_ok(!IS_ERR(c->pd), "PD made"))
		return -ENOMEM;
	c->srq = ib_create_srq(c->pd, &attr);
	if (!vt_ok(!IS_ERR(c->srq), "SRQ made") ||
	    !vt_equal(0, vt_end_make(&c->p.a, d->a, &opt), "end made"))
		goto err;
	opt.pd = c->pd;
	opt.srq = c->srq;
	if (!vt_equal(0, vt_end_make(&c->p.b, d->b, &opt), "end with SRQ made") ||
	    !vt_equal(0, vt_connect(&c->p.a, &c->p.b), "connected") ||
	    vt_buf_make(&c->from, d->a, PAGE_SIZE) ||
	    vt_buf_make(&c->to, d->b, PAGE_SIZE))
		goto err;
	c->mr = ib_alloc_mr(c->p.a.pd, IB_MR_TYPE_MEM_REG, 1);
	c->all = d->b->ops.get_dma_mr(c->pd, IB_ACCESS_LOCAL_WRITE |
				      IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	if (!vt_ok(!IS_ERR(c->mr) && !IS_ERR(c->all), "MRs made"))
		goto err;
	sg_init_table(&c->sg, 1);
	sg_set_page(&c->sg, virt_to_page(c->from.va), PAGE_SIZE, 0);
	sg_dma_address(&c->sg) = c->from.dma;
	sg_dma_len(&c->sg) = PAGE_SIZE;
	if (vt_equal(1, ib_map_mr_sg(c->mr, &c->sg, 1, NULL, PAGE_SIZE), "mapped"))
		return 0;
err:
	count_end(c);
	return -EINVAL;
}

/* Calls that post receives: b has 5 by 4 of them, a has 2 by 1 */
static void post_receives(struct count *c)
{
	struct ib_sge sge = vt_sge(&c->p.b, &c->to, 0, 64);
	struct ib_recv_wr wr[2] = {
		{ .sg_list = &sge, .num_sge = 1, .next = &wr[1] },
		{ .sg_list = &sge, .num_sge = 1 },
	};
	int i, ret = 0;

	for (i = 0; i < 3; i++)
		ret |= vt_recv(&c->p.b, i, &sge, 1);
	ret |= ib_post_srq_recv(c->srq, wr, NULL);
	sge = vt_sge(&c->p.a, &c->from, PAGE_SIZE / 2, 64);
	ret |= ib_post_recv(c->p.a.qp, wr, NULL);
	vt_equal(0, ret, "receives posted");
}

static int post(struct count *c, enum ib_wr_opcode op, u32 len, int flags)
{
	struct ib_sge sge = vt_sge(&c->p.a, &c->from, 0, len);

	return vt_post(&c->p.a, &(struct vt_wr) {
		.op = op, .flags = flags, .sge = &sge, .num_sge = !!len,
		.raddr = c->to.dma, .rkey = c->all->rkey,
		.mr = c->mr, .key = c->mr->rkey, .imm = c->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE });
}

/* Two SENDs by one call, of 10 bytes and of 20 that are inline */
static int post_chain(struct count *c)
{
	struct ib_sge first = vt_sge(&c->p.a, &c->from, 0, 10);
	struct ib_sge second = { .addr = (uintptr_t)c->from.va, .length = 20 };
	struct ib_send_wr wr[2] = {
		{ .opcode = IB_WR_SEND, .sg_list = &first, .num_sge = 1,
		  .next = &wr[1] },
		{ .opcode = IB_WR_SEND, .sg_list = &second, .num_sge = 1,
		  .send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE },
	};

	return ib_post_send(c->p.a.qp, wr, NULL);
}

/* All that a does but its last, and which of it interrupts */
static void work_of_a(struct count *c)
{
	int ret = 0;

	ret |= rdma_set_cq_moderation(c->p.a.scq->cq, 1, 0);
	ib_req_notify_cq(c->p.a.scq->cq, IB_CQ_NEXT_COMP);
	ib_req_notify_cq(c->p.b.rcq->cq, IB_CQ_NEXT_COMP);
	ret |= post_chain(c);
	ib_req_notify_cq(c->p.b.rcq->cq, IB_CQ_NEXT_COMP);
	ret |= post(c, IB_WR_SEND, 30, IB_SEND_SIGNALED);
	ret |= post(c, IB_WR_RDMA_WRITE, 100, 0);
	ret |= post(c, IB_WR_RDMA_READ, 50, IB_SEND_SIGNALED);
	ret |= post(c, IB_WR_RDMA_READ, 50, IB_SEND_SIGNALED);
	ret |= post(c, IB_WR_REG_MR, 0, IB_SEND_SIGNALED);
	ret |= post(c, IB_WR_LOCAL_INV, 0, IB_SEND_SIGNALED);
	vt_equal(0, ret, "posted");
}

/* b sends one message too many, which ends it; a then finds no peer */
static void work_of_b(struct count *c)
{
	struct ib_sge sge = vt_sge(&c->p.b, &c->to, 0, 7);
	struct ib_wc wc[16];
	int i, ret = 0;

	for (i = 0; i < 3; i++)
		ret |= vt_send(&c->p.b, i, &sge);
	ret |= post(c, IB_WR_SEND, 8, IB_SEND_SIGNALED);
	vt_equal(0, ret, "posted by b, and by a after it");
	vt_equal(7, ib_poll_cq(c->p.a.scq->cq, 16, wc), "a: completions of work");
	vt_equal(2, ib_poll_cq(c->p.a.rcq->cq, 16, wc), "a: of receives");
	vt_equal(3, ib_poll_cq(c->p.b.scq->cq, 16, wc), "b: of work");
	vt_equal(3, ib_poll_cq(c->p.b.rcq->cq, 16, wc), "b: of receives");
}

#define TOTALS_A							\
	"posts_send 8|posts_recv 1|"					\
	"wr_send 4|wr_write 1|wr_read 2|wr_reg 1|wr_inv 1|wr_recv 2|wr_other 0|" \
	"bytes_send 68|bytes_write 100|bytes_read 100|bytes_reg 0|"	\
	"bytes_inv 0|bytes_recv 14|bytes_other 0|"			\
	"inline 1|signaled 7|cqe_send 7|cqe_recv 2|rnr 0|lost 1|"	\
	"arms 1|events 1|polls 2|cqes 9|moderations 1|"

#define TOTALS_B							\
	"posts_send 3|posts_recv 4|"					\
	"wr_send 3|wr_write 0|wr_read 0|wr_reg 0|wr_inv 0|wr_recv 3|wr_other 0|" \
	"bytes_send 21|bytes_write 0|bytes_read 0|bytes_reg 0|"		\
	"bytes_inv 0|bytes_recv 60|bytes_other 0|"			\
	"inline 0|signaled 3|cqe_send 3|cqe_recv 3|rnr 1|lost 0|"	\
	"arms 2|events 2|polls 2|cqes 6|moderations 0|"

#define QP_A								\
	"qp %u owner=vrnic_test state=6 pkey=0xffff to=%u cpu=0 "	\
	"posts_send=8 posts_recv=1 "					\
	"wr_send=4 wr_write=1 wr_read=2 wr_reg=1 wr_inv=1 wr_recv=2 wr_other=0 " \
	"bytes_send=68 bytes_write=100 bytes_read=100 bytes_reg=0 "	\
	"bytes_inv=0 bytes_recv=14 bytes_other=0 "			\
	"inline=1 signaled=7 cqe_send=7 cqe_recv=2 rnr=0 lost=1 |"

#define QP_B								\
	"qp %u owner=vrnic_test state=6 pkey=0xffff to=%u cpu=0 "	\
	"posts_send=3 posts_recv=0 "					\
	"wr_send=3 wr_write=0 wr_read=0 wr_reg=0 wr_inv=0 wr_recv=3 wr_other=0 " \
	"bytes_send=21 bytes_write=0 bytes_read=0 bytes_reg=0 "		\
	"bytes_inv=0 bytes_recv=60 bytes_other=0 "			\
	"inline=0 signaled=3 cqe_send=3 cqe_recv=3 rnr=1 lost=0 |"

#define CQ	"cq %u owner=vrnic_test arms=%d events=%d polls=1 cqes=%d moderations=%d|"

static void counters_are(struct ib_device *dev, const char *text, const char *what)
{
	vt_equal(0, vt_shell("vrnic_counters_are %s '%s'", dev_name(&dev->dev), text),
		 "%s: %s", dev_name(&dev->dev), what);
}

static void test_counters(struct vt_devs *d)
{
	static char text[1600];
	struct count c;

	vt_equal(0, vt_shell("vrnic_counters_keep %s && vrnic_counters_keep %s",
			     dev_name(&d->a->dev), dev_name(&d->b->dev)),
		 "what is there before");
	if (count_make(&c, d))
		return;
	post_receives(&c);
	work_of_a(&c);
	work_of_b(&c);
	snprintf(text, sizeof(text), TOTALS_A
		 "qps 1|cqs 2|srqs 0|mrs 1|violations 0|bad_pkeys 0|" QP_A CQ CQ,
		 c.p.a.qp->qp_num, c.p.b.qp->qp_num, c.p.a.scq->cq->res.id, 1, 1, 7, 1,
		 c.p.a.rcq->cq->res.id, 0, 0, 2, 0);
	counters_are(d->a, text, "what was done");
	snprintf(text, sizeof(text), TOTALS_B
		 "qps 1|cqs 2|srqs 1|mrs 1|violations 0|bad_pkeys 0|" QP_B CQ CQ
		 "srq %u owner=vrnic_test posts_recv=4|",
		 c.p.b.qp->qp_num, c.p.a.qp->qp_num, c.p.b.scq->cq->res.id, 0, 0, 3, 0,
		 c.p.b.rcq->cq->res.id, 2, 2, 3, 0, c.srq->res.id);
	counters_are(d->b, text, "what was done");
	count_end(&c);
	counters_are(d->a, TOTALS_A "qps 0|cqs 0|srqs 0|mrs 0|violations 0|bad_pkeys 0|",
		     "when all is gone");
	counters_are(d->b, TOTALS_B "qps 0|cqs 0|srqs 0|mrs 0|violations 0|bad_pkeys 0|",
		     "when all is gone");
}

const struct vt_test vt_counters[] = {
	{ "counters", test_counters },
	{}
};
