// SPDX-License-Identifier: GPL-2.0
/* What a configuration enables and cannot be enabled now */
#include "restore/restore.h"

#include <string.h>

#include "disk/disk.h"

struct nodes {
	const struct node **node;
	size_t nr;
};

static void add(struct nodes *nodes, const struct node *parent, const struct schema *shape)
{
	const struct node *node;

	for_each_node(node, parent, shape) {
		mem_push(nodes->node, nodes->nr, node);
	}
}

/* All that can be enabled */
static struct nodes nodes_in(const struct node *root)
{
	const struct node *subsys;
	struct nodes nodes = { 0 };

	for_each_node(subsys, root, &schema_subsys) {
		add(&nodes, subsys, &schema_ns);
		add(&nodes, subsys, &schema_passthru);
	}
	add(&nodes, root, &schema_port);
	return nodes;
}

static bool same_text(const struct node *a, const struct node *b, const char *attr)
{
	return !strcmp(node_get(a, attr) ?: "", node_get(b, attr) ?: "");
}

/* The same disk, by another name too */
static bool same_disk(const struct node *a, const struct node *b)
{
	struct place one, other;

	return same_text(a, b, "device_path") ||
	       (!place_of(node_get(a, "device_path") ?: "", &one) &&
		!place_of(node_get(b, "device_path") ?: "", &other) &&
		place_same(&one, &other));
}

static bool goes_on(const struct node *have, const struct node *node)
{
	const struct node *same = node_same(have, node);

	if (!same)
		return false;
	if (node->shape == &schema_port)
		return same->links && same_text(same, node, "addr_trtype") &&
		       same_text(same, node, "addr_traddr");
	return node_is(same, "enable", "1") && same_disk(same, node);
}

struct unavailable unavailable_in(const struct node *have, const struct node *want)
{
	const struct nodes all = nodes_in(want);
	struct node *rest = node_copy(want);	/* without what is missing */
	struct unavailable missing = { 0 };
	size_t i;

	for (i = 0; i < all.nr; i++) {
		const struct node *node = all.node[i];
		const char *why =
			goes_on(have, node) ? NULL : not_ready_reason(node_same(rest, node));

		if (!why)
			continue;
		unavailable_disable(rest, node);
		missing.node = mem_grow(missing.node, missing.nr, sizeof(*missing.node));
		missing.why = mem_grow(missing.why, missing.nr, sizeof(*missing.why));
		missing.node[missing.nr] = node;
		missing.why[missing.nr++] = why;
	}
	return missing;
}

void unavailable_disable(struct node *root, const struct node *node)
{
	struct node *same = node_same(root, node);

	if (node->shape != &schema_port)
		node_set(same, "enable", "0");
	while (node->shape == &schema_port && same->links)
		node_unlink(same, same->links->name);
}

struct node *unavailable_enable(struct node *root, const struct node *node)
{
	struct node *same = node_same(root, node);
	const struct link *link;
	bool any = false;

	if (!same)
		return NULL;
	if (node->shape != &schema_port) {
		if (node_is(same, "enable", "1") || !same_text(same, node, "device_path"))
			return NULL;
		node_set(same, "enable", "1");
		return same;
	}
	if (same->links)
		return NULL;
	for (link = node->links; link; link = link->next) {
		if (!node_find(root, &schema_subsys, link->name))
			continue;
		node_link(same, link->name);
		any = true;
	}
	return any ? same : NULL;
}
