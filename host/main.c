// SPDX-License-Identifier: GPL-2.0
/*
 * NVMe over RDMA host: registration of the module.
 *
 * The path of a command through the files: io.c takes it from blk-mq, map.c
 * chooses how its data travels, capsule.c describes the data in the command,
 * io.c builds the SEND, post.c posts the work requests to the device,
 * completion.c handles the work completions and recv.c the response, request.c
 * completes the request.
 *
 * The path of a connection: ctrl.c creates a controller, connect.c brings its
 * queues up and teardown.c takes them down, jobs.c does so for many queues side
 * by side, queue.c for each of them. cm.c connects a queue, qp.c makes its verbs
 * resources, drain.c ends their use. error.c starts recovery, recovery.c
 * reconnects a lost controller, abort.c handles commands that time out.
 *
 * The file "layers" lists which file may use which.
 */
#include <linux/module.h>

#include "control.h"
#include "ctrl.h"
#include "device.h"
#include "wq.h"

static struct nvmf_transport_ops nvme_rdma_transport = {
	.name		= "rdma",
	.module		= THIS_MODULE,
	.required_opts	= NVMF_OPT_TRADDR,
	.allowed_opts	= NVMF_OPT_TRSVCID | NVMF_OPT_RECONNECT_DELAY |
			  NVMF_OPT_HOST_TRADDR | NVMF_OPT_HOST_IFACE |
			  NVMF_OPT_CTRL_LOSS_TMO |
			  NVMF_OPT_NR_WRITE_QUEUES | NVMF_OPT_NR_POLL_QUEUES |
			  NVMF_OPT_TOS,
	.create_ctrl	= nvme_rdma_create_ctrl,
};

static int nvme_rdma_client_add(struct ib_device *ibdev)
{
	return nvme_rdma_add_device(ibdev);
}

static void nvme_rdma_client_remove(struct ib_device *ibdev, void *client_data)
{
	nvme_rdma_remove_device(ibdev);
}

static struct ib_client nvme_rdma_ib_client = {
	.name	= "nvme_rdma",
	.add	= nvme_rdma_client_add,
	.remove	= nvme_rdma_client_remove,
};

static int __init nvme_rdma_init(void)
{
	int ret;

	ret = nvme_rdma_alloc_wqs();
	if (ret)
		return ret;
	nvme_rdma_debugfs_init();
	ret = ib_register_client(&nvme_rdma_ib_client);
	if (ret)
		goto err_free_wq;
	ret = nvmf_register_transport(&nvme_rdma_transport);
	if (ret)
		goto err_unregister_client;
	return 0;

err_unregister_client:
	ib_unregister_client(&nvme_rdma_ib_client);
err_free_wq:
	nvme_rdma_debugfs_exit();
	nvme_rdma_free_wqs();
	return ret;
}

/*
 * No controller is being created any more: its creator would hold a reference to this
 * module. The loop deletes all controllers before the client is unregistered, so that the
 * removal of the client from a device does not count as the removal of the device. The
 * unregistration fails the queues that are left, and waits for their end. A
 * deletion stops recovery and reconnect work first. A controller leaves the list with
 * its last reference, which a file that its creator still has open may hold; then this
 * waits.
 */
static void __exit nvme_rdma_exit(void)
{
	struct nvme_rdma_ctrl *ctrl;

	nvmf_unregister_transport(&nvme_rdma_transport);

	mutex_lock(&nvme_rdma_ctrl_mutex);
	list_for_each_entry(ctrl, &nvme_rdma_ctrl_list, list)
		nvme_delete_ctrl(&ctrl->ctrl);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	ib_unregister_client(&nvme_rdma_ib_client);
	wait_event(nvme_rdma_ctrl_gone, list_empty(&nvme_rdma_ctrl_list));
	/* the context that freed the last one has left the mutex, too */
	mutex_lock(&nvme_rdma_ctrl_mutex);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	flush_workqueue(nvme_delete_wq);
	nvme_rdma_debugfs_exit();
	nvme_rdma_free_wqs();
}

module_init(nvme_rdma_init);
module_exit(nvme_rdma_exit);

MODULE_DESCRIPTION("NVMe over RDMA host");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVME_RDMA_VERSION);
