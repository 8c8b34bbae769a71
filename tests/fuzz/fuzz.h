/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzz targets share: reading the input, exact buffers, checks */
#ifndef NVME_RDMA_FUZZ_H
#define NVME_RDMA_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/pure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Holds the sum of any values of 64 bits without wrapping. On 32 bits there is no wider integer:
 * there it is a floating-point number, which is exact up to 2^113.
 */
#ifdef __SIZEOF_INT128__
#define fuzz_wide	__uint128_t
#else
#define fuzz_wide	__float128
#endif
#define FUZZ_2_TO_64	((fuzz_wide)0xffffffffffffffffull + 1)

/* Ends the run; libFuzzer keeps the input that led here */
#define fuzz_check(condition)						\
do {									\
	if (!(condition)) {						\
		fprintf(stderr, "%s:%d: expected %s\n", __FILE__,	\
			__LINE__, #condition);				\
		abort();						\
	}								\
} while (0)

/*
 * Tells libFuzzer that an input comes to a bound, or next to it: it takes the first
 * such input for a new one and keeps it. So the corpus has the inputs at each bound,
 * where who is off by one is found.
 */
#define fuzz_near(value, bound)						\
do {									\
	fuzz_wide _value = (value), _bound = (bound);			\
	enum { _place = 3 * __COUNTER__ };				\
									\
	static_assert(_place + 3 <= sizeof(fuzz_bounds),		\
		      "fuzz_bounds[] is too small");			\
	if (_value + 1 >= _bound && _value <= _bound + 1)		\
		fuzz_bounds[_place + (size_t)(_value + 1 - _bound)] = 1; \
} while (0)
static u8 fuzz_bounds[60]
	__attribute__((used, section("__libfuzzer_extra_counters")));

/* The same for kinds of input that a target counts, where no branch tells them apart */
static inline void fuzz_kind(unsigned int kind)
{
	static u8 kinds[128]
		__attribute__((used, section("__libfuzzer_extra_counters")));

	fuzz_check(kind < sizeof(kinds));
	kinds[kind] = 1;
}

/* What is left of an input; behind its end there are zeros */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

static inline u64 fuzz_take(struct fuzz_input *in, unsigned int bytes)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < bytes && in->size; i++, in->size--)
		value |= (u64)*in->data++ << (8 * i);
	return value;
}

/*
 * The next bytes at the very end of an allocation of just that size, and no address
 * at all for no byte: AddressSanitizer catches who reads one beyond. To be freed.
 */
static inline u8 *fuzz_exact(struct fuzz_input in, size_t len)
{
	u8 *copy;
	size_t i;

	if (!len)
		return NULL;
	copy = malloc(len);
	fuzz_check(copy);
	for (i = 0; i < len; i++)
		copy[i] = (u8)fuzz_take(&in, 1);
	return copy;
}

/* The value of a field as the specifications have it: little endian */
static inline u64 fuzz_field(const u8 *data, unsigned int at, unsigned int bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value * 256 + data[at + bytes];
	return value;
}

/*
 * The bit of a status if the rule that it is for is broken. An oracle makes a set of
 * them, of which a refusal has to have one: a specification seldom says which of two
 * rules comes first.
 */
static inline u64 fuzz_broken(bool broken, unsigned int status)
{
	return broken ? 1ull << status : 0;
}

/* Whether a rule decides: no other one is broken */
static inline bool fuzz_decides(u64 broken, unsigned int status)
{
	return !(broken & ~fuzz_broken(true, status));
}

static inline bool fuzz_among(u64 statuses, unsigned int status)
{
	return status < 64 && statuses >> status & 1;
}

#endif /* NVME_RDMA_FUZZ_H */
