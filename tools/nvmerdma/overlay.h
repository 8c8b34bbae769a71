/* SPDX-License-Identifier: GPL-2.0 */
/* What a wanted configuration leaves unsaid */
#ifndef NVMERDMA_OVERLAY_H
#define NVMERDMA_OVERLAY_H

#include "node.h"

/*
 * overlay() - a copy of @want, with the attributes that it does not name of objects that
 * are in @have
 *
 * So what a file does not say stays, also of an object that has to be made anew.
 */
struct node *overlay(const struct node *have, const struct node *want);

/*
 * overlay_others() - adds the objects and links of @have that @want does not name
 *
 * A subsystem that lets in any host gets no list of hosts.
 */
void overlay_others(struct node *want, const struct node *have);

#endif
