// SPDX-License-Identifier: GPL-2.0
/*
 * Invalidation while another CPU copies: once it has completed, nothing accesses the memory
 * any more. The data that had been written shows that it arrived during a copy.
 */

#include <linux/kthread.h>
#include "vrnic_test.h"

#define PAGES	64
#define BYTES	(PAGES * PAGE_SIZE)
#define ROUNDS	25
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

struct inval {
	struct vt_pair p;	/* the end a writes into memory of b's PD */
	struct vt_pair q;	/* whether b's end invalidates it, or a's SEND */
	struct vt_buf buf;
	struct vt_mem mem;
	struct ib_mr *mr;
	u64 addr;		/* of the registered memory */
	u32 key;
	atomic_t writes;
};

/* Writes until it may not any more; Return: with which status that was */
static int write_on(void *arg)
{
	ktime_t end = ktime_add_ms(ktime_get(), 20000);
	struct inval *t = arg;
	struct ib_sge sge = vt_sge(&t->p.a, &t->buf, 0, BYTES);
	struct ib_wc wc;

	while (ktime_before(ktime_get(), end)) {
		if (vt_post(&t->p.a, &(struct vt_wr) {
			.op = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED,
			.sge = &sge, .num_sge = 1, .raddr = t->addr,
			.rkey = t->key }))
			return -EIO;
		while (ib_poll_cq(t->p.a.scq->cq, 1, &wc) != 1) {
			if (ktime_after(ktime_get(), end))
				return -ENOENT;
			cond_resched();
		}
		if (wc.status)
			return wc.status;
		atomic_inc(&t->writes);
		cond_resched();
	}
	return -ETIMEDOUT;
}

static int registered(struct inval *t, struct vt_end *e)
{
	int ret = vt_reg(e, t->mr, t->mem.sg, PAGES, ALL);

	t->addr = t->mr->iova;
	t->key = t->mr->rkey;
	atomic_set(&t->writes, 0);
	return ret;
}

static int connect_anew(struct vt_pair *p)
{
	return vt_to(&p->a, IB_QPS_RESET) ?: vt_to(&p->b, IB_QPS_RESET) ?:
	       vt_connect(&p->a, &p->b);
}

static int invalidate(struct inval *t, bool remote)
{
	struct ib_wc wc;

	if (!remote)
		return vt_inv(&t->q.b, t->mr->rkey);
	if (vt_recv(&t->q.b, 1, NULL, 0) ||
	    vt_post(&t->q.a, &(struct vt_wr) {
			.op = IB_WR_SEND_WITH_INV, .flags = IB_SEND_SIGNALED,
			.imm = t->mr->rkey }))
		return -EIO;
	if (!vt_poll(t->q.b.rcq, &wc) || wc.status ||
	    wc.wc_flags != IB_WC_WITH_INVALIDATE)
		return -EPROTO;
	return vt_poll(t->q.a.scq, &wc) ? wc.status : -ENOENT;
}

/* Return: whether the round was as it must be */
static bool one_round(struct inval *t, bool remote, int round)
{
	struct vt_thread thread = {};
	bool quiet;
	int ret;

	if (registered(t, &t->q.b))
		return false;
	memset(t->buf.va, round + 1, BYTES);
	if (vt_thread_start(&thread, 1, write_on, t))
		return false;
	if (!vt_until(atomic_read(&t->writes) > round % 7))
		vt_ok(false, "round %d: it writes", round);
	ret = invalidate(t, remote);
	vt_equal(0, ret, "round %d: invalidated", round);
	/* From here on it is ours */
	memset(t->mem.va, 0, BYTES);
	quiet = vt_is_all(t->mem.va, BYTES, 0);
	ret = vt_thread_stop(&thread);
	vt_is_status(IB_WC_REM_ACCESS_ERR, ret, "round %d: the writer is refused", round);
	vt_violations(1, "not valid", "round %d: reported", round);
	quiet &= vt_is_all(t->mem.va, BYTES, 0);
	vt_ok(vt_until(vt_state(&t->p.b) == IB_QPS_ERR), "round %d: responder in ERR",
	      round);
	return quiet && !connect_anew(&t->p);
}

static void rounds(struct vt_devs *d, bool remote)
{
	struct inval t = {};
	struct vt_opt opt = {};
	int i, good = 0;

	if (vt_pair_make(&t.p, d, NULL))
		return;
	opt.pd = t.p.b.pd;
	if (!vt_equal(0, vt_end_make(&t.q.a, d->a, NULL), "end made") ||
	    !vt_equal(0, vt_end_make(&t.q.b, d->b, &opt), "end of the same PD made") ||
	    !vt_equal(0, vt_connect(&t.q.a, &t.q.b), "connected") ||
	    vt_buf_make(&t.buf, d->a, BYTES) || vt_mem_make(&t.mem, d->b, PAGES))
		goto out;
	t.mr = ib_alloc_mr(t.p.b.pd, IB_MR_TYPE_MEM_REG, PAGES);
	if (!vt_ok(!IS_ERR(t.mr), "MR made"))
		goto out;
	for (i = 0; i < ROUNDS; i++)
		good += one_round(&t, remote, i);
	vt_equal(ROUNDS, good, "rounds without a write after it");
	ib_dereg_mr(t.mr);
out:
	vt_pair_free(&t.q);
	vt_pair_free(&t.p);
	vt_buf_free(&t.buf);
	vt_mem_free(&t.mem);
}

static void test_local(struct vt_devs *d)
{
	rounds(d, false);
}

static void test_remote(struct vt_devs *d)
{
	rounds(d, true);
}

/* Memory that is given back while a peer writes: dereg_mr waits, too */
static void test_dereg(struct vt_devs *d)
{
	struct vt_thread thread = {};
	struct inval t = {};
	int i, good = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (vt_pair_make(&t.p, d, NULL))
			return;
		t.mr = ib_alloc_mr(t.p.b.pd, IB_MR_TYPE_MEM_REG, PAGES);
		if (!vt_ok(!IS_ERR(t.mr), "MR made") ||
		    vt_buf_make(&t.buf, d->a, BYTES) ||
		    vt_mem_make(&t.mem, d->b, PAGES) ||
		    registered(&t, &t.p.b))
			break;
		memset(t.buf.va, 1, BYTES);
		if (vt_thread_start(&thread, 1, write_on, &t))
			break;
		if (!vt_until(atomic_read(&t.writes) > i % 7))
			vt_ok(false, "round %d: it writes", i);
		vt_equal(0, ib_dereg_mr(t.mr), "round %d: MR gone", i);
		t.mr = NULL;
		memset(t.mem.va, 0, BYTES);
		vt_is_status(IB_WC_REM_ACCESS_ERR, vt_thread_stop(&thread),
			     "round %d: the writer is refused", i);
		good += vt_is_all(t.mem.va, BYTES, 0);
		vt_violations(1, "a peer's RDMA WRITE", "round %d: reported", i);
		vt_pair_free(&t.p);
		vt_buf_free(&t.buf);
		vt_mem_free(&t.mem);
	}
	vt_equal(ROUNDS, good, "rounds without a write after it");
	if (!IS_ERR_OR_NULL(t.mr))
		ib_dereg_mr(t.mr);
	vt_pair_free(&t.p);
	vt_buf_free(&t.buf);
	vt_mem_free(&t.mem);
}

const struct vt_test vt_inval[] = {
	{ "local", test_local },
	{ "remote", test_remote },
	{ "dereg", test_dereg },
	{}
};
