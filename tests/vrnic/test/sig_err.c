// SPDX-License-Identifier: GPL-2.0
/*
 * Signature regions and wrong protection information: the work request succeeds, the data
 * arrives, and the region's status reports the error and its place, once.
 */

#include "sig.h"

#define WRONG		3	/* the block that is */

static const struct ib_t10_dif_domain type_1 = {
	.bg_type = IB_T10DIF_CRC, .pi_interval = 512, .app_tag = 0xa55a,
	.ref_tag = 0x1000, .ref_remap = true, .app_escape = true,
	.apptag_check_mask = 0xffff,
};

static const struct ib_t10_dif_domain type_3 = {
	.bg_type = IB_T10DIF_CSUM, .pi_interval = 4096, .app_tag = 0x55aa,
	.ref_tag = 0x2000, .app_escape = true, .ref_escape = true,
	.apptag_check_mask = 0xffff,
};

/* The protection information that @way looks at */
static struct t10_pi_tuple *looked_at(struct vt_sig *s, enum vt_sig_way way, u32 block)
{
	return vt_sig_is_in(way) ? vt_sig_wire_pi(s, block) : vt_sig_meta(s, block);
}

/* Registered, and filled with correct data, for @way to check */
static int ready(struct vt_sig *s, enum vt_sig_way way, bool pass, u8 check_mask)
{
	bool in = vt_sig_is_in(way);

	if (vt_sig_reg(s, !in || pass, in || pass, check_mask))
		return -EIO;
	vt_sig_fill(s, way, !in || pass, in || pass, 1);
	return 0;
}

static void go(struct vt_sig *s, enum vt_sig_way way, bool pass, const char *what)
{
	u32 len = vt_sig_len(s, vt_sig_is_in(way) || pass);

	vt_is_status(IB_WC_SUCCESS, vt_sig_move(s, way, 0, len), "%s: moved all the same",
		     what);
}

static void has_error(struct vt_sig *s, const char *what, enum ib_sig_err_type type,
		      u32 expected, u32 actual, u32 block)
{
	struct ib_mr_status status = {};

	vt_equal(0, ib_check_mr_status(s->mr, IB_MR_CHECK_SIG_STATUS, &status),
		 "%s: the status", what);
	vt_equal(IB_MR_CHECK_SIG_STATUS, status.fail_status, "%s: there is an error", what);
	vt_equal(type, status.sig_err.err_type, "%s: its type", what);
	vt_equal(expected, status.sig_err.expected, "%s: what was expected", what);
	vt_equal(actual, status.sig_err.actual, "%s: what came", what);
	vt_equal((u64)block * (s->block + VT_SIG_PI) + s->block,
		 status.sig_err.sig_err_offset, "%s: where", what);
	vt_equal(s->mr->rkey, status.sig_err.key, "%s: the key", what);
	vt_sig_no_error(s, what);
}

/* Data as @way was to move it */
static bool data_good(struct vt_sig *s, enum vt_sig_way way, bool pass)
{
	bool good = true;
	u32 i;

	for (i = 0; i < VT_SIG_BLOCKS; i++) {
		u8 *at = vt_sig_is_in(way) ? vt_sig_data(s) + i * s->block :
					     vt_sig_wire(s, pass, i);

		good &= vt_is_filled(at, s->block, 1 + i);
	}
	return good;
}

/* ---- each field ---- */

static void wrong_field(struct vt_sig *s, enum vt_sig_way way, bool pass,
			enum ib_sig_err_type type, const char *what)
{
	struct t10_pi_tuple good, *pi = looked_at(s, way, WRONG), *passed;
	u32 expected, actual;

	if (ready(s, way, pass, VT_SIG_CHECK_ALL))
		return;
	good = *pi;
	switch (type) {
	case IB_SIG_BAD_GUARD:
		expected = be16_to_cpu(good.guard_tag);
		actual = expected ^ 0x100;
		pi->guard_tag = cpu_to_be16(actual);
		break;
	case IB_SIG_BAD_REFTAG:
		expected = be32_to_cpu(good.ref_tag);
		actual = expected ^ 0x80000000;
		pi->ref_tag = cpu_to_be32(actual);
		break;
	default:
		expected = be16_to_cpu(good.app_tag);
		actual = expected ^ 1;
		pi->app_tag = cpu_to_be16(actual);
		break;
	}
	go(s, way, pass, what);
	vt_ok(data_good(s, way, pass), "%s: the data", what);
	if (pass) {
		passed = vt_sig_is_in(way) ? vt_sig_meta(s, WRONG) :
					     vt_sig_wire_pi(s, WRONG);
		vt_ok(!memcmp(pi, passed, sizeof(*pi)), "%s: passed as it was", what);
	}
	has_error(s, what, type, expected, actual, WRONG);
}

static void each_field(struct vt_devs *d, const struct ib_t10_dif_domain *dif,
		       bool pass)
{
	static const struct {
		const char *name;
		enum vt_sig_way way;
	} ways[] = {
		{ "out, WRITE", VT_OUT_WRITE }, { "out, READ", VT_OUT_READ },
		{ "in, READ", VT_IN_READ }, { "in, WRITE", VT_IN_WRITE },
		{ "in, SEND", VT_IN_SEND },
	};
	static const char * const fields[] = {
		[IB_SIG_BAD_GUARD] = "guard",
		[IB_SIG_BAD_REFTAG] = "reference tag",
		[IB_SIG_BAD_APPTAG] = "application tag",
	};
	struct vt_sig s;
	char what[64];
	int i, type;

	if (vt_sig_make(&s, d, dif))
		return;
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		for (type = 0; type < ARRAY_SIZE(fields); type++) {
			snprintf(what, sizeof(what), "%s, %s", fields[type],
				 ways[i].name);
			wrong_field(&s, ways[i].way, pass, type, what);
		}
	}
	/* After all these */
	if (!ready(&s, VT_IN_WRITE, pass, VT_SIG_CHECK_ALL)) {
		go(&s, VT_IN_WRITE, pass, "anew");
		vt_ok(data_good(&s, VT_IN_WRITE, pass), "anew: the data");
		vt_sig_no_error(&s, "anew");
	}
	vt_sig_end(&s);
}

static void test_strip_1(struct vt_devs *d)
{
	each_field(d, &type_1, false);
}

static void test_strip_3(struct vt_devs *d)
{
	each_field(d, &type_3, false);
}

static void test_pass_1(struct vt_devs *d)
{
	each_field(d, &type_1, true);
}

static void test_pass_3(struct vt_devs *d)
{
	each_field(d, &type_3, true);
}

/* Data that was changed: the guard that came is good, the one of the data is not */
static void test_data(struct vt_devs *d)
{
	struct vt_sig s;
	u16 was, is;

	if (vt_sig_make(&s, d, &type_1))
		return;
	if (!ready(&s, VT_IN_WRITE, false, VT_SIG_CHECK_ALL)) {
		was = be16_to_cpu(vt_sig_wire_pi(&s, 0)->guard_tag);
		vt_sig_wire(&s, true, 0)[511] ^= 4;
		is = be16_to_cpu(vt_sig_tuple(&type_1, vt_sig_wire(&s, true, 0),
					      0).guard_tag);
		vt_ok(was != is, "another guard");
		go(&s, VT_IN_WRITE, false, "changed on the wire");
		has_error(&s, "changed on the wire", IB_SIG_BAD_GUARD, is, was, 0);
	}
	if (!ready(&s, VT_OUT_WRITE, false, VT_SIG_CHECK_ALL)) {
		was = be16_to_cpu(vt_sig_meta(&s, 4)->guard_tag);
		vt_sig_data(&s)[4 * 512] ^= 4;
		is = be16_to_cpu(vt_sig_tuple(&type_1, vt_sig_data(&s) + 4 * 512,
					      4).guard_tag);
		vt_ok(was != is, "another guard");
		go(&s, VT_OUT_WRITE, false, "changed in memory");
		has_error(&s, "changed in memory", IB_SIG_BAD_GUARD, is, was, 4);
	}
	vt_sig_end(&s);
}

/* Of several errors, the first one */
static void test_first(struct vt_devs *d)
{
	struct vt_sig s;

	if (vt_sig_make(&s, d, &type_1))
		return;
	if (!ready(&s, VT_IN_WRITE, false, VT_SIG_CHECK_ALL)) {
		vt_sig_wire_pi(&s, 1)->ref_tag = cpu_to_be32(5);
		vt_sig_wire_pi(&s, 2)->guard_tag ^= cpu_to_be16(1);
		go(&s, VT_IN_WRITE, false, "of two blocks");
		has_error(&s, "of two blocks", IB_SIG_BAD_REFTAG, 0x1001, 5, 1);
	}
	if (!ready(&s, VT_IN_WRITE, false, VT_SIG_CHECK_ALL)) {
		vt_sig_wire_pi(&s, 2)->app_tag = cpu_to_be16(6);
		vt_sig_wire_pi(&s, 2)->ref_tag = cpu_to_be32(5);
		go(&s, VT_IN_WRITE, false, "both tags of one");
		has_error(&s, "both tags of one", IB_SIG_BAD_REFTAG, 0x1002, 5, 2);
	}
	vt_sig_end(&s);
}

/* ---- fields that are not checked ---- */

struct skip {
	const char *what;
	u8 check_mask;
	u16 guard_xor;
	u16 app;
	u32 ref;
	int type;		/* the error that is found; -1 if there is none */
};

static void skipped(struct vt_devs *d, const struct ib_t10_dif_domain *dif,
		    const struct skip *c)
{
	struct ib_mr_status status;
	struct t10_pi_tuple *pi;
	struct vt_sig s;

	if (vt_sig_make(&s, d, dif))
		return;
	if (ready(&s, VT_IN_READ, false, c->check_mask))
		goto out;
	pi = vt_sig_wire_pi(&s, WRONG);
	pi->guard_tag ^= cpu_to_be16(c->guard_xor);
	pi->app_tag = cpu_to_be16(c->app);
	pi->ref_tag = cpu_to_be32(c->ref);
	go(&s, VT_IN_READ, false, c->what);
	vt_equal(0, ib_check_mr_status(s.mr, IB_MR_CHECK_SIG_STATUS, &status),
		 "%s: the status", c->what);
	if (c->type < 0)
		vt_equal(0, status.fail_status, "%s: no error", c->what);
	else if (vt_equal(IB_MR_CHECK_SIG_STATUS, status.fail_status,
			  "%s: an error", c->what))
		vt_equal(c->type, status.sig_err.err_type, "%s: its type", c->what);
out:
	vt_sig_end(&s);
}

/* Fields that the mask does not name */
static void test_mask(struct vt_devs *d)
{
	static const struct skip cases[] = {
		{ "nothing is checked", 0, 1, 1, 1, -1 },
		{ "the guard alone, tags wrong", IB_SIG_CHECK_GUARD, 0, 1, 1, -1 },
		{ "the guard alone, all wrong", IB_SIG_CHECK_GUARD, 1, 1, 1,
		  IB_SIG_BAD_GUARD },
		{ "the reference tag alone, others wrong", IB_SIG_CHECK_REFTAG, 1, 1,
		  0x1000 + WRONG, -1 },
		{ "the reference tag alone, all wrong", IB_SIG_CHECK_REFTAG, 1, 1, 1,
		  IB_SIG_BAD_REFTAG },
		{ "the application tag alone, others wrong", IB_SIG_CHECK_APPTAG, 1,
		  0xa55a, 1, -1 },
		{ "the application tag alone, all wrong", IB_SIG_CHECK_APPTAG, 1, 1, 1,
		  IB_SIG_BAD_APPTAG },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		skipped(d, &type_1, &cases[i]);
}

/* Bits of the application tag that the mask does not name */
static void test_app_mask(struct vt_devs *d)
{
	static const struct skip cases[] = {
		{ "bits that are not checked", VT_SIG_CHECK_ALL, 0, 0x5a5a,
		  0x1000 + WRONG, -1 },
		{ "bits that are checked", VT_SIG_CHECK_ALL, 0, 0xa55b, 0x1000 + WRONG,
		  IB_SIG_BAD_APPTAG },
	};
	struct ib_t10_dif_domain dif = type_1;
	int i;

	dif.apptag_check_mask = 0x000f;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		skipped(d, &dif, &cases[i]);
}

/* Tags of a block that was never protected */
static void test_escape(struct vt_devs *d)
{
	static const struct skip none = { "no escapes, all ones", VT_SIG_CHECK_ALL, 1,
					  0xffff, 0xffffffff, IB_SIG_BAD_GUARD };
	static const struct skip app[] = {
		{ "type 1, application tag all ones", VT_SIG_CHECK_ALL, 1, 0xffff, 1, -1 },
		{ "type 1, reference tag all ones", VT_SIG_CHECK_ALL, 0, 0xa55a,
		  0xffffffff, IB_SIG_BAD_REFTAG },
	};
	static const struct skip both[] = {
		{ "type 3, both all ones", VT_SIG_CHECK_ALL, 1, 0xffff, 0xffffffff, -1 },
		{ "type 3, application tag all ones", VT_SIG_CHECK_ALL, 1, 0xffff, 0x2000,
		  IB_SIG_BAD_GUARD },
		{ "type 3, reference tag all ones", VT_SIG_CHECK_ALL, 0, 0x55aa,
		  0xffffffff, IB_SIG_BAD_REFTAG },
	};
	struct ib_t10_dif_domain dif = type_1;
	int i;

	for (i = 0; i < ARRAY_SIZE(app); i++)
		skipped(d, &type_1, &app[i]);
	for (i = 0; i < ARRAY_SIZE(both); i++)
		skipped(d, &type_3, &both[i]);
	dif.app_escape = false;
	skipped(d, &dif, &none);
}

/* ---- an error of a registration that is over ---- */

static void test_late(struct vt_devs *d)
{
	struct ib_mr_status status;
	struct vt_sig s;
	u32 old;

	if (vt_sig_make(&s, d, &type_1))
		return;
	if (ready(&s, VT_IN_WRITE, false, VT_SIG_CHECK_ALL))
		goto out;
	vt_sig_wire_pi(&s, 1)->ref_tag = cpu_to_be32(5);
	go(&s, VT_IN_WRITE, false, "late");
	old = s.mr->rkey;
	vt_inv(&s.p.a, old);
	ib_update_fast_reg_key(s.mr, ib_inc_rkey(old));
	s.registered = false;
	vt_equal(0, ib_check_mr_status(s.mr, IB_MR_CHECK_SIG_STATUS, &status),
		 "late: the status");
	vt_equal(IB_MR_CHECK_SIG_STATUS, status.fail_status, "late: there is an error");
	vt_equal(old, status.sig_err.key, "late: of that key");
	vt_equal(0, status.sig_err.sig_err_offset, "late: nobody knows where");
	vt_sig_no_error(&s, "late");
	if (!ready(&s, VT_IN_WRITE, false, VT_SIG_CHECK_ALL)) {
		go(&s, VT_IN_WRITE, false, "after it");
		vt_sig_no_error(&s, "after it");
	}
out:
	vt_sig_end(&s);
}

const struct vt_test vt_sig_err[] = {
	{ "strip, type 1", test_strip_1 },
	{ "strip, type 3", test_strip_3 },
	{ "pass, type 1", test_pass_1 },
	{ "pass, type 3", test_pass_3 },
	{ "data", test_data },
	{ "first", test_first },
	{ "mask", test_mask },
	{ "application mask", test_app_mask },
	{ "escape", test_escape },
	{ "late", test_late },
	{}
};
