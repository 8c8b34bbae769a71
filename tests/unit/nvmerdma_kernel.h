/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Something like nvmet's configfs, for the tests of nvmerdma's plans: it has the rules of
 * drivers/nvme/target/configfs.c, core.c and rdma/links.c of 6.1, 6.12 or 7.2, and refuses,
 * lacks and lowers what these do.
 */
#ifndef UNIT_NVMERDMA_KERNEL_H
#define UNIT_NVMERDMA_KERNEL_H

#include "tools/nvmerdma/config/plan.h"

enum { K6_1 = 601, K6_12 = 612, K7_2 = 702 };

struct nvmet {
	struct node *root;
	unsigned int version;
	bool in_tree;			/* nvmet-rdma is the kernel's own */
	bool has_pi;			/* so have the RDMA devices */
	const struct node *seen;	/* hosts have seen the subsystems that are in it */
	unsigned int busy;		/* how often a subsystem's name is not free yet */
	unsigned int naps;		/* number of waits */
	int fails_at;			/* the step that fails, counted down; <0: none */
};

/* kernel_has() - whether a version has an attribute, given its shape */
bool kernel_has(unsigned int version, const struct schema *shape, const char *attr);
/* kernel_defaults() - a new object, with the attributes that the kernel creates */
void kernel_defaults(struct node *node, unsigned int version);
/* kernel_lower() - what becomes of a port's parameters when it is enabled */
void kernel_lower(const struct nvmet *nvmet, struct node *port);
/* kernel_with() - a target of that configuration, which hosts know; @version's, and enabled */
struct nvmet kernel_with(const struct node *config, unsigned int version, bool in_tree);
struct plan_doer kernel_doer(struct nvmet *nvmet);

#endif
