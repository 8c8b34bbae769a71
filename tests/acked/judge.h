/* SPDX-License-Identifier: GPL-2.0 */
/* What a sector may hold */
#ifndef ACKED_JUDGE_H
#define ACKED_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "sector.h"

/* No generation is higher */
#define GEN_MAX		UINT64_MAX

/* What is known of a sector: the highest generation of each kind, 0 for none */
struct known {
	uint64_t acked;		/* its write was acknowledged */
	uint64_t seen;		/* it has been read */
	uint64_t issued;	/* its write was begun */
};

enum verdict {
	FINE,		/* as it may be */
	UNWRITTEN,	/* nothing was acknowledged here, and nothing of it seen */
	LOST,		/* an acknowledged write is not there */
	STALE,		/* a read found what had been overwritten */
	TORN,		/* a part of a sector */
	FOREIGN,	/* something that this run has not written */
	MISPLACED,	/* what belongs to another sector */
	NR_VERDICTS,
};

const char *verdict_name(enum verdict verdict);
bool verdict_bad(enum verdict verdict);
enum verdict judge(enum sector_kind kind, const struct sector_id *found,
		   uint64_t run, uint64_t lba, const struct known *known,
		   bool under_load);

void known_acked(struct known *known, uint64_t gen);
void known_seen(struct known *known, uint64_t gen);

#endif /* ACKED_JUDGE_H */
