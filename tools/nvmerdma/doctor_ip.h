/* SPDX-License-Identifier: GPL-2.0 */
/* What ip(8) says of the way to the peer */
#ifndef NVMERDMA_DOCTOR_IP_H
#define NVMERDMA_DOCTOR_IP_H

#include "doctor.h"

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
