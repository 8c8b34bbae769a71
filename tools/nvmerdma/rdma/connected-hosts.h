/* SPDX-License-Identifier: GPL-2.0 */
/* Hosts that are connected to this target */
#ifndef NVMERDMA_RDMA_CONNECTED_HOSTS_H
#define NVMERDMA_RDMA_CONNECTED_HOSTS_H

#include "config/tree.h"

/* A controller that a host has here */
struct connected_host {
	const char *subsys;	/* NQN; NULL if that is not known */
	const char *host;	/* NQN, as the host says it: see safe_words() */
	const char *addr;	/* where it comes from; "" if that is not known */
	uint64_t cntlid;
	uint64_t port;
	bool port_known;
	unsigned int queues;	/* 0 if that is not known: not by our module */
};

struct connected_hosts {
	struct connected_host *peer;
	size_t nr;
	bool ours;		/* our nvmet-rdma tells who comes by RDMA */
	bool core;		/* nvmet tells who comes by any transport */
};

/* hosts_read() - who there is; needs root and debugfs, and knows nothing without; @root: "", but
 * in tests
 */
struct connected_hosts hosts_read(const char *root);

/* hosts_known_at() - whether all that come by a port are known, so that none means none */
bool hosts_known_at(const struct connected_hosts *peers, const struct node *port);

/* hosts_known_of() - whether all that use a subsystem are known */
bool hosts_known_of(const struct connected_hosts *peers, const struct node *subsys);

/* ---- disconnect-check.c ---- */

/*
 * check_no_disconnect() - whether hosts would be cut off, and nobody has said that they may
 * @have: what there is
 * @want: what there is to be
 *
 * -1: connected hosts would lose a subsystem or a namespace, or not be let in again, or it
 * is not known whether there are any; which ones was said.
 */
int check_no_disconnect(const struct node *have, const struct node *want);

#endif
