// SPDX-License-Identifier: GPL-2.0
/* What is to be exported: what it is, and what is known of it */
#include "disk.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lasting.h"

/* nvmet gives a file blocks of at least this */
#define BLOCK_MIN	512

/* ---- a block device ---- */

static const char *block_file(const struct place *place, const char *name)
{
	const char *text = file_read("%s/%s", place_sysfs(place), name);

	return text && *text ? text : NULL;
}

/* Of a partition, the disk that it is on comes with its number */
const char *disk_identity(const struct place *place)
{
	static const char * const files[] = {
		"wwid", "uuid", "device/wwid", "dm/uuid", "md/uuid", "serial", "device/serial",
		"loop/backing_file",
	};
	const char *part = block_file(place, "partition"), *id;
	size_t i;

	for (i = 0; i < NR(files); i++) {
		id = block_file(place, mem_fmt("%s%s", part ? "../" : "", files[i]));
		if (id)
			return mem_fmt("%s %s%s%s", files[i], id, part ? " partition " : "",
				       part ?: "");
	}
	return NULL;
}

static const char *look_at_block(struct disk *disk)
{
	const char *id = disk_identity(&disk->place), *slash = strrchr(disk->real, '/');
	const char *ro = block_file(&disk->place, "ro");

	if (ro && strcmp(ro, "0"))
		return mem_fmt("%s is read-only, and nvmet opens what it exports for writing",
			       disk->path);
	disk->stable = id;
	disk->identity = id ?: mem_fmt("name %s", slash ? slash + 1 : disk->real);
	if (!lasting_is(disk->path))
		disk->kept = lasting_name(&disk->place) ?: disk->real;
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
	disk->stable = true;
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
			       word_for(disk->bytes, "byte"),
			       disk->place.file ?
			       mem_fmt("; 'truncate -s 10G %s' would give it a size", path) : "");
	return why;
}
