/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel headers' part of what a generated header needs, for user space. */
#ifndef SHAPES_SHIM_H
#define SHAPES_SHIM_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;

#define sizeof_field(type, field)	sizeof(((type *)0)->field)
#define __aligned(n)	__attribute__((aligned(n)))
#define __packed	__attribute__((packed))
#undef static_assert
#define static_assert(expr)	_Static_assert(expr, #expr)

#endif
