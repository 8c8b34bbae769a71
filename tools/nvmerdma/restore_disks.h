/* SPDX-License-Identifier: GPL-2.0 */
/* Disks that a restore would export */
#ifndef NVMERDMA_RESTORE_DISKS_H
#define NVMERDMA_RESTORE_DISKS_H

#include "node.h"

enum refused_disks {
	REFUSED_FAIL,		/* nothing is to happen */
	REFUSED_LEAVE,		/* they are left disabled, the others exported */
	REFUSED_SAY,		/* it is only said */
};

/*
 * restore_disks() - are the disks free that are to be exported, and the same as before?
 * @have: what there is
 * @want: what there is to be; with REFUSED_LEAVE, namespaces of it are disabled
 * @then: what to do if a disk is not
 *
 * A namespace that goes on on its disk is not asked about. 0, or -1: each was said.
 */
int restore_disks(const struct node *have, struct node *want, enum refused_disks then);

#endif
