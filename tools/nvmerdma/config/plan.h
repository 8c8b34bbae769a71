/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has to be done to a target's configuration to make another one of it: steps that
 * each change one thing, and can be undone. So all of a plan happens, or nothing.
 */
#ifndef NVMERDMA_CONFIG_PLAN_H
#define NVMERDMA_CONFIG_PLAN_H

#include "config/tree.h"

enum step_kind {
	STEP_MAKE,		/* a directory */
	STEP_REMOVE,
	STEP_WRITE,		/* an attribute */
	STEP_LINK,
	STEP_UNLINK,
};

struct step {
	enum step_kind kind;
	const struct node *node;	/* the object; as it was, of what goes */
	const struct node *was;		/* WRITE, LINK: as it was before; NULL: it is new */
	const char *name;		/* WRITE: the attribute; LINK, UNLINK: the link */
	const char *value;		/* WRITE: what; never NULL */
	const char *old;		/* what it replaces; NULL: goes with the object */
	bool optional;			/* WRITE: not missed where the kernel has it not */
	bool starts;			/* LINK: a port listens from here on */
};

struct plan {
	struct step *step;
	size_t nr;
	/* WRITEs that are none: the kernel has no such attribute (@old is NULL), or has
	 * lowered to @old what was asked for
	 */
	struct step *left;
	size_t nr_left;
};

/*
 * plan_make() - the steps from one configuration to another
 *
 * What @want does not say of an attribute stays as it is, also of an object that is made
 * anew. Objects and links that are not in @want go. An order is kept in which nvmet takes
 * each step, and hosts are shown a subsystem only when it is complete.
 */
struct plan plan_make(const struct node *have, const struct node *want);

/* plan_make_again() - the steps that give a new object the attributes of @node, but "enable" */
struct plan plan_make_again(const struct node *node);

/* plan_write_back() - the steps that give an object that is as @now the attributes of @was */
struct plan plan_write_back(const struct node *now, const struct node *was);

/* Who does the steps: the kernel, in config/configfs.c; in tests something like it. Paths are
 * below nvmet/. 0, or -errno.
 */
struct plan_doer {
	int (*make)(void *to, const char *path);
	int (*remove)(void *to, const char *path);
	int (*write)(void *to, const char *path, const char *value);
	int (*link)(void *to, const char *path, const char *target);
	int (*unlink)(void *to, const char *path);
	/* What else is known of the last failure; may be NULL */
	const char *(*why)(void *to);
	/* Waits a tenth of a second; NULL: there is no sense in waiting */
	void (*nap)(void *to);
	void *to;
};

/* plan_run() - do all of it, or nothing: -1, what failed, or could not be undone, was said */
int plan_run(const struct plan *plan, const struct plan_doer *doer);

/* plan_say_left() - what is wanted, and nothing can be done for, as warnings */
void plan_say_left(const struct plan *plan);

/* step_words() - what a step changes, for a report; NULL if another step says it */
const char *step_words(const struct step *step);
/* step_shell() - the command of a shell in /sys/kernel/config/nvmet that does the same */
const char *step_shell(const struct step *step);
/* step_path() - of the object, attribute or link, below nvmet/ */
const char *step_path(const struct step *step);

/* ---- diff.c: an object as it is, and as it is wanted ---- */

/* What comes of an attribute where the kernel has none of that name */
enum lack {
	LACK_FAILS,		/* the object cannot be as it is wanted */
	LACK_SAID,		/* it is left out, and somebody may want to know */
	LACK_NOTHING,		/* the kernel does the same without */
};

enum lack lack_of(const struct attr *want);

/* attr_same() - whether the kernel would see no difference between two values */
bool attr_same(const char *attr, const char *a, const char *b);

/* attr_differs() - whether an attribute has to be written; @have is NULL for a new object */
bool attr_differs(const struct node *have, const struct schema *shape, const struct attr *want);

/* needs_disable() - whether an object has to be disabled, or let go of its links, to change */
bool needs_disable(const struct node *have, const struct node *want);

/* needs_recreate() - whether it has to be made anew */
bool needs_recreate(const struct node *have, const struct node *want);

/*
 * attr_lowered() - whether a port in use was asked for @want, and the kernel, its transport or
 * the RDMA device lowered it: to ask again would change nothing, but disconnect hosts
 */
bool attr_lowered(const struct node *port, const struct attr *want);

/*
 * keep_requested_values() - put what was @asked for, or NULL, in place of what came of it, so
 * that a port gets it at a boot at which the device can do it. It is said.
 */
void keep_requested_values(struct node *root, const struct node *asked);

/* ---- merge.c: what a wanted configuration leaves unsaid ---- */

/*
 * merge_unnamed() - a copy of @want, with the attributes that it does not name of objects that
 * are in @have, also of an object that has to be made anew
 */
struct node *merge_unnamed(const struct node *have, const struct node *want);

/* merge_others() - adds the objects and links of @have that @want does not name */
void merge_others(struct node *want, const struct node *have);

#endif
