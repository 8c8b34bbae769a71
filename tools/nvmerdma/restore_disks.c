// SPDX-License-Identifier: GPL-2.0
/*
 * Disks that a restore would export. The file names them as they were: since then one may
 * have been mounted, and a name of the kernel's may be another disk's.
 */
#include "restore_disks.h"

#include <errno.h>
#include <string.h>

#include "disk.h"
#include "identity.h"

/* Whether a namespace is enabled on that disk */
static bool is_on(const struct node *ns, const char *path)
{
	const char *was = ns ? node_get(ns, "device_path") : NULL;
	struct place a, b;

	if (!was || !node_is(ns, "enable", "1"))
		return false;
	return !strcmp(was, path) ||
	       (!place_of(was, &a) && !place_of(path, &b) && place_same(&a, &b));
}

/* Another namespace that is to be enabled on the same data */
static const char *twice(const struct disk *disk, const struct node *but)
{
	const struct node *subsys, *ns;
	const char *clash;

	for_each_node(subsys, but->parent->parent, &shape_subsys) {
		for_each_node(ns, subsys, &shape_ns) {
			clash = ns != but && node_is(ns, "enable", "1") ?
				disk_clash(disk, ns) : NULL;
			if (clash)
				return mem_fmt("%s to be %s as well", clash, node_words(ns));
		}
	}
	return NULL;
}

static const char *refusal(const struct node *ns, const char *path)
{
	const char *uuid = node_get(ns, "device_uuid"), *why;
	struct disk disk;

	if (!file_there("%s", path))
		return mem_fmt("there is no %s", path);
	why = disk_look(path, &disk);
	if (!why)
		why = disk_user(&disk);
	if (!why)
		why = twice(&disk, ns);
	return why ?: uuid ? identity_differs(&disk, uuid) : NULL;
}

static void check(const struct node *had, struct node *ns, enum refused_disks then)
{
	const char *path = node_get(ns, "device_path"), *why;

	if (!node_is(ns, "enable", "1") || !path || !*path || is_on(had, path))
		return;
	why = refusal(ns, path);
	if (!why)
		return;
	switch (then) {
	case REFUSED_FAIL:
		complain("%s cannot be exported: %s", node_words(ns), why);
		break;
	case REFUSED_LEAVE:
		warn("%s is left disabled: %s", node_words(ns), why);
		node_set(ns, "enable", "0");
		break;
	case REFUSED_SAY:
		warn("%s cannot be exported, and nothing would be changed: %s", node_words(ns),
		     why);
		break;
	}
}

int restore_disks(const struct node *have, struct node *want, enum refused_disks then)
{
	unsigned int before = complaints();
	const struct node *had;
	struct node *subsys, *ns;

	for_each_node(subsys, want, &shape_subsys) {
		had = node_find(have, &shape_subsys, subsys->name);
		for_each_node(ns, subsys, &shape_ns)
			check(had ? node_find(had, &shape_ns, ns->name) : NULL, ns, then);
	}
	if (complaints() == before)
		return 0;
	return complain("nothing was changed; --without-missing leaves such disks disabled, and exports the others");
}
