// SPDX-License-Identifier: GPL-2.0
/* A target's configuration in memory */
#include "config/tree.h"

#include <string.h>

struct node *node_root(void)
{
	struct node *root = mem_get(sizeof(*root));

	root->shape = &schema_root;
	root->name = "";
	return root;
}

/* Where among its parent's parts a kind comes */
static size_t rank(const struct node *parent, const struct schema *shape)
{
	size_t i = 0;

	while (parent->shape->parts[i] && parent->shape->parts[i] != shape)
		i++;
	return i;
}

static bool comes_before(const struct node *node, const struct schema *shape, const char *name)
{
	size_t a = rank(node->parent, node->shape), b = rank(node->parent, shape);

	return a != b ? a < b : strverscmp(node->name, name) < 0;
}

struct node *node_first(const struct node *parent, const struct schema *shape)
{
	struct node *node = parent->below;

	while (node && node->shape != shape)
		node = node->next;
	return node;
}

/* Those of a shape are next to each other */
struct node *node_next(const struct node *node)
{
	return node->next && node->next->shape == node->shape ? node->next : NULL;
}

struct node *node_find(const struct node *parent, const struct schema *shape, const char *name)
{
	struct node *node;

	for_each_node(node, parent, shape) {
		if (!strcmp(node->name, name))
			return node;
	}
	return NULL;
}

struct node *node_same(const struct node *root, const struct node *node)
{
	const struct node *parent;

	if (!node->parent)
		return (struct node *)root;
	parent = node_same(root, node->parent);
	return parent ? node_find(parent, node->shape, node->name) : NULL;
}

struct node *node_add(struct node *parent, const struct schema *shape, const char *name)
{
	struct node *node = node_find(parent, shape, name), **at = &parent->below;

	if (node)
		return node;
	while (*at && comes_before(*at, shape, name))
		at = &(*at)->next;
	node = mem_get(sizeof(*node));
	*node = (struct node) {
		.shape = shape, .name = mem_str(name), .parent = parent, .next = *at,
	};
	*at = node;
	return node;
}

void node_remove(struct node *node)
{
	struct node **at = &node->parent->below;

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
}

size_t node_count(const struct node *parent, const struct schema *shape)
{
	const struct node *node;
	size_t nr = 0;

	for_each_node(node, parent, shape)
		nr++;
	return nr;
}

bool node_made(const struct node *node)
{
	const struct schema *shape = node->shape;

	return !shape->key || (shape->made && !strcmp(shape->made, node->name));
}

static void copy_into(struct node *to, const struct node *from)
{
	const struct attr *attr;
	const struct link *link;
	const struct node *below;

	to->in_tree = from->in_tree;
	for (attr = from->attrs; attr; attr = attr->next)
		node_set(to, attr->name, attr->value);
	for (link = from->links; link; link = link->next)
		node_link(to, link->name);
	for (below = from->below; below; below = below->next)
		copy_into(node_add(to, below->shape, below->name), below);
}

struct node *node_copy(const struct node *node)
{
	struct node *copy = mem_get(sizeof(*copy));

	copy->shape = node->shape;
	copy->name = node->name;
	copy->parent = node->parent;
	copy_into(copy, node);
	return copy;
}

struct node *node_graft(struct node *parent, const struct node *node)
{
	struct node *copy = node_add(parent, node->shape, node->name);

	copy_into(copy, node);
	return copy;
}

const char *node_path(const struct node *node)
{
	const char *above;

	if (!node->parent)
		return "";
	above = node_path(node->parent);
	return mem_fmt("%s%s%s%s%s", above, *above ? "/" : "", node->shape->dir,
		       node->shape->key ? "/" : "", node->shape->key ? node->name : "");
}

const char *node_words(const struct node *node)
{
	const struct node *parent = node->parent;

	if (!parent)
		return "the target";
	if (!node->shape->key)
		return mem_fmt("%s of %s", node->shape->noun, parent->name);
	if (parent->shape == &schema_subsys)
		return mem_fmt("%s %s of %s", node->shape->noun, node->name, parent->name);
	if (parent->parent)
		return mem_fmt("%s %s of %s %s", node->shape->noun, node->name,
			       parent->shape->noun, parent->name);
	return mem_fmt("%s %s", node->shape->noun, node->name);
}

const struct attr *node_attr(const struct node *node, const char *name)
{
	const struct attr *attr = node->attrs;

	while (attr && strcmp(attr->name, name))
		attr = attr->next;
	return attr;
}

const char *node_get(const struct node *node, const char *name)
{
	const struct attr *attr = node_attr(node, name);

	return attr ? attr->value : NULL;
}

bool node_is(const struct node *node, const char *attr, const char *value)
{
	const char *has = node_get(node, attr);

	return has && !strcmp(has, value);
}

void node_set(struct node *node, const char *name, const char *value)
{
	struct attr **at = &node->attrs, *attr;

	while (*at && strcmp((*at)->name, name) < 0)
		at = &(*at)->next;
	if (!*at || strcmp((*at)->name, name)) {
		attr = mem_get(sizeof(*attr));
		attr->name = mem_str(name);
		attr->next = *at;
		*at = attr;
	}
	(*at)->value = mem_str(value);
}

bool node_linked(const struct node *node, const char *name)
{
	const struct link *link;

	for (link = node->links; link; link = link->next) {
		if (!strcmp(link->name, name))
			return true;
	}
	return false;
}

void node_link(struct node *node, const char *name)
{
	struct link **at = &node->links, *link;

	if (node_linked(node, name))
		return;
	while (*at && strverscmp((*at)->name, name) < 0)
		at = &(*at)->next;
	link = mem_get(sizeof(*link));
	link->name = mem_str(name);
	link->next = *at;
	*at = link;
}

void node_unlink(struct node *node, const char *name)
{
	struct link **at = &node->links;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	if (*at)
		*at = (*at)->next;
}
