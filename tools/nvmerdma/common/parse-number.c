// SPDX-License-Identifier: GPL-2.0
/* Numbers of the command line */
#include "common/util.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

int number_option(const char *option, const char *text, unsigned long min, unsigned long max,
		  unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || *value < min || *value > max)
		return error_msg("%s: invalid value \"%s\" (expected %lu to %lu)", option,
				 text, min, max);
	return 0;
}
