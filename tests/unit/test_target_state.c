// SPDX-License-Identifier: GPL-2.0
/* target/state.c: which moves of a queue's state are allowed */
#include "harness.h"

#include "target/state.h"

#define N NVMET_RDMA_Q_NR_STATES

/* The whole table once more, by hand: a row is where from, a column where to */
static const bool allowed[N][N] = {
	[NVMET_RDMA_Q_CONNECTING] = {
		[NVMET_RDMA_Q_LIVE]		= true,
		[NVMET_RDMA_Q_DISCONNECTING]	= true,
	},
	[NVMET_RDMA_Q_LIVE] = {
		[NVMET_RDMA_Q_DISCONNECTING]	= true,
	},
	[NVMET_RDMA_Q_DISCONNECTING] = {
		[NVMET_RDMA_Q_DRAINED]		= true,
	},
};

static void every_move(void **state)
{
	unsigned int from, to;

	(void)state;
	for (from = 0; from < N; from++) {
		for (to = 0; to < N; to++) {
			unit_context("%u to %u", from, to);
			unit_equal(allowed[from][to],
				   nvmet_rdma_queue_may_move(from, to));
		}
	}
}

static void no_state_twice(void **state)
{
	bool reached[N][N];
	unsigned int i, j, k;

	(void)state;
	for (i = 0; i < N; i++)
		for (j = 0; j < N; j++)
			reached[i][j] = nvmet_rdma_queue_may_move(i, j);
	for (k = 0; k < N; k++)
		for (i = 0; i < N; i++)
			for (j = 0; j < N; j++)
				reached[i][j] |= reached[i][k] && reached[k][j];
	for (i = 0; i < N; i++) {
		unit_context("state %u", i);
		unit_equal(false, reached[i][i]);
		unit_equal(i != NVMET_RDMA_Q_DRAINED,
			   reached[i][NVMET_RDMA_Q_DRAINED]);
	}
}

static void outside_the_table(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < N; i++) {
		unit_context("state %u", i);
		unit_equal(false, nvmet_rdma_queue_may_move(i, N));
		unit_equal(false, nvmet_rdma_queue_may_move(N, i));
		unit_equal(false, nvmet_rdma_queue_may_move(i, -1));
		unit_equal(false, nvmet_rdma_queue_may_move(-1, i));
	}
}

static void names(void **state)
{
	unsigned int i, j;

	(void)state;
	for (i = 0; i < N; i++) {
		assert_non_null(nvmet_rdma_queue_state_name(i));
		for (j = 0; j <= N; j++)
			if (i != j)
				assert_string_not_equal(nvmet_rdma_queue_state_name(i),
							nvmet_rdma_queue_state_name(j));
	}
	assert_string_equal("unknown", nvmet_rdma_queue_state_name(N));
	assert_string_equal("unknown", nvmet_rdma_queue_state_name(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_move),
		cmocka_unit_test(no_state_twice),
		cmocka_unit_test(outside_the_table),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("target_state", tests, NULL, NULL);
}
