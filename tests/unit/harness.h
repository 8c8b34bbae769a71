/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the unit tests: cmocka, and pseudo-random numbers */
#ifndef NVME_RDMA_UNIT_HARNESS_H
#define NVME_RDMA_UNIT_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/pure.h"

/*
 * The same numbers in each run (xorshift64*), so that a failure is found again.
 * A test that uses them prints the round it failed in.
 */
static inline u64 unit_random(u64 *state)
{
	u64 x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/*
 * A copy of bytes at the very end of an allocation of exactly that size: AddressSanitizer
 * catches any access beyond it. The caller frees it.
 */
static inline u8 *unit_exact_copy(const void *from, size_t len)
{
	u8 *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	if (len)
		memcpy(copy, from, len);
	return copy;
}

/* Prints the line of the table in which a failure is */
#define unit_context(...)						\
	(snprintf(unit_where, sizeof(unit_where), __VA_ARGS__))
static char unit_where[200] __attribute__((unused));

#define unit_equal(want, got)						\
do {									\
	unsigned long long _want = (want), _got = (got);		\
									\
	if (_want != _got)						\
		fail_msg("%s: %s is %#llx, expected %#llx",		\
			 unit_where, #got, _got, _want);		\
} while (0)

#endif /* NVME_RDMA_UNIT_HARNESS_H */
