/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a configuration enables and this machine does not have, or not yet: the device of a
 * namespace or a passthru, the address of a port. Our nvmet-rdma's ports wait by
 * themselves and are never missing; those of the kernel's own and of other transports
 * cannot be enabled before their address is there.
 */
#ifndef NVMERDMA_MISSING_H
#define NVMERDMA_MISSING_H

#include "node.h"

/* Namespaces, passthrus and ports of a configuration */
struct missing {
	const struct node **node;
	size_t nr;
};

/*
 * missing_in() - what @want enables and cannot be enabled now
 * @have: what is enabled there goes on, whatever has gone
 * @want: the configuration
 */
struct missing missing_in(const struct node *have, const struct node *want);

/* missing_why() - "there is no /dev/sdb"; NULL: it is there */
const char *missing_why(const struct node *node);

/* missing_wait() - until nothing is missing, or for as many seconds */
void missing_wait(const struct node *have, const struct node *want, unsigned long seconds);

/* missing_disable() - the same object in @root is to be there, and not enabled */
void missing_disable(struct node *root, const struct node *node);

/*
 * missing_enable() - the same object in @root is to be enabled as @node is
 *
 * false: it is not there, or not as missing_disable() leaves it; nothing was changed.
 */
bool missing_enable(struct node *root, const struct node *node);

#endif
