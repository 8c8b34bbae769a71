/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: which work executes the commands of which queue */
#ifndef NVMET_RDMA_RUN_H
#define NVMET_RDMA_RUN_H

#include "queue.h"

struct nvmet_rdma_thread;

struct nvmet_rdma_run *nvmet_rdma_run_alloc(gfp_t gfp);
struct llist_node *nvmet_rdma_run_in_thread(struct llist_node *first,
					    struct nvmet_rdma_thread *thread);
void nvmet_rdma_run_work(struct work_struct *work);
void nvmet_rdma_run_stop(struct nvmet_rdma_queue *queue);

#endif /* NVMET_RDMA_RUN_H */
