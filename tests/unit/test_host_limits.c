// SPDX-License-Identifier: GPL-2.0
/* host/limits.c: the I/O queue that follows from a controller's limits */
#include "harness.h"

#include "host/limits.h"

#define KEYED		0x4
#define OFFSET		0x100000
#define BOTH		(KEYED | OFFSET)
#define INLINE		16384
#define DEPTH		1000

static void tables(void **state)
{
	static const struct {
		struct nvme_rdma_ctrl_caps theirs;
		u32 depth, in_use;	/* of this side */
		enum nvme_rdma_fit want;
		struct nvme_rdma_limits limits;
	} table[] = {
		/* sqsize, maxcmd, icdoff, sgls, ioccsz */
		{ { 127, 0, 0, BOTH, 4 + 256, false }, DEPTH, 0, NVME_RDMA_FITS, { 128, 4096 } },
		{ { 127, 128, 0, BOTH, 4, false }, DEPTH, 128, NVME_RDMA_FITS, { 128, 0 } },
		/* the shortest of three */
		{ { 127, 64, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_FITS, { 64, 0 } },
		{ { 127, 64, 0, BOTH, 4, false }, 63, 0, NVME_RDMA_FITS, { 63, 0 } },
		{ { 62, 64, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_FITS, { 63, 0 } },
		{ { 0xffff, 0, 0, BOTH, 4, false }, 0xffffffff, 0, NVME_RDMA_FITS, { 0x10000, 0 } },
		{ { 0xffff, 0xffff, 0, BOTH, 4, false }, 0x20000, 0,
		  NVME_RDMA_FITS, { 0xffff, 0 } },
		/* too short */
		{ { 0, 0, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_TOO_SHORT, { 1, 0 } },
		{ { 1, 0, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_TOO_SHORT, { 2, 0 } },
		{ { 2, 0, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_FITS, { 3, 0 } },
		{ { 127, 1, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_TOO_SHORT, { 1, 0 } },
		{ { 127, 2, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_TOO_SHORT, { 2, 0 } },
		{ { 127, 3, 0, BOTH, 4, false }, DEPTH, 0, NVME_RDMA_FITS, { 3, 0 } },
		{ { 127, 0, 0, BOTH, 4, false }, 2, 0, NVME_RDMA_TOO_SHORT, { 2, 0 } },
		{ { 127, 0, 0, BOTH, 4, false }, 0, 0, NVME_RDMA_TOO_SHORT, { 0, 0 } },
		/* without I/O queues it does not matter */
		{ { 127, 1, 0, BOTH, 4, true }, DEPTH, 0, NVME_RDMA_FITS, { 1, 0 } },
		{ { 0, 0, 0, BOTH, 4, true }, DEPTH, 0, NVME_RDMA_FITS, { 1, 0 } },
		{ { 127, 1, 0, 0, 4, true }, DEPTH, 0, NVME_RDMA_NO_KEYED_SGLS, { 1, 0 } },
		/* shorter than before */
		{ { 126, 0, 0, BOTH, 4, false }, DEPTH, 128, NVME_RDMA_SHRUNK, { 127, 0 } },
		{ { 127, 0, 0, BOTH, 4, false }, DEPTH, 129, NVME_RDMA_SHRUNK, { 128, 0 } },
		{ { 128, 0, 0, BOTH, 4, false }, DEPTH, 128, NVME_RDMA_FITS, { 129, 0 } },
		/* in-capsule data, as much as there is room for on either side */
		{ { 127, 0, 0, BOTH, 5, false }, DEPTH, 0, NVME_RDMA_FITS, { 128, 16 } },
		{ { 127, 0, 0, BOTH, 4 + 1023, false }, DEPTH, 0, NVME_RDMA_FITS, { 128, 16368 } },
		{ { 127, 0, 0, BOTH, 4 + 1025, false }, DEPTH, 0, NVME_RDMA_FITS, { 128, INLINE } },
		{ { 127, 0, 0, BOTH, 0x10000004, false }, DEPTH, 0, NVME_RDMA_FITS,
		  { 128, INLINE } },
		{ { 127, 0, 0, BOTH, 0xffffffff, false }, DEPTH, 0, NVME_RDMA_FITS,
		  { 128, INLINE } },
		{ { 127, 0, 0, KEYED, 4 + 256, false }, DEPTH, 0, NVME_RDMA_FITS, { 128, 0 } },
		{ { 127, 0, 0, ~0u, 5, false }, DEPTH, 0, NVME_RDMA_FITS, { 128, 16 } },
		/* what NVMe/RDMA does not do without */
		{ { 127, 0, 0, 0, 4, false }, DEPTH, 0, NVME_RDMA_NO_KEYED_SGLS, { 128, 0 } },
		{ { 127, 0, 0, ~KEYED, 5, false }, DEPTH, 0, NVME_RDMA_NO_KEYED_SGLS, { 128, 16 } },
		/* no room for a command; a discovery controller has no such capsules */
		{ { 127, 0, 0, BOTH, 3, false }, DEPTH, 0, NVME_RDMA_SMALL_CAPSULE, { 128, 0 } },
		{ { 127, 0, 0, BOTH, 0, false }, DEPTH, 0, NVME_RDMA_SMALL_CAPSULE, { 128, 0 } },
		{ { 127, 0, 0, BOTH, 0, true }, DEPTH, 0, NVME_RDMA_FITS, { 128, 0 } },
		{ { 127, 0, 1, BOTH, 5, false }, DEPTH, 0, NVME_RDMA_ICDOFF, { 128, 16 } },
		{ { 0, 0, 0xffff, 0, 0, false }, DEPTH, 0, NVME_RDMA_ICDOFF, { 1, 0 } },
	};
	struct nvme_rdma_limits limits;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct nvme_rdma_host_caps ours = {
			.depth = table[i].depth,
			.depth_in_use = table[i].in_use,
			.inline_size = INLINE,
		};

		unit_context("line %zu", i);
		memset(&limits, 0xee, sizeof(limits));
		unit_equal(table[i].want,
			   nvme_rdma_choose_limits(&table[i].theirs, &ours, &limits));
		unit_equal(table[i].limits.depth, limits.depth);
		unit_equal(table[i].limits.inline_size, limits.inline_size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
