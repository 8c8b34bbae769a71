/* SPDX-License-Identifier: GPL-2.0 */
/* The commands, and what they share */
#ifndef NVMERDMA_COMMAND_H
#define NVMERDMA_COMMAND_H

#include "common/util.h"
#include "config/tree.h"
#include "disk/disk.h"

/*
 * The commands. Each takes its own part of the command line, argv[0] being its name,
 * and returns the status to end with. cmd_NAME() is in the file of that name.
 */

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;		/* a line of the overview */
	const char *usage;		/* what --help prints, from the arguments on */
};

extern const struct command cmd_export, cmd_unexport, cmd_list, cmd_save, cmd_restore,
			    cmd_stat, cmd_metrics, cmd_doctor, cmd_reconnect;

/* command_help() - print what --help prints; the status to end with */
int command_help(const struct command *cmd);
/* command_usage_hint() - hint at --help, after it was said what is wrong; the same */
int command_usage_hint(const struct command *cmd);

/* The file that keeps the configuration: that of nvmetcli */

#define CONFIG_FILE	"/etc/nvmet/config.json"
#define CONFIG_FILE_OLD	CONFIG_FILE ".old"

/*
 * save_config() - write what is configured to @path, which is replaced at once or not at
 * all; "-" prints it
 * @had: the target as it was before this run changed it; NULL: it has not
 * @asked: what this run has made of it, with what ports were asked for; NULL: nothing
 *
 * What a restore has left disabled (restore/restore.h) is written as enabled. If CONFIG_FILE
 * has what is in the target no more, and was not in @had, it is kept as CONFIG_FILE_OLD, or with a
 * number behind that.
 *
 * 0, or -1 and it was said.
 */
int save_config(const char *path, const struct node *had, const struct node *asked);

/* The disks of an export */

/*
 * export_disks() - look at what is to be exported, be it with a UUID of the user's own
 *
 * 0, or -1: one of them is not there, used, exported or named twice, or nothing will tell it
 * from another disk where it is to be saved, and it was said.
 */
int export_disks(char **paths, size_t nr, bool own_uuid, bool save, const struct node *have,
		 struct disk **disks);

#endif
