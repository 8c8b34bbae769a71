// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of an I/O queue, from those of the controller and of the host.
 *
 * A controller reports its limits in Identify and in CAP, right or wrong. Each value is
 * bounded here, and nowhere else. (NVMe over Fabrics, "Identify Controller"; NVMe/RDMA
 * transport, "Capsules and SGLs".)
 *
 * This file is pure: the unit tests and the fuzzer compile it in user space.
 */
#include "limits.h"

/* SGLS: keyed SGL data blocks; the Address field may be an offset */
enum {
	SGLS_KEYED	= 1 << 2,
	SGLS_OFFSET	= 1 << 20,
};

/* A command, without data */
#define COMMAND_LEN	(NVME_RDMA_MIN_CAPSULE * NVME_RDMA_CAPSULE_UNIT)

static u32 lower(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* In-capsule data is an SGL with an offset into the capsule */
static u32 choose_inline_size(const struct nvme_rdma_ctrl_caps *theirs, u32 ours)
{
	u64 capsule = (u64)theirs->ioccsz * NVME_RDMA_CAPSULE_UNIT;

	if (!(theirs->sgls & SGLS_OFFSET) || capsule <= COMMAND_LEN)
		return 0;
	return lower(capsule - COMMAND_LEN, ours);
}

/**
 * nvme_rdma_choose_limits() - choose the limits of an I/O queue
 * @theirs: limits of the controller
 * @ours: limits of the host
 * @limits: set to the limits of the queue, in any case
 *
 * Context: any. Return: NVME_RDMA_FITS, or the reason why there can be no I/O queue.
 */
enum nvme_rdma_fit nvme_rdma_choose_limits(const struct nvme_rdma_ctrl_caps *theirs,
					   const struct nvme_rdma_host_caps *ours,
					   struct nvme_rdma_limits *limits)
{
	limits->inline_size = choose_inline_size(theirs, ours->inline_size);
	limits->depth = lower(theirs->sqsize + 1u, ours->depth);
	if (theirs->maxcmd)
		limits->depth = lower(limits->depth, theirs->maxcmd);

	if (theirs->icdoff)
		return NVME_RDMA_ICDOFF;
	if (!(theirs->sgls & SGLS_KEYED))
		return NVME_RDMA_NO_KEYED_SGLS;
	/* Neither IOCCSZ, MQES nor MAXCMD is about the admin queue */
	if (theirs->no_io)
		return NVME_RDMA_FITS;
	if (theirs->ioccsz < NVME_RDMA_MIN_CAPSULE)
		return NVME_RDMA_SMALL_CAPSULE;
	if (limits->depth < NVME_RDMA_MIN_DEPTH)
		return NVME_RDMA_TOO_SHORT;
	if (limits->depth < ours->depth_in_use)
		return NVME_RDMA_SHRUNK;
	return NVME_RDMA_FITS;
}
