// SPDX-License-Identifier: GPL-2.0
/*
 * The target's configuration as the kernel has it. Of an object's attributes those count that
 * can be read and written.
 */
#include "config/config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "rdma/rdma.h"

static bool is_attr(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0600) == 0600;
}

/* What nvmet shows for a path that was never set */
static const char *cleaned(const char *value)
{
	return strcmp(value, "(null)") ? value : "";
}

static int read_attrs(struct node *node, const char *path)
{
	struct names names = names_in("%s", path);
	size_t i;

	for (i = 0; i < names.nr; i++) {
		const char *attr = mem_fmt("%s/%s", path, names.name[i]);
		const char *value;

		if (!is_attr(attr))
			continue;
		value = file_read("%s", attr);
		if (!value && errno == ENOENT)
			continue;		/* the object goes just now */
		if (!value)
			return error_msg("%s cannot be read: %m", attr);
		node_set(node, names.name[i], cleaned(value));
	}
	return 0;
}

static bool in_tree_loaded(const char *top)
{
	return file_there("%s/sys/module/nvmet_rdma", top) &&
	       !module_loaded_is_ours(top, "nvmet_rdma");
}

static int read_node(struct node *node, const char *path, const char *top)
{
	const struct schema * const *shape;
	struct names names;
	size_t i;

	if (read_attrs(node, path))
		return -1;
	if (node->shape->links) {
		names = names_in("%s/%s", path, node->shape->links);
		for (i = 0; i < names.nr; i++)
			node_link(node, names.name[i]);
	}
	if (node->shape == &schema_port && node_is(node, "addr_trtype", "rdma"))
		node->in_tree = in_tree_loaded(top);
	for (shape = node->shape->parts; *shape; shape++) {
		const char *dir = mem_fmt("%s/%s", path, (*shape)->dir);

		if (!(*shape)->key) {
			if (file_there("%s", dir) &&
			    read_node(node_add(node, *shape, ""), dir, top))
				return -1;
			continue;
		}
		names = names_in("%s", dir);
		for (i = 0; i < names.nr; i++) {
			if (read_node(node_add(node, *shape, names.name[i]),
				      mem_fmt("%s/%s", dir, names.name[i]), top))
				return -1;
		}
	}
	return 0;
}

struct node *configfs_read_below(const char *top)
{
	struct node *root = node_root();

	return read_node(root, mem_fmt("%s/sys/kernel/config/nvmet", top), top) ? NULL : root;
}
