/* SPDX-License-Identifier: GPL-2.0 */
/* Words of a function that takes a format as printf() does */
#ifndef NVMERDMA_FORMAT_H
#define NVMERDMA_FORMAT_H

#include <stdarg.h>
#include <stdio.h>

/* To be freed; NULL: no memory */
#define FORMAT(text, fmt)					\
	do {							\
		va_list ap_;					\
								\
		va_start(ap_, fmt);				\
		if (vasprintf(&(text), fmt, ap_) < 0)		\
			(text) = NULL;				\
		va_end(ap_);					\
	} while (0)

#endif
