/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of a wire that takes time (delay_ns): two ends, and the time that a message takes.
 *
 * A time is a lower bound: a busy machine is late. A test whose steps have to come before a
 * message arrives begins again if they did not (in_time()).
 */
#ifndef _WIRE_H
#define _WIRE_H

#include "vrnic_test.h"

/* How often a test begins again */
#define TRIES	10

/* Bytes of a message, and where in b's memory RDMA is to and from */
#define LEN	64
#define RDMA_AT	2048

/**
 * struct wire - two ends
 * @t: they, and their memory
 * @mr: all memory of the end b
 * @delay: nanoseconds of a message
 * @at: when the work was posted
 */
struct wire {
	struct vt_ends t;
	struct ib_mr *mr;
	u64 delay;
	ktime_t at;
};

int vt_wire_make(struct wire *w, struct vt_devs *d, const struct vt_opt *opt);
void vt_wire_end(struct wire *w);
void vt_wire_drop_mr(struct wire *w);
void vt_wire_post(struct wire *w, enum ib_wr_opcode op, u64 id, int flags);
bool vt_wire_comes(struct wire *w, struct vt_cq *cq, enum ib_wc_status status, u64 id,
		   int delays, const char *what);

/* A SEND, signaled */
static inline void vt_wire_send(struct wire *w, u64 id)
{
	vt_wire_post(w, IB_WR_SEND, id, IB_SEND_SIGNALED);
}

/* Whether what was posted has not had the time for so many delays yet */
static inline bool in_time(const struct wire *w, int delays)
{
	return ktime_get() < w->at + delays * w->delay;
}

/* Both ways of a message have passed */
static inline void there_and_back(const struct wire *w)
{
	msleep(2 * div_u64(w->delay, NSEC_PER_MSEC));
}

#endif
