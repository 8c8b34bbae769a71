/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names that stay: made of the machine's ID and of what tells a disk from others, so that
 * a disk that is exported again is for its hosts the one that they know.
 */
#ifndef NVMERDMA_IDENTITY_H
#define NVMERDMA_IDENTITY_H

#include "disk.h"

struct identity {
	const char *nqn;
	const char *serial;		/* 20 characters at most */
};

/* identity_of() - for a subsystem with these disks, in this order; 0, or -1 and it was said */
int identity_of(const struct disk *disks, size_t nr, struct identity *id);

/* identity_uuid() - for a namespace on that disk; NULL: said */
const char *identity_uuid(const struct disk *disk);

/*
 * identity_differs() - whether a namespace's UUID was made here, for another disk
 *
 * How, in words: "/dev/sdb is not the disk..."; NULL: it was not, or nobody can tell.
 */
const char *identity_differs(const struct disk *disk, const struct node *ns);

/*
 * identity_unknown() - warn of namespaces on disks that have only the kernel's name
 * @root: a configuration that is saved
 */
void identity_unknown(const struct node *root);

#endif
