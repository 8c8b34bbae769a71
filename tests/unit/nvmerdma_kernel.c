// SPDX-License-Identifier: GPL-2.0
/* Something like nvmet's configfs of several kernels */
#include "nvmerdma_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

static const struct {
	const struct schema *shape;
	const char *attr, *value;
	unsigned int since;
} attrs[] = {
	{ &schema_root, "discovery_nqn", "nqn.2014-08.org.nvmexpress.discovery", K6_12 },
	{ &schema_host, "dhchap_key", "", K6_1 },
	{ &schema_host, "dhchap_hash", "hmac(sha256)", K6_1 },
	{ &schema_subsys, "attr_allow_any_host", "0", K6_1 },
	{ &schema_subsys, "attr_cntlid_min", "1", K6_1 },
	{ &schema_subsys, "attr_cntlid_max", "65519", K6_1 },
	{ &schema_subsys, "attr_serial", "0123456789abcdef", K6_1 },
	{ &schema_subsys, "attr_pi_enable", "0", K6_1 },
	{ &schema_subsys, "attr_firmware", "6.12", K6_12 },
	{ &schema_subsys, "attr_ieee_oui", "0x000000", K6_12 },
	{ &schema_subsys, "attr_vendor_id", "0x0", K7_2 },
	{ &schema_ns, "device_path", "", K6_1 }, { &schema_ns, "device_uuid", "0000", K6_1 },
	{ &schema_ns, "ana_grpid", "1", K6_1 }, { &schema_ns, "buffered_io", "0", K6_1 },
	{ &schema_ns, "enable", "0", K6_1 }, { &schema_ns, "resv_enable", "0", K7_2 },
	{ &schema_passthru, "device_path", "", K6_1 }, { &schema_passthru, "enable", "0", K6_1 },
	{ &schema_passthru, "io_timeout", "0", K6_1 },
	{ &schema_port, "addr_trtype", "", K6_1 }, { &schema_port, "addr_traddr", "", K6_1 },
	{ &schema_port, "addr_treq", "not specified", K6_1 },
	{ &schema_port, "addr_tsas", "", K6_12 },
	{ &schema_port, "param_inline_data_size", "-1", K6_1 },
	{ &schema_port, "param_max_queue_size", "-1", K6_12 },
	{ &schema_port, "param_mdts", "-1", K7_2 }, { &schema_port, "param_pi_enable", "0", K6_1 },
	{ &schema_ana, "ana_state", "inaccessible", K6_1 },
	{ &schema_referral, "addr_traddr", "", K6_1 }, { &schema_referral, "enable", "0", K6_1 },
};

bool kernel_has(unsigned int version, const struct schema *shape, const char *attr)
{
	size_t i;

	for (i = 0; i < NR(attrs); i++) {
		if (attrs[i].shape == shape && !strcmp(attrs[i].attr, attr))
			return version >= attrs[i].since;
	}
	return false;
}

void kernel_defaults(struct node *node, unsigned int version)
{
	size_t i;

	for (i = 0; i < NR(attrs); i++) {
		if (attrs[i].shape == node->shape && version >= attrs[i].since)
			node_set(node, attrs[i].attr, attrs[i].value);
	}
	if (node->shape == &schema_subsys)
		kernel_defaults(node_add(node, &schema_passthru, ""), version);
	if (node->shape == &schema_port) {
		struct node *group = node_add(node, &schema_ana, "1");

		kernel_defaults(group, version);
		node_set(group, "ana_state", "optimized");
	}
}

/* ---- a port is enabled ---- */

static long number_of(const struct node *node, const char *attr)
{
	return strtol(node_get(node, attr) ?: "0", NULL, 0);
}

static void set_number(struct node *node, const char *attr, long value)
{
	if (node_get(node, attr))
		node_set(node, attr, mem_fmt("%ld", value));
}

void kernel_lower(const struct nvmet *nvmet, struct node *port)
{
	bool rdma = node_is(port, "addr_trtype", "rdma"), in_tree = rdma && nvmet->in_tree;
	long icd = number_of(port, "param_inline_data_size");
	long queue = number_of(port, "param_max_queue_size");

	if (icd < 0)
		icd = 4096;
	if (in_tree && icd > 16384)
		icd = 16384;
	if (queue < 0)
		queue = rdma ? 128 : 1024;
	if (in_tree && queue > 256)
		queue = 256;
	set_number(port, "param_inline_data_size", icd);
	set_number(port, "param_max_queue_size", queue < 16 ? 16 : queue > 1024 ? 1024 : queue);
	if (!nvmet->has_pi)
		set_number(port, "param_pi_enable", 0);
}

/* ---- directories ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The object at a path; NULL: there is none. The rest of the path goes to @rest */
static struct node *walk(struct node *root, const char *path, const char **rest)
{
	const struct schema * const *part;
	struct node *node = root, *next;
	char *copy = mem_str(path), *word, *name;

	*rest = "";
	while ((word = strsep(&copy, "/"))) {
		next = NULL;
		for (part = node->shape->parts; *part; part++) {
			if (strcmp((*part)->dir, word))
				continue;
			name = (*part)->key ? strsep(&copy, "/") : "";
			if (!name)
				return NULL;
			next = node_find(node, *part, name);
			if (!next) {
				*rest = name;
				return node;
			}
		}
		if (!next) {
			*rest = copy ? mem_fmt("%s/%s", word, copy) : word;
			return node;
		}
		node = next;
	}
	return node;
}

static int fails(struct nvmet *nvmet)
{
	return nvmet->fails_at >= 0 && nvmet->fails_at-- == 0 ? -EIO : 0;
}

static int nvmet_make(void *to, const char *path)
{
	struct nvmet *nvmet = to;
	const struct schema * const *part;
	const char *rest, *dir;
	struct node *parent;

	if (fails(nvmet))
		return -EIO;
	parent = walk(nvmet->root, path, &rest);
	if (!parent || !*rest || strchr(rest, '/'))
		return -EEXIST;
	dir = mem_strn(path, strlen(path) - strlen(rest) - 1);
	for (part = parent->shape->parts; *part; part++) {
		if (strcmp((*part)->dir, last_part(dir)))
			continue;
		if (*part == &schema_subsys && nvmet->busy && nvmet->busy--)
			return -EEXIST;
		kernel_defaults(node_add(parent, *part, rest), nvmet->version);
		return 0;
	}
	return -ENOENT;
}

static bool linked_from(const struct node *root, const struct node *to)
{
	const struct schema *from = to->shape == &schema_host ? &schema_subsys : &schema_port;
	const struct node *node;

	if (to->shape != &schema_host && to->shape != &schema_subsys)
		return false;
	for_each_node(node, root, from) {
		if (node_linked(node, to->name))
			return true;
	}
	return false;
}

static int nvmet_remove(void *to, const char *path)
{
	struct nvmet *nvmet = to;
	const char *rest;
	struct node *node, *below, *seen;

	if (fails(nvmet))
		return -EIO;
	node = walk(nvmet->root, path, &rest);
	if (!node || *rest)
		return -ENOENT;
	if (node->links)
		return -ENOTEMPTY;
	for (below = node->below; below; below = below->next) {
		if (!node_made(below))
			return -ENOTEMPTY;
	}
	if (linked_from(nvmet->root, node))
		return -EBUSY;
	node_remove(node);
	seen = node_find(nvmet->seen, node->shape, node->name);
	if (seen && node->shape == &schema_subsys)
		node_remove(seen);
	return 0;
}

/* ---- attributes ---- */

static int check_cntlid(const struct nvmet *nvmet, const struct node *subsys, const char *attr,
			const char *value)
{
	long min = number_of(subsys, "attr_cntlid_min"), max = number_of(subsys, "attr_cntlid_max");

	if (strcmp(attr, "attr_cntlid_min"))
		max = strtol(value, NULL, 0);
	else
		min = strtol(value, NULL, 0);
	if (!min || !max || min > max)
		return -EINVAL;
	return min == max && nvmet->version < K6_12 ? -EINVAL : 0;
}

/* nvmet has either a passthru or namespaces enabled, and reports the latter as enabled */
static int enable(struct node *node, const char *value)
{
	const struct node *other;

	if (strcmp(value, "1") || node->shape == &schema_referral) {
		node_set(node, "enable", value);
		return 0;
	}
	if (!*node_get(node, "device_path"))
		return -ENOENT;
	for_each_node(other, node->parent, &schema_ns) {
		if (node->shape == &schema_passthru && node_is(other, "enable", "1"))
			return -EINVAL;
	}
	other = node_find(node->parent, &schema_passthru, "");
	if (node->shape == &schema_ns && node_is(other, "enable", "1"))
		return 0;
	node_set(node, "enable", "1");
	return 0;
}

static int write_tsas(struct node *port, const char *value)
{
	if (node_is(port, "addr_trtype", "rdma"))
		return strcmp(value, "connected") ? -EINVAL : 0;
	if (!node_is(port, "addr_trtype", "tcp"))
		return -EINVAL;
	if (!strcmp(value, "none"))
		node_set(port, "addr_treq", "not specified");
	else if (strcmp(value, "tls1.3"))
		return -EINVAL;
	else if (node_is(port, "addr_treq", "not specified"))
		node_set(port, "addr_treq", "required");
	node_set(port, "addr_tsas", value);
	return 0;
}

static int write_port(const struct nvmet *nvmet, struct node *port, const char *attr,
		      const char *value)
{
	if (port->links)
		return -EACCES;
	if (!strcmp(attr, "addr_tsas"))
		return write_tsas(port, value);
	if (!strcmp(attr, "addr_treq") && node_is(port, "addr_tsas", "tls1.3") &&
	    !strcmp(value, "not specified"))
		return -EINVAL;
	if (!strcmp(attr, "param_mdts") && strtol(value, NULL, 0) < 0)
		return -EINVAL;
	if (!strcmp(attr, "addr_trtype") && nvmet->version >= K6_12)
		node_set(port, "addr_tsas", !strcmp(value, "rdma") ? "connected" :
			 !strcmp(value, "tcp") ? "none" : "");
	node_set(port, attr, value);
	port->in_tree = nvmet->in_tree && node_is(port, "addr_trtype", "rdma");
	return 0;
}

static int nvmet_write(void *to, const char *path, const char *value)
{
	struct nvmet *nvmet = to;
	const char *attr;
	struct node *node;
	int err = 0;

	if (fails(nvmet))
		return -EIO;
	node = walk(nvmet->root, path, &attr);
	if (!node || !*attr || !node_get(node, attr))
		return -ENOENT;
	if (!*value && strcmp(attr, "dhchap_key"))
		return -EINVAL;
	if (!strcmp(attr, "enable"))
		return enable(node, value);
	if (node_is(node, "enable", "1") && !word_in(node->shape->live, attr))
		return -EBUSY;
	if (node->shape == &schema_port)
		return write_port(nvmet, node, attr, value);
	if (!strcmp(attr, "attr_allow_any_host") && !strcmp(value, "1") && node->links)
		return -EINVAL;
	if (!strncmp(attr, "attr_cntlid", 11))
		err = check_cntlid(nvmet, node, attr, value);
	/* A host has seen it: fixed attributes no longer change */
	if (word_in(node->shape->fixed, attr) && node_find(nvmet->seen, node->shape, node->name))
		err = -EINVAL;
	if (!err)
		node_set(node, attr, value);
	return err;
}

/* ---- links ---- */

static int nvmet_link(void *to, const char *path, const char *target)
{
	struct nvmet *nvmet = to;
	const char *rest;
	struct node *node, *other;

	if (fails(nvmet))
		return -EIO;
	other = walk(nvmet->root, target, &rest);
	if (!other || *rest)
		return -ENOENT;
	node = walk(nvmet->root, path, &rest);
	if (!node || !*rest || node_linked(node, last_part(path)))
		return -EEXIST;
	if (node->shape == &schema_subsys && node_is(node, "attr_allow_any_host", "1"))
		return -EINVAL;
	if (node->shape == &schema_port && !*node_get(node, "addr_trtype"))
		return -EINVAL;
	if (node->shape == &schema_port && !node->links)
		kernel_lower(nvmet, node);
	node_link(node, last_part(path));
	return 0;
}

static int nvmet_unlink(void *to, const char *path)
{
	struct nvmet *nvmet = to;
	const char *rest;
	struct node *node;

	if (fails(nvmet))
		return -EIO;
	node = walk(nvmet->root, path, &rest);
	if (!node || !node_linked(node, last_part(path)))
		return -ENOENT;
	node_unlink(node, last_part(path));
	return 0;
}

/* ---- all of it ---- */

static void nvmet_nap(void *to)
{
	((struct nvmet *)to)->naps++;
}

struct plan_doer kernel_doer(struct nvmet *nvmet)
{
	return (struct plan_doer) {
		.make = nvmet_make, .remove = nvmet_remove, .write = nvmet_write,
		.link = nvmet_link, .unlink = nvmet_unlink, .nap = nvmet_nap, .to = nvmet,
	};
}

struct nvmet kernel_with(const struct node *config, unsigned int version, bool in_tree)
{
	struct nvmet nvmet = {
		.root = node_copy(config), .version = version, .in_tree = in_tree,
		.seen = node_copy(config), .fails_at = -1,
	};
	struct node *port;

	for_each_node(port, nvmet.root, &schema_port) {
		port->in_tree = in_tree && node_is(port, "addr_trtype", "rdma");
		if (port->links)
			kernel_lower(&nvmet, port);
	}
	return nvmet;
}
