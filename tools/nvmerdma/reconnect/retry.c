// SPDX-License-Identifier: GPL-2.0
/*
 * Connects again what waits, and ends when nothing does.
 *
 * What cannot be reached yet is waited for without a limit, and costs nothing: the kernel
 * tells of RDMA devices, interfaces and addresses that come. Of routes it is asked every
 * RECHECK_S seconds. From then on a controller is tried as the kernel would try it: with
 * pauses up to its reconnect_delay, until its ctrl_loss_tmo is over.
 *
 * Each attempt is a process of its own, as one may take a minute. The kernel takes the options
 * as a line, so nothing of them goes through a shell or onto a command line.
 */
#include "reconnect/reconnect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FABRICS		"/dev/nvme-fabrics"
#define RECHECK_S	10
/* Attempts at the same time */
#define MOST_ATTEMPTS	16
/* One event of the kernel seldom comes alone */
#define SETTLE_MS	300

struct waiting {
	struct waiting *next;
	char id[37];			/* a UUID */
	struct record_stamp stamp;
	char words[400];		/* which controller it is */
	char why[400];			/* as it was said last */
	int ctrl_loss_tmo;
	unsigned int reconnect_delay;
	pid_t pid;			/* of an attempt; 0: none is under way */
	unsigned int pause;		/* seconds between the last attempt and the next one */
	time_t next_try;
	time_t reachable;		/* since when; 0: it is not */
	bool listed;			/* there is a record of it */
};

static struct waiting *all;
static unsigned int attempts;		/* that are under way */

/* ---- words ---- */

/* A reason is said once, and each time that it is another one */
static void say_why(struct waiting *w, const char *why)
{
	if (words_are_news(w->why, sizeof(w->why), why))
		note_msg("%s is not connected yet: %s", w->words, why);
}

static void tell_status(void)
{
	static char told[2000];
	const char *words = "";
	struct waiting *w;

	for (w = all; w; w = w->next) {
		if (w->listed)
			words = mem_fmt("%s%s%s: %s", words, *words ? "; " : "Waiting: ",
					w->words, w->pid ? "connecting" : w->why);
	}
	words = mem_fmt("STATUS=%s", *words ? words : "All is connected");
	if (words_are_news(told, sizeof(told), words))
		tell_systemd(told);
}

/* ---- attempts ---- */

/* Ends the process with 0, or an errno of the kernel */
static _Noreturn void attempt(const struct record *record)
{
	char answer[128] = "";
	int fd = open(mem_fmt("%s" FABRICS, reconnect_root), O_RDWR | O_CLOEXEC);
	size_t len = strlen(record->options);
	unsigned int instance;

	if (fd < 0 || write(fd, record->options, len) != (ssize_t)len)
		_exit(errno < 256 ? errno : EIO);
	if (read(fd, answer, sizeof(answer) - 1) > 0 &&
	    sscanf(answer, "instance=%u", &instance) == 1)
		printf("%s is connected again, as nvme%u\n", record_words(record), instance);
	else
		printf("%s is connected again\n", record_words(record));
	fflush(stdout);
	_exit(0);
}

static void start(struct waiting *w, const struct record *record)
{
	w->ctrl_loss_tmo = record->ctrl_loss_tmo;
	w->reconnect_delay = record->reconnect_delay;
	fflush(stdout);
	w->pid = fork();
	if (!w->pid)
		attempt(record);
	if (w->pid < 0) {
		w->pid = 0;
		say_why(w, mem_fmt("no other process can be started: %s", strerror(errno)));
		w->next_try = seconds_now() + 1;
		return;
	}
	attempts++;
}

static const char *error_words(int error)
{
	switch (error) {
	case EALREADY:
		return "the kernel has not removed the controller of before yet";
	case ENOENT:
		return "there is no " FABRICS "; 'modprobe nvme-fabrics' makes it";
	case EACCES:
		return "the target does not admit this host; see 'dmesg'";
	case EKEYREJECTED:
	case ENOKEY:
		return "a key of DH-HMAC-CHAP is missing or wrong; see 'dmesg'";
	default:
		return mem_fmt("%s; see 'dmesg'", strerror(error));
	}
}

static void failed(struct waiting *w, int error)
{
	time_t now = seconds_now();

	if (w->ctrl_loss_tmo >= 0 && now - w->reachable >= w->ctrl_loss_tmo) {
		error_msg("%s could not be connected for %d s (ctrl_loss_tmo): connect it by hand when this is mended: %s",
			  w->words, w->ctrl_loss_tmo, error_words(error));
		record_remove(w->id, &w->stamp);
		return;
	}
	say_why(w, error_words(error));
	w->pause = longer_pause(w->pause, w->reconnect_delay);
	w->next_try = now + w->pause;
}

static void reap(void)
{
	struct waiting *w;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (w = all; w && w->pid != pid; w = w->next)
			;
		if (!w)
			continue;
		w->pid = 0;
		attempts--;
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			record_remove(w->id, &w->stamp);
		else
			failed(w, WIFEXITED(status) ? WEXITSTATUS(status) : EINTR);
	}
}

/* ---- what waits ---- */

static struct waiting *find(const struct record *record)
{
	struct waiting *w;

	for (w = all; w; w = w->next) {
		if (!strcmp(w->id, record->id))
			return w;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		error_msg("out of memory");
		exit(STATUS_FAILED);
	}
	snprintf(w->id, sizeof(w->id), "%s", record->id);
	snprintf(w->words, sizeof(w->words), "%s", record_words(record));
	w->next = all;
	all = w;
	return w;
}

static void forget_unlisted(void)
{
	struct waiting **at = &all, *w;

	while ((w = *at)) {
		if (w->listed || w->pid) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free(w);
	}
}

static void consider(struct waiting *w, const struct record *record, const struct presents *now,
		     const struct rdma_addrs *addrs, const struct rdma_links *links)
{
	const struct present *other = present_find(now, record);
	const char *why;

	/* a record that has replaced that of an attempt is for the next one */
	w->stamp = record->stamp;
	if (other && other->live) {
		printf("%s is connected already, as %s\n", w->words, other->name);
		record_remove(w->id, &w->stamp);
		w->listed = false;
		return;
	}
	why = other ? mem_fmt("%s, for the same, is connecting", other->name) :
	      not_reachable_reason(record, addrs, links);
	if (why) {
		say_why(w, why);
		w->reachable = 0;
		w->pause = 0;
		w->next_try = 0;
		return;
	}
	if (!w->reachable)
		w->reachable = seconds_now();
	if (seconds_now() >= w->next_try && attempts < MOST_ATTEMPTS)
		start(w, record);
}

/* Whether there is something left to wait for */
static bool look(void)
{
	struct records records = records_waiting();
	struct rdma_links links = { 0 };
	struct rdma_addrs addrs = { 0 };
	struct presents now = { 0 };
	const struct record *record;
	struct waiting *w;

	for (w = all; w; w = w->next)
		w->listed = false;
	if (records.nr) {
		now = presents();
		links = rdma_links();
		addrs = rdma_addrs(&links);
	}
	for_each_record(record, &records) {
		w = find(record);
		w->listed = true;
		if (!w->pid)
			consider(w, record, &now, &addrs, &links);
	}
	forget_unlisted();
	tell_status();
	return all;
}

/* ---- news of the kernel ---- */

/* Without it, all is looked at every RECHECK_S seconds */
static int listen_to(int protocol, unsigned int groups)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = groups };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		note_msg("the kernel's events cannot be received: %m");
	return fd;
}

/* Only that they came counts: who sends one has all looked at, and no more */
static void drain(struct pollfd *fds, size_t nr)
{
	char buffer[8192];
	size_t i;

	for (i = 0; i < nr; i++) {
		while (fds[i].fd >= 0 && (recv(fds[i].fd, buffer, sizeof(buffer), 0) >= 0 ||
					  errno == ENOBUFS))
			;
	}
}

static void wait_for_news(struct pollfd *fds, size_t nr)
{
	const struct timespec settle = { .tv_nsec = SETTLE_MS * 1000000L };
	time_t seconds = attempts ? 1 : RECHECK_S, now = seconds_now();
	struct waiting *w;

	for (w = all; w; w = w->next) {
		if (w->next_try && w->next_try - now < seconds)
			seconds = w->next_try > now ? w->next_try - now : 0;
	}
	poll(fds, nr, seconds * 1000);
	nanosleep(&settle, NULL);
	drain(fds, nr);
}

static void child_ended(int signal)
{
	(void)signal;		/* it ends poll() */
}

int reconnect_all(void)
{
	const struct sigaction act = { .sa_handler = child_ended };
	struct pollfd fds[] = {
		{ .events = POLLIN, .fd = listen_to(NETLINK_KOBJECT_UEVENT, 1) },
		{ .events = POLLIN, .fd = listen_to(NETLINK_ROUTE, RTMGRP_LINK |
						    RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR) },
	};
	struct mem_mark mark = mem_mark();

	if (reconnect_claim() || sigaction(SIGCHLD, &act, NULL))
		return -1;
	while (look()) {
		fflush(stdout);
		mem_release(mark);
		wait_for_news(fds, NR(fds));
		reap();
	}
	fflush(stdout);
	return 0;
}
