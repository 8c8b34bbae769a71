/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: from the completion of a receive to the list of waiting commands */
#ifndef NVMET_RDMA_RECV_H
#define NVMET_RDMA_RECV_H

#include "queue.h"

extern const struct nvmet_rdma_srq_ops nvmet_rdma_recv_srq_ops;

void nvmet_rdma_recv_chain_init(struct nvmet_rdma_queue *queue);
u32 nvmet_rdma_recv_nr(const struct nvmet_rdma_queue *queue);
int nvmet_rdma_recv_post_all(struct nvmet_rdma_queue *queue);
void nvmet_rdma_recv_repost(struct nvmet_rdma_cmd *cmd);
unsigned int nvmet_rdma_recv_repost_of(struct nvmet_rdma_rsp **rsps,
				       unsigned int n);
struct nvmet_rdma_cmd *nvmet_rdma_recv_vacate(struct nvmet_rdma_cmd *cmd,
					      gfp_t gfp);
void nvmet_rdma_requeue_waiting(struct nvmet_rdma_queue *queue,
				struct nvmet_rdma_cmd *first);
bool nvmet_rdma_may_pass(const struct nvmet_rdma_queue *queue,
			 const struct nvmet_rdma_cmd *cmd);

#endif /* NVMET_RDMA_RECV_H */
