// SPDX-License-Identifier: GPL-2.0
/* Listeners over iWARP: addresses are those of the network cards */

#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include "iwarp.h"

static LIST_HEAD(listeners);	/* under vrnic_iw_lock */

static __be16 port_of(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ?
		((const struct sockaddr_in *)addr)->sin_port :
		((const struct sockaddr_in6 *)addr)->sin6_port;
}

static bool is_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ((const struct sockaddr_in *)addr)->sin_addr.s_addr ==
		       htonl(INADDR_ANY);
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

static bool same_ip(const struct sockaddr_storage *a,
		    const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr);
}

static bool has_ip4(struct net_device *ndev, __be32 ip)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	bool has = false;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(ndev);
	if (in_dev) {
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			has |= ifa->ifa_local == ip;
	}
	rcu_read_unlock();
	return has;
}

/* Whether the device's card has the address */
static bool has_address(const struct vrnic_dev *dev,
			const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return has_ip4(dev->ndev,
			       ((const struct sockaddr_in *)addr)->sin_addr.s_addr);
	return ipv6_chk_addr(dev_net(dev->ndev),
			     &((const struct sockaddr_in6 *)addr)->sin6_addr,
			     dev->ndev, 1);
}

/* A wildcard of IPv6 also listens for IPv4, unless its owner disabled that */
static bool listens(const struct vrnic_listener *l,
		    const struct sockaddr_storage *addr)
{
	const struct sockaddr_storage *own = &l->cm_id->m_local_addr;

	if (port_of(own) != port_of(addr) || !has_address(l->dev, addr))
		return false;
	if (!is_any(own))
		return same_ip(own, addr);
	return own->ss_family == addr->ss_family ||
	       (own->ss_family == AF_INET6 && !l->cm_id->afonly);
}

struct asked {
	const struct sockaddr_storage *addr;
	bool reachable;
};

static void look_for_address(struct vrnic_dev *dev, void *arg)
{
	struct asked *asked = arg;

	if (dev->config.link == VRNIC_IWARP && READ_ONCE(dev->up) &&
	    !READ_ONCE(dev->dead) && has_address(dev, asked->addr))
		asked->reachable = true;
}

/**
 * vrnic_listener_find() - find a listener at an address
 * @addr: the address
 * @found: the listener
 *
 * A listener that has no more room does not answer, as with TCP: the next attempt may find
 * some.
 *
 * Context: vrnic_iw_lock is held.
 * Return: the answer
 */
enum vrnic_answer vrnic_listener_find(const struct sockaddr_storage *addr,
				      struct vrnic_listener **found)
{
	struct asked asked = { .addr = addr };
	struct vrnic_listener *l;

	lockdep_assert_held(&vrnic_iw_lock);
	vrnic_each_device(look_for_address, &asked);
	if (!asked.reachable)
		return VRNIC_NO_ANSWER;
	list_for_each_entry(l, &listeners, entry) {
		if (!listens(l, addr))
			continue;
		if (!READ_ONCE(l->dev->up) || l->waiting >= l->backlog)
			return VRNIC_NO_ANSWER;
		*found = l;
		return VRNIC_LISTENS;
	}
	return VRNIC_REFUSED;
}

int vrnic_iw_create_listen(struct iw_cm_id *cm_id, int backlog)
{
	const struct sockaddr_storage *addr = &cm_id->m_local_addr;
	struct vrnic_dev *dev = to_vdev(cm_id->device);
	struct vrnic_listener *l, *other;

	if (addr->ss_family != AF_INET && addr->ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (!is_any(addr) && !has_address(dev, addr))
		return -EADDRNOTAVAIL;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->cm_id = cm_id;
	l->dev = dev;
	l->backlog = backlog;
	mutex_lock(&vrnic_iw_lock);
	list_for_each_entry(other, &listeners, entry) {
		if (other->dev == dev &&
		    port_of(&other->cm_id->m_local_addr) == port_of(addr) &&
		    same_ip(&other->cm_id->m_local_addr, addr)) {
			mutex_unlock(&vrnic_iw_lock);
			kfree(l);
			return -EADDRINUSE;
		}
	}
	cm_id->add_ref(cm_id);
	cm_id->provider_data = l;
	list_add_tail(&l->entry, &listeners);
	mutex_unlock(&vrnic_iw_lock);
	return 0;
}

/*
 * Requests that the listener was told of and that are not answered yet stay: the core may be
 * about to deliver them, or has dropped them. In that case they end by their deadline.
 */
int vrnic_iw_destroy_listen(struct iw_cm_id *cm_id)
{
	struct vrnic_listener *l = cm_id->provider_data;

	if (!l)
		return 0;
	mutex_lock(&vrnic_iw_lock);
	list_del(&l->entry);
	vrnic_iw_forget(l);
	mutex_unlock(&vrnic_iw_lock);
	cm_id->provider_data = NULL;
	cm_id->rem_ref(cm_id);
	kfree(l);
	return 0;
}
