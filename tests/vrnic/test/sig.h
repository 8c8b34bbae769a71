/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A signature region and its test data: made by sig_region.c, for sig.c, sig_err.c and
 * sig_rules.c.
 *
 * The end a has blocks of data and protection information, in separate memory, and the region
 * over them; the end b has the stream on the wire, in one piece. The expected protection
 * information is computed here.
 */
#ifndef _VRNIC_TEST_SIG_H
#define _VRNIC_TEST_SIG_H

#include <linux/t10-pi.h>
#include "vrnic_test.h"

#define VT_SIG_BLOCKS	5
#define VT_SIG_PI	sizeof(struct t10_pi_tuple)
/* Where the data begins: blocks of any size lie over the ends of pages */
#define VT_SIG_OFFSET	3000
#define VT_SIG_PAGES	6

/**
 * struct vt_sig - a signature region
 * @p: the ends; the region is of a's protection domain
 * @mem: memory of the data, from VT_SIG_OFFSET on
 * @data_sg: the data, in @data_n pieces
 * @meta: protection information in memory
 * @meta_sg: the same, in two pieces, neither of which is whole tuples
 * @wire: the stream on the wire
 * @wire_mr: the same, as b has registered it
 * @mr: the region
 * @dif: how its blocks are protected
 * @block: bytes of data in a block
 * @registered: @mr is registered
 */
struct vt_sig {
	struct vt_pair p;
	struct vt_mem mem;
	struct scatterlist data_sg[VT_SIG_PAGES];
	int data_n;
	struct vt_buf meta;
	struct scatterlist meta_sg[2];
	struct vt_buf wire;
	struct ib_mr *wire_mr;
	struct ib_mr *mr;
	struct ib_t10_dif_domain dif;
	u32 block;
	bool registered;
};

/* How data gets into the region from the wire, or out of it */
enum vt_sig_way {
	VT_OUT_WRITE,	/* by an RDMA WRITE of a */
	VT_OUT_READ,	/* by an RDMA READ of b */
	VT_OUT_SEND,
	VT_IN_READ,	/* by an RDMA READ of a */
	VT_IN_WRITE,	/* by an RDMA WRITE of b */
	VT_IN_SEND,
	VT_SIG_WAYS,
};

static inline bool vt_sig_is_in(enum vt_sig_way way)
{
	return way >= VT_IN_READ;
}

static inline u8 *vt_sig_data(struct vt_sig *s)
{
	return s->mem.va + VT_SIG_OFFSET;
}

static inline struct t10_pi_tuple *vt_sig_meta(struct vt_sig *s, u32 block)
{
	return (struct t10_pi_tuple *)s->meta.va + block;
}

/* Where a block is on a wire with protection information or without */
static inline u8 *vt_sig_wire(struct vt_sig *s, bool pi, u32 block)
{
	return s->wire.va + block * (s->block + (pi ? VT_SIG_PI : 0));
}

static inline struct t10_pi_tuple *vt_sig_wire_pi(struct vt_sig *s, u32 block)
{
	return (struct t10_pi_tuple *)(vt_sig_wire(s, true, block) + s->block);
}

int vt_sig_make(struct vt_sig *s, struct vt_devs *d,
		const struct ib_t10_dif_domain *dif);
void vt_sig_end(struct vt_sig *s);
struct t10_pi_tuple vt_sig_tuple(const struct ib_t10_dif_domain *dif,
				 const u8 *data, u32 block);
void vt_sig_attrs(struct vt_sig *s, bool mem_pi, bool wire_pi, u8 check_mask);
int vt_sig_post_reg(struct vt_end *e, struct ib_mr *mr);
int vt_sig_reg(struct vt_sig *s, bool mem_pi, bool wire_pi, u8 check_mask);
u32 vt_sig_len(struct vt_sig *s, bool wire_pi);
enum ib_wc_status vt_sig_move(struct vt_sig *s, enum vt_sig_way way, u32 at,
			      u32 len);
void vt_sig_fill(struct vt_sig *s, enum vt_sig_way way, bool mem_pi, bool wire_pi,
		 u32 seed);
bool vt_sig_arrived(struct vt_sig *s, enum vt_sig_way way, bool mem_pi,
		    bool wire_pi, u32 seed);
void vt_sig_no_error(struct vt_sig *s, const char *what);

#define VT_SIG_CHECK_ALL	(IB_SIG_CHECK_GUARD | IB_SIG_CHECK_REFTAG | \
				 IB_SIG_CHECK_APPTAG)

#endif
