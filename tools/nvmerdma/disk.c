// SPDX-License-Identifier: GPL-2.0
/* What is to be exported: what it is, and what is known of it */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* nvmet gives a file blocks of at least this */
#define BLOCK_MIN	512

/* ---- a block device ---- */

static const char *block_file(const struct disk *disk, const char *name)
{
	const char *text = file_read("/sys/dev/block/%u:%u/%s", major(disk->dev),
				     minor(disk->dev), name);

	return text && *text ? text : NULL;
}

/* Of a partition, the disk that it is on comes with its number */
static const char *block_identity(const struct disk *disk)
{
	static const char * const files[] = {
		"wwid", "uuid", "device/wwid", "dm/uuid", "md/uuid", "serial", "device/serial",
		"loop/backing_file",
	};
	const char *part = block_file(disk, "partition"), *id;
	size_t i;

	for (i = 0; i < NR(files); i++) {
		id = block_file(disk, mem_fmt("%s%s", part ? "../" : "", files[i]));
		if (id)
			return mem_fmt("%s %s%s%s", files[i], id, part ? " partition " : "",
				       part ?: "");
	}
	return NULL;
}

static int look_at_block(struct disk *disk)
{
	const char *id = block_identity(disk), *slash = strrchr(disk->real, '/');
	const char *ro = block_file(disk, "ro");

	if (ro && strcmp(ro, "0"))
		return complain("%s is read-only, and nvmet opens what it exports for writing",
				disk->path);
	disk->stable = id;
	disk->identity = id ?: mem_fmt("name %s", slash ? slash + 1 : disk->real);
	return 0;
}

/* ---- a file ---- */

static int look_at_file(struct disk *disk)
{
	int fd = open(disk->real, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return complain("%s cannot be opened for reading and writing: %m", disk->path);
	close(fd);
	fd = open(disk->real, O_RDWR | O_DIRECT | O_CLOEXEC);
	disk->buffered = fd < 0;
	if (fd >= 0)
		close(fd);
	disk->file = true;
	disk->identity = mem_fmt("file %s", disk->real);
	disk->stable = true;
	return 0;
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

int disk_look(const char *path, struct disk *disk)
{
	struct stat st;
	char *real = realpath(path, NULL);
	int err;

	if (!real)
		return complain("%s: %m", path);
	*disk = (struct disk) { .path = mem_str(path), .real = mem_str(real) };
	free(real);
	if (*path != '/')
		disk->path = disk->real;
	if (stat(disk->real, &st))
		return complain("%s: %m", path);
	disk->dev = st.st_rdev;
	disk->bytes = disk_bytes(disk->real);
	if (S_ISBLK(st.st_mode))
		err = look_at_block(disk);
	else if (S_ISREG(st.st_mode))
		err = look_at_file(disk);
	else
		return complain("%s is %s: a block device or a file can be exported", path,
				S_ISDIR(st.st_mode) ? "a directory" :
				S_ISCHR(st.st_mode) ? "a character device" : "neither a block device nor a file");
	if (!err && disk->bytes < BLOCK_MIN)
		return complain("%s has %s: there is nothing to export%s", path,
				word_for(disk->bytes, "byte"),
				disk->file ? mem_fmt("; 'truncate -s 10G %s' would give it a size",
						     path) : "");
	return err;
}

bool disk_is(const struct disk *disk, const char *device_path)
{
	struct stat st;
	bool same;
	char *real;

	if (!disk->file)
		return !stat(device_path, &st) && S_ISBLK(st.st_mode) &&
		       st.st_rdev == disk->dev;
	real = realpath(device_path, NULL);
	same = real && !strcmp(real, disk->real);
	free(real);
	return same;
}
