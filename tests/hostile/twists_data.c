// SPDX-License-Identifier: GPL-2.0
/*
 * Twists: how data is moved, or not.
 *
 * A host cannot know that data which was promised did not come, nor that what it
 * has given was thrown away: that is "wrong-data". It can see to it that nothing is
 * reached but the buffer of a command, in the right direction, while the command
 * waits: accesses that are none of this have to be refused, else there is an alarm.
 */
#include "target_acts.h"
#include "twists.h"

#define BROKEN		"(RECV failed|SEND failed|connection lost|[0-9]: disconnected|WR flushed)"

const struct twist twists_data[] = {
	{ "read-nothing", "a read is answered, and no data was sent", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, no_data, 0), .expect = "wrong-data" },
	{ "read-half", "a read is answered with half of its data", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, half, 0), .expect = "wrong-data" },
	{ "write-not-fetched", "a write is answered, and its data was not fetched", FIRST,
	  ONE_VALUE, BEFORE(ON_WRITE, 2, no_data, 0), .expect = "wrong-data" },
	{ "write-in-forgotten", "a write is answered, and what came with it forgotten", FIRST,
	  ONE_VALUE, BEFORE(ON_WRITE_IN, 2, no_data, 0), .expect = "wrong-data" },
	{ "write-fetched-twice", "a write's data is fetched twice", ALWAYS, ONE_VALUE,
	  BEFORE(ON_WRITE, 0, fetch_twice, 0), .expect = "ok" },
	{ "early-read", "a read is answered before its data is sent", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, early, 0), .expect = "recovers|ok|wrong-data" },
	{ "early-read-invalidate", "and its key is invalidated by that", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, early, 1), .expect = "recovers|wrong-data" },
	{ "early-write", "a write is answered before its data is fetched", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, early, 0), .expect = "recovers|ok|wrong-data" },
	{ "early-write-invalidate", "and its key is invalidated by that", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, early, 1), .expect = "recovers|wrong-data" },

	{ "beyond-read", "data is written right behind a read's buffer", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, write_beside, 0), .expect = "recovers" },
	{ "across-read", "and across its end", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, write_across, 0), .expect = "recovers" },
	{ "across-begin-read", "and across its beginning", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, write_beside, (uint64_t)-8), .expect = "recovers" },
	{ "before-read", "and 4 KiB before its beginning", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, write_beside, (uint64_t)-4096), .expect = "recovers" },
	{ "far-read", "and 4 KiB to 2^62 behind its end", FIRST,
	  BEFORE(ON_READ, 2, write_beside, 4096), .sweep = SWEEP_SHIFT, .values = 51,
	  .expect = "recovers" },
	{ "beyond-write", "data is read right behind a write's buffer", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, read_beside, 0), .expect = "recovers" },
	{ "across-write", "and across its end", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, read_across, 0), .expect = "recovers" },
	{ "across-begin-write", "and across its beginning", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, read_beside, (uint64_t)-8), .expect = "recovers" },
	{ "before-write", "and 4 KiB before its beginning", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, read_beside, (uint64_t)-4096), .expect = "recovers" },
	{ "far-write", "and 4 KiB to 2^62 behind its end", FIRST,
	  BEFORE(ON_WRITE, 2, read_beside, 4096), .sweep = SWEEP_SHIFT, .values = 51,
	  .expect = "recovers" },
	{ "read-of-read", "a read's buffer is read", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, wrong_way, 0), .expect = "recovers" },
	{ "write-to-write", "a write's buffer is written", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, wrong_way, 0), .expect = "recovers" },
	{ "write-to-connect", "the data of Connect is written", ALWAYS, ONE_VALUE,
	  BEFORE(ON_CONNECT, 1, wrong_way, 0), .expect = "refused" },
	{ "key-guessed", "a key that differs in its own part", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, wrong_key, 1), .expect = "recovers" },
	{ "key-none", "a key that nobody gave", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, wrong_key, 0x40000), .expect = "recovers" },
	{ "stale-write", "data is written by the key of a read that is done", FIRST, ONE_VALUE,
	  TWO_ACTS({ true, ON_READ, 2, act_keep, 0 }, { true, ON_READ, 4, act_stale_key, 0 }),
	  .expect = "recovers" },
	{ "stale-read", "data is read by the key of a write that is done", FIRST, ONE_VALUE,
	  TWO_ACTS({ true, ON_WRITE, 1, act_keep, 0 }, { true, ON_WRITE, 3, act_stale_key, 1 }),
	  .expect = "recovers" },
	{ "stale-plain", "the same of a write whose key the host has to invalidate", FIRST,
	  ONE_VALUE, TWO_ACTS({ false, ON_WRITE, 1, act_keep_plain, 0 },
			      { true, ON_WRITE, 3, act_stale_key, 1 }),
	  .expect = "recovers" },

	/* ---- keys where they were not given to: target_keys.c says what to expect ---- */
	{ "key-other-queue", "a read's data is written by way of the admin queue", FIRST,
	  ONE_VALUE, TWO_ACTS({ true, ON_READ, 2, act_by_other, 1 },
			      { false, ON_READ, 2, act_delay, 500 }), .expect = "ok" },
	{ "key-other-queue-write", "a write's data is fetched by way of the admin queue", FIRST,
	  ONE_VALUE, TWO_ACTS({ true, ON_WRITE, 2, act_by_other, 1 },
			      { false, ON_WRITE, 2, act_delay, 500 }), .expect = "ok" },
	{ "stale-other-queue", "by the key of a read that is done, on the admin queue", FIRST,
	  ONE_VALUE, TWO_ACTS({ true, ON_READ, 2, act_keep, 0 },
			      { true, ON_READ, 8, act_stale_by_admin, 0 }),
	  .expect = "recovers" },
	{ "stale-association", "data is written by a key of the connection before", LATER,
	  ONE_VALUE, BEFORE(ON_READ, 1, old_key, 0), .expect = "recovers" },
	{ "stale-association-read", "data is read by a key of the connection before", LATER,
	  ONE_VALUE, BEFORE(ON_READ, 1, old_key, 1), .expect = "recovers" },
	/* without a case before there is none */
	{ "stale-controller", "data is written by a key of a controller that is deleted",
	  FIRST, ONE_VALUE, BEFORE(ON_READ, 2, old_key, 0), .expect = "recovers|ok" },
	{ "key-companion", "by the key of another controller's Identify, which waits", ALWAYS,
	  ONE_VALUE, TWO_ACTS({ false, ON_ADMIN, 1, act_companion, 3000 },
			      { true, ON_READ, 0, act_companion_key, 0 }),
	  .expect = "recovers", .companion = true },
	{ .name = NULL },
};
