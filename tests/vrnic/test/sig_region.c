// SPDX-License-Identifier: GPL-2.0
/*
 * A signature region with its test data: made, registered, filled, moved, and compared with
 * the expected result.
 */

#include <linux/bitops.h>
#include <linux/crc-t10dif.h>
#include <net/checksum.h>
#include "sig.h"

#define ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

static const struct {
	const char *name;
	enum ib_wr_opcode op;
	bool by_b;
} ways[VT_SIG_WAYS] = {
	[VT_OUT_WRITE] = { "out by a WRITE", IB_WR_RDMA_WRITE },
	[VT_OUT_READ] = { "out by the peer's READ", IB_WR_RDMA_READ, true },
	[VT_OUT_SEND] = { "out by a SEND", IB_WR_SEND },
	[VT_IN_READ] = { "in by a READ", IB_WR_RDMA_READ },
	[VT_IN_WRITE] = { "in by the peer's WRITE", IB_WR_RDMA_WRITE, true },
	[VT_IN_SEND] = { "in by the peer's SEND", IB_WR_SEND, true },
};

/* ---- made and gone ---- */

/**
 * vt_sig_end() - a region goes, with all that it was tried with
 * @s: it, or one that was not made
 */
void vt_sig_end(struct vt_sig *s)
{
	if (!IS_ERR_OR_NULL(s->mr))
		vt_equal(0, ib_dereg_mr(s->mr), "signature MR gone");
	if (!IS_ERR_OR_NULL(s->wire_mr))
		vt_equal(0, ib_dereg_mr(s->wire_mr), "MR gone");
	vt_pair_free(&s->p);
	vt_mem_free(&s->mem);
	vt_buf_free(&s->meta);
	vt_buf_free(&s->wire);
}

static void part(struct scatterlist *sg, u64 addr, u32 len)
{
	sg_dma_address(sg) = addr;
	sg_dma_len(sg) = len;
}

/* The layout of the region, by the DMA addresses of its pieces */
static void make_lists(struct vt_sig *s)
{
	u32 left = VT_SIG_BLOCKS * s->block, skip = VT_SIG_OFFSET, len;

	sg_init_table(s->data_sg, VT_SIG_PAGES);
	for (s->data_n = 0; left; s->data_n++) {
		len = min_t(u32, left, PAGE_SIZE - skip);
		part(&s->data_sg[s->data_n],
		     sg_dma_address(&s->mem.sg[s->data_n]) + skip, len);
		left -= len;
		skip = 0;
	}
	sg_init_table(s->meta_sg, 2);
	part(&s->meta_sg[0], s->meta.dma, 13);
	part(&s->meta_sg[1], s->meta.dma + 13, VT_SIG_BLOCKS * VT_SIG_PI - 13);
}

/**
 * vt_sig_make() - create a region, not registered, and its test data
 * @s: the region
 * @d: its devices
 * @dif: how its blocks are protected
 *
 * Return: 0 or an error, which a check reports
 */
int vt_sig_make(struct vt_sig *s, struct vt_devs *d,
		const struct ib_t10_dif_domain *dif)
{
	struct vt_opt opt = { .integrity = true };
	struct scatterlist sg;

	memset(s, 0, sizeof(*s));
	s->dif = *dif;
	s->block = dif->pi_interval;
	if (vt_pair_make(&s->p, d, &opt))
		return -EINVAL;
	if (vt_mem_make(&s->mem, d->a, VT_SIG_PAGES) ||
	    vt_buf_make(&s->meta, d->a, PAGE_SIZE) ||
	    vt_buf_make(&s->wire, d->b, VT_SIG_PAGES * PAGE_SIZE))
		goto err;
	make_lists(s);
	s->wire_mr = ib_alloc_mr(s->p.b.pd, IB_MR_TYPE_MEM_REG, VT_SIG_PAGES);
	if (!vt_equal(0, PTR_ERR_OR_ZERO(s->wire_mr), "MR made"))
		goto err;
	sg_init_table(&sg, 1);
	part(&sg, s->wire.dma, s->wire.len);
	if (vt_reg(&s->p.b, s->wire_mr, &sg, 1, ALL))
		goto err;
	s->mr = ib_alloc_mr_integrity(s->p.a.pd, VT_SIG_PAGES, 2);
	if (vt_equal(0, PTR_ERR_OR_ZERO(s->mr), "signature MR made"))
		return 0;
err:
	vt_sig_end(s);
	return -ENOMEM;
}

/* ---- registration ---- */

/**
 * vt_sig_attrs() - set the attributes of the region
 * @s: the region
 * @mem_pi: there is protection information in memory
 * @wire_pi: there is protection information on the wire
 * @check_mask: which of its fields are checked
 */
void vt_sig_attrs(struct vt_sig *s, bool mem_pi, bool wire_pi, u8 check_mask)
{
	struct ib_sig_attrs *attrs = s->mr->sig_attrs;

	memset(attrs, 0, sizeof(*attrs));
	attrs->check_mask = check_mask;
	attrs->mem.sig_type = mem_pi ? IB_SIG_TYPE_T10_DIF : IB_SIG_TYPE_NONE;
	attrs->wire.sig_type = wire_pi ? IB_SIG_TYPE_T10_DIF : IB_SIG_TYPE_NONE;
	if (mem_pi)
		attrs->mem.sig.dif = s->dif;
	if (wire_pi)
		attrs->wire.sig.dif = s->dif;
}

/**
 * vt_sig_post_reg() - post a REG_MR_INTEGRITY
 * @e: on this end's QP
 * @mr: of this region, under its present key
 *
 * Return: as ib_post_send()
 */
int vt_sig_post_reg(struct vt_end *e, struct ib_mr *mr)
{
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR_INTEGRITY,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = mr->rkey,
		.access = ALL,
	};

	return ib_post_send(e->qp, &reg.wr, NULL);
}

/**
 * vt_sig_reg() - register the region, with a new key if it was registered before
 * @s: the region; its attributes are set first
 * @mem_pi: as for vt_sig_attrs()
 * @wire_pi: as for vt_sig_attrs()
 * @check_mask: as for vt_sig_attrs()
 *
 * Return: 0 or an error, which a check reports
 */
int vt_sig_reg(struct vt_sig *s, bool mem_pi, bool wire_pi, u8 check_mask)
{
	vt_sig_attrs(s, mem_pi, wire_pi, check_mask);
	if (s->registered) {
		if (vt_inv(&s->p.a, s->mr->rkey))
			return -EIO;
		ib_update_fast_reg_key(s->mr, ib_inc_rkey(s->mr->rkey));
		s->registered = false;
	}
	if (!vt_equal(0, ib_map_mr_sg_pi(s->mr, s->data_sg, s->data_n, NULL,
					 mem_pi ? s->meta_sg : NULL,
					 mem_pi ? 2 : 0, NULL, PAGE_SIZE),
		      "data and metadata fit into an MR") ||
	    !vt_equal(0, vt_sig_post_reg(&s->p.a, s->mr), "REG_MR_INTEGRITY is posted") ||
	    !vt_expect(s->p.a.scq, IB_WC_SUCCESS, NULL, "REG_MR_INTEGRITY succeeds"))
		return -EIO;
	s->registered = true;
	return 0;
}

/* ---- data ---- */

/**
 * vt_sig_len() - how long the region is on the wire
 * @s: it
 * @wire_pi: there is protection information
 *
 * Return: so many bytes
 */
u32 vt_sig_len(struct vt_sig *s, bool wire_pi)
{
	return VT_SIG_BLOCKS * (s->block + (wire_pi ? VT_SIG_PI : 0));
}

/**
 * vt_sig_tuple() - the expected protection information of a block
 * @dif: the rules
 * @data: data of the block
 * @block: number of the block
 *
 * Return: the protection information
 */
struct t10_pi_tuple vt_sig_tuple(const struct ib_t10_dif_domain *dif,
				 const u8 *data, u32 block)
{
	struct t10_pi_tuple pi = {
		.app_tag = cpu_to_be16(dif->app_tag),
		.ref_tag = cpu_to_be32(dif->ref_tag),
	};

	if (dif->ref_remap)
		pi.ref_tag = cpu_to_be32(dif->ref_tag + block);
	if (dif->bg_type == IB_T10DIF_CSUM)
		pi.guard_tag = (__force __be16)ip_compute_csum(data, dif->pi_interval);
	else if (dif->bg)
		pi.guard_tag = cpu_to_be16(crc_t10dif_update(dif->bg, data,
							     dif->pi_interval));
	else
		pi.guard_tag = cpu_to_be16(crc_t10dif(data, dif->pi_interval));
	return pi;
}

static void fill_wire(struct vt_sig *s, bool pi, u32 seed)
{
	u32 i;

	for (i = 0; i < VT_SIG_BLOCKS; i++) {
		u8 *at = vt_sig_wire(s, pi, i);

		vt_fill(at, s->block, seed + i);
		if (pi)
			*vt_sig_wire_pi(s, i) = vt_sig_tuple(&s->dif, at, i);
	}
}

static void fill_mem(struct vt_sig *s, bool pi, u32 seed)
{
	u32 i;

	for (i = 0; i < VT_SIG_BLOCKS; i++) {
		u8 *at = vt_sig_data(s) + i * s->block;

		vt_fill(at, s->block, seed + i);
		if (pi)
			*vt_sig_meta(s, i) = vt_sig_tuple(&s->dif, at, i);
	}
}

/**
 * vt_sig_fill() - good blocks where they come from, other bytes everywhere else
 * @s: of this region
 * @way: which they will go
 * @mem_pi: there is protection information in memory
 * @wire_pi: there is some on the wire
 * @seed: that the data is made of
 */
void vt_sig_fill(struct vt_sig *s, enum vt_sig_way way, bool mem_pi, bool wire_pi,
		 u32 seed)
{
	memset(s->mem.va, 0x5a, s->mem.n * PAGE_SIZE);
	memset(s->meta.va, 0x5a, s->meta.len);
	memset(s->wire.va, 0x5a, s->wire.len);
	if (vt_sig_is_in(way))
		fill_wire(s, wire_pi, seed);
	else
		fill_mem(s, mem_pi, seed);
}

/*
 * The data filled in there has arrived here; the protection information is computed again
 * beside it
 */
static bool wire_good(struct vt_sig *s, bool pi, u32 seed)
{
	u32 len = vt_sig_len(s, pi);
	bool good = vt_is_all(s->wire.va + len, s->wire.len - len, 0x5a);
	u32 i;

	for (i = 0; i < VT_SIG_BLOCKS; i++) {
		u8 *at = vt_sig_wire(s, pi, i);
		struct t10_pi_tuple want = vt_sig_tuple(&s->dif, at, i);

		good &= vt_is_filled(at, s->block, seed + i);
		good &= !pi || !memcmp(vt_sig_wire_pi(s, i), &want, sizeof(want));
	}
	return good;
}

static bool mem_good(struct vt_sig *s, bool pi, u32 seed)
{
	u32 end = VT_SIG_OFFSET + VT_SIG_BLOCKS * s->block;
	u32 metas = pi ? VT_SIG_BLOCKS * VT_SIG_PI : 0;
	bool good = vt_is_all(s->mem.va, VT_SIG_OFFSET, 0x5a) &&
		    vt_is_all(s->mem.va + end, s->mem.n * PAGE_SIZE - end, 0x5a) &&
		    vt_is_all(s->meta.va + metas, s->meta.len - metas, 0x5a);
	u32 i;

	for (i = 0; i < VT_SIG_BLOCKS; i++) {
		u8 *at = vt_sig_data(s) + i * s->block;
		struct t10_pi_tuple want = vt_sig_tuple(&s->dif, at, i);

		good &= vt_is_filled(at, s->block, seed + i);
		good &= !pi || !memcmp(vt_sig_meta(s, i), &want, sizeof(want));
	}
	return good;
}

/**
 * vt_sig_arrived() - whether the filled-in data has arrived
 * @s: the region
 * @way: the direction
 * @mem_pi: as for vt_sig_fill()
 * @wire_pi: as for vt_sig_fill()
 * @seed: as for vt_sig_fill()
 *
 * Return: whether data and protection information are right, and nothing else was
 * written
 */
bool vt_sig_arrived(struct vt_sig *s, enum vt_sig_way way, bool mem_pi,
		    bool wire_pi, u32 seed)
{
	return vt_sig_is_in(way) ? mem_good(s, mem_pi, seed) :
				   wire_good(s, wire_pi, seed);
}

/**
 * vt_sig_move() - move a part of the region, and wait for the end
 * @s: the region
 * @way: the direction
 * @at: offset of the part, as the wire has it
 * @len: its length in bytes
 *
 * Return: the status of the posting side
 */
enum ib_wc_status vt_sig_move(struct vt_sig *s, enum vt_sig_way way, u32 at,
			      u32 len)
{
	struct ib_sge here = { s->mr->iova + at, len, s->mr->lkey };
	struct ib_sge there = { s->wire_mr->iova + at, len, s->wire_mr->lkey };
	struct vt_end *e = &s->p.a, *peer = &s->p.b;
	struct ib_sge *own = &here, *other = &there;
	struct ib_wc wc;

	if (ways[way].by_b) {
		swap(e, peer);
		swap(own, other);
	}
	if (ways[way].op == IB_WR_SEND)
		vt_equal(0, vt_recv(peer, 1, other, 1), "%s: receive posted",
			 ways[way].name);
	vt_equal(0, vt_post(e, &(struct vt_wr) {
		.op = ways[way].op, .flags = IB_SEND_SIGNALED, .sge = own,
		.num_sge = 1, .raddr = other->addr, .rkey = other->lkey }),
		"%s: posted", ways[way].name);
	if (ways[way].op == IB_WR_SEND)
		vt_expect(peer->rcq, IB_WC_SUCCESS, NULL, "%s: received",
			  ways[way].name);
	return vt_poll(e->scq, &wc) ? wc.status : IB_WC_GENERAL_ERR;
}

/**
 * vt_sig_no_error() - check that the region has no error to report
 * @s: the region
 * @what: the operation, as text
 */
void vt_sig_no_error(struct vt_sig *s, const char *what)
{
	struct ib_mr_status status;

	vt_equal(0, ib_check_mr_status(s->mr, IB_MR_CHECK_SIG_STATUS, &status),
		 "%s: its status", what);
	vt_equal(0, status.fail_status, "%s: no error", what);
}
