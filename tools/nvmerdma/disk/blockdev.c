// SPDX-License-Identifier: GPL-2.0
/* Where data is. What a device is made of, sysfs tells, and of loop devices they themselves. */
#include "disk/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Devices upon devices: no machine has so many, and a circle ends */
#define DEPTH_MAX	16

struct places {
	struct place *place;
	size_t nr;
};

int place_of(const char *path, struct place *place)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	*place = (struct place) { .dev = st.st_rdev };
	if (S_ISBLK(st.st_mode))
		return 0;
	*place = (struct place) { .file = true, .dev = st.st_dev, .ino = st.st_ino };
	if (S_ISREG(st.st_mode))
		return 0;
	errno = ENOTBLK;
	return -1;
}

bool place_at(const char *dir, struct place *place)
{
	const char *text = file_read("%s/dev", dir);
	unsigned int maj, min;

	if (!text || sscanf(text, "%u:%u", &maj, &min) != 2)
		return false;
	*place = (struct place) { .dev = makedev(maj, min) };
	return true;
}

bool place_same(const struct place *a, const struct place *b)
{
	return a->file == b->file && a->dev == b->dev && a->ino == b->ino;
}

bool place_leads(const char *path, const struct place *place)
{
	struct place there;

	return *path == '/' && !place_of(path, &there) && place_same(&there, place);
}

const char *place_sysfs(const struct place *place)
{
	return mem_fmt("/sys/dev/block/%u:%u", major(place->dev), minor(place->dev));
}

/* ---- what a place is made of ---- */

/*
 * The name that a loop device was given may have gone, or be another file's by now: the
 * device itself knows which file it has open. Without its node the name has to do.
 */
static bool behind_loop(const char *dir, struct place *place)
{
	const char *name = file_read("%s/loop/backing_file", dir), *node;
	struct loop_info64 info;
	struct place loop;
	int fd, err = -1;

	if (!name || !place_at(dir, &loop))
		return false;
	node = mem_fmt("/dev/block/%u:%u", major(loop.dev), minor(loop.dev));
	if (!file_there("%s", node))
		node = mem_fmt("/dev/loop%u", minor(loop.dev));
	fd = open(node, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		err = ioctl(fd, LOOP_GET_STATUS64, &info);
		close(fd);
	}
	if (err)
		return !place_of(name, place);
	*place = info.lo_rdevice ? (struct place) { .dev = info.lo_rdevice } :
		 (struct place) { .file = true, .dev = info.lo_device, .ino = info.lo_inode };
	return true;
}

static struct places right_below(const struct place *place)
{
	const char *dir = place_sysfs(place);
	struct names slaves = names_in("%s/slaves", dir);
	struct places below = { 0 };
	struct place one;
	size_t i;

	if (file_there("%s/partition", dir) && place_at(mem_fmt("%s/..", dir), &one))
		mem_push(below.place, below.nr, one);
	if (behind_loop(dir, &one))
		mem_push(below.place, below.nr, one);
	for (i = 0; i < slaves.nr; i++) {
		if (place_at(mem_fmt("%s/slaves/%s", dir, slaves.name[i]), &one))
			mem_push(below.place, below.nr, one);
	}
	return below;
}

static bool is_on(const struct place *upper, const struct place *lower, unsigned int depth)
{
	struct places below;
	size_t i;

	if (place_same(upper, lower))
		return true;
	if (upper->file || !depth)
		return false;
	below = right_below(upper);
	for (i = 0; i < below.nr; i++) {
		if (is_on(&below.place[i], lower, depth - 1))
			return true;
	}
	return false;
}

bool place_is_on(const struct place *upper, const struct place *lower)
{
	return is_on(upper, lower, DEPTH_MAX);
}

bool place_behind_loop(const struct place *loop, struct place *below)
{
	return behind_loop(place_sysfs(loop), below);
}

const char *place_loop(const struct place *place)
{
	struct names blocks = names_in("/sys/block");
	struct place behind;
	size_t i;

	for (i = 0; i < blocks.nr; i++) {
		if (behind_loop(mem_fmt("/sys/block/%s", blocks.name[i]), &behind) &&
		    place_same(&behind, place))
			return blocks.name[i];
	}
	return NULL;
}
