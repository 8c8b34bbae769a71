/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A minimal host: queues, controllers, commands and their responses. It follows the rules
 * unless a case makes it break them.
 */
#ifndef HOSTILE_NVME_H
#define HOSTILE_NVME_H

#include "conn.h"
#include "wire.h"

/* Commands that a queue asks for, unless told */
#define QUEUE_DEPTH	32
/* A capsule that is sent; larger than any that a target takes by default */
#define SLOT_LEN	12288
#define SLOTS		32
/* The memory behind a queue's own key */
#define DATA_LEN	(128 * 1024)
#define BLOCK_LEN	512
/* How long an answer may take in an emulated guest */
#define ANSWER_MS	slow_ms(5000)
/* and where none may come; 0: as long */
extern int answer_ms;
/* How long it sleeps between two looks for an answer; 0: it only looks */
extern int look_ms;

/* Any command ID */
#define CID_ANY		0x10000u

/* The state of the whole program */
struct target {
	const struct addrinfo *at;
	const struct addrinfo *other;	/* another port of the same; or NULL */
	const char *subnqn;
	const char *locked;		/* one that wants authentication; or NULL */
	const char *hostnqn;
	uint8_t hostid[16];
};

extern struct target target;

/* The response to a command */
struct reply {
	enum { REPLY_STATUS, REPLY_ENDED, REPLY_NONE } kind;
	uint16_t status;	/* without the phase bit */
	uint16_t cid;
	uint16_t sqhd;
	uint64_t result;
};

#define STATUS_DNR	0x4000
#define STATUS_CODE	0x07ff

struct queue {
	struct conn c;
	struct mem out;		/* capsules that are sent, SLOTS of them */
	struct mem in;		/* responses */
	struct mem data;
	uint16_t qid;
	uint16_t depth;
	uint16_t receives;
	uint16_t cid;
	unsigned int slot;
	bool ended;		/* a work request failed */
	bool withhold;		/* do not post a receive again */
	unsigned int replies;	/* responses that have come */
};

/* How to request a queue; zeroes are the values of a well-behaved host */
struct queue_how {
	uint16_t qid;
	uint16_t depth;		/* 0: QUEUE_DEPTH */
	uint16_t receives;	/* 0: one for each command */
	bool no_receives;
	bool withhold;
	const uint8_t *private_data;	/* in place of the usual */
	uint8_t private_data_len;
	bool no_reads;
	bool no_rtu;		/* the answer is not confirmed: conn_establish() does that */
};

struct ctrl {
	struct queue admin;
	struct queue io;
	uint16_t cntlid;
	uint32_t room;		/* bytes of in-capsule data */
	uint32_t mdts;		/* bytes */
	uint64_t blocks;	/* of namespace 1 */
};

/* ---- queues ---- */

enum conn_result queue_open(struct queue *q, const struct queue_how *how);
void queue_close(struct queue *q);
/* False if it was not disconnected within @ms, nor failed */
bool queue_wait_end(struct queue *q, int ms);
uint16_t queue_cid(struct queue *q);

/* Sends @len bytes as one capsule */
void queue_send(struct queue *q, const void *capsule, size_t len);
/* The next answer to @cid, or to any command; those to others are dropped */
struct reply queue_await(struct queue *q, uint32_t cid, int ms);
/* Sends a command without in-capsule data, and waits for its answer */
struct reply queue_command(struct queue *q, const uint8_t *sqe);
/* An SGL of the queue's own data */
void queue_sgl(struct queue *q, uint8_t *sqe, size_t offset, uint32_t len);

/* ---- commands ---- */

/* The command, and its data in the queue's memory */
void make_connect(struct queue *q, uint8_t *sqe, uint16_t cntlid);
struct reply queue_connect(struct queue *q, uint16_t cntlid);
struct reply property_get(struct queue *q, uint8_t attrib, uint32_t offset);
struct reply property_set(struct queue *q, uint8_t attrib, uint32_t offset,
			  uint64_t value);
struct reply identify(struct queue *q, uint32_t nsid, uint8_t cns);
struct reply read_write(struct queue *q, uint8_t opc, uint64_t lba,
			uint16_t blocks);

/* ---- controllers: NULL, or what went wrong ---- */

const char *ctrl_open(struct ctrl *k);
const char *ctrl_open_io(struct ctrl *k, struct queue *q,
			 const struct queue_how *how);
/* Both of these, with one I/O queue, number 1 */
const char *ctrl_open_all(struct ctrl *k);
/* Shuts it down and disconnects, in good order */
void ctrl_leave(struct ctrl *k);
/* Takes everything away without a word */
void ctrl_drop(struct ctrl *k);
/* Connects, writes, reads, compares, leaves */
const char *ctrl_witness(uint64_t seed);
/* The same @rounds times; the duration of the fastest write and read, in microseconds */
const char *ctrl_witness_rounds(uint64_t seed, unsigned int rounds,
				uint64_t *fastest);

/* As in the tables: "success", "refused 0x00f DNR", "ended", "no answer" */
const char *reply_text(struct reply reply);
bool reply_good(struct reply reply);

#endif /* HOSTILE_NVME_H */
