// SPDX-License-Identifier: GPL-2.0
/* common/hist.h: each time is in one bucket, in sums of histograms, too */
#define nvme_rdma_hist	no_hist
#include "kernel.h"
#undef nvme_rdma_hist
#undef NVME_RDMA_COUNTS

#define BIT_ULL(n)	(1ull << (n))
#define fls64(x)	(64 - __builtin_clzll(x))

static char line[1024];

#define seq_puts(m, text)	((void)(m), (void)strcpy(line, text))
#define seq_printf(m, ...) \
	((void)(m), (void)snprintf(line + strlen(line), sizeof(line) - strlen(line), __VA_ARGS__))

#include "common/hist.h"

#include "harness.h"

/* The bucket that the line shows a time in */
static int bucket_of(u64 ns)
{
	struct nvme_rdma_hist one = {}, sum = {};
	char *at = line;
	int i, found = -1;

	nvme_rdma_hist_add(&one, ns);
	nvme_rdma_hist_sum(&sum, &one);
	assert_int_equal(nvme_rdma_hist_total(&sum), 1);
	nvme_rdma_hist_show(NULL, "", &sum);
	for (i = 0; i < NVME_RDMA_HIST_BUCKETS; i++) {
		if (strtoull(at, &at, 10)) {
			assert_int_equal(found, -1);
			found = i;
		}
	}
	assert_string_equal(at, "\n");
	return found;
}

static void buckets(void **state)
{
	int i;

	(void)state;
	assert_int_equal(bucket_of(0), 0);
	assert_int_equal(bucket_of(1), 0);
	assert_int_equal(bucket_of(1023), 0);
	for (i = 1; i < NVME_RDMA_HIST_BUCKETS; i++) {
		assert_int_equal(bucket_of(BIT_ULL(i + 9)), i);
		assert_int_equal(bucket_of(BIT_ULL(i + 10) - 1), i);
	}
}

static void longest(void **state)
{
	int i;

	(void)state;
	for (i = 35; i < 64; i++)
		assert_int_equal(bucket_of(BIT_ULL(i)), NVME_RDMA_HIST_BUCKETS - 1);
	assert_int_equal(bucket_of(~0ull), NVME_RDMA_HIST_BUCKETS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets),
		cmocka_unit_test(longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
