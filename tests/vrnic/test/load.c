// SPDX-License-Identifier: GPL-2.0
/*
 * Many QPs at once, each end with a thread of its own, on all CPUs: messages both ways, and
 * between them WRITEs and READs; all contents are verified.
 *
 * Message number n of an end has the seed n, and a length that follows from it, so that the
 * receiver knows the expected content.
 */

#include <linux/kthread.h>
#include <linux/slab.h>
#include "vrnic_test.h"

#define PAIRS	4
#define DEPTH	8
#define ROOM	8192
#define COUNT	160		/* messages of each end */
#define RDMA	1000000		/* wr_ids from there are of WRITEs and READs */

/* An end */
struct load {
	struct vt_end *e;
	struct load *peer;
	struct vt_buf tx;	/* DEPTH places of ROOM bytes */
	struct vt_buf rx;	/* the same for receives */
	struct vt_buf far;	/* that the peer writes into, and reads */
	struct vt_buf here;	/* data that was read */
	struct ib_mr *mr;	/* of all memory */
	struct vt_thread thread;
	u32 sent, done, received;
	u32 rdma, rdma_done;
};

static u32 length_of(u32 n)
{
	return n * 2654435761U % ROOM;
}

static int load_recv(struct load *l, u32 n)
{
	struct ib_sge sge = vt_sge(l->e, &l->rx, n % DEPTH * ROOM, ROOM);

	return vt_recv(l->e, n, &sge, 1);
}

static int load_send(struct load *l, u32 n)
{
	struct ib_sge sge[3];
	u32 at = n % DEPTH * ROOM;
	int k;

	vt_fill(l->tx.va + at, length_of(n), n);
	k = vt_split(sge, 1 + n % 3, l->e, &l->tx, at, length_of(n));
	return vt_post(l->e, &(struct vt_wr) {
		.op = IB_WR_SEND, .id = n, .flags = IB_SEND_SIGNALED, .sge = sge,
		.num_sge = k });
}

/* A WRITE of the data that the next READ, behind it in the queue, returns */
static int load_rdma(struct load *l)
{
	struct ib_sge from = vt_sge(l->e, &l->tx, l->sent % DEPTH * ROOM, 1000);
	struct ib_sge to = vt_sge(l->e, &l->here, 0, 1000);
	struct vt_wr w = {
		.op = IB_WR_RDMA_WRITE, .sge = &from, .num_sge = 1,
		.raddr = l->peer->far.dma + 40, .rkey = l->peer->mr->rkey,
	};
	int ret;

	vt_fill(l->tx.va + l->sent % DEPTH * ROOM, 1000, RDMA + l->rdma);
	memset(l->here.va, 0, 1000);
	ret = vt_post(l->e, &w);
	w.op = IB_WR_RDMA_READ;
	w.id = RDMA + l->rdma;
	w.flags = IB_SEND_SIGNALED;
	w.sge = &to;
	return ret ?: vt_post(l->e, &w);
}

static int sent_one(struct load *l, const struct ib_wc *wc)
{
	if (wc->status)
		return -EIO;
	if (wc->wr_id < RDMA)
		return wc->wr_id == l->done++ ? 0 : -EILSEQ;
	if (wc->wr_id != RDMA + l->rdma_done ||
	    !vt_is_filled(l->here.va, 1000, RDMA + l->rdma_done))
		return -EBADMSG;
	l->rdma_done++;
	return 0;
}

static int received_one(struct load *l, const struct ib_wc *wc)
{
	u32 n = l->received++;
	u8 *at = l->rx.va + n % DEPTH * ROOM;

	if (wc->status)
		return -EIO;
	if (wc->wr_id != n || wc->byte_len != length_of(n))
		return -EILSEQ;
	if (!vt_is_filled(at, wc->byte_len, n))
		return -EBADMSG;
	return load_recv(l, n + DEPTH);
}

static int load_thread(void *arg)
{
	ktime_t end = ktime_add_ms(ktime_get(), 60000);
	struct load *l = arg;
	struct ib_wc wc;
	int ret = 0;

	while (!ret && (l->done < COUNT || l->received < COUNT)) {
		if (ktime_after(ktime_get(), end))
			return -ETIMEDOUT;
		if (l->sent < COUNT && l->sent - l->done < DEPTH - 1) {
			/* With one of them under way, its place is no message's */
			if (l->sent % 8 == 7 && l->rdma == l->sent / 8 &&
			    l->rdma == l->rdma_done) {
				ret = load_rdma(l);
				l->rdma++;
			} else if (l->rdma == l->rdma_done) {
				ret = load_send(l, l->sent++);
			}
		}
		if (!ret && ib_poll_cq(l->e->scq->cq, 1, &wc) == 1)
			ret = sent_one(l, &wc);
		if (!ret && ib_poll_cq(l->e->rcq->cq, 1, &wc) == 1)
			ret = received_one(l, &wc);
		cond_resched();
	}
	return ret;
}

static int load_make(struct load *l, struct vt_end *e, struct load *peer)
{
	int i;

	l->e = e;
	l->peer = peer;
	if (vt_buf_make(&l->tx, e->dev, DEPTH * ROOM) ||
	    vt_buf_make(&l->rx, e->dev, DEPTH * ROOM) ||
	    vt_buf_make(&l->far, e->dev, PAGE_SIZE) ||
	    vt_buf_make(&l->here, e->dev, PAGE_SIZE))
		return -ENOMEM;
	l->mr = e->dev->ops.get_dma_mr(e->pd, IB_ACCESS_LOCAL_WRITE |
				       IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	if (!vt_ok(!IS_ERR(l->mr), "MR made"))
		return -ENOMEM;
	for (i = 0; i < DEPTH; i++)
		vt_equal(0, load_recv(l, i), "receive posted");
	return 0;
}

static void load_free(struct load *l)
{
	if (!IS_ERR_OR_NULL(l->mr))
		l->mr->device->ops.dereg_mr(l->mr, NULL);
	vt_buf_free(&l->tx);
	vt_buf_free(&l->rx);
	vt_buf_free(&l->far);
	vt_buf_free(&l->here);
}

static void test_load(struct vt_devs *d)
{
	struct vt_pair *p = kcalloc(PAIRS, sizeof(*p), GFP_KERNEL);
	struct load *l = kcalloc(2 * PAIRS, sizeof(*l), GFP_KERNEL);
	int i;

	if (!vt_ok(p && l, "memory"))
		goto out;
	for (i = 0; i < PAIRS; i++) {
		/* Every second one within one device */
		struct vt_devs one = { .a = d->a, .b = i % 2 ? d->a : d->b };

		if (vt_pair_make(&p[i], &one, NULL) ||
		    load_make(&l[2 * i], &p[i].a, &l[2 * i + 1]) ||
		    load_make(&l[2 * i + 1], &p[i].b, &l[2 * i]))
			goto out;
	}
	for (i = 0; i < 2 * PAIRS; i++)
		vt_thread_start(&l[i].thread, i % 3 == 0, load_thread, &l[i]);
	for (i = 0; i < 2 * PAIRS; i++) {
		vt_equal(0, vt_thread_stop(&l[i].thread), "end %d: all of it in order", i);
		vt_equal(COUNT, l[i].done, "end %d: messages sent", i);
		vt_equal(COUNT, l[i].received, "end %d: messages received", i);
		vt_equal(COUNT / 8, l[i].rdma_done, "end %d: READs", i);
	}
out:
	for (i = 0; p && l && i < PAIRS; i++) {
		load_free(&l[2 * i]);
		load_free(&l[2 * i + 1]);
		vt_pair_free(&p[i]);
	}
	kfree(l);
	kfree(p);
}

/* QPs are created and destroyed on all CPUs, while others are in use */
static int churn_thread(void *arg)
{
	struct vt_devs *d = arg;
	struct ib_wc wc;
	int i, n = 0;

	while (!kthread_should_stop()) {
		struct vt_end a, b;
		int ret = vt_end_make(&a, d->a, NULL);

		if (ret)
			return ret;
		ret = vt_end_make(&b, d->b, NULL);
		if (!ret)
			ret = vt_connect(&a, &b);
		for (i = 0; !ret && i < 4; i++)
			ret = vt_recv(&b, i, NULL, 0) ?: vt_send(&a, i, NULL);
		/* Some are polled, some go with the QP */
		for (i = 0; !ret && i < 2; i++)
			ret = vt_poll(b.rcq, &wc) ? 0 : -ENOENT;
		vt_end_free(&b);
		vt_end_free(&a);
		if (ret)
			return ret;
		n++;
	}
	return n;
}

static void test_churn(struct vt_devs *d)
{
	struct vt_thread thread[4] = {};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(thread); i++)
		vt_thread_start(&thread[i], i, churn_thread, d);
	test_load(d);
	for (i = 0; i < ARRAY_SIZE(thread); i++) {
		n = vt_thread_stop(&thread[i]);
		vt_ok(n > 0, "thread %d: QPs came and went (%d)", i, n);
	}
}

const struct vt_test vt_load[] = {
	{ "load", test_load },
	{ "churn", test_churn },
	{}
};
