/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: the state of a queue, and what ends it */
#ifndef NVMET_RDMA_ERROR_H
#define NVMET_RDMA_ERROR_H

#include "queue.h"

extern atomic_t nvmet_rdma_nr_unfinished;

void nvmet_rdma_queue_release(struct nvmet_rdma_queue *queue, bool was_live);
void nvmet_rdma_mark_unfinished(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_disconnect(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_fail(struct nvmet_rdma_queue *queue);
bool nvmet_rdma_queue_move(struct nvmet_rdma_queue *queue,
			   enum nvmet_rdma_queue_state to);
bool nvmet_rdma_queue_is_live(struct nvmet_rdma_queue *queue);
void nvmet_rdma_wc_failed(struct nvmet_rdma_queue *queue,
			  const struct ib_wc *wc, const char *what);
void nvmet_rdma_completed_twice(struct ib_cq *cq, struct ib_wc *wc);
void nvmet_rdma_count_refusal(struct nvmet_rdma_port *port,
			      const struct sockaddr_storage *peer, u16 qid,
			      enum nvmet_rdma_refusal why);

#endif /* NVMET_RDMA_ERROR_H */
