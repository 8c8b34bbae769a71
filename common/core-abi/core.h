/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of the kernel's NVMe core, host and target.
 *
 * The kernel's headers package lacks the core's private headers.  Three files
 * replace what the modules need of them:
 *
 *	core-abi-gen.h	layouts, values and prototypes, derived from the BTF of
 *			the kernel that is built for (see manifest)
 *	core-inline.h	what BTF does not describe: macros and inline functions
 *	compat.h	gives older kernels the interface of the newest one; the
 *			only place that depends on the kernel's version
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
