/* SPDX-License-Identifier: GPL-2.0 */
/* Disks of which nvmerdma-ha (Documentation/ha.md) says whether this machine serves them */
#ifndef NVMERDMA_STANDBY_H
#define NVMERDMA_STANDBY_H

#include "node.h"

/*
 * standby_resource() - "r0" for the path of nvmerdma-ha's disk for DRBD's resource r0
 *
 * NULL: it is another disk, or none.
 */
const char *standby_resource(const char *path);

/* standby_own_group() - puts a new namespace on such a disk into an ANA group of its own */
void standby_own_group(const struct node *root, struct node *ns);

/*
 * standby() - gives the ANA groups of such disks in @want the states that they have in
 * @have, or "inaccessible" where @have has not the same disk there
 *
 * What was saved is who served then, and a group's state may be of what it had before.
 */
void standby(const struct node *have, struct node *want);

/* standby_say() - what is not served until nvmerdma-ha says so, and was not in @have */
void standby_say(const struct node *have, const struct node *want);

#endif
