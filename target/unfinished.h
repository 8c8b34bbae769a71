/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: commands that outlive their connection, see unfinished.c */
#ifndef NVMET_RDMA_UNFINISHED_H
#define NVMET_RDMA_UNFINISHED_H

#include <linux/types.h>

struct nvmet_rdma_queue;

bool nvmet_rdma_unfinished_wait(struct nvmet_rdma_queue *queue);
void nvmet_rdma_unfinished_end(struct nvmet_rdma_queue *queue);

#endif /* NVMET_RDMA_UNFINISHED_H */
