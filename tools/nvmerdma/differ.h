/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between an object as it is and as it is wanted */
#ifndef NVMERDMA_DIFFER_H
#define NVMERDMA_DIFFER_H

#include "node.h"

/* What comes of an attribute where the kernel has none of that name */
enum lack {
	LACK_FAILS,		/* the object cannot be as it is wanted */
	LACK_SAID,		/* it is left out, and somebody may want to know */
	LACK_NOTHING,		/* the kernel does the same without */
};

enum lack lack_of(const struct attr *want);

/* attr_same() - whether the kernel would see no difference between two values */
bool attr_same(const char *attr, const char *a, const char *b);

/*
 * differs() - whether an attribute has to be written for an object to be as wanted
 * @have: the object as it is; NULL for a new one
 * @shape: of what kind it is
 * @want: the attribute
 */
bool differs(const struct node *have, const struct shape *shape, const struct attr *want);

/* differs_in_use() - whether an object has to be disabled, or let go of its links, to change */
bool differs_in_use(const struct node *have, const struct node *want);

/* differs_for_good() - whether it has to be made anew */
bool differs_for_good(const struct node *have, const struct node *want);

#endif
