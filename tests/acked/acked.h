/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the program share */
#ifndef ACKED_H
#define ACKED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge.h"
#include "record.h"

#define MAX_WRITERS	16
#define MAX_DEPTH	64
#define MAX_BLOCK	(64 * 1024)
#define MAX_SECTORS	(MAX_BLOCK / SECTOR_MIN)

/* How the program ends */
enum {
	EXIT_GOOD,	/* nothing wrong was found */
	EXIT_BAD,	/* something was lost, stale, ... */
	EXIT_USAGE,	/* it could not even begin */
	EXIT_HANGS,	/* some I/O was not answered, or could not be read */
};

/* ---- options.c ---- */

struct options {
	const char *device;
	const char *log;
	const char *status;	/* where to say how far it is, or NULL */
	uint64_t bytes;		/* of the device, from its beginning */
	uint64_t seed;		/* 0: another one in each run */
	unsigned int writers, depth;
	unsigned int block;	/* the largest I/O */
	unsigned int reads;	/* percent */
	unsigned int flush;	/* every so many I/Os of a writer; 0: none */
	unsigned int pace;	/* ms between two I/Os of a writer */
	unsigned int seconds;	/* 0: until it is told to end */
	unsigned int drain;	/* seconds for what is outstanding at the end */
	bool stop_at_error;
	bool polled;		/* for completions; no flushes */
};

void options_parse(struct options *opt, int argc, char **argv);

/* ---- main.c ---- */

void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
uint64_t now_ms(void);

/* ---- report.c ---- */

void say_violation(const char *device, const char *when, enum verdict verdict,
		   enum sector_kind kind, const struct sector_id *found,
		   uint64_t lba, const struct known *known);

/* ---- device.c ---- */

struct device {
	const char *name;
	int fd;
	uint64_t bytes;
	unsigned int sector_bytes;
};

void device_open(struct device *dev, const char *name, bool write);
void *device_buffer(size_t bytes);

/* ---- log.c ---- */

void log_open(const char *path, struct log_head *head);
void log_add(enum record_kind kind, uint32_t sector, unsigned int count,
	     uint64_t gen);
void log_flush(void);

/* ---- aio.c: asynchronous I/O, by the kernel's own calls ---- */

enum op { OP_READ, OP_WRITE, OP_FLUSH, NR_OPS };

struct uring;
struct aio {
	unsigned long context;
	struct uring *uring;	/* if it is polled; otherwise NULL */
};

struct slot;
void aio_open(struct aio *aio, unsigned int depth, bool polled);
long aio_start(struct aio *aio, struct slot *slot, int fd);
unsigned int aio_wait(struct aio *aio, unsigned int timeout_ms,
		      void (*done)(struct slot *slot, long result));

/* ---- uring.c ---- */

struct uring *uring_open(unsigned int depth);
long uring_start(struct uring *u, struct slot *slot, int fd);
unsigned int uring_wait(struct uring *u, unsigned int timeout_ms,
			void (*done)(struct slot *slot, long result));

/* ---- writer.c ---- */

struct writer;

/* One I/O of a writer */
struct slot {
	struct writer *writer;
	void *buffer;
	bool busy;
	enum op op;
	uint32_t sector;	/* counted from the first of the device */
	unsigned int count;
	uint64_t gen;		/* of a write */
	uint64_t begun_ms;
	/* Of a read: what was known of each sector when it was issued */
	struct known known[MAX_SECTORS];
};

struct counts {
	uint64_t done[NR_OPS], errors[NR_OPS];
	uint64_t bytes[NR_OPS];
	uint64_t verified;		/* bytes that reads found as they may be */
	uint64_t raced;			/* sectors read while they changed */
	uint64_t verdicts[NR_VERDICTS];
	int first_errno;
	uint64_t first_error_ms, last_error_ms;
	uint64_t stall_ms;		/* longest time without a completion */
	uint64_t outage_ms;		/* longest time without a success */
	uint64_t slowest_ms;		/* longest time that one I/O took to end */
};

struct writer {
	const struct options *opt;
	const struct device *dev;
	uint64_t run;
	struct known *known;		/* of the whole device */
	uint32_t first, sectors;	/* its part of it */
	struct aio aio;
	struct slot slots[MAX_DEPTH];
	unsigned int number;
	unsigned int busy;
	uint64_t random;
	uint64_t begun;			/* I/Os */
	uint64_t next_ms;		/* no I/O before */
	uint64_t success_ms;		/* when I/O last succeeded */
	struct counts counts;
	pthread_t thread;
	/* What main reads while the writer runs */
	atomic_ullong succeeded, failed;
	atomic_uint outstanding;
	atomic_ullong event_ms;		/* of the last completion, or first I/O */
};

/* Set by main, or by a writer that is to stop at an error */
extern atomic_bool stopping;
/* The last generation that was issued */
extern atomic_ullong last_gen;

void *writer_run(void *arg);

/* ---- verify.c ---- */

int verify(const char *device, const char *log);

#endif /* ACKED_H */
