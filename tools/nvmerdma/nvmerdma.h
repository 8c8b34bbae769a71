/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands. Each takes its own part of the command line, argv[0] being its name,
 * and returns the status to end with. cmd_NAME() is in the file of that name.
 */
#ifndef NVMERDMA_H
#define NVMERDMA_H

#include "base.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;		/* a line of the overview */
	const char *usage;		/* what --help prints, from the arguments on */
};

extern const struct command cmd_export, cmd_unexport, cmd_list, cmd_save, cmd_restore,
			    cmd_stat, cmd_doctor;

/* command_help() - print what --help prints; the status to end with */
int command_help(const struct command *cmd);
/* command_misused() - hint at --help, after it was said what is wrong; the same */
int command_misused(const struct command *cmd);

#endif
