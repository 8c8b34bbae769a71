// SPDX-License-Identifier: GPL-2.0
/* nvmerdma stat, on trees of files as the modules show them */
#include "harness.h"
#include "shell.h"

#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include "tools/nvmerdma/stat/stat.h"
#include "stat_tree.h"

#define CTRL	"nvme_rdma/nvme3"

/* The next sample, as if it came @seconds after the last one */
static struct sample sample_after(double seconds)
{
	struct sample sample;

	if (history.ns)
		history.ns = stat_now() - seconds * 1e9;
	sample = stat_sample(&dirs, &history);
	history_keep(&history, &sample);
	if (sample.seconds > 0)
		sample.seconds = seconds;	/* whatever the machine took */
	return sample;
}

static const struct stat_row *row_named(const struct sample *sample, enum stat_by by,
					const char *name)
{
	struct stat_rows rows = stat_rows(sample, by);
	size_t i;

	for (i = 0; i < rows.nr; i++) {
		if (!strcmp(rows.list[i].name, name))
			return &rows.list[i];
	}
	return NULL;
}

static void assert_near(double got, double wanted)
{
	if (fabs(got - wanted) > wanted / 1000000)
		fail_msg("%f, expected was %f", got, wanted);
}

static void assert_column(const struct stat_row *row, enum stat_column column, double wanted)
{
	assert_non_null(row);
	assert_near(column_value(row, column), wanted);
}

/* ---- a host ---- */

static void rates_of_a_host(void **state)
{
	struct sample sample;
	const struct host_queue first = { .sent = 10, .answered = 10, .connects = 1 };
	const struct stat_row *row;

	(void)state;
	put_ctrl("nvme3");
	put_host_queue(CTRL "/queue0", (struct host_queue) { .sent = 50, .answered = 49,
		       .connects = 3 });
	put_host_queue(CTRL "/queue1", first);
	put_host_queue(CTRL "/queue2", first);
	sample = sample_after(0);
	row = row_named(&sample, BY_CONTROLLER, "nvme3");
	assert_non_null(row);
	assert_true(isnan(column_value(row, COL_IOPS)));
	assert_string_equal(column_text(row, COL_IOPS), "-");
	assert_true(isnan(column_value(row, COL_P99)));

	/* commands of the admin queue are not I/O, but its errors and connects are reported */
	put_host_queue(CTRL "/queue0", (struct host_queue) { .sent = 90, .answered = 89,
		       .connects = 3, .errors = 2, .read = 5000 });
	put_host_queue(CTRL "/queue1", (struct host_queue) { .sent = 110, .answered = 108,
		       .connects = 1, .read = 1000000, .waits = 6 });
	put_host_queue(CTRL "/queue2", (struct host_queue) { .sent = 12, .answered = 12,
		       .connects = 1, .errors = 1, .read = 500000 });
	sample = sample_after(2);
	row = row_named(&sample, BY_CONTROLLER, "nvme3");
	assert_column(row, COL_IOPS, 50);
	assert_column(row, COL_READ, 750000);
	assert_column(row, COL_WRITE, 0);
	assert_column(row, COL_WAITS, 3);
	assert_column(row, COL_FLIGHT, 2);
	assert_column(row, COL_ERRORS, 3);
	assert_column(row, COL_ENDS, 2);
	assert_column(row, COL_CREDITS, 0.25);
	assert_column(row, COL_P50, 8.192 * 1.5);
	assert_string_equal(column_text(row, COL_CREDITS), "600/800");
	assert_string_equal(column_text(row, COL_READ), "0.8");
	assert_string_equal(row->nqn, NQN);
	assert_string_equal(row->address, "traddr=10.0.0.1,trsvcid=4420");
	assert_int_equal(counter(row->counters, "bytes_read"), 1500000);

	row = row_named(&sample, BY_QUEUE, "nvme3/queue1");
	assert_column(row, COL_IOPS, 49);
	assert_string_equal(row->nqn, NQN);
	assert_column(row_named(&sample, BY_QUEUE, "nvme3/queue0"), COL_IOPS, 20);
	assert_null(row_named(&sample, BY_HOST, "nvme3"));
}

static void counters_that_begin_anew(void **state)
{
	const struct host_queue many = { .sent = 1000, .answered = 1000, .read = 4096 },
				few = { .sent = 6, .answered = 4, .read = 8192 },
				more = { .sent = 1000, .answered = 1000, .read = 8192 };
	struct sample sample;

	(void)state;
	put_ctrl("nvme3");
	put_host_queue(CTRL "/queue1", many);
	sample_after(0);
	put_host_queue(CTRL "/queue1", few);
	sample = sample_after(1);
	assert_column(row_named(&sample, BY_QUEUE, "nvme3/queue1"), COL_IOPS, 4);
	assert_column(row_named(&sample, BY_QUEUE, "nvme3/queue1"), COL_READ, 8192);

	/* another controller of the same name, with larger counts already */
	sh("mv %s/" CTRL " %s/old", top, top);
	put_host_queue(CTRL "/queue1", more);
	sample = sample_after(1);
	assert_column(row_named(&sample, BY_QUEUE, "nvme3/queue1"), COL_IOPS, 1000);
}

static void rows_that_come_and_go(void **state)
{
	const struct host_queue q = { .sent = 10, .answered = 10 };
	struct sample sample;

	(void)state;
	sample = sample_after(0);
	assert_int_equal(stat_rows(&sample, BY_ALL).nr, 0);
	put_ctrl("nvme3");
	put_host_queue(CTRL "/queue1", q);
	put_host_queue("nvme_rdma/nvme11/queue1", q);	/* without anything in sysfs */
	sample = sample_after(1);
	assert_int_equal(stat_rows(&sample, BY_ALL).nr, 2);
	assert_string_equal(stat_rows(&sample, BY_ALL).list[1].name, "nvme11");
	assert_column(row_named(&sample, BY_ALL, "nvme3"), COL_IOPS, 10);
	assert_string_equal(row_named(&sample, BY_ALL, "nvme11")->state, "-");
	sh("rm -r %s/nvme_rdma/nvme11", top);
	put_host_queue(CTRL "/queue2", q);
	sample = sample_after(1);
	assert_int_equal(stat_rows(&sample, BY_ALL).nr, 1);
	assert_column(row_named(&sample, BY_QUEUE, "nvme3/queue1"), COL_IOPS, 0);
	assert_column(row_named(&sample, BY_QUEUE, "nvme3/queue2"), COL_IOPS, 10);
	sh("mkdir %s/nvme_rdma/nvme12 && rm %s/" CTRL "/*", top, top);
	sample = sample_after(1);
	assert_int_equal(stat_rows(&sample, BY_ALL).nr, 0);
	assert_int_equal(stat_rows(&sample, BY_QUEUE).nr, 0);
	sh("rm -r %s/nvme_rdma", top);
	sample = sample_after(1);
	assert_int_equal(stat_rows(&sample, BY_QUEUE).nr, 0);
}

static const struct stat_row *flight_after(struct host_queue q)
{
	struct sample sample;

	put_ctrl("nvme3");
	put_host_queue(CTRL "/queue1", q);
	sample = sample_after(1);
	return row_named(&sample, BY_CONTROLLER, "nvme3");
}

static void in_flight_over_reconnects(void **state)
{
	struct host_queue q = { .sent = 100, .answered = 93, .connects = 1 };
	const struct stat_row *row = flight_after(q);

	(void)state;
	assert_column(row, COL_FLIGHT, 7);
	assert_string_equal(column_text(row, COL_FLIGHT), "7");
	q.state = "idle";			/* the connection is lost, and 7 with it */
	row = flight_after(q);
	assert_column(row, COL_FLIGHT, 0);
	q = (struct host_queue) { .sent = 103, .answered = 94, .connects = 2 };
	row = flight_after(q);
	assert_string_equal(column_text(row, COL_FLIGHT), "2");
	q.sent++;
	assert_string_equal(column_text(flight_after(q), COL_FLIGHT), "3");
	q.connects = 3;				/* it was removed and returned unnoticed */
	assert_string_equal(column_text(flight_after(q), COL_FLIGHT), "<=10");
	q.sent += 1000;
	assert_string_equal(column_text(flight_after(q), COL_FLIGHT), "<=128");
	q.state = "connecting";
	assert_string_equal(column_text(flight_after(q), COL_FLIGHT), "0");
	q.state = NULL;
	q.connects += 2;			/* one of the two was not seen */
	assert_string_equal(column_text(flight_after(q), COL_FLIGHT), "<=128");
	q.answered = 2000;			/* counted before its command was */
	assert_string_equal(column_text(flight_after(q), COL_FLIGHT), "<=0");
}

/* ---- a target ---- */

static void put_target(void)
{
	put("nvmet_rdma/ports/2", "traddr 10.0.0.1\ntrsvcid 4420\nlistening 1\nqueues 3\n"
	    "queues_ended 4\nqueues_failed 2\nerror_drain 1\nrefused_ird 8\n");
	put_target_host(HOST_A, HOST_A, 3, 4);
	put_target_host("a-file-before-the-other", HOST_B, 0, 2);
	put_target_queue("7", HOST_A, 0, 40, 40);
	put_target_queue("8", HOST_A, 1, 100, 100);
	put_target_queue("10", HOST_A, 2, 100, 100);
	put_target_queue("11", "-", 0, 1, 0);
}

static void rates_of_a_target(void **state)
{
	const struct stat_row *row;
	struct sample sample;

	(void)state;
	put_target();
	sample_after(0);
	put_target_queue("7", HOST_A, 0, 45, 44);
	put_target_queue("8", HOST_A, 1, 160, 150);
	put_target_queue("12", HOST_B, 1, 30, 30);
	sample = sample_after(0.5);
	row = row_named(&sample, BY_ALL, HOST_A);
	assert_column(row, COL_IOPS, 100);
	assert_column(row, COL_READ, 100 * 4096);
	assert_column(row, COL_FLIGHT, 10);
	assert_column(row, COL_ERRORS, 3);
	assert_column(row, COL_ENDS, 4);
	assert_string_equal(row->state, "live");
	assert_string_equal(column_text(row, COL_NAME), "~0-0000-00000000000a");
	assert_int_equal(counter(row->counters, "responses"), 7);
	row = row_named(&sample, BY_HOST, HOST_B);
	assert_column(row, COL_IOPS, 60);
	assert_string_equal(row->state, "gone");

	row = row_named(&sample, BY_PORT, "2");
	assert_column(row, COL_IOPS, 160);
	assert_column(row, COL_ERRORS, 1 + 8 + 2);
	assert_column(row, COL_ENDS, 6);
	assert_string_equal(row->address, "10.0.0.1:4420");
	assert_null(row->nqn);

	row = row_named(&sample, BY_QUEUE, "8:c1q1");
	assert_column(row, COL_IOPS, 100);
	assert_string_equal(row->nqn, HOST_A);
	assert_string_equal(column_text(row, COL_ENDS), "-");
	assert_string_equal(row_named(&sample, BY_QUEUE, "11:c1q0")->nqn, "-");
	assert_int_equal(stat_rows(&sample, BY_QUEUE).nr, 5);

	/* the queue ends: the rates of its host and port are those of the other queues */
	sh("rm %s/nvmet_rdma/queues/8", top);
	sample = sample_after(1);
	assert_column(row_named(&sample, BY_HOST, HOST_A), COL_IOPS, 0);
	assert_column(row_named(&sample, BY_PORT, "2"), COL_IOPS, 0);
	sh("rm -r %s/nvmet_rdma/hosts %s/nvmet_rdma/ports", top, top);
	sample = sample_after(1);
	assert_int_equal(stat_rows(&sample, BY_HOST).nr + stat_rows(&sample, BY_PORT).nr, 0);
	assert_int_equal(stat_rows(&sample, BY_QUEUE).nr, 4);
}

/* ---- retries of RDMA devices ---- */

static void retries_of_devices(void **state)
{
	const struct host_queue q = { .sent = 10, .answered = 10 };
	struct sample sample;

	(void)state;
	put_ctrl("nvme3");
	put_host_queue(CTRL "/queue0", q);
	put_host_queue(CTRL "/queue1", q);
	put_host_queue(CTRL "/queue2", q);	/* all of rxe0 */
	put_target();
	put("nvmet_rdma/queues/7", "host %s\nqid 0\nport 2\ndevice rxe0\n", HOST_A);
	put("nvmet_rdma/queues/8", "host %s\ncontroller 1\nqid 1\nport 2\ndevice mlx5_1\n", HOST_A);
	put_retries("rxe0", "completer_retry_err", 100);
	put_retries("rxe0", "rcvd_rnr_err", 7);
	put_retries("rxe0", "duplicate_request", 50);	/* it was the peer that sent again */
	put("infiniband/mlx5_1/ports/1/hw_counters/lifespan", "10\n");
	sample = sample_after(0);
	assert_string_equal(column_text(row_named(&sample, BY_ALL, "nvme3"), COL_RETRIES), "-");
	assert_int_equal(row_named(&sample, BY_ALL, "nvme3")->retries, 107);

	put_retries("rxe0", "completer_retry_err", 160);
	put_retries("rxe0", "duplicate_request", 90);
	put_retries("mlx5_1", "packet_seq_err", 4);
	sample = sample_after(2);
	assert_column(row_named(&sample, BY_ALL, "nvme3"), COL_RETRIES, 30);
	assert_column(row_named(&sample, BY_QUEUE, "nvme3/queue2"), COL_RETRIES, 30);
	assert_int_equal(row_named(&sample, BY_ALL, "nvme3")->retries, 167);
	put_retries("mlx5_1", "packet_seq_err", 10);
	put_retries("rxe0", "completer_retry_err", 20);	/* it was made again */
	sample = sample_after(1);
	assert_column(row_named(&sample, BY_ALL, "nvme3"), COL_RETRIES, 27);
	assert_column(row_named(&sample, BY_QUEUE, "8:c1q1"), COL_RETRIES, 6);
	assert_column(row_named(&sample, BY_HOST, HOST_A), COL_RETRIES, 33);
	assert_column(row_named(&sample, BY_PORT, "2"), COL_RETRIES, 33);
	/* one whose queues have ended has no device, and one without counters has no retries */
	assert_string_equal(column_text(row_named(&sample, BY_HOST, HOST_B), COL_RETRIES), "-");
	sh("rm %s/infiniband/mlx5_1/ports/1/hw_counters/packet_seq_err", top);
	sample = sample_after(1);
	assert_string_equal(column_text(row_named(&sample, BY_QUEUE, "8:c1q1"), COL_RETRIES), "-");
	assert_false(row_named(&sample, BY_QUEUE, "8:c1q1")->retries_counted);
}

/* ---- JSON ---- */

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("there is no \"%s\" in %s", key, json_object_to_json_string(object));
	return value;
}

static void json(void **state)
{
	struct json_object *all, *row;
	struct stat_rows rows;
	struct sample sample;
	const char *text;

	(void)state;
	put_target();
	put_ctrl("nvme3");
	put_host_queue(CTRL "/queue1", (struct host_queue) { .sent = 5, .answered = 5,
		       .connects = 4 });
	sample_after(0);
	put_host_queue(CTRL "/queue1", (struct host_queue) { .sent = 9, .answered = 8,
		       .connects = 4 });
	sample = sample_after(2);
	rows = stat_rows(&sample, BY_ALL);
	text = json_text(&sample, &rows, BY_ALL);
	assert_null(strchr(text, '\n'));
	all = json_tokener_parse(text);
	assert_non_null(all);
	assert_near(json_object_get_double(member(all, "seconds")), 2);
	assert_int_equal(json_object_array_length(member(all, "rows")), 3);
	row = json_object_array_get_idx(member(all, "rows"), 0);
	assert_string_equal(json_object_get_string(member(row, "side")), "host");
	assert_string_equal(json_object_get_string(member(row, "by")), "controller");
	assert_string_equal(json_object_get_string(member(row, "subsystem")), NQN);
	assert_near(json_object_get_double(member(row, "iops")), 1.5);
	assert_near(json_object_get_double(member(row, "p50_us")), 12.288);
	assert_null(member(row, "in_flight"));
	assert_int_equal(json_object_get_int(member(row, "in_flight_at_most")), 1);
	assert_int_equal(json_object_get_int(member(member(row, "counters"), "responses")), 8);
	assert_null(member(row, "retries"));
	assert_null(member(row, "retries_per_second"));
	row = json_object_array_get_idx(member(all, "rows"), 1);
	assert_string_equal(json_object_get_string(member(row, "host_nqn")), HOST_A);
	assert_int_equal(json_object_get_int(member(row, "queues_ended")), 4);
	assert_null(member(row, "p99_us"));
	assert_int_equal(json_object_get_int(member(row, "in_flight")), 0);
	json_object_put(all);
}

static void threads(void **state)
{
	struct stat_rows rows;
	struct sample sample;
	const char *text;

	(void)state;
	put_thread("mlx5_0-1", 100, 5);
	put_thread("mlx5_0-10", 101, 7);
	sample_after(0);
	put_thread("mlx5_0-1", 100, 7);
	put_thread("mlx5_0-10", 202, 1);	/* another one of that name */
	sample = sample_after(2);
	rows = stat_rows(&sample, BY_THREAD);
	unit_equal(2, rows.nr);
	assert_string_equal(rows.list[0].name, "mlx5_0-1");
	assert_column(&rows.list[0], COL_CPU, 10);
	assert_column(&rows.list[0], COL_SPUN, 1);
	assert_column(&rows.list[0], COL_ROUNDS, 1000);
	assert_column(&rows.list[0], COL_SLEEPS, 10);
	assert_column(&rows.list[0], COL_INTERRUPTS, 100);
	assert_column(&rows.list[0], COL_ABSENCES, 1);
	assert_column(&rows.list[1], COL_ROUNDS, 500);
	stat_sort(&rows, COL_ROUNDS);
	assert_string_equal(rows.list[0].name, "mlx5_0-1");
	assert_string_equal(column_text(&rows.list[0], COL_CPU), "10.0%");
	text = json_text(&sample, &rows, BY_THREAD);
	assert_non_null(strstr(text, "\"cpu_percent\":10.000"));
	assert_non_null(strstr(text, "\"absences\":7"));
	assert_null(strstr(text, "iops"));
	/* columns are of threads or of all others */
	assert_false(column_is_of(COL_CPU, BY_QUEUE));
	assert_false(column_is_of(COL_IOPS, BY_THREAD));
	assert_true(column_is_of(COL_NAME, BY_THREAD) && column_is_of(COL_NAME, BY_ALL));
	unit_equal(0, stat_rows(&sample, BY_QUEUE).nr);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rates_of_a_host),
		TEST(counters_that_begin_anew),
		TEST(rows_that_come_and_go),
		TEST(in_flight_over_reconnects),
		TEST(rates_of_a_target),
		TEST(retries_of_devices),
		TEST(json),
		TEST(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
