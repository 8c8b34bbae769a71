/* SPDX-License-Identifier: GPL-2.0 */
/* What the doctor has learned of the peer, and how */
#ifndef NVMERDMA_DOCTOR_PEER_H
#define NVMERDMA_DOCTOR_PEER_H

#include "doctor/doctor.h"
#include "doctor/verbs.h"

struct nvmf_disc_log_entry;

struct peer {
	bool asked;			/* by verbs; then @answer is about @nqn */
	const char *nqn;
	struct verbs_answer answer;
	bool discovered;
	struct nvmf_disc_log_entry *entry;
	size_t nr_entries;
	uint64_t left_out;		/* of the log's entries */
};

/* ---- doctor/discovery.c ---- */

/* entry_nqn() - whether the discovery log has a subsystem for this host, of any address */
bool entry_nqn(const struct peer *peer, const char *nqn);

/* ---- doctor/firewall.c ---- */

/* report_fix_firewall() - what is to be typed on a target that seems to have one */
void report_fix_firewall(struct doctor *d);

/* ---- doctor/peer.c ---- */

/* peer_question() - what is asked of the peer, in this host's name, or one that is made up */
struct verbs_question peer_question(struct doctor *d, const char *nqn);

/* ---- doctor/ip.c: what ip(8) says of the way to the peer ---- */

/* ip_bare() - an address without its zone, as ip(8) takes it */
const char *ip_bare(const char *address);

/* ip_find_route() - sets @d's iface, source and gateway; false if there is no route */
bool ip_find_route(struct doctor *d);

/* ip_is_on_network() - whether the peer is on a network of @iface, with no gateway between */
bool ip_is_on_network(const struct doctor *d, const char *iface);

/* ip_own_route() - "over eth0 via 192.0.2.1" of a route to the peer alone, which somebody
 * has set; NULL if there is none
 */
const char *ip_own_route(const struct doctor *d);

/* Who has to answer on the interface's network: the peer, or the gateway to it */
struct neighbour {
	const char *address;
	const char *state;	/* "REACHABLE", "FAILED", ... "NONE" */
	const char *lladdr;	/* its hardware address, or NULL */
};

struct neighbour ip_neighbour(const struct doctor *d);

#endif
