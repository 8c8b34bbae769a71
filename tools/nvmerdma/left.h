/* SPDX-License-Identifier: GPL-2.0 */
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
#ifndef NVMERDMA_LEFT_H
#define NVMERDMA_LEFT_H

#include "missing.h"

#define LEFT_FILE	"/run/nvmerdma.left"
extern const char *left_file;		/* that; tests have their own */

/* left_forget() - nothing is: another restore comes, and says what is to be disabled */
void left_forget(void);

/*
 * left_keep() - this was left disabled just now, and what was before and still is so
 * @now: the target as it is
 * @missing: by its nodes and reasons; may be empty
 *
 * With configfs_lock(). That it cannot be kept is said.
 */
void left_keep(const struct node *now, const struct missing *missing);

/*
 * left_why() - why a restore has left it disabled, in words of then
 * @node: in the target as it is
 *
 * NULL: it is enabled, or was changed since, or no restore has left it.
 */
const char *left_why(const struct node *node);

/* left_has() - whether a restore has left it disabled, on the device that @node has */
bool left_has(const struct node *node);

#endif
