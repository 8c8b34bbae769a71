/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only header of pure files. A pure file is compiled unchanged into a module
 * and into the unit tests in user space.
 *
 * A pure file includes only its own header, and that header includes this one.
 * This header provides the kernel's integer types, bool, size_t, memset(),
 * memcpy(), ARRAY_SIZE() and the accessors of unaligned little endian values
 * of 16, 32 and 64 bits. A pure file does not allocate, print or sleep. All
 * differences between kernel and user space are in this header.
 */
#ifndef NVME_RDMA_PURE_H
#define NVME_RDMA_PURE_H

#ifdef __KERNEL__

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include "core-abi/core.h"	/* unaligned.h, whose path depends on the kernel */

#else /* __KERNEL__ */

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8,
	      "the integer types are not the kernel's");

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static inline u64 pure_get_le(const void *from, unsigned int bytes)
{
	const u8 *p = from;
	u64 value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static inline void pure_put_le(u64 value, void *to, unsigned int bytes)
{
	u8 *p = to;

	for (; bytes--; value >>= 8)
		*p++ = (u8)value;
}

static inline u16 get_unaligned_le16(const void *from)
{
	return (u16)pure_get_le(from, 2);
}

static inline u32 get_unaligned_le32(const void *from)
{
	return (u32)pure_get_le(from, 4);
}

static inline u64 get_unaligned_le64(const void *from)
{
	return pure_get_le(from, 8);
}

static inline void put_unaligned_le16(u16 value, void *to)
{
	pure_put_le(value, to, 2);
}

static inline void put_unaligned_le32(u32 value, void *to)
{
	pure_put_le(value, to, 4);
}

static inline void put_unaligned_le64(u64 value, void *to)
{
	pure_put_le(value, to, 8);
}

#endif /* __KERNEL__ */

#endif /* NVME_RDMA_PURE_H */
