// SPDX-License-Identifier: GPL-2.0
/* The completion queues of common/cq.c: an object of one module, as kbuild wants */
#define NVME_RDMA_CQ_TRACE_SYSTEM nvmet_rdma
#include "../common/cq.c"
