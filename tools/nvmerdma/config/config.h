/* SPDX-License-Identifier: GPL-2.0 */
/* A configuration outside of a plan: in configfs, in a file, and its checks */
#ifndef NVMERDMA_CONFIG_CONFIG_H
#define NVMERDMA_CONFIG_CONFIG_H

#include "config/plan.h"
#include "config/tree.h"
#include "common/util.h"

/* ---- configfs.c: the target's configuration in /sys/kernel/config/nvmet ---- */

/* configfs_read() - what is there now; empty without the module nvmet; NULL: it was said */
struct node *configfs_read(void);
/* configfs_read_below() - the same of another root; tests have their own */
struct node *configfs_read_below(const char *root);

/* configfs_enabled() - whether a namespace or a passthru is enabled now, by one look */
bool configfs_enabled(const struct node *node);

/* configfs_there() - whether the module nvmet is loaded, and configfs mounted */
bool configfs_there(void);

/* configfs_open() - load nvmet, mount configfs, and lock it; 0, or -1 and it was said */
int configfs_open(void);

/* configfs_lock() - wait up to 30 s for other nvmerdma, and keep them out until
 * configfs_unlock(), or this one ends; 0, or -1 and it was said
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

/* configfs_print() - print what steps have changed, in words */
void configfs_print(const struct plan *plan);
/* configfs_report() - the same; then signals are taken again */
void configfs_report(const struct plan *plan);

/*
 * A configuration as JSON, in the form of nvmetcli, which reads and writes it as well.
 *
 * Beyond what nvmetcli knows there are "buffered_io" and "p2pmem" of a namespace and
 * "dhchap" of a host: nvmetcli leaves alone what it does not know.
 */

struct json_object;

/* json_of() - to be given back by json_object_put() */
struct json_object *json_of(const struct node *root);

/* json_parse() - a configuration from text; @from names it in messages; NULL: all that is
 * wrong was said
 */
struct node *json_parse(const char *text, const char *from);

/* ---- validate.c: what is wrong with a configuration, before the kernel is asked ---- */

/* NVM Express Base Specification, 4.5: NQNs are up to 223 bytes */
#define NQN_MAX		223

/* validate_name() - can an object have this name? A number is brought into the form that the
 * kernel shows. Messages begin with @where. 0, or -1 and it was said.
 */
int validate_name(const char *where, const struct schema *shape, const char **name);

/*
 * validate_config() - is it whole, and does it not contradict itself?
 *
 * A host that is let in and has no attributes need not be among the hosts: it is added.
 * Values are brought into the spelling in which the kernel shows them.
 *
 * 0, or -1: all that is wrong was said.
 */
int validate_config(const char *where, struct node *root);

/* ---- dhchap-key.c ---- */

struct keys {
	const char *host;	/* by which a host proves who it is */
	const char *ctrl;	/* by which the controller does; NULL: it need not */
};

/* keyfile_read() - the host's key from a file's first line, the controller's, if it is to be
 * asked in turn, from the second; 0, or -1 and it was said, without saying a key
 */
int keyfile_read(const char *path, struct keys *keys);

/* keyfile_is_key() - "DHHC-1:NN:BASE64:", NVM Express Base Specification, 8.13.5.8 */
bool keyfile_is_key(const char *text);

#endif
