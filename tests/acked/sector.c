// SPDX-License-Identifier: GPL-2.0
/*
 * A sector of the checker: who wrote it (the run), where to (the LBA), and when
 * (the generation); a checksum over all of it; and in the rest bytes that no other
 * sector has, so that a part of one is not taken for a part of another.
 */
#include "sector.h"

#include <string.h>

#define MAGIC		0x64656b6361766e61ull
#define SUM_SEED	0x9e3779b97f4a7c15ull
#define SUM_FACTOR	0xff51afd7ed558ccdull
#define FILL_FACTOR	0xc4ceb9fe1a85ec53ull

/* The words of a sector; what comes behind them is filled up */
enum { WORD_MAGIC, WORD_RUN, WORD_LBA, WORD_GEN, WORD_SUM, WORD_FILL };

/*
 * sector_sum - a checksum of @bytes, a multiple of eight
 *
 * Each step maps sums one to one for any word, and words one to one for any sum:
 * if one word differs, the checksum does.
 */
uint64_t sector_sum(const void *data, size_t bytes, uint64_t seed)
{
	const unsigned char *from = data;
	uint64_t sum = seed ^ SUM_SEED, word;
	size_t i;

	for (i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
		memcpy(&word, from + i, sizeof(word));
		sum = (sum ^ word) * SUM_FACTOR;
		sum = (sum << 29) | (sum >> 35);
	}
	return sum;
}

/* The checksum of a sector: of all words but its own */
static uint64_t sum_of(const uint64_t *word, size_t bytes)
{
	uint64_t sum;

	sum = sector_sum(word, WORD_SUM * sizeof(*word), bytes);
	return sector_sum(word + WORD_FILL, bytes - WORD_FILL * sizeof(*word),
			  sum);
}

/* sector_make - fill @data, aligned to eight bytes, with the sector @id */
void sector_make(void *data, size_t bytes, const struct sector_id *id)
{
	uint64_t *word = data, fill;
	size_t i;

	word[WORD_MAGIC] = MAGIC;
	word[WORD_RUN] = id->run;
	word[WORD_LBA] = id->lba;
	word[WORD_GEN] = id->gen;
	fill = sector_sum(&word[WORD_RUN], 3 * sizeof(*word), 0);
	for (i = WORD_FILL; i < bytes / sizeof(*word); i++)
		word[i] = fill += FILL_FACTOR;
	word[WORD_SUM] = sum_of(word, bytes);
}

static int all_zero(const unsigned char *data, size_t bytes)
{
	return !data[0] && !memcmp(data, data + 1, bytes - 1);
}

/*
 * sector_look - what there is in @data, aligned to eight bytes
 *
 * @id: whose sector it is, or, if it is broken, says it is; else zeroes
 */
enum sector_kind sector_look(const void *data, size_t bytes,
			     struct sector_id *id)
{
	const uint64_t *word = data;

	memset(id, 0, sizeof(*id));
	if (word[WORD_MAGIC] != MAGIC)
		return all_zero(data, bytes) ? SECTOR_BLANK : SECTOR_ALIEN;
	id->run = word[WORD_RUN];
	id->lba = word[WORD_LBA];
	id->gen = word[WORD_GEN];
	return word[WORD_SUM] == sum_of(word, bytes) ? SECTOR_VALID :
						       SECTOR_BROKEN;
}
