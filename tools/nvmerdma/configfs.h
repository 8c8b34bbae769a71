/* SPDX-License-Identifier: GPL-2.0 */
/* The target's configuration where the kernel has it: /sys/kernel/config/nvmet */
#ifndef NVMERDMA_CONFIGFS_H
#define NVMERDMA_CONFIGFS_H

#include "plan.h"

/*
 * configfs_read() - what is there now; an empty one without the module nvmet
 *
 * NULL: something could not be read, and was said.
 */
struct node *configfs_read(void);

/* configfs_enabled() - whether a namespace or a passthru is enabled now, by one look */
bool configfs_enabled(const struct node *node);

/* configfs_there() - whether the module nvmet is loaded, and configfs mounted */
bool configfs_there(void);

/*
 * configfs_open() - make it ready to be changed: loads nvmet, mounts configfs, locks it
 *
 * 0, or -1 and it was said.
 */
int configfs_open(void);

/*
 * configfs_lock() - keep other nvmerdma out until configfs_unlock(), or this one ends
 *
 * Waits for another one for up to 30 s. One that has the lock already keeps it. 0, or -1
 * and it was said.
 */
int configfs_lock(void);
void configfs_unlock(void);

/*
 * configfs_apply() - from one configuration to another, or not at all
 * @have: what configfs_read() said since configfs_open()
 * @want: what is to be
 * @dry: print what would be done, as a shell's commands, and do nothing
 * @plan: the steps that were, or would be, taken
 *
 * Signals that end or stop a program wait, and if it is done until configfs_report(), so
 * that it is said what was done; or, without that, until the program ends: of a command that
 * then has more to say or to save.
 *
 * 0, or -1: it was said, and nothing is changed.
 */
int configfs_apply(const struct node *have, const struct node *want, bool dry,
		   struct plan *plan);

/* configfs_say() - print what steps have changed, in words */
void configfs_say(const struct plan *plan);
/* configfs_report() - the same; then signals are taken again */
void configfs_report(const struct plan *plan);

#endif
