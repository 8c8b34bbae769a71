// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a port's parameters when it is enabled.
 *
 * nvmet brings the size of queues into its limits. Protection information is taken back
 * where the RDMA device has none: by ours when the port listens, by the kernel's own
 * nvmet-rdma when the first host connects. That one also lowers sizes that are too large
 * for it, which ours refuses.
 */
#include "lowered.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "differ.h"

/* NVMET_MIN_QUEUE_SIZE, NVMET_MAX_QUEUE_SIZE: of any transport */
#define QUEUE_MIN	16
#define QUEUE_MAX	1024
/* Of the kernel's own nvmet-rdma: NVME_RDMA_MAX_QUEUE_SIZE, and inline data the larger of
 * these 16 KiB and a page
 */
#define IN_TREE_QUEUE	256
#define IN_TREE_INLINE	16384

static long clamped(long value, long min, long max)
{
	return value < min ? min : value > max ? max : value;
}

static long inline_max(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return page > IN_TREE_INLINE ? page : IN_TREE_INLINE;
}

bool lowered(const struct node *port, const struct attr *want)
{
	const char *value = port ? node_get(port, want->name) : NULL;
	long asked, has;

	if (!value || port->shape != &shape_port || !port->links ||
	    strncmp(want->name, "param_", 6))
		return false;
	asked = strtol(want->value, NULL, 0);
	has = strtol(value, NULL, 0);
	if (asked == -1)
		return true;		/* the transport has chosen */
	if (!strcmp(want->name, "param_pi_enable"))
		return asked == 1 && has == 0;
	if (!strcmp(want->name, "param_max_queue_size"))
		return has == clamped(asked, QUEUE_MIN,
				      port->in_tree ? IN_TREE_QUEUE : QUEUE_MAX);
	return !strcmp(want->name, "param_inline_data_size") && port->in_tree &&
	       asked > has && has == inline_max();
}

static bool same_place(const struct node *a, const struct node *b)
{
	static const char * const place[] = { "addr_trtype", "addr_traddr", "addr_trsvcid" };
	size_t i;

	for (i = 0; i < NR(place); i++) {
		const char *value = node_get(a, place[i]);

		if (!value || !node_is(b, place[i], value))
			return false;
	}
	return true;
}

void lowered_keep(struct node *root, const struct node *asked)
{
	const struct node *wish;
	const struct attr *attr;
	struct node *port;

	for_each_node(port, root, &shape_port) {
		wish = asked ? node_find(asked, &shape_port, port->name) : NULL;
		if (!wish || !same_place(port, wish))
			continue;
		for (attr = wish->attrs; attr; attr = attr->next) {
			if (!lowered(port, attr) || !strcmp(attr->value, "-1") ||
			    attr_same(attr->name, node_get(port, attr->name), attr->value))
				continue;
			warn("%s: %s is %s now, and %s is saved, which was asked for",
			     node_words(port), attr->name, node_get(port, attr->name),
			     attr->value);
			node_set(port, attr->name, attr->value);
		}
	}
}
