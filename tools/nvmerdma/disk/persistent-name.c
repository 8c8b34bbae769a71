// SPDX-License-Identifier: GPL-2.0
/*
 * Names of disks that stay. /dev/sdb and /dev/nvme0n1 are numbered as they come: after a
 * reboot, or without a disk that died, they may be another disk's.
 */
#include "disk/disk.h"

#include <string.h>
#include <sys/stat.h>

#define BY_ID	"/dev/disk/by-id"
#define MAPPER	"/dev/mapper"

/* Where udev makes links for disks that have no serial number: of ZFS (the pool's name and the
 * zvol's), of Ceph (pool and image), of DRBD (resource and volume), of bcache (a UUID)
 */
static const char * const trees[] = {
	"/dev/zvol", "/dev/rbd", "/dev/drbd/by-res", "/dev/bcache/by-uuid",
};

static bool is_in(const char *path, const char *dir)
{
	return !strncmp(path, dir, strlen(dir)) && path[strlen(dir)] == '/';
}

/* By what the kernel counts, or of the process: no name at all, be it a link */
static bool is_number(const char *path)
{
	return is_in(path, "/dev/block") || is_in(path, "/dev/disk/by-diskseq") ||
	       is_in(path, "/dev/fd") || is_in(path, "/proc");
}

bool persistent_is(const char *path)
{
	struct stat st;

	return is_in(path, MAPPER) ||
	       (!lstat(path, &st) && S_ISLNK(st.st_mode) && !is_number(path));
}

bool persistent_made(const char *path)
{
	size_t i;

	for (i = 0; i < NR(trees); i++) {
		if (is_in(path, trees[i]))
			return true;
	}
	return is_in(path, MAPPER) || is_in(path, BY_ID);
}

/* A link in by-id that udev made of what identifies a disk; others, as by a name that an
 * administrator gave, or by the slot, lead to whatever is there now
 */
bool persistent_sure(const char *path)
{
	static const char * const names[] = { "dm-name-", "md-name-", "lvm-pv-uuid-" };
	const char *name = path + strlen(BY_ID "/");
	size_t i;

	if (!is_in(path, BY_ID))
		return false;
	for (i = 0; i < NR(names); i++) {
		if (!strncmp(name, names[i], strlen(names[i])))
			return false;
	}
	return true;
}

/*
 * Identifiers of the disk itself are each another one's. Of the others, model and serial
 * number, the form without the namespace's number is shared by those of one controller.
 * What a disk holds, as a physical volume of LVM, says nothing of which disk it is.
 */
static unsigned int rank(const char *name)
{
	static const char * const sure[] = {
		"nvme-eui.", "nvme-uuid.", "nvme-nvme.", "wwn-", "md-uuid-", "dm-uuid-",
	};
	size_t i;

	for (i = 0; i < NR(sure); i++) {
		if (!strncmp(name, sure[i], strlen(sure[i])))
			return 2;
	}
	return !strncmp(name, "lvm-pv-uuid-", strlen("lvm-pv-uuid-")) ? 0 : 1;
}

bool persistent_better(const char *a, const char *b)
{
	return rank(a) > (b ? rank(b) : 0);
}

static const char *by_id(const struct place *place)
{
	struct names names = names_in(BY_ID);
	const char *best = NULL;
	size_t i;

	for (i = 0; i < names.nr; i++) {
		if (persistent_better(names.name[i], best) &&
		    place_leads(mem_fmt(BY_ID "/%s", names.name[i]), place))
			best = names.name[i];
	}
	return best ? mem_fmt(BY_ID "/%s", best) : NULL;
}

static void add_links(struct names *links, const char *dir)
{
	const struct names names = names_in("%s", dir);
	struct stat st;
	size_t i;

	for (i = 0; i < names.nr; i++) {
		char *path = mem_fmt("%s/%s", dir, names.name[i]);

		if (lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode)) {
			add_links(links, path);
		} else {
			links->name = mem_grow(links->name, links->nr, sizeof(*links->name));
			links->name[links->nr++] = path;
		}
	}
}

static struct names in_trees(void)
{
	struct names links = { 0 };
	size_t i;

	for (i = 0; i < NR(trees); i++)
		add_links(&links, trees[i]);
	return links;
}

struct names persistent_all(void)
{
	struct names links = in_trees();

	add_links(&links, MAPPER);
	add_links(&links, BY_ID);
	return links;
}

const char *persistent_name(const struct place *place)
{
	const char *mapped = file_read("%s/dm/name", place_sysfs(place));
	struct names links;
	size_t i;

	if (mapped && place_leads(mem_fmt(MAPPER "/%s", mapped), place))
		return mem_fmt(MAPPER "/%s", mapped);
	links = in_trees();
	for (i = 0; i < links.nr; i++) {
		if (place_leads(links.name[i], place))
			return links.name[i];
	}
	return by_id(place);
}

const char *persistent_sure_name(const struct place *place)
{
	const char *name = by_id(place);

	return name && persistent_sure(name) ? name : NULL;
}
