// SPDX-License-Identifier: GPL-2.0
#include "nvmerdma.h"

static int run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return complain("not written yet");
}

const struct command cmd_list = { "list", run, "", "\n" };
