/* SPDX-License-Identifier: GPL-2.0 */
/* The private data of a host's connection request (pure, see cm_req.c) */
#ifndef NVMET_RDMA_CM_REQ_H
#define NVMET_RDMA_CM_REQ_H

#include "common/pure.h"

/* NVMe/RDMA transport specification, RDMA_CM_REQUEST: 32 bytes */
#define NVMET_RDMA_CM_REQ_LEN	32

/**
 * enum nvmet_rdma_cm_sts - answers to a connection request, as on the wire
 *
 * Named after the statuses of RDMA_CM_REJECT in the transport specification;
 * cm.c asserts that they equal the kernel's enum nvme_rdma_cm_status.
 */
enum nvmet_rdma_cm_sts {
	NVMET_RDMA_CM_OK		= 0,
	NVMET_RDMA_CM_BAD_LEN		= 1,
	NVMET_RDMA_CM_BAD_RECFMT	= 2,
	NVMET_RDMA_CM_BAD_QID		= 3,
	NVMET_RDMA_CM_BAD_HSQSIZE	= 4,
	NVMET_RDMA_CM_BAD_HRQSIZE	= 5,
	NVMET_RDMA_CM_NO_RESOURCES	= 6,
	NVMET_RDMA_CM_BAD_IRD		= 7,
};

/**
 * struct nvmet_rdma_cm_limits - limits of requests
 * @max_qid: highest queue ID
 * @admin_depth: most commands that a host is granted on qid 0, 2 or more
 * @io_depth: most commands that it may ask for on the other queues
 * @needs_ird: the fabric reports how many RDMA READs the host serves, so that 0 is an error
 *	       of the host
 */
struct nvmet_rdma_cm_limits {
	u16 max_qid;
	u16 admin_depth;
	u16 io_depth;
	bool needs_ird;
};

/**
 * struct nvmet_rdma_cm_req - a parsed connection request
 * @qid: queue ID, 0 for the admin queue
 * @depth: commands that the host may have outstanding: HSQSIZE, made 1's based, or less if
 *	   an admin queue is granted less
 * @hrqsize: receives that the host posts for responses, not bounded by @depth
 *
 * If the request is rejected, @value is the invalid value, and @min and @max the valid range.
 */
struct nvmet_rdma_cm_req {
	u16 qid;
	u32 depth;
	u16 hrqsize;
	u32 value;
	u32 min;
	u32 max;
};

enum nvmet_rdma_cm_sts
nvmet_rdma_parse_cm_req(const u8 *data, size_t len, u8 ird,
			const struct nvmet_rdma_cm_limits *limits,
			struct nvmet_rdma_cm_req *req);
const char *nvmet_rdma_cm_sts_name(enum nvmet_rdma_cm_sts sts);
u32 nvmet_rdma_cm_nr_rsps(const struct nvmet_rdma_cm_req *req);

#endif /* NVMET_RDMA_CM_REQ_H */
