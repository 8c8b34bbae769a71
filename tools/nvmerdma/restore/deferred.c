// SPDX-License-Identifier: GPL-2.0
/*
 * What a restore has left disabled. A line for each: where it is in configfs, the device or
 * address that it had, why; between them a tab.
 */
#include "restore/restore.h"

#include <string.h>
#include <unistd.h>

#include "common/util.h"

const char *deferred_file = DEFERRED_FILE;

static const char *what_of(const struct node *node)
{
	return node_get(node, node->shape == &schema_port ? "addr_traddr" : "device_path") ?: "";
}

static bool is_on(const struct node *node)
{
	return node->shape == &schema_port ? !!node->links : node_is(node, "enable", "1");
}

static const char *head_of(const struct node *node)
{
	return mem_fmt("%s\t%s\t", node_path(node), what_of(node));
}

static const char *why_in(const char *text, const struct node *node)
{
	const char *head = head_of(node), *line = text;

	while (line && strncmp(line, head, strlen(head))) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	line = line ? line + strlen(head) : NULL;
	return line ? mem_strn(line, strcspn(line, "\n")) : NULL;
}

const char *deferred_reason(const struct node *node)
{
	return is_on(node) ? NULL : why_in(file_read("%s", deferred_file), node);
}

bool deferred_has(const struct node *node)
{
	return why_in(file_read("%s", deferred_file), node);
}

void deferred_clear(void)
{
	unlink(deferred_file);
}

/* Lines of before that are true, but those that come anew */
static const char *still_left(const struct node *parent, const char *lines,
			      const char *old)
{
	const struct node *node;
	const char *why;

	for (node = parent->below; node; node = node->next) {
		lines = still_left(node, lines, old);
		why = is_on(node) || why_in(lines, node) ? NULL : why_in(old, node);
		if (why)
			lines = mem_fmt("%s%s%s\n", lines, head_of(node), why);
	}
	return lines;
}

void deferred_record(const struct node *now, const struct unavailable *missing)
{
	const char *old = file_read("%s", deferred_file), *lines = "";
	size_t i;

	if (!old && !missing->nr)
		return;
	for (i = 0; i < missing->nr; i++)
		lines = mem_fmt("%s%s%s\n", lines, head_of(missing->node[i]), missing->why[i]);
	lines = still_left(now, lines, old);
	if (!*lines)
		unlink(deferred_file);
	else if (replace_file(deferred_file, lines, 0600))
		note_msg("'nvmerdma save' would write what is left disabled as disabled");
}
