/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases of the hostile host: names, judgement and output.
 *
 * A case is a function that runs in a process of its own. It has one outcome or several, each
 * with its own name, which is "case" or "case/part":
 *
 *	if (begin("part %d", n))
 *		outcome("refused 0x00f DNR|ended", "%s", what came);
 *
 * The expected value is a list of shell patterns: the outcomes that the specifications allow.
 */
#ifndef HOSTILE_HOST_H
#define HOSTILE_HOST_H

#include "nvme.h"

struct hostile_case {
	const char *name;
	const char *about;
	void (*run)(void);
	int seconds;		/* deadline; 0: CASE_SECONDS */
};

#define CASE_SECONDS	60

/* Any answer will do, but there has to be one */
#define ANSWERED	"success|refused *"
#define ANSWERED_OR_END	ANSWERED "|ended"
#define REFUSED		"refused *|ended"

extern const struct hostile_case cm_cases[], length_cases[], capsule_cases[],
	sgl_cases[], key_cases[], connect_cases[], auth_cases[], admin_cases[],
	io_cases[], flow_cases[];

/* False if this one is not to be run. @fmt: the part; whole: the case itself */
bool __attribute__((format(printf, 1, 2))) begin(const char *fmt, ...);
static inline bool begin_whole(void) { return begin("%s", ""); }
void __attribute__((format(printf, 2, 3)))
outcome(const char *expected, const char *fmt, ...);
/* Whether it matches one of a list of patterns */
bool is_one_of(const char *got, const char *expected);
/* Ends the case: what should have gone well did not */
void __attribute__((noreturn)) cannot(const char *what);

/* Runs it in a process of its own; returns the error, or NULL */
const char *in_process(void (*run)(void), int seconds, int *status);

/* ---- host_others.c: what a case must leave unchanged ---- */

/* The state before the first case: running I/O, the target's queues, a device's objects */
void others_remember(const char *moves, const char *queues, const char *device);
int others_queues(void);
/* "unharmed", or a description of what has changed */
const char *others(int queues_before);

/* ---- what cases are made of ---- */

const char *result_text(const struct conn *c, enum conn_result result);
/* They end the case if that fails */
void need_queue(struct queue *q, const struct queue_how *how);
void need_ctrl(struct ctrl *k);
void need_io(struct ctrl *k, struct queue *q, const struct queue_how *how);
void need_all(struct ctrl *k);
/* begin_whole() for a case that needs a controller with an I/O queue */
bool begin_with(struct ctrl *k);
/* Open a controller that has ended, or was never opened */
void need_again(struct ctrl *k);

/* Status of a case's process: all ok, or not. Of an input's: a prerequisite was not available */
#define EXIT_GOOD	0
#define EXIT_BAD	3
#define EXIT_SHORT	5

/*
 * host_fuzz.c: one input, determined by @seed and @number. False if a well-formed prerequisite
 * of it was not available.
 */
bool fuzz_input(uint64_t seed, uint64_t number, bool say);

#endif /* HOSTILE_HOST_H */
