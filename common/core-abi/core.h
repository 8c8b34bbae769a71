/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's NVMe core, host and target, as our modules see it.
 *
 * The kernel's headers package lacks the core's private headers.  Three layers replace them:
 *
 *	core-abi-gen.h	layouts, values and prototypes, derived from the BTF of
 *			the kernel that is built for (see manifest)
 *	core-inline.h	what BTF lacks: macros, and the core's inline functions
 *	compat.h	makes an older kernel look like the newest one; the only
 *			place that checks which kernel this is
 */
#ifndef NVME_RDMA_CORE_H
#define NVME_RDMA_CORE_H

#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include <linux/nvme-rdma.h>

#include "core-abi-gen.h"
#include "core-abi/core-inline.h"
#include "core-abi/compat.h"

#endif
