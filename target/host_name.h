/* SPDX-License-Identifier: GPL-2.0 */
/* File names of hosts (pure, see host_name.c) */
#ifndef NVMET_RDMA_HOST_NAME_H
#define NVMET_RDMA_HOST_NAME_H

#include "common/pure.h"

/* As long as an NQN may be */
#define NVMET_RDMA_HOST_NAME_LEN	223

bool nvmet_rdma_host_name(const char *nqn,
			  char name[NVMET_RDMA_HOST_NAME_LEN + 1]);

#endif /* NVMET_RDMA_HOST_NAME_H */
