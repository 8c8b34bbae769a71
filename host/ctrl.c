// SPDX-License-Identifier: GPL-2.0
/*
 * Controllers: creation, deletion, and the operations for the core.
 *
 * References: the core counts them in the device of the controller. Creation returns with
 * two references: nvme-fabrics drops one when the creator closes its file, and a deletion
 * drops the other. nvme_rdma_free_ctrl() runs after the last is dropped. A controller is
 * in the list from its creation on, so that a second one for the same subsystem, host and
 * address is rejected at once.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "completion.h"
#include "connect.h"
#include "control.h"
#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "io.h"

static void nvme_rdma_free_ctrl(struct nvme_ctrl *nctrl)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(nctrl);

	/* once it is off the list, module unload continues, after it got the mutex */
	mutex_lock(&nvme_rdma_ctrl_mutex);
	list_del(&ctrl->list);
	if (ctrl->owns_opts)
		nvmf_free_options(nctrl->opts);
	nvme_rdma_free_bounce_reserve(ctrl);
	kvfree(ctrl->queues);
	kfree(ctrl);
	wake_up_all(&nvme_rdma_ctrl_gone);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
}

/*
 * The core has stopped its works and timers while the admin queue was in use. An event, or
 * the log page of an event, may have started them again since, and the core frees the
 * controller without stopping them. So stop them once more, as nothing can start them now.
 * The core does not stop those of ANA if it could not read that log after a reconnect.
 */
static void nvme_rdma_stop_core(struct nvme_ctrl *nctrl)
{
	nvme_stop_ctrl(nctrl);
	nvme_rdma_stop_ana(nctrl);
}

/*
 * Tell user space that the controller is deleted because its RDMA device is removed, so that
 * it can connect it again when the device has returned. The core announces the removal of the
 * controller later. The event carries no secrets: all users may receive it.
 */
static void nvme_rdma_announce_device_removed(struct nvme_rdma_ctrl *ctrl)
{
	char device[sizeof("NVME_RDMA_DEVICE=") + IB_DEVICE_NAME_MAX];
	char *env[3] = { "NVME_RDMA_EVENT=device_removed", device };
	bool removed;

	/* the context that began the deletion has left the mutex, and has set the member */
	mutex_lock(&nvme_rdma_ctrl_mutex);
	removed = ctrl->device_removed;
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	if (!removed)
		return;
	snprintf(device, sizeof(device), "NVME_RDMA_DEVICE=%s", ctrl->queues[0].ibdev_name);
	kobject_uevent_env(&ctrl->ctrl.device->kobj, KOBJ_CHANGE, env);
}

/* The core may reuse the controller's name after this returned */
static void nvme_rdma_delete_ctrl(struct nvme_ctrl *nctrl)
{
	nvme_rdma_announce_device_removed(to_rdma_ctrl(nctrl));
	nvme_rdma_end_reroute(to_rdma_ctrl(nctrl));
	nvme_rdma_shutdown_ctrl(to_rdma_ctrl(nctrl), true);
	nvme_rdma_stop_core(nctrl);
	nvme_rdma_debugfs_remove(to_rdma_ctrl(nctrl));
}

/* Can the device reach memory of another PCI device? */
static bool nvme_rdma_supports_p2p(struct nvme_ctrl *nctrl)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(nctrl);
	bool can = false;

	mutex_lock(&nvme_rdma_ctrl_mutex);
	if (ctrl->device)
		can = ib_dma_pci_p2p_dma_supported(ctrl->device->dev);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	return can;
}

static const struct nvme_ctrl_ops nvme_rdma_ctrl_ops = {
	.name			= "rdma",
	.module			= THIS_MODULE,
	.flags			= NVME_F_FABRICS | NVME_F_METADATA_SUPPORTED,
	.reg_read32		= nvmf_reg_read32,
	.reg_read64		= nvmf_reg_read64,
	.reg_write32		= nvmf_reg_write32,
	.subsystem_reset	= nvme_rdma_subsystem_reset,
	.free_ctrl		= nvme_rdma_free_ctrl,
	.submit_async_event	= nvme_rdma_submit_async_event,
	.delete_ctrl		= nvme_rdma_delete_ctrl,
	.get_address		= nvmf_get_address,
	.stop_ctrl		= nvme_rdma_stop_ctrl,
	.supports_pci_p2pdma	= nvme_rdma_supports_p2p,
	NVME_RDMA_OPS_GET_VIRT_BOUNDARY
};

static void nvme_rdma_name_peer(struct nvme_rdma_ctrl *ctrl)
{
	const struct sockaddr_in6 *in6 = (const void *)&ctrl->addr;

	/* %pIS shows a scope even where there is none */
	snprintf(ctrl->peer, sizeof(ctrl->peer),
		 in6->sin6_family == AF_INET6 && in6->sin6_scope_id ?
		 "%pISpcs" : "%pISpc", &ctrl->addr);
}

static int nvme_rdma_parse_addresses(struct nvme_rdma_ctrl *ctrl,
				     struct nvmf_ctrl_options *opts)
{
	int ret;

	if (!(opts->mask & NVMF_OPT_TRSVCID)) {
		opts->trsvcid = kasprintf(GFP_KERNEL, "%d", NVME_RDMA_DEFAULT_PORT);
		if (!opts->trsvcid)
			return -ENOMEM;
		opts->mask |= NVMF_OPT_TRSVCID;
	}
	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, opts->traddr,
				   opts->trsvcid, &ctrl->addr);
	if (ret) {
		pr_err("invalid traddr \"%s\" or trsvcid \"%s\" (expected an IPv4 or IPv6 address and a port from 0 to 65535)\n",
		       opts->traddr, opts->trsvcid);
		return ret;
	}
	nvme_rdma_name_peer(ctrl);
	if (!(opts->mask & NVMF_OPT_HOST_TRADDR))
		return 0;
	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, opts->host_traddr,
				   NULL, &ctrl->src_addr);
	if (ret)
		pr_err("invalid host_traddr \"%s\" (expected an IPv4 or IPv6 address of this host)\n",
		       opts->host_traddr);
	return ret;
}

/* Add to the list, unless there is such a controller already */
static int nvme_rdma_list_ctrl(struct nvme_rdma_ctrl *ctrl)
{
	struct nvmf_ctrl_options *opts = ctrl->ctrl.opts;
	struct nvme_rdma_ctrl *other;
	int ret = 0;

	mutex_lock(&nvme_rdma_ctrl_mutex);
	if (!opts->duplicate_connect)
		list_for_each_entry(other, &nvme_rdma_ctrl_list, list)
			if (nvmf_ip_options_match(&other->ctrl, opts))
				ret = -EALREADY;
	if (!ret)
		list_add_tail(&ctrl->list, &nvme_rdma_ctrl_list);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	if (ret)
		pr_err("subsystem \"%s\" at %s:%s is already connected; duplicate_connect allows a second connection\n",
		       opts->subsysnqn, opts->traddr, opts->trsvcid);
	return ret;
}

/* The members of a queue that last as long as the controller */
static void nvme_rdma_init_queue(struct nvme_rdma_ctrl *ctrl, u16 qid)
{
	struct nvme_rdma_queue *queue = &ctrl->queues[qid];

	queue->ctrl = ctrl;
	queue->qid = qid;
	queue->state = NVME_RDMA_Q_IDLE;
	spin_lock_init(&queue->sq_lock);
	spin_lock_init(&queue->state_lock);
	mutex_init(&queue->key_lock);
	mutex_init(&queue->stop_lock);
	init_waitqueue_head(&queue->state_wait);
	nvme_rdma_init_unsignaled(queue);
	nvme_rdma_init_drain(queue);
	nvme_rdma_init_mrs(queue);
	nvme_rdma_init_queue_work(queue);
}

static struct nvme_rdma_ctrl *nvme_rdma_alloc_ctrl(struct nvmf_ctrl_options *opts)
{
	struct nvme_rdma_ctrl *ctrl;
	int i, ret;

	ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);
	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&ctrl->list);
	INIT_LIST_HEAD(&ctrl->request_queues);
	spin_lock_init(&ctrl->quiesce_lock);
	ctrl->ctrl.opts = opts;
	/* the core limits the number of the first kind only */
	opts->nr_write_queues = min(opts->nr_write_queues, num_possible_cpus());
	opts->nr_poll_queues = min(opts->nr_poll_queues, num_possible_cpus());
	ctrl->ctrl.queue_count = nvme_rdma_most_queues(opts);
	ctrl->ctrl.sqsize = opts->queue_size - 1;
	ctrl->ctrl.kato = opts->kato;

	ret = nvme_rdma_parse_addresses(ctrl, opts);
	if (ret)
		goto err_free_ctrl;
	ctrl->queues = kvcalloc(ctrl->ctrl.queue_count, sizeof(*ctrl->queues),
				GFP_KERNEL);
	if (!ctrl->queues) {
		ret = -ENOMEM;
		goto err_free_ctrl;
	}
	for (i = 0; i < ctrl->ctrl.queue_count; i++)
		nvme_rdma_init_queue(ctrl, i);
	nvme_rdma_init_recovery(ctrl);
	nvme_rdma_init_reroute(ctrl);
	return ctrl;

err_free_ctrl:
	kfree(ctrl);
	return ERR_PTR(ret);
}

/*
 * The errno for the creator of a controller, from the NVMe status of the Connect command.
 * The core has logged the status.
 */
static int nvme_rdma_status_errno(int status)
{
	if (status <= 0)
		return status;
	switch (status & 0x7ff) {
	case NVME_SC_CONNECT_INVALID_HOST:
		return -EACCES;
	case NVME_SC_CONNECT_INVALID_PARAM:
		return -EINVAL;
	case NVME_SC_CONNECT_CTRL_BUSY:
		return -EBUSY;
	case NVME_SC_AUTH_REQUIRED:
		return -EKEYREJECTED;
	default:
		return -EIO;
	}
}

/* From here on any context may delete the controller, and the driver owns the options */
static void nvme_rdma_publish_ctrl(struct nvme_rdma_ctrl *ctrl)
{
	mutex_lock(&nvme_rdma_ctrl_mutex);
	WRITE_ONCE(ctrl->owns_opts, true);
	if (ctrl->device && nvme_rdma_device_removing(ctrl->device) &&
	    !nvme_delete_ctrl(&ctrl->ctrl))
		ctrl->device_removed = true;
	mutex_unlock(&nvme_rdma_ctrl_mutex);
}

/**
 * nvme_rdma_create_ctrl() - connect to a subsystem
 * @dev: the fabrics device
 * @opts: options of the user; the caller owns them again if this fails
 *
 * Context: process, in a write to /dev/nvme-fabrics.
 * Return: the controller, or ERR_PTR with a negative errno: -EALREADY, -EINVAL
 * for a bad address or NQN, -ECONNREFUSED, -ETIMEDOUT, -EACCES for a host that
 * is not allowed, and others as the log says.
 */
struct nvme_ctrl *nvme_rdma_create_ctrl(struct device *dev,
					struct nvmf_ctrl_options *opts)
{
	struct nvme_rdma_ctrl *ctrl;
	int ret;

	ctrl = nvme_rdma_alloc_ctrl(opts);
	if (IS_ERR(ctrl))
		return ERR_CAST(ctrl);
	ret = nvme_init_ctrl(&ctrl->ctrl, dev, &nvme_rdma_ctrl_ops, 0);
	if (ret)
		goto err_free_ctrl;
	ret = nvme_add_ctrl(&ctrl->ctrl);
	if (ret)
		goto err_put_ctrl;
	nvme_change_ctrl_state(&ctrl->ctrl, NVME_CTRL_CONNECTING);
	/* a reset before that does nothing */
	flush_work(&ctrl->ctrl.reset_work);
	ret = nvme_rdma_list_ctrl(ctrl);
	if (ret)
		goto err_uninit_ctrl;
	nvme_rdma_debugfs_add(ctrl);
	ret = nvme_rdma_setup_ctrl(ctrl, true);
	if (ret)
		goto err_unlist_ctrl;

	dev_info(ctrl->ctrl.device,
		 "new ctrl: NQN \"%s\", addr %s, hostnqn: %s, %u I/O queues of %u\n",
		 nvmf_ctrl_subsysnqn(&ctrl->ctrl), ctrl->peer, opts->host->nqn,
		 ctrl->ctrl.queue_count - 1, ctrl->ctrl.sqsize + 1);
	nvme_rdma_publish_ctrl(ctrl);
	return &ctrl->ctrl;

err_unlist_ctrl:
	nvme_rdma_debugfs_remove(ctrl);
	mutex_lock(&nvme_rdma_ctrl_mutex);
	list_del_init(&ctrl->list);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
err_uninit_ctrl:
	/* a reset before that has started the work of fast_io_fail_tmo */
	nvme_stop_ctrl(&ctrl->ctrl);
	nvme_uninit_ctrl(&ctrl->ctrl);
err_put_ctrl:
	nvme_put_ctrl(&ctrl->ctrl);
	/* all is undone: a signal as SIGCHLD restarts the write */
	if (ret == -EINTR && signal_pending(current))
		return ERR_PTR(-ERESTARTSYS);
	return ERR_PTR(nvme_rdma_status_errno(ret));

err_free_ctrl:
	kvfree(ctrl->queues);
	kfree(ctrl);
	return ERR_PTR(ret);
}
