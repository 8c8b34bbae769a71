/* SPDX-License-Identifier: GPL-2.0 */
/* What is to be exported: a block device or a file */
#ifndef NVMERDMA_DISK_H
#define NVMERDMA_DISK_H

#include <sys/types.h>

#include "node.h"

struct disk {
	const char *path;	/* as it was given, made absolute */
	const char *real;	/* where that leads to */
	bool file;
	bool buffered;		/* a file whose file system has no direct I/O */
	dev_t dev;		/* of a block device */
	uint64_t bytes;
	/* Tells it from all others of this machine, and is the same after a reboot: a serial
	 * number, a UUID, of a file its path; @stable is false if only the kernel's name is left
	 */
	const char *identity;
	bool stable;
};

/*
 * disk_look() - what is there
 *
 * 0, or -1 and it was said: nothing there, a directory, no size, read-only...
 */
int disk_look(const char *path, struct disk *disk);

/* disk_bytes() - the size of a block device or a file; 0 if it is not known */
uint64_t disk_bytes(const char *path);

/*
 * disk_is_free() - may it be exported?
 * @disk: the disk
 * @have: what is exported already
 *
 * 0, or -1: who uses it was said.
 */
int disk_is_free(const struct disk *disk, const struct node *have);

/* disk_is() - whether a namespace's device_path is that disk */
bool disk_is(const struct disk *disk, const char *device_path);

#endif
