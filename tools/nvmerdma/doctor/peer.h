/* SPDX-License-Identifier: GPL-2.0 */
/* What the doctor has learned of the peer, and how */
#ifndef NVMERDMA_DOCTOR_PEER_H
#define NVMERDMA_DOCTOR_PEER_H

#include "doctor/doctor.h"

/* ---- doctor/mtu.c ---- */

/* roce_mtu() - how much data a packet has, 256, 512, ... 4096, with an interface of that MTU;
 * 0: too small for any
 */
unsigned int roce_mtu(unsigned int mtu);
/* roce_packet() - the bytes, from its IP header on, of the largest packet of NVMe with so
 * much data
 */
unsigned int roce_packet(unsigned int data, bool ip6);

/* ---- doctor/peer.c: what a peer answered ---- */

/* words_cm_status() - an NVMe/RDMA status of RDMA_CM_REJECT; NULL: none that is known */
const char *words_cm_status(unsigned int status);
/* words_cm_reason() - a reason of InfiniBand's CM, also of RoCE */
const char *words_cm_reason(unsigned int reason);

/* ---- doctor/ip.c: what ip(8) says of the way to the peer ---- */

/* ip_find_route() - sets @d's iface, source and gateway; false if there is no route */
bool ip_find_route(struct doctor *d);

/* Who has to answer on the interface's network: the peer, or the gateway to it */
struct neighbour {
	const char *address;
	const char *state;	/* "REACHABLE", "FAILED", ... "NONE" */
	const char *lladdr;	/* its hardware address, or NULL */
};

struct neighbour ip_neighbour(const struct doctor *d);

#endif
