// SPDX-License-Identifier: GPL-2.0
/*
 * One scrape over HTTP, on a socket that systemd has accepted.
 *
 * Anyone who can connect may send anything, or nothing. So the request has a limit, request
 * and answer have a deadline each, and the parser looks only at what it needs.
 */
#include "metrics/metrics.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static const char * const content_types[NR_METRICS_FORMATS] = {
	[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	[METRICS_CLASSIC] = "text/plain; version=0.0.4; charset=utf-8",
};

static bool is_whole(const char *request, size_t len)
{
	return memmem(request, len, "\r\n\r\n", 4) || memmem(request, len, "\n\n", 2);
}

/* Does a client take OpenMetrics? Prometheus does, a browser does not say so. */
static bool takes_openmetrics(const char *header)
{
	static const char accept[] = "Accept:";

	for (; header; header = strchr(header, '\n')) {
		header += *header == '\n';
		if (!strncasecmp(header, accept, strlen(accept))) {
			const char *value = mem_strn(header, strcspn(header, "\r\n"));

			if (strcasestr(value, "application/openmetrics-text"))
				return true;
		}
	}
	return false;
}

struct http_verdict http_judge(const char *request, size_t len)
{
	struct http_verdict verdict = { .status = "400 Bad Request", .format = METRICS_CLASSIC };
	char *text = mem_strn(request, len), *target, *version;

	if (strlen(text) != len || !is_whole(text, len))
		return verdict;
	target = strchr(text, ' ');
	version = target ? strchr(target + 1, ' ') : NULL;
	if (!version || version > text + strcspn(text, "\r\n") ||
	    strncmp(version + 1, "HTTP/1.", strlen("HTTP/1.")))
		return verdict;
	*target++ = 0;
	*version++ = 0;
	verdict.head = !strcmp(text, "HEAD");
	target[strcspn(target, "?")] = 0;
	if (!verdict.head && strcmp(text, "GET")) {
		verdict.status = "405 Method Not Allowed";
	} else if (strcmp(target, "/metrics")) {
		verdict.status = "404 Not Found";
	} else {
		verdict.status = "200 OK";
		if (takes_openmetrics(version))
			verdict.format = METRICS_OPENMETRICS;
	}
	return verdict;
}

/* Waits for a socket; false: its deadline has passed */
static bool wait_for(int sock, short events, uint64_t due)
{
	struct pollfd one = { .fd = sock, .events = events };
	uint64_t now;
	int n;

	while ((now = stat_now()) < due) {
		n = poll(&one, 1, (due - now) / 1000000 + 1);
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
	return false;
}

/* A request, or what came of it until the client stopped; -1: nothing can be answered */
static ssize_t read_request(int sock, char request[HTTP_REQUEST_MAX], uint64_t due,
			    const char **refused)
{
	size_t len = 0;
	ssize_t n;

	while (!is_whole(request, len)) {
		if (len == HTTP_REQUEST_MAX) {
			*refused = "431 Request Header Fields Too Large";
			break;
		}
		if (!wait_for(sock, POLLIN, due)) {
			*refused = "408 Request Timeout";
			break;
		}
		n = recv(sock, request + len, HTTP_REQUEST_MAX - len, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0 || (!n && !len))
			return -1;
		if (!n)
			break;
		len += n;
	}
	return len;
}

/*
 * Ends the connection. Closing it with data that was not read would reset it, and the client might
 * lose the answer.
 */
static void end(int sock, uint64_t due)
{
	char rest[1024];

	if (shutdown(sock, SHUT_WR))
		return;
	while (wait_for(sock, POLLIN, due)) {
		ssize_t n = recv(sock, rest, sizeof(rest), MSG_DONTWAIT);

		if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
			return;
	}
}

/* A client that goes away or reads too slowly is no error of this machine */
static void send_text(int sock, const char *text, uint64_t due)
{
	size_t left = strlen(text);

	while (left && wait_for(sock, POLLOUT, due)) {
		ssize_t n = send(sock, text, left, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			left -= n;
		}
	}
}

static const char *body_of(const struct http_verdict *verdict)
{
	return mem_fmt("%s: %s\n", verdict->status, *verdict->status == '5' ?
		       "the counters cannot be read; the log of this service has the reason" :
		       "expected GET /metrics");
}

int http_serve(int sock, const struct metrics_options *options, unsigned int ms)
{
	unsigned int errors = error_count();
	char request[HTTP_REQUEST_MAX];
	struct http_verdict verdict;
	const char *refused = NULL, *body = NULL, *allow = "";
	socklen_t size = sizeof(int);
	uint64_t due;
	ssize_t len;
	int type;

	if (getsockopt(sock, SOL_SOCKET, SO_TYPE, &type, &size)) {
		error_msg("--http: standard input is not a socket (expected a connection, as nvmerdma-metrics.socket hands it over)");
		return STATUS_FAILED;
	}
	len = read_request(sock, request, stat_now() + ms * 1000000ULL, &refused);
	if (len < 0)
		return error_count() == errors ? STATUS_OK : STATUS_FAILED;
	verdict = http_judge(request, len);
	if (refused) {
		verdict.status = refused;
	} else if (!strncmp(verdict.status, "200", 3)) {
		body = metrics_text(options, verdict.format);
		if (!body)
			verdict.status = "500 Internal Server Error";
	} else if (!strncmp(verdict.status, "405", 3)) {
		allow = "Allow: GET, HEAD\r\n";
	}
	if (!body) {
		verdict.format = METRICS_CLASSIC;
		body = body_of(&verdict);
	}
	due = stat_now() + ms * 1000000ULL;
	send_text(sock, mem_fmt("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%sConnection: close\r\n\r\n%s",
				verdict.status, content_types[verdict.format], strlen(body), allow,
				verdict.head ? "" : body), due);
	end(sock, due);
	return error_count() == errors ? STATUS_OK : STATUS_FAILED;
}
