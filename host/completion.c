// SPDX-License-Identifier: GPL-2.0
/*
 * Completion handling: work requests of the send queue, and polling. recv.c has receives.
 *
 * Operation
 *
 * The handlers run in the context of the CQ, an interrupt or a poller, one at a time
 * for a queue. Requests are completed at the end of a batch of completions
 * (nvme_rdma_after_batch()). Each handler checks the status first. An error means that
 * the queue is broken, and nothing else: the handler touches neither a request nor the
 * QP, which may be freed.
 *
 * No request waits for its REG_MR, nor for a SEND that is not signaled: the response
 * implies both. Such a work request may still be flushed, long after the response.
 * Drivers that generate the completions of a broken QP themselves (bnxt_re, irdma)
 * flush all work requests behind the last one that completed, executed or not. By then
 * the request may be in use again, or freed: requests of an I/O scheduler and of flushes
 * are freed with their disk, before the queue. So the queue owns these completions
 * (unsignaled_send, unsignaled_reg).
 *
 * No handler runs after nvme_rdma_flush_queue() or nvme_rdma_drain_queue() returned.
 *
 * Each event clears its bit in the request's waits. The bit was set before the post. If
 * it is clear, the event is a duplicate or was never due: it changes nothing, and the
 * connection ends. The context that clears the last bit completes the request.
 */
#include "completion.h"
#include "ctrl.h"
#include "device.h"
#include "error.h"
#include "trace.h"

/**
 * nvme_rdma_after_batch() - finish a batch of completions
 * @cq: the completion queue
 *
 * A drain waits until the requests are completed, so it is signaled last.
 *
 * Context: CQ.
 */
void nvme_rdma_after_batch(struct nvme_rdma_cq *cq)
{
	struct nvme_rdma_queue *queue = cq->context;

	if (!nvme_rdma_rq_list_empty(&queue->batch.req_list))
		nvme_rdma_complete_batch(&queue->batch);
	nvme_rdma_drain_arrived(&queue->sq_drain);
	nvme_rdma_drain_arrived(&queue->rq_drain);
}

/**
 * nvme_rdma_invalidate_key() - post the LOCAL_INV of a request after its response
 * @req: the request
 *
 * On a queue that goes down, the drain ends the key instead.
 *
 * Context: any.
 */
void nvme_rdma_invalidate_key(struct nvme_rdma_request *req)
{
	struct nvme_rdma_queue *queue = req->queue;
	int ret = nvme_rdma_post_invalidate(req);

	if (unlikely(ret))
		nvme_rdma_protocol_error(queue, "LOCAL_INV not posted: error %d",
					 ret);
}

/**
 * nvme_rdma_post_done_late() - finish the post of a request that has its response
 * @req: the request; the caller does not own it any more when this returns
 * @left: what it still waits for
 *
 * The response has left the LOCAL_INV to this function. A response that was forged before
 * the command was sent would otherwise make the LOCAL_INV overtake the REG_MR, and the key
 * would be valid after the end of the request.
 *
 * Context: as queue_rq().
 */
void nvme_rdma_post_done_late(struct nvme_rdma_request *req, int left)
{
	/* The bit was clear: see the caller */
	if (WARN_ON_ONCE(left < 0))
		return;
	if (!left)
		nvme_rdma_finish_request(req, NULL);
	else if (left & NVME_RDMA_WAIT_INVALIDATE && nvme_rdma_queue_usable(req->queue))
		nvme_rdma_invalidate_key(req);
}

/**
 * nvme_rdma_send_done() - handle the completion of a capsule's SEND
 * @cq: the completion queue
 * @wc: the work completion
 *
 * Context: CQ.
 */
void nvme_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_request *req =
		container_of(wc->wr_cqe, struct nvme_rdma_request, send_cqe);
	struct nvme_rdma_queue *queue = nvme_rdma_cq_queue(cq);
	int retires, left;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvme_rdma_work_failed(queue, wc, "SEND");
		return;
	}
	/* Once the bit is clear, the response may complete the request */
	retires = req->retires;
	if (unlikely(!nvme_rdma_clear_waits(&req->waits, NVME_RDMA_WAIT_SEND, &left))) {
		nvme_rdma_completed_twice(queue, "SEND");
		return;
	}
	queue->done.sends += NVME_RDMA_COUNTS;
	nvme_rdma_give_credit(queue, retires);
	/* The response came first, and let the CQ wait for this completion */
	if (unlikely(!(left & NVME_RDMA_WAIT_RESPONSE)))
		queue->cq->awaited--;
	if (!left)
		nvme_rdma_finish_request(req, queue->iob);
}

static void nvme_rdma_unsignaled_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		nvme_rdma_work_failed(nvme_rdma_cq_queue(cq), wc, "SEND");
}

static void nvme_rdma_unsignaled_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		nvme_rdma_work_failed(nvme_rdma_cq_queue(cq), wc, "REG_MR");
}

/**
 * nvme_rdma_init_unsignaled() - set the handlers of unsignaled work requests
 * @queue: the queue
 *
 * Context: process.
 */
void nvme_rdma_init_unsignaled(struct nvme_rdma_queue *queue)
{
	queue->unsignaled_send.done = nvme_rdma_unsignaled_send_done;
	queue->unsignaled_reg.done = nvme_rdma_unsignaled_reg_done;
}

/* As nvme_rdma_recv_twice(): the request's next command may wait for an invalidation */
static void nvme_rdma_invalidated_twice(struct ib_cq *cq, struct ib_wc *wc)
{
	nvme_rdma_completed_twice(nvme_rdma_cq_queue(cq), "LOCAL_INV");
}

/* Handle the completion of a LOCAL_INV. Context: CQ. */
static void nvme_rdma_invalidate_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_request *req =
		container_of(wc->wr_cqe, struct nvme_rdma_request, inv_cqe);
	struct nvme_rdma_queue *queue = nvme_rdma_cq_queue(cq);
	int left;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvme_rdma_work_failed(queue, wc, "LOCAL_INV");
		return;
	}
	req->inv_cqe.done = nvme_rdma_invalidated_twice;
	queue->cq->awaited--;
	queue->done.local_invalidates += NVME_RDMA_COUNTS;
	nvme_rdma_give_credit(queue, 1);
	if (nvme_rdma_clear_waits(&req->waits, NVME_RDMA_WAIT_INVALIDATE, &left) &&
	    !left)
		nvme_rdma_finish_request(req, queue->iob);
}

/**
 * nvme_rdma_post_invalidate() - post the LOCAL_INV of a request's key
 * @req: the request, which has its response; its SQ slot was taken at the start
 *
 * Context: any. Return: 0 or the provider's negative errno.
 */
int nvme_rdma_post_invalidate(struct nvme_rdma_request *req)
{
	struct ib_send_wr wr = {
		.wr_cqe			= &req->inv_cqe,
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.ex.invalidate_rkey	= req->mr->rkey,
	};

	req->inv_cqe.done = nvme_rdma_invalidate_done;
	return ib_post_send(req->queue->qp, &wr, NULL);
}

static __always_inline int nvme_rdma_poll_once(struct nvme_rdma_queue *queue,
					       struct io_comp_batch *iob)
{
	int found = 0;

	rcu_read_lock();
	if (nvme_rdma_queue_usable(queue) && queue->cq->polled &&
	    !test_and_set_bit_lock(0, &queue->polling)) {
		queue->done.polls += NVME_RDMA_COUNTS;
		found = nvme_rdma_cq_take(queue->cq);
		if (found > 0) {
			queue->iob = iob ?: &queue->batch;
			found = nvme_rdma_cq_poll_on(queue->cq, found);
			queue->iob = &queue->batch;
		}
		clear_bit_unlock(0, &queue->polling);
	}
	rcu_read_unlock();
	return max(found, 0);
}

/**
 * nvme_rdma_poll_queue() - handle the completions of a polled queue
 * @queue: the queue, of any kind
 * @iob: batch in which the caller completes requests, or NULL
 *
 * Several CPUs may poll a queue. A CPU that finds another one polling returns at once.
 *
 * Context: any. Return: completions found; 0 for a queue with interrupts.
 */
int nvme_rdma_poll_queue(struct nvme_rdma_queue *queue,
			 struct io_comp_batch *iob)
{
	return nvme_rdma_poll_once(queue, iob);
}

/**
 * nvme_rdma_poll() - handle the completions of a hardware context that is polled
 * @hctx: the hardware context
 * @iob: batch in which the caller completes requests, or NULL
 *
 * While a queue is not LIVE, only the sender of its Connect polls it, in
 * blk_execute_rq(). It would spin for a network round trip. Many queues connect at the
 * same time, so it sleeps between two polls.
 *
 * Context: process. Return: completions found.
 */
int nvme_rdma_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct nvme_rdma_queue *queue = hctx->driver_data;
	int found = nvme_rdma_poll_once(queue, iob);

	if (unlikely(!found && hctx->queue == queue->ctrl->ctrl.connect_q))
		usleep_range(100, 200);
	return found;
}
