// SPDX-License-Identifier: GPL-2.0
/*
 * Data through memory regions, on both sides: of pages that are no neighbours,
 * with any start and length; of any segments (SG_GAPS); of all memory.
 */

#include "vrnic_test.h"

#define PAGES	8
#define BYTES	(PAGES * PAGE_SIZE)
#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

/* One side: memory, and an MR of its PD */
struct side {
	struct vt_mem mem;
	struct ib_mr *mr;
};

struct sides {
	struct vt_pair p;
	struct side a;
	struct side b;
};

static int side_make(struct side *s, struct vt_end *e, enum ib_mr_type type)
{
	s->mr = ib_alloc_mr(e->pd, type, PAGES);
	if (!vt_ok(!IS_ERR(s->mr), "MR made"))
		return -EINVAL;
	return vt_mem_make(&s->mem, e->dev, PAGES);
}

static void side_free(struct side *s)
{
	if (!IS_ERR_OR_NULL(s->mr))
		vt_equal(0, ib_dereg_mr(s->mr), "MR gone");
	vt_mem_free(&s->mem);
}

static void sides_free(struct sides *t)
{
	side_free(&t->a);
	side_free(&t->b);
	vt_pair_free(&t->p);
}

static int sides_make(struct sides *t, struct vt_devs *d, enum ib_mr_type type)
{
	memset(t, 0, sizeof(*t));
	if (vt_pair_make(&t->p, d, NULL))
		return -EINVAL;
	if (!side_make(&t->a, &t->p.a, type) && !side_make(&t->b, &t->p.b, type))
		return 0;
	sides_free(t);
	return -ENOMEM;
}

/* Register @len bytes from @at of the side's memory */
static int reg_part(struct side *s, struct vt_end *e, u32 at, u32 len)
{
	struct scatterlist *sg = s->mem.sg + at / PAGE_SIZE;
	u32 n = DIV_ROUND_UP(at % PAGE_SIZE + len, PAGE_SIZE);
	struct scatterlist first = sg[0], last = sg[n - 1];
	int ret;

	sg_dma_len(&sg[n - 1]) = (at + len - 1) % PAGE_SIZE + 1;
	sg_dma_address(&sg[0]) += at % PAGE_SIZE;
	sg_dma_len(&sg[0]) -= at % PAGE_SIZE;
	ret = vt_reg(e, s->mr, sg, n, ALL);
	sg[n - 1] = last;
	sg[0] = first;
	if (!ret && !vt_equal(len, s->mr->length, "the region's length"))
		ret = -EINVAL;
	return ret;
}

/* @op with all of the region of the side a, and all of that of b */
static void move(struct sides *t, enum ib_wr_opcode op, const char *name, u32 at_a,
		 u32 at_b, u32 len)
{
	bool read = op == IB_WR_RDMA_READ;
	u8 *from = (read ? t->b.mem.va + at_b : t->a.mem.va + at_a);
	u8 *to = (read ? t->a.mem.va : t->b.mem.va);
	u32 at = read ? at_a : at_b;
	struct ib_sge sge, recv;
	char what[64];

	snprintf(what, sizeof(what), "%s of %u bytes, %#x to %#x", name, len, at_a,
		 at_b);
	memset(to, 0x5a, BYTES);
	vt_fill(from, len, len);
	sge = (struct ib_sge) { t->a.mr->iova, len, t->a.mr->lkey };
	recv = (struct ib_sge) { t->b.mr->iova, len, t->b.mr->lkey };
	if (op == IB_WR_SEND)
		vt_equal(0, vt_recv(&t->p.b, 1, &recv, 1), "%s: receive posted", what);
	vt_equal(0, vt_post(&t->p.a, &(struct vt_wr) {
		.op = op, .flags = IB_SEND_SIGNALED, .sge = &sge, .num_sge = 1,
		.raddr = t->b.mr->iova, .rkey = t->b.mr->rkey }), "%s: posted", what);
	vt_expect(t->p.a.scq, IB_WC_SUCCESS, NULL, "%s: completes", what);
	if (op == IB_WR_SEND)
		vt_expect(t->p.b.rcq, IB_WC_SUCCESS, NULL, "%s: arrives", what);
	vt_ok(vt_is_filled(to + at, len, len), "%s: the data", what);
	vt_ok(vt_is_all(to, at, 0x5a) &&
	      vt_is_all(to + at + len, BYTES - at - len, 0x5a),
	      "%s: nothing around it", what);
}

static void all_ways(struct sides *t, u32 at_a, u32 at_b, u32 len)
{
	if (reg_part(&t->a, &t->p.a, at_a, len) || reg_part(&t->b, &t->p.b, at_b, len))
		return;
	move(t, IB_WR_SEND, "SEND", at_a, at_b, len);
	move(t, IB_WR_RDMA_WRITE, "WRITE", at_a, at_b, len);
	move(t, IB_WR_RDMA_READ, "READ", at_a, at_b, len);
	vt_inv(&t->p.a, t->a.mr->rkey);
	vt_inv(&t->p.b, t->b.mr->rkey);
}

static void test_pages(struct vt_devs *d)
{
	struct sides t;

	if (sides_make(&t, d, IB_MR_TYPE_MEM_REG))
		return;
	all_ways(&t, 0, 0, BYTES);
	all_ways(&t, 1, 0, 1);
	all_ways(&t, PAGE_SIZE - 1, 3, 2);
	all_ways(&t, 100, 4000, 3 * PAGE_SIZE);
	all_ways(&t, 5, 2 * PAGE_SIZE + 7, BYTES - 3 * PAGE_SIZE);
	sides_free(&t);
}

/* Segments of any start and length; the region is their concatenation */
static void gaps(struct sides *t, struct side *s, struct vt_end *e, u32 *len)
{
	static const struct {
		u32 at, len;
	} part[] = {
		{ 3, 100 }, { 4000, 96 }, { 0, PAGE_SIZE }, { 1, 1 }, { 512, 3000 },
	};
	int i;

	*len = 0;
	for (i = 0; i < ARRAY_SIZE(part); i++) {
		sg_dma_address(&s->mem.sg[i]) += part[i].at;
		sg_dma_len(&s->mem.sg[i]) = part[i].len;
		*len += part[i].len;
	}
	vt_reg(e, s->mr, s->mem.sg, ARRAY_SIZE(part), ALL);
	vt_equal(*len, s->mr->length, "the region's length");
	for (i = 0; i < ARRAY_SIZE(part); i++) {
		sg_dma_address(&s->mem.sg[i]) -= part[i].at;
		sg_dma_len(&s->mem.sg[i]) = PAGE_SIZE;
	}
}

/* The bytes at offset @at of the region, as the parts above define it */
static u8 *at_gap(struct side *s, u32 at)
{
	static const u32 starts[] = { 3, 4000, 0, 1, 512 };
	static const u32 lens[] = { 100, 96, PAGE_SIZE, 1, 3000 };
	int i;

	for (i = 0; at >= lens[i]; i++)
		at -= lens[i];
	return s->mem.va + i * PAGE_SIZE + starts[i] + at;
}

static void test_gaps(struct vt_devs *d)
{
	static const u32 from[] = { 0, 99, 100, 150, 196, 4291, 4292, 4293, 7291 };
	bool good = true, around = true;
	struct vt_buf buf = {};
	struct ib_sge sge;
	struct sides t;
	u32 len, i, n;

	if (sides_make(&t, d, IB_MR_TYPE_SG_GAPS))
		return;
	if (vt_buf_make(&buf, d->a, BYTES))
		goto out;
	gaps(&t, &t.b, &t.p.b, &len);
	vt_equal(7293, len, "the length of all");
	for (i = 0; i < ARRAY_SIZE(from); i++) {
		memset(t.b.mem.va, 0, BYTES);
		memset(buf.va, 0xee, BYTES);
		sge = vt_sge(&t.p.a, &buf, 0, len - from[i]);
		vt_equal(0, vt_post(&t.p.a, &(struct vt_wr) {
			.op = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED,
			.sge = &sge, .num_sge = 1,
			.raddr = t.b.mr->iova + from[i], .rkey = t.b.mr->rkey }),
			"WRITE from %u: posted", from[i]);
		vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "WRITE from %u", from[i]);
		for (n = 0; n < len; n++)
			good &= *at_gap(&t.b, n) == (n < from[i] ? 0 : 0xee);
		for (n = 0; n < len; n++)
			*at_gap(&t.b, n) = 0;
		around &= vt_is_all(t.b.mem.va, BYTES, 0);
	}
	vt_ok(good, "over gaps: the data");
	vt_ok(around, "over gaps: nothing around it");
	vt_inv(&t.p.b, t.b.mr->rkey);
	/* It also accepts what a region without gaps accepts */
	all_ways(&t, 100, 4000, 3 * PAGE_SIZE);
out:
	vt_buf_free(&buf);
	sides_free(&t);
}

/* Several regions, and memory without one, in one work request */
static void test_mixed(struct vt_devs *d)
{
	struct ib_sge from[4], to[3];
	struct vt_buf buf = {};
	struct sides t;

	if (sides_make(&t, d, IB_MR_TYPE_MEM_REG))
		return;
	if (vt_buf_make(&buf, d->a, PAGE_SIZE) ||
	    reg_part(&t.a, &t.p.a, 17, 2 * PAGE_SIZE) ||
	    reg_part(&t.b, &t.p.b, 0, BYTES))
		goto out;
	memset(t.b.mem.va, 0x5a, BYTES);
	vt_fill(t.a.mem.va + 17, 2 * PAGE_SIZE, 1);
	vt_fill(buf.va, PAGE_SIZE, 2);
	from[0] = vt_sge(&t.p.a, &buf, 10, 100);
	from[1] = (struct ib_sge) { t.a.mr->iova, 2 * PAGE_SIZE, t.a.mr->lkey };
	from[2] = vt_sge(&t.p.a, &buf, 0, 0);
	from[3] = vt_sge(&t.p.a, &buf, 0, 50);
	to[0] = (struct ib_sge) { t.b.mr->iova, 60, t.b.mr->lkey };
	to[1] = (struct ib_sge) { t.b.mr->iova + 60, PAGE_SIZE, t.b.mr->lkey };
	to[2] = (struct ib_sge) { t.b.mr->iova + 60 + PAGE_SIZE, 2 * PAGE_SIZE,
				  t.b.mr->lkey };
	vt_equal(0, vt_recv(&t.p.b, 1, to, 3), "mixed: receive posted");
	vt_equal(0, vt_post(&t.p.a, &(struct vt_wr) {
		.op = IB_WR_SEND, .flags = IB_SEND_SIGNALED, .sge = from,
		.num_sge = 4 }), "mixed: posted");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "mixed: completes");
	vt_expect(t.p.b.rcq, IB_WC_SUCCESS, NULL, "mixed: arrives");
	vt_ok(!memcmp(t.b.mem.va, buf.va + 10, 100), "mixed: the first part");
	vt_ok(vt_is_filled(t.b.mem.va + 100, 2 * PAGE_SIZE, 1), "mixed: the second");
	vt_ok(!memcmp(t.b.mem.va + 100 + 2 * PAGE_SIZE, buf.va, 50), "mixed: the last");
	vt_ok(vt_is_all(t.b.mem.va + 150 + 2 * PAGE_SIZE, PAGE_SIZE, 0x5a),
	      "mixed: nothing behind it");
out:
	vt_buf_free(&buf);
	sides_free(&t);
}

const struct vt_test vt_data_mr[] = {
	{ "pages", test_pages },
	{ "gaps", test_gaps },
	{ "mixed", test_mixed },
	{}
};
