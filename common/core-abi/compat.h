/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One interface for all kernels: that of the newest one.  If an older kernel lacks
 * a function, it is implemented here with the functions that this kernel has.  If
 * only the arguments changed, a wrapper (nvme_rdma_*, nvmet_rdma_*) takes the newest
 * ones.  Only this file and its two parts test HAVE_ macros or the kernel's version.
 *
 * Do not include this file: include core-abi/core.h.
 */
#ifndef NVME_RDMA_COMPAT_H
#define NVME_RDMA_COMPAT_H

/* Kbuild looks which of the two the kernel has. */
#ifdef HAVE_LINUX_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * Protocol values without a name in older headers.  Newer headers have enumerators
 * of the same names and values, which the macros may hide.
 */
#define NVME_RDMA_CM_INVALID_CNTLID	0x09
#define NVME_SC_CMD_SIZE_LIM_EXCEEDED	0x183
#define NVME_SCT_PATH			0x300
#define NVME_SCT_MASK			0x700
#define NVME_SCT_SC_MASK		0x7ff

/* Queue sizes: the header of 6.1 has only a maximum, of 128. */
#ifndef NVME_RDMA_DEFAULT_QUEUE_SIZE
#undef NVME_RDMA_MAX_QUEUE_SIZE
#define NVME_RDMA_MAX_QUEUE_SIZE		256
#define NVME_RDMA_MAX_METADATA_QUEUE_SIZE	128
#define NVME_RDMA_DEFAULT_QUEUE_SIZE		128
#endif

/* Compare the macros of core-inline.h with the values in the in-tree modules. */
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
