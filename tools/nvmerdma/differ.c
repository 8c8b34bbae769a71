// SPDX-License-Identifier: GPL-2.0
/* What differs between an object as it is and as it is wanted */
#include "differ.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lowered.h"

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
		return !shape_secret(want->name);
	return !strcmp(want->name, "param_mdts") && !strcmp(want->value, "-1");
}

bool differs(const struct node *have, const struct shape *shape, const struct attr *want)
{
	const char *value = have ? node_get(have, want->name) : NULL;

	if (cannot_be_written(want))
		return false;
	if (!value && have && lack_of(want) != LACK_FAILS)
		return false;
	if (!value)
		value = shape_default(shape, want->name);
	return !value || !attr_same(want->name, value, want->value);
}

bool differs_in_use(const struct node *have, const struct node *want)
{
	const struct attr *attr;

	for (attr = want->attrs; attr; attr = attr->next) {
		if (strcmp(attr->name, "enable") && !word_in(want->shape->live, attr->name) &&
		    differs(have, want->shape, attr) &&
		    !(want->links && lowered(have, attr)))
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
	const struct shape *shape = have->shape;

	return word_in(shape->fixed, attr->name) ||
	       (shape == &shape_port && !strcmp(attr->name, "param_mdts") &&
		node_is(have, attr->name, "-1"));
}

bool differs_for_good(const struct node *have, const struct node *want)
{
	const struct attr *attr;

	for (attr = want->attrs; attr; attr = attr->next) {
		if (is_fixed(have, attr) && node_get(have, attr->name) &&
		    differs(have, want->shape, attr))
			return true;
	}
	return false;
}
