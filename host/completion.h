/* SPDX-License-Identifier: GPL-2.0 */
/* Completion handling: requests that end, work completions, responses */
#ifndef NVME_RDMA_HOST_COMPLETION_H
#define NVME_RDMA_HOST_COMPLETION_H

#include "ctrl.h"

/* request.c */
void nvme_rdma_complete_rq(struct request *rq);
void nvme_rdma_complete_batch(struct io_comp_batch *iob);
void nvme_rdma_finish_request(struct nvme_rdma_request *req,
			      struct io_comp_batch *iob);

/*
 * Clear bits of @waits. *left has the remaining bits.
 *
 * Context: any. Return: true if all were set.
 */
static inline bool nvme_rdma_clear_waits(atomic_t *waits, int events, int *left)
{
	int old = atomic_fetch_andnot(events, waits);

	*left = old & ~events;
	return (old & events) == events;
}

/* completion.c */
void nvme_rdma_after_batch(struct nvme_rdma_cq *cq);
void nvme_rdma_invalidate_key(struct nvme_rdma_request *req);
void nvme_rdma_post_done_late(struct nvme_rdma_request *req, int left);
void nvme_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc);
void nvme_rdma_init_unsignaled(struct nvme_rdma_queue *queue);
int nvme_rdma_post_invalidate(struct nvme_rdma_request *req);
int nvme_rdma_poll_queue(struct nvme_rdma_queue *queue,
			 struct io_comp_batch *iob);
int nvme_rdma_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob);

/**
 * nvme_rdma_post_done() - finish the post of a request
 * @req: the request; the caller does not own it any more when this returns
 *
 * Only this function clears the bit, so it is set, and a subtraction clears it. A cancellation
 * zeroes all bits, but it waits for the end of all posts.
 *
 * Context: as queue_rq().
 */
static inline void nvme_rdma_post_done(struct nvme_rdma_request *req)
{
	int left = atomic_sub_return(NVME_RDMA_WAIT_POST, &req->waits);

	if (unlikely(!(left & NVME_RDMA_WAIT_RESPONSE)))
		nvme_rdma_post_done_late(req, left);
}

/* recv.c */
void nvme_rdma_aen_arrived(struct nvme_rdma_queue *queue, int event);
void nvme_rdma_init_recv_chain(struct nvme_rdma_queue *queue);
int nvme_rdma_post_recv(struct nvme_rdma_queue *queue, struct ib_cqe *cqe);

#endif /* NVME_RDMA_HOST_COMPLETION_H */
