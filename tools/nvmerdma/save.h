/* SPDX-License-Identifier: GPL-2.0 */
/* The file that keeps the configuration: that of nvmetcli */
#ifndef NVMERDMA_SAVE_H
#define NVMERDMA_SAVE_H

#define CONFIG_FILE	"/etc/nvmet/config.json"

/*
 * save_config() - write what is configured to @path, which is replaced at once or not at
 * all; "-" prints it
 *
 * What a restore has left disabled, as its disk is not there, is written as enabled.
 *
 * 0, or -1 and it was said.
 */
int save_config(const char *path);

#endif
