/* SPDX-License-Identifier: GPL-2.0 */
/* What the checker writes into each sector, and what it finds there */
#ifndef ACKED_SECTOR_H
#define ACKED_SECTOR_H

#include <stddef.h>
#include <stdint.h>

/* Logical blocks of a disk: the least that is written as a whole */
#define SECTOR_MIN	512
#define SECTOR_MAX	4096

/*
 * Which write a sector is of. A generation is the number of a write in its run:
 * that of a later write is higher, whichever sectors it is to.
 */
struct sector_id {
	uint64_t run;
	uint64_t lba;
	uint64_t gen;
};

enum sector_kind {
	SECTOR_VALID,	/* written by a checker, and whole */
	SECTOR_BROKEN,	/* begins like one, but its checksum is wrong */
	SECTOR_BLANK,	/* nothing but zeroes */
	SECTOR_ALIEN,	/* something else */
};

uint64_t sector_sum(const void *data, size_t bytes, uint64_t seed);
void sector_make(void *data, size_t bytes, const struct sector_id *id);
enum sector_kind sector_look(const void *data, size_t bytes,
			     struct sector_id *id);

#endif /* ACKED_SECTOR_H */
