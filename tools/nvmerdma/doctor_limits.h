/* SPDX-License-Identifier: GPL-2.0 */
/* The limits of nvmet-rdma, and what to load it with where they do not fit */
#ifndef NVMERDMA_DOCTOR_LIMITS_H
#define NVMERDMA_DOCTOR_LIMITS_H

#include "base.h"

/* Parameters of the module, see nvmet-rdma(4) */
enum limit {
	HOST_QUEUES, HOST_PENDING, MAX_PENDING, HOST_UNPROVED, MAX_UNPROVED,
	HOST_PENDING_MB, MAX_PENDING_MB, BUFFER_CACHE_MB, NR_LIMITS
};

/* What connections were refused for: bits */
#define BEYOND_HOST_QUEUES	1u
#define BEYOND_HOST_PENDING	2u
#define BEYOND_MAX_PENDING	4u
#define BEYOND_HOST_UNPROVED	8u
#define BEYOND_MAX_UNPROVED	16u

struct limits {
	uint64_t of[NR_LIMITS];
	uint64_t mb;		/* memory of the machine */
	uint64_t devices;	/* that may have buffers */
};

/* limits_read() - those in force; false if our module is not loaded */
bool limits_read(struct limits *limits, const char *root);
/* limits_pending_mb() - what all hosts may take before Connect; 0 stands for a quarter */
uint64_t limits_pending_mb(const struct limits *limits);
/* limits_cache_mb() - what unused buffers may take */
uint64_t limits_cache_mb(const struct limits *limits);
/* limits_too_high() - the two together are more than half of the machine */
bool limits_too_high(const struct limits *limits);
/*
 * limits_better() - what fits the machine, and refuses less of what was @refused
 *
 * Memory bounds that: false if it is what is in force.
 */
bool limits_better(struct limits *better, const struct limits *now, unsigned int refused);
/*
 * limits_options() - the line for a file of modprobe.d
 *
 * All that differs from the module's defaults, or from what is in force: with what else
 * files there say, nothing that was set is lost.
 */
const char *limits_options(const struct limits *better, const struct limits *now);

#endif
