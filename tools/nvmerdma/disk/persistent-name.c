// SPDX-License-Identifier: GPL-2.0
/*
 * Names of disks that stay. /dev/sdb and /dev/nvme0n1 are numbered as they come: after a
 * reboot, or without a disk that died, they may be another disk's.
 */
#include "disk/disk.h"

#include <libudev.h>
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
 * Device mapper's own name comes first, then a tree's. Of those in by-id, identifiers of the
 * disk itself are each another one's. Of the others, model and serial number, the form without
 * the namespace's number is shared by those of one controller. What a disk holds, as a physical
 * volume of LVM, says nothing of which disk it is.
 */
static unsigned int rank(const char *path)
{
	static const char * const sure[] = {
		"nvme-eui.", "nvme-uuid.", "nvme-nvme.", "wwn-", "md-uuid-", "dm-uuid-",
	};
	const char *name = path + strlen(BY_ID "/");
	size_t i;

	if (!is_in(path, BY_ID))
		return is_in(path, MAPPER) ? 4 : 3;
	for (i = 0; i < NR(sure); i++) {
		if (!strncmp(name, sure[i], strlen(sure[i])))
			return 2;
	}
	return !strncmp(name, "lvm-pv-uuid-", strlen("lvm-pv-uuid-")) ? 0 : 1;
}

bool persistent_better(const char *a, const char *b)
{
	return rank(a) > (b ? rank(b) : 0) || (b && rank(a) == rank(b) && strverscmp(a, b) < 0);
}

/* udev lists a link of several disks, as of multipath, for each of them */
static void add(struct names *names, const char *path, const struct place *place)
{
	if (!persistent_made(path) || !place_leads(path, place))
		return;
	mem_push(names->name, names->nr, mem_str(path));
}

struct names persistent_names(const struct place *place)
{
	const char *mapped = file_read("%s/dm/name", place_sysfs(place));
	struct udev *udev = udev_new();
	struct udev_device *device = udev_device_new_from_devnum(udev, 'b', place->dev);
	struct udev_list_entry *link = udev_device_get_devlinks_list_entry(device);
	struct names names = { 0 };

	if (mapped)		/* also where nobody runs udev */
		add(&names, mem_fmt(MAPPER "/%s", mapped), place);
	for (; link; link = udev_list_entry_get_next(link))
		add(&names, udev_list_entry_get_name(link), place);
	udev_device_unref(device);
	udev_unref(udev);
	return names;
}

/* The best name; @dir: of those in there; NULL: of all */
static const char *best(const struct place *place, const char *dir)
{
	struct names names = persistent_names(place);
	const char *best = NULL;
	size_t i;

	for (i = 0; i < names.nr; i++) {
		if ((!dir || is_in(names.name[i], dir)) && persistent_better(names.name[i], best))
			best = names.name[i];
	}
	return best;
}

const char *persistent_name(const struct place *place)
{
	return best(place, NULL);
}

const char *persistent_sure_name(const struct place *place)
{
	const char *name = best(place, BY_ID);

	return name && persistent_sure(name) ? name : NULL;
}
