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
 * The listener goes with its RDMA device, and moves with its address. Then the
 * port tries every few seconds to listen again.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/inet.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "nvmet_rdma.h"

/* Connection requests that the CM may hold: a host with all its queues */
#define LISTEN_BACKLOG		NVMET_RDMA_MAX_QID
#define LISTEN_AGAIN_SECS	5
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

/* Waits for the listener's handler: no queue comes by it after this */
static void nvmet_rdma_port_end_listener(struct nvmet_rdma_port *port)
{
	struct rdma_cm_id *id;

	lockdep_assert_held(&port->listen_lock);
	mutex_lock(&port->lock);
	id = port->listener;
	port->listener = NULL;
	mutex_unlock(&port->lock);
	if (id)
		rdma_destroy_id(id);
}

static void nvmet_rdma_port_explain(const struct nvmet_rdma_port *port,
				    int error)
{
	const void *addr = &port->addr;

	switch (error) {
	case -ENODEV:
		pr_err("port %u: expected an RDMA device behind %pISpc, there is none (error %d); see \"rdma link show\" and \"ip address\"\n",
		       port->portid, addr, error);
		break;
	case -EADDRNOTAVAIL:
		pr_err("port %u: %pISpc is no address of this machine (error %d); see \"ip address\"\n",
		       port->portid, addr, error);
		break;
	case -EADDRINUSE:
		pr_err("port %u: %pISpc is taken by another listener (error %d); choose another addr_trsvcid\n",
		       port->portid, addr, error);
		break;
	default:
		pr_err("port %u: cannot listen at %pISpc (error %d)\n",
		       port->portid, addr, error);
	}
}

static int nvmet_rdma_port_listen(struct nvmet_rdma_port *port)
{
	struct rdma_cm_id *id;
	bool removing;
	int ret;

	lockdep_assert_held(&port->listen_lock);
	id = rdma_create_id(&init_net, nvmet_rdma_listen_event, port,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);

	/* Known before it can have events */
	mutex_lock(&port->lock);
	removing = port->removing;
	port->listener = id;
	mutex_unlock(&port->lock);
	ret = -ESHUTDOWN;
	if (removing)
		goto err_end_listener;

	/* An IPv6 listener leaves the IPv4 port of the same number alone */
	ret = rdma_set_afonly(id, 1);
	if (!ret)
		ret = rdma_bind_addr(id, (struct sockaddr *)&port->addr);
	if (!ret)
		ret = rdma_listen(id, LISTEN_BACKLOG);
	if (!ret)
		return 0;

err_end_listener:
	nvmet_rdma_port_end_listener(port);
	return ret;
}

static void nvmet_rdma_port_listen_work(struct work_struct *work)
{
	struct nvmet_rdma_port *port =
		container_of(to_delayed_work(work), struct nvmet_rdma_port,
			     listen_work);
	int ret;

	mutex_lock(&port->listen_lock);
	nvmet_rdma_port_end_listener(port);
	ret = nvmet_rdma_port_listen(port);
	mutex_unlock(&port->listen_lock);
	if (!ret)
		pr_info("port %u: listening at %pISpc again\n", port->portid,
			&port->addr);
	else if (ret != -ESHUTDOWN)
		schedule_delayed_work(&port->listen_work,
				      LISTEN_AGAIN_SECS * HZ);
}

/**
 * nvmet_rdma_port_listen_again() - the address of a port has moved
 * @port: the port
 *
 * Context: any.
 */
void nvmet_rdma_port_listen_again(struct nvmet_rdma_port *port)
{
	mutex_lock(&port->lock);
	if (!port->removing)
		mod_delayed_work(system_wq, &port->listen_work, 0);
	mutex_unlock(&port->lock);
}

/**
 * nvmet_rdma_port_lost_listener() - the device of a listener is being removed
 * @port: the port
 * @id: the ID that the CM tells of
 *
 * The CM waits for the ID to be destroyed, which is the work's to do: it must
 * not be destroyed under somebody who is about to listen by it. The parts that a
 * port on all addresses has on each device are the CM's own business.
 *
 * Context: the handler of @id; may sleep.
 */
void nvmet_rdma_port_lost_listener(struct nvmet_rdma_port *port,
				   struct rdma_cm_id *id)
{
	mutex_lock(&port->lock);
	if (port->listener == id && !port->removing) {
		pr_warn("port %u: the RDMA device behind %pISpc is being removed; trying every %u seconds to listen again\n",
			port->portid, &port->addr, LISTEN_AGAIN_SECS);
		mod_delayed_work(system_wq, &port->listen_work, 0);
	}
	mutex_unlock(&port->lock);
}

static int nvmet_rdma_port_parse_addr(struct nvmet_rdma_port *port,
				      const struct nvmf_disc_rsp_page_entry *addr)
{
	__kernel_sa_family_t family;
	u16 number;
	int ret;

	switch (addr->adrfam) {
	case NVMF_ADDR_FAMILY_IP4:
		family = AF_INET;
		break;
	case NVMF_ADDR_FAMILY_IP6:
		family = AF_INET6;
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

	ret = inet_pton_with_scope(&init_net, family, addr->traddr,
				   addr->trsvcid, &port->addr);
	if (ret)
		pr_err("port %u: expected addr_traddr to be an %s address, \"%.*s\" came\n",
		       port->portid, family == AF_INET ? "IPv4" : "IPv6",
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

/* For good: who would listen again sees removing, or is cancelled */
static void nvmet_rdma_port_stop_listening(struct nvmet_rdma_port *port)
{
	mutex_lock(&port->lock);
	port->removing = true;
	mutex_unlock(&port->lock);
	cancel_delayed_work_sync(&port->listen_work);

	mutex_lock(&port->listen_lock);
	nvmet_rdma_port_end_listener(port);
	mutex_unlock(&port->listen_lock);
}

/**
 * nvmet_rdma_add_port() - enable a port (nvmet_fabrics_ops.add_port)
 * @nport: the core's port
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
	mutex_init(&port->lock);
	mutex_init(&port->listen_lock);
	init_waitqueue_head(&port->gone);
	INIT_DELAYED_WORK(&port->listen_work, nvmet_rdma_port_listen_work);
	INIT_WORK(&port->reap_work, nvmet_rdma_port_reap_work);
	port->nport = nport;
	port->portid = le16_to_cpu(nport->disc_addr.portid);

	ret = nvmet_rdma_port_parse_addr(port, &nport->disc_addr);
	if (!ret)
		ret = nvmet_rdma_port_parse_sizes(port, nport);
	if (ret)
		goto err_put_port;

	/* Before the first host can come and read them */
	nport->priv = port;
	nport->inline_data_size = port->icd;
	nvmet_rdma_port_set_max_queue_size(nport, port->depth);

	mutex_lock(&port->listen_lock);
	ret = nvmet_rdma_port_listen(port);
	mutex_unlock(&port->listen_lock);
	if (ret) {
		nvmet_rdma_port_explain(port, ret);
		nport->priv = NULL;
		goto err_stop_work;
	}
	pr_info("port %u: listening at %pISpc, %u bytes of in-capsule data, %u commands a queue\n",
		port->portid, &port->addr, port->icd, port->depth);
	return 0;

err_stop_work:
	/* a listener that was there for a moment may have queued it */
	nvmet_rdma_port_stop_listening(port);
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

	nvmet_rdma_port_stop_listening(port);
	nvmet_rdma_disconnect_port(port);
	wait_event_timeout(port->gone, !atomic_read(&port->queues),
			   REMOVE_WAIT_SECS * HZ);

	nport->priv = NULL;
	/* Its reference goes to the work, which the core waits for */
	queue_work(nvmet_wq, &port->reap_work);
}

static bool nvmet_rdma_is_any_addr(const struct sockaddr_storage *addr)
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

	if (nvmet_rdma_is_any_addr(&queue->port->addr))
		snprintf(traddr, NVMF_TRADDR_SIZE, "%pISc",
			 &queue->cm_id->route.addr.src_addr);
	else
		memcpy(traddr, nport->disc_addr.traddr, NVMF_TRADDR_SIZE);
}
