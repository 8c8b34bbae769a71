// SPDX-License-Identifier: GPL-2.0
/* host/state.c: which moves of a queue's state are allowed */
#include "harness.h"

#include "host/state.h"

#define N NVME_RDMA_Q_NR_STATES

/* The whole table once more, by hand: a row is where from, a column where to */
static const bool allowed[N][N] = {
	[NVME_RDMA_Q_IDLE] = {
		[NVME_RDMA_Q_ADDRESS]	 = true,
	},
	[NVME_RDMA_Q_ADDRESS] = {
		[NVME_RDMA_Q_ROUTE]	 = true,
		[NVME_RDMA_Q_FAILED]	 = true,
		[NVME_RDMA_Q_CLOSING]	 = true,
	},
	[NVME_RDMA_Q_ROUTE] = {
		[NVME_RDMA_Q_CONNECTING] = true,
		[NVME_RDMA_Q_FAILED]	 = true,
		[NVME_RDMA_Q_CLOSING]	 = true,
	},
	[NVME_RDMA_Q_CONNECTING] = {
		[NVME_RDMA_Q_CONNECTED]	 = true,
		[NVME_RDMA_Q_FAILED]	 = true,
		[NVME_RDMA_Q_CLOSING]	 = true,
	},
	[NVME_RDMA_Q_CONNECTED] = {
		[NVME_RDMA_Q_LIVE]	 = true,
		[NVME_RDMA_Q_FAILED]	 = true,
		[NVME_RDMA_Q_CLOSING]	 = true,
	},
	[NVME_RDMA_Q_LIVE] = {
		[NVME_RDMA_Q_FAILED]	 = true,
		[NVME_RDMA_Q_CLOSING]	 = true,
	},
	[NVME_RDMA_Q_FAILED] = {
		[NVME_RDMA_Q_CLOSING]	 = true,
	},
	[NVME_RDMA_Q_CLOSING] = {
		[NVME_RDMA_Q_IDLE]	 = true,
	},
};

static void every_move(void **state)
{
	unsigned int from, to;

	(void)state;
	for (from = 0; from < N; from++) {
		for (to = 0; to < N; to++) {
			unit_context("%s to %s",
				     nvme_rdma_queue_state_name(from),
				     nvme_rdma_queue_state_name(to));
			unit_equal(allowed[from][to],
				   nvme_rdma_queue_may_move(from, to));
		}
	}
}

static void outside_the_table(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < N; i++) {
		unit_context("state %u", i);
		unit_equal(false, nvme_rdma_queue_may_move(i, N));
		unit_equal(false, nvme_rdma_queue_may_move(N, i));
		unit_equal(false, nvme_rdma_queue_may_move(i, -1));
		unit_equal(false, nvme_rdma_queue_may_move(-1, i));
	}
}

static void names(void **state)
{
	unsigned int i, j;

	(void)state;
	for (i = 0; i < N; i++)
		for (j = 0; j <= N; j++)
			if (i != j)
				assert_string_not_equal(nvme_rdma_queue_state_name(i),
							nvme_rdma_queue_state_name(j));
	assert_string_equal("unknown", nvme_rdma_queue_state_name(N));
	assert_string_equal("unknown", nvme_rdma_queue_state_name(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_move),
		cmocka_unit_test(outside_the_table),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("host_state", tests, NULL, NULL);
}
