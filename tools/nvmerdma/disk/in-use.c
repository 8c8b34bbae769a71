// SPDX-License-Identifier: GPL-2.0
/*
 * Who uses a disk that is to be exported: the data of two who write without knowing of
 * each other would be lost. nvmet itself asks nobody.
 *
 * The kernel's own answer is an exclusive open of the device, which mounts, swap, md,
 * device mapper, DRBD and others keep; what is asked before that finds words for it.
 */
#include "disk/disk.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <string.h>
#include <unistd.h>

/*
 * Where a table of mounts or of swap, a file of /proc, has a place; NULL: it has not. A file
 * system may say another device than its own, as btrfs does; the source has that.
 */
static const char *in_table(const char *file, const struct place *place)
{
	struct libmnt_table *table = mnt_new_table_from_file(file);
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	const char *at = NULL;

	while (table && iter && !at && !mnt_table_next_fs(table, iter, &fs)) {
		if ((!place->file && mnt_fs_get_devno(fs) == place->dev) ||
		    place_leads(mnt_fs_get_srcpath(fs) ?: "", place))
			at = mem_str(safe_words(mnt_fs_get_target(fs) ?: ""));
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return at;
}

static const char *mounted_at(const struct place *place)
{
	return in_table("/proc/self/mountinfo", place);
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

/* Who has a loop device on it; that keeps nobody from opening what is below */
static const char *loop_user(const struct place *place)
{
	const char *loop = place_loop(place), *at;
	struct place device;

	if (!loop)
		return NULL;
	at = place_at(mem_fmt("/sys/block/%s", loop), &device) ? mounted_at(&device) : NULL;
	if (at)
		return mem_fmt("is the %s of a file system: /dev/%s is on it, and mounted at %s",
			       place->file ? "file" : "device", loop, at);
	return mem_fmt("is used by /dev/%s ('losetup -l /dev/%s' shows how)", loop, loop);
}

/* Who uses a device or file; NULL: nobody */
static const char *user_of(const struct place *place)
{
	const char *at = mounted_at(place);
	struct names holders = { 0 };

	if (at)
		return mem_fmt("is mounted at %s", at);
	if (in_table("/proc/swaps", place))
		return "is used as swap";
	if (!place->file)
		holders = names_in("%s/holders", place_sysfs(place));
	if (holders.nr)
		return mem_fmt("is used by %s", holder_words(holders.name[0]));
	return loop_user(place);
}

static const char *partition_user(const struct disk *disk)
{
	const char *dir = place_sysfs(&disk->place), *user;
	struct names parts = names_in("%s", dir);
	struct place part;
	size_t i;

	for (i = 0; i < parts.nr; i++) {
		const char *of = mem_fmt("%s/%s", dir, parts.name[i]);

		if (!file_there("%s/partition", of) || !place_at(of, &part))
			continue;
		user = user_of(&part);
		if (user)
			return mem_fmt("%s: its partition %s %s", disk->path, parts.name[i], user);
	}
	return NULL;
}

/* Of a file that others have open nobody knows */
const char *disk_user(const struct disk *disk)
{
	const char *user = user_of(&disk->place);
	int fd;

	if (user)
		return mem_fmt("%s %s", disk->path, user);
	if (disk->place.file)
		return NULL;
	user = partition_user(disk);
	if (user)
		return user;
	fd = open(disk->real, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		return mem_fmt("%s is used by %s", disk->path, holder_by_signature(disk->real));
	if (fd < 0)
		return mem_fmt("%s cannot be opened: %m", disk->path);
	close(fd);
	return NULL;
}
