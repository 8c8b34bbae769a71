// SPDX-License-Identifier: GPL-2.0
/* What systemd is told of a service */
#include "common/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* sd_notify(3): a datagram to a socket that systemd names; without one nobody listens */
void tell_systemd(const char *words)
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
		note_msg("systemd could not be told: %m");
	close(fd);
}
