/* SPDX-License-Identifier: GPL-2.0 */
/* Two exports of the same data: nvmet opens a device together with others, and asks nobody */
#ifndef NVMERDMA_CLASH_H
#define NVMERDMA_CLASH_H

#include "disk.h"

struct clash {
	const struct node *with;	/* a namespace or a passthru; NULL: none */
	/* How, in words to go on from: "/dev/x is", "/dev/x is on /dev/y, which is" */
	const char *how;
};

/*
 * clash_find() - whether something of a configuration has data in common with a disk
 * @disk: the disk
 * @root: the configuration
 * @but: not with this, for which is asked; may be NULL
 * @enabled: only with what is enabled
 */
struct clash clash_find(const struct disk *disk, const struct node *root,
			const struct node *but, bool enabled);

/*
 * clash_name() - say that the name of an export is a subsystem's that is there
 * @given: by --nqn; else the name was made here
 *
 * -1. The subsystem may be somebody else's: what there is to do does not take it away.
 */
int clash_name(const struct node *subsys, bool given);

/*
 * clash_uuid() - whether a UUID that was made for a disk is that of a namespace
 *
 * So it is if two disks come with one serial number; for a host they would be one. 0, or -1
 * and it was said.
 */
int clash_uuid(const struct node *root, const struct disk *disk, const char *uuid);

#endif
