// SPDX-License-Identifier: GPL-2.0
/*
 * What a restore at boot had to leave out: a disk that is found late, or mended in the
 * afternoon. It is looked for each second, which costs a system call for a disk, and works
 * for whatever makes a name appear.
 *
 * Meanwhile the configuration is the administrator's: of it this changes just what the
 * restore has left disabled, if it still is there, disabled, and on the same device.
 */
#include "late.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "configfs.h"
#include "restore_disks.h"

/* Between two attempts at what is there and cannot be enabled */
#define PAUSE_MAX	60

struct late {
	const struct node *node;	/* NULL: done */
	unsigned int pause, rest;	/* seconds: between attempts, to the next one */
};

/* sd_notify(3): a datagram to a socket that systemd names; without one nobody listens */
static void tell_systemd(const char *words)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = name ? strlen(name) : 0;
	int fd;

	if (!len || len >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, name, len);
	if (*name == '@')
		to.sun_path[0] = 0;	/* an abstract one */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, words, strlen(words), 0, (struct sockaddr *)&to,
		   offsetof(struct sockaddr_un, sun_path) + len) < 0)
		warn("systemd could not be told: %m");
	close(fd);
}

static void tell_status(const struct late *late, size_t nr)
{
	const char *words = "";
	size_t i, left = 0;

	for (i = 0; i < nr; i++) {
		const char *why = late[i].node ? missing_why(late[i].node) : NULL;

		if (!late[i].node)
			continue;
		left++;
		words = mem_fmt("%s%s%s", words, *words ? "; " : "",
				why ?: mem_fmt("%s cannot be enabled", node_words(late[i].node)));
	}
	tell_systemd(mem_fmt("READY=1\nSTATUS=%s%s", left ? "Waiting: " : "All is exported",
			     words));
}

/* 0: nothing is left to do for it; -1: said, and to be tried again */
static int enable(const struct node *node)
{
	struct node *have, *want;
	struct plan plan;

	if (configfs_open())
		return -1;
	have = configfs_read();
	if (!have)
		return -1;
	want = node_copy(have);
	if (!missing_enable(want, node)) {
		printf("%s is there, but %s was changed meanwhile, and is left alone\n",
		       node_get(node, "device_path") ?: node_get(node, "addr_traddr"),
		       node_words(node));
		return 0;
	}
	/* one that is used, or is another disk, is left disabled, as at boot */
	restore_disks(have, want, REFUSED_LEAVE);
	if (configfs_apply(have, want, false, &plan))
		return -1;
	configfs_report(&plan);
	return 0;
}

/* Whether something has come of it */
static bool try_once(struct late *late)
{
	if (!late->node || missing_why(late->node))
		return false;
	if (late->rest) {
		late->rest--;
		return false;
	}
	if (enable(late->node)) {
		late->pause = late->pause ? late->pause * 2 : 1;
		if (late->pause > PAUSE_MAX)
			late->pause = PAUSE_MAX;
		late->rest = late->pause;
	} else {
		late->node = NULL;
	}
	configfs_unlock();
	fflush(stdout);
	return true;
}

void late_follow(const struct missing *left)
{
	struct late *late = mem_get((left->nr + 1) * sizeof(*late));
	size_t i, undone = left->nr;
	struct mem_mark mark;
	bool any;

	for (i = 0; i < left->nr; i++)
		late[i].node = left->node[i];
	configfs_unlock();
	fflush(stdout);
	tell_status(late, left->nr);
	while (undone) {
		sleep(1);
		mark = mem_mark();
		any = false;
		undone = 0;
		for (i = 0; i < left->nr; i++) {
			any |= try_once(&late[i]);
			undone += !!late[i].node;
		}
		if (any)
			tell_status(late, left->nr);
		mem_release(mark);
	}
}
