/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers: creation, deletion, recovery, and what is visible of them */
#ifndef NVME_RDMA_HOST_CONTROL_H
#define NVME_RDMA_HOST_CONTROL_H

#include "ctrl.h"

/* debugfs.c */
void nvme_rdma_debugfs_add(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_debugfs_remove(struct nvme_rdma_ctrl *ctrl);
void nvme_rdma_debugfs_init(void);
void nvme_rdma_debugfs_exit(void);

/* recovery.c */
void nvme_rdma_init_recovery(struct nvme_rdma_ctrl *ctrl);
int nvme_rdma_subsystem_reset(struct nvme_ctrl *nctrl);
void nvme_rdma_stop_ctrl(struct nvme_ctrl *nctrl);

/* ctrl.c */
struct nvme_ctrl *nvme_rdma_create_ctrl(struct device *dev,
					struct nvmf_ctrl_options *opts);

#endif /* NVME_RDMA_HOST_CONTROL_H */
