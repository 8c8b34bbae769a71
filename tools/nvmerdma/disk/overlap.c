// SPDX-License-Identifier: GPL-2.0
/* Whether the same data is exported twice, in whatever way and by whatever names */
#include "disk/disk.h"

#include <strings.h>

static const char *with_namespace(const struct disk *disk, const char *path)
{
	struct place there;

	if (place_of(path, &there))
		return NULL;
	if (place_same(&disk->place, &there))
		return mem_fmt("%s is", disk->path);
	if (place_is_on(&disk->place, &there))
		return mem_fmt("%s is on %s, which is", disk->path, path);
	if (place_is_on(&there, &disk->place))
		return mem_fmt("%s has %s on it, which is", disk->path, path);
	return NULL;
}

static const char *with_passthru(const struct disk *disk, const char *path)
{
	struct disks below = passthru_disks(path);
	size_t i;

	for (i = 0; i < below.nr; i++) {
		if (place_is_on(&disk->place, &below.disk[i].place))
			return mem_fmt("%s is on %s, which is", disk->path, path);
	}
	return NULL;
}

static const char *how(const struct disk *disk, const struct node *node, bool enabled)
{
	const char *path = node_get(node, "device_path");

	if (!path || !*path || (enabled && !node_is(node, "enable", "1")))
		return NULL;
	return node->shape == &schema_passthru ? with_passthru(disk, path) :
	       with_namespace(disk, path);
}

struct overlap overlap_find(const struct disk *disk, const struct node *root,
			    const struct node *but, bool enabled)
{
	static const struct schema * const exports[] = { &schema_ns, &schema_passthru };
	const struct node *subsys, *node;
	const char *words;
	size_t i;

	for_each_node(subsys, root, &schema_subsys) {
		for (i = 0; i < NR(exports); i++) {
			for_each_node(node, subsys, exports[i]) {
				words = node != but ? how(disk, node, enabled) : NULL;
				if (words)
					return (struct overlap) { node, words };
			}
		}
	}
	return (struct overlap) { 0 };
}

int overlap_name(const struct node *subsys, bool given)
{
	const struct node *below;
	const char *disks = "", *path;

	for (below = subsys->below; below; below = below->next) {
		path = node_get(below, "device_path");
		if (path && *path)
			disks = mem_fmt("%s%s%s", disks, *disks ? ", " : "", path);
	}
	return error_msg("%s%s exists already, and exports %s: %s", given ? "--nqn: " : "",
			 subsys->name, *disks ? disks : "nothing",
			 given ? "choose another name" : "choose another name with --nqn");
}

int overlap_uuid(const struct node *root, const struct disk *disk, const char *uuid)
{
	const struct node *subsys, *ns;

	for_each_node(subsys, root, &schema_subsys) {
		for_each_node(ns, subsys, &schema_ns) {
			if (!strcasecmp(node_get(ns, "device_uuid") ?: "", uuid))
				return error_msg("%s (%s) would get the UUID %s of %s, on %s; choose another one with --uuid",
						 disk->path, disk->identity, uuid, node_words(ns),
						 node_get(ns, "device_path") ?: "nothing");
		}
	}
	return 0;
}
