/* SPDX-License-Identifier: GPL-2.0 */
/* Hosts that are connected to this target */
#ifndef NVMERDMA_PEERS_H
#define NVMERDMA_PEERS_H

#include "node.h"

/* A controller that a host has here */
struct peer {
	const char *subsys;	/* NQN; NULL if that is not known */
	const char *host;	/* NQN, as the host says it: see safe_words() */
	const char *addr;	/* where it comes from; "" if that is not known */
	uint64_t cntlid;
	uint64_t port;
	bool port_known;
	unsigned int queues;	/* 0 if that is not known: not by our module */
};

struct peers {
	struct peer *peer;
	size_t nr;
	bool ours;		/* our nvmet-rdma tells who comes by RDMA */
	bool core;		/* nvmet tells who comes by any transport */
};

/* peers_read() - who there is; needs root and debugfs, and knows nothing without */
struct peers peers_read(void);

/* peers_known_at() - whether all that come by a port are known, so that none means none */
bool peers_known_at(const struct peers *peers, const struct node *port);

/* peers_known_of() - whether all that use a subsystem are known */
bool peers_known_of(const struct peers *peers, const struct node *subsys);

#endif
