/* SPDX-License-Identifier: GPL-2.0 */
/* What a configuration has to be like, before the kernel is asked */
#ifndef NVMERDMA_VALID_H
#define NVMERDMA_VALID_H

#include "node.h"

/* NVM Express Base Specification, 4.5: NQNs are up to 223 bytes */
#define NQN_MAX		223

/*
 * valid_name() - can an object have this name?
 * @where: what to begin a message with
 * @shape: of what kind it is
 * @name: the name; a number is brought into the form that the kernel shows
 *
 * 0, or -1 and it was said.
 */
int valid_name(const char *where, const struct shape *shape, const char **name);

/*
 * valid_config() - is it whole, and does it not contradict itself?
 *
 * A host that is let in and has no attributes need not be among the hosts: it is added.
 * Values are brought into the spelling in which the kernel shows them.
 *
 * 0, or -1: all that is wrong was said.
 */
int valid_config(const char *where, struct node *root);

#endif
