// SPDX-License-Identifier: GPL-2.0
/*
 * host/limits.c: what a controller says of itself, and the I/O queue that comes of it.
 *
 * Input: 2 bytes each of queue size, MAXCMD and ICDOFF, 4 each of SGLS and IOCCSZ, and of
 * what this side can do: depth, depth in use, in-capsule bytes.
 */
#include "fuzz.h"

#include "host/limits.h"

/* No value of the controller's makes more of a queue than either side has */
static void bounded(const struct nvme_rdma_ctrl_caps *theirs,
		    const struct nvme_rdma_host_caps *ours,
		    const struct nvme_rdma_limits *limits)
{
	u64 room = (u64)theirs->ioccsz * 16;

	fuzz_check(limits->depth <= ours->depth);
	fuzz_check(limits->depth <= theirs->sqsize + 1u);
	fuzz_check(!theirs->maxcmd || limits->depth <= theirs->maxcmd);
	fuzz_check(limits->depth == ours->depth || limits->depth == theirs->sqsize + 1u ||
		   limits->depth == theirs->maxcmd);
	fuzz_check(limits->inline_size <= ours->inline_size);
	fuzz_check(!limits->inline_size || (theirs->sgls & 1 << 20));
	fuzz_check(!limits->inline_size || limits->inline_size + 64ull <= room);
	if (theirs->sgls & 1 << 20 && room > 64)
		fuzz_check(limits->inline_size == ours->inline_size ||
			   limits->inline_size + 64ull == room);
	if (theirs->sgls & 1 << 20 && ours->inline_size) {
		fuzz_near(room, 64);
		fuzz_near(room, 1ull << 32);
		fuzz_near(room, ours->inline_size + 64ull);
	}
	fuzz_near(theirs->maxcmd, theirs->sqsize + 1u);
	fuzz_near(theirs->sqsize + 1u, ours->depth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct nvme_rdma_ctrl_caps theirs = {
		.sqsize = (u16)fuzz_take(&in, 2),
		.maxcmd = (u16)fuzz_take(&in, 2),
		.icdoff = (u16)fuzz_take(&in, 2),
		.sgls = (u32)fuzz_take(&in, 4),
		.ioccsz = (u32)fuzz_take(&in, 4),
	};
	const struct nvme_rdma_host_caps ours = {
		.depth = (u32)fuzz_take(&in, 4),
		.depth_in_use = (u32)fuzz_take(&in, 4),
		.inline_size = (u32)fuzz_take(&in, 4),
	};
	struct nvme_rdma_limits limits = { 1, 2 }, again = { 3, 4 };
	enum nvme_rdma_fit fit;
	u64 broken;

	/* last, so that inputs without it are what they were */
	theirs.no_io = fuzz_take(&in, 1) & 1;
	fit = nvme_rdma_choose_limits(&theirs, &ours, &limits);
	broken = fuzz_broken(theirs.icdoff, NVME_RDMA_ICDOFF) |
		 fuzz_broken(!(theirs.sgls & 4), NVME_RDMA_NO_KEYED_SGLS) |
		 fuzz_broken(!theirs.no_io && theirs.ioccsz < 4,
			     NVME_RDMA_SMALL_CAPSULE) |
		 fuzz_broken(!theirs.no_io && limits.depth < 3,
			     NVME_RDMA_TOO_SHORT) |
		 fuzz_broken(!theirs.no_io && limits.depth < ours.depth_in_use,
			     NVME_RDMA_SHRUNK);

	fuzz_check(nvme_rdma_choose_limits(&theirs, &ours, &again) == fit);
	fuzz_check(again.depth == limits.depth && again.inline_size == limits.inline_size);
	bounded(&theirs, &ours, &limits);
	/* each rule by itself, and what is at its bound and breaks no other */
	if (fuzz_decides(broken, fit))
		fuzz_kind(fit);
	if (fuzz_decides(broken, NVME_RDMA_SMALL_CAPSULE))
		fuzz_near(theirs.ioccsz, 4);
	if (fuzz_decides(broken, NVME_RDMA_TOO_SHORT))
		fuzz_near(limits.depth, 3);
	if (fuzz_decides(broken, NVME_RDMA_SHRUNK))
		fuzz_near(limits.depth, ours.depth_in_use);
	fuzz_check(fit == NVME_RDMA_FITS ? !broken : fuzz_among(broken, fit));
	return 0;
}
