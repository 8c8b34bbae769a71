// SPDX-License-Identifier: GPL-2.0
/* host/response.h: which response takes what from a request */
#include "harness.h"

#include "host/response.h"

enum {
	POST = NVME_RDMA_WAIT_POST, SEND = NVME_RDMA_WAIT_SEND,
	RESP = NVME_RDMA_WAIT_RESPONSE, INV = NVME_RDMA_WAIT_INVALIDATE,
};

static void lengths(void **state)
{
	static const struct { u32 received; bool whole; } table[] = {
		{ 0, false }, { 1, false }, { 15, false }, { 16, true },
		{ 17, true }, { 0xffffffff, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("%u bytes", table[i].received);
		unit_equal(table[i].whole,
			   nvme_rdma_response_whole(table[i].received));
	}
}

static void verdicts(void **state)
{
	static const struct {
		int waits;
		bool invalidates;
		u32 key, own_key;
		enum nvme_rdma_verdict want;
	} table[] = {
		/* not requested, or already answered */
		{ 0, false, 0, 0, NVME_RDMA_RSP_IDLE },
		{ 0, true, 7, 7, NVME_RDMA_RSP_IDLE },
		{ INV, false, 0, 0, NVME_RDMA_RSP_IDLE },
		{ INV, true, 7, 7, NVME_RDMA_RSP_IDLE },
		{ POST | SEND | INV, true, 7, 7, NVME_RDMA_RSP_IDLE },
		/* without a key */
		{ RESP, false, 0, 0, NVME_RDMA_RSP_ANSWER },
		{ RESP | POST | SEND, false, 7, 0, NVME_RDMA_RSP_ANSWER },
		{ RESP, true, 0, 0, NVME_RDMA_RSP_WRONG_KEY },
		{ RESP, true, 7, 7, NVME_RDMA_RSP_WRONG_KEY },
		{ RESP | POST | SEND, true, 7, 7, NVME_RDMA_RSP_WRONG_KEY },
		/* with one */
		{ RESP | INV, false, 7, 7, NVME_RDMA_RSP_ANSWER },
		{ RESP | INV, true, 7, 7, NVME_RDMA_RSP_INVALIDATED },
		{ RESP | INV, true, 0, 0, NVME_RDMA_RSP_INVALIDATED },
		{ RESP | INV | POST | SEND, true, 7, 7,
		  NVME_RDMA_RSP_INVALIDATED },
		{ RESP | INV, true, 8, 7, NVME_RDMA_RSP_WRONG_KEY },
		{ RESP | INV, true, 0x107, 7, NVME_RDMA_RSP_WRONG_KEY },
		{ RESP | INV, true, 0x80000007, 7, NVME_RDMA_RSP_WRONG_KEY },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("line %zu", i);
		unit_equal(table[i].want,
			   nvme_rdma_judge_response(table[i].waits,
						    table[i].invalidates,
						    table[i].key,
						    table[i].own_key));
	}
}

/* A response is accepted only if the request waits for it */
static void every_wait(void **state)
{
	int waits, i;

	(void)state;
	for (waits = 0; waits < 16; waits++) {
		for (i = 0; i < 4; i++) {
			bool invalidates = i & 1;
			int verdict = nvme_rdma_judge_response(waits, invalidates,
							       9, i & 2 ? 9 : 3);

			unit_context("waits %#x, line %d", waits, i);
			if (verdict & RESP)
				unit_equal(verdict, waits & verdict);
			unit_equal(invalidates && (waits & (RESP | INV)) ==
				   (RESP | INV),
				   nvme_rdma_response_has_key(waits, invalidates));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(every_wait),
	};

	return cmocka_run_group_tests_name("host_response", tests, NULL, NULL);
}
