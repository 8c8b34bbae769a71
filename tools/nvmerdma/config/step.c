// SPDX-License-Identifier: GPL-2.0
/*
 * Steps: done, undone, and in words.
 */
#include "config/plan.h"

#include <errno.h>
#include <string.h>

#define NVMET	"/sys/kernel/config/nvmet"

/* How often a subsystem's name is tried that is not free yet: 10 s */
#define MAKE_NAPS	100

const char *step_path(const struct step *step)
{
	const char *path = node_path(step->node);

	switch (step->kind) {
	case STEP_MAKE:
	case STEP_REMOVE:
		return path;
	case STEP_WRITE:
		return *path ? mem_fmt("%s/%s", path, step->name) : mem_str(step->name);
	case STEP_LINK:
	case STEP_UNLINK:
		return mem_fmt("%s/%s/%s", path, step->node->shape->links, step->name);
	}
	return path;
}

static const char *link_target(const struct step *step)
{
	return mem_fmt("%s/%s", step->node->shape->linked->dir, step->name);
}

/* ---- in words ---- */

static const char *shown(const char *attr, const char *value)
{
	return schema_secret(attr) ? "(not shown)" : *value ? value : "(none)";
}

static const char *link_words(const struct step *step)
{
	bool port = step->node->shape == &schema_port;
	bool on = step->kind == STEP_LINK;

	if (port)
		return mem_fmt("%s port %s %s %s", on ? "+" : "-", step->node->name,
			       on ? "offers" : "no longer offers", step->name);
	return mem_fmt("%s %s %s %s", on ? "+" : "-", step->node->name,
		       on ? "lets in" : "no longer lets in", step->name);
}

const char *step_words(const struct step *step)
{
	switch (step->kind) {
	case STEP_MAKE:
		return mem_fmt("+ %s", node_words(step->node));
	case STEP_REMOVE:
		return mem_fmt("- %s", node_words(step->node));
	case STEP_WRITE:
		if (!step->old)
			return NULL;
		return mem_fmt("  %s: %s %s -> %s", node_words(step->node), step->name,
			       shown(step->name, step->old), shown(step->name, step->value));
	case STEP_LINK:
	case STEP_UNLINK:
		return link_words(step);
	}
	return NULL;
}

const char *step_shell(const struct step *step)
{
	const char *path = word_for_shell(step_path(step));

	switch (step->kind) {
	case STEP_MAKE:
		return mem_fmt("mkdir %s", path);
	case STEP_REMOVE:
		return mem_fmt("rmdir %s", path);
	case STEP_WRITE:
		if (!*step->value)
			return mem_fmt("printf '\\0' > %s", path);
		if (schema_secret(step->name))
			return mem_fmt("echo %s > %s  # the key is not shown",
				       strcmp(step->name, "dhchap_key") ? "CTRL_KEY" : "KEY", path);
		return mem_fmt("%s%s%secho %s > %s", step->optional ? "[ ! -e " : "",
			       step->optional ? path : "", step->optional ? " ] || " : "",
			       word_for_shell(step->value), path);
	case STEP_LINK:
		return mem_fmt("ln -s %s/%s %s", NVMET, word_for_shell(link_target(step)), path);
	case STEP_UNLINK:
		return mem_fmt("rm %s", path);
	}
	return path;
}

/* ---- what is not done ---- */

static void say_left(const struct step *step)
{
	if (step->old)
		note_msg("%s: %s stays %s, %s was requested: the kernel or the RDMA device has changed it; it is requested again when the port is created again",
			 node_words(step->node), step->name, step->old, step->value);
	else if (lack_of(&(struct attr) { step->name, step->value, NULL }) == LACK_SAID)
		note_msg("%s: %s %s is ignored: this kernel has no such attribute and needs none",
			 node_words(step->node), step->name, step->value);
}

void plan_say_left(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_left; i++)
		say_left(&plan->left[i]);
}

/* ---- done ---- */

/*
 * nvmet's debugfs keeps a subsystem's name until the last controller of its hosts is
 * gone, which may be a while after the subsystem is: so one that comes anew waits.
 */
static int make(const struct node *node, const struct plan_doer *doer)
{
	int err = doer->make(doer->to, node_path(node)), naps;

	for (naps = 0; err == -EEXIST && node->shape == &schema_subsys && doer->nap &&
	     naps < MAKE_NAPS; naps++) {
		doer->nap(doer->to);
		err = doer->make(doer->to, node_path(node));
	}
	return err;
}

static int do_step(const struct step *step, const struct plan_doer *doer)
{
	const char *path = step_path(step);
	int err = 0;

	switch (step->kind) {
	case STEP_MAKE:
		return make(step->node, doer);
	case STEP_REMOVE:
		return doer->remove(doer->to, path);
	case STEP_WRITE:
		err = doer->write(doer->to, path, step->value);
		if (err != -ENOENT || !step->optional)
			return err;
		say_left(step);
		return 0;
	case STEP_LINK:
		return doer->link(doer->to, path, link_target(step));
	case STEP_UNLINK:
		return doer->unlink(doer->to, path);
	}
	return err;
}

/* What was removed comes back with its attributes; "enable" has a step of its own */
static int make_again(const struct node *node, const struct plan_doer *doer, bool anew)
{
	const struct plan again = plan_make_again(node);
	const struct node *below;
	int err = anew ? make(node, doer) : 0;
	size_t i;

	for (i = 0; i < again.nr && !err; i++)
		err = do_step(&again.step[i], doer);
	/* What the kernel made with it has no step */
	for (below = node->below; below && !err; below = below->next) {
		if (node_made(below))
			err = make_again(below, doer, false);
	}
	return err;
}

/* When a port begins to listen its parameters may be lowered: what it had is written again */
static int undo_link(const struct step *step, const struct plan_doer *doer)
{
	const struct node *was = step->was;
	int err = doer->unlink(doer->to, step_path(step));
	const struct attr *attr;
	struct node *now;
	struct plan back;
	size_t i;

	if (err || !was || !step->starts)
		return err;
	now = node_copy(was);
	for (attr = was->attrs; attr; attr = attr->next) {
		if (!strncmp(attr->name, "param_", 6))
			node_set(now, attr->name, "?");
	}
	back = plan_write_back(now, was);
	for (i = 0; i < back.nr && !err; i++)
		err = do_step(&back.step[i], doer);
	return err;
}

static int undo_step(const struct step *step, const struct plan_doer *doer)
{
	const char *path = step_path(step);

	switch (step->kind) {
	case STEP_MAKE:
		return doer->remove(doer->to, path);
	case STEP_REMOVE:
		return make_again(step->node, doer, true);
	case STEP_WRITE:
		return step->old ? doer->write(doer->to, path, step->old) : 0;
	case STEP_LINK:
		return undo_link(step, doer);
	case STEP_UNLINK:
		return doer->link(doer->to, path, link_target(step));
	}
	return 0;
}

/* ---- all or nothing ---- */

static const char *tried(const struct step *step)
{
	switch (step->kind) {
	case STEP_MAKE:
		return mem_fmt("%s cannot be made", node_words(step->node));
	case STEP_REMOVE:
		return mem_fmt("%s cannot be removed", node_words(step->node));
	case STEP_WRITE:
		if (!strcmp(step->name, "enable"))
			return mem_fmt("%s cannot be %s%s%s", node_words(step->node),
				       *step->value == '1' ? "enabled" : "disabled",
				       node_get(step->node, "device_path") ? " on " : "",
				       node_get(step->node, "device_path") ?: "");
		return mem_fmt("%s: %s cannot be %s", node_words(step->node), step->name,
			       shown(step->name, step->value));
	case STEP_LINK:
		if (step->node->shape == &schema_port)
			return mem_fmt("port %s (%s %s:%s) cannot offer %s", step->node->name,
				       node_get(step->node, "addr_trtype") ?: "?",
				       node_get(step->node, "addr_traddr") ?: "?",
				       node_get(step->node, "addr_trsvcid") ?: "?", step->name);
		return mem_fmt("%s cannot let in %s", step->node->name, step->name);
	case STEP_UNLINK:
		return mem_fmt("%s: the link to %s cannot be removed", node_words(step->node),
			       step->name);
	}
	return "?";
}

static const char *errno_words(const struct step *step, int err)
{
	if (step->kind == STEP_WRITE && err == -ENOENT && strcmp(step->name, "enable"))
		return "this kernel has no such attribute";
	if (step->kind == STEP_WRITE && err == -EINVAL)
		return "the kernel does not take that value";
	if (step->kind == STEP_MAKE && err == -EEXIST && step->node->shape == &schema_subsys)
		return "there was one of that name, and it has hosts that are not gone yet";
	return strerror(-err);
}

static void say_not_undone(const struct step *step, int err)
{
	error_msg("undoing a step failed: %s: %s", step_path(step),
		  strerror(-err));
}

/* "enable" is a step of its own, in an order of its own */
static bool is_attr_of(const struct step *step, const struct node *node)
{
	return step->kind == STEP_WRITE && step->node == node && strcmp(step->name, "enable");
}

/*
 * An object's attributes, steps @from to @to, go back together: one may put back another,
 * and there is an order in which nvmet takes them. Those of a new object go with it.
 */
static void undo_writes(const struct plan *plan, size_t from, size_t to,
			const struct plan_doer *doer)
{
	const struct node *was = plan->step[from].was;
	struct node *now;
	struct plan back;
	size_t i;
	int err;

	if (!was)
		return;
	now = node_copy(was);
	for (i = from; i < to; i++)
		node_set(now, plan->step[i].name, plan->step[i].value);
	back = plan_write_back(now, was);
	for (i = 0; i < back.nr; i++) {
		err = do_step(&back.step[i], doer);
		if (err)
			say_not_undone(&back.step[i], err);
	}
}

/* The last of the first @done steps, or the last ones; how many are left */
static size_t undo_last(const struct plan *plan, size_t done, const struct plan_doer *doer)
{
	const struct step *step = &plan->step[done - 1];
	size_t from = done;
	int err;

	while (from && is_attr_of(&plan->step[from - 1], step->node))
		from--;
	if (from < done) {
		undo_writes(plan, from, done, doer);
		return from;
	}
	err = undo_step(step, doer);
	if (err)
		say_not_undone(step, err);
	return done - 1;
}

int plan_run(const struct plan *plan, const struct plan_doer *doer)
{
	const char *why;
	size_t done;
	int err = 0;

	for (done = 0; done < plan->nr; done++) {
		err = do_step(&plan->step[done], doer);
		if (err)
			break;
	}
	if (!err)
		return 0;
	why = doer->why ? doer->why(doer->to) : NULL;
	error_msg("%s: %s%s%s", tried(&plan->step[done]), errno_words(&plan->step[done], err),
		  why ? "; the kernel says: " : "", why ?: "");
	while (done)
		done = undo_last(plan, done, doer);
	return -1;
}
