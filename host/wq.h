/* SPDX-License-Identifier: GPL-2.0 */
/* The workqueues of queues that come up and go down */
#ifndef NVME_RDMA_HOST_WQ_H
#define NVME_RDMA_HOST_WQ_H

#include <linux/workqueue.h>

struct nvme_rdma_device;

/* Works that bring queues up, and works that take them down; see wq.c */
extern struct workqueue_struct *nvme_rdma_up_wq;
extern struct workqueue_struct *nvme_rdma_down_wq;
int nvme_rdma_alloc_wqs(void);
void nvme_rdma_free_wqs(void);
int nvme_rdma_alloc_device_wqs(struct nvme_rdma_device *ndev);
void nvme_rdma_free_device_wqs(struct nvme_rdma_device *ndev);

#endif /* NVME_RDMA_HOST_WQ_H */
