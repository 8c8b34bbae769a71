// SPDX-License-Identifier: GPL-2.0
/* Disks of which nvmerdma-ha (Documentation/ha.md) says whether this machine serves them */
#include "standby.h"

#include <string.h>

/* Its name for a disk: this and that of DRBD's resource */
#define MAPPED	"/dev/mapper/nvmerdma-"

static bool moves(const struct node *ns)
{
	const char *path = node_get(ns, "device_path");

	return path && !strncmp(path, MAPPED, strlen(MAPPED));
}

/* The kernel's own default is 1 */
static const char *group_of(const struct node *ns)
{
	return node_get(ns, "ana_grpid") ?: "1";
}

/* A port has group 1 in any case, and it begins as optimized; a file need not name it */
static void add_groups(struct node *port, const struct node *root)
{
	const struct node *subsys, *ns;

	for_each_node(subsys, root, &shape_subsys) {
		if (!node_linked(port, subsys->name))
			continue;
		for_each_node(ns, subsys, &shape_ns) {
			if (moves(ns) && !node_find(port, &shape_ana, group_of(ns)))
				node_add(port, &shape_ana, group_of(ns));
		}
	}
}

static bool is_of_such(const struct node *group, const struct node *root)
{
	const struct node *subsys, *ns;

	for_each_node(subsys, root, &shape_subsys) {
		if (!node_linked(group->parent, subsys->name))
			continue;
		for_each_node(ns, subsys, &shape_ns) {
			if (moves(ns) && !strcmp(group_of(ns), group->name))
				return true;
		}
	}
	return false;
}

void standby(const struct node *have, struct node *want)
{
	const struct node *was;
	struct node *port, *group;

	for_each_node(port, want, &shape_port) {
		add_groups(port, want);
		for_each_node(group, port, &shape_ana) {
			if (!is_of_such(group, want))
				continue;
			was = node_find(have, &shape_port, port->name);
			was = was ? node_find(was, &shape_ana, group->name) : NULL;
			node_set(group, "ana_state",
				 (was ? node_get(was, "ana_state") : NULL) ?: "inaccessible");
		}
	}
}
