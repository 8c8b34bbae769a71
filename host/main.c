// SPDX-License-Identifier: GPL-2.0
/*
 * NVMe over RDMA host: module, parameters and registration.
 *
 * The way of a command through the files: io.c takes it from blk-mq, map.c
 * decides how its data travels, capsule.c builds the capsule and its work
 * requests, post.c hands them to the device, completion.c takes what comes
 * back, io.c completes.
 *
 * The way of a connection: ctrl.c creates a controller, connect.c brings its
 * queues up and down, queues.c many of them side by side, queue.c each of them;
 * cm.c connects one, ib.c makes its verbs resources, drain.c ends their use,
 * abort.c sees to commands without an answer, recovery.c brings a lost
 * controller back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

#include "number.h"
#include "nvme_rdma.h"

bool nvme_rdma_register_always = true;
module_param_named(register_always, nvme_rdma_register_always, bool, 0444);
MODULE_PARM_DESC(register_always,
		 "Register memory for every transfer (default: Y). N exposes all of memory to every connected controller for the sake of contiguous transfers");

bool nvme_rdma_remote_invalidate = true;
module_param_named(remote_invalidate, nvme_rdma_remote_invalidate, bool, 0444);
MODULE_PARM_DESC(remote_invalidate,
		 "Ask controllers to invalidate the key of a transfer with their response (default: Y). N does it here, at the cost of one more work request for each transfer");

bool nvme_rdma_t10_pi = true;
module_param_named(t10_pi, nvme_rdma_t10_pi, bool, 0444);
MODULE_PARM_DESC(t10_pi,
		 "Have the RDMA device check and make T10 protection information, where it can (default: Y). N leaves that to the disk, and makes half as many memory regions");

unsigned int nvme_rdma_resolve_tmo = 3;
nvme_rdma_number_param(resolve_tmo, nvme_rdma_resolve_tmo, 1, 60);
MODULE_PARM_DESC(resolve_tmo,
		 "Seconds that the resolution of an address may take, and again that of a route, 1 to 60 (default: 3)");

unsigned int nvme_rdma_connect_tmo = 10;
nvme_rdma_number_param(connect_tmo, nvme_rdma_connect_tmo, 1, 60);
MODULE_PARM_DESC(connect_tmo,
		 "Seconds from the request for a queue's RDMA connection to its answer, 1 to 60 (default: 10)");

unsigned int nvme_rdma_fabrics_tmo = 15;
nvme_rdma_number_param(fabrics_tmo, nvme_rdma_fabrics_tmo, 1, 60);
MODULE_PARM_DESC(fabrics_tmo,
		 "Seconds that Connect, each command before a controller is live and each to shut it down may take, 1 to 60 (default: 15)");

/* A five-bit code; see the InfiniBand specification, "RNR NAK timer field" */
unsigned int nvme_rdma_min_rnr_timer = 12;
nvme_rdma_number_param(min_rnr_timer, nvme_rdma_min_rnr_timer, 0, 31);
MODULE_PARM_DESC(min_rnr_timer,
		 "Time that a controller waits when it found no receive here, in InfiniBand's code: 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms, 0 is 655.36 ms (default: 12)");

/* A five-bit exponent */
unsigned int nvme_rdma_ack_timeout;
nvme_rdma_number_param(ack_timeout, nvme_rdma_ack_timeout, 0, 31);
MODULE_PARM_DESC(ack_timeout,
		 "Time until a packet that is not acknowledged is sent again, 7 times: 4.096 us * 2^N, 1 to 31; 0 (default) is what the subnet manager says, and 17, 0.54 s, on Ethernet");

/* All controllers from creation until they are freed or creation failed */
LIST_HEAD(nvme_rdma_ctrl_list);

/* Protects nvme_rdma_ctrl_list and the members device and owns_opts of each */
DEFINE_MUTEX(nvme_rdma_ctrl_mutex);

/* Woken when a controller leaves the list */
DECLARE_WAIT_QUEUE_HEAD(nvme_rdma_ctrl_gone);

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
	nvme_rdma_observe_init();
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
	nvme_rdma_observe_exit();
	nvme_rdma_free_wqs();
	return ret;
}

/*
 * No controller is being created any more: its creator would hold a reference
 * to this module. Unregistering the client deletes the controllers that have
 * queues; those between two attempts to reconnect have no device and are left
 * for the loop. A deletion stops recovery and reconnect work first. A controller
 * leaves the list when its last reference went; that may be held by a file that
 * its creator still has open, and nothing but waiting helps then.
 */
static void __exit nvme_rdma_exit(void)
{
	struct nvme_rdma_ctrl *ctrl;

	nvmf_unregister_transport(&nvme_rdma_transport);
	ib_unregister_client(&nvme_rdma_ib_client);

	mutex_lock(&nvme_rdma_ctrl_mutex);
	list_for_each_entry(ctrl, &nvme_rdma_ctrl_list, list)
		nvme_delete_ctrl(&ctrl->ctrl);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	wait_event(nvme_rdma_ctrl_gone, list_empty(&nvme_rdma_ctrl_list));
	/* who took the last one off, and freed it, has left the mutex, too */
	mutex_lock(&nvme_rdma_ctrl_mutex);
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	flush_workqueue(nvme_delete_wq);
	nvme_rdma_observe_exit();
	nvme_rdma_free_wqs();
}

module_init(nvme_rdma_init);
module_exit(nvme_rdma_exit);

MODULE_DESCRIPTION("NVMe over RDMA host");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVME_RDMA_VERSION);
