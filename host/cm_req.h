/* SPDX-License-Identifier: GPL-2.0 */
/* Private data of the CM messages of host and controller (pure) */
#ifndef NVME_RDMA_HOST_CM_REQ_H
#define NVME_RDMA_HOST_CM_REQ_H

#include "common/pure.h"

/* NVMe/RDMA transport specification, RDMA_CM_REQUEST private data: 32 bytes */
#define NVME_RDMA_CM_REQ_LEN	32

/* Answers of a controller that differ for the host */
enum nvme_rdma_cm_answer {
	NVME_RDMA_CM_ACCEPTED,		/* as asked */
	NVME_RDMA_CM_FEW_RECEIVES,	/* accepted, but CRQSIZE is too small */
	NVME_RDMA_CM_NO_ANSWER,		/* the private data is too short */
	NVME_RDMA_CM_WRONG_FORMAT,	/* an unknown record format */
};

void nvme_rdma_cm_build_req(u8 *buf, u16 qid, u16 depth, u16 cntlid);
enum nvme_rdma_cm_answer nvme_rdma_cm_parse_rep(const u8 *data, size_t len,
						u16 depth, u16 *value);
bool nvme_rdma_cm_parse_rej(const u8 *data, size_t len, u16 *status);

#endif /* NVME_RDMA_HOST_CM_REQ_H */
