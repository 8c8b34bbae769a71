// SPDX-License-Identifier: GPL-2.0
/*
 * Who uses a disk that is to be exported: the data of two who write without knowing of
 * each other would be lost. nvmet itself asks nobody.
 *
 * The kernel's own answer is an exclusive open of the device, which mounts, swap, md,
 * device mapper, DRBD and others keep; what is asked before that finds words for it.
 */
#include "disk.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool is_device(const char *path, dev_t dev)
{
	struct stat st;

	return *path == '/' && !stat(path, &st) && S_ISBLK(st.st_mode) && st.st_rdev == dev;
}

static dev_t parse_dev(const char *text)
{
	unsigned int maj, min;

	return text && sscanf(text, "%u:%u", &maj, &min) == 2 ? makedev(maj, min) : 0;
}

/* The lines of a file of /proc, one after the other; NULL: no more */
static char *next_line(char **rest)
{
	char *line = *rest, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end = 0;
	*rest = end ? end + 1 : NULL;
	return line;
}

/*
 * mountinfo: "36 35 98:0 /root /mountpoint options - type source superoptions". A file
 * system may say another device than its own, as btrfs does; the source has that.
 */
static const char *mounted_at(dev_t dev)
{
	char *rest = file_read("/proc/self/mountinfo"), *line;

	while ((line = next_line(&rest))) {
		char numbers[32], at[4096], source[4096];
		const char *behind = strstr(line, " - ");

		if (sscanf(line, "%*s %*s %31s %*s %4095s", numbers, at) != 2)
			continue;
		if (parse_dev(numbers) == dev)
			return mem_str(at);
		if (behind && sscanf(behind, " - %*s %4095s", source) == 1 &&
		    is_device(source, dev))
			return mem_str(at);
	}
	return NULL;
}

static bool is_swap(const struct disk *disk, dev_t dev)
{
	char *rest = file_read("/proc/swaps"), *line;

	next_line(&rest);		/* the heads */
	while ((line = next_line(&rest))) {
		char path[4096];

		if (sscanf(line, "%4095s", path) != 1)
			continue;
		if (dev ? is_device(path, dev) : !strcmp(path, disk->real))
			return true;
	}
	return false;
}

/* "md0", "dm-3": what it is, in words */
static const char *holder_words(const char *holder)
{
	const char *uuid = file_read("/sys/block/%s/dm/uuid", holder);
	const char *name = file_read("/sys/block/%s/dm/name", holder);

	if (!strncmp(holder, "md", 2))
		return mem_fmt("the md RAID /dev/%s", holder);
	if (!strncmp(holder, "drbd", 4))
		return mem_fmt("DRBD: export /dev/%s, which is on it", holder);
	if (!uuid || !name)
		return mem_fmt("/dev/%s", holder);
	if (!strncmp(uuid, "LVM-", 4))
		return mem_fmt("LVM: the logical volume /dev/mapper/%s is on it", name);
	if (!strncmp(uuid, "CRYPT-", 6))
		return mem_fmt("the encrypted device /dev/mapper/%s", name);
	if (!strncmp(uuid, "mpath-", 6))
		return mem_fmt("multipath: export /dev/mapper/%s instead", name);
	return mem_fmt("the device /dev/mapper/%s", name);
}

/* What the device's own data says that it is for, or NULL */
static const char *signature(const char *path)
{
	blkid_probe probe = blkid_new_probe_from_filename(path);
	const char *type = NULL;

	if (!probe)
		return NULL;
	if (blkid_do_safeprobe(probe) == 0 && !blkid_probe_lookup_value(probe, "TYPE", &type, NULL))
		type = mem_str(type);
	blkid_free_probe(probe);
	return type;
}

static const char *holder_by_signature(const char *path)
{
	const char *type = signature(path);

	if (!type)
		return "somebody: the kernel does not open it exclusively";
	if (!strcmp(type, "drbd"))
		return "DRBD: export the /dev/drbdN which is on it";
	if (!strcmp(type, "LVM2_member"))
		return "LVM";
	if (!strcmp(type, "linux_raid_member"))
		return "md RAID";
	return mem_fmt("somebody (%s)", type);
}

/* Who uses the device of that number, whose directory in sysfs is @dir; NULL: nobody */
static const char *user_of(const struct disk *disk, dev_t dev, const char *dir)
{
	const char *at = mounted_at(dev);
	struct names holders;

	if (at)
		return mem_fmt("is mounted at %s", at);
	if (is_swap(disk, dev))
		return "is used as swap";
	holders = names_in("%s/holders", dir);
	if (holders.nr)
		return mem_fmt("is used by %s", holder_words(holders.name[0]));
	return NULL;
}

static int check_block(const struct disk *disk)
{
	const char *dir = mem_fmt("/sys/dev/block/%u:%u", major(disk->dev), minor(disk->dev));
	const char *user = user_of(disk, disk->dev, dir);
	struct names parts = names_in("%s", dir);
	size_t i;
	int fd;

	if (user)
		return complain("%s %s", disk->path, user);
	for (i = 0; i < parts.nr; i++) {
		const char *part = mem_fmt("%s/%s", dir, parts.name[i]);

		if (!file_there("%s/partition", part))
			continue;
		user = user_of(disk, parse_dev(file_read("%s/dev", part)), part);
		if (user)
			return complain("%s: its partition %s %s", disk->path, parts.name[i],
					user);
	}
	fd = open(disk->real, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		return complain("%s is used by %s", disk->path, holder_by_signature(disk->real));
	if (fd < 0)
		return complain("%s cannot be opened: %m", disk->path);
	close(fd);
	return 0;
}

/* A file is behind a loop device, or swap; of others that have it open nobody knows */
static int check_file(const struct disk *disk)
{
	struct names blocks = names_in("/sys/block");
	size_t i;

	if (is_swap(disk, 0))
		return complain("%s is used as swap", disk->path);
	for (i = 0; i < blocks.nr; i++) {
		const char *backing = file_read("/sys/block/%s/loop/backing_file",
						blocks.name[i]);
		const char *at;

		if (!backing || strcmp(backing, disk->real))
			continue;
		at = mounted_at(parse_dev(file_read("/sys/block/%s/dev", blocks.name[i])));
		if (at)
			return complain("%s is the file of a file system: /dev/%s is on it, and mounted at %s",
					disk->path, blocks.name[i], at);
		return complain("%s is used by /dev/%s ('losetup -d /dev/%s' ends that)",
				disk->path, blocks.name[i], blocks.name[i]);
	}
	return 0;
}

/* nvmet opens a device together with others: twice the same would not be noticed */
static int check_exported(const struct disk *disk, const struct node *have)
{
	const struct node *subsys, *ns;
	const char *path;

	for_each_node(subsys, have, &shape_subsys) {
		for_each_node(ns, subsys, &shape_ns) {
			path = node_get(ns, "device_path");
			if (path && disk_is(disk, path))
				return complain("%s is exported already, as %s", disk->path,
						node_words(ns));
		}
	}
	return 0;
}

int disk_is_free(const struct disk *disk, const struct node *have)
{
	if (check_exported(disk, have))
		return -1;
	return disk->file ? check_file(disk) : check_block(disk);
}
