// SPDX-License-Identifier: GPL-2.0
/* A configuration as JSON, in the form of nvmetcli */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

/* ---- write ---- */

static struct json_object *text(const char *s)
{
	return json_object_new_string(s);
}

static struct json_object *number(const char *s)
{
	return json_object_new_int64(strtoll(s, NULL, 0));
}

static void write_group(struct json_object *obj, const struct node *node, const char *group)
{
	struct json_object *members = NULL;
	size_t len = strlen(group);
	const struct attr *attr;

	for (attr = node->attrs; attr; attr = attr->next) {
		if (strncmp(attr->name, group, len) || attr->name[len] != '_')
			continue;
		if (!members)
			members = json_object_new_object();
		json_object_object_add(members, attr->name + len + 1, text(attr->value));
	}
	if (members)
		json_object_object_add(obj, group, members);
}

/* nvmetcli 0.9 falls over the word "enable" in a passthru, and writes none itself */
static const char *enable_key(const struct schema *shape)
{
	return shape == &schema_passthru ? "enabled" : "enable";
}

static void write_attrs(struct json_object *obj, const struct node *node)
{
	const char *value;
	size_t i;

	for (i = 0; node->shape->groups[i]; i++)
		write_group(obj, node, node->shape->groups[i]);
	for (i = 0; node->shape->bare[i]; i++) {
		value = node_get(node, node->shape->bare[i]);
		if (value)
			json_object_object_add(obj, node->shape->bare[i],
					       strcmp(node->shape->bare[i], "p2pmem") ?
					       number(value) : text(value));
	}
	value = node_get(node, "enable");
	if (value)
		json_object_object_add(obj, enable_key(node->shape), number(value));
	value = node->shape == &schema_ns ? node_get(node, "ana_grpid") : NULL;
	if (value)
		json_object_object_add(obj, "ana_grpid", number(value));
}

/* Each subsystem has a passthru, which few use */
static bool is_unused(const struct node *node)
{
	const char *path = node_get(node, "device_path");

	return node->shape == &schema_passthru && (!path || !*path) && !node_is(node, "enable", "1");
}

static struct json_object *write_node(const struct node *node)
{
	const struct schema *shape = node->shape, * const *part;
	struct json_object *obj = json_object_new_object(), *list;
	const struct link *link;
	const struct node *below;

	if (shape->key)
		json_object_object_add(obj, shape->key,
				       shape->max ? number(node->name) : text(node->name));
	write_attrs(obj, node);
	if (shape->links) {
		list = json_object_new_array();
		for (link = node->links; link; link = link->next)
			json_object_array_add(list, text(link->name));
		json_object_object_add(obj, shape->links, list);
	}
	for (part = shape->parts; *part; part++) {
		list = json_object_new_array();
		for_each_node(below, node, *part) {
			if (!is_unused(below))
				json_object_array_add(list, write_node(below));
		}
		if ((*part)->key || json_object_array_length(list))
			json_object_object_add(obj, (*part)->dir, list);
		else
			json_object_put(list);
	}
	return obj;
}

struct json_object *json_of(const struct node *root)
{
	return write_node(root);
}

/* ---- read ---- */

/* Where in the file: "ports[0].addr" */
struct spot {
	const char *from, *path;
};

static struct spot inside(struct spot at, const char *member)
{
	at.path = mem_fmt("%s%s%s", at.path, *at.path ? "." : "", member);
	return at;
}

static struct spot element(struct spot at, size_t i)
{
	at.path = mem_fmt("%s[%zu]", at.path, i);
	return at;
}

static int wrong_type(struct spot at, const char *expected, struct json_object *got)
{
	return error_msg("%s: %s: expected %s, not %s", at.from,
			 *at.path ? at.path : "the whole", expected,
			 json_type_to_name(json_object_get_type(got)));
}

/* What the kernel takes: text, numbers, and 1 or 0 for true and false; NULL: said */
static const char *value_of(struct spot at, struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_string:
		if (strlen(json_object_get_string(value)) !=
		    (size_t)json_object_get_string_len(value) ||
		    strpbrk(json_object_get_string(value), "\n\r")) {
			error_msg("%s: %s: expected text of one line", at.from, at.path);
			return NULL;
		}
		return mem_str(json_object_get_string(value));
	case json_type_int:
		return mem_str(json_object_get_string(value));
	case json_type_boolean:
		return json_object_get_boolean(value) ? "1" : "0";
	default:
		wrong_type(at, "text or a number", value);
		return NULL;
	}
}

static int read_group(struct spot at, struct node *node, const char *group,
		      struct json_object *members)
{
	if (!json_object_is_type(members, json_type_object))
		return wrong_type(at, "an object with attributes", members);
	json_object_object_foreach(members, name, member) {
		const char *value = value_of(inside(at, name), member);

		if (!value)
			return -1;
		if (!*name || strchr(name, '/'))
			return error_msg("%s: %s: unknown attribute \"%s\"", at.from,
					 at.path, name);
		/* nvmet's words for a path that was never set */
		node_set(node, mem_fmt("%s_%s", group, name),
			 strcmp(value, "(null)") ? value : "");
	}
	return 0;
}

static int read_links(struct spot at, struct node *node, struct json_object *list)
{
	size_t i;

	if (!json_object_is_type(list, json_type_array))
		return wrong_type(at, "a list of names", list);
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *name = json_object_array_get_idx(list, i);
		const char *value;

		if (!json_object_is_type(name, json_type_string))
			return wrong_type(element(at, i), "a name", name);
		value = value_of(element(at, i), name);
		if (!value)
			return -1;
		if (node_linked(node, value))
			return error_msg("%s: %s: %s is there twice", at.from, at.path, value);
		node_link(node, value);
	}
	return 0;
}

static int read_node(struct spot at, struct node *node, struct json_object *obj);

/* The object that a member of a list is, made below @parent; NULL: said */
static struct node *new_node(struct spot at, struct node *parent, const struct schema *shape,
			     struct json_object *obj)
{
	struct json_object *key;
	const char *name = "";

	if (!json_object_is_type(obj, json_type_object)) {
		wrong_type(at, "an object", obj);
		return NULL;
	}
	if (shape->key) {
		if (!json_object_object_get_ex(obj, shape->key, &key)) {
			error_msg("%s: %s: a %s without the member \"%s\"", at.from,
				  at.path, shape->noun, shape->key);
			return NULL;
		}
		name = value_of(inside(at, shape->key), key);
		if (!name || validate_name(mem_fmt("%s: %s", at.from, at.path), shape, &name))
			return NULL;
	}
	if (node_find(parent, shape, name)) {
		error_msg("%s: %s: the %s %s is there twice", at.from, at.path, shape->noun, name);
		return NULL;
	}
	return node_add(parent, shape, name);
}

static int read_list(struct spot at, struct node *parent, const struct schema *shape,
		     struct json_object *list)
{
	size_t i;

	if (!json_object_is_type(list, json_type_array))
		return wrong_type(at, "a list", list);
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *obj = json_object_array_get_idx(list, i);
		struct node *node = new_node(element(at, i), parent, shape, obj);

		if (!node || read_node(element(at, i), node, obj))
			return -1;
	}
	return 0;
}

static const struct schema *part_called(const struct schema *shape, const char *member)
{
	const struct schema * const *part;

	for (part = shape->parts; *part; part++) {
		if (!strcmp((*part)->dir, member))
			return *part;
	}
	return NULL;
}

/* One member of an object. "ana_grpid" is in {"ana": {"grpid": ...}}, too, of newer
 * nvmetcli; both come from one file in configfs.
 */
static int read_member(struct spot at, struct node *node, const char *member,
		       struct json_object *value)
{
	const struct schema *shape = node->shape, *part = part_called(shape, member);
	const char *words;

	if (part)
		return read_list(at, node, part, value);
	if (shape->links && !strcmp(shape->links, member))
		return read_links(at, node, value);
	if (word_in(shape->groups, member))
		return read_group(at, node, member, value);
	if (!strcmp(member, enable_key(shape)))
		member = "enable";
	if (word_in(shape->bare, member) || !strcmp(member, "enable") ||
	    (shape == &schema_ns && !strcmp(member, "ana_grpid"))) {
		words = value_of(at, value);
		if (!words)
			return -1;
		node_set(node, member, words);
		return 0;
	}
	if (!shape->key || strcmp(shape->key, member))
		note_msg("%s: %s: unknown member, ignored", at.from, at.path);
	return 0;
}

static int read_node(struct spot at, struct node *node, struct json_object *obj)
{
	int err = 0;

	json_object_object_foreach(obj, member, value) {
		if (read_member(inside(at, member), node, member, value))
			err = -1;
	}
	return err;
}

static size_t line_of(const char *text, size_t offset)
{
	size_t line = 1, i;

	for (i = 0; i < offset && text[i]; i++)
		line += text[i] == '\n';
	return line;
}

struct node *json_parse(const char *text, const char *from)
{
	struct json_tokener *tokener = json_tokener_new();
	struct spot at = { .from = from, .path = "" };
	struct node *root = node_root();
	struct json_object *obj;
	int err = -1;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	obj = json_tokener_parse_ex(tokener, text, strlen(text) + 1);
	if (json_tokener_get_error(tokener) != json_tokener_success)
		error_msg("%s: line %zu: not JSON: %s", from,
			  line_of(text, json_tokener_get_parse_end(tokener)),
			  json_tokener_error_desc(json_tokener_get_error(tokener)));
	else if (!json_object_is_type(obj, json_type_object))
		wrong_type(at, "an object with \"subsystems\" and \"ports\"", obj);
	else
		err = read_node(at, root, obj);
	json_object_put(obj);
	json_tokener_free(tokener);
	if (!err && validate_config(from, root))
		err = -1;
	return err ? NULL : root;
}
