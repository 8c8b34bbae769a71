// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own host, as 'nvme connect' drives it: a line of options is written to
 * /dev/nvme-fabrics, and what is read back names the controller. Here rather than in
 * libnvme, which keeps the kernel's error to itself.
 */
#include "doctor_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FABRICS		"/dev/nvme-fabrics"
#define CONNECT_S	15
#define DISCONNECT_S	5
#define MOST_LINES	8	/* of the kernel's log */
#define RECORD		8192	/* the longest one */

struct attempt {
	char options[2048];
	volatile int error;
	volatile int instance;
};

/* The log from here on */
static int log_fd = -1;

static void log_mark(void)
{
	if (log_fd < 0)
		log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log_fd >= 0)
		lseek(log_fd, 0, SEEK_END);
}

/* A record is "priority,number,time,flags;text", and lines of its own about the device */
void fabrics_details(struct doctor *d)
{
	char record[RECORD];
	unsigned int lines = 0;
	ssize_t n;

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
		detail(d, "the kernel: %.*s", (int)strcspn(text + 1, "\n"), text + 1);
		lines++;
	}
}

static void be_connecting(void *shared)
{
	struct attempt *attempt = shared;
	char answer[256], *at;
	ssize_t n;
	int fd = open(FABRICS, O_RDWR);

	attempt->error = EIO;
	if (fd < 0 || write(fd, attempt->options, strlen(attempt->options)) < 0) {
		attempt->error = errno;
		return;
	}
	n = read(fd, answer, sizeof(answer) - 1);
	if (n <= 0)
		return;
	answer[n] = 0;
	at = strstr(answer, "instance=");
	if (!at)
		return;
	attempt->instance = atoi(at + strlen("instance="));
	attempt->error = 0;
}

static const char *source_option(struct doctor *d)
{
	return d->host_iface ? mem_fmt(",host_iface=%s", d->host_iface) : "";
}

int fabrics_connect(struct doctor *d, const char *nqn, const char *options,
		    const char **name)
{
	struct attempt *attempt = shared_get(sizeof(*attempt));
	int n;

	attempt->instance = -1;
	n = snprintf(attempt->options, sizeof(attempt->options),
		     "transport=rdma,nqn=%s,traddr=%s,trsvcid=%s,hostnqn=%s%s%s%s%s", nqn,
		     d->address, d->port, d->hostnqn, d->hostid ? ",hostid=" : "",
		     d->hostid ? d->hostid : "", source_option(d), options);
	if (n < 0 || (size_t)n >= sizeof(attempt->options))
		return E2BIG;
	log_mark();
	if (!in_child(CONNECT_S, be_connecting, attempt) && attempt->instance < 0)
		return ETIMEDOUT;
	if (attempt->instance < 0)
		return attempt->error;
	*name = mem_fmt("nvme%d", attempt->instance);
	return 0;
}

static void be_disconnecting(void *shared)
{
	int fd = open(shared, O_WRONLY);

	if (fd >= 0 && write(fd, "1", 1) < 0)
		_exit(1);
}

bool fabrics_disconnect(struct doctor *d, const char *name)
{
	char *path = mem_fmt("/sys/class/nvme/%s/delete_controller", name);

	(void)d;
	return in_child(DISCONNECT_S, be_disconnecting, path) && access(path, F_OK) != 0;
}
