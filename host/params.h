/* SPDX-License-Identifier: GPL-2.0 */
/* Module parameters */
#ifndef NVME_RDMA_HOST_PARAMS_H
#define NVME_RDMA_HOST_PARAMS_H

#include <linux/types.h>

extern bool nvme_rdma_register_always;
extern bool nvme_rdma_remote_invalidate;
extern bool nvme_rdma_t10_pi;
extern unsigned int nvme_rdma_resolve_tmo;
extern unsigned int nvme_rdma_connect_tmo;
extern unsigned int nvme_rdma_fabrics_tmo;
extern unsigned int nvme_rdma_min_rnr_timer;
extern unsigned int nvme_rdma_ack_timeout;

#endif /* NVME_RDMA_HOST_PARAMS_H */
