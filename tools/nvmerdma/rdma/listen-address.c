// SPDX-License-Identifier: GPL-2.0
/* Ports of the target for addresses of this machine */
#include "rdma/rdma.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "config/plan.h"

/* ---- which addresses ---- */

/* "192.0.2.1 (eth0, rxe0), 2001:db8::1 (eth0, rxe0)"; "" if there is none */
static const char *with_rdma(const struct rdma_addrs *addrs)
{
	const char *list = "";
	const struct rdma_addr *addr;

	for_each_addr(addr, addrs) {
		if (addr->link && !addr->link_local)
			list = mem_fmt("%s%s%s (%s, %s)", list, *list ? ", " : "", addr->text,
				       addr->netdev, addr->link->device);
	}
	return list;
}

/* An Ethernet interface with an address, for an example that can be typed */
static const char *some_netdev(const struct rdma_addrs *addrs)
{
	return addrs->nr ? addrs->addr[0].netdev : "eth0";
}

static int no_rdma(const struct rdma_links *links, const struct rdma_addrs *addrs)
{
	const char *netdev = some_netdev(addrs);

	if (!links->nr)
		return error_msg("this machine has no RDMA device; load the driver of its adapter, or, for RDMA in software over %s, 'modprobe rdma_rxe && rdma link add rxe0 type rxe netdev %s'",
				 netdev, netdev);
	return error_msg("no interface of an RDMA device has an address: 'ip addr add 192.0.2.1/24 dev %s' gives it one (%s is its RDMA device)",
			 links->link[0].netdev ?: netdev, links->link[0].device);
}

static int check_addr(const char *text, const struct rdma_addr *addr,
		      const struct rdma_links *links, const struct rdma_addrs *all)
{
	const char *others = with_rdma(all);

	if (rdma_addr_family(text) < 0)
		return error_msg("--addr: invalid value \"%s\" (expected an IPv4 or IPv6 address)",
				 text);
	if (!addr && *others)
		return error_msg("--addr: %s is not an address of this machine; those with RDMA are %s",
				 text, others);
	if (addr && !addr->link && *others)
		return error_msg("--addr: %s is on %s, which has no RDMA device; addresses with RDMA are %s",
				 text, addr->netdev, others);
	if (!addr || !addr->link)
		return no_rdma(links, all);
	if (!addr->link->active)
		note_msg("port %u of %s is %s: the target waits for it", addr->link->port,
			 addr->link->device, addr->link->state);
	return 0;
}

static void choose(struct rdma_addrs *chosen, const struct rdma_addr *addr)
{
	const struct rdma_addr *one;

	for_each_addr(one, chosen) {
		if (!strcmp(one->text, addr->text))
			return;
	}
	mem_push(chosen->addr, chosen->nr, *addr);
}

/* The best there is: one that works now before one that waits for its link */
static const struct rdma_addr *best(const struct rdma_addrs *all)
{
	const struct rdma_addr *found = NULL, *addr;

	for_each_addr(addr, all) {
		if (!addr->link || addr->link_local)
			continue;
		if (addr->link->active)
			return addr;
		if (!found)
			found = addr;
	}
	return found;
}

int ports_choose(const char *asked, struct rdma_addrs *chosen)
{
	const struct rdma_links links = rdma_links();
	const struct rdma_addrs all = rdma_addrs(&links);
	const struct rdma_addr *addr;
	char *list, *text;

	*chosen = (struct rdma_addrs) { 0 };
	if (!asked) {
		addr = best(&all);
		if (!addr)
			return no_rdma(&links, &all);
		choose(chosen, addr);
		return 0;
	}
	list = mem_str(asked);
	while ((text = strsep(&list, ","))) {
		addr = rdma_addr_find(&all, text);
		if (check_addr(text, addr, &links, &all))
			return -1;
		choose(chosen, addr);
	}
	return 0;
}

/* ---- which port ---- */

static const char *zone_of(const char *text)
{
	return text + strcspn(text, "%");
}

/* That which stands for all of its family: no bit is set, but for those that map IPv4 */
static bool is_any(const struct in6_addr *addr, int family)
{
	return family == AF_INET ? !addr->s6_addr32[3] : IN6_IS_ADDR_UNSPECIFIED(addr);
}

static bool same_service(const char *a, const char *b)
{
	return strtoul(a, NULL, 10) == strtoul(b, NULL, 10);
}

/* The port that listens at an address, or at all of its family: then @all is set */
static struct node *port_at(const struct node *root, const struct rdma_addr *addr,
			    const char *service, bool *all)
{
	struct in6_addr wanted, has;
	struct node *port;
	int family;

	*all = false;
	if (!rdma_addr_parse(addr->text, &wanted, &family))
		return NULL;
	for_each_node(port, root, &schema_port) {
		const char *text = node_get(port, "addr_traddr") ?: "";

		if (!node_is(port, "addr_trtype", "rdma") ||
		    !same_service(node_get(port, "addr_trsvcid") ?: "", service) ||
		    !rdma_addr_parse(text, &has, &family) || family != addr->family)
			continue;
		*all = is_any(&has, family);
		if (*all || (IN6_ARE_ADDR_EQUAL(&has, &wanted) &&
			     !strcmp(zone_of(text), zone_of(addr->text))))
			return port;
	}
	return NULL;
}

static struct node *new_port(struct node *root)
{
	unsigned int id = 1;

	while (node_find(root, &schema_port, mem_fmt("%u", id)))
		id++;
	return node_add(root, &schema_port, mem_fmt("%u", id));
}

/* A port serves all of its subsystems in one way */
static int as_wished(const struct node *port, const char *attr, const char *wish)
{
	const char *has = node_get(port, attr);

	if (!wish || (has && (attr_same(attr, has, wish) ||
			      attr_lowered(port, &(struct attr) { attr, wish, NULL }))))
		return 0;
	return error_msg("port %s listens at %s:%s already, with %s %s for what it offers, not %s: leave the option away, or choose another --port",
			 port->name, node_get(port, "addr_traddr"), node_get(port, "addr_trsvcid"),
			 attr, has ?: "unknown to this kernel", wish);
}

int ports_offer(struct node *root, const struct rdma_addr *addr, const struct port_wish *wish,
		const char *nqn)
{
	const char *pi = wish->pi ? "1" : NULL;
	struct node *port;
	bool all;

	port = port_at(root, addr, wish->service, &all);
	if (port && all)
		return error_msg("port %s listens at %s, which is every address of this machine, with port number %s already: choose another --port",
				 port->name, node_get(port, "addr_traddr"), wish->service);
	if (port) {
		if (as_wished(port, "param_inline_data_size", wish->inline_size) ||
		    as_wished(port, "param_max_queue_size", wish->queue_size) ||
		    as_wished(port, "param_pi_enable", pi))
			return -1;
		node_link(port, nqn);
		return 0;
	}
	port = new_port(root);
	node_set(port, "addr_trtype", "rdma");
	node_set(port, "addr_adrfam", addr->family == AF_INET ? "ipv4" : "ipv6");
	node_set(port, "addr_traddr", addr->text);
	node_set(port, "addr_trsvcid", wish->service);
	if (wish->inline_size)
		node_set(port, "param_inline_data_size", wish->inline_size);
	if (wish->queue_size)
		node_set(port, "param_max_queue_size", wish->queue_size);
	if (pi)
		node_set(port, "param_pi_enable", pi);
	node_link(port, nqn);
	return 0;
}
