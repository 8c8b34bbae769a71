/* SPDX-License-Identifier: GPL-2.0 */
/* The data of a command: capsules, memory regions, and their mapping */
#ifndef NVME_RDMA_HOST_DATA_H
#define NVME_RDMA_HOST_DATA_H

#include "ctrl.h"
#include "params.h"

/**
 * nvme_rdma_sgl_keyed() - SGL of data that the controller reads or writes
 * @cmd: the command
 * @addr: its address by @key
 * @len: length in bytes, below 16 MiB
 * @key: remote key
 * @invalidate: ask the controller to invalidate @key with its response
 *
 * Context: any.
 */
static inline void nvme_rdma_sgl_keyed(struct nvme_command *cmd, u64 addr, u32 len,
				       u32 key, bool invalidate)
{
	struct nvme_keyed_sgl_desc *sgl = &cmd->common.dptr.ksgl;

	sgl->addr = cpu_to_le64(addr);
	put_unaligned_le24(len, sgl->length);
	put_unaligned_le32(key, sgl->key);
	sgl->type = NVME_KEY_SGL_FMT_DATA_DESC << 4 |
		(invalidate ? NVME_SGL_FMT_INVALIDATE : NVME_SGL_FMT_ADDRESS);
}

/**
 * nvme_rdma_build_reg_mr() - build the registration and the SGL of a mapped MR
 * @req: the request
 * @mr: MR of its tag, mapped
 * @len: bytes that are transferred
 * @opcode: of the registration
 *
 * The key of the MR changes with every use, so a peer cannot use the key of an earlier
 * command. The controller is asked to invalidate the key with its response; if it does
 * not, completion.c does.
 *
 * Context: as queue_rq().
 */
static inline void nvme_rdma_build_reg_mr(struct nvme_rdma_request *req, struct ib_mr *mr,
					  u32 len, enum ib_wr_opcode opcode)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	req->mr = mr;
	/* tagset.c has set the other members */
	req->reg_wr.wr.opcode = opcode;
	req->reg_wr.mr = mr;
	req->reg_wr.key = mr->rkey;
	req->reg_wr.access = rq_data_dir(blk_mq_rq_from_pdu(req)) == WRITE ?
		IB_ACCESS_REMOTE_READ :
		IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	nvme_rdma_sgl_keyed(&req->cmd, mr->iova, len, mr->rkey,
			    nvme_rdma_remote_invalidate);
}

/* capsule.c */
void nvme_rdma_sgl_null(struct nvme_command *cmd);
void nvme_rdma_sgl_in_capsule(struct nvme_command *cmd, u32 len);
void nvme_rdma_place_command(struct nvme_rdma_queue *queue,
			     const struct nvme_command *cmd,
			     unsigned int slot, struct ib_sge *sge);

/* mr.c */
void nvme_rdma_fill_mrs(struct nvme_rdma_queue *queue);
void nvme_rdma_init_mrs(struct nvme_rdma_queue *queue);
int nvme_rdma_alloc_mrs(struct nvme_rdma_queue *queue);
void nvme_rdma_wait_for_mr(struct nvme_rdma_queue *queue);
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
