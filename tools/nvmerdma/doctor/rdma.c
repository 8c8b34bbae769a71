// SPDX-License-Identifier: GPL-2.0
/* RDMA devices and their links */
#include "doctor/doctor.h"

#include <string.h>

#include <net/if.h>

#define TYPE_ETHERNET	1	/* /sys/class/net/IFACE/type, as in linux/if_arp.h */

static unsigned long flags_of(struct doctor *d, const char *netdev)
{
	return file_u64(0, "%s/sys/class/net/%s/flags", d->root, netdev);
}

/* The adapter comes first; soft-RoCE is for machines that have none */
static void fix_no_device(struct doctor *d)
{
	struct names netdevs = names_in("%s/sys/class/net", d->root);
	const char *soft = NULL;
	size_t i;

	for (i = 0; i < netdevs.nr; i++) {
		const char *name = netdevs.name[i];

		if (file_u64(0, "%s/sys/class/net/%s/type", d->root, name) == TYPE_ETHERNET &&
		    (!soft || (flags_of(d, name) & IFF_UP && !(flags_of(d, soft) & IFF_UP))))
			soft = name;
	}
	report_fix(d, HERE, "lspci -nnk | grep -iA3 -E 'ethernet|infiniband|network'");
	if (soft) {
		report_fix(d, HERE, "rdma link add rxe0 type rxe netdev %s", soft);
		report_detail(d, "soft-RoCE, if no adapter has RDMA: any Ethernet interface can do it, slowly");
	}
}

/* Not once more for each VLAN and bond on it */
static bool is_port(struct doctor *d, const struct rdma_link *link)
{
	return link == rdma_port_of(&d->links, link);
}

void check_rdma_device(struct doctor *d)
{
	const struct rdma_link *link;
	size_t on_netdev = 0;

	if (!d->links.nr) {
		report(d, FOUND_ERROR, "this machine has no RDMA device");
		report_reason(d, "NVMe/RDMA needs an RDMA device; an ordinary network interface is not enough. Load the driver of the adapter, if lspci shows one");
		fix_no_device(d);
		return;
	}
	for_each_link(link, &d->links)
		on_netdev += link->netdev && is_port(d, link);
	if (!on_netdev) {
		report(d, FOUND_ERROR, "no network interface belongs to an RDMA device");
		report_reason(d, "addresses are how hosts and targets find each other");
	} else {
		report(d, FOUND_OK, "%s", count_words(on_netdev, "RDMA link"));
	}
	for_each_link(link, &d->links) {
		report_detail(d, "%s port %u: %s, %s, %s", link->device, link->port, link->kind,
			      link->netdev ? link->netdev : "no interface", link->state);
	}
}

static bool has_address(struct doctor *d, const char *netdev)
{
	const struct rdma_addr *addr;

	for_each_addr(addr, &d->addrs) {
		if (!addr->link_local && !strcmp(addr->netdev, netdev))
			return true;
	}
	return false;
}

static bool any_active(struct doctor *d)
{
	const struct rdma_link *link;

	for_each_link(link, &d->links) {
		if (link->active && link->netdev)
			return true;
	}
	return false;
}

/* A port that nobody uses may be down; of two with addresses one may be a spare */
static enum severity how_bad(struct doctor *d, const char *netdev)
{
	if (!any_active(d))
		return FOUND_ERROR;
	return netdev && has_address(d, netdev) ? FOUND_WARNING : FOUND_NOTE;
}

/* The interface of a port, of several one that is up and has an address; whether any is up */
static const char *interface_of(struct doctor *d, const struct rdma_link *port, bool *is_up)
{
	const char *netdev = port->netdev;
	const struct rdma_link *link;

	*is_up = !netdev;
	for_each_link(link, &d->links) {
		const char *other = link->netdev;

		if (!other || rdma_port_of(&d->links, link) != port ||
		    !(flags_of(d, other) & IFF_UP))
			continue;
		if (!*is_up || has_address(d, other))
			netdev = other;
		*is_up = true;
	}
	return netdev;
}

static void say_inactive(struct doctor *d, const struct rdma_link *link, const char *netdev)
{
	bool ib = !strcmp(link->kind, "InfiniBand");

	report(d, how_bad(d, netdev), "port %u of %s is %s, not ACTIVE", link->port,
	       link->device, link->state);
	if (ib && !strcmp(link->state, "INIT")) {
		report_reason(d, "no subnet manager has set it up");
		report_fix(d, HERE, "apt install opensm && systemctl start opensm");
		report_detail(d, "one in the fabric is enough, as many switches have");
	} else if (netdev && file_u64(0, "%s/sys/class/net/%s/carrier", d->root, netdev) == 1) {
		report_reason(d, "no connection can be made by it; %s has carrier. Down and up again may do, and what goes by %s is lost for that: this session, if it does, connections of disks, routes that were set by hand, and IPv6 addresses",
			      netdev, netdev);
		report_fix(d, HERE, "ip link set %s down && ip link set %s up", netdev, netdev);
	} else if (netdev) {
		report_reason(d, "no connection can be made by it; %s has no carrier: look at the cable and the switch",
			      netdev);
		report_fix(d, HERE, "ip -s link show %s", netdev);
	}
}

static void say_down(struct doctor *d, const struct rdma_link *link, const char *netdev)
{
	report(d, how_bad(d, netdev), "the interface %s, of the RDMA device %s, is down", netdev,
	       link->device);
	report_reason(d, "nothing can be reached by it");
	report_fix(d, HERE, "ip link set %s up", netdev);
}

void check_link_state(struct doctor *d)
{
	const struct rdma_link *link;
	size_t bad = 0, active = 0;

	for_each_link(link, &d->links) {
		const char *netdev;
		bool is_up;

		if (!is_port(d, link))
			continue;
		netdev = interface_of(d, link, &is_up);
		bad += !is_up || !link->active;
		active += is_up && link->active;
		if (!is_up)
			say_down(d, link, netdev);
		else if (!link->active)
			say_inactive(d, link, netdev);
	}
	if (active)
		report(d, FOUND_OK, "%s ACTIVE", active == 1 ? "an RDMA link is" :
		       mem_fmt("%zu RDMA links are", active));
	else if (!bad)
		report(d, FOUND_SKIPPED, "there is no RDMA device");
}
