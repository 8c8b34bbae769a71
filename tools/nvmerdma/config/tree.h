/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A target's configuration, as it is or as it is wanted: the objects that nvmet has in
 * configfs, with their attributes as text, and the links between them.
 *
 *	nvmet				node_root()
 *	|- hosts/NQN			may be linked into subsystems' allowed_hosts
 *	|- subsystems/NQN		links: allowed_hosts
 *	|  |- namespaces/NSID
 *	|  '- passthru
 *	'- ports/ID			links: subsystems
 *	   |- ana_groups/ID
 *	   '- referrals/NAME
 *
 * What kinds of objects there are, and what is known of each, is in config/schema.c; everything
 * that reads, writes or compares goes by that.
 */
#ifndef NVMERDMA_CONFIG_TREE_H
#define NVMERDMA_CONFIG_TREE_H

#include "common/util.h"

/* A kind of object */
struct schema {
	const char *noun;		/* how people call one */
	const char *dir;		/* the directory that they are in; JSON: their list */
	const char *key;		/* JSON: the member that names one; NULL: the only one */
	uint32_t max;			/* names are numbers from @min to @max; 0: words */
	uint32_t min;
	const char *made;		/* the one that the kernel makes, and keeps */
	const char *links;		/* the directory of links; JSON: their list */
	const struct schema *linked;	/* what they lead to */
	const struct schema * const *parts;	/* objects below, NULL behind the last */
	/* Attributes are files GROUP_NAME, in JSON {"GROUP": {"NAME": ...}}; NULL last */
	const char * const *groups;
	/* and files NAME, in JSON numbers of that name */
	const char * const *bare;
	/* What has to be written first, in this order; the others' does not matter */
	const char * const *first;
	/* With an attribute "enable": what may change while it is enabled */
	const char * const *live;
	/* What a host that knows the object may not see change: written only once */
	const char * const *fixed;
};

extern const struct schema schema_root, schema_host, schema_subsys, schema_ns, schema_passthru,
			  schema_port, schema_ana, schema_referral;

struct attr {
	const char *name, *value;
	struct attr *next;
};

struct link {
	const char *name;
	struct link *next;
};

struct node {
	const struct schema *shape;
	const char *name;
	struct node *parent, *next;
	struct node *below;		/* by shape->parts, then by name */
	struct attr *attrs;		/* by name */
	struct link *links;		/* by name */
	bool in_tree;			/* a port of the kernel's own nvmet-rdma, not of ours */
};

struct node *node_root(void);
/* node_add() - the object of that name below @parent; it may be there already */
struct node *node_add(struct node *parent, const struct schema *shape, const char *name);
struct node *node_find(const struct node *parent, const struct schema *shape,
		       const char *name);
/* node_same() - the object of that name and place in another configuration, or NULL */
struct node *node_same(const struct node *root, const struct node *node);
void node_remove(struct node *node);
/* node_count() - how many of one shape are right below */
size_t node_count(const struct node *parent, const struct schema *shape);
/* node_made() - whether it comes and goes with its parent */
bool node_made(const struct node *node);
/* node_copy() - all of it, with all below */
struct node *node_copy(const struct node *node);
/* node_graft() - a copy of it, with all below, below another parent */
struct node *node_graft(struct node *parent, const struct node *node);
/* node_path() - where it is, below nvmet/; "" is the root */
const char *node_path(const struct node *node);
/* node_words() - "namespace 1 of nqn.2026-01.org.example:disk" */
const char *node_words(const struct node *node);

/* node_attr() - an attribute; node_get() - its value; NULL if there is none */
const struct attr *node_attr(const struct node *node, const char *name);
const char *node_get(const struct node *node, const char *attr);
/* node_is() - whether it has just this value */
bool node_is(const struct node *node, const char *attr, const char *value);
void node_set(struct node *node, const char *attr, const char *value);

bool node_linked(const struct node *node, const char *name);
void node_link(struct node *node, const char *name);
void node_unlink(struct node *node, const char *name);

/* for_each_node() - those of one shape right below @parent; @node may be removed meanwhile */
#define for_each_node(node, parent, of)				\
	for ((node) = node_first(parent, of); (node); (node) = node_next(node))
struct node *node_first(const struct node *parent, const struct schema *shape);
struct node *node_next(const struct node *node);

/*
 * schema_default() - the value that the kernel gives an attribute of a new object, or does the
 * same as without the attribute; NULL: it differs from kernel to kernel, or matters
 */
const char *schema_default(const struct schema *shape, const char *attr);
/* schema_secret() - whether an attribute's value is not to be shown */
bool schema_secret(const char *attr);

#endif
