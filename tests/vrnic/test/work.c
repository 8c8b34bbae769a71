// SPDX-License-Identifier: GPL-2.0
/* Memory, work requests, completions */

#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "vrnic_test.h"

/**
 * vt_buf_make() - allocate memory in one piece
 * @b: the memory
 * @dev: its device
 * @len: length in bytes
 *
 * Return: 0 or an error, which a check reports
 */
int vt_buf_make(struct vt_buf *b, struct ib_device *dev, u32 len)
{
	b->dev = dev;
	b->len = len;
	b->va = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(len));
	if (!b->va)
		goto err;
	b->dma = ib_dma_map_single(dev, b->va, len, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(dev, b->dma))
		return 0;
	free_pages((unsigned long)b->va, get_order(len));
err:
	b->va = NULL;
	vt_equal(0, -ENOMEM, "memory of %u bytes", len);
	return -ENOMEM;
}

/**
 * vt_buf_free() - memory goes
 * @b: it, or one that was not made
 */
void vt_buf_free(struct vt_buf *b)
{
	if (!b->va)
		return;
	ib_dma_unmap_single(b->dev, b->dma, b->len, DMA_BIDIRECTIONAL);
	free_pages((unsigned long)b->va, get_order(b->len));
	b->va = NULL;
}

/**
 * vt_ends_make() - create two ends, connected, each with memory in one piece
 * @t: the ends
 * @d: their devices
 * @opt: options of both, or NULL
 * @len: bytes of memory for each
 *
 * Return: 0 or an error, which a check reports; then nothing is left of them
 */
int vt_ends_make(struct vt_ends *t, struct vt_devs *d, const struct vt_opt *opt, u32 len)
{
	int ret;

	memset(t, 0, sizeof(*t));
	ret = vt_pair_make(&t->p, d, opt);
	if (!ret)
		ret = vt_buf_make(&t->from, d->a, len);
	if (!ret)
		ret = vt_buf_make(&t->to, d->b, len);
	if (ret)
		vt_ends_free(t);
	return ret;
}

/**
 * vt_ends_free() - both ends and their memory go
 * @t: them, or ends that could not be made
 */
void vt_ends_free(struct vt_ends *t)
{
	vt_pair_free(&t->p);
	vt_buf_free(&t->from);
	vt_buf_free(&t->to);
}

/**
 * vt_mem_make() - allocate memory of single pages
 * @m: the memory
 * @dev: its device
 * @pages: number of pages; adjacent pages in it are not adjacent in the machine's memory
 *
 * Return: 0 or an error, which a check reports
 */
int vt_mem_make(struct vt_mem *m, struct ib_device *dev, u32 pages)
{
	u32 i;

	memset(m, 0, sizeof(*m));
	m->dev = dev;
	m->page = kvcalloc(pages, sizeof(*m->page), GFP_KERNEL);
	m->sg = kvcalloc(pages, sizeof(*m->sg), GFP_KERNEL);
	if (!m->page || !m->sg)
		goto err;
	sg_init_table(m->sg, pages);
	m->n = pages;
	/* Consecutive allocations are often adjacent */
	for (i = 0; i < pages; i++) {
		u32 at = i % 2 ? pages - 1 - i / 2 : i / 2;

		m->page[at] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!m->page[at])
			goto err;
		sg_set_page(&m->sg[at], m->page[at], PAGE_SIZE, 0);
	}
	m->va = vmap(m->page, pages, VM_MAP, PAGE_KERNEL);
	if (!m->va)
		goto err;
	/* Each by itself: an IOMMU would make one piece of them */
	for (i = 0; i < pages; i++) {
		u64 dma = ib_dma_map_page(dev, m->page[i], 0, PAGE_SIZE, DMA_BIDIRECTIONAL);

		if (ib_dma_mapping_error(dev, dma))
			goto err;
		sg_dma_address(&m->sg[i]) = dma;
		sg_dma_len(&m->sg[i]) = PAGE_SIZE;
	}
	return 0;

err:
	vt_equal(0, -ENOMEM, "memory of %u pages", pages);
	vt_mem_free(m);
	return -ENOMEM;
}

/**
 * vt_mem_free() - memory goes
 * @m: it, or one that was not made
 */
void vt_mem_free(struct vt_mem *m)
{
	u32 i;

	vunmap(m->va);
	for (i = 0; m->page && m->sg && i < m->n; i++) {
		/* A test may have moved the start and the end within the page */
		if (sg_dma_len(&m->sg[i]))
			ib_dma_unmap_page(m->dev, sg_dma_address(&m->sg[i]) & PAGE_MASK, PAGE_SIZE,
					  DMA_BIDIRECTIONAL);
		if (m->page[i])
			__free_page(m->page[i]);
	}
	kvfree(m->page);
	kvfree(m->sg);
	memset(m, 0, sizeof(*m));
}

/* No two places near each other, and no two seeds, give the same bytes */
static u8 byte_at(u32 i, u32 seed)
{
	u32 x = (i + seed * 0x9e3779b1U) * 0x85ebca6bU;

	return x >> 24 ^ x >> 13;
}

/**
 * vt_fill() - fill memory with bytes that differ from place to place
 * @va: it
 * @len: its length
 * @seed: and from seed to seed
 */
void vt_fill(u8 *va, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		va[i] = byte_at(i, seed);
}

/**
 * vt_is_filled() - whether memory has these bytes
 * @va: it
 * @len: its length
 * @seed: as of vt_fill()
 *
 * Return: whether it has
 */
bool vt_is_filled(const u8 *va, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++) {
		if (va[i] != byte_at(i, seed))
			return false;
	}
	return true;
}

/**
 * vt_is_all() - whether memory is all of one byte
 * @va: it
 * @len: its length
 * @byte: the byte
 *
 * Return: whether it is
 */
bool vt_is_all(const u8 *va, u32 len, u8 byte)
{
	return !memchr_inv(va, byte, len);
}

/**
 * vt_sge() - an SGE of memory in one piece
 * @e: for this end
 * @b: the memory
 * @at: from here
 * @len: so many bytes
 *
 * Return: it
 */
struct ib_sge vt_sge(struct vt_end *e, const struct vt_buf *b, u32 at, u32 len)
{
	return (struct ib_sge) {
		.addr = b->dma + at,
		.length = len,
		.lkey = e->pd->local_dma_lkey,
	};
}

/**
 * vt_split() - SGEs of memory in one piece, of different lengths
 * @sge: they
 * @n: how many
 * @e: for this end
 * @b: the memory
 * @at: from here
 * @len: so many bytes
 *
 * Return: @n
 */
int vt_split(struct ib_sge *sge, int n, struct vt_end *e, const struct vt_buf *b,
	     u32 at, u32 len)
{
	int i;

	for (i = 0; i < n; i++) {
		u32 part = i == n - 1 ? len : len / (2 + i);

		sge[i] = vt_sge(e, b, at, part);
		at += part;
		len -= part;
	}
	return n;
}

/**
 * vt_post() - post a work request to the send queue
 * @e: of this end
 * @w: the work request
 *
 * Return: as ib_post_send()
 */
int vt_post(struct vt_end *e, const struct vt_wr *w)
{
	union {
		struct ib_send_wr wr;
		struct ib_rdma_wr rdma;
		struct ib_reg_wr reg;
		struct ib_ud_wr ud;
	} u = {};

	u.wr.wr_id = w->id;
	u.wr.opcode = w->op;
	u.wr.send_flags = w->flags;
	u.wr.sg_list = w->sge;
	u.wr.num_sge = w->num_sge;
	if (w->op == IB_WR_LOCAL_INV || w->op == IB_WR_SEND_WITH_INV)
		u.wr.ex.invalidate_rkey = w->imm;
	else
		u.wr.ex.imm_data = cpu_to_be32(w->imm);
	switch (w->op) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		u.rdma.remote_addr = w->raddr;
		u.rdma.rkey = w->rkey;
		break;
	case IB_WR_REG_MR:
		u.reg.mr = w->mr;
		u.reg.key = w->key;
		u.reg.access = w->access;
		break;
	default:
		if (!w->ah)
			break;
		u.ud.ah = w->ah;
		u.ud.remote_qpn = w->qpn;
		u.ud.remote_qkey = w->qkey;
		break;
	}
	return ib_post_send(e->qp, &u.wr, NULL);
}

/**
 * vt_recv() - post a receive
 * @e: of this end
 * @id: its wr_id
 * @sge: its memory
 * @n: how many SGEs
 *
 * Return: as ib_post_recv()
 */
int vt_recv(struct vt_end *e, u64 id, struct ib_sge *sge, int n)
{
	struct ib_recv_wr wr = {
		.wr_id = id,
		.sg_list = sge,
		.num_sge = n,
	};

	return e->opt.srq ? ib_post_srq_recv(e->opt.srq, &wr, NULL) :
			    ib_post_recv(e->qp, &wr, NULL);
}

/**
 * vt_poll() - wait for a completion
 * @cq: of this CQ
 * @wc: the completion; all zeroes if there was none
 *
 * Return: whether one came
 */
bool vt_poll(struct vt_cq *cq, struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	return vt_until(ib_poll_cq(cq->cq, 1, wc) == 1);
}

/**
 * vt_none() - whether there is no completion
 * @cq: the CQ
 *
 * Return: true if there is none; a completion that exists is dropped
 */
bool vt_none(struct vt_cq *cq)
{
	struct ib_wc wc;

	return ib_poll_cq(cq->cq, 1, &wc) == 0;
}

/**
 * vt_expect() - check that the next completion has a status
 * @cq: its CQ
 * @status: the expected status
 * @wc: set to the completion, or NULL
 * @fmt: the check's name
 *
 * Return: whether it has
 */
bool vt_expect(struct vt_cq *cq, enum ib_wc_status status, struct ib_wc *wc,
	       const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	struct ib_wc own;
	va_list args;
	bool good;

	wc = wc ?: &own;
	va_start(args, fmt);
	vaf.va = &args;
	if (vt_poll(cq, wc))
		good = vt_is_status(status, wc->status, "%pV", &vaf);
	else
		good = vt_report(false, "expected a completion, none came", "%pV",
				 &vaf);
	va_end(args);
	return good;
}

/**
 * vt_reg() - register memory, and wait until it is registered
 * @e: the end of the QP
 * @mr: the MR, under its present key
 * @sg: the memory
 * @n: number of entries
 * @access: the access
 *
 * Return: 0 or an error, which a check reports
 */
int vt_reg(struct vt_end *e, struct ib_mr *mr, struct scatterlist *sg, int n,
	   int access)
{
	struct ib_wc wc;

	if (sg && !vt_equal(n, ib_map_mr_sg(mr, sg, n, NULL, PAGE_SIZE),
			    "memory of %d pieces fits into an MR", n))
		return -EINVAL;
	if (!vt_equal(0, vt_post(e, &(struct vt_wr) {
			.op = IB_WR_REG_MR, .flags = IB_SEND_SIGNALED,
			.mr = mr, .key = mr->rkey, .access = access }),
		      "REG_MR is posted"))
		return -EINVAL;
	if (!vt_expect(e->scq, IB_WC_SUCCESS, &wc, "REG_MR succeeds"))
		return -EIO;
	return 0;
}

/**
 * vt_inv() - invalidate a key, and wait until it is invalid
 * @e: the end of the QP
 * @key: the key
 *
 * Return: 0 or an error, which a check reports
 */
int vt_inv(struct vt_end *e, u32 key)
{
	if (!vt_equal(0, vt_post(e, &(struct vt_wr) {
			.op = IB_WR_LOCAL_INV, .flags = IB_SEND_SIGNALED,
			.imm = key }), "LOCAL_INV is posted"))
		return -EINVAL;
	if (!vt_expect(e->scq, IB_WC_SUCCESS, NULL, "LOCAL_INV succeeds"))
		return -EIO;
	return 0;
}
