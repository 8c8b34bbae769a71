/* SPDX-License-Identifier: GPL-2.0 */
/* Bringing the queues of a controller up and down */
#ifndef NVME_RDMA_HOST_CONNECT_H
#define NVME_RDMA_HOST_CONNECT_H

#include "ctrl.h"

/* identify.c */
int nvme_rdma_check_limits(struct nvme_rdma_ctrl *ctrl);

/* giveup.c */
void nvme_rdma_give_up(struct nvme_rdma_ctrl *ctrl, int error);
void nvme_rdma_watch_deletion(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_unwatch_deletion(struct nvme_rdma_ctrl *ctrl);

/* jobs.c */
void nvme_rdma_init_queue_work(struct nvme_rdma_queue *queue);
int nvme_rdma_run_jobs(struct nvme_rdma_ctrl *ctrl, int first, int last,
		       int (*job)(struct nvme_rdma_queue *queue));
int nvme_rdma_flush_job(struct nvme_rdma_queue *queue);

/* teardown.c */
void nvme_rdma_teardown_admin(struct nvme_rdma_ctrl *ctrl, bool remove);
void nvme_rdma_teardown_all(struct nvme_rdma_ctrl *ctrl, bool remove, bool fail);
void nvme_rdma_release_pending(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_shutdown_ctrl(struct nvme_rdma_ctrl *ctrl, bool remove);

/* connect.c */
int nvme_rdma_setup_ctrl(struct nvme_rdma_ctrl *ctrl, bool new);

#endif /* NVME_RDMA_HOST_CONNECT_H */
