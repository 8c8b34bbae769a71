/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that make trees of files; after harness.h */
#ifndef UNIT_SHELL_H
#define UNIT_SHELL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* sh() - run a shell's command, which has to succeed */
static void sh(const char *fmt, ...)
{
	char *command;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&command, fmt, ap) > 0);
	va_end(ap);
	assert_int_equal(system(command), 0);
	free(command);
}

#endif
