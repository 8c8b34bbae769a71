/* SPDX-License-Identifier: GPL-2.0 */
/* Where data is, by whatever name it was called, and what is made of it */
#ifndef NVMERDMA_PLACE_H
#define NVMERDMA_PLACE_H

#include <sys/types.h>

#include "base.h"

/* A block device or a file: all of its names lead to one place */
struct place {
	bool file;
	dev_t dev;		/* the block device; of a file that of its file system */
	ino_t ino;		/* of a file */
};

/* place_of() - where a name leads to; 0, or -1 with errno: ENOTBLK for what is neither */
int place_of(const char *path, struct place *place);

/* place_at() - the block device whose directory in sysfs is @dir; false: none */
bool place_at(const char *dir, struct place *place);

bool place_same(const struct place *a, const struct place *b);

/*
 * place_is_on() - whether a write to @upper may change data of @lower
 *
 * That is so of a partition and its disk, of a device of md or device mapper and what it
 * is made of, of a loop device and its file or device, and of what is on these in turn.
 * A place is on itself.
 */
bool place_is_on(const struct place *upper, const struct place *lower);

/* place_sysfs() - the directory of a block device in sysfs */
const char *place_sysfs(const struct place *place);

/* place_behind_loop() - what a loop device is on; false: it is none, or has nothing */
bool place_behind_loop(const struct place *loop, struct place *below);

/* place_loop() - "loop0", the first loop device that is right on a place; NULL: none is */
const char *place_loop(const struct place *place);

#endif
