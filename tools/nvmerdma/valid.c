// SPDX-License-Identifier: GPL-2.0
/* What a configuration has to be like, before the kernel is asked */
#include "valid.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NVMET_SN_MAX_SIZE, NVMET_MN_MAX_SIZE: fields of Identify Controller */
#define SERIAL_MAX	20
#define MODEL_MAX	40

static int number_name(const char *where, const struct shape *shape, const char **name)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(*name, &end, 10);
	if (!isdigit((unsigned char)**name) || *end || errno || value < shape->min ||
	    value > shape->max)
		return complain("%s: a %s's %s is a number from %u to %u, not \"%s\"", where,
				shape->noun, shape->key, shape->min, shape->max, *name);
	*name = mem_fmt("%llu", value);
	return 0;
}

int valid_name(const char *where, const struct shape *shape, const char **name)
{
	const unsigned char *s = (const unsigned char *)*name;
	bool nqn = !strcmp(shape->key, "nqn");

	if (shape->max)
		return number_name(where, shape, name);
	if (!*s)
		return complain("%s: the %s has no name", where, shape->noun);
	if (*s == '.' || strchr(*name, '/'))
		return complain("%s: \"%s\" cannot be a name: it begins with a dot, or has a slash",
				where, *name);
	if (nqn && strlen(*name) > NQN_MAX)
		return complain("%s: an NQN has up to %d bytes, and \"%s\" has %zu", where,
				NQN_MAX, *name, strlen(*name));
	for (; *s; s++) {
		if (iscntrl(*s) || *s == ' ')
			return complain("%s: \"%s\" cannot be a name: it has a space or a control character",
					where, *name);
	}
	return 0;
}

static int check_text(const char *where, const struct node *node, const char *attr, size_t max)
{
	const char *value = node_get(node, attr);

	if (value && strlen(value) > max)
		return complain("%s: %s: %s has up to %zu characters, and \"%s\" has %zu", where,
				node_words(node), attr, max, value, strlen(value));
	return 0;
}

static int check_subsys(const char *where, struct node *root, const struct node *subsys)
{
	const char *min = node_get(subsys, "attr_cntlid_min");
	const char *max = node_get(subsys, "attr_cntlid_max");
	const struct link *link;
	int err = 0;

	err |= check_text(where, subsys, "attr_serial", SERIAL_MAX);
	err |= check_text(where, subsys, "attr_model", MODEL_MAX);
	if (subsys->links && node_is(subsys, "attr_allow_any_host", "1"))
		err = complain("%s: %s lets in any host, and has a list of those allowed: which of the two?",
			       where, node_words(subsys));
	if (min && max && strtoul(min, NULL, 0) > strtoul(max, NULL, 0))
		err = complain("%s: %s: cntlid_min %s is above cntlid_max %s", where,
			       node_words(subsys), min, max);
	for (link = subsys->links; link; link = link->next) {
		const char *name = link->name;

		if (valid_name(where, &shape_host, &name))
			err = -1;
		else
			node_add(root, &shape_host, name);
	}
	return err;
}

static int check_namespace(const char *where, const struct node *ns)
{
	const char *path = node_get(ns, "device_path");

	if (node_is(ns, "enable", "1") && (!path || !*path))
		return complain("%s: %s is enabled, and has no device_path", where,
				node_words(ns));
	return 0;
}

static int check_port(const char *where, const struct node *root, const struct node *port)
{
	const struct link *link;
	int err = 0;

	for (link = port->links; link; link = link->next) {
		if (!node_find(root, &shape_subsys, link->name))
			err = complain("%s: %s offers %s, which is not among the subsystems",
				       where, node_words(port), link->name);
	}
	if (port->links && !node_get(port, "addr_trtype"))
		err = complain("%s: %s offers subsystems, and has no address: addr.trtype is missing",
			       where, node_words(port));
	return err;
}

int valid_config(const char *where, struct node *root)
{
	const struct node *node, *below;
	int err = 0;

	for_each_node(node, root, &shape_subsys) {
		err |= check_subsys(where, root, node);
		for_each_node(below, node, &shape_ns)
			err |= check_namespace(where, below);
	}
	for_each_node(node, root, &shape_port)
		err |= check_port(where, root, node);
	return err ? -1 : 0;
}
