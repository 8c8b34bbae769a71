/* SPDX-License-Identifier: GPL-2.0 */
/* Hosts that would lose something */
#ifndef NVMERDMA_CUT_H
#define NVMERDMA_CUT_H

#include "node.h"

/*
 * cut_refused() - whether hosts would be cut off, and nobody has said that they may
 * @have: what there is
 * @want: what there is to be
 *
 * -1: connected hosts would lose a subsystem or a namespace, or not be let in again, or it
 * is not known whether there are any; which ones was said.
 */
int cut_refused(const struct node *have, const struct node *want);

#endif
