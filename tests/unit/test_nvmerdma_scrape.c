// SPDX-License-Identifier: GPL-2.0
/* nvmerdma metrics --http: one request, which may be any bytes, and its answer */
#include "harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/nvmerdma/metrics/metrics.h"

static struct metrics_options options;
static bool unreadable;

/* In place of the one in metrics.c */
const char *metrics_text(const struct metrics_options *unused, enum metrics_format format)
{
	(void)unused;
	if (!unreadable)
		return format == METRICS_OPENMETRICS ? "open" : "classic";
	error_msg("as a test wants it");
	return NULL;
}

static void judges_requests(void **state)
{
	static const struct {
		const char *request, *status;
		enum metrics_format format;
	} cases[] = {
		{ "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "200", METRICS_CLASSIC },
		{ "GET /metrics HTTP/1.0\n\n", "200", METRICS_CLASSIC },
		{ "HEAD /metrics?x=y HTTP/1.1\r\n\r\n", "200", METRICS_CLASSIC },
		{ "GET /metrics HTTP/1.1\r\naccept: text/plain;q=0.5, Application/OpenMetrics-Text;version=1.0.0\r\n\r\n",
		  "200", METRICS_OPENMETRICS },
		{ "GET /metrics HTTP/1.1\r\nX-Accept: application/openmetrics-text\r\n\r\n",
		  "200", METRICS_CLASSIC },
		{ "GET /metrics HTTP/1.1\r\nAccept: */*\r\nX: application/openmetrics-text\r\n\r\n",
		  "200", METRICS_CLASSIC },
		{ "POST /metrics HTTP/1.1\r\n\r\n", "405", 0 },
		{ "GET / HTTP/1.1\r\n\r\n", "404", 0 },
		{ "GET /metrics/../etc/shadow HTTP/1.1\r\n\r\n", "404", 0 },
		{ "GET /metrics\r\nX HTTP/1.1\r\n\r\n", "400", 0 },
		{ "GET /metrics HTTP/2\r\n\r\n", "400", 0 },
		{ "GET /metrics HTTP/1.1\r\n", "400", 0 },
		{ "GET  HTTP/1.1\r\n\r\n", "404", 0 },
		{ "\r\n\r\n", "400", 0 }, { "", "400", 0 }, { " \n\n", "400", 0 },
		{ "  \n\n", "400", 0 },
	};
	char any[64];
	u64 seed = 5;
	size_t i, k;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		struct http_verdict v = http_judge(cases[i].request, strlen(cases[i].request));

		unit_context("%s", cases[i].request);
		assert_memory_equal(v.status, cases[i].status, 3);
		if (*v.status == '2')
			unit_equal(cases[i].format, v.format);
	}
	assert_memory_equal(http_judge("GET /metrics HTTP/1.1\r\n\0\r\n\r\n", 29).status, "400", 3);
	for (i = 0; i < 20000; i++) {
		struct mem_mark mark = mem_mark();
		u8 *copy;

		for (k = 0; k < sizeof(any); k++)
			any[k] = "GET /metrics HTTP/1.\r\n\0Accept:?"[unit_random(&seed) % 31];
		copy = unit_exact_copy(any, i % sizeof(any));
		assert_non_null(http_judge((char *)copy, i % sizeof(any)).status);
		free(copy);
		mem_release(mark);
	}
}

/* What a client gets that sends @len bytes, and then no more */
static const char *answer_to(const char *request, size_t len, bool stops, int *status)
{
	static char got[1 << 20];
	int pair[2];
	ssize_t n, have = 0;
	int room = sizeof(got);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
	assert_int_equal(send(pair[0], request, len, 0), len);
	if (stops)
		assert_int_equal(shutdown(pair[0], SHUT_WR), 0);
	*status = http_serve(pair[1], &options, 100);
	close(pair[1]);
	while ((n = recv(pair[0], got + have, sizeof(got) - 1 - have, 0)) > 0)
		have += n;
	got[have] = 0;
	close(pair[0]);
	return got;
}

static void serves(void **state)
{
	static const char get[] =
		"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n";
	static const char put[] = "PUT / HTTP/1.1\n\n";
	char *flood = mem_get(HTTP_REQUEST_MAX + 1);
	const char *got, *body;
	int status;

	(void)state;
	got = answer_to(get, strlen(get), false, &status);
	unit_equal(STATUS_OK, status);
	assert_memory_equal(got, "HTTP/1.1 200 OK\r\n", 17);
	assert_non_null(strstr(got, "\r\nContent-Type: application/openmetrics-text; version="));
	body = strstr(got, "\r\n\r\n") + 4;
	assert_string_equal(body, "open");
	assert_non_null(strstr(got, mem_fmt("\r\nContent-Length: %zu\r\n", strlen(body))));
	got = answer_to("HEAD /metrics HTTP/1.1\r\n\r\n", 26, false, &status);
	assert_non_null(strstr(got, "text/plain; version=0.0.4"));
	assert_string_equal(strstr(got, "\r\n\r\n"), "\r\n\r\n");
	assert_memory_equal(answer_to(get, 10, false, &status), "HTTP/1.1 408", 12);
	assert_memory_equal(answer_to(get, 10, true, &status), "HTTP/1.1 400", 12);
	memset(flood, 'x', HTTP_REQUEST_MAX);
	assert_memory_equal(answer_to(flood, HTTP_REQUEST_MAX, false, &status), "HTTP/1.1 431", 12);
	got = answer_to(put, strlen(put), false, &status);
	assert_non_null(strstr(got, "\r\nAllow: GET, HEAD\r\n"));
	/* none of this is an error of this machine, nor is a port scan */
	assert_string_equal(answer_to("", 0, true, &status), "");
	unit_equal(STATUS_OK, status);
	unreadable = true;
	assert_memory_equal(answer_to(get, strlen(get), false, &status), "HTTP/1.1 500", 12);
	unit_equal(STATUS_FAILED, status);
	unit_equal(STATUS_FAILED, http_serve(open("/dev/null", O_RDWR), &options, 100));
}

static int teardown(void **state)
{
	(void)state;
	mem_release((struct mem_mark) { 0 });
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(judges_requests, teardown),
		cmocka_unit_test_teardown(serves, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
