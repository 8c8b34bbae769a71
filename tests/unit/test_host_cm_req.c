// SPDX-License-Identifier: GPL-2.0
/* host/cm_req.c, and that the target's cm_req.c parses what it writes */
#include "harness.h"

#include "host/cm_req.h"
#include "target/cm_req.h"

static void request_as_specified(void **state)
{
	static const u8 want[NVME_RDMA_CM_REQ_LEN] = {
		0, 0, 0x34, 0x12, 0x80, 0, 0x7f, 0, 0xcd, 0xab,
	};
	u8 *buf = malloc(NVME_RDMA_CM_REQ_LEN);

	(void)state;
	assert_non_null(buf);
	memset(buf, 0xee, NVME_RDMA_CM_REQ_LEN);
	nvme_rdma_cm_build_req(buf, 0x1234, 128, 0xabcd);
	assert_memory_equal(want, buf, sizeof(want));
	free(buf);
}

/* Each side was written from the specification; here they meet */
static void target_understands_host(void **state)
{
	static const struct nvmet_rdma_cm_limits limits = {
		.max_qid = 128, .admin_depth = 32, .io_depth = 1024,
		.needs_ird = true,
	};
	static const struct { u16 qid, depth; } table[] = {
		{ 0, 2 }, { 0, 32 }, { 1, 2 }, { 1, 128 }, { 128, 1024 },
	};
	struct nvmet_rdma_cm_req req;
	u8 buf[NVME_RDMA_CM_REQ_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("queue %u of %u", table[i].qid, table[i].depth);
		nvme_rdma_cm_build_req(buf, table[i].qid, table[i].depth, 9);
		unit_equal(NVMET_RDMA_CM_OK,
			   nvmet_rdma_parse_cm_req(buf, sizeof(buf), 1, &limits,
						   &req));
		unit_equal(table[i].qid, req.qid);
		unit_equal(table[i].depth, req.depth);
		unit_equal(table[i].depth, req.hrqsize);
	}
}

static void answers(void **state)
{
	static const struct {
		size_t len;
		u16 recfmt, crqsize, depth;
		enum nvme_rdma_cm_answer want;
		u16 value;
	} table[] = {
		{ 0, 0, 128, 128, NVME_RDMA_CM_NO_ANSWER, 0 },
		{ 3, 0, 128, 128, NVME_RDMA_CM_NO_ANSWER, 3 },
		{ 4, 0, 128, 128, NVME_RDMA_CM_ACCEPTED, 128 },
		{ 32, 0, 129, 128, NVME_RDMA_CM_ACCEPTED, 129 },
		{ 32, 0, 127, 128, NVME_RDMA_CM_FEW_RECEIVES, 127 },
		{ 32, 0, 0, 2, NVME_RDMA_CM_FEW_RECEIVES, 0 },
		{ 32, 1, 128, 128, NVME_RDMA_CM_WRONG_FORMAT, 1 },
		{ 32, 0xffff, 128, 128, NVME_RDMA_CM_WRONG_FORMAT, 0xffff },
	};
	u8 buf[32] = { 0 }, *copy;
	u16 value;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("line %zu", i);
		put_unaligned_le16(table[i].recfmt, buf);
		put_unaligned_le16(table[i].crqsize, buf + 2);
		copy = unit_exact_copy(buf, table[i].len);
		unit_equal(table[i].want,
			   nvme_rdma_cm_parse_rep(copy, table[i].len,
						  table[i].depth, &value));
		unit_equal(table[i].value, value);
		free(copy);
	}
	assert_int_equal(NVME_RDMA_CM_NO_ANSWER,
			 nvme_rdma_cm_parse_rep(NULL, 0, 128, &value));
}

static void rejects(void **state)
{
	u8 buf[8] = { 0 }, *copy;
	size_t len;
	u16 status;

	(void)state;
	put_unaligned_le16(6, buf + 2);
	for (len = 0; len <= sizeof(buf); len++) {
		unit_context("%zu bytes", len);
		status = 0xdead;
		copy = unit_exact_copy(buf, len);
		unit_equal(len >= 4, nvme_rdma_cm_parse_rej(copy, len, &status));
		if (len >= 4)
			unit_equal(6, status);
		free(copy);
	}
	put_unaligned_le16(1, buf);
	assert_false(nvme_rdma_cm_parse_rej(buf, sizeof(buf), &status));
	assert_false(nvme_rdma_cm_parse_rej(NULL, 0, &status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_as_specified),
		cmocka_unit_test(target_understands_host),
		cmocka_unit_test(answers),
		cmocka_unit_test(rejects),
	};

	return cmocka_run_group_tests_name("host_cm_req", tests, NULL, NULL);
}
