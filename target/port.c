// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: addresses that hosts connect to.
 *
 * A port is enabled when configfs links the first subsystem to it, and removed
 * when the last link goes; both under the core's nvmet_config_sem. Its queues
 * hold references, and may outlive the removal: one that executes Connect waits
 * for that semaphore. So the removal waits a few seconds only, and leaves the
 * rest to reap_work on the core's workqueue, which the core flushes before it
 * frees its own port. What queues need of a port's settings is copied here.
 *
 * Whether a port listens at the moment is listen.c's business.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/inet.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "nvmet_rdma.h"

#define REMOVE_WAIT_SECS	3

static void nvmet_rdma_port_free(struct kref *ref)
{
	kfree(container_of(ref, struct nvmet_rdma_port, ref));
}

static void nvmet_rdma_port_put(struct nvmet_rdma_port *port)
{
	kref_put(&port->ref, nvmet_rdma_port_free);
}

/**
 * nvmet_rdma_port_add_queue() - a queue of a port comes
 * @port: the port; the queue gets a reference
 *
 * Context: the handler of the port's listener, which the removal waits for.
 */
void nvmet_rdma_port_add_queue(struct nvmet_rdma_port *port)
{
	kref_get(&port->ref);
	atomic_inc(&port->queues);
}

/**
 * nvmet_rdma_port_del_queue() - a queue of a port is gone
 * @port: the port; not to be touched again, nor is the core's
 *
 * Context: any.
 */
void nvmet_rdma_port_del_queue(struct nvmet_rdma_port *port)
{
	if (atomic_dec_and_test(&port->queues))
		wake_up_all(&port->gone);
	nvmet_rdma_port_put(port);
}

static void nvmet_rdma_port_reap_work(struct work_struct *work)
{
	struct nvmet_rdma_port *port =
		container_of(work, struct nvmet_rdma_port, reap_work);

	wait_event(port->gone, !atomic_read(&port->queues));
	nvmet_rdma_port_put(port);
}

/* Is it an IPv6 address of one link with an interface that is not there? */
static bool lacks_interface(const char *traddr)
{
	struct in6_addr addr;
	const char *scope;

	return in6_pton(traddr, -1, addr.s6_addr, '%', &scope) &&
	       ipv6_addr_type(&addr) & IPV6_ADDR_LINKLOCAL &&
	       *scope == '%' && dev_valid_name(scope + 1);
}

/**
 * nvmet_rdma_port_resolve() - make an address of what configfs has
 * @port: the port
 * @addr: filled in
 *
 * An address of one link names its interface, which may come and go.
 *
 * Context: may sleep.
 * Return: 0; -ENODEV if the interface is not there; -EINVAL if it is no address.
 */
int nvmet_rdma_port_resolve(const struct nvmet_rdma_port *port,
			    struct sockaddr_storage *addr)
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

static int nvmet_rdma_port_parse_addr(struct nvmet_rdma_port *port,
				      const struct nvmf_disc_rsp_page_entry *addr)
{
	u16 number;
	int ret;

	switch (addr->adrfam) {
	case NVMF_ADDR_FAMILY_IP4:
		port->family = AF_INET;
		break;
	case NVMF_ADDR_FAMILY_IP6:
		port->family = AF_INET6;
		break;
	default:
		pr_err("port %u: expected addr_adrfam ipv4 or ipv6, address family %u came\n",
		       port->portid, addr->adrfam);
		return -EINVAL;
	}

	ret = kstrtou16(addr->trsvcid, 10, &number);
	if (ret || !number) {
		pr_err("port %u: expected addr_trsvcid 1 to 65535, \"%.*s\" came; 4420 is usual\n",
		       port->portid, NVMF_TRSVCID_SIZE, addr->trsvcid);
		return -EINVAL;
	}

	ret = nvmet_rdma_port_resolve(port, &port->addr);
	if (ret == -ENODEV)
		return 0;
	if (ret)
		pr_err("port %u: expected addr_traddr to be an %s address, \"%.*s\" came\n",
		       port->portid, port->family == AF_INET ? "IPv4" : "IPv6",
		       NVMF_TRADDR_SIZE, addr->traddr);
	return ret;
}

/* Takes over what configfs says of sizes; negative is "the transport's choice" */
static int nvmet_rdma_port_parse_sizes(struct nvmet_rdma_port *port,
				       const struct nvmet_port *nport)
{
	int depth = nvmet_rdma_port_max_queue_size(nport);
	int icd = nport->inline_data_size;

	if (icd > NVMET_RDMA_MAX_ICD) {
		pr_err("port %u: expected param_inline_data_size 0 to %u, %d came\n",
		       port->portid, NVMET_RDMA_MAX_ICD, icd);
		return -EINVAL;
	}
	port->icd = icd < 0 ? NVMET_RDMA_DEFAULT_ICD : icd;

	if (depth > NVMET_RDMA_MAX_DEPTH) {
		pr_err("port %u: expected param_max_queue_size up to %u, %d came\n",
		       port->portid, NVMET_RDMA_MAX_DEPTH, depth);
		return -EINVAL;
	}
	port->depth = depth < 0 ? NVMET_RDMA_DEFAULT_DEPTH :
				  max(depth, NVMET_RDMA_MIN_DEPTH);
	return 0;
}

/**
 * nvmet_rdma_add_port() - enable a port (nvmet_fabrics_ops.add_port)
 * @nport: the core's port
 *
 * A port whose address or device is not there is enabled, and waits for it.
 *
 * Context: may sleep; under the core's nvmet_config_sem.
 * Return: 0 or a negative errno, with the reason in the log.
 */
int nvmet_rdma_add_port(struct nvmet_port *nport)
{
	struct nvmet_rdma_port *port;
	int ret;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	kref_init(&port->ref);
	nvmet_rdma_listen_init(port);
	init_waitqueue_head(&port->gone);
	INIT_WORK(&port->reap_work, nvmet_rdma_port_reap_work);
	port->nport = nport;
	port->portid = le16_to_cpu(nport->disc_addr.portid);

	ret = nvmet_rdma_port_parse_addr(port, &nport->disc_addr);
	if (!ret)
		ret = nvmet_rdma_port_parse_sizes(port, nport);
	if (ret)
		goto err_put_port;

	port->pi_wanted = nport->pi_enable;
	/* Before the first host can come and read them */
	nport->priv = port;
	nport->inline_data_size = port->icd;
	nvmet_rdma_port_set_max_queue_size(nport, port->depth);

	ret = nvmet_rdma_listen_start(port);
	if (!ret) {
		nvmet_rdma_observe_port(port);
		return 0;
	}

	nport->priv = NULL;
err_put_port:
	nvmet_rdma_port_put(port);
	return ret;
}

/**
 * nvmet_rdma_remove_port() - disable a port (nvmet_fabrics_ops.remove_port)
 * @nport: the core's port
 *
 * Context: may sleep; under the core's nvmet_config_sem.
 */
void nvmet_rdma_remove_port(struct nvmet_port *nport)
{
	struct nvmet_rdma_port *port = nport->priv;

	nvmet_rdma_unobserve_port(port);
	nvmet_rdma_listen_stop(port);
	nvmet_rdma_disconnect_port(port);
	wait_event_timeout(port->gone, !atomic_read(&port->queues),
			   REMOVE_WAIT_SECS * HZ);

	nport->priv = NULL;
	/* Its reference goes to the work, which the core waits for */
	queue_work(nvmet_wq, &port->reap_work);
}

/**
 * nvmet_rdma_is_any_addr() - does an address stand for all?
 * @addr: an IP address
 *
 * Context: any.
 */
bool nvmet_rdma_is_any_addr(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return !((const struct sockaddr_in *)addr)->sin_addr.s_addr;
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/**
 * nvmet_rdma_disc_traddr() - what a discovery log says of a port's address
 * @req: the host's request
 * @nport: the core's port, which the request came by
 * @traddr: NVMF_TRADDR_SIZE bytes to fill
 *
 * A port on all addresses shows each host the one that it came by.
 *
 * Context: may sleep.
 */
void nvmet_rdma_disc_traddr(struct nvmet_req *req, struct nvmet_port *nport,
			    char *traddr)
{
	struct nvmet_rdma_rsp *rsp = container_of(req, struct nvmet_rdma_rsp,
						  req);
	struct nvmet_rdma_queue *queue = rsp->queue;

	if (nvmet_rdma_is_any_addr(&queue->port->addr)) {
		/* the host gets all of it */
		memset(traddr, 0, NVMF_TRADDR_SIZE);
		snprintf(traddr, NVMF_TRADDR_SIZE, "%pISc",
			 &queue->cm_id->route.addr.src_addr);
	} else {
		memcpy(traddr, nport->disc_addr.traddr, NVMF_TRADDR_SIZE);
	}
}
