/* SPDX-License-Identifier: GPL-2.0 */
/* The file that keeps the configuration: that of nvmetcli */
#ifndef NVMERDMA_SAVE_H
#define NVMERDMA_SAVE_H

#include "node.h"

#define CONFIG_FILE	"/etc/nvmet/config.json"
#define CONFIG_FILE_OLD	CONFIG_FILE ".old"

/*
 * save_config() - write what is configured to @path, which is replaced at once or not at
 * all; "-" prints it
 * @had: the target as it was before this run changed it; NULL: it has not
 * @asked: what this run has made of it, with what ports were asked for; NULL: nothing
 *
 * What a restore has left disabled (left.h) is written as enabled. If CONFIG_FILE has what
 * is in the target no more, and was not in @had, it is kept as CONFIG_FILE_OLD, or with a
 * number behind that.
 *
 * 0, or -1 and it was said.
 */
int save_config(const char *path, const struct node *had, const struct node *asked);

#endif
