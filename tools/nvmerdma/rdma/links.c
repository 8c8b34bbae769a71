// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices of this machine, and the addresses that can be reached by them.
 *
 * Which network interfaces belong to a device is told in three places, none of which
 * has all of them: the kernel's RDMA netlink, which rdma(8) of iproute2 prints (the
 * interface of a RoCE or iWARP device); the GID table (over RoCE also VLANs and bonds
 * above that interface); and, over InfiniBand, the interface's own device.
 */
#include "rdma/rdma.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#define SYSFS	"/sys/class/infiniband"

/* From /sys/class/net/IFACE/type, as in linux/if_arp.h */
#define TYPE_INFINIBAND		32

static const char *kind_of(const char *device, unsigned int port)
{
	const char *node = file_read(SYSFS "/%s/node_type", device);
	const char *layer = file_read(SYSFS "/%s/ports/%u/link_layer", device, port);

	if (node && strstr(node, "RNIC"))
		return "iWARP";
	return layer && !strcmp(layer, "InfiniBand") ? "InfiniBand" : "RoCE";
}

/* "4: ACTIVE" */
static const char *state_of(const char *device, unsigned int port)
{
	const char *state = file_read(SYSFS "/%s/ports/%u/state", device, port);
	const char *word = state ? strchr(state, ' ') : NULL;

	return word ? word + 1 : "unknown";
}

static void add_link(struct rdma_links *links, const char *device, unsigned int port,
		     const char *netdev)
{
	struct rdma_link *link;

	for_each_link(link, links) {
		if (strcmp(link->device, device) || link->port != port)
			continue;
		if (!netdev || (link->netdev && !strcmp(link->netdev, netdev)))
			return;
		if (!link->netdev) {
			link->netdev = netdev;
			return;
		}
	}
	links->link = mem_grow(links->link, links->nr, sizeof(*link));
	link = &links->link[links->nr++];
	*link = (struct rdma_link) {
		.device = device, .port = port, .netdev = netdev,
		.kind = kind_of(device, port), .state = state_of(device, port),
	};
	link->active = !strcmp(link->state, "ACTIVE");
}

/* The port, and the interfaces that its GIDs are of */
static void add_port(struct rdma_links *links, const char *device, const char *port)
{
	const char *dir = mem_fmt(SYSFS "/%s/ports/%s/gid_attrs/ndevs", device, port);
	struct names gids = names_in("%s", dir);
	const char *netdev;
	size_t i;

	add_link(links, device, strtoul(port, NULL, 10), NULL);
	for (i = 0; i < gids.nr; i++) {
		netdev = file_read("%s/%s", dir, gids.name[i]);
		if (netdev && *netdev)
			add_link(links, device, strtoul(port, NULL, 10), netdev);
	}
}

const char *json_member_text(struct json_object *obj, const char *key)
{
	struct json_object *member;

	if (!json_object_object_get_ex(obj, key, &member))
		return NULL;
	return mem_str(json_object_get_string(member));
}

struct json_object *json_first(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_get_idx(list, 0) :
	       NULL;
}

/* What rdma(8) says: without it, as in a small container, the GIDs have to do */
static void add_from_netlink(struct rdma_links *links)
{
	const char *text = program_output(PROGRAM_S, "rdma", "-j", "link", "show", NULL);
	struct json_object *all = text ? json_tokener_parse(text) : NULL;
	size_t i;

	if (!json_object_is_type(all, json_type_array)) {
		json_object_put(all);
		return;
	}
	for (i = 0; i < json_object_array_length(all); i++) {
		struct json_object *one = json_object_array_get_idx(all, i);
		const char *device = json_member_text(one, "ifname");
		const char *netdev = json_member_text(one, "netdev");
		const char *port = json_member_text(one, "port");

		if (device && netdev && port)
			add_link(links, device, strtoul(port, NULL, 10), netdev);
	}
	json_object_put(all);
}

/* An interface of IP over InfiniBand is on the port that dev_port says, from 0 */
static void add_ipoib(struct rdma_links *links)
{
	struct names netdevs = names_in("/sys/class/net");
	size_t i;

	for (i = 0; i < netdevs.nr; i++) {
		const char *netdev = netdevs.name[i];
		struct names devices;

		if (file_u64(0, "/sys/class/net/%s/type", netdev) != TYPE_INFINIBAND)
			continue;
		devices = names_in("/sys/class/net/%s/device/infiniband", netdev);
		if (devices.nr)
			add_link(links, devices.name[0],
				 file_u64(0, "/sys/class/net/%s/dev_port", netdev) + 1, netdev);
	}
}

struct rdma_links rdma_links(void)
{
	struct names devices = names_in(SYSFS);
	struct rdma_links links = { 0 };
	size_t i, p;

	for (i = 0; i < devices.nr; i++) {
		struct names ports = names_in(SYSFS "/%s/ports", devices.name[i]);

		for (p = 0; p < ports.nr; p++)
			add_port(&links, devices.name[i], ports.name[p]);
	}
	if (links.nr) {
		add_from_netlink(&links);
		add_ipoib(&links);
	}
	return links;
}

const struct rdma_link *rdma_link_of(const struct rdma_links *links, const char *netdev)
{
	const struct rdma_link *link;

	for_each_link(link, links) {
		if (link->netdev && !strcmp(link->netdev, netdev))
			return link;
	}
	return NULL;
}

const struct rdma_link *rdma_port_of(const struct rdma_links *links,
				     const struct rdma_link *link)
{
	const struct rdma_link *first = links->link;

	while (first->port != link->port || strcmp(first->device, link->device))
		first++;
	return first;
}

static bool fill_addr(struct rdma_addr *addr, const struct ifaddrs *ifa)
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes;

	if (!ifa->ifa_addr || ifa->ifa_flags & IFF_LOOPBACK)
		return false;
	addr->family = ifa->ifa_addr->sa_family;
	if (addr->family == AF_INET) {
		bytes = &((const struct sockaddr_in *)ifa->ifa_addr)->sin_addr;
	} else if (addr->family == AF_INET6) {
		bytes = &((const struct sockaddr_in6 *)ifa->ifa_addr)->sin6_addr;
		addr->link_local = IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)bytes);
	} else {
		return false;
	}
	if (!inet_ntop(addr->family, bytes, text, sizeof(text)))
		return false;
	addr->netdev = mem_str(ifa->ifa_name);
	addr->text = addr->link_local ? mem_fmt("%s%%%s", text, addr->netdev) : mem_str(text);
	return true;
}

/* Those that a port would be made for first */
static int rank(const struct rdma_addr *addr)
{
	return addr->family == AF_INET ? 0 : addr->link_local ? 2 : 1;
}

struct rdma_addrs rdma_addrs(const struct rdma_links *links)
{
	struct rdma_addrs addrs = { 0 };
	struct ifaddrs *all, *ifa;
	int r;

	if (getifaddrs(&all))
		return addrs;
	for (r = 0; r <= 2; r++) {
		for (ifa = all; ifa; ifa = ifa->ifa_next) {
			struct rdma_addr addr = { 0 };

			if (!fill_addr(&addr, ifa) || rank(&addr) != r)
				continue;
			addr.link = rdma_link_of(links, addr.netdev);
			mem_push(addrs.addr, addrs.nr, addr);
		}
	}
	freeifaddrs(all);
	return addrs;
}

bool rdma_addr_parse(const char *text, struct in6_addr *bytes, int *family)
{
	size_t len = strcspn(text, "%");
	char *bare = mem_strn(text, len);

	*bytes = (struct in6_addr) { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	*family = AF_INET;
	if (inet_pton(AF_INET, bare, bytes->s6_addr + 12) == 1)
		return text[len] == 0;
	*family = AF_INET6;
	return inet_pton(AF_INET6, bare, bytes) == 1;
}

int rdma_addr_family(const char *text)
{
	struct in6_addr bytes;
	int family;

	return rdma_addr_parse(text, &bytes, &family) ? family : -1;
}

const struct rdma_addr *rdma_addr_find(const struct rdma_addrs *addrs, const char *text)
{
	const char *zone = strchr(text, '%');
	struct in6_addr want, have;
	const struct rdma_addr *addr;
	int family;

	if (!rdma_addr_parse(text, &want, &family))
		return NULL;
	for_each_addr(addr, addrs) {
		int of;

		if (addr->family != family || !rdma_addr_parse(addr->text, &have, &of) ||
		    memcmp(&want, &have, sizeof(want)))
			continue;
		if (!zone || !strcmp(zone + 1, addr->netdev))
			return addr;
	}
	return NULL;
}
