/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adaptive moderation of the interrupts of completion queues; see moderate.c.
 */
#ifndef NVME_RDMA_MODERATE_H
#define NVME_RDMA_MODERATE_H

#include <rdma/ib_verbs.h>

#ifdef CONFIG_DIMLIB
void nvme_rdma_moderate_init(struct ib_cq *ib);
void nvme_rdma_moderate(struct ib_cq *ib, unsigned int completions);
void nvme_rdma_moderate_stop(struct dim *dim);
void nvme_rdma_moderate_free(struct dim *dim);
#else
static inline void nvme_rdma_moderate_init(struct ib_cq *ib)
{
}

static inline void nvme_rdma_moderate(struct ib_cq *ib, unsigned int completions)
{
}

static inline void nvme_rdma_moderate_stop(struct dim *dim)
{
}

static inline void nvme_rdma_moderate_free(struct dim *dim)
{
}
#endif

#endif /* NVME_RDMA_MODERATE_H */
