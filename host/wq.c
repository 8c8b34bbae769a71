// SPDX-License-Identifier: GPL-2.0
/*
 * The workqueues that bring queues up and take them down.
 */
#include "device.h"
#include "error.h"
#include "wq.h"

/*
 * Jobs that call the driver of a device run in workqueues of that device. A workqueue
 * executes only some hundred works at a time, and a driver whose firmware hangs blocks that
 * many for minutes. These two workqueues are for jobs without a device. An admin queue gets
 * its device while it connects. A controller has one admin queue, and a work of the core
 * waits for its start, which limits the number of these jobs. A queue without a device goes
 * down at once.
 *
 * Works that take queues down must not wait for works that bring others up: the peers of
 * many controllers may not respond, and another path waits for the end of these queues.
 * Nor must they wait for works that free queues or keys of other controllers, which may hang.
 * Works that give up do not sleep.
 */
struct workqueue_struct *nvme_rdma_up_wq;
struct workqueue_struct *nvme_rdma_down_wq;

/* Unbound, as jobs sleep; for memory reclaim, as writeback waits for controllers */
#define NVME_RDMA_WQ_FLAGS	(WQ_UNBOUND | WQ_MEM_RECLAIM)

/**
 * nvme_rdma_alloc_wqs() - allocate the workqueues that are no device's
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_alloc_wqs(void)
{
	nvme_rdma_up_wq = alloc_workqueue("nvme-rdma-up", NVME_RDMA_WQ_FLAGS, 0);
	nvme_rdma_down_wq = alloc_workqueue("nvme-rdma-down",
					    NVME_RDMA_WQ_FLAGS, 0);
	nvme_rdma_abort_wq = alloc_workqueue("nvme-rdma-abort",
					     NVME_RDMA_WQ_FLAGS, 0);
	if (nvme_rdma_up_wq && nvme_rdma_down_wq && nvme_rdma_abort_wq)
		return 0;
	nvme_rdma_free_wqs();
	return -ENOMEM;
}

static void nvme_rdma_free_wq(struct workqueue_struct **wq)
{
	if (*wq)
		destroy_workqueue(*wq);
	*wq = NULL;
}

/**
 * nvme_rdma_free_wqs() - undo nvme_rdma_alloc_wqs()
 *
 * Context: process; there is no controller any more.
 */
void nvme_rdma_free_wqs(void)
{
	nvme_rdma_free_wq(&nvme_rdma_abort_wq);
	nvme_rdma_free_wq(&nvme_rdma_down_wq);
	nvme_rdma_free_wq(&nvme_rdma_up_wq);
}

/**
 * nvme_rdma_alloc_device_wqs() - allocate the workqueues of a device
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
 * Waits for the job that has freed the last queue of the device, which may not have returned.
 *
 * Context: process; not in a job.
 */
void nvme_rdma_free_device_wqs(struct nvme_rdma_device *ndev)
{
	nvme_rdma_free_wq(&ndev->mr_wq);
	nvme_rdma_free_wq(&ndev->free_wq);
	nvme_rdma_free_wq(&ndev->down_wq);
	nvme_rdma_free_wq(&ndev->up_wq);
}
