/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: connections, from the request to the release */
#ifndef NVMET_RDMA_CONNECTION_H
#define NVMET_RDMA_CONNECTION_H

#include "queue.h"

/* queue_list.c */

bool nvmet_rdma_join_ctrl(struct nvmet_rdma_queue *queue, struct nvmet_ctrl *ctrl,
			  bool *proved);
void nvmet_rdma_leave_ctrl(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_publish(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_unpublish(struct nvmet_rdma_queue *queue);
void nvmet_rdma_disconnect_device(struct nvmet_rdma_device *dev, bool removing);
void nvmet_rdma_disconnect_port(struct nvmet_rdma_port *port);
void nvmet_rdma_visit_queues(void (*visit)(struct nvmet_rdma_queue *queue));
void nvmet_rdma_delete_ctrl(struct nvmet_ctrl *ctrl);
ssize_t nvmet_rdma_ctrl_peer(const struct nvmet_ctrl *ctrl, char *buf,
			     size_t len);

/* release.c */

void nvmet_rdma_release_work(struct work_struct *work);
void nvmet_rdma_queue_free_recvs(struct nvmet_rdma_queue *queue);

/* stall.c */

void nvmet_rdma_stall_init(struct nvmet_rdma_queue *queue);
void nvmet_rdma_stall_register(void);
void nvmet_rdma_stall_unregister(void);

/* queue.c */

struct nvmet_rdma_queue *
nvmet_rdma_queue_create(struct rdma_cm_id *id, struct nvmet_rdma_port *port,
			struct nvmet_rdma_device *dev,
			struct nvmet_rdma_peer *quota,
			const struct nvmet_rdma_cm_req *req);
void nvmet_rdma_queue_established(struct nvmet_rdma_queue *queue);
u16 nvmet_rdma_install_queue(struct nvmet_sq *sq);

/* cm.c */

int nvmet_rdma_connect_request(struct rdma_cm_id *id,
			       struct nvmet_rdma_port *port,
			       const struct rdma_conn_param *param);

#endif /* NVMET_RDMA_CONNECTION_H */
