/* SPDX-License-Identifier: GPL-2.0 */
/* What the file of the configuration has, when another one is to be written in its place */
#ifndef NVMERDMA_KEPT_H
#define NVMERDMA_KEPT_H

#include "node.h"

/*
 * kept_left() - what a restore has left disabled (left.h) is to be exported at the next boot
 * @root: the target, where it is enabled, and it is said
 * @kept: the file: what is disabled there is not; NULL: there is none
 */
void kept_left(struct node *root, const struct node *kept);

/*
 * kept_lost() - what of a file is in neither of two configurations
 * @root: as it is to be saved
 * @had: the target's as it was before; what it has and @root has not was taken away
 *
 * In words: "2 subsystems, 1 port", "settings" if it is values, hosts or links alone; NULL:
 * nothing, a restore of the file would change nothing of one of them, but add to the file.
 */
const char *kept_lost(const struct node *kept, const struct node *root,
		      const struct node *had);

#endif
