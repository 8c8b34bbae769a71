// SPDX-License-Identifier: GPL-2.0
/*
 * The listeners of ports.
 *
 * nvmet_rdma_listen_start() tries once, so that enabling a port fails if it can never listen.
 * An address that this machine does not have, or that has no RDMA device, is no such failure:
 * at boot, ports are enabled before links, addresses and devices exist. The port then waits,
 * logs what for, and retries when something appears:
 *
 *	an RDMA device		nvmet_rdma_listen_wake(), called for device.c
 *	a GID of a device	the same; RoCE makes one of each IP address, some
 *				time after the address has appeared
 *	an IP address		the notifiers below
 *
 * An address may take time (duplicate address detection of IPv6 has no event). So the port
 * retries a few times soon after each of these, and then every LISTEN_SLOW_SECS.
 *
 * A listener ends when its address is removed (notifiers), when its device is removed
 * (nvmet_rdma_listen_lost(), from the CM), and when the address moves from one card of a bond
 * to another (nvmet_rdma_listen_again()). listen_work does what follows, because destroying an
 * ID waits for its handler. Queues are not affected: they have IDs of their own.
 *
 * A port on all addresses listens at once and never waits. The CM adds new devices.
 *
 * Locks: ports_lock protects the list of ports and their addresses. listen_work may be queued
 * only for a port in the list. A port's listen_lock is held to make or destroy its listener,
 * and from before the port is in the list until its first try has ended, so that no event
 * tries at the same time.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/inet.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "connection.h"
#include "limits.h"
#include "listen.h"
#include "params.h"
#include "trace.h"
#include "wq.h"
#include "xfer.h"

/*
 * Connection requests that iWARP queues while others are answered. It drops further ones, and
 * hosts retry. This allows that many hosts to connect all queues at once. InfiniBand and RoCE
 * have no such limit.
 */
#define BACKLOG_HOSTS		8
#define LISTEN_BACKLOG		(BACKLOG_HOSTS * (NVMET_RDMA_MAX_QID + 1))

/* Doubles with each try after an event, up to LISTEN_SLOW_SECS */
#define LISTEN_SOON_MS		250
#define LISTEN_SLOW_SECS	10
/* The GID of a removed address disappears a moment after the notifier */
#define LISTEN_SETTLE_MS	300

/* Protects the list, and @addr and @tries of its ports; taken in any context */
static DEFINE_SPINLOCK(ports_lock);
static LIST_HEAD(ports);

/* Is it a link-local IPv6 address whose interface does not exist? */
static bool lacks_interface(const char *traddr)
{
	struct in6_addr addr;
	const char *scope;

	return in6_pton(traddr, -1, addr.s6_addr, '%', &scope) &&
	       ipv6_addr_type(&addr) & IPV6_ADDR_LINKLOCAL &&
	       *scope == '%' && dev_valid_name(scope + 1);
}

/**
 * nvmet_rdma_listen_resolve() - resolve the address of a port in configfs
 * @port: the port; its family is set
 * @addr: the result
 *
 * Context: any.
 * Return: 0; -EINVAL if there is no valid address; -ENODEV for a link-local address whose
 * interface does not exist, which may come and go.
 */
int nvmet_rdma_listen_resolve(const struct nvmet_rdma_port *port, struct sockaddr_storage *addr)
{
	const struct nvmf_disc_rsp_page_entry *text = &port->nport->disc_addr;
	int ret;

	memset(addr, 0, sizeof(*addr));
	ret = inet_pton_with_scope(&init_net, port->family, text->traddr,
				   text->trsvcid, addr);
	if (ret && port->family == AF_INET6 && lacks_interface(text->traddr))
		return -ENODEV;
	return ret;
}

static int nvmet_rdma_listen_event(struct rdma_cm_id *id,
				   struct rdma_cm_event *event);

/* Waits for the listener's handler: no connection request is handled after this */
static void nvmet_rdma_listen_end(struct nvmet_rdma_port *port)
{
	struct rdma_cm_id *id = port->listener;

	lockdep_assert_held(&port->listen_lock);
	WRITE_ONCE(port->listener, NULL);
	if (id)
		rdma_destroy_id(id);
}

/*
 * The CM returns -EADDRNOTAVAIL for an address that this machine does not have. It does so,
 * too, if one listener uses all addresses and another wants one of them. In the second case,
 * which no event ends, the CM has found the address's card before.
 */
static int nvmet_rdma_listen_bind(const struct nvmet_rdma_port *port, struct rdma_cm_id *id,
				  struct sockaddr_storage *addr)
{
	int ret = rdma_bind_addr(id, (struct sockaddr *)addr);

	if (ret == -EADDRNOTAVAIL &&
	    (port->all_addrs || id->route.addr.dev_addr.bound_dev_if))
		return -EADDRINUSE;
	return ret;
}

static int nvmet_rdma_listen_try(struct nvmet_rdma_port *port)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int ret;

	lockdep_assert_held(&port->listen_lock);
	/* The interface of the scope may be another than before */
	ret = nvmet_rdma_listen_resolve(port, &addr);
	if (ret)
		return ret;
	spin_lock_irq(&ports_lock);
	port->addr = addr;
	spin_unlock_irq(&ports_lock);

	id = rdma_create_id(&init_net, nvmet_rdma_listen_event, port,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);

	/* Set before events can arrive */
	WRITE_ONCE(port->listener, id);
	/* An IPv6 listener does not use the IPv4 port of the same number */
	ret = rdma_set_afonly(id, 1);
	if (!ret)
		ret = nvmet_rdma_listen_bind(port, id, &addr);
	if (!ret) {
		/* Before the first controller is created */
		nvmet_rdma_pi_enable_port(port, id->device);
		ret = rdma_listen(id, LISTEN_BACKLOG);
	}
	if (ret)
		nvmet_rdma_listen_end(port);
	return ret;
}

/* Errors that may go away without a change of the port */
static bool nvmet_rdma_listen_may_wait(int error)
{
	return error == -ENODEV || error == -EADDRNOTAVAIL;
}

static void nvmet_rdma_listen_log(const struct nvmet_rdma_port *port,
				  int error)
{
	const char *traddr = port->nport->disc_addr.traddr;

	switch (error) {
	case -ENODEV:
		pr_warn("port %u: waiting for an RDMA device behind %.*s (error %d); see \"rdma link show\" and \"ip address\"\n",
			port->portid, NVMF_TRADDR_SIZE, traddr, error);
		break;
	case -EADDRNOTAVAIL:
		pr_warn("port %u: waiting for %.*s, which is no address of this machine yet (error %d); see \"ip address\"\n",
			port->portid, NVMF_TRADDR_SIZE, traddr, error);
		break;
	case -EADDRINUSE:
		pr_err("port %u: %pISpc is in use by another listener (error %d); choose another addr_trsvcid\n",
		       port->portid, &port->addr, error);
		break;
	case -EINVAL:
		pr_err("port %u: cannot listen at %pISpc (error %d); an address that begins with fe80: needs its interface, as in fe80::1%%eth0\n",
		       port->portid, &port->addr, error);
		break;
	default:
		pr_err("port %u: cannot listen at %pISpc (error %d)\n",
		       port->portid, &port->addr, error);
	}
}

/* Logs each reason once, however often it occurs */
static void nvmet_rdma_listen_note(struct nvmet_rdma_port *port, int error)
{
	if (error == port->waits_for)
		return;
	if (error)
		nvmet_rdma_listen_log(port, error);
	else
		pr_info("port %u: listening at %pISpc, %u bytes of in-capsule data, %u commands a queue\n",
			port->portid, &port->addr, port->icd, port->depth);
	WRITE_ONCE(port->waits_for, error);
}

static unsigned long nvmet_rdma_listen_delay(struct nvmet_rdma_port *port)
{
	unsigned long soon = msecs_to_jiffies(LISTEN_SOON_MS) << port->tries;

	if (soon >= LISTEN_SLOW_SECS * HZ)
		return LISTEN_SLOW_SECS * HZ;
	port->tries++;
	return soon;
}

static void nvmet_rdma_listen_work(struct work_struct *work)
{
	struct nvmet_rdma_port *port =
		container_of(to_delayed_work(work), struct nvmet_rdma_port,
			     listen_work);
	unsigned long flags;
	int ret;

	mutex_lock(&port->listen_lock);
	nvmet_rdma_listen_end(port);
	ret = nvmet_rdma_listen_try(port);
	nvmet_rdma_listen_note(port, ret);
	mutex_unlock(&port->listen_lock);
	if (!ret)
		return;

	/* keeps the time of an event that has queued it already, which is sooner */
	spin_lock_irqsave(&ports_lock, flags);
	if (!list_empty(&port->entry))
		queue_delayed_work(nvmet_rdma_wq, &port->listen_work,
				   nvmet_rdma_listen_delay(port));
	spin_unlock_irqrestore(&ports_lock, flags);
}

/* Retries, because something that the port depends on has changed */
static void nvmet_rdma_listen_kick(struct nvmet_rdma_port *port,
				   unsigned int delay_ms)
{
	lockdep_assert_held(&ports_lock);
	if (list_empty(&port->entry))
		return;
	port->tries = 0;
	mod_delayed_work(nvmet_rdma_wq, &port->listen_work,
			 msecs_to_jiffies(delay_ms));
}

/* Listens again, because the address of a port has moved. Context: any. */
static void nvmet_rdma_listen_again(struct nvmet_rdma_port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&ports_lock, flags);
	nvmet_rdma_listen_kick(port, 0);
	spin_unlock_irqrestore(&ports_lock, flags);
}

/*
 * Handles the removal of a listener's device. The CM waits until the ID is destroyed. The work
 * does that, as it must not happen while another task is about to listen by the ID. A port on
 * all addresses has parts on each device, which the CM handles itself.
 *
 * Context: the handler of @id; may sleep.
 */
static void nvmet_rdma_listen_lost(struct nvmet_rdma_port *port,
				   struct rdma_cm_id *id)
{
	if (READ_ONCE(port->listener) == id)
		nvmet_rdma_listen_again(port);
}

/* The handler of a listener. May sleep. Returns not 0 if the CM shall destroy @id. */
static int nvmet_rdma_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct nvmet_rdma_port *port = id->context;

	trace_nvmet_rdma_cm_event(port, NULL, event);

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return nvmet_rdma_connect_request(id, port,
						  &event->param.conn);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		nvmet_rdma_listen_lost(port, id);
		return 0;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		nvmet_rdma_listen_again(port);
		return 0;
	default:
		return 0;
	}
}

/**
 * nvmet_rdma_listen_wake() - retry to listen: a device, GID or address has appeared
 *
 * Context: any.
 */
void nvmet_rdma_listen_wake(void)
{
	struct nvmet_rdma_port *port;
	unsigned long flags;

	spin_lock_irqsave(&ports_lock, flags);
	list_for_each_entry(port, &ports, entry) {
		if (READ_ONCE(port->waits_for))
			nvmet_rdma_listen_kick(port, 0);
	}
	spin_unlock_irqrestore(&ports_lock, flags);
}

static void nvmet_rdma_listen_addr_gone(const struct sockaddr_storage *addr)
{
	struct nvmet_rdma_port *port;
	unsigned long flags;

	spin_lock_irqsave(&ports_lock, flags);
	list_for_each_entry(port, &ports, entry) {
		if (nvmet_rdma_same_ip(&port->addr, addr))
			nvmet_rdma_listen_kick(port, LISTEN_SETTLE_MS);
	}
	spin_unlock_irqrestore(&ports_lock, flags);
}

static int nvmet_rdma_inetaddr_event(struct notifier_block *self,
				     unsigned long event, void *data)
{
	const struct in_ifaddr *ifa = data;
	struct sockaddr_storage addr = { .ss_family = AF_INET };

	if (!net_eq(dev_net(ifa->ifa_dev->dev), &init_net))
		return NOTIFY_DONE;
	if (event == NETDEV_UP) {
		nvmet_rdma_listen_wake();
	} else if (event == NETDEV_DOWN) {
		((struct sockaddr_in *)&addr)->sin_addr.s_addr = ifa->ifa_local;
		nvmet_rdma_listen_addr_gone(&addr);
	}
	return NOTIFY_DONE;
}

static int nvmet_rdma_inet6addr_event(struct notifier_block *self,
				      unsigned long event, void *data)
{
	const struct inet6_ifaddr *ifa = data;
	const struct net_device *ndev = ifa->idev->dev;
	struct sockaddr_storage addr = { .ss_family = AF_INET6 };
	struct sockaddr_in6 *addr6 = (struct sockaddr_in6 *)&addr;

	if (!net_eq(dev_net(ndev), &init_net))
		return NOTIFY_DONE;
	if (event == NETDEV_UP) {
		nvmet_rdma_listen_wake();
	} else if (event == NETDEV_DOWN) {
		addr6->sin6_addr = ifa->addr;
		if (ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			addr6->sin6_scope_id = ndev->ifindex;
		nvmet_rdma_listen_addr_gone(&addr);
	}
	return NOTIFY_DONE;
}

static struct notifier_block nvmet_rdma_inetaddr_nb = {
	.notifier_call = nvmet_rdma_inetaddr_event,
};

static struct notifier_block nvmet_rdma_inet6addr_nb = {
	.notifier_call = nvmet_rdma_inet6addr_event,
};

/* Rejects a second port with the same address, even while both wait for it */
static int nvmet_rdma_listen_enlist(struct nvmet_rdma_port *port)
{
	const char *svc = port->nport->disc_addr.trsvcid;
	const char *traddr = port->nport->disc_addr.traddr;
	struct nvmet_rdma_port *other;
	int ret = 0;

	spin_lock_irq(&ports_lock);
	list_for_each_entry(other, &ports, entry) {
		if (other->family == port->family &&
		    !strncmp(other->nport->disc_addr.traddr, traddr,
			     NVMF_TRADDR_SIZE) &&
		    !strncmp(other->nport->disc_addr.trsvcid, svc,
			     NVMF_TRSVCID_SIZE))
			ret = -EADDRINUSE;
	}
	if (!ret)
		list_add_tail(&port->entry, &ports);
	spin_unlock_irq(&ports_lock);
	return ret;
}

/**
 * nvmet_rdma_listen_init() - initialize the listener of a new port
 * @port: the port
 *
 * Context: any.
 */
void nvmet_rdma_listen_init(struct nvmet_rdma_port *port)
{
	INIT_LIST_HEAD(&port->entry);
	mutex_init(&port->listen_lock);
	INIT_DELAYED_WORK(&port->listen_work, nvmet_rdma_listen_work);
}

/**
 * nvmet_rdma_listen_stop() - stop listening for good
 * @port: the port
 *
 * Context: may sleep; not a handler of the listener.
 */
void nvmet_rdma_listen_stop(struct nvmet_rdma_port *port)
{
	spin_lock_irq(&ports_lock);
	list_del_init(&port->entry);
	spin_unlock_irq(&ports_lock);
	cancel_delayed_work_sync(&port->listen_work);

	mutex_lock(&port->listen_lock);
	nvmet_rdma_listen_end(port);
	mutex_unlock(&port->listen_lock);
}

/**
 * nvmet_rdma_listen_start() - listen, or wait until that is possible
 * @port: the port, with its address and settings
 *
 * Context: may sleep.
 * Return: 0, or a negative errno, with the reason in the log, if the port can never listen
 * with its present settings.
 */
int nvmet_rdma_listen_start(struct nvmet_rdma_port *port)
{
	int ret;

	mutex_lock(&port->listen_lock);
	/* First, so that no event after the try is missed */
	ret = nvmet_rdma_listen_enlist(port);
	if (ret) {
		mutex_unlock(&port->listen_lock);
		nvmet_rdma_listen_log(port, ret);
		return ret;
	}
	/* neither 0 nor an errno, so that the first result is logged */
	port->waits_for = 1;
	ret = nvmet_rdma_listen_try(port);
	nvmet_rdma_listen_note(port, ret);
	mutex_unlock(&port->listen_lock);
	if (!ret)
		return 0;
	if (nvmet_rdma_listen_may_wait(ret)) {
		nvmet_rdma_listen_again(port);
		return 0;
	}
	nvmet_rdma_listen_stop(port);
	return ret;
}

/**
 * nvmet_rdma_listen_register() - register for events of addresses
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_listen_register(void)
{
	int ret = register_inetaddr_notifier(&nvmet_rdma_inetaddr_nb);

	if (ret)
		return ret;
	ret = register_inet6addr_notifier(&nvmet_rdma_inet6addr_nb);
	if (ret)
		unregister_inetaddr_notifier(&nvmet_rdma_inetaddr_nb);
	return ret;
}

/**
 * nvmet_rdma_listen_unregister() - undo nvmet_rdma_listen_register()
 *
 * Context: may sleep.
 */
void nvmet_rdma_listen_unregister(void)
{
	unregister_inet6addr_notifier(&nvmet_rdma_inet6addr_nb);
	unregister_inetaddr_notifier(&nvmet_rdma_inetaddr_nb);
}
