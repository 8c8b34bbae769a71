// SPDX-License-Identifier: GPL-2.0
/* Which twist is on: by the command line, and by datagrams while the target runs */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target.h"

/* False, and why not, if there is no such case */
bool control_choose(const char *words, char *answer, size_t len)
{
	char name[64], about[256];
	uint64_t a = 0, b = 0;
	const struct twist *twist;
	int n = sscanf(words, "%63s %" SCNu64 " %" SCNu64, name, &a, &b);
	struct twist chosen;
	bool all = all_used();

	if (n == 3 && !strcmp(name, "fuzz")) {
		fuzz_twist(&chosen, a, b);
	} else {
		twist = n > 0 ? twist_find(name) : NULL;
		if (!twist || a >= twist->values) {
			snprintf(answer, len, "%s: %s", words, twist ?
				 "it has no such value" : "there is no such case");
			return false;
		}
		chosen = *twist;
		twist_add(&chosen, a);
	}
	target.twist = chosen;
	target.assocs = 0;
	target.armed = false;
	target.acted = false;
	target.companion = false;
	target.used = 0;
	twist_describe(&chosen, about, sizeof(about));
	snprintf(answer, len, "ok %u %d %s", target.alarms, all, about);
	return true;
}

/* Once; later calls only return whether all of the case has happened */
static void control_event(char *answer, size_t len)
{
	struct queue *queue = last_io_queue();

	if (queue && !queue->assoc->ana_changes)
		target_ana_changes(queue);
	snprintf(answer, len, "ok %u %d an event", target.alarms, all_used());
}

int control_open(uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die("no UDP port %u to be controlled by", port);
	return fd;
}

void control_look(int fd)
{
	char words[128], answer[512];
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	ssize_t n = recvfrom(fd, words, sizeof(words) - 1, 0, (struct sockaddr *)&from,
			     &len);

	if (n < 0)
		return;
	words[n] = 0;
	if (!strcmp(words, "ana-changes")) {
		control_event(answer, sizeof(answer));
	} else if (!strcmp(words, "companion")) {
		snprintf(answer, sizeof(answer), "ok %u %d a companion", target.alarms,
			 target.companion);
	} else {
		control_choose(words, answer, sizeof(answer));
		drop_requests();
	}
	if (sendto(fd, answer, strlen(answer), 0, (struct sockaddr *)&from, len) < 0)
		die("cannot answer what I was told");
	say("%s: %s", words, answer);
}
