// SPDX-License-Identifier: GPL-2.0
/*
 * Ports of configfs: addresses that hosts connect to. listen.c has their listeners.
 *
 * A port is enabled when configfs links the first subsystem to it, and removed when the last
 * link is removed, both under the core's nvmet_config_sem. Its queues hold references, and may
 * outlive the removal: one that executes Connect waits for that semaphore. So the removal
 * waits for at most a few seconds. reap_work waits for the rest, on the core's workqueue,
 * which the core flushes before it frees its own port. What queues need of a port's settings
 * is copied here.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>
#include <net/ipv6.h>

#include "connection.h"
#include "debugfs.h"
#include "listen.h"
#include "params.h"
#include "response.h"

#define REMOVE_WAIT_SECS	3

/* Is it the address that stands for all? */
static bool nvmet_rdma_is_any_addr(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return !((const struct sockaddr_in *)addr)->sin_addr.s_addr;
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

static void nvmet_rdma_port_reap_work(struct work_struct *work)
{
	struct nvmet_rdma_port *port =
		container_of(work, struct nvmet_rdma_port, reap_work);

	wait_event(port->gone, !atomic_read(&port->queues));
	nvmet_rdma_port_put(port);
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
		pr_err("port %u: invalid addr_adrfam %u (expected ipv4 or ipv6)\n",
		       port->portid, addr->adrfam);
		return -EINVAL;
	}

	ret = kstrtou16(addr->trsvcid, 10, &number);
	if (ret || !number) {
		pr_err("port %u: invalid addr_trsvcid \"%.*s\" (expected 1 to 65535, usually 4420)\n",
		       port->portid, NVMF_TRSVCID_SIZE, addr->trsvcid);
		return -EINVAL;
	}

	ret = nvmet_rdma_listen_resolve(port, &port->addr);
	if (ret == -ENODEV)
		return 0;
	port->all_addrs = !ret && nvmet_rdma_is_any_addr(&port->addr);
	if (ret)
		pr_err("port %u: invalid addr_traddr \"%.*s\" (expected an %s address)\n",
		       port->portid, NVMF_TRADDR_SIZE, addr->traddr,
		       port->family == AF_INET ? "IPv4" : "IPv6");
	return ret;
}

/* Reads the sizes in configfs; a negative one is the transport's choice */
static int nvmet_rdma_port_parse_sizes(struct nvmet_rdma_port *port,
				       const struct nvmet_port *nport)
{
	int depth = nvmet_rdma_port_max_queue_size(nport);
	int icd = nport->inline_data_size;

	if (icd > NVMET_RDMA_MAX_ICD) {
		pr_err("port %u: invalid param_inline_data_size %d (expected 0 to %u)\n",
		       port->portid, icd, NVMET_RDMA_MAX_ICD);
		return -EINVAL;
	}
	port->icd = icd < 0 ? NVMET_RDMA_DEFAULT_ICD : icd;

	if (depth > NVMET_RDMA_MAX_DEPTH) {
		pr_err("port %u: invalid param_max_queue_size %d (expected at most %u)\n",
		       port->portid, depth, NVMET_RDMA_MAX_DEPTH);
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
 * A port is enabled, too, if its address or device does not exist yet, and waits for it.
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
	/* Before the first host can connect and read them */
	nport->priv = port;
	nport->inline_data_size = port->icd;
	nvmet_rdma_port_set_max_queue_size(nport, port->depth);

	ret = nvmet_rdma_listen_start(port);
	if (!ret) {
		nvmet_rdma_debugfs_add_port(port);
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

	nvmet_rdma_debugfs_remove_port(port);
	nvmet_rdma_listen_stop(port);
	nvmet_rdma_disconnect_port(port);
	wait_event_timeout(port->gone, !atomic_read(&port->queues),
			   REMOVE_WAIT_SECS * HZ);

	nport->priv = NULL;
	/* The work gets the reference, and the core waits for the work */
	queue_work(nvmet_wq, &port->reap_work);
}

/**
 * nvmet_rdma_disc_traddr() - the address of a port for the discovery log
 * @req: the host's request
 * @nport: the core's port that received the request
 * @traddr: NVMF_TRADDR_SIZE bytes to fill
 *
 * For a port on all addresses it is the one that the host has connected to.
 *
 * Context: may sleep.
 */
void nvmet_rdma_disc_traddr(struct nvmet_req *req, struct nvmet_port *nport,
			    char *traddr)
{
	struct nvmet_rdma_rsp *rsp = container_of(req, struct nvmet_rdma_rsp,
						  req);
	struct nvmet_rdma_queue *queue = rsp->queue;

	if (queue->port->all_addrs) {
		/* the host gets all bytes of it */
		memset(traddr, 0, NVMF_TRADDR_SIZE);
		snprintf(traddr, NVMF_TRADDR_SIZE, "%pISc",
			 &queue->cm_id->route.addr.src_addr);
	} else {
		memcpy(traddr, nport->disc_addr.traddr, NVMF_TRADDR_SIZE);
	}
}
