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
 * not_ready_reason() - the whole question, in words: "/dev/sdb is mounted at /mnt"; NULL: it
 * is ready, or not to be enabled
 * @node: in a configuration as it is to be: what else is enabled there has other data
 *
 * Not each second: a disk that seems free is opened for a moment, so that nobody else can
 * (O_EXCL), which might be just when md, LVM or mkfs wants it.
 */
const char *not_ready_reason(const struct node *node);

/* not_present_reason() - the part that may be asked each second: is it there, has it a size? */
const char *not_present_reason(const struct node *node);

/* ---- unavailable.c: what a configuration enables and cannot be enabled now ---- */

/* Namespaces, passthrus and ports of a configuration, each with why, in words */
struct unavailable {
	const struct node **node;
	const char **why;
	size_t nr;
};

/*
 * unavailable_in() - what @want enables and cannot be enabled now; what is enabled in @have goes
 * on, whatever has gone. Of two on the same disk it is one, unless the other goes on.
 */
struct unavailable unavailable_in(const struct node *have, const struct node *want);

/* unavailable_disable() - the same object in @root is to be there, and not enabled */
void unavailable_disable(struct node *root, const struct node *node);

/*
 * unavailable_enable() - the same object in @root is to be enabled as @node is; NULL: it is not
 * there, or not as unavailable_disable() leaves it
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
 * deferred_record() - @missing was left disabled just now, beside what was before and still is
 * so in the target as it is @now. With configfs_lock(). That it cannot be kept is said.
 */
void deferred_record(const struct node *now, const struct unavailable *missing);

/* deferred_reason() - why a restore has left it disabled; NULL: none has, or it was changed */
const char *deferred_reason(const struct node *node);

/* deferred_has() - whether a restore has left it disabled, on the device that @node has */
bool deferred_has(const struct node *node);

/* ---- retry.c: what a restore at boot had to leave out, and comes later ---- */

/*
 * retry_unavailable() - the rest is done: enable what is missing, each as soon as it can be
 *
 * Tells systemd that the service is ready, and what it waits for. Gives the lock of
 * configfs_open() back, and holds it for each change only.
 */
void retry_unavailable(const struct unavailable *missing);

/* ---- previous-config.c: the file of the configuration, before it is replaced ---- */

/* keep_deferred() - enable in @root what a restore has left disabled, unless @kept, the file,
 * has it disabled, too
 */
void keep_deferred(struct node *root, const struct node *kept);

/*
 * describe_lost() - what of the file @kept is neither in @root, which is to be saved, nor in
 * @had, the target before: "2 subsystems, 1 port", or "settings"; NULL: nothing
 */
const char *describe_lost(const struct node *kept, const struct node *root,
			  const struct node *had);

/* ---- drbd-standby.c: disks that nvmerdma-ha (Documentation/ha.md) moves ---- */

/* standby_resource() - "r0" for nvmerdma-ha's disk for DRBD's resource r0; NULL: another disk */
const char *standby_resource(const char *path);

/* standby_own_group() - puts a new namespace on such a disk into an ANA group of its own */
void standby_own_group(const struct node *root, struct node *ns);

/*
 * standby_apply() - gives the ANA groups of such disks in @want the states that they have in
 * @have, or "inaccessible" where @have has not the same disk there: what was saved is who
 * served then
 */
void standby_apply(const struct node *have, struct node *want);

/* standby_report() - what is not served until nvmerdma-ha says so, and was not in @have */
void standby_report(const struct node *have, const struct node *want);

#endif
