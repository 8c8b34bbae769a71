// SPDX-License-Identifier: GPL-2.0
/* The way to the peer: address, route, RDMA device, GID, and who answers at the other end */
#include "doctor.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#define PROGRAM_S	5
#define V1		1u
#define V2		2u

/* The address without its zone, as ip(8) takes it */
static const char *bare(const char *address)
{
	return mem_strn(address, strcspn(address, "%"));
}

/* The first address of a name */
static const char *of_name(const char *name)
{
	const char *text = output(PROGRAM_S, "getent", "ahosts", name, NULL);

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
			found(d, FOUND_ERROR, "\"%s\" is no address, and no host's name", typed);
			because(d, "the peer is found by its IP address");
			mend(d, HERE, "getent ahosts %s", typed);
			return;
		}
		d->address = address;
	}
	if (!zone && d->family == AF_INET6 && inet_pton(AF_INET6, d->address, &six) == 1 &&
	    IN6_IS_ADDR_LINKLOCAL(&six)) {
		found(d, FOUND_ERROR, "%s is link-local, and says not by which interface",
		      d->address);
		because(d, "each interface has such addresses: the kernel refuses it");
		mend(d, HERE, "nvmerdma doctor %s%%%s", d->address,
		     d->links.nr && d->links.link[0].netdev ? d->links.link[0].netdev : "IFACE");
		return;
	}
	if (zone && !d->host_iface)
		d->host_iface = zone + 1;
	own = rdma_addr_find(&d->addrs, d->address);
	d->is_self = own;
	if (own) {
		d->iface = own->netdev;
		d->source = bare(d->address);
	}
	found(d, FOUND_OK, "%s%s, port %s%s", d->address, strcmp(typed, d->address) ?
	      mem_fmt(" (%s)", typed) : "", d->port, own ? ", which is this machine" : "");
}

static const char *text_of(struct json_object *obj, const char *key)
{
	struct json_object *member;

	if (!json_object_object_get_ex(obj, key, &member))
		return NULL;
	return mem_str(json_object_get_string(member));
}

/* The interface and source address of 'ip -j route get' */
static bool read_route(struct doctor *d, const char *text, const char **gateway)
{
	struct json_object *all = text ? json_tokener_parse(text) : NULL;
	struct json_object *first = json_object_is_type(all, json_type_array) ?
				    json_object_array_get_idx(all, 0) : NULL;

	if (first) {
		d->iface = text_of(first, "dev");
		d->source = text_of(first, "prefsrc");
		*gateway = text_of(first, "gateway");
	}
	json_object_put(all);
	return d->iface;
}

static const struct rdma_link *link_of(struct doctor *d, const char *iface)
{
	size_t i;

	for (i = 0; i < d->links.nr; i++) {
		if (d->links.link[i].netdev && !strcmp(d->links.link[i].netdev, iface))
			return &d->links.link[i];
	}
	return NULL;
}

/* An interface with an RDMA device, one that is active if there is one */
static const char *rdma_iface(struct doctor *d)
{
	const char *any = NULL;
	size_t i;

	for (i = 0; i < d->links.nr; i++) {
		const struct rdma_link *link = &d->links.link[i];

		if (link->netdev && (!any || link->active))
			any = link->netdev;
	}
	return any;
}

void check_route(struct doctor *d)
{
	const char *gateway = NULL, *text;

	if (d->family < 0 || (d->is_self && d->iface)) {
		if (d->family < 0)
			found(d, FOUND_SKIPPED, "there is no address");
		else
			found(d, FOUND_OK, "%s is an address of %s", d->address, d->iface);
		return;
	}
	if (d->host_iface && !file_there("%s/sys/class/net/%s", d->root, d->host_iface)) {
		found(d, FOUND_ERROR, "there is no interface %s", d->host_iface);
		because(d, "'nvme connect --host-iface' fails");
		mend(d, HERE, "ip -br link");
		return;
	}
	if (!program_there("ip")) {
		found(d, FOUND_SKIPPED, "there is no program ip");
		mend(d, HERE, "apt install iproute2");
		return;
	}
	text = output(PROGRAM_S, "ip", "-j", "route", "get", bare(d->address),
		      d->host_iface ? "oif" : NULL, d->host_iface, NULL);
	if (read_route(d, text, &gateway)) {
		found(d, FOUND_OK, "the route to %s leads over %s, from %s%s%s", d->address,
		      d->iface, d->source ? d->source : "no address", gateway ? ", via " : "",
		      gateway ? gateway : "");
		return;
	}
	found(d, FOUND_ERROR, "there is no route to %s%s%s", d->address,
	      d->host_iface ? " by " : "", d->host_iface ? d->host_iface : "");
	because(d, "nothing can be sent to it: is this the address, and has the interface towards it an address of the same network?");
	mend(d, HERE, "ip route add %s dev %s", bare(d->address), d->host_iface ? d->host_iface :
	     rdma_iface(d) ? rdma_iface(d) : "IFACE");
}

/* A name for soft-RoCE that is not taken */
static const char *free_rxe(struct doctor *d)
{
	unsigned int n = 0;

	while (file_there("%s/sys/class/infiniband/rxe%u", d->root, n))
		n++;
	return mem_fmt("rxe%u", n);
}

void check_rdma_path(struct doctor *d)
{
	const char *other;
	size_t i;

	if (!d->iface) {
		found(d, FOUND_SKIPPED, "there is no route");
		return;
	}
	d->link = link_of(d, d->iface);
	if (d->link && d->link->active) {
		found(d, FOUND_OK, "%s belongs to %s port %u, %s", d->iface, d->link->device,
		      d->link->port, d->link->kind);
		return;
	}
	if (d->link) {
		found(d, FOUND_ERROR, "%s, of %s, by which the route leads, is %s",
		      d->link->device, d->iface, d->link->state);
		because(d, "no connection can be made by it");
		mend(d, HERE, "ip link set %s up", d->iface);
		return;
	}
	found(d, FOUND_ERROR, "the route leads over %s, which has no RDMA device", d->iface);
	because(d, "the kernel says \"cannot be resolved to an RDMA device\"");
	other = rdma_iface(d);
	if (other)
		mend(d, HERE, "ip route replace %s dev %s", bare(d->address), other);
	if (file_u64(0, "%s/sys/class/net/%s/type", d->root, d->iface) == 1)
		mend(d, HERE, "rdma link add %s type rxe netdev %s", free_rxe(d), d->iface);
	for (i = 0; i < d->links.nr; i++) {
		if (d->links.link[i].netdev)
			detail(d, "%s has %s", d->links.link[i].netdev, d->links.link[i].device);
	}
}

/* The GID that an IP address becomes: IPv4 is mapped into IPv6 */
static bool to_gid(const char *address, struct in6_addr *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET6, address, gid) == 1)
		return true;
	memset(gid->s6_addr + 10, 0xff, 2);
	return inet_pton(AF_INET, address, gid->s6_addr + 12) == 1;
}

/* In which versions of RoCE the source address has a GID: V1, V2 */
static unsigned int gid_versions(struct doctor *d)
{
	const char *dir = mem_fmt("%s/sys/class/infiniband/%s/ports/%u", d->root,
				  d->link->device, d->link->port);
	struct names all = names_in("%s/gids", dir);
	struct in6_addr want, have;
	unsigned int versions = 0;
	size_t i;

	if (!to_gid(d->source, &want))
		return 0;
	for (i = 0; i < all.nr; i++) {
		const char *gid = file_read("%s/gids/%s", dir, all.name[i]), *type;

		if (!gid || inet_pton(AF_INET6, gid, &have) != 1 ||
		    memcmp(&want, &have, sizeof(want)))
			continue;
		type = file_read("%s/gid_attrs/types/%s", dir, all.name[i]);
		versions |= type && !strcmp(type, "RoCE v2") ? V2 : V1;
	}
	return versions;
}

static bool has_gids(struct doctor *d)
{
	const char *words = !d->link ? "the way leads over no RDMA device" :
			    strcmp(d->link->kind, "RoCE") ?
			    mem_fmt("%s has no GID of an address", d->link->kind) :
			    !d->source ? "the route has no source address" : NULL;

	if (words)
		found(d, FOUND_SKIPPED, "%s", words);
	return !words;
}

/* An address of the interface of the peer's family */
static const char *address_of(struct doctor *d, const char *iface)
{
	size_t i;

	for (i = 0; i < d->addrs.nr; i++) {
		const struct rdma_addr *addr = &d->addrs.addr[i];

		if (addr->family == d->family && !addr->link_local && !strcmp(addr->netdev, iface))
			return addr->text;
	}
	return NULL;
}

void check_gid(struct doctor *d)
{
	const char *own;

	if (!has_gids(d))
		return;
	if (gid_versions(d)) {
		found(d, FOUND_OK, "%s has a GID of %s", d->link->device, d->source);
		return;
	}
	found(d, FOUND_ERROR, "%s has no GID of %s, from which packets would go",
	      d->link->device, d->source);
	because(d, "over RoCE an address that is not in the device's GID table cannot be used: the kernel says that it cannot be resolved");
	own = address_of(d, d->iface);
	if (own && strcmp(own, d->source))
		mend(d, HERE, "ip route replace %s dev %s src %s", bare(d->address), d->iface, own);
	else
		mend(d, HERE, "ip link set %s down && ip link set %s up", d->iface, d->iface);
	detail(d, "the table: grep . /sys/class/infiniband/%s/ports/%u/gids/*", d->link->device,
	       d->link->port);
}

void check_roce_version(struct doctor *d)
{
	unsigned int versions;

	if (!has_gids(d))
		return;
	versions = gid_versions(d);
	if (versions & V2) {
		found(d, FOUND_OK, "%s can do RoCE v2%s", d->link->device,
		      versions & V1 ? ", and v1" : "");
	} else if (versions) {
		found(d, FOUND_WARNING, "%s can do RoCE v1 alone with %s", d->link->device,
		      d->source);
		because(d, "v1 passes no router, and a peer that has v2 alone does not hear it");
		mend(d, HERE, "rdma dev show %s -d", d->link->device);
		detail(d, "newer firmware of the card may have v2");
	} else {
		found(d, FOUND_SKIPPED, "the address has no GID");
	}
}

static const char *neighbour_state(struct doctor *d)
{
	const char *text = output(PROGRAM_S, "ip", "-j", "neigh", "show", "to", bare(d->address),
				  "dev", d->iface, NULL);
	struct json_object *all = text ? json_tokener_parse(text) : NULL, *states = NULL;
	struct json_object *first = json_object_is_type(all, json_type_array) ?
				    json_object_array_get_idx(all, 0) : NULL;
	const char *state = "NONE";

	if (first && json_object_object_get_ex(first, "state", &states) &&
	    json_object_array_length(states))
		state = mem_str(json_object_get_string(json_object_array_get_idx(states, 0)));
	json_object_put(all);
	return state;
}

static bool ping(struct doctor *d)
{
	return output(PROGRAM_S, "ping", "-n", "-q", "-c", "1", "-W", "2", "-I", d->iface,
		      bare(d->address), NULL);
}

void check_neighbour(struct doctor *d)
{
	const char *state;

	if (!d->iface || !program_there("ping")) {
		found(d, FOUND_SKIPPED, "%s", d->iface ? "there is no program ping" :
		      "there is no route");
		if (d->iface)
			mend(d, HERE, "apt install iputils-ping");
		return;
	}
	d->pings = d->is_self || ping(d) || ping(d);
	state = neighbour_state(d);
	if (d->pings) {
		found(d, FOUND_OK, "%s answers pings", d->address);
	} else if (!strcmp(state, "FAILED") || !strcmp(state, "INCOMPLETE")) {
		found(d, FOUND_ERROR, "nobody answers for %s on the network of %s", d->address,
		      d->iface);
		because(d, "the peer is off, its interface is down, or it is in another network or VLAN: its hardware address cannot be asked for (%s)",
			d->family == AF_INET ? "ARP" : "neighbour discovery");
		mend(d, TARGET, "ip -br addr | grep -F %s || ip -br link", bare(d->address));
	} else if (!strcmp(state, "PERMANENT")) {
		found(d, FOUND_WARNING, "%s has a hardware address that somebody has set here, and does not answer pings",
		      d->address);
		because(d, "if the peer's card was changed, nothing reaches it");
		mend(d, HERE, "ip neigh del %s dev %s", bare(d->address), d->iface);
	} else {
		found(d, FOUND_NOTE, "%s does not answer pings", d->address);
		because(d, "it may be off or unreachable; or something drops ICMP, which RDMA does not need");
		mend(d, HERE, "ping -c 3 -I %s %s", d->iface, bare(d->address));
	}
}
