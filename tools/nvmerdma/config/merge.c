// SPDX-License-Identifier: GPL-2.0
/* What a wanted configuration leaves unsaid stays as it is */
#include "config/plan.h"

#include <string.h>

/* Whether an attribute is named, and with another value than there is */
static bool changes(const struct node *have, const struct node *want, const char *attr)
{
	const char *value = node_get(have, attr);

	return node_get(want, attr) && (!value || !node_is(want, attr, value));
}

/* What belongs to a transport, or to its security, does not stay without it */
static bool stays(const struct node *have, const struct node *want, const char *attr)
{
	if (!strcmp(attr, "addr_tsas"))
		return !changes(have, want, "addr_trtype");
	if (!strcmp(attr, "addr_treq"))
		return !changes(have, want, "addr_trtype") && !changes(have, want, "addr_tsas");
	return true;
}

/* @have is complete; a list of hosts says as well that not just any host is let in */
static void take_over(struct node *want, const struct node *have)
{
	const struct node *below;
	const struct attr *attr;
	struct node *same;

	if (want->shape == &schema_subsys && want->links && !node_get(want, "attr_allow_any_host"))
		node_set(want, "attr_allow_any_host", "0");
	for (attr = have->attrs; attr; attr = attr->next) {
		if (!node_get(want, attr->name) && stays(have, want, attr->name))
			node_set(want, attr->name, attr->value);
	}
	for (below = have->below; below; below = below->next) {
		same = node_find(want, below->shape, below->name);
		if (same)
			take_over(same, below);
		else if (node_made(below) && below->shape->key)
			node_graft(want, below);	/* it is there whether wanted or not */
	}
}

struct node *merge_unnamed(const struct node *have, const struct node *want)
{
	struct node *all = node_copy(want);

	take_over(all, have);
	return all;
}

void merge_others(struct node *want, const struct node *have)
{
	const struct node *node;
	const struct link *link;
	struct node *same;

	for (link = have->links; link; link = link->next) {
		if (!node_is(want, "attr_allow_any_host", "1"))
			node_link(want, link->name);
	}
	for (node = have->below; node; node = node->next) {
		same = node_find(want, node->shape, node->name);
		if (same)
			merge_others(same, node);
		else
			node_graft(want, node);
	}
}
