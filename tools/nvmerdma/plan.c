// SPDX-License-Identifier: GPL-2.0
/*
 * The steps from one configuration to another.
 *
 * The order, and what of nvmet asks for it (drivers/nvme/target/configfs.c, core.c):
 *
 *  1. Ports let go of subsystems that they no longer offer. A port whose own address or
 *     parameters change lets go of all: it takes no change while it has any. The first
 *     link starts to listen, the last one ends it.
 *  2. Namespaces that go or change are disabled: they take few changes otherwise.
 *  3. Objects that go are removed, from the innermost out; links to a host before it.
 *  4. Hosts, then subsystems with their namespaces, then ports are made and written;
 *     allow_any_host goes before links to hosts, with which it cannot be set.
 *  5. Namespaces are enabled, then ports offer what they have to.
 *
 * An object that hosts know by values which nvmet lets nobody change later goes and
 * comes anew.
 */
#include "plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct step *add(struct plan *plan, enum step_kind kind, const struct node *node)
{
	struct step *step;

	plan->step = mem_grow(plan->step, plan->nr, sizeof(*step));
	step = &plan->step[plan->nr++];
	*step = (struct step) { .kind = kind, .node = node };
	return step;
}

static void add_link(struct plan *plan, enum step_kind kind, const struct node *node,
		     const char *name)
{
	add(plan, kind, node)->name = name;
}

/* ---- what differs ---- */

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

/*
 * Whether the kernel would see no difference. A port for which the transport was to
 * choose (-1) shows what that has chosen.
 */
static bool same(const char *attr, const char *have, const char *want)
{
	if (!strcmp(have, want) || same_number(have, want))
		return true;
	if (!strncmp(attr, "param_", 6) && !strcmp(want, "-1"))
		return true;
	return is_id(attr) && same_id(have, want);
}

/* What a kernel without the attribute does anyway; "tls1.3" is not among it */
static bool optional(const struct attr *want)
{
	return !strcmp(want->name, "attr_firmware") ||
	       (!strcmp(want->name, "addr_tsas") && strcmp(want->value, "tls1.3"));
}

/* Whether @want says of an attribute what @have has not; @have is NULL for a new object */
static bool changes(const struct node *have, const struct shape *shape,
		    const struct attr *want)
{
	const char *value = have ? node_get(have, want->name) : NULL;

	if (!value && have && optional(want))
		return false;
	/* Nothing but a key can be made empty again */
	if (!*want->value && !shape_secret(want->name))
		return false;
	if (!value)
		value = shape_default(shape, want->name);
	return !value || !same(want->name, value, want->value);
}

/* Whether an object changes in what it takes only while it is disabled */
static bool changes_disabled(const struct node *have, const struct node *want)
{
	const struct attr *attr;

	for (attr = want->attrs; attr; attr = attr->next) {
		if (strcmp(attr->name, "enable") && !word_in(want->shape->live, attr->name) &&
		    changes(have, want->shape, attr))
			return true;
	}
	return false;
}

/* Whether it has to be made anew */
static bool changes_identity(const struct node *have, const struct node *want)
{
	const struct attr *attr;

	for (attr = want->attrs; attr; attr = attr->next) {
		if (word_in(want->shape->fixed, attr->name) && node_get(have, attr->name) &&
		    changes(have, want->shape, attr))
			return true;
	}
	return false;
}

/* The object of the other configuration that @node goes on as, or comes from; NULL if it
 * goes, or is new
 */
static const struct node *goes_on(const struct node *have, const struct node *want_parent)
{
	const struct node *want;

	if (!want_parent)
		return NULL;
	want = node_find(want_parent, have->shape, have->name);
	return want && !changes_identity(have, want) ? want : NULL;
}

static const struct node *comes_from(const struct node *want, const struct node *have_parent)
{
	const struct node *have;

	if (!have_parent)
		return NULL;
	have = node_find(have_parent, want->shape, want->name);
	return have && !changes_identity(have, want) ? have : NULL;
}

/* Whether a link of @have is there all the time */
static bool link_stays(const struct node *have, const struct node *have_root,
		       const struct node *want, const struct node *want_root, const char *name)
{
	const struct node *to = node_find(have_root, have->shape->linked, name);

	if (!want || !node_linked(want, name) || !to || !goes_on(to, want_root))
		return false;
	return have->shape != &shape_port || !changes_disabled(have, want);
}

/* ---- 1 to 3: what goes ---- */

static void drop_links(struct plan *plan, const struct node *have, const struct node *have_root,
		       const struct node *want, const struct node *want_root)
{
	const struct link *link;

	for (link = have->links; link; link = link->next) {
		if (!link_stays(have, have_root, want, want_root, link->name))
			add_link(plan, STEP_UNLINK, have, link->name);
	}
}

static bool is_enabled(const struct node *node)
{
	return node && node_is(node, "enable", "1");
}

/* Whether it is enabled, and has to be something else for a while or for good */
static bool must_disable(const struct node *have, const struct node *want)
{
	if (!is_enabled(have))
		return false;
	return !want || node_is(want, "enable", "0") || changes_disabled(have, want);
}

static void disable(struct plan *plan, const struct node *have)
{
	struct step *step = add(plan, STEP_WRITE, have);

	step->name = "enable";
	step->value = "0";
	step->old = "1";
}

/* Objects below one that goes or goes on: what goes, and what changes */
static void drop_below(struct plan *plan, const struct node *have, const struct node *want)
{
	const struct node *below, *on;

	for (below = have->below; below; below = below->next) {
		on = goes_on(below, want);
		if (must_disable(below, on))
			disable(plan, below);
		if (!on && !node_made(below))
			add(plan, STEP_REMOVE, below);
	}
}

static void drop(struct plan *plan, const struct node *have, const struct node *want,
		 const struct shape *shape)
{
	const struct node *node, *on;

	for_each_node(node, have, shape) {
		on = goes_on(node, want);
		if (shape != &shape_port)
			drop_links(plan, node, have, on, want);
		drop_below(plan, node, on);
		if (!on)
			add(plan, STEP_REMOVE, node);
	}
}

/* ---- 4 and 5: what comes ---- */

static void write_attr(struct plan *plan, const struct node *have, const struct node *want,
		       const char *name)
{
	const struct attr *attr;
	struct step *step;

	for (attr = want->attrs; attr && strcmp(attr->name, name); attr = attr->next)
		;
	if (!attr || !changes(have, want->shape, attr))
		return;
	step = add(plan, STEP_WRITE, want);
	step->name = attr->name;
	step->value = attr->value;
	step->old = have ? node_get(have, name) : NULL;
	step->optional = optional(attr);
}

/*
 * The least controller ID is below the greatest, also for a while (6.1 takes no two that
 * are the same): where all new ones are below the old ones, the least goes first.
 */
static const char * const *first_of(const struct node *have, const struct node *want)
{
	static const char * const least_first[] = {
		"attr_allow_any_host", "attr_cntlid_min", "attr_cntlid_max", NULL,
	};
	const char *least = have ? node_get(have, "attr_cntlid_min") : NULL;
	const char *greatest = node_get(want, "attr_cntlid_max");

	if (least && greatest && strtoul(greatest, NULL, 0) <= strtoul(least, NULL, 0))
		return least_first;
	return want->shape->first;
}

/* All but "enable" */
static void write_attrs(struct plan *plan, const struct node *have, const struct node *want)
{
	const char * const *first = first_of(have, want);
	const struct attr *attr;
	size_t i;

	for (i = 0; first[i]; i++)
		write_attr(plan, have, want, first[i]);
	for (attr = want->attrs; attr; attr = attr->next) {
		if (!word_in(first, attr->name) && strcmp(attr->name, "enable"))
			write_attr(plan, have, want, attr->name);
	}
}

static void enable(struct plan *plan, const struct node *have, const struct node *want)
{
	/* What is not said stays: also if it was disabled for another change */
	bool wanted = is_enabled(want) || (!node_get(want, "enable") && is_enabled(have));
	struct step *step;

	if (!wanted || (is_enabled(have) && !must_disable(have, want)))
		return;
	step = add(plan, STEP_WRITE, want);
	step->name = "enable";
	step->value = "1";
	step->old = have ? "0" : NULL;
}

static void bring_links(struct plan *plan, const struct node *have_root,
			const struct node *have, const struct node *want)
{
	const struct link *link;

	for (link = want->links; link; link = link->next) {
		if (!have || !node_linked(have, link->name) ||
		    !link_stays(have, have_root, want, want->parent, link->name))
			add_link(plan, STEP_LINK, want, link->name);
	}
}

/* An object, with all that it has but for the links of a port */
static void bring(struct plan *plan, const struct node *have_root, const struct node *have,
		  const struct node *want)
{
	const struct node *below;

	if (!have && !node_made(want))
		add(plan, STEP_MAKE, want);
	write_attrs(plan, have, want);
	if (want->shape != &shape_port)
		bring_links(plan, have_root, have, want);
	for (below = want->below; below; below = below->next) {
		const struct node *from = have ? comes_from(below, have) : NULL;

		bring(plan, have_root, from, below);
		enable(plan, from, below);
	}
}

struct plan plan_make(const struct node *have, const struct node *want)
{
	const struct shape * const *shape;
	struct plan plan = { 0 };
	const struct node *node;

	for_each_node(node, have, &shape_port)
		drop_links(&plan, node, have, goes_on(node, want), want);
	drop(&plan, have, want, &shape_port);
	drop(&plan, have, want, &shape_subsys);
	drop(&plan, have, want, &shape_host);
	write_attrs(&plan, have, want);
	for (shape = want->shape->parts; *shape; shape++) {
		for_each_node(node, want, *shape)
			bring(&plan, have, comes_from(node, have), node);
	}
	for_each_node(node, want, &shape_port)
		bring_links(&plan, have, comes_from(node, have), node);
	return plan;
}

struct plan plan_make_again(const struct node *node)
{
	struct plan plan = { 0 };
	struct plan some = { 0 };
	size_t i;

	write_attrs(&plan, NULL, node);
	for (i = 0; i < plan.nr; i++) {
		if (*plan.step[i].value)
			*add(&some, STEP_WRITE, node) = plan.step[i];
	}
	return some;
}
