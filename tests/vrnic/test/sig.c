// SPDX-License-Identifier: GPL-2.0
/*
 * Signature regions, used as they are meant: data in memory and on the wire,
 * each with T10 protection information or without, which is made, checked and
 * dropped, or checked and passed.
 */

#include "sig.h"

/* Types 1 and 2 count the reference tag up, 3 leaves it to its owner */
#define TYPE_1 \
	.ref_tag = 0x1000, .ref_remap = true, .app_escape = true, \
	.apptag_check_mask = 0xffff, .app_tag = 0xa55a
#define TYPE_2 \
	.ref_tag = 0xfffffffd, .ref_remap = true, .app_escape = true, \
	.apptag_check_mask = 0xffff, .app_tag = 0x1234
#define TYPE_3 \
	.ref_tag = 0xcafe0001, .app_escape = true, .ref_escape = true, \
	.apptag_check_mask = 0xffff, .app_tag = 0xbeef

static const struct {
	const char *name;
	struct ib_t10_dif_domain dif;
} kinds[] = {
	{ "type 1, CRC, 512", { IB_T10DIF_CRC, 512, TYPE_1 } },
	{ "type 1, CRC, 4096", { IB_T10DIF_CRC, 4096, TYPE_1 } },
	{ "type 1, CSUM, 512", { IB_T10DIF_CSUM, 512, TYPE_1 } },
	{ "type 1, CSUM, 4096", { IB_T10DIF_CSUM, 4096, TYPE_1 } },
	{ "type 2, CRC, 512", { IB_T10DIF_CRC, 512, TYPE_2 } },
	{ "type 2, CSUM, 4096", { IB_T10DIF_CSUM, 4096, TYPE_2 } },
	{ "type 3, CRC, 4096", { IB_T10DIF_CRC, 4096, TYPE_3 } },
	{ "type 3, CSUM, 512", { IB_T10DIF_CSUM, 512, TYPE_3 } },
	{ "CRC that begins at 0xffff", { IB_T10DIF_CRC, 512, 0xffff, TYPE_1 } },
};

static const char * const way_names[VT_SIG_WAYS] = {
	"out, WRITE", "out, READ", "out, SEND", "in, READ", "in, WRITE", "in, SEND",
};

static void test_caps(struct vt_devs *d)
{
	const struct ib_device_attr *a = &d->a->attrs;

	vt_ok(a->kernel_cap_flags & IBK_INTEGRITY_HANDOVER, "it says so");
	vt_equal(IB_PROT_T10DIF_TYPE_1 | IB_PROT_T10DIF_TYPE_2 | IB_PROT_T10DIF_TYPE_3,
		 a->sig_prot_cap, "types");
	vt_equal(IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM, a->sig_guard_cap, "guards");
	vt_at_least(VT_SIG_PAGES, a->max_pi_fast_reg_page_list_len, "pieces");
}

/* The whole region, one way */
static void all_of_it(struct vt_sig *s, enum vt_sig_way way, bool mem_pi, bool wire_pi,
		      const char *what)
{
	u32 seed = 10 * way + 2 * mem_pi + wire_pi;

	if (vt_sig_reg(s, mem_pi, wire_pi, VT_SIG_CHECK_ALL))
		return;
	vt_sig_fill(s, way, mem_pi, wire_pi, seed);
	vt_is_status(IB_WC_SUCCESS,
		     vt_sig_move(s, way, 0, vt_sig_len(s, wire_pi)), "%s: status", what);
	vt_ok(vt_sig_arrived(s, way, mem_pi, wire_pi, seed), "%s: what arrived", what);
	vt_sig_no_error(s, what);
}

static void each_kind(struct vt_devs *d, bool mem_pi, bool wire_pi)
{
	struct vt_sig s;
	char what[64];
	int i, way;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (vt_sig_make(&s, d, &kinds[i].dif))
			continue;
		for (way = 0; way < VT_SIG_WAYS; way++) {
			/* The first is tried in all ways */
			if (i && way != VT_OUT_READ && way != VT_IN_WRITE)
				continue;
			snprintf(what, sizeof(what), "%s, %s", kinds[i].name,
				 way_names[way]);
			all_of_it(&s, way, mem_pi, wire_pi, what);
		}
		vt_sig_end(&s);
	}
}

/* On the wire alone: made on the way out, checked and dropped on the way in */
static void test_wire(struct vt_devs *d)
{
	each_kind(d, false, true);
}

/* In memory alone: the other way round */
static void test_memory(struct vt_devs *d)
{
	each_kind(d, true, false);
}

static void test_pass(struct vt_devs *d)
{
	each_kind(d, true, true);
}

/* A signature region is good for memory that nothing protects, too */
static void test_none(struct vt_devs *d)
{
	struct vt_sig s;
	int way;

	if (vt_sig_make(&s, d, &kinds[0].dif))
		return;
	for (way = 0; way < VT_SIG_WAYS; way++)
		all_of_it(&s, way, false, false, way_names[way]);
	vt_sig_end(&s);
}

/* Different domains: fields that are the same are passed, the others are generated */
static void test_change(struct vt_devs *d)
{
	struct ib_t10_dif_domain mem = kinds[0].dif, wire = kinds[2].dif;
	struct vt_sig s;

	wire.ref_tag = 77;
	wire.app_tag = 0x7777;
	if (vt_sig_make(&s, d, &mem))
		return;
	/* mapped and registered by hand: the domains are not alike */
	vt_sig_attrs(&s, true, true, VT_SIG_CHECK_ALL);
	s.mr->sig_attrs->wire.sig.dif = wire;
	vt_equal(0, ib_map_mr_sg_pi(s.mr, s.data_sg, s.data_n, NULL, s.meta_sg, 2,
				    NULL, PAGE_SIZE), "mapped");
	vt_equal(0, vt_sig_post_reg(&s.p.a, s.mr), "registration posted");
	vt_expect(s.p.a.scq, IB_WC_SUCCESS, NULL, "registered");
	vt_sig_fill(&s, VT_OUT_WRITE, true, true, 3);
	vt_is_status(IB_WC_SUCCESS,
		     vt_sig_move(&s, VT_OUT_WRITE, 0, vt_sig_len(&s, true)), "out");
	s.dif = wire;
	vt_ok(vt_sig_arrived(&s, VT_OUT_WRITE, true, true, 3), "what came out");
	vt_sig_no_error(&s, "out");
	vt_sig_end(&s);

	/* The guard is what came, even if it is wrong, and the tags are new */
	mem.app_tag = 1;
	if (vt_sig_make(&s, d, &mem))
		return;
	vt_sig_attrs(&s, true, true, 0);
	s.mr->sig_attrs->wire.sig.dif.app_tag = 2;
	vt_equal(0, ib_map_mr_sg_pi(s.mr, s.data_sg, s.data_n, NULL, s.meta_sg, 2,
				    NULL, PAGE_SIZE), "mapped");
	vt_equal(0, vt_sig_post_reg(&s.p.a, s.mr), "registration posted");
	vt_expect(s.p.a.scq, IB_WC_SUCCESS, NULL, "registered");
	vt_sig_fill(&s, VT_IN_WRITE, true, true, 4);
	vt_sig_wire_pi(&s, 2)->guard_tag = cpu_to_be16(0x1111);
	vt_sig_wire_pi(&s, 2)->ref_tag = cpu_to_be32(0x2222);
	vt_sig_wire_pi(&s, 2)->app_tag = cpu_to_be16(0x3333);
	vt_is_status(IB_WC_SUCCESS,
		     vt_sig_move(&s, VT_IN_WRITE, 0, vt_sig_len(&s, true)), "in");
	vt_equal(0x1111, be16_to_cpu(vt_sig_meta(&s, 2)->guard_tag), "guard as it came");
	vt_equal(0x2222, be32_to_cpu(vt_sig_meta(&s, 2)->ref_tag), "reference as it came");
	vt_equal(1, be16_to_cpu(vt_sig_meta(&s, 2)->app_tag), "application tag made anew");
	vt_sig_no_error(&s, "what is not checked");
	vt_sig_end(&s);
}

/*
 * In parts, as a consumer with RDMA WRITEs of a certain size does: they end within data,
 * within protection information and between them.
 */
static void test_parts(struct vt_devs *d)
{
	static const u32 ends[] = { 1, 511, 512, 515, 520, 1040, 1552, 1559 };
	struct vt_sig s;
	int way, i;

	if (vt_sig_make(&s, d, &kinds[0].dif))
		return;
	for (way = 0; way < VT_SIG_WAYS; way++) {
		u32 at = 0, len = vt_sig_len(&s, true);
		bool good = true;

		if (vt_sig_reg(&s, true, true, VT_SIG_CHECK_ALL))
			break;
		vt_sig_fill(&s, way, true, true, way);
		for (i = 0; i < ARRAY_SIZE(ends); i++) {
			good &= !vt_sig_move(&s, way, at, ends[i] - at);
			at = ends[i];
		}
		good &= !vt_sig_move(&s, way, at, len - at);
		vt_ok(good, "%s: in parts", way_names[way]);
		vt_ok(vt_sig_arrived(&s, way, true, true, way), "%s: what arrived",
		      way_names[way]);
		vt_sig_no_error(&s, way_names[way]);
	}
	vt_sig_end(&s);
}

/* Blocks and their protection information by turns in memory, as on the wire */
static void test_interleaved(struct vt_devs *d)
{
	struct scatterlist data[VT_SIG_BLOCKS], meta[VT_SIG_BLOCKS];
	struct vt_buf mem = {};
	struct vt_sig s;
	u32 each, i;

	if (vt_sig_make(&s, d, &kinds[0].dif))
		return;
	each = s.block + VT_SIG_PI;
	if (vt_buf_make(&mem, d->a, PAGE_SIZE))
		goto out;
	sg_init_table(data, VT_SIG_BLOCKS);
	sg_init_table(meta, VT_SIG_BLOCKS);
	for (i = 0; i < VT_SIG_BLOCKS; i++) {
		sg_dma_address(&data[i]) = mem.dma + i * each;
		sg_dma_len(&data[i]) = s.block;
		sg_dma_address(&meta[i]) = mem.dma + i * each + s.block;
		sg_dma_len(&meta[i]) = VT_SIG_PI;
	}
	ib_dereg_mr(s.mr);
	s.mr = ib_alloc_mr_integrity(s.p.a.pd, VT_SIG_BLOCKS, VT_SIG_BLOCKS);
	if (!vt_equal(0, PTR_ERR_OR_ZERO(s.mr), "signature MR made"))
		goto out;
	vt_sig_attrs(&s, true, true, VT_SIG_CHECK_ALL);
	vt_equal(0, ib_map_mr_sg_pi(s.mr, data, VT_SIG_BLOCKS, NULL, meta,
				    VT_SIG_BLOCKS, NULL, PAGE_SIZE), "mapped");
	vt_equal(VT_SIG_BLOCKS * VT_SIG_PI, s.mr->sig_attrs->meta_length,
		 "the metadata's length");
	vt_equal(0, vt_sig_post_reg(&s.p.a, s.mr), "registration posted");
	vt_expect(s.p.a.scq, IB_WC_SUCCESS, NULL, "registered");
	vt_sig_fill(&s, VT_IN_WRITE, true, true, 5);
	vt_is_status(IB_WC_SUCCESS,
		     vt_sig_move(&s, VT_IN_WRITE, 0, vt_sig_len(&s, true)), "in");
	vt_ok(!memcmp(mem.va, s.wire.va, VT_SIG_BLOCKS * each), "what came in");
	vt_ok(vt_is_all(mem.va + VT_SIG_BLOCKS * each,
			PAGE_SIZE - VT_SIG_BLOCKS * each, 0), "nothing behind it");
	vt_sig_no_error(&s, "in");
out:
	vt_buf_free(&mem);
	vt_sig_end(&s);
}

/* Both lists may begin within their first piece */
static void test_offset(struct vt_devs *d)
{
	unsigned int data_offset = 300, meta_offset = 5;
	struct scatterlist data, meta;
	struct t10_pi_tuple pi;
	struct vt_sig s;

	if (vt_sig_make(&s, d, &kinds[0].dif))
		return;
	sg_init_table(&data, 1);
	sg_init_table(&meta, 1);
	sg_dma_address(&data) = sg_dma_address(&s.mem.sg[0]);
	sg_dma_len(&data) = 300 + 512;
	sg_dma_address(&meta) = s.meta.dma;
	sg_dma_len(&meta) = 5 + VT_SIG_PI;
	vt_sig_attrs(&s, true, true, VT_SIG_CHECK_ALL);
	vt_equal(0, ib_map_mr_sg_pi(s.mr, &data, 1, &data_offset, &meta, 1,
				    &meta_offset, PAGE_SIZE), "mapped");
	vt_equal(512 + VT_SIG_PI, s.mr->length, "its length");
	vt_equal(0, vt_sig_post_reg(&s.p.a, s.mr), "registration posted");
	vt_expect(s.p.a.scq, IB_WC_SUCCESS, NULL, "registered");
	vt_fill(s.mem.va + 300, 512, 6);
	pi = vt_sig_tuple(&s.dif, s.mem.va + 300, 0);
	memcpy(s.meta.va + 5, &pi, sizeof(pi));
	vt_is_status(IB_WC_SUCCESS,
		     vt_sig_move(&s, VT_OUT_WRITE, 0, 512 + VT_SIG_PI), "out");
	vt_ok(vt_is_filled(s.wire.va, 512, 6), "the data");
	vt_ok(!memcmp(s.wire.va + 512, &pi, sizeof(pi)), "its protection information");
	vt_sig_no_error(&s, "out");
	vt_sig_end(&s);
}

/* More pieces than it was made for, and regions that there are not */
static void test_limits(struct vt_devs *d)
{
	u32 most = to_vdev(d->a)->config.max_mr_pages;
	struct ib_mr_status status;
	struct vt_sig s;
	struct ib_mr *mr;

	if (vt_sig_make(&s, d, &kinds[0].dif))
		return;
	mr = ib_alloc_mr_integrity(s.p.a.pd, 0, 1);
	vt_equal((u64)-EINVAL, PTR_ERR_OR_ZERO(mr), "for no data: refused");
	mr = ib_alloc_mr_integrity(s.p.a.pd, most, 1);
	vt_equal((u64)-EINVAL, PTR_ERR_OR_ZERO(mr), "for too many pieces: refused");
	mr = ib_alloc_mr_integrity(s.p.a.pd, 1, 1);
	if (!vt_equal(0, PTR_ERR_OR_ZERO(mr), "for one piece of each"))
		goto out;
	vt_equal((u64)-ENOMEM, ib_map_mr_sg_pi(mr, s.data_sg, 2, NULL, s.meta_sg, 1,
					       NULL, PAGE_SIZE), "data of two: refused");
	vt_equal((u64)-ENOMEM, ib_map_mr_sg_pi(mr, s.data_sg, 1, NULL, s.meta_sg, 2,
					       NULL, PAGE_SIZE),
		 "metadata of two: refused");
	vt_equal(0, ib_dereg_mr(mr), "MR gone");
	vt_equal((u64)-EINVAL, ib_check_mr_status(s.mr, 1U << 31, &status),
		 "a status that there is not");
	mr = ib_alloc_mr(s.p.a.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!vt_equal(0, PTR_ERR_OR_ZERO(mr), "another MR made"))
		goto out;
	vt_equal((u64)-EINVAL, ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status),
		 "of which there is no status");
	vt_equal(0, ib_dereg_mr(mr), "MR gone");
out:
	vt_sig_end(&s);
}

const struct vt_test vt_sig[] = {
	{ "caps", test_caps },
	{ "wire", test_wire },
	{ "memory", test_memory },
	{ "pass", test_pass },
	{ "none", test_none },
	{ "change", test_change },
	{ "parts", test_parts },
	{ "interleaved", test_interleaved },
	{ "offset", test_offset },
	{ "limits", test_limits },
	{}
};
