// SPDX-License-Identifier: GPL-2.0
/*
 * Twists by the thousand: a seed and a number determine each, so that a finding can be
 * reproduced. They have the same parts as those in the tables, mostly with interesting values.
 */
#include <string.h>

#include "target_acts.h"

/* Number of places that an input changes at most where the target describes itself */
#define FUZZ_POKES	3

/* splitmix64, of public domain */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned int below(uint64_t *state, unsigned int n)
{
	return (unsigned int)(next(state) % n);
}

static uint64_t interesting(uint64_t *state)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 4, 8, 15, 16, 17, 31, 32, 63, 64, 127, 128, 255, 256, 4095,
		4096, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff,
		0x8000000000000000, 0xffffffffffffffff,
	};

	if (below(state, 4))
		return values[below(state, sizeof(values) / sizeof(*values))];
	return next(state) >> below(state, 64);
}

/* Offsets of fields in long structures; elsewhere any offset */
static uint16_t field_offset(uint64_t *state, enum place at)
{
	static const uint16_t ctrl[] = {
		4, 24, 64, 76, 77, 78, 80, 84, 88, 92, 96, 111, 128, 130, 256, 258, 259, 261,
		263, 270, 320, 322, 328, 338, 342, 343, 344, 348, 512, 513, 514, 516, 520,
		522, 524, 525, 526, 528, 530, 532, 534, 536, 540, 768, 1792, 1796, 1800, 1802,
		1803, 1804,
	};

	switch (at) {
	case AT_CTRL:
		return below(state, 8) ?
			ctrl[below(state, sizeof(ctrl) / sizeof(*ctrl))] :
			(uint16_t)below(state, PAGE_LEN - 8);
	case AT_NS:
		return (uint16_t)below(state, 192);
	case AT_NS_LIST:
		return (uint16_t)(4 * below(state, 8));
	case AT_NS_DESCS:
		return (uint16_t)below(state, 40);
	case AT_LOG:
		return (uint16_t)below(state, 64);
	case AT_ACCEPT:
	case AT_REJECT:
		return (uint16_t)(2 * below(state, 2));
	case AT_CAP:
	case AT_VS:
	case AT_CSTS:
		return (uint16_t)below(state, 8);
	default:
		return (uint16_t)below(state, CQE_LEN);
	}
}

static struct poke random_poke(uint64_t *state)
{
	struct poke poke = { .at = 1 + below(state, NR_PLACES - 1) };

	/* most of a controller's description is here */
	if (below(state, 2))
		poke.at = AT_CTRL;
	poke.offset = field_offset(state, poke.at);
	poke.bytes = (uint8_t)(1 << below(state, 4));
	poke.value = interesting(state);
	return poke;
}

static struct act random_act(uint64_t *state)
{
	static act_fn * const answers[] = {
		act_len, act_cid, act_cid_xor, act_again, act_drop, act_delay, act_status,
		act_result, act_sqhd, act_fill, act_count, act_immediate,
		act_not_invalidated, act_invalidate, act_invalidate_kept, act_keep,
		act_replay, act_elsewhere, act_leave, act_answer_and_leave, act_silent,
		act_event_now, act_event_invalidate,
	};
	static act_fn * const befores[] = {
		act_no_data, act_half, act_early, act_fetch_twice, act_write_beside,
		act_read_beside, act_wrong_way, act_wrong_key, act_write_immediate,
		act_only_immediate, act_leave, act_silent, act_event, act_count, act_keep,
		act_by_other, act_old_key,
	};
	struct act act = { .before = below(state, 2) };

	act.on = 1 + below(state, NR_EVENTS - 1);
	act.nth = below(state, 4) ? 1 + below(state, 6) : 0;
	act.arg = interesting(state);
	act.run = act.before ?
		befores[below(state, sizeof(befores) / sizeof(*befores))] :
		answers[below(state, sizeof(answers) / sizeof(*answers))];
	/* delays and their number, within what a run can take */
	if (act.run == act_delay || act.run == act_keep || act.run == act_again ||
	    act.run == act_event_now)
		act.arg %= 1000;
	if (act.run == act_count)
		act.arg = (act.arg & ~0xffffull) | (act.arg & 0xffff) % 1000;
	/* of all commands but events it would be a buffer that is not there */
	if (act.run == act_event) {
		act.on = ON_EVENT_REQUEST;
		act.arg = (uint64_t)below(state, 50) << 32 | (uint32_t)interesting(state);
	}
	return act;
}

void fuzz_twist(struct twist *twist, uint64_t seed, uint64_t number)
{
	uint64_t state = seed * 0x2545f4914f6cdd1d + number;
	unsigned int i, n;

	memset(twist, 0, sizeof(*twist));
	twist->name = "fuzz";
	twist->values = 1;
	twist->scope = below(&state, 3);
	twist->on_queue = below(&state, 3);
	if (!below(&state, 8)) {
		twist->request = below(&state, NR_REQUEST_ACTS);
		twist->request_arg = interesting(&state) % 3000;
	}
	n = below(&state, FUZZ_POKES + 1);
	for (i = 0; i < n; i++)
		twist->pokes[i] = random_poke(&state);
	n = below(&state, MAX_ACTS + 1) + !n;
	for (i = 0; i < n && i < MAX_ACTS; i++)
		twist->acts[i] = random_act(&state);
}
