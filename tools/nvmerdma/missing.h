/* SPDX-License-Identifier: GPL-2.0 */
/* What a configuration enables and cannot be enabled now: see unready.h */
#ifndef NVMERDMA_MISSING_H
#define NVMERDMA_MISSING_H

#include "node.h"

/* Namespaces, passthrus and ports of a configuration, each with why, in words */
struct missing {
	const struct node **node;
	const char **why;
	size_t nr;
};

/*
 * missing_in() - what @want enables and cannot be enabled now
 * @have: what is enabled there goes on, whatever has gone
 * @want: the configuration
 *
 * Of two that are on the same disk it is one, unless the other goes on.
 */
struct missing missing_in(const struct node *have, const struct node *want);

/* missing_wait() - until nothing is missing, or for as many seconds */
void missing_wait(const struct node *have, const struct node *want, unsigned long seconds);

/* missing_disable() - the same object in @root is to be there, and not enabled */
void missing_disable(struct node *root, const struct node *node);

/*
 * missing_enable() - the same object in @root is to be enabled as @node is
 *
 * That object; NULL: it is not there, or not as missing_disable() leaves it; nothing was
 * changed.
 */
struct node *missing_enable(struct node *root, const struct node *node);

#endif
