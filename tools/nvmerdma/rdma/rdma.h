/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices of this machine, and the addresses that can be reached by them */
#ifndef NVMERDMA_RDMA_RDMA_H
#define NVMERDMA_RDMA_RDMA_H

#include "common/util.h"
#include "config/tree.h"

#include <netinet/in.h>

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

#define for_each_link(one, links)						\
	for ((one) = (links)->link; (one) < (links)->link + (links)->nr; (one)++)

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

#define for_each_addr(one, addrs)						\
	for ((one) = (addrs)->addr; (one) < (addrs)->addr + (addrs)->nr; (one)++)

/* rdma_addrs() - all addresses but the loopback's: IPv4 first, of IPv6 the global ones
 * first, and then in the order of interfaces
 */
struct rdma_addrs rdma_addrs(const struct rdma_links *links);

/* rdma_addr_find() - that of the same bytes as @text; NULL if this machine has it not */
const struct rdma_addr *rdma_addr_find(const struct rdma_addrs *addrs, const char *text);

/* rdma_addr_parse() - an address without its zone, IPv4 as a GID has it; false: none */
bool rdma_addr_parse(const char *text, struct in6_addr *bytes, int *family);

/* rdma_addr_family() - AF_INET, AF_INET6, or -1 if @text is no address */
int rdma_addr_family(const char *text);

/* ---- route.c: the route to an address ---- */

struct ip_route {
	const char *netdev;
	const char *source;	/* the address from which it leads; NULL: not said */
	const char *gateway;	/* NULL: none */
};

/* ip_bare() - an address without its zone, as ip(8) takes it */
const char *ip_bare(const char *address);
/* ip_route() - @from, an address of this machine, and @iface: may be NULL; false: there is none */
bool ip_route(const char *address, const char *from, const char *iface, struct ip_route *route);

struct json_object;

/* json_member_text() - a member of what ip(8) and rdma(8) say, as text; NULL: there is none */
const char *json_member_text(struct json_object *obj, const char *key);
/* json_first() - the first of an array; NULL: it has none, or is no array */
struct json_object *json_first(struct json_object *list);

/*
 * rdma_retries() - what a device had to send again since it was made
 * @sysfs: /sys/class/infiniband
 *
 * For all who use it, by all of its ports, as its driver counts it in hw_counters. False if it
 * counts none of that.
 */
bool rdma_retries(const char *sysfs, const char *device, uint64_t *retries);

/* ---- module.c: a machine may have several nvme-rdma.ko and nvmet-rdma.ko ---- */

/* The package with our modules, where that is, and what installs it there */
#define MODULE_PACKAGE	"./nvme-rdma-dkms_*.deb"
#define MODULE_WHERE	"; the package is in the directory where 'make deb' has put it"
#define MODULE_INSTALL	"apt install " MODULE_PACKAGE

enum module_whose {
	MODULE_OURS,
	MODULE_KERNELS,		/* the kernel's own */
	MODULE_OTHERS,		/* somebody else's, as MLNX_OFED's */
};

/* module_whose() - by what 'modinfo -n' and 'modinfo -F description' print, or NULL */
enum module_whose module_whose(const char *path, const char *description);

/* module_loaded_is_ours() - of "nvme_rdma" or "nvmet_rdma"; @root: "", but in tests */
bool module_loaded_is_ours(const char *root, const char *sysfs);

/* module_target_is_ours() - the one that is loaded, or else that modprobe would load */
bool module_target_is_ours(void);

/* ---- listen-address.c: ports of the target for addresses of this machine ---- */

/* What an export wants of its ports; text as the kernel takes it, NULL: not said */
struct port_wish {
	const char *service;		/* 4420 */
	const char *inline_size, *queue_size;
	int pi;
};

/* ports_choose() - the addresses to listen at: those @asked for, "192.0.2.1,2001:db8::1", or
 * the first that has RDMA; 0, or -1 and it was said
 */
int ports_choose(const char *asked, struct rdma_addrs *chosen);

/* ports_offer() - have the subsystem @nqn offered at an address, by a port that is there, if it
 * is as wished, or a new one; 0, or -1 and it was said
 */
int ports_offer(struct node *root, const struct rdma_addr *addr, const struct port_wish *wish,
		const char *nqn);

#endif
