// SPDX-License-Identifier: GPL-2.0
/*
 * nvmet-rdma: the RDMA transport of the kernel's NVMe target.
 *
 * Registers with the core, which calls nvmet_rdma_ops, and with the RDMA stack, which reports
 * devices.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/module.h>

#include "connection.h"
#include "debugfs.h"
#include "io.h"
#include "listen.h"
#include "params.h"
#include "peer.h"
#include "send.h"
#include "thread.h"
#include "wq.h"

/* Data segments of an SGL that a command may have: the one in the command */
#define NVMET_RDMA_MSDBD	1

static u8 nvmet_rdma_get_mdts(const struct nvmet_ctrl *ctrl)
{
	return ctrl->pi_support ? NVMET_RDMA_PI_MDTS : NVMET_RDMA_MDTS;
}

/* CAP.MQES: what the port says, and what every device can do */
static u16 nvmet_rdma_get_max_queue_size(const struct nvmet_ctrl *ctrl)
{
	int port_says = nvmet_rdma_port_max_queue_size(ctrl->port);
	u32 most = nvmet_rdma_devices_depth_limit();

	if (ctrl->pi_support)
		most = min_t(u32, most, NVME_RDMA_MAX_METADATA_QUEUE_SIZE);
	return min_t(u32, port_says > 0 ? port_says : NVMET_RDMA_DEFAULT_DEPTH,
		     most);
}

static ssize_t __maybe_unused
nvmet_rdma_host_traddr(struct nvmet_ctrl *ctrl, char *traddr, size_t traddr_len)
{
	return nvmet_rdma_ctrl_peer(ctrl, traddr, traddr_len);
}

static const struct nvmet_fabrics_ops nvmet_rdma_ops = {
	.owner			= THIS_MODULE,
	.type			= NVMF_TRTYPE_RDMA,
	.msdbd			= NVMET_RDMA_MSDBD,
	.flags			= NVMF_KEYED_SGLS | NVMF_METADATA_SUPPORTED,
	.add_port		= nvmet_rdma_add_port,
	.remove_port		= nvmet_rdma_remove_port,
	.queue_response		= nvmet_rdma_queue_response,
	.install_queue		= nvmet_rdma_install_queue,
	.delete_ctrl		= nvmet_rdma_delete_ctrl,
	.disc_traddr		= nvmet_rdma_disc_traddr,
	.get_mdts		= nvmet_rdma_get_mdts,
	.get_max_queue_size	= nvmet_rdma_get_max_queue_size,
	NVMET_RDMA_OPS_HOST_TRADDR(nvmet_rdma_host_traddr)
};

static const struct nvmet_rdma_device_ops device_ops = {
	.appeared	= nvmet_rdma_listen_wake,
	.disconnect	= nvmet_rdma_disconnect_device,
	.threads	= nvmet_rdma_threads,
};

static int __init nvmet_rdma_init(void)
{
	int ret;

	nvmet_rdma_core_ops = &nvmet_rdma_ops;
	nvmet_rdma_hash_init();
	nvmet_rdma_debugfs_init();
	ret = nvmet_rdma_wqs_register();
	if (ret)
		goto err_debugfs;
	ret = nvmet_rdma_buffers_register();
	if (ret)
		goto err_wqs;
	ret = nvmet_rdma_devices_register(&device_ops);
	if (ret)
		goto err_buffers;
	ret = nvmet_rdma_listen_register();
	if (ret)
		goto err_devices;
	ret = nvmet_register_transport(&nvmet_rdma_ops);
	if (ret)
		goto err_listen;
	nvmet_rdma_stall_register();
	return 0;

err_listen:
	nvmet_rdma_listen_unregister();
err_devices:
	nvmet_rdma_devices_unregister();
err_buffers:
	nvmet_rdma_buffers_unregister();
err_wqs:
	nvmet_rdma_wqs_unregister();
err_debugfs:
	nvmet_rdma_debugfs_exit();
	return ret;
}

/*
 * No port is left: each holds a reference of the module. Queues of removed ports
 * may be, until their devices are gone; then their work is, and with the core's
 * workqueue the last that waited for them.
 */
static void __exit nvmet_rdma_exit(void)
{
	nvmet_unregister_transport(&nvmet_rdma_ops);
	nvmet_rdma_stall_unregister();
	nvmet_rdma_listen_unregister();
	nvmet_rdma_devices_unregister();
	nvmet_rdma_buffers_unregister();
	nvmet_rdma_wqs_unregister();
	flush_workqueue(nvmet_wq);
	nvmet_rdma_debugfs_exit();
}

module_init(nvmet_rdma_init);
module_exit(nvmet_rdma_exit);

MODULE_DESCRIPTION("NVMe over RDMA target");
MODULE_AUTHOR("nvme-rdma contributors");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVME_RDMA_VERSION);
MODULE_ALIAS("nvmet-transport-1"); /* NVMF_TRTYPE_RDMA */
