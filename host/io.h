/* SPDX-License-Identifier: GPL-2.0 */
/* Commands, and what blk-mq knows of the driver */
#ifndef NVME_RDMA_HOST_IO_H
#define NVME_RDMA_HOST_IO_H

#include "ctrl.h"

/* post.c */
void nvme_rdma_append(struct nvme_rdma_queue *queue,
		      struct nvme_rdma_request *first,
		      struct nvme_rdma_request *end, bool last);
void nvme_rdma_post_pending(struct nvme_rdma_queue *queue);

/* reroute.c */
bool nvme_rdma_reroute(struct request *rq, blk_status_t *ret);
void nvme_rdma_start_reroute(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_stop_reroute(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_init_reroute(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_end_reroute(struct nvme_rdma_ctrl *ctrl);

/* io.c */
blk_status_t nvme_rdma_queue_rq(struct blk_mq_hw_ctx *hctx,
				const struct blk_mq_queue_data *bd);
void nvme_rdma_queue_rqs(nvme_rdma_rq_list *list);
void nvme_rdma_commit_rqs(struct blk_mq_hw_ctx *hctx);

/* aen.c */
void nvme_rdma_submit_async_event(struct nvme_ctrl *nctrl);

/* abort.c */
enum blk_eh_timer_return nvme_rdma_timeout(struct request *rq);

/* quiesce.c */
void nvme_rdma_add_request_queue(struct nvme_rdma_ctrl *ctrl,
				 struct request_queue *q);
void nvme_rdma_del_request_queue(struct nvme_rdma_ctrl *ctrl,
				 struct request_queue *q);
void nvme_rdma_del_request_queues(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_quiesce_io(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_unquiesce_io(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_start_freeze(struct nvme_rdma_ctrl *ctrl);
int nvme_rdma_wait_freeze(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_unfreeze(struct nvme_rdma_ctrl *ctrl);

/* tagset.c */
bool nvme_rdma_queue_wanted(struct nvme_rdma_queue *queue);
int nvme_rdma_alloc_admin_tags(struct nvme_rdma_ctrl *ctrl);
int nvme_rdma_alloc_io_tags(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_fit_tags(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_show_tags(struct nvme_rdma_ctrl *ctrl, bool *have,
			 bool there);

#endif /* NVME_RDMA_HOST_IO_H */
