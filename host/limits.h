/* SPDX-License-Identifier: GPL-2.0 */
/* What a controller's limits make of an I/O queue (pure, see limits.c) */
#ifndef NVME_RDMA_HOST_LIMITS_H
#define NVME_RDMA_HOST_LIMITS_H

#include "common/pure.h"

/**
 * struct nvme_rdma_ctrl_caps - what the controller says of itself
 * @sqsize: queue size, 0's based: what was asked, or CAP.MQES if that is less
 * @maxcmd: MAXCMD, commands of a queue; 0: it does not say
 * @icdoff: ICDOFF, where in-capsule data begins, in 16 bytes
 * @sgls: SGLS, what of SGLs it takes
 * @ioccsz: IOCCSZ, a command capsule's size, in 16 bytes
 * @no_io: it has no I/O queues, as a discovery controller
 */
struct nvme_rdma_ctrl_caps {
	u16 sqsize;
	u16 maxcmd;
	u16 icdoff;
	u32 sgls;
	u32 ioccsz;
	bool no_io;
};

/**
 * struct nvme_rdma_host_caps - what this side can do
 * @depth: commands of a queue that the device has room for
 * @depth_in_use: commands of a queue that I/O is prepared for already; 0: of none
 * @inline_size: bytes of in-capsule data
 */
struct nvme_rdma_host_caps {
	u32 depth;
	u32 depth_in_use;
	u32 inline_size;
};

/**
 * struct nvme_rdma_limits - what an I/O queue will be like
 * @depth: commands that are outstanding at most
 * @inline_size: bytes of data that go with a command; 0: none
 */
struct nvme_rdma_limits {
	u32 depth;
	u32 inline_size;
};

/**
 * enum nvme_rdma_fit - whether there can be a queue
 * @NVME_RDMA_FITS: yes
 * @NVME_RDMA_ICDOFF: in-capsule data is to begin at an offset
 * @NVME_RDMA_NO_KEYED_SGLS: keyed SGLs are not taken, without which there is no NVMe/RDMA
 * @NVME_RDMA_TOO_SHORT: there is no room for Connect and a command
 * @NVME_RDMA_SHRUNK: it is shorter than what I/O is prepared for
 */
enum nvme_rdma_fit {
	NVME_RDMA_FITS,
	NVME_RDMA_ICDOFF,
	NVME_RDMA_NO_KEYED_SGLS,
	NVME_RDMA_TOO_SHORT,
	NVME_RDMA_SHRUNK,
};

/* One less is how many tags newer kernels make: Connect's, which is reserved, and one */
#define NVME_RDMA_MIN_DEPTH	3

/* IOCCSZ and ICDOFF count these */
#define NVME_RDMA_CAPSULE_UNIT	16

enum nvme_rdma_fit nvme_rdma_choose_limits(const struct nvme_rdma_ctrl_caps *theirs,
					   const struct nvme_rdma_host_caps *ours,
					   struct nvme_rdma_limits *limits);

#endif /* NVME_RDMA_HOST_LIMITS_H */
