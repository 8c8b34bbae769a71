// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices.
 *
 * A device is in the list from the RDMA core's add to its remove, used or not. Its users
 * are queues, and controllers that have an admin queue. Devices are compared by pointer:
 * rxe and siw derive their GUID from the MAC address of the network interface, and these
 * GUIDs collide.
 *
 * Removal: the device is marked as removing, which bars new users. The controllers that
 * use it are deleted. Its queues are marked as failed, so that neither a deletion nor an
 * attempt to connect waits for a peer. Then the caller waits until the users are gone.
 *
 * A device that failed reports that, and completes nothing any more. Its queues are
 * marked as failed at once, as commands would time out only after 30 s. Its driver may
 * reset the device, or remove it.
 */
#include <linux/slab.h>
#include <linux/wait.h>

#include "common/device_limit.h"
#include "ctrl.h"
#include "device.h"
#include "dma.h"
#include "error.h"
#include "wq.h"

static LIST_HEAD(nvme_rdma_devices);

/* Protects nvme_rdma_devices and users, queues and removing of each of them */
static DEFINE_MUTEX(nvme_rdma_devices_mutex);

static DECLARE_WAIT_QUEUE_HEAD(nvme_rdma_device_unused);

static struct nvme_rdma_device *nvme_rdma_find_device(struct ib_device *ibdev)
{
	struct nvme_rdma_device *ndev;

	lockdep_assert_held(&nvme_rdma_devices_mutex);
	list_for_each_entry(ndev, &nvme_rdma_devices, entry)
		if (ndev->dev == ibdev)
			return ndev;
	return NULL;
}

static void nvme_rdma_break_queues(struct nvme_rdma_device *ndev, int error)
{
	struct nvme_rdma_queue *queue;

	mutex_lock(&nvme_rdma_devices_mutex);
	list_for_each_entry(queue, &ndev->queues, device_entry)
		nvme_rdma_break_queue(queue, error);
	mutex_unlock(&nvme_rdma_devices_mutex);
}

/* Called in a work of the RDMA core */
static void nvme_rdma_device_event(struct ib_event_handler *handler,
				   struct ib_event *event)
{
	struct nvme_rdma_device *ndev =
		container_of(handler, struct nvme_rdma_device, events);

	if (event->event != IB_EVENT_DEVICE_FATAL)
		return;
	dev_err(&ndev->dev->dev,
		"nvme_rdma: the device has failed; ending its connections, see its driver's messages\n");
	nvme_rdma_break_queues(ndev, -EIO);
}

/* Work requests and completions of a queue besides those of its commands */
#define NVME_RDMA_SPARE_SLOTS	(NVME_RDMA_SIGNAL_EVERY_MAX + 2 + \
				 2 * NVME_RDMA_DRAIN_SLOTS + NVME_RDMA_RECV_CHAIN)

/*
 * Commands that a queue may have outstanding, 0 if not even one fits. What
 * nvme_rdma_sq_slots() and nvme_rdma_create_cq() ask for must fit.
 */
static unsigned int nvme_rdma_max_depth(const struct ib_device_attr *attrs)
{
	u32 depth;

	depth = min(nvme_rdma_limit_less(attrs->max_qp_wr, NVME_RDMA_SPARE_SLOTS) /
		    NVME_RDMA_SLOTS_PER_COMMAND,
		    nvme_rdma_limit_less(attrs->max_cqe, NVME_RDMA_SPARE_SLOTS) /
		    (NVME_RDMA_SLOTS_PER_COMMAND + 1));
	return min_t(u32, depth, NVME_RDMA_MAX_DEPTH);
}

/*
 * Pages of data, and again of metadata, that one integrity MR maps; 0 if the device
 * does no signature offload.
 */
static unsigned int nvme_rdma_device_pi_pages(const struct ib_device *ibdev)
{
	if (!(ibdev->attrs.kernel_cap_flags & IBK_INTEGRITY_HANDOVER))
		return 0;
	return min_t(unsigned int, NVME_RDMA_MAX_MR_PAGES,
		     ibdev->attrs.max_pi_fast_reg_page_list_len);
}

/**
 * nvme_rdma_add_device() - add a device of the RDMA core
 * @ibdev: the device
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_add_device(struct ib_device *ibdev)
{
	const struct ib_device_attr *attrs = &ibdev->attrs;
	struct nvme_rdma_device *ndev;

	ndev = kzalloc_node(sizeof(*ndev), GFP_KERNEL, ibdev_to_node(ibdev));
	if (!ndev)
		return -ENOMEM;
	ndev->dev = ibdev;
	INIT_LIST_HEAD(&ndev->queues);
	ndev->max_depth = nvme_rdma_max_depth(attrs);
	ndev->pi_pages = nvme_rdma_device_pi_pages(ibdev);
	/* such regions cost more, and are needed only for bounced data, see bounce.c */
	ndev->mr_type = nvme_rdma_max_mapping(ibdev) != SIZE_MAX &&
			attrs->kernel_cap_flags & IBK_SG_GAPS_REG ?
			IB_MR_TYPE_SG_GAPS : IB_MR_TYPE_MEM_REG;
	ndev->max_inline_segments =
		min_t(u32, nvme_rdma_limit_less(attrs->max_send_sge, 1),
		      NVME_RDMA_MAX_INLINE_SEGMENTS);
	/*
	 * A transfer that starts inside a page touches one page more than
	 * its length says.
	 */
	ndev->max_mr_pages = min_t(u32, NVME_RDMA_MAX_MR_PAGES,
				   nvme_rdma_limit_less(attrs->max_fast_reg_page_list_len, 1));

	mutex_lock(&nvme_rdma_devices_mutex);
	list_add_tail(&ndev->entry, &nvme_rdma_devices);
	mutex_unlock(&nvme_rdma_devices_mutex);

	INIT_IB_EVENT_HANDLER(&ndev->events, ibdev, nvme_rdma_device_event);
	ib_register_event_handler(&ndev->events);
	return 0;
}

/* Can the device carry an admin queue? */
static int nvme_rdma_check_device(const struct nvme_rdma_device *ndev)
{
	const struct ib_device_attr *attrs = &ndev->dev->attrs;

	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		dev_err(&ndev->dev->dev,
			"nvme_rdma: the device cannot register memory through its send queue (no memory management extensions); it cannot carry NVMe/RDMA\n");
		return -EOPNOTSUPP;
	}
	if (ndev->max_depth < NVME_AQ_DEPTH) {
		dev_err(&ndev->dev->dev,
			"nvme_rdma: the device's queues are too short for NVMe/RDMA: %u work requests (max_qp_wr, expected %u or more), %u completions (max_cqe, expected %u or more)\n",
			attrs->max_qp_wr,
			NVME_AQ_DEPTH * NVME_RDMA_SLOTS_PER_COMMAND + NVME_RDMA_SPARE_SLOTS,
			attrs->max_cqe,
			NVME_AQ_DEPTH * (NVME_RDMA_SLOTS_PER_COMMAND + 1) + NVME_RDMA_SPARE_SLOTS);
		return -EOPNOTSUPP;
	}
	if (!ndev->max_mr_pages) {
		dev_err(&ndev->dev->dev,
			"nvme_rdma: the device's memory regions have %u pages (max_fast_reg_page_list_len, expected 2 or more)\n",
			attrs->max_fast_reg_page_list_len);
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * nvme_rdma_get_device() - make a queue a user of the device of its CM ID
 * @queue: the queue
 *
 * Context: process.
 * Return: 0, or a negative errno: -ENODEV while the device is being removed,
 * -EOPNOTSUPP if it cannot carry NVMe/RDMA, -ENOMEM.
 */
int nvme_rdma_get_device(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_device *ndev;
	int ret = 0;

	mutex_lock(&nvme_rdma_devices_mutex);
	ndev = nvme_rdma_find_device(queue->cm_id->device);
	if (!ndev || ndev->removing)
		ret = -ENODEV;
	else
		ret = nvme_rdma_check_device(ndev);
	/* kept until the device is removed: its last user may be a job in one of them */
	if (!ret && !ndev->up_wq)
		ret = nvme_rdma_alloc_device_wqs(ndev);
	if (!ret) {
		ndev->users++;
		list_add_tail(&queue->device_entry, &ndev->queues);
		queue->device = ndev;
	}
	mutex_unlock(&nvme_rdma_devices_mutex);
	return ret;
}

static void nvme_rdma_put_device_locked(struct nvme_rdma_device *ndev)
{
	lockdep_assert_held(&nvme_rdma_devices_mutex);
	if (!--ndev->users)
		wake_up_all(&nvme_rdma_device_unused);
}

/**
 * nvme_rdma_release_device() - undo nvme_rdma_get_device()
 * @queue: the queue; the device may be freed when this returns
 *
 * Context: process.
 */
void nvme_rdma_release_device(struct nvme_rdma_queue *queue)
{
	mutex_lock(&nvme_rdma_devices_mutex);
	list_del(&queue->device_entry);
	nvme_rdma_put_device_locked(queue->device);
	mutex_unlock(&nvme_rdma_devices_mutex);
	queue->device = NULL;
}

/* Add a user to a device, of which the caller is a user */
static void nvme_rdma_hold_device(struct nvme_rdma_device *ndev)
{
	mutex_lock(&nvme_rdma_devices_mutex);
	ndev->users++;
	mutex_unlock(&nvme_rdma_devices_mutex);
}

/* Undo nvme_rdma_hold_device(); the device may be freed when this returns */
static void nvme_rdma_put_device(struct nvme_rdma_device *ndev)
{
	mutex_lock(&nvme_rdma_devices_mutex);
	nvme_rdma_put_device_locked(ndev);
	mutex_unlock(&nvme_rdma_devices_mutex);
}

/**
 * nvme_rdma_set_device() - set the device of a controller
 * @ctrl: the controller
 * @ndev: the device of the admin queue, which exists; NULL when that queue ends
 *
 * Context: process.
 */
void nvme_rdma_set_device(struct nvme_rdma_ctrl *ctrl,
			  struct nvme_rdma_device *ndev)
{
	struct nvme_rdma_device *old;

	if (ndev)
		nvme_rdma_hold_device(ndev);
	mutex_lock(&nvme_rdma_ctrl_mutex);
	old = ctrl->device;
	ctrl->device = ndev;
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	if (old)
		nvme_rdma_put_device(old);
}

/**
 * nvme_rdma_device_removing() - has the removal of a device begun?
 * @ndev: the device, of which the caller is a user
 *
 * Context: process.
 */
bool nvme_rdma_device_removing(struct nvme_rdma_device *ndev)
{
	bool removing;

	mutex_lock(&nvme_rdma_devices_mutex);
	removing = ndev->removing;
	mutex_unlock(&nvme_rdma_devices_mutex);
	return removing;
}

/**
 * nvme_rdma_remove_device() - delete the users of a device and wait for their end
 * @ibdev: the device that the RDMA core is about to remove
 *
 * A controller that is being created cannot be deleted yet: it fails with its queues, or
 * its creator sees at the end that the device is removed, and deletes it. A controller
 * that reconnects fails in nvme_rdma_get_device(). Controllers are deleted before their
 * queues fail, so that they do not recover. A controller that the user or ctrl_loss_tmo has
 * begun to delete is not marked as deleted for the device.
 *
 * Context: process.
 */
void nvme_rdma_remove_device(struct ib_device *ibdev)
{
	struct nvme_rdma_device *ndev;
	struct nvme_rdma_ctrl *ctrl;

	mutex_lock(&nvme_rdma_devices_mutex);
	ndev = nvme_rdma_find_device(ibdev);
	if (ndev)
		ndev->removing = true;
	mutex_unlock(&nvme_rdma_devices_mutex);
	if (!ndev)
		return;
	ib_unregister_event_handler(&ndev->events);

	mutex_lock(&nvme_rdma_ctrl_mutex);
	list_for_each_entry(ctrl, &nvme_rdma_ctrl_list, list)
		if (ctrl->device == ndev && ctrl->owns_opts && !nvme_delete_ctrl(&ctrl->ctrl))
			ctrl->device_removed = true;
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	nvme_rdma_break_queues(ndev, -ENODEV);

	wait_event(nvme_rdma_device_unused, !READ_ONCE(ndev->users));

	/* the last user has left the mutex, too */
	mutex_lock(&nvme_rdma_devices_mutex);
	list_del(&ndev->entry);
	mutex_unlock(&nvme_rdma_devices_mutex);
	nvme_rdma_free_device_wqs(ndev);
	kfree(ndev);
}
