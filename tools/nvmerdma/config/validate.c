// SPDX-License-Identifier: GPL-2.0
/* What a configuration has to be like, before the kernel is asked */
#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* NVMET_SN_MAX_SIZE, NVMET_MN_MAX_SIZE: fields of Identify Controller */
#define SERIAL_MAX	20
#define MODEL_MAX	40

static int number_name(const char *where, const struct schema *shape, const char **name)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(*name, &end, 10);
	if (!isdigit((unsigned char)**name) || *end || errno || value < shape->min ||
	    value > shape->max)
		return error_msg("%s: %s: invalid %s (expected %u to %u, not \"%s\")", where,
				 shape->noun, shape->key, shape->min, shape->max, *name);
	*name = mem_fmt("%llu", value);
	return 0;
}

int validate_name(const char *where, const struct schema *shape, const char **name)
{
	const unsigned char *s = (const unsigned char *)*name;
	bool nqn = !strcmp(shape->key, "nqn");

	if (shape->max)
		return number_name(where, shape, name);
	if (!*s)
		return error_msg("%s: the %s has no name", where, shape->noun);
	if (*s == '.' || strchr(*name, '/'))
		return error_msg("%s: invalid name \"%s\" (expected no leading dot and no slash)",
				 where, *name);
	if (nqn && strlen(*name) > NQN_MAX)
		return error_msg("%s: invalid NQN (expected up to %d bytes, \"%s\" has %zu)", where,
				 NQN_MAX, *name, strlen(*name));
	for (; *s; s++) {
		if (iscntrl(*s) || *s == ' ')
			return error_msg("%s: invalid name \"%s\" (expected no space and no control character)",
					 where, *name);
	}
	return 0;
}

/* ---- in the kernel's spelling, so that what is the same is seen to be ---- */

/* kstrtobool() takes most of these, and a file may have any; configfs shows 1 and 0 */
static int check_switch(const char *where, struct node *node, const char *attr)
{
	static const char * const words[] = {
		"0", "1", "no", "yes", "off", "on", "false", "true", "n", "y", "f", "t",
	};
	const char *value = node_get(node, attr);
	size_t i;

	if (!value)
		return 0;
	for (i = 0; i < NR(words); i++) {
		if (!strcasecmp(value, words[i])) {
			node_set(node, attr, i % 2 ? "1" : "0");
			return 0;
		}
	}
	return error_msg("%s: %s: %s: invalid value \"%s\" (expected 1 or 0)",
			 where, node_words(node), attr, value);
}

static int check_switches(const char *where, struct node *node)
{
	static const char * const switches[] = {
		"enable", "attr_allow_any_host", "attr_pi_enable", "param_pi_enable",
		"buffered_io", "resv_enable",
	};
	struct node *below;
	int err = 0;
	size_t i;

	for (i = 0; i < NR(switches); i++)
		err |= check_switch(where, node, switches[i]);
	for (below = node->below; below; below = below->next)
		err |= check_switches(where, below);
	return err;
}

/* Fields of Identify that blanks fill up: those at the end of a text are not part of it */
static int check_text(const char *where, struct node *node, const char *attr, size_t max)
{
	const char *value = node_get(node, attr);
	size_t len = value ? strlen(value) : 0;

	if (!value)
		return 0;
	while (len && value[len - 1] == ' ')
		len--;
	if (!len)
		return error_msg("%s: %s: %s is empty, and the kernel would choose one by itself",
				 where, node_words(node), attr);
	if (len > max)
		return error_msg("%s: %s: %s has up to %zu characters, and \"%s\" has %zu", where,
				 node_words(node), attr, max, value, len);
	node_set(node, attr, mem_strn(value, len));
	return 0;
}

/* 1.3.0 is 1.3 */
static void spell_version(struct node *subsys)
{
	const char *version = node_get(subsys, "attr_version");
	unsigned int major, minor;
	int end = 0;

	if (version && sscanf(version, "%u.%u.0%n", &major, &minor, &end) == 2 && end &&
	    !version[end])
		node_set(subsys, "attr_version", mem_fmt("%u.%u", major, minor));
}

/* ---- whole, and without contradictions ---- */

/* nvmet has either, and says of a namespace beside a passthru that it is enabled */
static int check_passthru(const char *where, const struct node *subsys)
{
	const struct node *passthru = node_find(subsys, &schema_passthru, ""), *ns;

	if (!passthru || !node_is(passthru, "enable", "1"))
		return 0;
	for_each_node(ns, subsys, &schema_ns) {
		if (node_is(ns, "enable", "1"))
			return error_msg("%s: %s has a passthru and namespace %s, both enabled; enable only one of them",
					 where, node_words(subsys), ns->name);
	}
	return 0;
}

static int check_subsys(const char *where, struct node *root, struct node *subsys)
{
	const char *min = node_get(subsys, "attr_cntlid_min");
	const char *max = node_get(subsys, "attr_cntlid_max");
	const struct link *link;
	int err = 0;

	spell_version(subsys);
	err |= check_text(where, subsys, "attr_serial", SERIAL_MAX);
	err |= check_text(where, subsys, "attr_model", MODEL_MAX);
	err |= check_passthru(where, subsys);
	if (subsys->links && node_is(subsys, "attr_allow_any_host", "1"))
		err = error_msg("%s: %s allows any host and has a list of allowed hosts; use only one of them",
				where, node_words(subsys));
	if (min && max && strtoul(min, NULL, 0) > strtoul(max, NULL, 0))
		err = error_msg("%s: %s: cntlid_min %s is above cntlid_max %s", where,
				node_words(subsys), min, max);
	for (link = subsys->links; link; link = link->next) {
		const char *name = link->name;

		if (validate_name(where, &schema_host, &name))
			err = -1;
		else
			node_add(root, &schema_host, name);
	}
	return err;
}

static int check_namespace(const char *where, const struct node *ns)
{
	const char *path = node_get(ns, "device_path");

	if (node_is(ns, "enable", "1") && (!path || !*path))
		return error_msg("%s: %s is enabled, and has no device_path", where,
				 node_words(ns));
	if (path && *path && isspace((unsigned char)path[strlen(path) - 1]))
		return error_msg("%s: %s: device_path \"%s\" ends with white space, which configfs does not tell from none",
				 where, node_words(ns), path);
	return 0;
}

static int check_port(const char *where, const struct node *root, const struct node *port)
{
	const struct link *link;
	int err = 0;

	for (link = port->links; link; link = link->next) {
		if (!node_find(root, &schema_subsys, link->name))
			err = error_msg("%s: %s offers %s, which is not among the subsystems",
					where, node_words(port), link->name);
	}
	if (port->links && !node_get(port, "addr_trtype"))
		err = error_msg("%s: %s offers subsystems, and has no address: addr.trtype is missing",
				where, node_words(port));
	if (node_is(port, "addr_tsas", "tls1.3") && node_is(port, "addr_treq", "not specified"))
		err = error_msg("%s: %s has TLS, and addr.treq is \"not specified\": is TLS \"required\" or \"not required\"?",
				where, node_words(port));
	return err;
}

int validate_config(const char *where, struct node *root)
{
	struct node *node, *below;
	int err = check_switches(where, root);

	for_each_node(node, root, &schema_subsys) {
		err |= check_subsys(where, root, node);
		for_each_node(below, node, &schema_ns)
			err |= check_namespace(where, below);
	}
	for_each_node(node, root, &schema_port)
		err |= check_port(where, root, node);
	return err ? -1 : 0;
}
