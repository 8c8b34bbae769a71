/* SPDX-License-Identifier: GPL-2.0 */
/* The connection of a queue */
#ifndef NVME_RDMA_HOST_CONN_H
#define NVME_RDMA_HOST_CONN_H

#include "ctrl.h"

/* qp.c */
int nvme_rdma_create_verbs(struct nvme_rdma_queue *queue);
void nvme_rdma_destroy_verbs(struct nvme_rdma_queue *queue);

/* cm.c */
int nvme_rdma_connect_once(struct nvme_rdma_queue *queue);

/* queue.c */
void nvme_rdma_close_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_flush_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_set_drained(struct nvme_rdma_queue *queue);
void nvme_rdma_drain_queue(struct nvme_rdma_queue *queue);
bool nvme_rdma_fail_late_queue(struct nvme_rdma_queue *queue,
			       struct request *rq);
void nvme_rdma_stop_failed_queue(struct nvme_rdma_queue *queue);
void nvme_rdma_free_queue(struct nvme_rdma_queue *queue);
bool nvme_rdma_is_rejection(int status);
bool nvme_rdma_queue_connectable(struct nvme_rdma_queue *queue);
int nvme_rdma_start_queue(struct nvme_rdma_queue *queue);

#endif /* NVME_RDMA_HOST_CONN_H */
