// SPDX-License-Identifier: GPL-2.0
/* The way to the peer: address, route, RDMA device, GID, and who answers at the other end */
#include "doctor/peer.h"

#include <arpa/inet.h>
#include <string.h>

/* The first address of a name */
static const char *of_name(const char *name)
{
	const char *text = program_output(PROGRAM_S, "getent", "ahosts", name, NULL);

	return text ? mem_strn(text, strcspn(text, " \t")) : NULL;
}

void check_address(struct doctor *d)
{
	const char *typed = d->address, *zone = strchr(typed, '%');
	const struct rdma_addr *own;
	struct in6_addr six;

	d->family = rdma_addr_family(typed);
	if (d->family < 0) {
		const char *address = of_name(typed);

		d->family = address ? rdma_addr_family(address) : -1;
		if (d->family < 0) {
			report(d, FOUND_ERROR, "\"%s\" is no address, and no host's name", typed);
			report_reason(d, "the peer is found by its IP address");
			report_fix(d, HERE, "getent ahosts %s", word_for_shell(typed));
			return;
		}
		d->address = address;
	}
	if (!zone && d->family == AF_INET6 && inet_pton(AF_INET6, d->address, &six) == 1 &&
	    IN6_IS_ADDR_LINKLOCAL(&six)) {
		report(d, FOUND_ERROR, "%s is link-local, and says not by which interface",
		       d->address);
		report_reason(d, "each interface has such addresses: the kernel refuses it");
		report_fix(d, HERE, "nvmerdma doctor %s%%%s", d->address,
			   d->links.nr && d->links.link[0].netdev ? d->links.link[0].netdev : "IFACE");
		return;
	}
	if (zone && !d->host_iface)
		d->host_iface = zone + 1;
	own = rdma_addr_find(&d->addrs, d->address);
	d->is_self = own;
	if (own) {
		d->iface = own->netdev;
		d->source = ip_bare(d->address);
	}
	report(d, FOUND_OK, "%s%s, port %s%s", d->address, strcmp(typed, d->address) ?
	       mem_fmt(" (%s)", typed) : "", d->port, own ? ", which is this machine" : "");
}

static void say_no_route(struct doctor *d)
{
	const char *iface = d->host_iface;
	const struct rdma_link *link;
	size_t n = 0;

	for_each_link(link, &d->links) {
		if (!d->host_iface && link->netdev)
			iface = n++ ? "IFACE" : link->netdev;
	}
	report(d, FOUND_ERROR, "there is no route to %s%s%s", d->address,
	       d->host_iface ? " by " : "", d->host_iface ? d->host_iface : "");
	report_reason(d, "nothing can be sent to it: is this the address, and has the interface towards it an address of the same network? If it has not, its network may have this one added, or there is a gateway");
	report_fix(d, HERE, "ip route add %s dev %s", ip_bare(d->address), iface ? iface : "IFACE");
	report_fix(d, HERE, "ip route add %s via GATEWAY", ip_bare(d->address));
}

void check_route(struct doctor *d)
{
	if (report_skipped(d, d->family < 0 ? "there is no address" : NULL))
		return;
	if (d->is_self && d->iface) {
		report(d, FOUND_OK, "%s is an address of %s", d->address, d->iface);
		return;
	}
	if (d->host_iface && !file_there("%s/sys/class/net/%s", d->root, d->host_iface)) {
		report(d, FOUND_ERROR, "there is no interface %s", d->host_iface);
		report_reason(d, "'nvme connect --host-iface' fails");
		report_fix(d, HERE, "ip -br link");
		return;
	}
	if (ip_find_route(d)) {
		report(d, FOUND_OK, "the route to %s leads over %s, from %s%s%s", d->address,
		       d->iface, d->source ? d->source : "no address",
		       d->gateway ? ", via " : "", d->gateway ? d->gateway : "");
		return;
	}
	say_no_route(d);
}

/* A name for soft-RoCE that is not taken */
static const char *free_rxe(struct doctor *d)
{
	unsigned int n = 0;

	while (file_there("%s/sys/class/infiniband/rxe%u", d->root, n))
		n++;
	return mem_fmt("rxe%u", n);
}

static void say_no_rdma(struct doctor *d)
{
	const struct rdma_link *link;

	report(d, FOUND_ERROR, "the route leads over %s, which has no RDMA device", d->iface);
	report_reason(d, "the kernel says \"cannot be resolved to an RDMA device\"; the command is for an IFACE with RDMA on the peer's network: all that goes to the peer, ssh, too, goes by it then, and a route to the peer that somebody has set is replaced");
	report_fix(d, HERE, "ip route replace %s dev IFACE", ip_bare(d->address));
	if (file_u64(0, "%s/sys/class/net/%s/type", d->root, d->iface) == 1)
		report_fix(d, HERE, "rdma link add %s type rxe netdev %s", free_rxe(d), d->iface);
	report_fix(d, HERE, "ip -br addr; rdma link");
	for_each_link(link, &d->links) {
		if (link->netdev)
			report_detail(d, "%s has %s", link->netdev, link->device);
	}
}

void check_rdma_path(struct doctor *d)
{
	if (report_skipped(d, d->iface ? NULL : "there is no route"))
		return;
	d->link = rdma_link_of(&d->links, d->iface);
	if (d->link && d->link->active) {
		report(d, FOUND_OK, "%s belongs to %s port %u, %s", d->iface, d->link->device,
		       d->link->port, d->link->kind);
		return;
	}
	if (d->link) {
		report(d, FOUND_ERROR, "%s, of %s, by which the route leads, is %s",
		       d->link->device, d->iface, d->link->state);
		report_reason(d, "no connection can be made by it");
		report_fix(d, HERE, "ip link set %s up", d->iface);
		return;
	}
	say_no_rdma(d);
}

static bool has_gid(struct doctor *d)
{
	const char *dir = mem_fmt("%s/sys/class/infiniband/%s/ports/%u/gids", d->root,
				  d->link->device, d->link->port);
	struct names all = names_in("%s", dir);
	struct in6_addr want, have;
	int family;
	size_t i;

	if (!rdma_addr_parse(d->source, &want, &family))
		return false;
	for (i = 0; i < all.nr; i++) {
		const char *gid = file_read("%s/%s", dir, all.name[i]);

		if (gid && inet_pton(AF_INET6, gid, &have) == 1 &&
		    IN6_ARE_ADDR_EQUAL(&want, &have))
			return true;
	}
	return false;
}

/* An address of the interface of the peer's family */
static const char *address_of(struct doctor *d, const char *iface)
{
	const struct rdma_addr *addr;

	for_each_addr(addr, &d->addrs) {
		if (addr->family == d->family && !addr->link_local && !strcmp(addr->netdev, iface))
			return addr->text;
	}
	return NULL;
}

#define NO_GID	"over RoCE an address that is not in the device's GID table cannot be used: the kernel says that it cannot be resolved"

void check_gid(struct doctor *d)
{
	const char *own;

	if (report_skipped(d, !d->link ? "the way leads over no RDMA device" :
			   strcmp(d->link->kind, "RoCE") ?
			   mem_fmt("%s has no GID of an address", d->link->kind) :
			   !d->source ? "the route has no source address" : NULL))
		return;
	if (has_gid(d)) {
		report(d, FOUND_OK, "%s has a GID of %s", d->link->device, d->source);
		return;
	}
	report(d, FOUND_ERROR, "%s has no GID of %s, from which packets would go",
	       d->link->device, d->source);
	own = address_of(d, d->iface);
	if (own && strcmp(own, d->source)) {
		report_reason(d, NO_GID "; the command replaces a route to the peer that somebody has set");
		report_fix(d, HERE, "ip route replace %s%s%s dev %s src %s", ip_bare(d->address),
			   d->gateway ? " via " : "", d->gateway ? d->gateway : "", d->iface, own);
	} else {
		report_reason(d, NO_GID "; taking it down and up again restores them, and removes its static routes, added IPv6 addresses and connections, including ssh");
		report_fix(d, HERE, "ip link set %s down && ip link set %s up", d->iface, d->iface);
	}
	report_detail(d, "the table: grep . /sys/class/infiniband/%s/ports/%u/gids/*",
		      d->link->device, d->link->port);
}

static bool ping(struct doctor *d)
{
	return program_output(PROGRAM_S, "ping", "-n", "-q", "-c", "1", "-W", "2", "-I", d->iface,
			      ip_bare(d->address), NULL);
}

static void say_silent(struct doctor *d)
{
	const struct neighbour neighbour = ip_neighbour(d);
	const char *hop = neighbour.address;
	bool heard = !strcmp(neighbour.state, "REACHABLE");
	const char *of = d->gateway ? mem_fmt(", the gateway to %s,", d->address) : "";

	if (!strcmp(neighbour.state, "FAILED") || !strcmp(neighbour.state, "INCOMPLETE")) {
		report(d, FOUND_ERROR, "nobody answers for %s%s on the network of %s", hop, of,
		       d->iface);
		report_reason(d, "%s is off, its interface is down, or it is in another network or VLAN: its hardware address cannot be asked for (%s)",
			      d->gateway ? "it" : "the peer",
			      d->family == AF_INET ? "ARP" : "neighbour discovery");
		if (d->gateway)
			report_fix(d, HERE, "ip route get %s", ip_bare(d->address));
		else
			report_fix(d, TARGET, "ip -br addr | grep -F %s || ip -br link", hop);
	} else if (!strcmp(neighbour.state, "PERMANENT")) {
		report(d, FOUND_WARNING, "%s%s has a hardware address that somebody has set here, %s, and %s does not answer pings",
		       hop, of, neighbour.lladdr ? neighbour.lladdr : "none", d->address);
		report_reason(d, "if that card was changed, nothing reaches it; if not, the entry may well be meant");
		report_fix(d, HERE, "ip neigh del %s dev %s", hop, d->iface);
	} else {
		report(d, FOUND_NOTE, "%s does not answer pings", d->address);
		report_reason(d, "it may be off or unreachable; or something drops ICMP, which RDMA does not need%s",
			      d->gateway && heard ?
			      mem_fmt("; the gateway to it, %s, is there", hop) : "");
		if (d->gateway)
			report_fix(d, HERE, "tracepath -n %s", ip_bare(d->address));
		else
			report_fix(d, HERE, "ping -c 3 -I %s %s", d->iface, hop);
	}
}

void check_neighbour(struct doctor *d)
{
	if (report_skipped(d, d->iface ? NULL : "there is no route"))
		return;
	d->pings = d->is_self || ping(d) || ping(d);
	if (d->pings)
		report(d, FOUND_OK, "%s answers pings", d->address);
	else
		say_silent(d);
}
