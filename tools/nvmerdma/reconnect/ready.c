// SPDX-License-Identifier: GPL-2.0
/*
 * Can a controller be connected again, and has somebody done so already?
 *
 * It is connected over the address that this machine had towards it, when that address is
 * back on an interface with an RDMA device that works. The device may have another name.
 * While a device is away, the route may lead over another device: a second path would then
 * be a second connection over the first device.
 */
#include "reconnect/reconnect.h"

#include <string.h>

struct presents presents(void)
{
	struct names names = names_in("%s/sys/kernel/debug/nvme_rdma", reconnect_root);
	struct presents all = { 0 };
	size_t i;

	for (i = 0; i < names.nr; i++) {
		const char *name = names.name[i];
		const char *options = ctrl_options(name);
		const char *state = ctrl_state(name);
		struct present ctrl = { .name = name };

		if (!options || !state || !record_parse(&ctrl.record, options) ||
		    state_is_deleting(state) || !strcmp(state, "dead"))
			continue;
		ctrl.live = !strcmp(state, "live");
		mem_push(all.ctrl, all.nr, ctrl);
	}
	return all;
}

static bool was_beside(const struct record *record, const char *name)
{
	return record->beside &&
	       strstr(mem_fmt(" %s ", record->beside), mem_fmt(" %s ", name));
}

const struct present *present_find(const struct presents *all, const struct record *record)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		if (record_same(&all->ctrl[i].record, record) &&
		    !was_beside(record, all->ctrl[i].name))
			return &all->ctrl[i];
	}
	return NULL;
}

/* The interface that is asked for, or that an IPv6 address names */
static const char *iface_of(const struct record *record)
{
	const char *zone = strchr(record->address, '%');

	return record->host_iface ?: zone ? zone + 1 : NULL;
}

static bool find_route(const struct record *record, struct ip_route *route)
{
	return ip_route(record->address, record->host_traddr, iface_of(record), route);
}

const char *source_towards(const struct record *record)
{
	const struct rdma_links none = { 0 };
	struct rdma_addrs addrs = rdma_addrs(&none);
	struct ip_route route;

	if (record->host_traddr)
		return ip_bare(record->host_traddr);
	if (rdma_addr_find(&addrs, record->address))
		return ip_bare(record->address);
	return find_route(record, &route) ? route.source : NULL;
}

static const char *no_link_reason(const struct rdma_link *link, const char *netdev)
{
	if (!link)
		return mem_fmt("%s has no RDMA device", netdev);
	return link->active ? NULL : mem_fmt("%s of %s is %s", link->device, netdev, link->state);
}

const char *not_reachable_reason(const struct record *record, const struct rdma_addrs *addrs,
				 const struct rdma_links *links)
{
	const struct rdma_addr *own;
	struct ip_route route;
	const char *why;

	if (record->source) {
		own = rdma_addr_find(addrs, record->source);
		if (!own)
			return mem_fmt("no interface has the address %s", record->source);
		why = no_link_reason(own->link, own->netdev);
		if (why)
			return why;
	}
	own = rdma_addr_find(addrs, record->address);
	if (own)
		return no_link_reason(own->link, own->netdev);
	if (!find_route(record, &route))
		return mem_fmt("there is no route to %s", record->address);
	if (record->source && route.source && !record->host_traddr &&
	    strcmp(route.source, record->source))
		return mem_fmt("the route to %s leads over %s from %s, and led from %s",
			       record->address, route.netdev, route.source, record->source);
	return no_link_reason(rdma_link_of(links, route.netdev), route.netdev);
}
