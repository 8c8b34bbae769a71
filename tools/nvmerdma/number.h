/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of the command line */
#ifndef NVMERDMA_NUMBER_H
#define NVMERDMA_NUMBER_H

#include "base.h"

/* number_option() - a whole number within bounds; 0, or -1 and it was said */
int number_option(const char *option, const char *text, unsigned long min, unsigned long max,
		  unsigned long *value);

#endif
