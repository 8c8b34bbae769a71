/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a port was asked for and does not have: the kernel, its transport or the RDMA
 * device chose something, or lowered it, and shows what came of it.
 */
#ifndef NVMERDMA_LOWERED_H
#define NVMERDMA_LOWERED_H

#include "node.h"

/*
 * lowered() - whether a port in use shows what it has because it was asked for @want
 *
 * Then to ask again would change nothing, but for hosts, which would lose the port.
 */
bool lowered(const struct node *port, const struct attr *want);

/*
 * lowered_keep() - what was asked for, in place of what came of it
 * @root: a target as it is, about to be saved
 * @asked: what was asked for; NULL: that is not known
 *
 * So that a port gets it at a boot at which the device can do it. It is said.
 */
void lowered_keep(struct node *root, const struct node *asked);

#endif
