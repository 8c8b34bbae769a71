// SPDX-License-Identifier: GPL-2.0
/* What is to be exported: what it is, and what is known of it */
#include "disk/disk.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* nvmet gives a file blocks of at least this */
#define BLOCK_MIN	512

/* ---- what tells a block device from others ---- */

static const char *block_file(const struct place *place, const char *name)
{
	const char *text = file_read("%s/%s", place_sysfs(place), name);

	return text && *text ? text : NULL;
}

/*
 * md shows a UUID of zeros of an array with another's superblock (IMSM, DDF), and one made up
 * at each start of an array without. The NVMe host makes a wwid,
 * "nvme.VENDOR-SERIAL-MODEL-NSID", of a controller without a serial number, too. Other disks
 * may have the same, or the disk another one after a reboot.
 */
static bool tells(const struct place *place, const char *id)
{
	const char *superblock = block_file(place, "md/metadata_version") ?: "";

	return id[strspn(id, "0-")] && strcmp(superblock, "none") &&
	       (strncmp(id, "nvme.", 5) || !strstr(id, "--"));
}

/* Of a part of a file, which part; the name of a disk that it is on may be another's */
static const char *loop_identity(const struct place *loop)
{
	const char *file = block_file(loop, "loop/backing_file"), *id;
	uint64_t offset = file_u64(0, "%s/loop/offset", place_sysfs(loop));
	struct place below;

	if (!file)
		return NULL;
	id = mem_fmt("loop/backing_file %s", file);
	if (place_behind_loop(loop, &below) && !below.file) {
		id = disk_own_identity(&below);
		id = id ? mem_fmt("loop on %s", id) : NULL;
	}
	return id && offset ? mem_fmt("%s offset %llu", id, (unsigned long long)offset) : id;
}

static const char *identity_of_whole(const struct place *place)
{
	static const char * const files[] = {
		"wwid", "uuid", "device/wwid", "dm/uuid", "md/uuid", "serial", "device/serial",
		"device/uuid",		/* of persistent memory */
	};
	const char *id;
	size_t i;

	for (i = 0; i < NR(files); i++) {
		id = block_file(place, files[i]);
		if (id && tells(place, id))
			return mem_fmt("%s %s", files[i], id);
	}
	return loop_identity(place);
}

/* The disk that a partition is on, and its number; else the disk itself, and NULL */
static const char *partition_of(const struct place *place, struct place *whole)
{
	const char *part = block_file(place, "partition");

	if (part && place_at(mem_fmt("%s/..", place_sysfs(place)), whole))
		return part;
	*whole = *place;
	return NULL;
}

static const char *with_partition(const char *id, const char *part)
{
	return id && part ? mem_fmt("%s partition %s", id, part) : id;
}

const char *disk_own_identity(const struct place *place)
{
	struct place whole;
	const char *part = partition_of(place, &whole);

	return with_partition(identity_of_whole(&whole), part);
}

const char *disk_named_identity(const char *name)
{
	return mem_fmt("link %s", name);
}

/* diskseq: the kernel gives no two disks of a boot the same, and not by their names */
const char *disk_boot_identity(const struct place *place)
{
	struct place whole;
	const char *part = partition_of(place, &whole), *nr = block_file(&whole, "diskseq");
	const char *boot = file_read("/proc/sys/kernel/random/boot_id");

	return with_partition(mem_fmt("boot %s disk %s", boot ?: "", nr ?: place_sysfs(&whole)),
			      part);
}

/* A name that stays: that which was given, if it is of those that udev makes; else the one
 * that udev made, so that it is the same by any other name; else a link that somebody made
 */
static const char *name_of(const struct disk *disk)
{
	if (persistent_made(disk->path))
		return disk->path;
	return persistent_name(&disk->place) ?: (persistent_is(disk->path) ? disk->path : NULL);
}

/* ---- a block device ---- */

static const char *look_at_block(struct disk *disk)
{
	const char *ro = block_file(&disk->place, "ro"), *name;

	if (ro && strcmp(ro, "0"))
		return mem_fmt("%s is read-only, and nvmet opens what it exports for writing",
			       disk->path);
	if (!persistent_is(disk->path))
		disk->kept = persistent_name(&disk->place) ?: disk->real;
	disk->identity = disk_own_identity(&disk->place);
	if (disk->identity)
		return NULL;
	name = name_of(disk);
	disk->told = name ? TOLD_BY_NAME : TOLD_BY_BOOT;
	disk->identity = name ? disk_named_identity(name) : disk_boot_identity(&disk->place);
	return NULL;
}

/* ---- a file ---- */

static const char *look_at_file(struct disk *disk)
{
	int fd = open(disk->real, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return mem_fmt("%s cannot be opened for reading and writing: %m", disk->path);
	close(fd);
	fd = open(disk->real, O_RDWR | O_DIRECT | O_CLOEXEC);
	disk->buffered = fd < 0;
	if (fd >= 0)
		close(fd);
	disk->identity = mem_fmt("file %s", disk->real);
	disk->told = TOLD_BY_NAME;
	return NULL;
}

uint64_t disk_bytes(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	if (S_ISREG(st.st_mode))
		return st.st_size;
	/* in sectors of 512 bytes, whatever the disk's are */
	return S_ISBLK(st.st_mode) ? 512 * file_u64(0, "/sys/dev/block/%u:%u/size",
						     major(st.st_rdev), minor(st.st_rdev)) : 0;
}

/* nvmet takes what is in front of a new line, and white space at the end is not seen */
static bool is_plain(const char *path)
{
	const char *c;

	for (c = path; *c; c++) {
		if (iscntrl((unsigned char)*c))
			return false;
	}
	return c > path && c[-1] != ' ';
}

static const char *no_disk(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return mem_fmt("%s: %m", path);
	return mem_fmt("%s is %s: a block device or a file can be exported", path,
		       S_ISDIR(st.st_mode) ? "a directory" :
		       S_ISCHR(st.st_mode) ? "a character device" :
		       "neither a block device nor a file");
}

const char *disk_look(const char *path, struct disk *disk)
{
	char *real = realpath(path, NULL);
	const char *why;

	*disk = (struct disk) { .path = mem_str(path), .real = mem_str(real ?: path) };
	free(real);
	if (*path != '/')
		disk->path = disk->real;
	disk->kept = disk->path;
	if (!is_plain(disk->path))
		return mem_fmt("%s: nvmet takes no path with a control character, or a space at its end",
			       safe_words(path));
	if (place_of(disk->real, &disk->place))
		return no_disk(path);
	disk->bytes = disk_bytes(disk->real);
	why = disk->place.file ? look_at_file(disk) : look_at_block(disk);
	if (!why && disk->bytes < BLOCK_MIN)
		return mem_fmt("%s has %s: there is nothing to export%s", path,
			       count_words(disk->bytes, "byte"),
			       disk->place.file ?
			       mem_fmt("; 'truncate -s 10G %s' would give it a size", path) : "");
	return why;
}
