/* SPDX-License-Identifier: GPL-2.0 */
/* What is to be exported: a block device or a file */
#ifndef NVMERDMA_DISK_H
#define NVMERDMA_DISK_H

#include "node.h"
#include "place.h"

struct disk {
	const char *path;	/* as it was given, made absolute */
	const char *real;	/* where that leads to */
	/* What is to be configured: a name that stays, if there is one */
	const char *kept;
	struct place place;
	bool buffered;		/* a file whose file system has no direct I/O */
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
 * NULL, or why it cannot be exported, in words: "/dev/x has 0 bytes..."; read-only...
 */
const char *disk_look(const char *path, struct disk *disk);

/* disk_bytes() - the size of a block device or a file; 0 if it is not known */
uint64_t disk_bytes(const char *path);

/*
 * disk_identity() - what tells a block device from others: "wwid eui.0025385b71b0a1e2"
 *
 * NULL if only the kernel's name does.
 */
const char *disk_identity(const struct place *place);

/* disk_user() - who uses it, in words: "/dev/x is mounted at /mnt"; NULL: nobody */
const char *disk_user(const struct disk *disk);

#endif
