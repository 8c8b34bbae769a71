/* SPDX-License-Identifier: GPL-2.0 */
/* Programs and children that end in time, whatever they wait for */
#ifndef NVMERDMA_COMMON_SUBPROCESS_H
#define NVMERDMA_COMMON_SUBPROCESS_H

#include "common/util.h"

#include <time.h>

#define PROGRAM_S	5	/* that a program may take, as a rule */

/* program_output() - what a program prints; NULL if it failed, is not there, or took longer. The
 * arguments end with NULL.
 */
char *program_output(unsigned int seconds, const char *program, ...) __attribute__((sentinel));
bool program_there(const char *name);
/* seconds_now() - by a clock that nobody sets */
static inline time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* shared_alloc() - zeroed memory that a child's words come back by */
void *shared_alloc(size_t size);
/*
 * run_in_child() - have @work done by a process of its own, whose stderr goes nowhere
 *
 * False if it did not end within @seconds; it was killed then, and what it held in the
 * kernel goes with it.
 */
bool run_in_child(unsigned int seconds, void (*work)(void *shared), void *shared);
#endif
