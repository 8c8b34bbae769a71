/* SPDX-License-Identifier: GPL-2.0 */
/* Disks: where they are, who uses them, and names that survive a reboot */
#ifndef NVMERDMA_DISK_DISK_H
#define NVMERDMA_DISK_DISK_H

#include "common/util.h"
#include "config/tree.h"

#include <sys/types.h>

/* ---- blockdev.c: where data is, by any name, and what is built on it ---- */

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
/* place_leads() - whether an absolute path leads there */
bool place_leads(const char *path, const struct place *place);

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

/* ---- disk.c, in-use.c: a block device or a file that is to be exported ---- */

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

/* disk_look() - what is there; NULL, or why it cannot be exported: "/dev/x has 0 bytes..." */
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

/* ---- persistent-name.c: the kernel's own names may be another disk's after a reboot ---- */

/* persistent_is() - whether a path is such a name: a link of udev, or of device mapper */
bool persistent_is(const char *path);

/* persistent_made() - whether it is one that device mapper, or udev for a kind of disk, has made */
bool persistent_made(const char *path);

/* persistent_sure() - whether it names that very disk, not the one in its place */
bool persistent_sure(const char *path);

/* persistent_sure_name() - such a one of a block device; NULL: udev has made none */
const char *persistent_sure_name(const struct place *place);

/* persistent_name() - one of a block device; NULL: udev has made none */
const char *persistent_name(const struct place *place);

/* persistent_all() - all paths that persistent_name() may give */
struct names persistent_all(void);

/* persistent_better() - whether of two names in /dev/disk/by-id @a tells more surely which disk it
 * is; @b may be NULL
 */
bool persistent_better(const char *a, const char *b);

/*
 * Names that stay: made of the machine's ID and of what tells a disk from others, so that
 * a disk that is exported again is for its hosts the one that they know.
 */

struct identity {
	const char *nqn;
	const char *serial;		/* 20 characters at most */
};

/* identity_of() - for a subsystem with these disks, in this order; 0, or -1 and it was said */
int identity_of(const struct disk *disks, size_t nr, struct identity *id);

/* identity_uuid() - for a namespace on that disk; NULL: said */
const char *identity_uuid(const struct disk *disk);

/* identity_differs() - how a namespace's UUID was made here, for another disk, in words; NULL:
 * it was not, or nobody can tell
 */
const char *identity_differs(const struct disk *disk, const struct node *ns);

/* identity_unknown() - warn of namespaces on disks that have only the kernel's name */
void identity_unknown(const struct node *root);

/* ---- overlap.c: two exports of the same data, for which nvmet does not look ---- */

struct overlap {
	const struct node *with;	/* a namespace or a passthru; NULL: none */
	/* How, in words to go on from: "/dev/x is", "/dev/x is on /dev/y, which is" */
	const char *how;
};

/* overlap_find() - what of a configuration, @but one, has data in common with a disk; @enabled:
 * only of what is enabled
 */
struct overlap overlap_find(const struct disk *disk, const struct node *root,
			    const struct node *but, bool enabled);

/* overlap_name() - say that the name of an export, @given by --nqn or made here, is a
 * subsystem's that is there, which may be somebody else's; -1
 */
int overlap_name(const struct node *subsys, bool given);

/* overlap_uuid() - whether a UUID made for a disk is a namespace's, as of two disks with one
 * serial number; for a host they would be one. 0, or -1 and it was said.
 */
int overlap_uuid(const struct node *root, const struct disk *disk, const char *uuid);

/* ---- passthru.c: the disks of an NVMe controller that is passed through ---- */

struct disks {
	struct disk *disk;
	size_t nr;
};

/* passthru_disks() - those of the controller /dev/nvme0; none if it is no such device */
struct disks passthru_disks(const char *path);

/* passthru_disk_name() - "nvme0n1" for what sysfs calls a namespace of a controller: the disk
 * itself or, with native multipath, the path nvme0c1n1 to it; NULL: neither
 */
const char *passthru_disk_name(const char *name);

/* passthru_numbered() - warn of passthrus by a number, as /dev/nvme0: at another boot that may
 * be another controller, and nothing in the file tells
 */
void passthru_numbered(const struct node *root);

#endif
