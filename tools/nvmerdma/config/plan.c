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
 * comes anew. What differs is in config/diff.c, what is left unsaid in config/merge.c.
 */
#include "config/plan.h"

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

static struct step *add_link(struct plan *plan, enum step_kind kind, const struct node *node,
			     const char *name)
{
	struct step *step = add(plan, kind, node);

	step->name = name;
	return step;
}

/* ---- what goes on ---- */

/* The object that @have goes on as below @want_parent, or that @want comes from; NULL if it
 * goes, or is new
 */
static const struct node *goes_on(const struct node *have, const struct node *want_parent)
{
	const struct node *want =
		want_parent ? node_find(want_parent, have->shape, have->name) : NULL;

	return want && !needs_recreate(have, want) ? want : NULL;
}

static const struct node *comes_from(const struct node *want, const struct node *have_parent)
{
	const struct node *have =
		have_parent ? node_find(have_parent, want->shape, want->name) : NULL;

	return have && !needs_recreate(have, want) ? have : NULL;
}

/* Whether a link of @have is there all the time */
static bool link_stays(const struct node *have, const struct node *have_root,
		       const struct node *want, const struct node *want_root, const char *name)
{
	const struct node *to = node_find(have_root, have->shape->linked, name);

	if (!want || !node_linked(want, name) || !to || !goes_on(to, want_root))
		return false;
	return have->shape != &schema_port || !needs_disable(have, want);
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
	return !want || node_is(want, "enable", "0") || needs_disable(have, want);
}

static void switch_to(struct plan *plan, const struct node *node, const char *value,
		      const char *old)
{
	*add(plan, STEP_WRITE, node) = (struct step) {
		.kind = STEP_WRITE, .node = node, .name = "enable", .value = value, .old = old,
	};
}

/* Objects below one that goes or goes on: what goes, and what changes */
static void drop_below(struct plan *plan, const struct node *have, const struct node *want)
{
	const struct node *below, *on;

	for (below = have->below; below; below = below->next) {
		on = goes_on(below, want);
		if (must_disable(below, on))
			switch_to(plan, below, "0", "1");
		if (!on && !node_made(below))
			add(plan, STEP_REMOVE, below);
	}
}

static void drop(struct plan *plan, const struct node *have, const struct node *want,
		 const struct schema *shape)
{
	const struct node *node, *on;

	for_each_node(node, have, shape) {
		on = goes_on(node, want);
		if (shape != &schema_port)
			drop_links(plan, node, have, on, want);
		drop_below(plan, node, on);
		if (!on)
			add(plan, STEP_REMOVE, node);
	}
}

/* ---- 4 and 5: what comes ---- */

static struct step write_step(const struct node *have, const struct node *want,
			      const struct attr *attr)
{
	const char *old = have ? node_get(have, attr->name) : NULL;

	return (struct step) {
		.kind = STEP_WRITE, .node = want, .was = have, .name = attr->name,
		.value = attr->value, .old = old,
		.optional = !old && lack_of(attr) != LACK_FAILS,
	};
}

static bool wrote(const struct plan *plan, size_t from, const char *name)
{
	for (; from < plan->nr; from++) {
		if (!strcmp(plan->step[from].name, name))
			return true;
	}
	return false;
}

/* To write addr_trtype puts addr_tsas back, and to write that addr_treq: they follow */
static bool follows(const struct plan *plan, size_t from, const struct node *have,
		    const struct attr *attr)
{
	if (!have || !*attr->value || !node_get(have, attr->name))
		return false;
	return (!strcmp(attr->name, "addr_tsas") && wrote(plan, from, "addr_trtype")) ||
	       (!strcmp(attr->name, "addr_treq") && wrote(plan, from, "addr_tsas"));
}

/* @from: where the steps of this object's attributes begin */
static void write_attr(struct plan *plan, size_t from, const struct node *have,
		       const struct node *want, const struct attr *attr)
{
	if (attr && (attr_differs(have, want->shape, attr) || follows(plan, from, have, attr)))
		*add(plan, STEP_WRITE, want) = write_step(have, want, attr);
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
	size_t from = plan->nr, i;

	for (i = 0; first[i]; i++)
		write_attr(plan, from, have, want, node_attr(want, first[i]));
	for (attr = want->attrs; attr; attr = attr->next) {
		if (!word_in(first, attr->name) && strcmp(attr->name, "enable"))
			write_attr(plan, from, have, want, attr);
	}
}

/* An attribute of an object that goes on, not written: is it wanted all the same? */
static bool is_left(const struct node *have, const struct node *want, const struct attr *attr,
		    bool written)
{
	const char *value = node_get(have, attr->name);
	const char *usual = value ?: schema_default(want->shape, attr->name);

	if (usual && attr_same(attr->name, usual, attr->value))
		return false;
	if (!value)
		return lack_of(attr) == LACK_SAID;
	return !written && strcmp(attr->value, "-1") && attr_lowered(have, attr);
}

/* A port in use is left alone unless something has to change: then all that differs is
 * written, and may be lowered once more
 */
static void change_attrs(struct plan *plan, const struct node *have, const struct node *want)
{
	bool used = have && have->shape == &schema_port && have->links && want->links;
	bool written = !used || needs_disable(have, want);
	const struct attr *attr;

	if (written)
		write_attrs(plan, have, want);
	for (attr = want->attrs; have && attr; attr = attr->next) {
		if (!is_left(have, want, attr, written))
			continue;
		mem_push(plan->left, plan->nr_left, write_step(have, want, attr));
	}
}

static void enable(struct plan *plan, const struct node *have, const struct node *want)
{
	if (is_enabled(want) && (!is_enabled(have) || must_disable(have, want)))
		switch_to(plan, want, "1", have ? "0" : NULL);
}

static void bring_links(struct plan *plan, const struct node *have_root,
			const struct node *have, const struct node *want)
{
	bool idle = want->shape == &schema_port;
	const struct link *link;
	struct step *step;

	for (link = have ? have->links : NULL; link; link = link->next)
		idle = idle && !link_stays(have, have_root, want, want->parent, link->name);
	for (link = want->links; link; link = link->next) {
		if (have && node_linked(have, link->name) &&
		    link_stays(have, have_root, want, want->parent, link->name))
			continue;
		step = add_link(plan, STEP_LINK, want, link->name);
		step->was = have;
		step->starts = idle;
		idle = false;
	}
}

/* An object, with all that it has but for the links of a port */
static void bring(struct plan *plan, const struct node *have_root, const struct node *have,
		  const struct node *want)
{
	const struct node *below;

	if (!have && !node_made(want))
		add(plan, STEP_MAKE, want);
	change_attrs(plan, have, want);
	if (want->shape != &schema_port)
		bring_links(plan, have_root, have, want);
	for (below = want->below; below; below = below->next) {
		const struct node *from = comes_from(below, have);

		bring(plan, have_root, from, below);
		enable(plan, from, below);
	}
}

struct plan plan_make(const struct node *have, const struct node *wanted)
{
	const struct node *want = merge_unnamed(have, wanted), *node;
	const struct schema * const *shape;
	struct plan plan = { 0 };

	for_each_node(node, have, &schema_port)
		drop_links(&plan, node, have, goes_on(node, want), want);
	drop(&plan, have, want, &schema_port);
	drop(&plan, have, want, &schema_subsys);
	drop(&plan, have, want, &schema_host);
	change_attrs(&plan, have, want);
	for (shape = want->shape->parts; *shape; shape++) {
		for_each_node(node, want, *shape)
			bring(&plan, have, comes_from(node, have), node);
	}
	for_each_node(node, want, &schema_port)
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

struct plan plan_write_back(const struct node *now, const struct node *was)
{
	struct plan plan = { 0 };

	write_attrs(&plan, now, was);
	return plan;
}
