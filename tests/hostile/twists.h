/* SPDX-License-Identifier: GPL-2.0 */
/* Macros for the tables of twists; each table ends with an entry without a name */
#ifndef HOSTILE_TWISTS_H
#define HOSTILE_TWISTS_H

#include "target.h"

/* No sweep: one value */
#define ONE_VALUE	.values = 1

#define ANSWER(on, nth, name, arg)	.acts = { { false, on, nth, act_##name, arg } }
#define BEFORE(on, nth, name, arg)	.acts = { { true, on, nth, act_##name, arg } }
#define TWO_ACTS(...)			.acts = { __VA_ARGS__ }
/* OAES: notices of firmware that is activated; MTFA: which may take 60 s */
#define TELLS_OF_FIRMWARE \
	.pokes = { { AT_CTRL, 92, 4, 0x300 }, { AT_CTRL, 270, 2, 600 } }

extern const struct twist twists_connect[], twists_answer[], twists_data[];
extern const struct twist twists_self[];

#endif /* HOSTILE_TWISTS_H */
