/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: workqueues */
#ifndef NVMET_RDMA_WQ_H
#define NVMET_RDMA_WQ_H

#include <linux/workqueue.h>

extern struct workqueue_struct *nvmet_rdma_wq;
extern struct workqueue_struct *nvmet_rdma_io_wq;
extern struct workqueue_struct *nvmet_rdma_poll_wq;
extern struct workqueue_struct *nvmet_rdma_unestablished_wq;

int nvmet_rdma_wqs_register(void);
void nvmet_rdma_wqs_unregister(void);

#endif /* NVMET_RDMA_WQ_H */
