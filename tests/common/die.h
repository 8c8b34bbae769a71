/* SPDX-License-Identifier: GPL-2.0 */
/* How a test program ends when it cannot go on */
#ifndef NVME_RDMA_TESTS_DIE_H
#define NVME_RDMA_TESTS_DIE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Print "PROGRAM: REASON", and errno in words unless it is 0; exit with @status */
static inline void __attribute__((noreturn, format(printf, 3, 0)))
die_for(const char *program, int status, const char *fmt, va_list args)
{
	int error = errno;

	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, fmt, args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(status);
}

#endif /* NVME_RDMA_TESTS_DIE_H */
