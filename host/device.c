// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices in use.
 *
 * A device is on the list while a queue, or a controller with an admin queue,
 * holds a reference. Devices are told apart by pointer: rxe and siw make their
 * GUID from the network interface's MAC address, and those collide.
 *
 * Removal: the device is marked dying under the list's mutex, so no new
 * reference is given; the controllers that use it are deleted; then the caller
 * waits for the last reference. Every reference ends with the queue or the
 * controller that holds it, and both end in bounded time once the controller
 * is deleted.
 */
#include <linux/slab.h>

#include "nvme_rdma.h"

static LIST_HEAD(nvme_rdma_devices);

/* Protects nvme_rdma_devices and the member dying of each of them */
static DEFINE_MUTEX(nvme_rdma_devices_mutex);

static void nvme_rdma_release_device(struct kref *ref)
{
	struct nvme_rdma_device *ndev =
		container_of(ref, struct nvme_rdma_device, ref);
	struct completion *released;

	list_del(&ndev->entry);
	released = ndev->released;
	mutex_unlock(&nvme_rdma_devices_mutex);

	ib_dealloc_pd(ndev->pd);
	kfree(ndev);
	if (released)
		complete(released);
}

/**
 * nvme_rdma_put_device() - give a reference back
 * @ndev: the device
 *
 * Context: process.
 */
void nvme_rdma_put_device(struct nvme_rdma_device *ndev)
{
	kref_put_mutex(&ndev->ref, nvme_rdma_release_device,
		       &nvme_rdma_devices_mutex);
}

/**
 * nvme_rdma_hold_device() - one more reference to a device that is held
 * @ndev: the device, of which the caller has a reference
 *
 * Context: any.
 */
void nvme_rdma_hold_device(struct nvme_rdma_device *ndev)
{
	kref_get(&ndev->ref);
}

static struct nvme_rdma_device *nvme_rdma_add_device(struct ib_device *ibdev)
{
	const struct ib_device_attr *attrs = &ibdev->attrs;
	struct nvme_rdma_device *ndev;
	int ret;

	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		dev_err(&ibdev->dev,
			"nvme_rdma: the device cannot register memory through its send queue (no memory management extensions); it cannot carry NVMe/RDMA\n");
		return ERR_PTR(-EOPNOTSUPP);
	}

	ndev = kzalloc(sizeof(*ndev), GFP_KERNEL);
	if (!ndev)
		return ERR_PTR(-ENOMEM);
	ndev->pd = ib_alloc_pd(ibdev, nvme_rdma_register_always ?
			       0 : IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(ndev->pd)) {
		ret = PTR_ERR(ndev->pd);
		dev_err(&ibdev->dev,
			"nvme_rdma: no protection domain: error %d\n", ret);
		kfree(ndev);
		return ERR_PTR(ret);
	}
	ndev->dev = ibdev;
	kref_init(&ndev->ref);
	ndev->max_inline_segments =
		clamp_t(int, attrs->max_send_sge - 1, 0,
			NVME_RDMA_MAX_INLINE_SEGMENTS);
	/*
	 * A transfer that starts inside a page touches one page more than
	 * its length says.
	 */
	ndev->max_mr_pages = min_t(u32, NVME_RDMA_MAX_MR_PAGES,
				   attrs->max_fast_reg_page_list_len - 1);
	list_add_tail(&ndev->entry, &nvme_rdma_devices);
	return ndev;
}

static struct nvme_rdma_device *nvme_rdma_find_device(struct ib_device *ibdev)
{
	struct nvme_rdma_device *ndev;

	lockdep_assert_held(&nvme_rdma_devices_mutex);
	list_for_each_entry(ndev, &nvme_rdma_devices, entry)
		if (ndev->dev == ibdev)
			return ndev;
	return NULL;
}

/**
 * nvme_rdma_get_device() - reference to our part of an RDMA device
 * @ibdev: the device
 *
 * Context: process.
 * Return: the device, or ERR_PTR: -ENODEV while it is being removed,
 * -EOPNOTSUPP if it cannot register memory, -ENOMEM.
 */
struct nvme_rdma_device *nvme_rdma_get_device(struct ib_device *ibdev)
{
	struct nvme_rdma_device *ndev;

	mutex_lock(&nvme_rdma_devices_mutex);
	ndev = nvme_rdma_find_device(ibdev);
	if (!ndev)
		ndev = nvme_rdma_add_device(ibdev);
	else if (ndev->dying)
		ndev = ERR_PTR(-ENODEV);
	else
		kref_get(&ndev->ref);
	mutex_unlock(&nvme_rdma_devices_mutex);
	return ndev;
}

/**
 * nvme_rdma_device_dying() - has the removal of a device begun?
 * @ndev: the device, of which the caller has a reference
 *
 * Context: process.
 */
bool nvme_rdma_device_dying(struct nvme_rdma_device *ndev)
{
	bool dying;

	mutex_lock(&nvme_rdma_devices_mutex);
	dying = ndev->dying;
	mutex_unlock(&nvme_rdma_devices_mutex);
	return dying;
}

/**
 * nvme_rdma_remove_device() - delete what uses a device and wait until it went
 * @ibdev: the device that the RDMA core is about to remove
 *
 * A controller that is still being created cannot be deleted yet. It fails by
 * itself at its next queue, or its creator sees the dying device at the end
 * and deletes it.
 *
 * Context: process.
 */
void nvme_rdma_remove_device(struct ib_device *ibdev)
{
	DECLARE_COMPLETION_ONSTACK(released);
	struct nvme_rdma_device *ndev;
	struct nvme_rdma_ctrl *ctrl;

	mutex_lock(&nvme_rdma_devices_mutex);
	ndev = nvme_rdma_find_device(ibdev);
	if (ndev) {
		ndev->dying = true;
		ndev->released = &released;
	}
	mutex_unlock(&nvme_rdma_devices_mutex);
	if (!ndev)
		return;

	mutex_lock(&nvme_rdma_ctrl_mutex);
	list_for_each_entry(ctrl, &nvme_rdma_ctrl_list, list)
		if (ctrl->device && ctrl->device->dev == ibdev &&
		    ctrl->owns_opts)
			nvme_delete_ctrl(&ctrl->ctrl);
	mutex_unlock(&nvme_rdma_ctrl_mutex);

	wait_for_completion(&released);
}
