// SPDX-License-Identifier: GPL-2.0
/*
 * What a sector may hold, from what is known of it.
 *
 * A write that was acknowledged is there until a later one is. One that failed, or
 * was not answered, may be there or not, and may still come: the sector holds any
 * generation from the last acknowledged to the last issued. What has been read is
 * there as if it had been acknowledged, or else two reads would find a sector first
 * new, then old. So what comes late, after a later write was acknowledged or read, is
 * a fault: of a host that reports an error, or repeats a write, while the first one
 * may still be on its way.
 */
#include "judge.h"

static const char *const names[NR_VERDICTS] = {
	[FINE] = "fine",
	[UNWRITTEN] = "unwritten",
	[LOST] = "lost",
	[STALE] = "stale",
	[TORN] = "torn",
	[FOREIGN] = "foreign",
	[MISPLACED] = "misplaced",
};

const char *verdict_name(enum verdict verdict)
{
	return names[verdict];
}

bool verdict_bad(enum verdict verdict)
{
	return verdict != FINE && verdict != UNWRITTEN;
}

/* One of this run and for this place */
static enum verdict judge_gen(uint64_t gen, const struct known *known,
			      bool under_load)
{
	if (gen > known->issued)
		return FOREIGN;
	if (gen < known->acked)
		return under_load ? STALE : LOST;
	return gen < known->seen ? STALE : FINE;
}

/*
 * judge - whether a sector may hold what was found
 *
 * @kind, @found: what sector_look() said of it
 * @known: of a read under load, what was acknowledged and seen when it was issued,
 *	   and what was issued when it completed
 * @under_load: a later read may find what this one did not, so an old generation is
 *		a stale read; at the end, the write is lost
 */
enum verdict judge(enum sector_kind kind, const struct sector_id *found,
		   uint64_t run, uint64_t lba, const struct known *known,
		   bool under_load)
{
	bool written = known->acked || known->seen;

	switch (kind) {
	case SECTOR_VALID:
		if (found->run != run)
			break;
		if (found->lba != lba)
			return MISPLACED;
		return judge_gen(found->gen, known, under_load);
	case SECTOR_BROKEN:
		return written || found->run == run ? TORN : UNWRITTEN;
	case SECTOR_BLANK:
		return written ? LOST : UNWRITTEN;
	case SECTOR_ALIEN:
		break;
	}
	return written ? FOREIGN : UNWRITTEN;
}

void known_acked(struct known *known, uint64_t gen)
{
	if (known->acked < gen)
		known->acked = gen;
}

void known_seen(struct known *known, uint64_t gen)
{
	if (known->seen < gen)
		known->seen = gen;
}
