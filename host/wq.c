// SPDX-License-Identifier: GPL-2.0
/*
 * The workqueues that bring the queues of a controller up and down.
 */
#include "wq.h"

/*
 * What brings queues down must not wait behind what brings others up: that may
 * be many controllers whose peers do not answer, and another path waits for the
 * end of this one.
 */
struct workqueue_struct *nvme_rdma_up_wq;
struct workqueue_struct *nvme_rdma_down_wq;

/**
 * nvme_rdma_alloc_wqs() - make the workqueues
 *
 * Unbound, for their works sleep, and for memory reclaim, as file systems that
 * have to be written wait for a controller to come back.
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_alloc_wqs(void)
{
	unsigned int flags = WQ_UNBOUND | WQ_MEM_RECLAIM;

	nvme_rdma_up_wq = alloc_workqueue("nvme-rdma-up", flags, 0);
	nvme_rdma_down_wq = alloc_workqueue("nvme-rdma-down", flags, 0);
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
