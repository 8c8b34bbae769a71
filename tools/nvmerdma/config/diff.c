// SPDX-License-Identifier: GPL-2.0
/* What differs between an object as it is and as it is wanted */
#include "config/plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_id(const char *attr)
{
	return !strcmp(attr, "device_uuid") || !strcmp(attr, "device_nguid");
}

/* 16 bytes in hexadecimal, with or without what parts them */
static bool same_id(const char *a, const char *b)
{
	for (;;) {
		a += strspn(a, "-:");
		b += strspn(b, "-:");
		if (!*a || !*b)
			return *a == *b;
		if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
			return false;
	}
}

/* 0x10 is 16 */
static bool same_number(const char *a, const char *b)
{
	char *enda, *endb;

	if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b))
		return false;
	return strtoull(a, &enda, 0) == strtoull(b, &endb, 0) && !*enda && !*endb;
}

bool attr_same(const char *attr, const char *a, const char *b)
{
	return !strcmp(a, b) || same_number(a, b) || (is_id(attr) && same_id(a, b));
}

/*
 * 6.1 knows no TLS, and shows no tsas; the firmware's revision is but a name. What a port
 * of an older kernel takes in one queue or command is that kernel's own limit. Offload to the
 * card is MLNX_OFED's: without it the same data goes another way.
 */
enum lack lack_of(const struct attr *want)
{
	static const char * const usual[] = { "", "none", "connected", NULL };
	static const char * const left_out[] = {
		"discovery_nqn", "param_max_queue_size", "param_mdts", NULL,
	};

	if (!strcmp(want->name, "addr_tsas"))
		return word_in(usual, want->value) ? LACK_NOTHING : LACK_FAILS;
	if (!strcmp(want->name, "attr_firmware"))
		return LACK_NOTHING;
	if (!strncmp(want->name, "attr_offload", 12) || !strncmp(want->name, "param_offload", 13))
		return strcmp(want->value, "0") ? LACK_SAID : LACK_NOTHING;
	return word_in(left_out, want->name) ? LACK_SAID : LACK_FAILS;
}

/* What no kernel takes, though it may show it: but for keys nothing can be made empty */
static bool cannot_be_written(const struct attr *want)
{
	if (!*want->value)
		return !schema_secret(want->name);
	return !strcmp(want->name, "param_mdts") && !strcmp(want->value, "-1");
}

bool attr_differs(const struct node *have, const struct schema *shape, const struct attr *want)
{
	const char *value = have ? node_get(have, want->name) : NULL;

	if (cannot_be_written(want))
		return false;
	if (!value && have && lack_of(want) != LACK_FAILS)
		return false;
	if (!value)
		value = schema_default(shape, want->name);
	return !value || !attr_same(want->name, value, want->value);
}

bool needs_disable(const struct node *have, const struct node *want)
{
	const struct attr *attr;

	for (attr = want->attrs; attr; attr = attr->next) {
		if (strcmp(attr->name, "enable") && !word_in(want->shape->live, attr->name) &&
		    attr_differs(have, want->shape, attr) &&
		    !(want->links && attr_lowered(have, attr)))
			return true;
	}
	return false;
}

/*
 * Once a port has an mdts there is no way back to -1, and a step that cannot be undone
 * is none for a plan: such a port comes anew, which its hosts do not notice more.
 */
static bool is_fixed(const struct node *have, const struct attr *attr)
{
	const struct schema *shape = have->shape;

	return word_in(shape->fixed, attr->name) ||
	       (shape == &schema_port && !strcmp(attr->name, "param_mdts") &&
		node_is(have, attr->name, "-1"));
}

bool needs_recreate(const struct node *have, const struct node *want)
{
	const struct attr *attr;

	for (attr = want->attrs; attr; attr = attr->next) {
		if (is_fixed(have, attr) && node_get(have, attr->name) &&
		    attr_differs(have, want->shape, attr))
			return true;
	}
	return false;
}

/*
 * What becomes of a port's parameters when it is enabled.
 *
 * nvmet brings the size of queues into its limits. Protection information is taken back
 * where the RDMA device has none: by ours when the port listens, by the kernel's own
 * nvmet-rdma when the first host connects. That one also lowers sizes that are too large
 * for it, which ours refuses.
 */

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

bool attr_lowered(const struct node *port, const struct attr *want)
{
	const char *value = port ? node_get(port, want->name) : NULL;
	long asked, has;

	if (!value || port->shape != &schema_port || !port->links ||
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

void keep_requested_values(struct node *root, const struct node *asked)
{
	const struct node *wish;
	const struct attr *attr;
	struct node *port;

	for_each_node(port, root, &schema_port) {
		wish = asked ? node_find(asked, &schema_port, port->name) : NULL;
		if (!wish || !same_place(port, wish))
			continue;
		for (attr = wish->attrs; attr; attr = attr->next) {
			if (!attr_lowered(port, attr) || !strcmp(attr->value, "-1") ||
			    attr_same(attr->name, node_get(port, attr->name), attr->value))
				continue;
			note_msg("%s: %s is %s now; %s is saved, as requested",
				 node_words(port), attr->name, node_get(port, attr->name),
				 attr->value);
			node_set(port, attr->name, attr->value);
		}
	}
}
