/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: what a host may have */
#ifndef NVMET_RDMA_LIMITS_H
#define NVMET_RDMA_LIMITS_H

#include "queue.h"

struct nvmet_rdma_peer *
nvmet_rdma_limits_enter(const struct rdma_cm_id *id, u16 qid,
			enum nvmet_rdma_refusal *why);
bool nvmet_rdma_limits_knows_host(const struct nvmet_rdma_peer *peer);
int nvmet_rdma_limits_charge(struct nvmet_rdma_queue *queue, u64 bytes);
void nvmet_rdma_limits_uncharge(struct nvmet_rdma_queue *queue);
int nvmet_rdma_limits_take_data(struct nvmet_rdma_queue *queue, u32 bytes);
void nvmet_rdma_limits_give_data(struct nvmet_rdma_queue *queue, u32 bytes);
int nvmet_rdma_limits_connected(struct nvmet_rdma_queue *queue, bool proved,
				enum nvmet_rdma_refusal *why);
void nvmet_rdma_limits_authenticated(struct nvmet_rdma_queue *queue);
void nvmet_rdma_limits_leave(struct nvmet_rdma_peer *peer,
			     enum nvmet_rdma_standing standing, u64 charge);
bool nvmet_rdma_same_ip(const struct sockaddr_storage *a,
			const struct sockaddr_storage *b);

#endif /* NVMET_RDMA_LIMITS_H */
