/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: queue pairs, and draining them */
#ifndef NVMET_RDMA_QP_H
#define NVMET_RDMA_QP_H

#include "queue.h"

/* drain.c */

void nvmet_rdma_drain_init(struct nvmet_rdma_queue *queue);
void nvmet_rdma_drain(struct nvmet_rdma_queue *queue);
void nvmet_rdma_drain_last_wqe(struct nvmet_rdma_queue *queue);
void nvmet_rdma_drain_receives(struct nvmet_rdma_queue *queue);

/* qp.c */

int nvmet_rdma_qp_create(struct nvmet_rdma_queue *queue);
void nvmet_rdma_qp_destroy(struct nvmet_rdma_queue *queue);

#endif /* NVMET_RDMA_QP_H */
