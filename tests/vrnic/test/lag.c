// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgments that take time (ack_lag=4): executed work completes later, in its order;
 * until then its memory has to stay unchanged, because hardware may send it again. The same
 * applies to waiting work.
 */

#include "vrnic_test.h"

#define RECEIVES	16

struct lag {
	struct ib_pd *pd;	/* of the end a */
	struct vt_pair p;
	struct vt_buf from;
	struct vt_buf to;
	struct ib_mr *mr;
};

static void lag_end(struct lag *l)
{
	if (!IS_ERR_OR_NULL(l->mr))
		l->mr->device->ops.dereg_mr(l->mr, NULL);
	vt_pair_free(&l->p);
	vt_buf_free(&l->from);
	vt_buf_free(&l->to);
	if (!IS_ERR_OR_NULL(l->pd))
		ib_dealloc_pd(l->pd);
}

/* @owner: the module that the end a is of, as the device sees it */
static int lag_make(struct lag *l, struct vt_devs *d, const char *owner)
{
	struct vt_opt opt = { .inlined = 64 };
	int i;

	memset(l, 0, sizeof(*l));
	if (!vt_equal(4, to_vdev(d->a)->config.ack_lag, "the device lags"))
		return -EINVAL;
	l->pd = __ib_alloc_pd(d->a, 0, owner);
	if (!vt_ok(!IS_ERR(l->pd), "PD made"))
		return -ENOMEM;
	if (!vt_equal(0, vt_end_make(&l->p.b, d->b, &opt), "end made"))
		goto err;
	opt.pd = l->pd;
	if (!vt_equal(0, vt_end_make(&l->p.a, d->a, &opt), "end made") ||
	    !vt_equal(0, vt_connect(&l->p.a, &l->p.b), "connected"))
		goto err;
	if (vt_buf_make(&l->from, d->a, PAGE_SIZE) ||
	    vt_buf_make(&l->to, d->b, PAGE_SIZE))
		goto err;
	l->mr = d->b->ops.get_dma_mr(l->p.b.pd, IB_ACCESS_LOCAL_WRITE |
				     IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	if (!vt_ok(!IS_ERR(l->mr), "MR made"))
		goto err;
	for (i = 0; i < RECEIVES; i++) {
		struct ib_sge sge = vt_sge(&l->p.b, &l->to, 0, PAGE_SIZE);

		vt_equal(0, vt_recv(&l->p.b, i, &sge, 1), "receive posted");
	}
	vt_fill(l->from.va, PAGE_SIZE, 1);
	return 0;
err:
	lag_end(l);
	return -ENOMEM;
}

static void test_late(struct vt_devs *d)
{
	struct ib_sge sge;
	struct ib_wc wc;
	struct lag l;
	int i;

	if (lag_make(&l, d, KBUILD_MODNAME))
		return;
	for (i = 0; i < 10; i++) {
		sge = vt_sge(&l.p.a, &l.from, i * 64, 64);
		vt_equal(0, vt_send(&l.p.a, i, &sge), "SEND posted");
		vt_expect(l.p.b.rcq, IB_WC_SUCCESS, &wc, "SEND %d has arrived", i);
		/* The timer for the last may have come, but nothing before it */
		vt_equal(i, wc.wr_id, "SEND %d: the receive's wr_id", i);
	}
	for (i = 0; i < 10; i++) {
		vt_expect(l.p.a.scq, IB_WC_SUCCESS, &wc, "SEND %d completes", i);
		vt_equal(i, wc.wr_id, "SEND %d: wr_id", i);
	}
	vt_ok(vt_none(l.p.a.scq), "each completes once");
	lag_end(&l);
}

/* @touch: the buffer is changed at once, or when the completion has come */
static void one(struct vt_devs *d, const char *what, enum ib_wr_opcode op, int flags,
		bool touch, unsigned int expected)
{
	unsigned long irq;
	struct ib_sge sge;
	struct lag l;
	int ret;

	if (lag_make(&l, d, KBUILD_MODNAME))
		return;
	sge = vt_sge(&l.p.a, &l.from, 0, 64);
	if (flags & IB_SEND_INLINE)
		sge.addr = (uintptr_t)l.from.va;
	/* The timer that acknowledges comes as an interrupt of this CPU */
	vt_timers_off(irq);
	ret = vt_post(&l.p.a, &(struct vt_wr) {
		.op = op, .flags = flags | IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .raddr = l.to.dma, .rkey = l.mr->rkey });
	if (touch)
		l.from.va[63] ^= 1;
	vt_timers_on(irq);
	vt_equal(0, ret, "%s: posted", what);
	vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "%s: completes", what);
	vt_violations(expected, "has changed before it was acknowledged", "%s: reported",
		      what);
	l.from.va[63] ^= 1;
	lag_end(&l);
}

static void test_changed(struct vt_devs *d)
{
	one(d, "SEND, changed", IB_WR_SEND, 0, true, 1);
	one(d, "SEND, unchanged", IB_WR_SEND, 0, false, 0);
	one(d, "WRITE, changed", IB_WR_RDMA_WRITE, 0, true, 1);
	one(d, "WRITE, unchanged", IB_WR_RDMA_WRITE, 0, false, 0);
	one(d, "inline SEND, changed", IB_WR_SEND, IB_SEND_INLINE, true, 0);
	one(d, "READ, changed", IB_WR_RDMA_READ, 0, true, 0);
}

/* Two SENDs wait for a receive; the buffer of one is changed meanwhile */
static void waits(struct vt_devs *d, int changed)
{
	struct ib_sge sge;
	struct lag l;
	int i;

	if (lag_make(&l, d, KBUILD_MODNAME))
		return;
	for (i = 0; i < RECEIVES; i++) {
		vt_equal(0, vt_send(&l.p.a, i, NULL), "a receive is used");
		vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "it has come");
	}
	for (i = 0; i < 2; i++) {
		sge = vt_sge(&l.p.a, &l.from, i * 64, 64);
		vt_equal(0, vt_send(&l.p.a, i, &sge), "SEND posted");
	}
	vt_ok(vt_none(l.p.a.scq), "they wait");
	if (changed < 2)
		l.from.va[changed * 64 + 63] ^= 1;
	for (i = 0; i < 2; i++) {
		sge = vt_sge(&l.p.b, &l.to, 0, PAGE_SIZE);
		vt_equal(0, vt_recv(&l.p.b, i, &sge, 1), "receive posted");
	}
	for (i = 0; i < 2; i++)
		vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "SEND completes");
	vt_violations(changed < 2, "has changed before it was sent",
		      "buffer %d: reported", changed);
	lag_end(&l);
}

static void test_waits(struct vt_devs *d)
{
	waits(d, 0);
	waits(d, 1);
	waits(d, 2);
}

/* ---- answers ---- */

/* Where an NVMe command has its ID, a completion the command's, and their sizes */
#define SQE_CID		2
#define SQE_BYTES	64
#define CQE_CID		12
#define CQE_BYTES	16

/* Where in the end b's memory its answers are */
#define ANSWER_AT	2048

/* Return: the SGEs of command @cid, in separate memory */
static int command(struct lag *l, struct ib_sge *sge, u16 cid, int n)
{
	u32 at = cid % 16 * SQE_BYTES;

	*(__le16 *)(l->from.va + at + SQE_CID) = cpu_to_le16(cid);
	if (n == 1) {
		*sge = vt_sge(&l->p.a, &l->from, at, SQE_BYTES);
		return 1;
	}
	/* The first ends within the ID */
	sge[0] = vt_sge(&l->p.a, &l->from, at, SQE_CID + 1);
	sge[1] = vt_sge(&l->p.a, &l->from, at + SQE_CID + 1, SQE_BYTES - SQE_CID - 1);
	return 2;
}

/* The end b sends a completion of command @cid, or a message too short for one */
static int answer(struct lag *l, u16 cid, u32 len)
{
	u32 at = ANSWER_AT + cid % 16 * CQE_BYTES;
	struct ib_sge sge = vt_sge(&l->p.b, &l->to, at, len);

	*(__le16 *)(l->to.va + at + CQE_CID) = cpu_to_le16(cid);
	return vt_send(&l->p.b, 1, &sge);
}

#define CID	0x4201

/**
 * struct answered - a SEND whose buffer is changed after an answer has arrived
 * @owner: its owner
 * @op: WRITE, for example
 * @sges: of the command: 1 or 2
 * @before: the answer arrives before it
 * @cid: the command ID in the answer; 0: there is no answer
 * @len: length of the answer
 * @expected: violations
 */
struct answered {
	const char *owner;
	enum ib_wr_opcode op;
	int sges;
	bool before;
	u16 cid;
	u32 len;
	unsigned int expected;
};

static void one_answered(struct vt_devs *d, const struct answered *c)
{
	struct ib_sge sge[2], room;
	unsigned long irq;
	struct lag l;
	int ret, n;

	if (lag_make(&l, d, c->owner))
		return;
	room = vt_sge(&l.p.a, &l.from, 2048, 64);
	vt_equal(0, vt_recv(&l.p.a, 1, &room, 1), "receive posted");
	n = command(&l, sge, CID, c->sges);
	vt_timers_off(irq);
	ret = c->cid && c->before ? answer(&l, c->cid, c->len) : 0;
	ret |= vt_post(&l.p.a, &(struct vt_wr) {
		.op = c->op, .flags = IB_SEND_SIGNALED, .sge = sge,
		.num_sge = n, .raddr = l.to.dma, .rkey = l.mr->rkey });
	if (c->cid && !c->before)
		ret |= answer(&l, c->cid, c->len);
	l.from.va[CID % 16 * SQE_BYTES + 63] ^= 1;
	vt_timers_on(irq);
	vt_equal(0, ret, "%s, opcode %d: posted", c->owner, c->op);
	vt_equal(!!c->cid, !vt_none(l.p.a.rcq), "%s, opcode %d: answered", c->owner, c->op);
	vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "%s, opcode %d: completes", c->owner,
		  c->op);
	vt_violations(c->expected, "has changed before it was acknowledged",
		      "%s, opcode %d, %d SGEs, answer to %#x of %u bytes, before %d: reported",
		      c->owner, c->op, c->sges, c->cid, c->len, c->before);
	lag_end(&l);
}

/*
 * An NVMe host may reuse a command's memory when that command is answered, and no other
 * consumer may
 */
static void test_answered(struct vt_devs *d)
{
	static const struct answered cases[] = {
		{ KBUILD_MODNAME, IB_WR_SEND, 1, false, CID, CQE_BYTES, 1 },
		{ "nvmet_rdma", IB_WR_SEND, 1, false, CID, CQE_BYTES, 1 },
		{ "nvme_rdma", IB_WR_SEND, 1, false, CID, CQE_BYTES, 0 },
		{ "nvme_rdma", IB_WR_SEND, 2, false, CID, CQE_BYTES, 0 },
		{ "nvme_rdma", IB_WR_SEND, 1, false, CID ^ 1, CQE_BYTES, 1 },
		{ "nvme_rdma", IB_WR_SEND, 1, false, CID ^ 0x100, CQE_BYTES, 1 },
		{ "nvme_rdma", IB_WR_SEND, 1, false, CID, CQE_BYTES - 1, 1 },
		{ "nvme_rdma", IB_WR_SEND, 1, true, CID, CQE_BYTES, 1 },
		{ "nvme_rdma", IB_WR_SEND, 1, false, 0, 0, 1 },
		{ "nvme_rdma", IB_WR_RDMA_WRITE, 1, false, CID, CQE_BYTES, 1 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		one_answered(d, &cases[i]);
}

/* Four commands under way, as many as lag; two are answered, all are changed */
static void test_several(struct vt_devs *d)
{
	struct ib_sge sge, room;
	unsigned long irq;
	struct lag l;
	int i, ret = 0;

	if (lag_make(&l, d, "nvme_rdma"))
		return;
	room = vt_sge(&l.p.a, &l.from, 2048, 64);
	vt_equal(0, vt_recv(&l.p.a, 1, &room, 1), "receive posted");
	vt_equal(0, vt_recv(&l.p.a, 2, &room, 1), "receive posted");
	vt_timers_off(irq);
	for (i = 0; i < 4; i++) {
		command(&l, &sge, CID + i, 1);
		ret |= vt_send(&l.p.a, i, &sge);
	}
	ret |= answer(&l, CID + 3, CQE_BYTES);
	ret |= answer(&l, CID, CQE_BYTES);
	for (i = 0; i < 4; i++)
		l.from.va[(CID + i) % 16 * SQE_BYTES + 63] ^= 1;
	vt_timers_on(irq);
	vt_equal(0, ret, "four commands and two answers posted");
	for (i = 0; i < 4; i++)
		vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "command %d completes", i);
	vt_violations(2, "has changed before it was acknowledged",
		      "those that were not answered: reported");
	lag_end(&l);
}

/* The data behind a command is not the host's before the SEND completes */
static void behind(struct vt_devs *d, u32 at, unsigned int expected)
{
	struct ib_sge sge[2], room;
	unsigned long irq;
	struct lag l;
	int ret;

	if (lag_make(&l, d, "nvme_rdma"))
		return;
	room = vt_sge(&l.p.a, &l.from, 2048, 64);
	vt_equal(0, vt_recv(&l.p.a, 1, &room, 1), "receive posted");
	command(&l, sge, 0, 1);
	sge[1] = vt_sge(&l.p.a, &l.from, SQE_BYTES, 512);
	vt_timers_off(irq);
	ret = vt_post(&l.p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .flags = IB_SEND_SIGNALED, .sge = sge, .num_sge = 2 });
	ret |= answer(&l, 0, CQE_BYTES);
	l.from.va[at] ^= 1;
	vt_timers_on(irq);
	vt_equal(0, ret, "byte %u: posted", at);
	vt_expect(l.p.a.scq, IB_WC_SUCCESS, NULL, "byte %u: completes", at);
	vt_violations(expected, "has changed before it was acknowledged",
		      "byte %u: reported", at);
	lag_end(&l);
}

static void test_behind(struct vt_devs *d)
{
	behind(d, SQE_BYTES - 1, 0);
	behind(d, SQE_BYTES, 1);
	behind(d, SQE_BYTES + 511, 1);
}

const struct vt_test vt_lag[] = {
	{ "late", test_late },
	{ "changed", test_changed },
	{ "waits", test_waits },
	{ "answered", test_answered },
	{ "several", test_several },
	{ "behind", test_behind },
	{}
};
