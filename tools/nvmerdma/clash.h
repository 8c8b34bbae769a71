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

#endif
