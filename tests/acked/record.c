// SPDX-License-Identifier: GPL-2.0
/*
 * The log's format: a head, then batches, each with a checksum. Its writer may die,
 * and its machine with it, in the middle of any of them: what is not whole at the end
 * says nothing. Numbers are the processor's own, for a log is read where it was
 * written.
 */
#include "record.h"

#include <string.h>

#define HEAD_MAGIC	0x31676f6c64656b63ull
#define BATCH_MAGIC	0x68637462u

static uint64_t head_sum(const struct log_head *head)
{
	return sector_sum(head, offsetof(struct log_head, sum), 0);
}

void log_head_make(struct log_head *head)
{
	head->magic = HEAD_MAGIC;
	head->sum = head_sum(head);
}

/* log_head_check - 0 if it is one, and its numbers are possible */
int log_head_check(const struct log_head *head)
{
	if (head->magic != HEAD_MAGIC || head->sum != head_sum(head))
		return -1;
	if (head->sector_bytes < SECTOR_MIN || head->sector_bytes > SECTOR_MAX ||
	    head->sector_bytes % SECTOR_MIN || !head->sectors)
		return -1;
	return 0;
}

static uint64_t batch_sum(const struct log_batch *batch)
{
	return sector_sum(batch + 1, batch->count * sizeof(struct log_record),
			  batch->number + 1);
}

/*
 * log_batch_make - the head of a batch, in front of its @count records
 *
 * Return: how long the batch is, in bytes
 */
size_t log_batch_make(void *batch, uint64_t number, uint32_t count)
{
	struct log_batch *head = batch;

	head->number = number;
	head->magic = BATCH_MAGIC;
	head->count = count;
	head->sum = batch_sum(head);
	return sizeof(*head) + count * sizeof(struct log_record);
}

/* The batch that begins here, if it is whole */
static const struct log_batch *whole_batch(const void *at, size_t bytes)
{
	const struct log_batch *batch = at;

	if (bytes < sizeof(*batch) || batch->magic != BATCH_MAGIC ||
	    bytes - sizeof(*batch) < batch->count * sizeof(struct log_record) ||
	    batch->sum != batch_sum(batch))
		return NULL;
	return batch;
}

/*
 * What is no whole batch at the end is what was just being appended. If another one
 * comes behind it, or it is longer than any, the log was damaged.
 */
static int tail_is_torn(const char *tail, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += sizeof(uint64_t)) {
		if (whole_batch(tail + at, bytes - at))
			return 0;
	}
	return bytes <= BATCH_BYTES;
}

static int replay_record(const struct log_record *record, uint32_t sectors,
			 struct known *known, struct replay *out)
{
	uint32_t i;

	if (record->kind == RECORD_END) {
		out->issued = record->gen;
		return 0;
	}
	if ((record->kind != RECORD_ACKED && record->kind != RECORD_SEEN) ||
	    record->sector > sectors || record->count > sectors - record->sector)
		return -1;
	for (i = record->sector; i < record->sector + record->count; i++) {
		if (record->kind == RECORD_ACKED)
			known_acked(&known[i], record->gen);
		else
			known_seen(&known[i], record->gen);
	}
	return 0;
}

/*
 * log_replay - what is known of each sector, from a whole log
 *
 * @log: aligned to eight bytes, with a head that is right
 * @known: of as many sectors as the head says, all zero
 *
 * Return: 0, or -1 if the log was damaged: more is wrong than the end of what its
 * writer was just about to append
 */
int log_replay(const void *log, size_t bytes, struct known *known,
	       struct replay *out)
{
	const struct log_head *head = log;
	const struct log_record *record;
	const struct log_batch *batch;
	size_t at = sizeof(*head);
	uint32_t i;

	memset(out, 0, sizeof(*out));
	out->issued = GEN_MAX;
	while ((batch = whole_batch((const char *)log + at, bytes - at))) {
		if (batch->number != out->batches)
			return -1;
		record = (const struct log_record *)(batch + 1);
		for (i = 0; i < batch->count; i++) {
			if (replay_record(&record[i], head->sectors, known, out))
				return -1;
		}
		out->batches++;
		out->records += batch->count;
		at += sizeof(*batch) + batch->count * sizeof(*record);
	}
	for (i = 0; i < head->sectors; i++)
		known[i].issued = out->issued;
	out->ignored = bytes - at;
	return tail_is_torn((const char *)log + at, out->ignored) ? 0 : -1;
}
