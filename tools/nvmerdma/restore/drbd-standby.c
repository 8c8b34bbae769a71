// SPDX-License-Identifier: GPL-2.0
/* Disks of which nvmerdma-ha says whether this machine serves them */
#include "restore/restore.h"

#include <string.h>

#include "disk/disk.h"

/* Its name for a disk of the device mapper: this and that of DRBD's resource */
#define MAPPED	"nvmerdma-"

static const char *behind(const char *text, const char *beginning)
{
	size_t len = strlen(beginning);

	return text && !strncmp(text, beginning, len) ? text + len : NULL;
}

/* At a boot the disk may not be there yet: then its name has to tell */
const char *standby_resource(const char *path)
{
	const char *name = behind(path, "/dev/mapper/" MAPPED) ?:
			   behind(path, "/dev/disk/by-id/dm-name-" MAPPED);
	struct place place;

	if (name || !path || place_of(path, &place) || place.file)
		return name;
	return behind(file_read("%s/dm/name", place_sysfs(&place)), MAPPED);
}

static const char *resource_of(const struct node *ns)
{
	return standby_resource(node_get(ns, "device_path"));
}

static const char *group_of(const struct node *ns)
{
	return node_get(ns, "ana_grpid") ?: schema_default(&schema_ns, "ana_grpid");
}

static bool is_taken(const struct node *root, const struct node *but, const char *id)
{
	const struct node *subsys, *ns;

	for_each_node(subsys, root, &schema_subsys) {
		for_each_node(ns, subsys, &schema_ns) {
			if (ns != but && !strcmp(group_of(ns), id))
				return true;
		}
	}
	return false;
}

void standby_own_group(const struct node *root, struct node *ns)
{
	unsigned int nr;

	if (!resource_of(ns))
		return;
	for (nr = 2; nr <= schema_ana.max; nr++) {
		const char *id = mem_fmt("%u", nr);

		if (!is_taken(root, ns, id)) {
			node_set(ns, "ana_grpid", id);
			return;
		}
	}
}

/* The state that a port of @have tells hosts of this very disk; NULL: it does not offer it */
static const char *state_before(const struct node *have, const struct node *port,
				const struct node *ns)
{
	const struct node *was = node_same(have, ns), *there = node_same(have, port), *group;
	const char *path = was ? node_get(was, "device_path") : NULL;

	if (!path || strcmp(path, node_get(ns, "device_path")) ||
	    strcmp(group_of(was), group_of(ns)) ||
	    !there || !node_linked(there, ns->parent->name))
		return NULL;
	group = node_find(there, &schema_ana, group_of(ns));
	return group ? node_get(group, "ana_state") : NULL;
}

/* For each such disk, by each port that is to offer it */
static void at_each_offer(const struct node *have, struct node *want,
			  void (*call)(const struct node *have, struct node *port,
				       const struct node *ns))
{
	const struct node *subsys, *ns;
	struct node *port;

	for_each_node(port, want, &schema_port) {
		for_each_node(subsys, want, &schema_subsys) {
			if (!node_linked(port, subsys->name))
				continue;
			for_each_node(ns, subsys, &schema_ns) {
				if (resource_of(ns))
					call(have, port, ns);
			}
		}
	}
}

/* A port has group 1 in any case, and it begins as optimized; a file need not name it */
static void keep_state(const struct node *have, struct node *port, const struct node *ns)
{
	node_set(node_add(port, &schema_ana, group_of(ns)), "ana_state",
		 state_before(have, port, ns) ?: "inaccessible");
}

void standby_apply(const struct node *have, struct node *want)
{
	at_each_offer(have, want, keep_state);
}

static void say_others(const struct node *port, const struct node *of)
{
	const struct node *subsys, *ns;

	for_each_node(subsys, port->parent, &schema_subsys) {
		if (!node_linked(port, subsys->name))
			continue;
		for_each_node(ns, subsys, &schema_ns) {
			if (!resource_of(ns) && !strcmp(group_of(ns), group_of(of)))
				note_msg("%s is in the same ANA group, %s, and not served either: give one of them another ana_grpid",
					 node_words(ns), group_of(ns));
		}
	}
}

static void say_new(const struct node *have, struct node *port, const struct node *ns)
{
	if (state_before(have, port, ns))
		return;
	note_msg("%s is not served by port %s here until 'nvmerdma-ha promote %s': hosts are told that it is inaccessible",
		 node_words(ns), port->name, resource_of(ns));
	say_others(port, ns);
}

void standby_report(const struct node *have, const struct node *want)
{
	at_each_offer(have, (struct node *)want, say_new);
}
