// SPDX-License-Identifier: GPL-2.0
/* The moderation of common/moderate.c: an object of one module, as kbuild wants */
#define NVME_RDMA_CQ_TRACE_SYSTEM nvme_rdma
#include "../common/moderate.c"
