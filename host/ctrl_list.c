// SPDX-License-Identifier: GPL-2.0
/*
 * The list of all controllers.
 */
#include "ctrl.h"

/* All controllers from creation until they are freed or creation failed */
LIST_HEAD(nvme_rdma_ctrl_list);

/* Protects nvme_rdma_ctrl_list and the members device, owns_opts and device_removed of each */
DEFINE_MUTEX(nvme_rdma_ctrl_mutex);

/* Woken when a controller leaves the list */
DECLARE_WAIT_QUEUE_HEAD(nvme_rdma_ctrl_gone);
