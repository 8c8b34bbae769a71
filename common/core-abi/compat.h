/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One face for all kernels: the newest one's.  Where an older kernel lacks a
 * function it is written here in terms of what that kernel has; where only the
 * arguments changed, a wrapper of our own (nvme_rdma_*, nvmet_rdma_*) takes the
 * newest ones.  No file but this one and its two parts asks for HAVE_ or for a
 * version.
 *
 * Do not include this file: include core-abi/core.h.
 */
#ifndef NVME_RDMA_COMPAT_H
#define NVME_RDMA_COMPAT_H

/* One or the other is there, by kernel; Kbuild looks which. */
#ifdef HAVE_LINUX_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * Values of the wire that older headers do not name.  Where a newer one does it
 * is an enumerator of the same value, which the macro stands for just as well.
 */
#define NVME_RDMA_CM_INVALID_CNTLID	0x09
#define NVME_SC_CMD_SIZE_LIM_EXCEEDED	0x183
#define NVME_SCT_PATH			0x300
#define NVME_SCT_MASK			0x700
#define NVME_SCT_SC_MASK		0x7ff

/* Queue sizes: the core's header of 6.1 knows only a maximum, of 128. */
#ifndef NVME_RDMA_DEFAULT_QUEUE_SIZE
#undef NVME_RDMA_MAX_QUEUE_SIZE
#define NVME_RDMA_MAX_QUEUE_SIZE		256
#define NVME_RDMA_MAX_METADATA_QUEUE_SIZE	128
#define NVME_RDMA_DEFAULT_QUEUE_SIZE		128
#endif

/* The macros of core-inline.h against what the in-tree modules were made of. */
#ifdef CORE_ABI_NVME_RDMA_CTRL_OPS_FLAGS
static_assert((CORE_ABI_NVME_RDMA_CTRL_OPS_FLAGS &
	       (NVME_F_FABRICS | NVME_F_METADATA_SUPPORTED)) ==
	      (NVME_F_FABRICS | NVME_F_METADATA_SUPPORTED));
#endif
#ifdef CORE_ABI_NVMET_RDMA_OPS_FLAGS
static_assert((CORE_ABI_NVMET_RDMA_OPS_FLAGS &
	       (NVMF_KEYED_SGLS | NVMF_METADATA_SUPPORTED)) ==
	      (NVMF_KEYED_SGLS | NVMF_METADATA_SUPPORTED));
#endif

#include "core-abi/compat-host.h"
#include "core-abi/compat-target.h"

#endif
