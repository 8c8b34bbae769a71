/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: queues that have something to do */
#ifndef NVMET_RDMA_LIST_H
#define NVMET_RDMA_LIST_H

#include "queue.h"

struct nvmet_rdma_thread;

void nvmet_rdma_pass_on(struct llist_node *first);
void nvmet_rdma_thread_pass_on(struct nvmet_rdma_thread *thread);
void nvmet_rdma_queue_list(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_io(struct nvmet_rdma_queue *queue);
bool nvmet_rdma_queue_is_busy(const struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_io_and_look(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_looked(struct nvmet_rdma_queue *queue);

#endif /* NVMET_RDMA_LIST_H */
