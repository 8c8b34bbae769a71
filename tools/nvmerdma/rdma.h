/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices of this machine, and the addresses that can be reached by them */
#ifndef NVMERDMA_RDMA_H
#define NVMERDMA_RDMA_H

#include "base.h"

/* A port of an RDMA device together with a network interface that uses it. One that
 * no interface uses is there, too, with @netdev NULL.
 */
struct rdma_link {
	const char *device;	/* rxe0 */
	unsigned int port;	/* 1 */
	const char *kind;	/* "InfiniBand", "RoCE" or "iWARP" */
	const char *netdev;	/* eth0 */
	const char *state;	/* ACTIVE, DOWN, INIT, ARMED */
	bool active;
};

struct rdma_links {
	struct rdma_link *link;
	size_t nr;
};

/* rdma_links() - what there is; none without the RDMA stack. Never fails. */
struct rdma_links rdma_links(void);

/* rdma_link_of() - that of a network interface; NULL: it has none */
const struct rdma_link *rdma_link_of(const struct rdma_links *links, const char *netdev);
/* rdma_port_of() - the first link of the same port: one with VLANs, or under a bond, is several
 * links
 */
const struct rdma_link *rdma_port_of(const struct rdma_links *links,
				     const struct rdma_link *link);

/* An address of this machine; @link is NULL if it is not on an RDMA device */
struct rdma_addr {
	const char *text;	/* 192.0.2.1, fe80::1%eth0 */
	int family;		/* AF_INET, AF_INET6 */
	bool link_local;
	const char *netdev;
	const struct rdma_link *link;
};

struct rdma_addrs {
	struct rdma_addr *addr;
	size_t nr;
};

/* rdma_addrs() - all addresses but the loopback's: IPv4 first, of IPv6 the global ones
 * first, and then in the order of interfaces
 */
struct rdma_addrs rdma_addrs(const struct rdma_links *links);

/* rdma_addr_find() - that of the same bytes as @text; NULL if this machine has it not */
const struct rdma_addr *rdma_addr_find(const struct rdma_addrs *addrs, const char *text);

/* rdma_addr_family() - AF_INET, AF_INET6, or -1 if @text is no address */
int rdma_addr_family(const char *text);

struct json_object;

/* json_member_text() - a member of what ip(8) and rdma(8) say, as text; NULL: there is none */
const char *json_member_text(struct json_object *obj, const char *key);

#endif
