/* SPDX-License-Identifier: GPL-2.0 */
/* Disks of which nvmerdma-ha says whether this machine serves them */
#ifndef NVMERDMA_STANDBY_H
#define NVMERDMA_STANDBY_H

#include "node.h"

/*
 * standby() - gives the ANA groups of such disks in @want the states that they have in
 * @have, or "inaccessible" if they are not there
 *
 * What was saved is who served then.
 */
void standby(const struct node *have, struct node *want);

#endif
