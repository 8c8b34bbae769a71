// SPDX-License-Identifier: GPL-2.0
/* target/cm_req.c: connection requests, the good, the bad and the random */
#include "harness.h"

#include "target/cm_req.h"

static const struct nvmet_rdma_cm_limits usual = {
	.max_qid	= 128,
	.admin_depth	= 128,
	.io_depth	= 256,
	.needs_ird	= true,
};

static void request(u8 *buf, u16 recfmt, u16 qid, u16 hrqsize, u16 hsqsize)
{
	memset(buf, 0, NVMET_RDMA_CM_REQ_LEN);
	put_unaligned_le16(recfmt, buf);
	put_unaligned_le16(qid, buf + 2);
	put_unaligned_le16(hrqsize, buf + 4);
	put_unaligned_le16(hsqsize, buf + 6);
}

static enum nvmet_rdma_cm_sts parse(const u8 *data, size_t len, u8 ird,
				    const struct nvmet_rdma_cm_limits *limits,
				    struct nvmet_rdma_cm_req *req)
{
	u8 *copy = unit_exact_copy(data, len);
	enum nvmet_rdma_cm_sts sts;

	sts = nvmet_rdma_parse_cm_req(copy, len, ird, limits, req);
	free(copy);
	return sts;
}

static void every_field(void **state)
{
	static const struct {
		const char *what;
		u16 recfmt, qid, hrqsize, hsqsize;
		u8 ird;
		enum nvmet_rdma_cm_sts sts;
		u32 found, least, most;
	} table[] = {
		{ "admin as Linux asks", 0, 0, 32, 31, 16, 0, 0, 0, 0 },
		{ "I/O as Linux asks", 0, 1, 128, 127, 16, 0, 0, 0, 0 },
		{ "smallest", 0, 1, 1, 1, 1, 0, 0, 0, 0 },
		{ "largest", 0, 128, 65535, 255, 255, 0, 0, 0, 0 },
		{ "record format 1", 1, 1, 128, 127, 16,
		  NVMET_RDMA_CM_BAD_RECFMT, 1, 0, 0 },
		{ "record format 65535", 65535, 1, 128, 127, 16,
		  NVMET_RDMA_CM_BAD_RECFMT, 65535, 0, 0 },
		{ "queue 129", 0, 129, 128, 127, 16,
		  NVMET_RDMA_CM_BAD_QID, 129, 0, 128 },
		{ "queue 65535", 0, 65535, 128, 127, 16,
		  NVMET_RDMA_CM_BAD_QID, 65535, 0, 128 },
		{ "admin of one entry", 0, 0, 32, 0, 16,
		  NVMET_RDMA_CM_BAD_HSQSIZE, 1, 2, 65536 },
		{ "I/O of one entry", 0, 1, 1, 0, 16,
		  NVMET_RDMA_CM_BAD_HSQSIZE, 1, 2, 256 },
		{ "I/O one too deep", 0, 1, 257, 256, 16,
		  NVMET_RDMA_CM_BAD_HSQSIZE, 257, 2, 256 },
		{ "HSQSIZE 65535 does not wrap to 0", 0, 1, 128, 65535, 16,
		  NVMET_RDMA_CM_BAD_HSQSIZE, 65536, 2, 256 },
		{ "no receive", 0, 1, 0, 127, 16,
		  NVMET_RDMA_CM_BAD_HRQSIZE, 0, 1, 65535 },
		{ "admin without a receive", 0, 0, 0, 31, 16,
		  NVMET_RDMA_CM_BAD_HRQSIZE, 0, 1, 65535 },
		{ "serves no READ", 0, 1, 128, 127, 0,
		  NVMET_RDMA_CM_BAD_IRD, 0, 1, 255 },
	};
	struct nvmet_rdma_cm_req req;
	u8 buf[NVMET_RDMA_CM_REQ_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("%s", table[i].what);
		request(buf, table[i].recfmt, table[i].qid, table[i].hrqsize,
			table[i].hsqsize);
		unit_equal(table[i].sts, parse(buf, sizeof(buf), table[i].ird,
					       &usual, &req));
		if (table[i].sts) {
			unit_equal(table[i].found, req.value);
			unit_equal(table[i].least, req.min);
			unit_equal(table[i].most, req.max);
			continue;
		}
		unit_equal(table[i].qid, req.qid);
		unit_equal(table[i].hsqsize + 1, req.depth);
		unit_equal(table[i].hrqsize, req.hrqsize);
	}
}

/* More than an admin queue may have is granted in part */
static void admin_depth(void **state)
{
	static const struct { u16 hsqsize, granted; } table[] = {
		{ 1, 2 }, { 31, 32 }, { 32, 33 }, { 71, 72 }, { 126, 127 }, { 127, 128 },
		{ 128, 128 }, { 135, 128 }, { 65534, 128 }, { 65535, 128 },
	};
	struct nvmet_rdma_cm_req req;
	u8 buf[NVMET_RDMA_CM_REQ_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("HSQSIZE %u", table[i].hsqsize);
		request(buf, 0, 0, 65535, table[i].hsqsize);
		unit_equal(NVMET_RDMA_CM_OK,
			   parse(buf, sizeof(buf), 1, &usual, &req));
		unit_equal(table[i].granted, req.depth);
		unit_equal(65535, req.hrqsize);
	}
}

static void every_length(void **state)
{
	struct nvmet_rdma_cm_req req;
	u8 buf[92];
	size_t len;

	(void)state;
	memset(buf, 0, sizeof(buf));
	request(buf, 0, 3, 64, 63);
	for (len = 0; len <= sizeof(buf); len++) {
		unit_context("%zu bytes", len);
		unit_equal(len < 32 ? NVMET_RDMA_CM_BAD_LEN : NVMET_RDMA_CM_OK,
			   parse(buf, len, 1, &usual, &req));
		if (len < 32) {
			unit_equal(len, req.value);
			unit_equal(32, req.min);
		}
	}
	assert_int_equal(NVMET_RDMA_CM_BAD_LEN,
			 nvmet_rdma_parse_cm_req(NULL, 0, 1, &usual, &req));
}

/* iWARP does not report how many READs the host serves */
static void ird_where_unknown(void **state)
{
	struct nvmet_rdma_cm_limits limits = usual;
	struct nvmet_rdma_cm_req req;
	u8 buf[NVMET_RDMA_CM_REQ_LEN];

	(void)state;
	limits.needs_ird = false;
	request(buf, 0, 1, 128, 127);
	assert_int_equal(NVMET_RDMA_CM_OK,
			 parse(buf, sizeof(buf), 0, &limits, &req));
}

static void max_rsps(void **state)
{
	static const struct {
		u32 depth, hrqsize, want;
	} table[] = {
		{ 2, 1, 2 }, { 2, 2, 3 }, { 2, 65535, 3 }, { 32, 32, 41 },
		{ 128, 128, 161 }, { 128, 16, 21 }, { 1024, 65535, 1281 },
	};
	struct nvmet_rdma_cm_req req = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("depth %u, hrqsize %u", table[i].depth,
			     table[i].hrqsize);
		req.depth = table[i].depth;
		req.hrqsize = table[i].hrqsize;
		unit_equal(table[i].want, nvmet_rdma_cm_nr_rsps(&req));
	}
}

static void names(void **state)
{
	int i, j;

	(void)state;
	for (i = 0; i <= NVMET_RDMA_CM_BAD_IRD; i++)
		for (j = 0; j <= NVMET_RDMA_CM_BAD_IRD + 1; j++)
			if (i != j)
				assert_string_not_equal(nvmet_rdma_cm_sts_name(i),
							nvmet_rdma_cm_sts_name(j));
	assert_string_equal("unknown", nvmet_rdma_cm_sts_name(-1));
}

/* Whatever comes: refused with a reason, or inside every limit */
static void random_requests(void **state)
{
	u64 seed = 20260101, r;
	unsigned int round, taken = 0;
	u8 buf[NVMET_RDMA_CM_REQ_LEN];

	(void)state;
	for (round = 0; round < 200000; round++) {
		struct nvmet_rdma_cm_req req;
		size_t len, i;
		u8 ird;

		unit_context("round %u", round);
		for (i = 0; i < sizeof(buf); i++)
			buf[i] = unit_random(&seed) >> 56;
		r = unit_random(&seed);
		/* Most are almost right, or none would get far */
		if (r & 7) {
			put_unaligned_le16(0, buf);
			put_unaligned_le16(r >> 8 & 0xff, buf + 2);
			put_unaligned_le16(r >> 16 & 0x1ff, buf + 6);
		}
		len = r & 0x70 ? sizeof(buf) : r >> 40 & 31;
		ird = r >> 48 & 3;

		if (parse(buf, len, ird, &usual, &req)) {
			assert_true(req.value < req.min ||
				    req.value > req.max);
			continue;
		}
		taken++;
		assert_true(len >= NVMET_RDMA_CM_REQ_LEN && ird);
		assert_true(req.qid <= usual.max_qid);
		assert_true(req.depth >= 2 && req.hrqsize);
		assert_true(req.depth <= (req.qid ? usual.io_depth :
						    usual.admin_depth));
		assert_true(nvmet_rdma_cm_nr_rsps(&req) >= 2);
		assert_true(nvmet_rdma_cm_nr_rsps(&req) <= 2 * req.depth);
	}
	/* The loop is worth something only if it sees both */
	assert_in_range(taken, 1000, 190000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field),
		cmocka_unit_test(admin_depth),
		cmocka_unit_test(every_length),
		cmocka_unit_test(ird_where_unknown),
		cmocka_unit_test(max_rsps),
		cmocka_unit_test(names),
		cmocka_unit_test(random_requests),
	};

	return cmocka_run_group_tests_name("target_cm_req", tests, NULL, NULL);
}
