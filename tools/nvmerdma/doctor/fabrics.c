// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own host, as 'nvme connect' drives it: a line of options is written to
 * /dev/nvme-fabrics, and what is read back names the controller. Here rather than in
 * libnvme, which keeps the kernel's error to itself.
 *
 * Nothing may stay: what connects is a process of its own, the keeper, which takes the
 * controller away again when the pipe between the two is closed. So it does if this process
 * has given up, and the kernel connects after all, or if it was killed.
 */
#include "doctor/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONNECT_MS	15000
#define DISCONNECT_MS	5000
#define TICK_MS		20
#define MOST_LINES	8	/* of the kernel's log */
#define RECORD		8192	/* the longest one */

struct attempt {
	const char *root;
	char options[2048];
	atomic_int error;	/* EINPROGRESS until it is known */
	atomic_int instance;
	int pipe[2];		/* of it the keeper reads to its end */
};

/* Of the controller that is connected now */
static struct {
	pid_t pid;
	int pipe;
} keeper;

/* The log from here on */
static int log_fd = -1;
static const char *said;

static void log_mark(void)
{
	said = NULL;
	if (log_fd < 0)
		log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log_fd >= 0)
		lseek(log_fd, 0, SEEK_END);
}

/* A record is "priority,number,time,flags;text", and lines of its own about the device */
static const char *log_lines(void)
{
	char record[RECORD];
	unsigned int lines = 0;
	ssize_t n;

	if (!said)
		said = "";
	while (log_fd >= 0 && lines < MOST_LINES) {
		const char *text;

		n = read(log_fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		record[n] = 0;
		text = strchr(record, ';');
		if (!text || !strstr(text, "nvme"))
			continue;
		said = mem_fmt("%s%.*s\n", said, (int)strcspn(text + 1, "\n"), text + 1);
		lines++;
	}
	return said;
}

bool fabrics_said(const char *words)
{
	return strstr(log_lines(), words);
}

void fabrics_details(struct doctor *d)
{
	const char *line;

	for (line = log_lines(); *line; line += strcspn(line, "\n") + 1)
		report_detail(d, "the kernel: %s", safe_words(mem_strn(line, strcspn(line, "\n"))));
}

/* An errno, or 0 and the controller's number */
static int connect_now(struct attempt *attempt)
{
	char answer[256], *at;
	int fd = open(mem_fmt("%s/dev/nvme-fabrics", attempt->root), O_RDWR | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 || write(fd, attempt->options, strlen(attempt->options)) < 0)
		return errno;
	n = read(fd, answer, sizeof(answer) - 1);
	close(fd);
	if (n <= 0)
		return EIO;
	answer[n] = 0;
	at = strstr(answer, "instance=");
	if (!at)
		return EIO;
	attempt->instance = atoi(at + strlen("instance="));
	return 0;
}

static void be_keeper(void *shared)
{
	struct attempt *attempt = shared;
	int error, fd;
	char none;

	close(attempt->pipe[1]);
	error = connect_now(attempt);
	attempt->error = error;
	if (error)
		return;
	while (read(attempt->pipe[0], &none, 1) < 0 && errno == EINTR)
		;
	fd = open(mem_fmt("%s/sys/class/nvme/nvme%d/delete_controller", attempt->root,
			  attempt->instance), O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) < 0)
		_exit(1);
}

static const char *source_option(struct doctor *d)
{
	return d->host_iface ? mem_fmt(",host_iface=%s", d->host_iface) : "";
}

/* The line of options; false if a value would be more than one option, or is too long */
static bool write_options(struct doctor *d, const char *nqn, const char *options, char *line,
			  size_t size)
{
	const char * const values[] = { nqn, d->address, d->hostnqn, d->hostid, d->host_iface };
	size_t i;
	int n;

	for (i = 0; i < NR(values); i++) {
		if (values[i] && strpbrk(values[i], ",\n"))
			return false;
	}
	n = snprintf(line, size, "transport=rdma,nqn=%s,traddr=%s,trsvcid=%s,hostnqn=%s%s%s%s%s",
		     nqn, d->address, d->port, d->hostnqn, d->hostid ? ",hostid=" : "",
		     d->hostid ? d->hostid : "", source_option(d), options);
	return n > 0 && (size_t)n < size;
}

/* An errno; EINPROGRESS becomes ETIMEDOUT */
static int await_attempt(struct attempt *attempt)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
	unsigned int waited;

	for (waited = 0; attempt->error == EINPROGRESS && waited < CONNECT_MS; waited += TICK_MS) {
		if (child_wait(keeper.pid, 0) && attempt->error == EINPROGRESS)
			return EIO;
		nanosleep(&tick, NULL);
	}
	return attempt->error == EINPROGRESS ? ETIMEDOUT : attempt->error;
}

int fabrics_connect(struct doctor *d, const char *nqn, const char *options,
		    const char **name)
{
	struct attempt *attempt = shared_alloc(sizeof(*attempt));
	int error;

	if (!write_options(d, nqn, options, attempt->options, sizeof(attempt->options)))
		return EINVAL;
	attempt->root = d->root;
	attempt->error = EINPROGRESS;
	if (pipe2(attempt->pipe, O_CLOEXEC))
		return errno;
	log_mark();
	keeper.pid = child_start(be_keeper, attempt);
	keeper.pipe = attempt->pipe[1];
	close(attempt->pipe[0]);
	error = await_attempt(attempt);
	if (error)
		close(keeper.pipe);
	else
		*name = mem_fmt("nvme%d", attempt->instance);
	return error;
}

bool fabrics_disconnect(struct doctor *d, const char *name)
{
	close(keeper.pipe);
	return child_wait(keeper.pid, DISCONNECT_MS) &&
	       !file_there("%s/sys/class/nvme/%s/delete_controller", d->root, name);
}
