/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of single plans share */
#ifndef UNIT_NVMERDMA_KERNEL_CASES_H
#define UNIT_NVMERDMA_KERNEL_CASES_H

#include "nvmerdma_kernel.h"

/* nqn.a at port 1, with only the attributes that a test sets */
static inline struct node *offered(const char *trtype)
{
	struct node *root = node_root(), *port = node_add(root, &schema_port, "1");

	node_add(root, &schema_subsys, "nqn.a");
	node_set(port, "addr_trtype", trtype);
	node_set(port, "addr_traddr", "192.0.2.1");
	node_link(port, "nqn.a");
	return root;
}

static inline struct node *port_of(const struct node *root)
{
	return node_find(root, &schema_port, "1");
}

static inline struct node *subsys_of(const struct node *root)
{
	return node_find(root, &schema_subsys, "nqn.a");
}

/* From one to another; how many steps it took. -1: it failed */
static inline int change(struct nvmet *nvmet, const struct node *want)
{
	struct plan_doer doer = kernel_doer(nvmet);
	struct plan plan = plan_make(node_copy(nvmet->root), want);

	return plan_run(&plan, &doer) ? -1 : (int)plan.nr;
}

static inline void is(const char *value, const struct node *node, const char *attr)
{
	const char *got = node_get(node, attr) ?: "(no such attribute)";

	if (strcmp(value, got))
		fail_msg("%s: %s is %s, expected %s", unit_where, attr, got, value);
}

/* An empty target of a kernel that has created the attributes in @want */
static inline struct nvmet made(const struct node *want, unsigned int version, bool in_tree)
{
	struct node *empty = node_root();
	struct nvmet nvmet;

	kernel_defaults(empty, version);
	nvmet = kernel_with(empty, version, in_tree);
	assert_true(change(&nvmet, want) >= 0);
	nvmet.seen = node_copy(nvmet.root);
	return nvmet;
}

#endif
