// SPDX-License-Identifier: GPL-2.0
/* Disks of which nvmerdma-ha (Documentation/ha.md) says whether this machine serves them */
#include "standby.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Its name for a disk of the device mapper: this and that of DRBD's resource */
#define MAPPED	"nvmerdma-"

static bool begins(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

/* At a boot the disk may not be there yet: then its name has to tell */
static bool moves(const struct node *ns)
{
	const char *path = node_get(ns, "device_path");
	struct stat st;

	if (begins(path, "/dev/mapper/" MAPPED) || begins(path, "/dev/disk/by-id/dm-name-" MAPPED))
		return true;
	return path && !stat(path, &st) && S_ISBLK(st.st_mode) &&
	       begins(file_read("/sys/dev/block/%u:%u/dm/name", major(st.st_rdev),
				minor(st.st_rdev)), MAPPED);
}

/* A port has group 1 in any case, and it begins as optimized; a file need not name it */
static void keep_state(const struct node *have, struct node *port, const struct node *ns)
{
	const char *id = node_get(ns, "ana_grpid") ?: "1";	/* the kernel's own default */
	struct node *group = node_add(port, &shape_ana, id);
	const struct node *was = node_same(have, group);

	node_set(group, "ana_state",
		 (was ? node_get(was, "ana_state") : NULL) ?: "inaccessible");
}

void standby(const struct node *have, struct node *want)
{
	const struct node *subsys, *ns;
	struct node *port;

	for_each_node(port, want, &shape_port) {
		for_each_node(subsys, want, &shape_subsys) {
			if (!node_linked(port, subsys->name))
				continue;
			for_each_node(ns, subsys, &shape_ns) {
				if (moves(ns))
					keep_state(have, port, ns);
			}
		}
	}
}
