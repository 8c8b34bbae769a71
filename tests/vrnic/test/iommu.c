// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the IOMMU does not let a device access: never mapped, unmapped again, mapped for
 * another device or for the other direction. For devices with the parameter iommu.
 *
 * The kernel decides what it writes into the tables. Its driver for Intel's IOMMU in 6.1 and
 * 6.12 lets a device read whatever is mapped. So a read of what is to be written only may
 * succeed, and is then no violation.
 */

#include <linux/slab.h>
#include "vrnic_test.h"

#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)
#define LEN	64
#define NOTHING		"nothing is mapped there"
#define READ_ONLY	"the device may only read"
#define WRITE_ONLY	"the device may only write"

/* A page, and how it is mapped */
struct piece {
	struct ib_device *dev;
	enum dma_data_direction dir;
	u8 *va;
	u64 dma;
	bool mapped;
};

static void piece_unmap(struct piece *p)
{
	if (p->mapped)
		ib_dma_unmap_single(p->dev, p->dma, PAGE_SIZE, p->dir);
	p->mapped = false;
}

static void piece_free(struct piece *p)
{
	piece_unmap(p);
	free_page((unsigned long)p->va);
}

/* DMA_NONE: it is not mapped, and its address is that in memory, as without an IOMMU */
static bool piece_make(struct piece *p, struct ib_device *dev, enum dma_data_direction dir)
{
	*p = (struct piece) { .dev = dev, .dir = dir, .va = (u8 *)get_zeroed_page(GFP_KERNEL) };
	if (!vt_ok(p->va, "a page"))
		return false;
	p->dma = virt_to_phys(p->va);
	if (dir == DMA_NONE)
		return true;
	p->dma = ib_dma_map_single(dev, p->va, PAGE_SIZE, dir);
	p->mapped = !ib_dma_mapping_error(dev, p->dma);
	if (!vt_ok(p->mapped, "it is mapped"))
		piece_free(p);
	return p->mapped;
}

static struct ib_sge sge_of(struct vt_end *e, const struct piece *p)
{
	return (struct ib_sge) { p->dma + 100, LEN, e->pd->local_dma_lkey };
}

/**
 * struct access_case - an access by the end a
 * @what: its name
 * @op: its opcode
 * @key: the peer's memory is named by: 0, the key of a memory region; 1, that of all memory
 * @near: how the memory of the end a is mapped
 * @far: how that of the end b is
 * @unmap: 'n' or 'f', which of them is unmapped before
 * @why: the violation, or NULL
 * @status: of the work request
 */
struct access_case {
	const char *what;
	enum ib_wr_opcode op;
	bool key;
	enum dma_data_direction near;
	enum dma_data_direction far;
	char unmap;
	const char *why;
	enum ib_wc_status status;
};

static const struct access_case cases[] = {
	{ "SEND", IB_WR_SEND, 0, DMA_TO_DEVICE, DMA_FROM_DEVICE, 0, NULL, IB_WC_SUCCESS },
	{ "WRITE", IB_WR_RDMA_WRITE, 0, DMA_TO_DEVICE, DMA_FROM_DEVICE, 0, NULL, IB_WC_SUCCESS },
	{ "READ", IB_WR_RDMA_READ, 0, DMA_FROM_DEVICE, DMA_TO_DEVICE, 0, NULL, IB_WC_SUCCESS },
	{ "WRITE, key of all memory", IB_WR_RDMA_WRITE, 1, DMA_TO_DEVICE, DMA_FROM_DEVICE, 0,
	  NULL, IB_WC_SUCCESS },
	{ "SEND, never mapped", IB_WR_SEND, 0, DMA_NONE, DMA_FROM_DEVICE, 0,
	  NOTHING, IB_WC_LOC_PROT_ERR },
	{ "SEND, unmapped", IB_WR_SEND, 0, DMA_TO_DEVICE, DMA_FROM_DEVICE, 'n',
	  NOTHING, IB_WC_LOC_PROT_ERR },
	{ "SEND, to be written only", IB_WR_SEND, 0, DMA_FROM_DEVICE, DMA_FROM_DEVICE, 0,
	  WRITE_ONLY, IB_WC_LOC_PROT_ERR },
	{ "receive, never mapped", IB_WR_SEND, 0, DMA_TO_DEVICE, DMA_NONE, 0,
	  NOTHING, IB_WC_REM_OP_ERR },
	{ "receive, unmapped", IB_WR_SEND, 0, DMA_TO_DEVICE, DMA_FROM_DEVICE, 'f',
	  NOTHING, IB_WC_REM_OP_ERR },
	{ "receive, to be read only", IB_WR_SEND, 0, DMA_TO_DEVICE, DMA_TO_DEVICE, 0,
	  READ_ONLY, IB_WC_REM_OP_ERR },
	{ "WRITE from what is to be written only", IB_WR_RDMA_WRITE, 0, DMA_FROM_DEVICE,
	  DMA_FROM_DEVICE, 0, WRITE_ONLY, IB_WC_LOC_PROT_ERR },
	{ "WRITE into what was unmapped", IB_WR_RDMA_WRITE, 0, DMA_TO_DEVICE, DMA_FROM_DEVICE,
	  'f', NOTHING, IB_WC_REM_ACCESS_ERR },
	{ "WRITE into what is to be read only", IB_WR_RDMA_WRITE, 0, DMA_TO_DEVICE,
	  DMA_TO_DEVICE, 0, READ_ONLY, IB_WC_REM_ACCESS_ERR },
	{ "READ into what is to be read only", IB_WR_RDMA_READ, 0, DMA_TO_DEVICE, DMA_TO_DEVICE,
	  0, READ_ONLY, IB_WC_LOC_PROT_ERR },
	{ "READ of what was unmapped", IB_WR_RDMA_READ, 0, DMA_FROM_DEVICE, DMA_TO_DEVICE, 'f',
	  NOTHING, IB_WC_REM_ACCESS_ERR },
	{ "READ of what is to be written only", IB_WR_RDMA_READ, 0, DMA_FROM_DEVICE,
	  DMA_FROM_DEVICE, 0, WRITE_ONLY, IB_WC_REM_ACCESS_ERR },
	{ "WRITE, key of all memory, never mapped", IB_WR_RDMA_WRITE, 1, DMA_TO_DEVICE, DMA_NONE,
	  0, NOTHING, IB_WC_REM_ACCESS_ERR },
	{ "WRITE, key of all memory, unmapped", IB_WR_RDMA_WRITE, 1, DMA_TO_DEVICE,
	  DMA_FROM_DEVICE, 'f', NOTHING, IB_WC_REM_ACCESS_ERR },
};

/* The key of the peer's memory; *@mr is to be deregistered */
static int far_key(struct vt_pair *p, const struct access_case *c, const struct piece *far,
		   struct ib_mr **mr)
{
	struct scatterlist sg;

	*mr = c->key ? p->b.dev->ops.get_dma_mr(p->b.pd, ALL) :
		       ib_alloc_mr(p->b.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!vt_equal(0, PTR_ERR_OR_ZERO(*mr), "%s: MR made", c->what))
		return PTR_ERR(*mr);
	if (c->key)
		return 0;
	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = far->dma;
	sg_dma_len(&sg) = PAGE_SIZE;
	return vt_reg(&p->b, *mr, &sg, 1, ALL);
}

static void do_access(struct vt_pair *p, const struct access_case *c, struct piece *near,
		      struct piece *far, const struct ib_mr *mr)
{
	struct piece *to = c->op == IB_WR_RDMA_READ ? near : far;
	struct ib_sge sge = sge_of(&p->a, near), recv = sge_of(&p->b, far);
	enum ib_wc_status status = c->status;
	const char *why = c->why;
	struct ib_wc wc;

	vt_equal(0, vt_recv(&p->b, 1, &recv, 1), "%s: receive posted", c->what);
	if (c->unmap)
		piece_unmap(c->unmap == 'n' ? near : far);
	vt_equal(0, vt_post(&p->a, &(struct vt_wr) {
		.op = c->op, .flags = IB_SEND_SIGNALED, .sge = &sge, .num_sge = 1,
		.raddr = far->dma + 100, .rkey = mr->rkey }), "%s: posted", c->what);
	if (!vt_ok(vt_poll(p->a.scq, &wc), "%s: completes", c->what))
		return;
	if (why && !strcmp(why, WRITE_ONLY) && !wc.status) {
		vt_tell("%s: the kernel's tables allow it", c->what);
		status = IB_WC_SUCCESS;
		why = NULL;
	}
	vt_is_status(status, wc.status, "%s: status", c->what);
	vt_violations(!!why, why ?: "no", "%s: reported", c->what);
	piece_unmap(near);
	piece_unmap(far);
	vt_ok(vt_is_all(to->va + 100, LEN, why ? 0 : 7), "%s: the data", c->what);
}

static void test_access(struct vt_devs *d)
{
	const struct access_case *c;
	struct piece near, far;
	struct vt_pair p;
	struct ib_mr *mr;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		if (vt_pair_make(&p, d, NULL))
			continue;
		if (!piece_make(&near, d->a, c->near))
			goto out_pair;
		if (!piece_make(&far, d->b, c->far))
			goto out_near;
		memset(c->op == IB_WR_RDMA_READ ? far.va : near.va, 7, PAGE_SIZE);
		if (!far_key(&p, c, &far, &mr))
			do_access(&p, c, &near, &far, mr);
		if (!IS_ERR(mr))
			vt_equal(0, c->key ? d->b->ops.dereg_mr(mr, NULL) : ib_dereg_mr(mr),
				 "%s: MR gone", c->what);
		piece_free(&far);
out_near:
		piece_free(&near);
out_pair:
		vt_pair_free(&p);
	}
}

/*
 * Each device has a domain of its own. Both give addresses downwards from the same one: so much
 * memory begins where the other device has nothing.
 */
static void test_other(struct vt_devs *d)
{
	struct vt_ends t;
	struct ib_sge from, to;
	struct vt_buf other;

	if (!vt_ok(to_vdev(d->a)->function != to_vdev(d->b)->function, "two functions") ||
	    vt_ends_make(&t, d, NULL, PAGE_SIZE))
		return;
	if (!vt_buf_make(&other, d->b, SZ_2M)) {
		from = vt_sge(&t.p.a, &other, 0, LEN);
		to = vt_sge(&t.p.b, &t.to, 0, LEN);
		vt_equal(0, vt_recv(&t.p.b, 1, &to, 1), "receive posted");
		vt_equal(0, vt_send(&t.p.a, 2, &from), "another device's memory: posted");
		vt_expect(t.p.a.scq, IB_WC_LOC_PROT_ERR, NULL, "another device's memory");
		vt_violations(1, NOTHING, "another device's memory: reported");
		vt_buf_free(&other);
	}
	vt_ends_free(&t);
}

/* Three pages are mapped at a multiple of four: behind them there is nothing */
static void test_end(struct vt_devs *d)
{
	const u32 len = 3 * PAGE_SIZE;
	struct vt_ends t;
	struct ib_sge from, to;

	if (vt_ends_make(&t, d, NULL, 4 * PAGE_SIZE))
		return;
	vt_fill(t.from.va, len, 3);
	from = vt_sge(&t.p.a, &t.from, 0, len);
	to = vt_sge(&t.p.b, &t.to, 0, 4 * PAGE_SIZE);
	from.addr = ib_dma_map_single(d->a, t.from.va, len, DMA_TO_DEVICE);
	if (!vt_equal(0, ib_dma_mapping_error(d->a, from.addr), "mapped"))
		goto out;
	vt_equal(0, vt_recv(&t.p.b, 1, &to, 1), "receive posted");
	vt_equal(0, vt_send(&t.p.a, 2, &from), "all of it: posted");
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, NULL, "all of it");
	vt_ok(vt_is_filled(t.to.va, len, 3), "all of it: the data");
	from.length += LEN;
	vt_equal(0, vt_recv(&t.p.b, 3, &to, 1), "receive posted");
	vt_equal(0, vt_send(&t.p.a, 4, &from), "beyond its end: posted");
	vt_expect(t.p.a.scq, IB_WC_LOC_PROT_ERR, NULL, "beyond its end");
	vt_violations(1, "there is no memory of 64 bytes", "beyond its end: reported");
	ib_dma_unmap_single(d->a, from.addr, len, DMA_TO_DEVICE);
out:
	vt_ends_free(&t);
}

const struct vt_test vt_iommu[] = {
	{ "access", test_access },
	{ "other", test_other },
	{ "end", test_end },
	{}
};

/* ---- a mapping that outlives the device; the scenario removes it in between ---- */

static struct {
	struct device *dma;
	void *va;
	dma_addr_t addr;
} left;

static void test_leave(struct vt_devs *d)
{
	left.va = (void *)get_zeroed_page(GFP_KERNEL);
	if (!vt_ok(left.va, "a page"))
		return;
	left.dma = get_device(d->b->dma_device);
	left.addr = dma_map_single(left.dma, left.va, PAGE_SIZE, DMA_TO_DEVICE);
	vt_equal(0, dma_mapping_error(left.dma, left.addr), "it is mapped");
}

static void test_clear(struct vt_devs *d)
{
	if (!vt_ok(left.dma, "there is one"))
		return;
	dma_unmap_single(left.dma, left.addr, PAGE_SIZE, DMA_TO_DEVICE);
	free_page((unsigned long)left.va);
	put_device(left.dma);
	left.dma = NULL;
}

const struct vt_test vt_iommu_leave[] = {
	{ "leave", test_leave },
	{}
};

const struct vt_test vt_iommu_clear[] = {
	{ "clear", test_clear },
	{}
};
