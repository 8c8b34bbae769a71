/* SPDX-License-Identifier: GPL-2.0 */
/* The data of a command: capsules, memory regions, and their mapping */
#ifndef NVME_RDMA_HOST_DATA_H
#define NVME_RDMA_HOST_DATA_H

#include "ctrl.h"

/* capsule.c */
void nvme_rdma_sgl_null(struct nvme_command *cmd);
void nvme_rdma_sgl_in_capsule(struct nvme_command *cmd, u32 len);
void nvme_rdma_sgl_keyed(struct nvme_command *cmd, u64 addr, u32 len, u32 key,
			 bool invalidate);
void nvme_rdma_place_command(struct nvme_rdma_queue *queue,
			     const struct nvme_command *cmd,
			     unsigned int slot, struct ib_sge *sge);
void nvme_rdma_build_capsule(struct nvme_rdma_request *req, int data_sges);

/* mr.c */
void nvme_rdma_fill_mrs(struct nvme_rdma_queue *queue);
void nvme_rdma_init_mrs(struct nvme_rdma_queue *queue);
int nvme_rdma_alloc_mrs(struct nvme_rdma_queue *queue);
void nvme_rdma_wait_for_mr(struct nvme_rdma_queue *queue);
void nvme_rdma_build_reg_mr(struct nvme_rdma_request *req, struct ib_mr *mr,
			    u32 len, enum ib_wr_opcode opcode);
int nvme_rdma_fit_queues(struct nvme_rdma_ctrl *ctrl, unsigned int *nr);
void nvme_rdma_free_mrs(struct nvme_rdma_queue *queue);

/* bounce.c */
struct scatterlist *nvme_rdma_bounce(struct nvme_rdma_request *req, int *count);
int nvme_rdma_make_bounce_reserve(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_free_bounce_reserve(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_end_bounce(struct nvme_rdma_request *req);

/* pi.c */
bool nvme_rdma_try_pi(struct nvme_rdma_ctrl *ctrl);
bool nvme_rdma_wants_pi(struct nvme_rdma_request *req);
void nvme_rdma_unmap_pi(struct nvme_rdma_request *req);
int nvme_rdma_register_pi(struct nvme_rdma_request *req, int count);
u16 nvme_rdma_check_pi(struct nvme_rdma_request *req);

/* map.c */
int nvme_rdma_map_data(struct nvme_rdma_request *req);
void nvme_rdma_unmap_data(struct nvme_rdma_request *req);

#endif /* NVME_RDMA_HOST_DATA_H */
