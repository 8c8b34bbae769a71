/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structs of every awkward shape. shapes.c describes them in BTF, core-abi makes
 * a header of that, and shapes-check.c holds that header against these. No
 * include guard: shapes-check.c includes it under other names.
 */
struct inner {
	u8 a;
	u32 b;
};

struct shapes {
	u8 first;
	u32 low : 3;
	u32 mid : 7;
	u32 high : 20;
	u64 wide : 40;
	s32 negative : 5;
	union {
		struct {
			u16 left;
			u16 right;
		};
		u32 both;
	};
	const char *const names[3];
	int (*method)(struct shapes *self, const u32 *values, ...);
	int (*table[2])(void);
	u8 (*matrix)[4];
	struct inner embedded;
	volatile u32 *reg;
	u8 tail;
};

struct squeezed {
	u8 a;
	u32 b;
	u16 c;
} __attribute__((packed));

union either {
	u32 word;
	u8 bytes[12];
	u64 wide;
};
