// SPDX-License-Identifier: GPL-2.0
/* nvmerdma: the operator's side of NVMe over RDMA. Which command it is. */
#include "command.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command * const commands[] = {
	&cmd_export, &cmd_unexport, &cmd_list, &cmd_save, &cmd_restore, &cmd_stat, &cmd_metrics,
	&cmd_doctor, &cmd_reconnect,
};

static void overview(FILE *out)
{
	size_t i;

	fputs("usage: nvmerdma COMMAND [ARGUMENTS]\n\n", out);
	for (i = 0; i < NR(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->does);
	fputs("\n'nvmerdma COMMAND --help' says more; nvmerdma(8) says all.\n", out);
}

int command_help(const struct command *cmd)
{
	printf("usage: nvmerdma %s %s", cmd->name, cmd->usage);
	return STATUS_OK;
}

int command_usage_hint(const struct command *cmd)
{
	fprintf(stderr, "See 'nvmerdma %s --help'\n", cmd->name);
	return STATUS_USAGE;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NR(commands); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

/* What could not be written is an error, too: a full disk, a pipe that has closed */
static int finish(int status)
{
	if ((fflush(stdout) || ferror(stdout)) && status == STATUS_OK) {
		error_msg("what was printed could not be written: %m");
		return STATUS_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct command *cmd;

	setlocale(LC_ALL, "");
	/* programs are there that an ordinary user does not look for */
	setenv("PATH", mem_fmt("%s:/usr/sbin:/sbin", getenv("PATH") ?: "/usr/bin:/bin"), 1);
	if (argc < 2) {
		overview(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		overview(stdout);
		return finish(STATUS_OK);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("nvmerdma " NVMERDMA_VERSION);
		return finish(STATUS_OK);
	}
	cmd = find_command(argv[1]);
	if (!cmd) {
		error_msg("unknown command \"%s\"; 'nvmerdma --help' lists them", argv[1]);
		return STATUS_USAGE;
	}
	return finish(cmd->run(argc - 1, argv + 1));
}
