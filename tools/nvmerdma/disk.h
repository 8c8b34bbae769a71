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
	/* Tells it from all others of this machine */
	const char *identity;
	enum told_by {
		TOLD_BY_DISK,	/* a serial number, a UUID: the same by any name */
		TOLD_BY_NAME,	/* a name that stays, or a file's path */
		TOLD_BY_BOOT,	/* the kernel has counted it: until it goes, or a reboot */
	} told;
};

/*
 * disk_look() - what is there
 *
 * NULL, or why it cannot be exported, in words: "/dev/x has 0 bytes..."; read-only...
 */
const char *disk_look(const char *path, struct disk *disk);

/* disk_bytes() - the size of a block device or a file; 0 if it is not known */
uint64_t disk_bytes(const char *path);

/* disk_own_identity() - of a block device, TOLD_BY_DISK: "wwid eui.0025385b71b0a1e2"; NULL: none */
const char *disk_own_identity(const struct place *place);

/* disk_named_identity() - of a block device, TOLD_BY_NAME */
const char *disk_named_identity(const char *name);

/* disk_boot_identity() - of a block device, TOLD_BY_BOOT */
const char *disk_boot_identity(const struct place *place);

/* disk_user() - who uses it, in words: "/dev/x is mounted at /mnt"; NULL: nobody */
const char *disk_user(const struct disk *disk);

#endif
