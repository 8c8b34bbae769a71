// SPDX-License-Identifier: GPL-2.0
/* nvmerdma stat: files of keys and values, percentiles, words, order */
#include "harness.h"

#include <math.h>
#include <string.h>

#include "tools/nvmerdma/stat/stat.h"
#include "histogram.h"

static void assert_near(double got, double wanted)
{
	if (fabs(got - wanted) > wanted / 1000000)
		fail_msg("%f, expected was %f", got, wanted);
}

/* ---- files ---- */

static void keys_and_values(void **state)
{
	char text[] = "state resolving the address\ndepth 128\nbytes_read 18446744073709551615\n"
		      "error_a 1\nerror_b 2\nerror_flush 4\nhost 1x";
	struct counters counters;

	(void)state;
	counters_parse(&counters, text);
	assert_string_equal(counter_text(&counters, "state"), "resolving the address");
	assert_int_equal(counter(&counters, "depth"), 128);
	assert_true(counter(&counters, "bytes_read") == UINT64_MAX);
	assert_int_equal(counter_sum(&counters, "error_"), 7);
	assert_int_equal(counter_errors(&counters), 3);
	assert_string_equal(counter_text(&counters, "host"), "1x");
	assert_int_equal(counter(&counters, "host"), 0);
	assert_string_equal(counter_text(&counters, "absent"), "-");
	assert_int_equal(counter(&counters, "absent"), 0);
}

static void malformed_lines(void **state)
{
	char text[] = "\n \nalone\nempty \n 5\nminus -1\nhuge 18446744073709551616\n"
		      "two 1 2\n\ngood 3\n\xff\xfe 9\nlast";
	struct counters counters;

	(void)state;
	counters_parse(&counters, text);
	assert_int_equal(counter(&counters, "good"), 3);
	assert_int_equal(counter(&counters, "minus"), 0);
	assert_int_equal(counter(&counters, "huge"), 0);
	assert_int_equal(counter(&counters, "two"), 0);
	assert_string_equal(counter_text(&counters, "alone"), "-");
	assert_string_equal(counter_text(&counters, "empty"), "-");
	assert_int_equal(counter_sum(&counters, ""), 3 + 9);
}

static struct counters parsed(const char *text)
{
	struct counters counters;

	counters_parse(&counters, mem_str(text));
	return counters;
}

static void histograms(void **state)
{
	struct counters good = parsed(hist_line(25, 8, 0));

	(void)state;
	assert_true(good.has_hist);
	assert_int_equal(good.hist[25], 8);
	assert_false(parsed("latency_log2_us 1 2 3").has_hist);
	assert_false(parsed(mem_fmt("%s 1", hist_line(0, 1, 1))).has_hist);
	assert_false(parsed(mem_fmt("%s x", hist_line(0, 1, 1))).has_hist);
	assert_false(parsed("latency_log2_us 0x1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1")
		     .has_hist);
	assert_int_equal(parsed("latency_log2_us 7").hist[0], 0);
}

static void sums(void **state)
{
	struct counters sum = parsed(mem_fmt("depth 5\nvector 1\npolls 2\n%s", hist_line(1, 2, 3)));
	struct counters more = parsed(mem_fmt("depth 7\nvector 3\npolls 4\nposts 9\nstate live\n%s",
					      hist_line(1, 10, 0)));

	(void)state;
	counters_add(&sum, &more);
	assert_int_equal(counter(&sum, "polls"), 6);
	assert_int_equal(counter(&sum, "posts"), 9);
	assert_int_equal(counter(&sum, "depth"), 5);
	assert_string_equal(counter_text(&sum, "state"), "-");
	assert_int_equal(sum.hist[1], 12);
	assert_int_equal(sum.hist[2], 3);
}

/* ---- percentiles ---- */

static void percentiles(void **state)
{
	uint64_t hist[HIST_BUCKETS] = { 0 };

	(void)state;
	assert_true(isnan(percentile_us(hist, 0.5)));
	hist[0] = 100;
	assert_near(percentile_us(hist, 0.50), 0.512);
	hist[0] = 0;
	hist[1] = 4;			/* 1.024 to 2.048 */
	assert_near(percentile_us(hist, 0.25), 1.28);
	assert_near(percentile_us(hist, 1), 2.048);
	hist[1] = 90;
	hist[8] = 10;			/* 131.072 to 262.144 */
	assert_near(percentile_us(hist, 0.50), 1.024 * (1 + 50.0 / 90));
	assert_near(percentile_us(hist, 0.90), 2.048);
	assert_near(percentile_us(hist, 0.99), 131.072 * 1.9);
	memset(hist, 0, sizeof(hist));
	hist[HIST_BUCKETS - 1] = 3;	/* it has no end */
	assert_near(percentile_us(hist, 0.50), 1.024 * (1 << 24));
	assert_near(percentile_us(hist, 0.99), 1.024 * (1 << 24));
	hist[HIST_BUCKETS - 1] = 1;
	hist[3] = 1;
	assert_true(percentile_us(hist, 0.5) <= percentile_us(hist, 0.99));
}

/* ---- words ---- */

static void words(void **state)
{
	struct stat_row row = {
		.by = BY_CONTROLLER, .name = "nvme1", .state = "li\x1b[2Jve", .nqn = "a\nb\xc3",
		.seconds = 1, .work.n = { [WORK_COMMANDS] = 3 },
	};

	(void)state;
	assert_string_equal(column_text(&row, COL_STATE), "li?[2Jve");
	assert_string_equal(column_text(&row, COL_NQN), "a?b?");
	assert_string_equal(column_text(&row, COL_ADDRESS), "-");
	assert_string_equal(column_text(&row, COL_IOPS), "3.0");
	assert_string_equal(column_text(&row, COL_P50), "-");
	row.work.n[WORK_COMMANDS] = 123456;
	assert_string_equal(column_text(&row, COL_IOPS), "123456");
	row.work.hist[14] = 1;
	assert_string_equal(column_text(&row, COL_P50), "13ms");
	row.work.hist[14] = 0;
	row.work.hist[8] = 1;
	assert_string_equal(column_text(&row, COL_P50), "197us");
	row.work.hist[8] = 0;
	row.work.hist[25] = 1;
	assert_string_equal(column_text(&row, COL_P50), "17.18s");
}

static void names(void **state)
{
	(void)state;
	assert_int_equal(column_named("iops"), COL_IOPS);
	assert_int_equal(column_named("nonsense"), NR_COLUMNS);
	assert_int_equal(by_named("port"), BY_PORT);
	assert_int_equal(by_named("all"), NR_BY);
	assert_true(by_has_side(BY_QUEUE, SIDE_TARGET));
	assert_false(by_has_side(BY_CONTROLLER, SIDE_TARGET));
}

/* ---- order ---- */

#define ROW(of, named, commands, us)	{				\
	.side = of, .by = BY_QUEUE, .name = named, .seconds = 1,	\
	.work.n[WORK_COMMANDS] = commands, .work.hist[us] = commands,	\
}

static void assert_order(const struct stat_rows *rows, const char *wanted)
{
	char got[200] = "";
	size_t i;

	for (i = 0; i < rows->nr; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", rows->list[i].name);
	assert_string_equal(got, wanted);
}

/* The host's rows first; rows without a number last */
static void order(void **state)
{
	struct stat_row list[] = {
		ROW(SIDE_TARGET, "7:c1q0", 0, 1), ROW(SIDE_TARGET, "10:c1q2", 900, 1),
		ROW(SIDE_HOST, "nvme10/queue1", 0, 1), ROW(SIDE_HOST, "nvme3/queue1", 0, 1),
		ROW(SIDE_HOST, "nvme3/queue2", 5, 9), ROW(SIDE_HOST, "nvme3/queue10", 8, 2),
	};
	struct stat_rows rows = { .list = list, .nr = NR(list) };

	(void)state;
	stat_sort(&rows, COL_NAME);
	assert_order(&rows, "nvme3/queue1 nvme3/queue2 nvme3/queue10 nvme10/queue1 7:c1q0 10:c1q2 ");
	stat_sort(&rows, COL_IOPS);
	assert_order(&rows, "nvme3/queue10 nvme3/queue2 nvme3/queue1 nvme10/queue1 10:c1q2 7:c1q0 ");
	stat_sort(&rows, COL_P99);
	assert_order(&rows, "nvme3/queue2 nvme3/queue10 nvme3/queue1 nvme10/queue1 10:c1q2 7:c1q0 ");
}

static int release(void **state)
{
	(void)state;
	mem_release((struct mem_mark) { 0 });
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(keys_and_values, release),
		cmocka_unit_test_teardown(malformed_lines, release),
		cmocka_unit_test_teardown(histograms, release),
		cmocka_unit_test_teardown(sums, release),
		cmocka_unit_test_teardown(percentiles, release),
		cmocka_unit_test_teardown(words, release),
		cmocka_unit_test_teardown(names, release),
		cmocka_unit_test_teardown(order, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
