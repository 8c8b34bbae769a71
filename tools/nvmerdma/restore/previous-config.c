// SPDX-License-Identifier: GPL-2.0
/* What the file of the configuration has, and what is to become of it */
#include "restore/restore.h"

#include <string.h>

#include "config/plan.h"

static bool is_wanted(const struct node *wish)
{
	return wish->shape == &schema_port || node_is(wish, "enable", "1");
}

/* Of another file, that is all that is known: it was to be; a port's links are not */
static bool enable(struct node *node)
{
	if (node->shape == &schema_port)
		return false;
	node_set(node, "enable", "1");
	return true;
}

static void keep_left(struct node *root, const struct node *parent, const struct node *kept)
{
	const struct node *wish;
	struct node *node;
	const char *why;

	for (node = parent->below; node; node = node->next) {
		wish = kept ? node_find(kept, node->shape, node->name) : NULL;
		keep_left(root, node, wish);
		why = deferred_reason(node);
		if (why &&
		    (wish ? is_wanted(wish) && unavailable_enable(root, wish) : enable(node)))
			note_msg("%s is saved as enabled, as it was: %s", node_words(node), why);
	}
}

void keep_deferred(struct node *root, const struct node *kept)
{
	keep_left(root, root, kept);
}

/* How many of a shape right below @kept, and so on, are in neither of two configurations */
static size_t lost(const struct node *kept, const struct schema *shape, const struct node *root,
		   const struct node *had)
{
	const struct node *node;
	size_t nr = 0;

	for (node = kept->below; node; node = node->next) {
		nr += lost(node, shape, root, had);
		nr += node->shape == shape && !node_same(root, node) && !node_same(had, node);
	}
	return nr;
}

/* What a restore has left out is no change */
static bool is_left(const struct step *step, const struct node *have)
{
	const struct node *was = node_same(have, step->node);

	return was && deferred_reason(was) &&
	       (step->kind == STEP_LINK ||
		(step->kind == STEP_WRITE && !strcmp(step->name, "enable")));
}

/* Whether a restore of the file would change something, and not by taking away */
static bool values_differ(const struct node *have, const struct node *kept)
{
	struct node *want = merge_unnamed(have, kept), *now = node_copy(have);
	struct plan plan;
	size_t i;

	standby_apply(have, want);
	standby_apply(have, now);
	merge_others(want, now);
	plan = plan_make(now, want);
	for (i = 0; i < plan.nr; i++) {
		if (!is_left(&plan.step[i], have))
			return true;
	}
	return false;
}

const char *describe_lost(const struct node *kept, const struct node *root,
			  const struct node *had)
{
	static const struct schema * const shapes[] = { &schema_subsys, &schema_ns, &schema_port };
	const char *words = "";
	size_t i, nr;

	if (!values_differ(root, kept) || !values_differ(had, kept))
		return NULL;
	for (i = 0; i < NR(shapes); i++) {
		nr = lost(kept, shapes[i], root, had);
		if (nr)
			words = mem_fmt("%s%s%s", words, *words ? ", " : "",
					count_words(nr, shapes[i]->noun));
	}
	return *words ? words : "settings";
}
