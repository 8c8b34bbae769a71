/* SPDX-License-Identifier: GPL-2.0 */
/* The log: what was acknowledged, for whoever verifies it */
#ifndef ACKED_RECORD_H
#define ACKED_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "judge.h"

/* The head of a log, of which verify knows all that run was told */
struct log_head {
	uint64_t magic;
	uint64_t run;
	uint64_t first;		/* LBA */
	uint32_t sectors;
	uint32_t sector_bytes;
	uint64_t sum;
};

enum record_kind {
	RECORD_ACKED = 1,	/* a write was acknowledged */
	RECORD_SEEN,		/* a read found what was not acknowledged before */
	RECORD_END,		/* the run has ended; gen is the last one issued */
};

struct log_record {
	uint64_t gen;
	uint32_t sector;	/* counted from the log's first */
	uint16_t count;
	uint16_t kind;
};

/* Records that were appended at once come behind one of these */
struct log_batch {
	uint64_t number;	/* 0, 1, ... */
	uint32_t magic;
	uint32_t count;
	uint64_t sum;		/* of number and records */
};

#define BATCH_RECORDS	4096
#define BATCH_BYTES	(sizeof(struct log_batch) +			\
			 BATCH_RECORDS * sizeof(struct log_record))

/* What a log says */
struct replay {
	uint64_t batches, records;
	uint64_t issued;	/* the last generation, GEN_MAX if it does not say */
	size_t ignored;		/* bytes at the end that are no whole batch */
};

void log_head_make(struct log_head *head);
int log_head_check(const struct log_head *head);
size_t log_batch_make(void *batch, uint64_t number, uint32_t count);
int log_replay(const void *log, size_t bytes, struct known *known,
	       struct replay *out);

#endif /* ACKED_RECORD_H */
