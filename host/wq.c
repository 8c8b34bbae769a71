// SPDX-License-Identifier: GPL-2.0
/*
 * The workqueues that bring queues up and take them down.
 */
#include "device.h"
#include "wq.h"

/*
 * Jobs that call the device's driver are in workqueues of the device: a workqueue executes
 * only some hundred works at once, and a driver whose firmware hangs keeps that many for
 * minutes. These two are for jobs without a device. An admin queue learns its device while
 * it connects. Each controller has only one, whose start a work of the core's waits for, and
 * there are no more of those at a time. A queue without a device ends at once.
 *
 * What brings queues down must not wait behind what brings others up: that may
 * be many controllers whose peers do not answer, and another path waits for the
 * end of this one. Nor may it wait behind what frees queues of other controllers, for
 * which nobody waits, and which may hang. Works that give up do not sleep.
 */
struct workqueue_struct *nvme_rdma_up_wq;
struct workqueue_struct *nvme_rdma_down_wq;

/* Unbound, as jobs sleep; for memory reclaim, as writeback waits for controllers */
#define NVME_RDMA_WQ_FLAGS	(WQ_UNBOUND | WQ_MEM_RECLAIM)

/**
 * nvme_rdma_alloc_wqs() - make the workqueues that are no device's
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_alloc_wqs(void)
{
	nvme_rdma_up_wq = alloc_workqueue("nvme-rdma-up", NVME_RDMA_WQ_FLAGS, 0);
	nvme_rdma_down_wq = alloc_workqueue("nvme-rdma-down",
					    NVME_RDMA_WQ_FLAGS, 0);
	if (nvme_rdma_up_wq && nvme_rdma_down_wq)
		return 0;
	nvme_rdma_free_wqs();
	return -ENOMEM;
}

static void nvme_rdma_free_wq(struct workqueue_struct *wq)
{
	if (wq)
		destroy_workqueue(wq);
}

/**
 * nvme_rdma_free_wqs() - undo nvme_rdma_alloc_wqs()
 *
 * Context: process; there is no controller any more.
 */
void nvme_rdma_free_wqs(void)
{
	nvme_rdma_free_wq(nvme_rdma_down_wq);
	nvme_rdma_free_wq(nvme_rdma_up_wq);
}

/**
 * nvme_rdma_alloc_device_wqs() - make a device's workqueues
 * @ndev: the device
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_alloc_device_wqs(struct nvme_rdma_device *ndev)
{
	const char *name = ndev->dev->name;

	ndev->up_wq = alloc_workqueue("nvme-rdma-up-%s", NVME_RDMA_WQ_FLAGS, 0,
				      name);
	ndev->down_wq = alloc_workqueue("nvme-rdma-down-%s", NVME_RDMA_WQ_FLAGS,
					0, name);
	ndev->free_wq = alloc_workqueue("nvme-rdma-free-%s", NVME_RDMA_WQ_FLAGS,
					0, name);
	ndev->mr_wq = alloc_workqueue("nvme-rdma-mr-%s", NVME_RDMA_WQ_FLAGS,
				      NVME_RDMA_MR_WORKERS, name);
	if (ndev->up_wq && ndev->down_wq && ndev->free_wq && ndev->mr_wq)
		return 0;
	nvme_rdma_free_device_wqs(ndev);
	return -ENOMEM;
}

/**
 * nvme_rdma_free_device_wqs() - undo nvme_rdma_alloc_device_wqs()
 * @ndev: the device, without a user
 *
 * The job that has freed the device's last queue may not have returned: this waits for it.
 *
 * Context: process; not in a job.
 */
void nvme_rdma_free_device_wqs(struct nvme_rdma_device *ndev)
{
	nvme_rdma_free_wq(ndev->mr_wq);
	nvme_rdma_free_wq(ndev->free_wq);
	nvme_rdma_free_wq(ndev->down_wq);
	nvme_rdma_free_wq(ndev->up_wq);
}
