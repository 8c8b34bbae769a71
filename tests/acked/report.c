// SPDX-License-Identifier: GPL-2.0
/* What is wrong, in words that somebody can go after */
#include "acked.h"

#include <inttypes.h>
#include <stdio.h>

/* All are counted, but nobody reads more */
#define SAID	40

static void say_found(enum sector_kind kind, const struct sector_id *found,
		      uint64_t lba)
{
	switch (kind) {
	case SECTOR_VALID:
		printf("generation %" PRIu64, found->gen);
		if (found->lba != lba)
			printf(" of sector %" PRIu64, found->lba);
		printf(" of run %016" PRIx64, found->run);
		return;
	case SECTOR_BROKEN:
		printf("a wrong checksum behind the head of generation %" PRIu64
		       " of sector %" PRIu64 " of run %016" PRIx64,
		       found->gen, found->lba, found->run);
		return;
	case SECTOR_BLANK:
		printf("zeroes");
		return;
	case SECTOR_ALIEN:
		printf("what no checker wrote");
		return;
	}
}

/* say_violation - a line on what was expected of a sector, and what is there */
void say_violation(const char *device, const char *when, enum verdict verdict,
		   enum sector_kind kind, const struct sector_id *found,
		   uint64_t lba, const struct known *known)
{
	static atomic_uint said;
	unsigned int n = atomic_fetch_add(&said, 1);

	if (n >= SAID) {
		if (n == SAID)
			printf("violation: more of them are only counted\n");
		return;
	}
	flockfile(stdout);
	printf("violation: %s sector %" PRIu64 ", %s: %s: expected ", device,
	       lba, when, verdict_name(verdict));
	if (known->issued == GEN_MAX)
		printf("generation %" PRIu64 " or later",
		       known->acked > known->seen ? known->acked : known->seen);
	else
		printf("generation %" PRIu64 " to %" PRIu64,
		       known->acked > known->seen ? known->acked : known->seen,
		       known->issued);
	printf(" (acknowledged %" PRIu64 ", read %" PRIu64 "), found ",
	       known->acked, known->seen);
	say_found(kind, found, lba);
	printf("\n");
	fflush(stdout);
	funlockfile(stdout);
}
