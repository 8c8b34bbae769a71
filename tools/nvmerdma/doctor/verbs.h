/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host in user space that does no more than to ask: connects a queue pair, sends the
 * Connect command of NVMe over Fabrics, reads its answer, and goes. It needs no module of
 * NVMe, and no disk appears.
 */
#ifndef NVMERDMA_DOCTOR_VERBS_H
#define NVMERDMA_DOCTOR_VERBS_H

#include "common/util.h"

/* How far it came: what is named here is what failed, or was not answered in time */
enum verbs_step {
	STEP_NOT_TRIED,
	STEP_PROGRAMS,		/* programs cannot use RDMA here */
	STEP_ADDRESS,		/* rdma_resolve_addr() */
	STEP_ROUTE,		/* rdma_resolve_route() */
	STEP_QUEUE,		/* making the queue pair */
	STEP_CONNECT,		/* the connection manager's request */
	STEP_COMMAND,		/* Connect of NVMe over Fabrics */
	STEP_DONE,
};

struct verbs_answer {
	volatile enum verbs_step step;
	int error;		/* errno of what failed, ETIMEDOUT */
	bool rejected;		/* by the connection manager of the peer */
	int reason;		/* its reason, as words_cm_reason() has it */
	bool has_nvme_status;
	unsigned int nvme_status;	/* in the private data: words_cm_status() */
	unsigned int status;	/* of Connect: status code and type, 0 is success */
	uint32_t result;	/* dword 0 of its response */
	char device[64];
};

struct verbs_question {
	const char *address, *port;
	const char *source;	/* address to go from, or NULL */
	const char *nqn, *hostnqn, *hostid;
};

/* verbs_ask() - asks, for at most 20 seconds, in another process */
void verbs_ask(const struct verbs_question *question, struct verbs_answer *answer);

/* In Connect's result, "Authentication and Security Requirements" of NVMe over Fabrics: this
 * host has to authenticate, or to do so and secure the channel
 */
#define CONNECT_ATR		(1u << 17)
#define CONNECT_ASCR		(1u << 18)
#define CONNECT_AUTH_REQUIRED	(CONNECT_ATR | CONNECT_ASCR)

#endif
