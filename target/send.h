/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: responses and the send queue */
#ifndef NVMET_RDMA_SEND_H
#define NVMET_RDMA_SEND_H

#include "queue.h"

/* rsp.c */

int nvmet_rdma_rsp_grow(struct nvmet_rdma_queue *queue);
void nvmet_rdma_rsp_shrink(struct nvmet_rdma_queue *queue);
void nvmet_rdma_rsp_unmap(struct nvmet_rdma_queue *queue);
bool nvmet_rdma_rsp_executes(const struct nvmet_rdma_queue *queue);
void nvmet_rdma_rsp_free(struct nvmet_rdma_queue *queue);

/* send.c */

void nvmet_rdma_drop_read(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_xfer_send(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_queue_response(struct nvmet_req *req);
bool nvmet_rdma_plug_may_wait(struct blk_plug *plug);
void nvmet_rdma_send_collect(struct nvmet_rdma_queue *queue);
void nvmet_rdma_send_collected(struct nvmet_rdma_queue *queue);
void nvmet_rdma_send_collect_end(struct nvmet_rdma_queue *queue);
void nvmet_rdma_sweep(struct nvmet_rdma_queue *queue);
void nvmet_rdma_send_init(struct nvmet_rdma_queue *queue);
void nvmet_rdma_send_stop(struct nvmet_rdma_queue *queue);

#endif /* NVMET_RDMA_SEND_H */
