/* SPDX-License-Identifier: GPL-2.0 */
/* Limits of an I/O queue (pure, see limits.c) */
#ifndef NVME_RDMA_HOST_LIMITS_H
#define NVME_RDMA_HOST_LIMITS_H

#include "common/pure.h"

/**
 * struct nvme_rdma_ctrl_caps - limits that a controller reports
 * @sqsize: queue size, 0's based: the one asked for, or CAP.MQES if that is less
 * @maxcmd: MAXCMD, commands of a queue; 0: not reported
 * @icdoff: ICDOFF, offset of in-capsule data, in units of 16 bytes
 * @sgls: SGLS, its support for SGLs
 * @ioccsz: IOCCSZ, size of a command capsule, in units of 16 bytes
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
 * struct nvme_rdma_host_caps - limits of the host and its device
 * @depth: commands of a queue that the device supports
 * @depth_in_use: commands of a queue that tag sets are allocated for; 0: none is
 * @inline_size: bytes of in-capsule data
 */
struct nvme_rdma_host_caps {
	u32 depth;
	u32 depth_in_use;
	u32 inline_size;
};

/**
 * struct nvme_rdma_limits - limits of an I/O queue
 * @depth: most commands that are outstanding
 * @inline_size: most bytes of in-capsule data; 0: none
 */
struct nvme_rdma_limits {
	u32 depth;
	u32 inline_size;
};

/**
 * enum nvme_rdma_fit - can there be an I/O queue?
 * @NVME_RDMA_FITS: yes
 * @NVME_RDMA_ICDOFF: in-capsule data would begin at an offset
 * @NVME_RDMA_NO_KEYED_SGLS: no support for keyed SGLs, which NVMe/RDMA requires
 * @NVME_RDMA_SMALL_CAPSULE: no room for a command in a capsule
 * @NVME_RDMA_TOO_SHORT: no room for Connect and one command
 * @NVME_RDMA_SHRUNK: shorter than the queue that tag sets are allocated for
 */
enum nvme_rdma_fit {
	NVME_RDMA_FITS,
	NVME_RDMA_ICDOFF,
	NVME_RDMA_NO_KEYED_SGLS,
	NVME_RDMA_SMALL_CAPSULE,
	NVME_RDMA_TOO_SHORT,
	NVME_RDMA_SHRUNK,
};

/* Newer kernels allocate one tag less: the reserved one for Connect, and one more */
#define NVME_RDMA_MIN_DEPTH	3

/* Bytes in the unit of IOCCSZ and ICDOFF */
#define NVME_RDMA_CAPSULE_UNIT	16

/* A command without data, in that unit */
#define NVME_RDMA_MIN_CAPSULE	4

enum nvme_rdma_fit nvme_rdma_choose_limits(const struct nvme_rdma_ctrl_caps *theirs,
					   const struct nvme_rdma_host_caps *ours,
					   struct nvme_rdma_limits *limits);

#endif /* NVME_RDMA_HOST_LIMITS_H */
