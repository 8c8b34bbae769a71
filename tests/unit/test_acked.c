// SPDX-License-Identifier: GPL-2.0
/*
 * tests/fixtures/acked-io: which results the checker of acknowledged writes accepts and
 * rejects. Its verdict on a transport depends on this.
 */
#include "harness.h"

#include <string.h>

#include "tests/fixtures/acked-io/judge.h"
#include "tests/fixtures/acked-io/record.h"

#define RUN	0x1122334455667788ull
#define SIZE	SECTOR_MIN

static const struct sector_id here = { .run = RUN, .lba = 77, .gen = 9 };

/* Aligned, and AddressSanitizer knows where it ends */
static uint64_t *sector(const struct sector_id *id)
{
	uint64_t *data = calloc(1, SIZE);

	assert_non_null(data);
	if (id)
		sector_make(data, SIZE, id);
	return data;
}

static void whole_sector(void **state)
{
	static const size_t sizes[] = { SECTOR_MIN, 1024, SECTOR_MAX };
	struct sector_id found;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		void *data = malloc(sizes[i]);

		assert_non_null(data);
		sector_make(data, sizes[i], &here);
		assert_int_equal(sector_look(data, sizes[i], &found),
				 SECTOR_VALID);
		assert_memory_equal(&found, &here, sizeof(here));
		free(data);
	}
}

/* No bit of a sector is without its part in the checksum */
static void each_bit(void **state)
{
	uint64_t *data = sector(&here);
	struct sector_id found;
	unsigned int bit;

	(void)state;
	for (bit = 0; bit < SIZE * 8; bit++) {
		data[bit / 64] ^= 1ull << bit % 64;
		unit_context("bit %u", bit);
		unit_equal(bit < 64 ? SECTOR_ALIEN : SECTOR_BROKEN,
			   sector_look(data, SIZE, &found));
		data[bit / 64] ^= 1ull << bit % 64;
	}
	free(data);
}

/* So that no part of a sector is taken for that of another one */
static void no_word_twice(void **state)
{
	const struct sector_id others[] = {
		{ .run = RUN + 1, .lba = 77, .gen = 9 },
		{ .run = RUN, .lba = 78, .gen = 9 },
		{ .run = RUN, .lba = 77, .gen = 10 },
	};
	uint64_t *data = sector(&here);
	unsigned int i, n;

	(void)state;
	for (n = 0; n < ARRAY_SIZE(others); n++) {
		uint64_t *other = sector(&others[n]);

		/* behind the magic number and those three */
		for (i = 4; i < SIZE / 8; i++) {
			unit_context("other sector %u, word %u", n, i);
			unit_equal(1, data[i] != other[i]);
			unit_equal(1, data[i] != data[i - 1]);
		}
		free(other);
	}
	free(data);
}

/* Two writes of one sector, wherever the second one ends */
static void torn_anywhere(void **state)
{
	const struct sector_id later = { .run = RUN, .lba = 77, .gen = 10 };
	uint64_t *old = sector(&here), *new = sector(&later);
	uint64_t *torn = sector(NULL);
	struct sector_id found;
	size_t at;

	(void)state;
	for (at = 1; at < SIZE; at++) {
		enum sector_kind kind;

		memcpy(torn, new, at);
		memcpy((char *)torn + at, (char *)old + at, SIZE - at);
		kind = sector_look(torn, SIZE, &found);
		unit_context("torn at byte %zu", at);
		/* the heads differ from the generation, byte 24, on */
		if (!memcmp(torn, old, SIZE) || !memcmp(torn, new, SIZE))
			unit_equal(SECTOR_VALID, kind);
		else
			unit_equal(SECTOR_BROKEN, kind);
	}
	free(old);
	free(new);
	free(torn);
}

static void blank_and_alien(void **state)
{
	uint64_t *data = sector(NULL);
	struct sector_id found;
	unsigned int byte;

	(void)state;
	assert_int_equal(sector_look(data, SIZE, &found), SECTOR_BLANK);
	for (byte = 0; byte < SIZE; byte++) {
		((unsigned char *)data)[byte] = 1;
		unit_context("byte %u", byte);
		unit_equal(SECTOR_ALIEN, sector_look(data, SIZE, &found));
		((unsigned char *)data)[byte] = 0;
	}
	free(data);
}

static const struct known never = { .issued = GEN_MAX };
static const struct known nine = { .acked = 9, .issued = 9 };
static const struct known eight = { .acked = 8, .issued = 8 };
static const struct known ten = { .acked = 10, .issued = 10 };
static const struct known open = { .acked = 7, .issued = 12 };
static const struct known seen = { .acked = 7, .seen = 11, .issued = 12 };
static const struct known seen_it = { .acked = 7, .seen = 9, .issued = 12 };
static const struct known only_seen = { .seen = 9, .issued = 12 };

static void verdicts(void **state)
{
	const struct sector_id other_run = { .run = 1, .lba = 77, .gen = 9 };
	const struct sector_id other_lba = { .run = RUN, .lba = 78, .gen = 9 };
	const struct {
		const char *words;
		enum sector_kind kind;
		const struct sector_id *found;
		const struct known *known;
		enum verdict at_end, under_load;
	} table[] = {
		{ "acknowledged", SECTOR_VALID, &here, &nine, FINE, FINE },
		{ "failed, and there", SECTOR_VALID, &here, &open, FINE, FINE },
		{ "never issued", SECTOR_VALID, &here, &eight, FOREIGN, FOREIGN },
		{ "overwritten", SECTOR_VALID, &here, &ten, LOST, STALE },
		{ "a later one was read", SECTOR_VALID, &here, &seen, STALE,
		  STALE },
		{ "read before", SECTOR_VALID, &here, &seen_it, FINE, FINE },
		{ "not known", SECTOR_VALID, &here, &never, FINE, FINE },
		{ "of another run", SECTOR_VALID, &other_run, &nine, FOREIGN,
		  FOREIGN },
		{ "of another run, as before", SECTOR_VALID, &other_run, &never,
		  UNWRITTEN, UNWRITTEN },
		{ "of another run, which was overwritten", SECTOR_VALID,
		  &other_run, &only_seen, FOREIGN, FOREIGN },
		{ "of another sector", SECTOR_VALID, &other_lba, &nine,
		  MISPLACED, MISPLACED },
		{ "of another sector, and nothing written here", SECTOR_VALID,
		  &other_lba, &never, MISPLACED, MISPLACED },
		{ "broken", SECTOR_BROKEN, &here, &nine, TORN, TORN },
		{ "broken, a write had failed", SECTOR_BROKEN, &here, &never,
		  TORN, TORN },
		{ "broken, of another run", SECTOR_BROKEN, &other_run, &nine,
		  TORN, TORN },
		{ "broken before", SECTOR_BROKEN, &other_run, &never, UNWRITTEN,
		  UNWRITTEN },
		{ "zeroes", SECTOR_BLANK, &here, &nine, LOST, LOST },
		{ "zeroes, and it was read", SECTOR_BLANK, &here, &only_seen,
		  LOST, LOST },
		{ "zeroes as before", SECTOR_BLANK, &here, &never, UNWRITTEN,
		  UNWRITTEN },
		{ "strange", SECTOR_ALIEN, &here, &nine, FOREIGN, FOREIGN },
		{ "strange as before", SECTOR_ALIEN, &here, &never, UNWRITTEN,
		  UNWRITTEN },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("%s, at the end", table[i].words);
		unit_equal(table[i].at_end,
			   judge(table[i].kind, table[i].found, RUN, 77,
				 table[i].known, false));
		unit_context("%s, under load", table[i].words);
		unit_equal(table[i].under_load,
			   judge(table[i].kind, table[i].found, RUN, 77,
				 table[i].known, true));
	}
}

static void what_is_known_only_grows(void **state)
{
	struct known known = { .issued = 20 };

	(void)state;
	known_acked(&known, 5);
	known_acked(&known, 4);
	known_seen(&known, 7);
	known_seen(&known, 6);
	assert_int_equal(known.acked, 5);
	assert_int_equal(known.seen, 7);
	assert_int_equal(known.issued, 20);
	assert_false(verdict_bad(FINE) || verdict_bad(UNWRITTEN));
	assert_true(verdict_bad(LOST) && verdict_bad(STALE) &&
		    verdict_bad(TORN) && verdict_bad(FOREIGN) &&
		    verdict_bad(MISPLACED));
}

/* ---- the log ---- */

#define SECTORS		8
#define BATCHES		3
#define LOG_BYTES	(sizeof(struct log_head) +			\
			 BATCHES * (sizeof(struct log_batch) +		\
				    2 * sizeof(struct log_record)))

/* Batch n: sectors n and n + 1 of generation 10 + n, and n was read as 20 + n */
static uint64_t *a_log(void)
{
	struct log_head head = { .run = RUN, .sectors = SECTORS,
				 .sector_bytes = SIZE };
	uint64_t *log = calloc(1, LOG_BYTES);
	size_t at = sizeof(head);
	unsigned int n;

	assert_non_null(log);
	log_head_make(&head);
	memcpy(log, &head, sizeof(head));
	for (n = 0; n < BATCHES; n++) {
		struct log_batch *batch = (void *)((char *)log + at);
		struct log_record *record = (void *)(batch + 1);

		record[0] = (struct log_record) { 10 + n, n, 2, RECORD_ACKED };
		record[1] = (struct log_record) { 20 + n, n, 1, RECORD_SEEN };
		at += log_batch_make(batch, n, 2);
	}
	assert_int_equal(at, LOG_BYTES);
	return log;
}

static void log_says(void **state)
{
	struct known known[SECTORS] = { };
	uint64_t *log = a_log();
	struct replay out;

	(void)state;
	assert_int_equal(log_head_check((void *)log), 0);
	assert_int_equal(log_replay(log, LOG_BYTES, known, &out), 0);
	assert_int_equal(out.batches, BATCHES);
	assert_int_equal(out.records, 2 * BATCHES);
	assert_int_equal(out.ignored, 0);
	assert_true(out.issued == GEN_MAX);
	assert_int_equal(known[0].acked, 10);
	assert_int_equal(known[1].acked, 11);
	assert_int_equal(known[3].acked, 12);
	assert_int_equal(known[4].acked, 0);
	assert_int_equal(known[2].seen, 22);
	assert_int_equal(known[3].seen, 0);
	assert_true(known[0].issued == GEN_MAX);
	free(log);
}

static void log_ends(void **state)
{
	struct known known[SECTORS] = { };
	uint64_t *log = a_log();
	struct log_batch *last = (void *)((char *)log + sizeof(struct log_head));
	struct log_record *record = (void *)(last + 1);
	struct replay out;
	size_t bytes;

	(void)state;
	record[1] = (struct log_record) { 99, 0, 0, RECORD_END };
	bytes = sizeof(struct log_head) + log_batch_make(last, 0, 2);
	assert_int_equal(log_replay(log, bytes, known, &out), 0);
	assert_int_equal(out.issued, 99);
	assert_int_equal(known[SECTORS - 1].issued, 99);
	free(log);
}

/* The writer died at any byte: only complete records count */
static void log_torn(void **state)
{
	const size_t head = sizeof(struct log_head);
	const size_t each = (LOG_BYTES - head) / BATCHES;
	uint64_t *log = a_log();
	size_t bytes;

	(void)state;
	for (bytes = head; bytes <= LOG_BYTES; bytes++) {
		struct known known[SECTORS] = { };
		u8 *part = unit_exact_copy(log, bytes);
		struct replay out;

		unit_context("%zu bytes", bytes);
		unit_equal(0, log_replay(part, bytes, known, &out));
		unit_equal((bytes - head) / each, out.batches);
		unit_equal((bytes - head) % each, out.ignored);
		unit_equal(bytes - head >= each ? 10 : 0, known[0].acked);
		free(part);
	}
	free(log);
}

/* Any bit wrong: of the last batch it is as if it had not come; before, damage */
static void log_damaged(void **state)
{
	const size_t head = sizeof(struct log_head);
	const size_t last = LOG_BYTES - (LOG_BYTES - head) / BATCHES;
	uint64_t *log = a_log();
	size_t bit;

	(void)state;
	for (bit = 0; bit < LOG_BYTES * 8; bit++) {
		struct known known[SECTORS] = { };
		struct replay out;
		int rc;

		log[bit / 64] ^= 1ull << bit % 64;
		unit_context("bit %zu of byte %zu", bit % 8, bit / 8);
		if (bit < head * 8) {
			unit_equal(1, log_head_check((void *)log) != 0);
		} else {
			rc = log_replay(log, LOG_BYTES, known, &out);
			unit_equal(bit < last * 8, rc != 0);
			unit_equal(0, known[4].acked);
		}
		log[bit / 64] ^= 1ull << bit % 64;
	}
	free(log);
}

/* A partial record is not longer than a batch can be */
static void log_tail(void **state)
{
	const size_t most = LOG_BYTES + BATCH_BYTES;
	struct known known[SECTORS] = { };
	uint64_t *log = a_log();
	struct replay out;

	(void)state;
	log = realloc(log, most + 8);
	assert_non_null(log);
	memset((char *)log + LOG_BYTES, 0, BATCH_BYTES + 8);
	assert_int_equal(log_replay(log, most, known, &out), 0);
	assert_int_equal(out.ignored, BATCH_BYTES);
	assert_int_not_equal(log_replay(log, most + 8, known, &out), 0);
	free(log);
}

/* Right checksums around what cannot be */
static void log_impossible(void **state)
{
	static const struct log_record wrong[] = {
		{ 1, SECTORS, 1, RECORD_ACKED },
		{ 1, SECTORS - 1, 2, RECORD_ACKED },
		{ 1, UINT32_MAX, 1, RECORD_SEEN },
		{ 1, 1, UINT16_MAX, RECORD_SEEN },
		{ 1, 0, 1, 0 },
		{ 1, 0, 1, RECORD_END + 1 },
	};
	uint64_t *log = a_log();
	struct log_batch *batch = (void *)((char *)log + sizeof(struct log_head));
	struct log_record *record = (void *)(batch + 1);
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct known known[SECTORS] = { };
		struct replay out;

		record[1] = wrong[i];
		unit_context("record %u", i);
		log_batch_make(batch, 0, 2);
		unit_equal(1, log_replay(log, LOG_BYTES, known, &out) != 0);
	}
	/* the first two batches in the wrong order, and one left out */
	log_batch_make(batch, 1, 2);
	record[1] = (struct log_record) { 20, 0, 1, RECORD_SEEN };
	log_batch_make(batch, 1, 2);
	{
		struct known known[SECTORS] = { };
		struct replay out;

		unit_context("a batch is missing");
		unit_equal(1, log_replay(log, LOG_BYTES, known, &out) != 0);
	}
	free(log);
}

static void heads(void **state)
{
	static const struct log_head wrong[] = {
		{ .sectors = 0, .sector_bytes = SECTOR_MIN },
		{ .sectors = 1, .sector_bytes = 0 },
		{ .sectors = 1, .sector_bytes = SECTOR_MIN - 8 },
		{ .sectors = 1, .sector_bytes = SECTOR_MIN + 8 },
		{ .sectors = 1, .sector_bytes = SECTOR_MAX + SECTOR_MIN },
	};
	struct log_head head;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		head = wrong[i];
		log_head_make(&head);
		unit_context("head %u", i);
		unit_equal(1, log_head_check(&head) != 0);
	}
	head = (struct log_head) { .sectors = 1, .sector_bytes = SECTOR_MAX };
	log_head_make(&head);
	assert_int_equal(log_head_check(&head), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_sector),
		cmocka_unit_test(each_bit),
		cmocka_unit_test(no_word_twice),
		cmocka_unit_test(torn_anywhere),
		cmocka_unit_test(blank_and_alien),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(what_is_known_only_grows),
		cmocka_unit_test(log_says),
		cmocka_unit_test(log_ends),
		cmocka_unit_test(log_torn),
		cmocka_unit_test(log_damaged),
		cmocka_unit_test(log_tail),
		cmocka_unit_test(log_impossible),
		cmocka_unit_test(heads),
	};

	return cmocka_run_group_tests_name("acked", tests, NULL, NULL);
}
