/* SPDX-License-Identifier: GPL-2.0 */
/* Errors of a queue: its state, and the start of recovery */
#ifndef NVME_RDMA_HOST_ERROR_H
#define NVME_RDMA_HOST_ERROR_H

#include "ctrl.h"

/* Runs the abort works of all controllers */
extern struct workqueue_struct *nvme_rdma_abort_wq;

bool nvme_rdma_move_queue(struct nvme_rdma_queue *queue,
			  enum nvme_rdma_queue_state to);
bool nvme_rdma_fail_queue(struct nvme_rdma_queue *queue, int error);
bool nvme_rdma_recover_from(struct nvme_rdma_ctrl *ctrl,
			    enum nvme_ctrl_state state);
bool nvme_rdma_error_recovery(struct nvme_rdma_ctrl *ctrl);
bool nvme_rdma_break_queue(struct nvme_rdma_queue *queue, int error);
void nvme_rdma_recheck_queues(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_work_failed(struct nvme_rdma_queue *queue,
			   const struct ib_wc *wc, const char *what);
__printf(2, 3)
void nvme_rdma_protocol_error(struct nvme_rdma_queue *queue, const char *fmt, ...);
void nvme_rdma_completed_twice(struct nvme_rdma_queue *queue, const char *what);

#endif /* NVME_RDMA_HOST_ERROR_H */
