// SPDX-License-Identifier: GPL-2.0
/*
 * nvmerdma metrics: the text, names that a hostile host chooses, bounds, rules.
 * tests/unit/run sets TOP, and PROMTOOL to Prometheus' own checker.
 */
#include "harness.h"
#include "shell.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <json-c/json.h>

#include "tools/nvmerdma/stat/stat.h"
#include "tools/nvmerdma/metrics/metrics.h"
#include "stat_tree.h"

static struct metrics_options options;

static const char *text_of(enum metrics_format format)
{
	static const struct history none;
	struct history done;
	const char *copy;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	options.dirs = dirs;
	options.dirs.no_target_queues = true;
	done = (struct history) { .before = stat_sample(&options.dirs, &none) };
	metrics_write(out, &done.before, &options, format);
	history_free(&done);
	fclose(out);
	copy = mem_str(text);
	free(text);
	return copy;
}

static int begin(void **state)
{
	options = (struct metrics_options) { .limit = 100 };
	return setup(state);
}

/* What Prometheus has to say of both formats: nothing */
static void judged_by_promtool(void)
{
	put("classic", "%s", text_of(METRICS_CLASSIC));
	sh("cd %s && $PROMTOOL check metrics < classic > said 2>&1; rc=$?; cat said >&2; [ $rc = 0 ] && [ ! -s said ]",
	   top);
	/* its parser of OpenMetrics takes files only with times */
	put("open", "%s", text_of(METRICS_OPENMETRICS));
	sh("cd %s && sed '/^#/!s/$/ 1700000000/' open > timed && $PROMTOOL tsdb create-blocks-from openmetrics timed blocks > said 2>&1 || { cat said >&2; false; }",
	   top);
	/* it takes a series twice, which node_exporter does not */
	sh("cd %s && [ -z \"$(sed -n '/^#/!s/ [^ ]*$//p' open | sort | uniq -d | tee /dev/stderr)\" ]",
	   top);
}

/* Number of series whose line begins with @name */
static size_t series(const char *text, const char *name)
{
	size_t nr = !strncmp(text, name, strlen(name));
	const char *at = text;
	const char *line = mem_fmt("\n%s", name);

	while ((at = strstr(at, line))) {
		at += strlen(line);
		nr++;
	}
	return nr;
}

/* The value of one series, with its labels */
static unsigned long value_of(const char *text, const char *name)
{
	const char *at = strstr(text, mem_fmt("\n%s ", name));

	if (!at)
		fail_msg("there is no %s in\n%s", name, text);
	return strtoul(at + strlen(name) + 2, NULL, 10);
}

#define LATENCY		"nvmerdma_target_latency_seconds"
#define ENDED(host)	"nvmerdma_target_ended_queues_total{host=\"" host "\"}"

static void put_all(void)
{
	put_ctrl("nvme3");
	put_host_queue("nvme_rdma/nvme3/queue0", (struct host_queue) { .sent = 9, .connects = 3 });
	put_host_queue("nvme_rdma/nvme3/queue1", (struct host_queue) { .sent = 50, .answered = 49,
		       .connects = 3, .waits = 2, .errors = 1, .read = 4096 });
	put_host_queue("nvme_rdma/nvme3/queue2", (struct host_queue) { .sent = 6, .answered = 6,
		       .connects = 3, .errors = 1, .read = 4096 });
	put_host_queue("nvme_rdma/nvme3/queue3", (struct host_queue) { .sent = 1, .answered = 1,
		       .polled = 1 });
	put_target_host(HOST_A, HOST_A, 3, 4);
	put("nvmet_rdma/ports/2", "traddr 10.0.0.1\ntrsvcid 4420\nlistening 1\nwaits_for 0\n"
	    "queues 3\nqueues_ended 4\nqueues_failed 2\nerror_drain 1\nrefused_ird 8\n");
	put_thread("mlx5_0-1", 100, 5);
	put_retries("rxe0", "completer_retry_err", 100);
}

static void golden(void **state)
{
	(void)state;
	put_all();
	put("got", "%s", text_of(METRICS_OPENMETRICS));
	sh("diff $TOP/tests/unit/nvmerdma_metrics.txt %s/got >&2", top);
	judged_by_promtool();
}

static void no_modules(void **state)
{
	(void)state;
	assert_string_equal(text_of(METRICS_OPENMETRICS), "# EOF\n");
	assert_string_equal(text_of(METRICS_CLASSIC), "");
	/* one that is loaded and has nothing to do is told from one that is not */
	put("nvmet_rdma/queues/none", "");
	assert_non_null(strstr(text_of(METRICS_CLASSIC),
			       "\nnvmerdma_module_loaded{module=\"nvmet-rdma\"} 1\n"));
}

static void histograms(void **state)
{
	double before = 0, bound = 0;
	unsigned long sum = 0, n;
	const char *at, *text;
	char *end;

	(void)state;
	put("nvmet_rdma/hosts/a", "host a\n%s\n", hist_line(24, 3, 4));
	put("nvmet_rdma/hosts/b", "host b\nlatency_log2_us 1 2 3\n");	/* of another shape */
	text = text_of(METRICS_CLASSIC);
	unit_equal(HIST_BUCKETS, series(text, LATENCY "_bucket"));
	for (at = text; (at = strstr(at, ",le=\"")); before = bound, sum = n) {
		at += strlen(",le=\"");
		bound = strtod(at, &end);
		n = strtoul(end + strlen("\"} "), NULL, 10);
		if (bound <= before || n < sum)
			fail_msg("bucket %g has %lu, and %g before it %lu", bound, n, before, sum);
	}
	assert_true(isinf(bound));
	unit_equal(7, sum);
	unit_equal(3, value_of(text, LATENCY "_bucket{host=\"a\",le=\"17.179869184\"}"));
	unit_equal(7, value_of(text, LATENCY "_count{host=\"a\"}"));
	assert_null(strstr(text, "_sum"));
	assert_null(strstr(text_of(METRICS_OPENMETRICS), "_count{"));
}

/* ---- names that somebody else has chosen ---- */

#define BAD	"\xef\xbf\xbd"

static void escapes(void **state)
{
	static const struct {
		const char *value, *label;
	} cases[] = {
		{ "", "" }, { "nqn.a", "nqn.a" }, { "a\"b\\c\nd", "a\\\"b\\\\c\\nd" },
		{ "\\n", "\\\\n" }, { "\r\t\x1b[2J\x7f", BAD BAD BAD "[2J" BAD },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xff\x80z", BAD BAD "z" },		/* never, and nothing before it */
		{ "\xc0\xaf", BAD BAD }, { "\xc1\xbf", BAD BAD },	/* overlong */
		{ "\xe0\x9f\xbf", BAD BAD BAD }, { "\xf0\x8f\xbf\xbf", BAD BAD BAD BAD },
		{ "\xed\xa0\x80", BAD BAD BAD },		/* a surrogate */
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },	/* beyond U+10FFFF */
		{ "a\xe2\x82", "a" BAD BAD }, { "\xf0\x9f\x98", BAD BAD BAD }, { "\xc3", BAD },
		{ "\xe2\"", BAD "\\\"" }, { "\xc3\n", BAD "\\n" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++)
		assert_string_equal(metric_label("", "l", cases[i].value),
				    mem_fmt("l=\"%s\"", cases[i].label));
	assert_string_equal(metric_label("a=\"1\"", "b", "2"), "a=\"1\",b=\"2\"");
}

static void hostile_hosts(void **state)
{
	static const char * const names[] = {
		"\"} 1", "a\\", "\\\"", "{a=\"b\"}", "# EOF", METRICS_OTHERS, "\r# EOF", "-",
		"nqn \xff", "nqn \xfe", "nqn " BAD, "\\n", "\\x0a", "", "le=\"1\",", "\x01", " ",
	};
	char longest[224];
	const char *text;
	size_t i;

	(void)state;
	for (i = 0; i < NR(names); i++)
		put_target_host(mem_fmt("_~%zu", i), names[i], 1, 10);
	memset(longest, 0xff, sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	put_target_host("_~100", longest, 1, 10);
	put("nvme/nvme1/subsysnqn", "nqn\n# EOF\"} \xff\n");
	put("nvme/nvme1/address", "traddr=\"\\\n");
	put_host_queue("nvme_rdma/nvme1/queue0", (struct host_queue) { .sent = 1 });
	judged_by_promtool();
	/* three names that look alike are one series, and nothing is lost */
	text = text_of(METRICS_OPENMETRICS);
	unit_equal(30, value_of(text, ENDED("nqn " BAD)));
	unit_equal(3, value_of(text, "nvmerdma_target_hosts{host=\"nqn " BAD "\"}"));
	options.limit = 1;
	judged_by_promtool();
	text = text_of(METRICS_OPENMETRICS);
	unit_equal((NR(names) + 1) * 10 - 10,
		   value_of(text, ENDED(METRICS_OTHERS)));
	options.hash_hosts = true;
	options.limit = 100;
	judged_by_promtool();
}

static void hashed_hosts(void **state)
{
	const char *text;

	(void)state;
	put_target_host("a", HOST_A, 1, 1);
	put_target_host("b", HOST_B, 1, 2);
	options.hash_hosts = true;
	text = text_of(METRICS_OPENMETRICS);
	assert_null(strstr(text, "nqn."));
	unit_equal(2, series(text, "nvmerdma_target_hosts{host=\"sha1:"));
	/* the same on each target, and after each update */
	unit_equal(2, value_of(text, ENDED("sha1:6c30287b-4144-5c35-a221-367f75fff91d")));
}

/* ---- bounds ---- */

/* Host @n, which came at that second */
static void put_nth_host(unsigned int n, unsigned int ended)
{
	const struct timespec at[2] = { { .tv_sec = n + 1 }, { .tv_sec = n + 1 } };
	const char *name = mem_fmt("nvmet_rdma/hosts/host-%u", n);

	put(name, "host host-%u\nqueues 1\nqueues_ended %u\n%s\n", n, ended, hist_line(3, 7, 0));
	assert_int_equal(utimensat(AT_FDCWD, mem_fmt("%s/%s", top, name), at, 0), 0);
}

static void thousand_hosts(void **state)
{
	const char *text;
	unsigned int n;

	(void)state;
	for (n = 1000; n > 0; n--)
		put_nth_host(n, 2);
	options.limit = 10;
	text = text_of(METRICS_OPENMETRICS);
	unit_equal(11, series(text, "nvmerdma_target_hosts{"));
	unit_equal(11 * HIST_BUCKETS, series(text, LATENCY "_bucket{"));
	unit_equal(990, value_of(text, "nvmerdma_target_hosts{host=\"(others)\"}"));
	unit_equal(1980, value_of(text, ENDED(METRICS_OTHERS)));
	unit_equal(2, value_of(text, ENDED("host-1")));
	unit_equal(2, value_of(text, ENDED("host-10")));
	/* a host that comes later, even with a name before all others, displaces none */
	put_nth_host(2000, 0);
	sh("sed -i s/host-2000/a-host/ %s/nvmet_rdma/hosts/host-2000 && touch -d 2030-01-01 %s/nvmet_rdma/hosts/host-2000",
	   top, top);
	text = text_of(METRICS_OPENMETRICS);
	unit_equal(11, series(text, "nvmerdma_target_hosts{"));
	unit_equal(1980, value_of(text, ENDED(METRICS_OTHERS)));
	/* one of the first is forgotten, and the next one has series of its own */
	sh("rm %s/nvmet_rdma/hosts/host-1", top);
	text = text_of(METRICS_OPENMETRICS);
	unit_equal(2, value_of(text, ENDED("host-11")));
	unit_equal(1978, value_of(text, ENDED(METRICS_OTHERS)));
	judged_by_promtool();
}

static unsigned long of_others(const char *text, const char *name, const char *labels)
{
	return value_of(text, mem_fmt("nvmerdma_%s{controller=\"" METRICS_OTHERS "\"%s}", name,
				      labels));
}

static void many_controllers(void **state)
{
	const char *text;
	unsigned int n;

	(void)state;
	for (n = 0; n < 200; n++) {
		put_ctrl(mem_fmt("nvme%u", n));
		put_host_queue(mem_fmt("nvme_rdma/nvme%u/queue0", n),
			       (struct host_queue) { .connects = 2 });
		put_host_queue(mem_fmt("nvme_rdma/nvme%u/queue1", n),
			       (struct host_queue) { .read = 10 });
		sh("touch -d @%u %s/nvme_rdma/nvme%u", n + 1, top, n);
	}
	put("nvme/nvme199/state", "connecting\n");
	options.limit = 3;
	text = text_of(METRICS_OPENMETRICS);
	unit_equal(4, series(text, "nvmerdma_controllers{"));
	unit_equal(3, series(text, "nvmerdma_controller_info{"));
	unit_equal(8, series(text, "nvmerdma_controller_queues{"));
	unit_equal(197, of_others(text, "controllers", ""));
	unit_equal(196, of_others(text, "controllers_live", ""));
	unit_equal(197, of_others(text, "controller_reconnects_total", ""));
	unit_equal(1970, of_others(text, "controller_read_bytes_total", ",kind=\"io\""));
	judged_by_promtool();
}

/* ---- alarms, and a dashboard ---- */

static void alarms(void **state)
{
	(void)state;
	sh("cd $TOP/tools/monitoring && $PROMTOOL check rules nvmerdma-rules.yml > %s/said || { cat %s/said >&2; false; }",
	   top, top);
	sh("cd $TOP/tests/unit && $PROMTOOL test rules nvmerdma_rules_test.yml > %s/said 2>&1 || { cat %s/said >&2; false; }",
	   top, top);
}

/* Each name that a rule or a panel uses is written, and the manual page has each that is */
static void names_in_use(void **state)
{
	struct json_object *dashboard;

	(void)state;
	put_all();
	put("nvmet_rdma/hosts/" HOST_A, "host a\nqueues 1\nqueues_ended 1\ncommands_keyed 1\nshort_of_chunks 1\n"
	    "bytes_read 1\nbytes_written 1\nresponses_with_error 1\nwait_no_credit 1\nerror_sgl 1\n%s\n",
	    hist_line(1, 1, 1));
	put("nvme_rdma/nvme3/queue1", "sent_in_capsule 1\nbytes_read 1\nbytes_written 1\naborts 1\n"
	    "responses_with_error 1\nwait_no_slot 1\nerror_work 1\n%s\n", hist_line(1, 1, 1));
	put("written", "%s", text_of(METRICS_CLASSIC));
	sh("cd $TOP/tools/monitoring && grep -ohE '\\bnvmerdma_[a-z_]+' nvmerdma-rules.yml nvmerdma-dashboard.json | sort -u > %s/used && [ $(wc -l < %s/used) -gt 15 ]",
	   top, top);
	sh("cd %s && sed -n 's/^\\(nvmerdma_[a-z_]*\\).*/\\1/p' written | sort -u > there && comm -23 used there > missing; cat missing >&2; [ ! -s missing ]",
	   top);
	sh("cd %s && sed -n 's/^# TYPE \\([^ ]*\\).*/\\1/p' written | sort > families && grep -oE '\\bnvmerdma_[a-z_]+' $TOP/Documentation/nvmerdma.8 | sort -u | diff families - >&2",
	   top);
	dashboard = json_object_from_file(mem_fmt("%s/tools/monitoring/nvmerdma-dashboard.json",
						  getenv("TOP")));
	assert_non_null(dashboard);
	json_object_put(dashboard);
}

/* ---- the text file ---- */

static unsigned int syncs;

/* In place of the C library's, for common/file.c */
int fsync(int fd)
{
	(void)fd;
	syncs++;
	return 0;
}

/* It is replaced every 15 seconds, which must not make a disk flush each time */
static void textfile_is_not_synced(void **state)
{
	const char *path = mem_fmt("%s/nvmerdma.prom", top);

	(void)state;
	syncs = 0;
	unit_equal(0, replace_file_unsynced(path, "old\n", 0600));
	unit_equal(0, replace_file_unsynced(path, "new\n", 0644));
	unit_equal(0, syncs);
	sh("cd %s && [ \"$(cat nvmerdma.prom)\" = new ] && [ \"$(stat -c %%a nvmerdma.prom)\" = 644 ] && [ \"$(ls nvmerdma.prom*)\" = nvmerdma.prom ]",
	   top);
	/* a configuration is on the disk, with its name */
	unit_equal(0, replace_file(path, "kept\n", 0600));
	unit_equal(2, syncs);
}

/* ---- counters that are there, and cannot be read ---- */

static void cannot_be_read(void **state)
{
	unsigned int errors = error_count();

	(void)state;
	unit_equal(0, stat_check_debugfs("/sys/kernel/debug/none", "nvmerdma metrics") == 0);
	unit_equal(0, stat_check_debugfs(top, "nvmerdma metrics") == 0);
	unit_equal(errors + 2, error_count());
	put_all();
	text_of(METRICS_OPENMETRICS);
	unit_equal(0, stat_check_read());
	sh("ln -s loop %s/nvmet_rdma/hosts/loop", top);
	text_of(METRICS_OPENMETRICS);
	unit_equal((unsigned int)-1, (unsigned int)stat_check_read());
	assert_string_equal(counters_refused(), mem_fmt("%s/nvmet_rdma/hosts/loop", top));
	unit_equal(errors + 3, error_count());
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(golden),
		TEST(no_modules),
		TEST(histograms),
		TEST(escapes),
		TEST(hostile_hosts),
		TEST(hashed_hosts),
		TEST(thousand_hosts),
		TEST(many_controllers),
		TEST(alarms),
		TEST(names_in_use),
		TEST(textfile_is_not_synced),
		TEST(cannot_be_read),	/* the last one: what was refused is remembered */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
