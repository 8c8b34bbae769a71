// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions of x86-64 that the plugin has to know: calls and returns, locked ones, and
 * the guest's marks.
 */
#include <string.h>

#include "count.h"

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:	/* segments */
	case 0x64: case 0x65:
	case 0x66: case 0x67:				/* sizes */
	case 0xf2: case 0xf3:				/* bnd, rep ret */
		return true;
	}
	return (byte & 0xf0) == 0x40;			/* REX */
}

/**
 * is_locked() - whether an instruction owns its cache line while it reads and writes it: one
 * with the prefix lock, or xchg with memory
 * @code: its bytes
 * @size: how many
 */
bool is_locked(const uint8_t *code, size_t size)
{
	size_t at = 0;

	for (; at < size && is_prefix(code[at]); at++)
		;
	if (at < size && code[at] == 0xf0)
		return true;
	/* mod of ModRM 3 is a register */
	return at + 1 < size && (code[at] & 0xfe) == 0x86 &&
	       code[at + 1] >> 6 != 3;
}

/**
 * decode() - what kind of instruction this is
 * @code: its bytes
 * @size: how many
 * @mark: for KIND_MARK, which of them
 */
enum kind decode(const uint8_t *code, size_t size, unsigned int *mark)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x84, 0x00 };
	uint32_t number;
	bool rep = false;
	size_t at = 0;

	if (size == sizeof(nop) + sizeof(number) &&
	    !memcmp(code, nop, sizeof(nop))) {
		memcpy(&number, code + sizeof(nop), sizeof(number));
		if (number - MARK_BASE <= MARK_GO) {
			*mark = number - MARK_BASE;
			return KIND_MARK;
		}
	}
	for (; at < size && is_prefix(code[at]); at++)
		rep = rep || code[at] == 0xf2 || code[at] == 0xf3;
	if (at == size)
		return KIND_OTHER;
	switch (code[at]) {
	case 0xa4: case 0xa5: case 0xa6: case 0xa7:	/* movs, cmps */
	case 0xaa: case 0xab: case 0xac: case 0xad:	/* stos, lods */
	case 0xae: case 0xaf:				/* scas */
		return rep ? KIND_STRING : KIND_OTHER;
	case 0xe8:
		return KIND_CALL;
	case 0xff:	/* group 5: reg of ModRM 2 is a near call */
		return at + 1 < size && (code[at + 1] >> 3 & 7) == 2 ?
			KIND_CALL : KIND_OTHER;
	case 0xc2:
	case 0xc3:
		return KIND_RETURN;
	case 0xcf:
		return KIND_INTERRUPT_RETURN;
	}
	return KIND_OTHER;
}
