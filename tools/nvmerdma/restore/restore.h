/* SPDX-License-Identifier: GPL-2.0 */
/* What a restore cannot enable yet, and what a file has beyond it */
#ifndef NVMERDMA_RESTORE_RESTORE_H
#define NVMERDMA_RESTORE_RESTORE_H

#include "config/tree.h"

/* ---- readiness.c ---- */

/*
 * Why something cannot be enabled now. Of a namespace that is its disk: it is not there, has
 * no size, is used, is exported otherwise, is another one than before; of a passthru the
 * same of all disks of its controller; of a port its address. Our nvmet-rdma's ports wait by
 * themselves and are always ready; those of the kernel's own and of other transports cannot
 * be enabled before their address is there.
 */

/*
 * not_ready_reason() - the whole question, in words: "/dev/sdb is mounted at /mnt"
 * @node: as it is to be, enabled, in a configuration as it is to be: what else is enabled
 *	  there must not have the same data
 *
 * NULL: nothing speaks against it, or it is not to be enabled.
 *
 * A disk of which nothing else says that it is used is opened for a moment, so that
 * nobody else can (O_EXCL): not each second, for that might be just when md, LVM or
 * mkfs wants it.
 */
const char *not_ready_reason(const struct node *node);

/*
 * not_present_reason() - the part that may be asked each second: is it there, and has it a size?
 *
 * "there is no /dev/sdb"; NULL: it is there, and not_ready_reason() has the rest.
 */
const char *not_present_reason(const struct node *node);

/* ---- unavailable.c: what a configuration enables and cannot be enabled now ---- */

/* Namespaces, passthrus and ports of a configuration, each with why, in words */
struct unavailable {
	const struct node **node;
	const char **why;
	size_t nr;
};

/*
 * unavailable_in() - what @want enables and cannot be enabled now
 * @have: what is enabled there goes on, whatever has gone
 * @want: the configuration
 *
 * Of two that are on the same disk it is one, unless the other goes on.
 */
struct unavailable unavailable_in(const struct node *have, const struct node *want);

/* unavailable_wait() - until nothing is missing, or for as many seconds */
void unavailable_wait(const struct node *have, const struct node *want, unsigned long seconds);

/* unavailable_disable() - the same object in @root is to be there, and not enabled */
void unavailable_disable(struct node *root, const struct node *node);

/*
 * unavailable_enable() - the same object in @root is to be enabled as @node is
 *
 * That object; NULL: it is not there, or not as unavailable_disable() leaves it; nothing was
 * changed.
 */
struct node *unavailable_enable(struct node *root, const struct node *node);

/* ---- deferred.c ---- */

/*
 * What a restore has left disabled, for it could not be enabled.
 *
 * In configfs that looks just like what an administrator has disabled on purpose, which is
 * to stay so. The rule: disabled against the configuration's will is what the last restore
 * has left so and nobody has enabled or changed since. 'save' writes that as enabled, as it
 * was, and 'restore --late' enables it; anything else that is disabled is somebody's wish.
 * So who takes away what a restore could enable, by 'echo 0 >enable', is obeyed, whatever he
 * does with the disk then.
 *
 * It is kept in a file of /run, which ends with the boot, as the target's configuration
 * does.
 */

#define DEFERRED_FILE	"/run/nvmerdma.deferred"
extern const char *deferred_file;		/* that; tests have their own */

/* deferred_clear() - nothing is: another restore comes, and says what is to be disabled */
void deferred_clear(void);

/*
 * deferred_record() - this was left disabled just now, and what was before and still is so
 * @now: the target as it is
 * @missing: by its nodes and reasons; may be empty
 *
 * With configfs_lock(). That it cannot be kept is said.
 */
void deferred_record(const struct node *now, const struct unavailable *missing);

/*
 * deferred_reason() - why a restore has left it disabled, in words of then
 * @node: in the target as it is
 *
 * NULL: it is enabled, or was changed since, or no restore has left it.
 */
const char *deferred_reason(const struct node *node);

/* deferred_has() - whether a restore has left it disabled, on the device that @node has */
bool deferred_has(const struct node *node);

/* ---- retry.c: what a restore at boot had to leave out, and comes later ---- */

/*
 * retry_unavailable() - the rest is done: enable what is missing, each as soon as it can be
 * @missing: what was left out; what somebody else has changed meanwhile is left alone
 *
 * Tells systemd that the service is ready, and what it waits for. The lock of
 * configfs_open() is given back, and held for each change only. Returns when nothing is
 * left to wait for.
 */
void retry_unavailable(const struct unavailable *missing);

/* ---- previous-config.c: the file of the configuration, before it is replaced ---- */

/*
 * keep_deferred() - have what a restore has left disabled exported at the next boot
 * @root: the target, where it is enabled, and it is said
 * @kept: the file: what is disabled there is not; NULL: there is none
 */
void keep_deferred(struct node *root, const struct node *kept);

/*
 * describe_lost() - what of a file is in neither of two configurations
 * @root: as it is to be saved
 * @had: the target's as it was before; what it has and @root has not was taken away
 *
 * In words: "2 subsystems, 1 port", "settings" if it is values, hosts or links alone; NULL:
 * nothing, a restore of the file would change nothing of one of them, but add to the file.
 */
const char *describe_lost(const struct node *kept, const struct node *root,
			  const struct node *had);

/* ---- drbd-standby.c: disks that nvmerdma-ha (Documentation/ha.md) moves ---- */

/*
 * standby_resource() - "r0" for the path of nvmerdma-ha's disk for DRBD's resource r0
 *
 * NULL: it is another disk, or none.
 */
const char *standby_resource(const char *path);

/* standby_own_group() - puts a new namespace on such a disk into an ANA group of its own */
void standby_own_group(const struct node *root, struct node *ns);

/*
 * standby_apply() - gives the ANA groups of such disks in @want the states that they have in
 * @have, or "inaccessible" where @have has not the same disk there
 *
 * What was saved is who served then, and a group's state may be of what it had before.
 */
void standby_apply(const struct node *have, struct node *want);

/* standby_report() - what is not served until nvmerdma-ha says so, and was not in @have */
void standby_report(const struct node *have, const struct node *want);

#endif
