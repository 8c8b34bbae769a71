// SPDX-License-Identifier: GPL-2.0
/*
 * Completion handling: work completions and responses.
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
 * A handler copies the entry of a response, posts its receive again, and completes the
 * request after that, so that a command which the completion triggers finds a receive.
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

	/* Before blk-mq dispatches requests that have waited for slots */
	nvme_rdma_return_credit(queue);
	if (!nvme_rdma_rq_list_empty(&queue->batch.req_list))
		nvme_rdma_complete_batch(&queue->batch);
	nvme_rdma_drain_arrived(&queue->sq_drain);
	nvme_rdma_drain_arrived(&queue->rq_drain);
}

/* Clear bits of @waits. Return: true if all were set; *left has the remaining bits. */
static bool nvme_rdma_clear_waits(atomic_t *waits, int events, int *left)
{
	int old = atomic_fetch_andnot(events, waits);

	*left = old & ~events;
	return (old & events) == events;
}

/*
 * Post the LOCAL_INV of a request after its response. On a queue that goes down, the
 * drain ends the key instead.
 */
static void nvme_rdma_invalidate_key(struct nvme_rdma_request *req)
{
	struct nvme_rdma_queue *queue = req->queue;
	int ret = nvme_rdma_post_invalidate(req);

	if (unlikely(ret))
		nvme_rdma_protocol_error(queue, "LOCAL_INV not posted: error %d",
					 ret);
}

/**
 * nvme_rdma_post_done() - finish the post of a request
 * @req: the request; the caller does not own it any more when this returns
 *
 * A response that arrived earlier has left the LOCAL_INV to this function. A response
 * that was forged before the command was sent would otherwise make the LOCAL_INV
 * overtake the REG_MR, and the key would be valid after the end of the request.
 *
 * Context: as queue_rq().
 */
void nvme_rdma_post_done(struct nvme_rdma_request *req)
{
	int left;

	nvme_rdma_clear_waits(&req->waits, NVME_RDMA_WAIT_POST, &left);
	if (unlikely(!left))
		nvme_rdma_finish_request(req, NULL);
	else if (unlikely(!(left & NVME_RDMA_WAIT_RESPONSE) &&
			  left & NVME_RDMA_WAIT_INVALIDATE) &&
		 nvme_rdma_queue_usable(req->queue))
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
	queue->returned += retires;
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
	queue->returned++;
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

/* By the tag: a request that a forged response names may lose its @mr just now */
static u32 nvme_rdma_tag_key(struct nvme_rdma_request *req, int tag)
{
	struct nvme_rdma_queue *queue = req->queue;

	if (unlikely(READ_ONCE(req->data) == NVME_RDMA_DATA_PROTECTED))
		return queue->sig_mrs[tag]->rkey;
	return queue->mrs[tag]->rkey;
}

/*
 * See response.h. If the request does not wait for a response, only its waits are read.
 * If it does, it has its command, its tag and the MR of that tag.
 *
 * The tag in an ID leads to a request that may have been sent with another tag since, or
 * with another generation of this tag. So the whole ID has to be that of its command.
 */
static enum nvme_rdma_verdict
nvme_rdma_verdict(struct nvme_rdma_request *req, u16 id, const struct ib_wc *wc)
{
	/* the MR of the tag was written before waits, and is visible now */
	int waits = atomic_read_acquire(&req->waits);
	u32 own_key = 0;

	if (unlikely(!(waits & NVME_RDMA_WAIT_RESPONSE) ||
		     req->cmd.common.command_id != id))
		return NVME_RDMA_RSP_IDLE;
	if (!(wc->wc_flags & IB_WC_WITH_INVALIDATE))
		return nvme_rdma_judge_response(waits, false, 0, 0);
	if (nvme_rdma_response_has_key(waits, true))
		own_key = nvme_rdma_tag_key(req, blk_mq_rq_from_pdu(req)->tag);
	return nvme_rdma_judge_response(waits, true, wc->ex.invalidate_rkey,
					own_key);
}

static void nvme_rdma_count_response(struct nvme_rdma_queue *queue,
				     const struct nvme_rdma_request *req,
				     const struct nvme_completion *cqe,
				     enum nvme_rdma_verdict verdict)
{
	struct nvme_rdma_done *done = &queue->done;
	bool invalidated = verdict & NVME_RDMA_WAIT_INVALIDATE;
	u64 now, ns;

	if (!NVME_RDMA_COUNTS)
		return;
	/* the batch may have been polled just before the post of its last request */
	now = nvme_rdma_cq_now(queue->cq);
	ns = now > req->sent_at ? now - req->sent_at : 0;
	if (unlikely(le16_to_cpu(cqe->status) >> 1))
		done->errors++;
	done->remote_invalidates += invalidated;
	nvme_rdma_hist_add(&done->latency, ns);
	trace_nvme_rdma_response(queue, cqe, invalidated, ns);
}

static void nvme_rdma_response(struct nvme_rdma_queue *queue,
			       const struct nvme_completion *cqe,
			       const struct ib_wc *wc)
{
	struct nvme_rdma_request *req;
	struct blk_mq_tags *tags = READ_ONCE(queue->tags);
	enum nvme_rdma_verdict verdict;
	struct request *rq;
	int left;

	rq = tags ? blk_mq_tag_to_rq(tags, nvme_tag_from_cid(cqe->command_id)) :
		    NULL;
	req = rq ? blk_mq_rq_to_pdu(rq) : NULL;
	verdict = req ? nvme_rdma_verdict(req, cqe->command_id, wc) :
			NVME_RDMA_RSP_IDLE;
	if (unlikely(verdict == NVME_RDMA_RSP_IDLE)) {
		nvme_rdma_protocol_error(queue,
					 "response to command ID %#x, which is not outstanding",
					 cqe->command_id);
		return;
	}
	if (unlikely(verdict == NVME_RDMA_RSP_WRONG_KEY)) {
		nvme_rdma_protocol_error(queue,
					 "response to command ID %#x invalidated key %#x, which is not that command's",
					 cqe->command_id,
					 wc->ex.invalidate_rkey);
		return;
	}
	nvme_rdma_count_response(queue, req, cqe, verdict);
	req->status = cqe->status;
	req->result = cqe->result;
	if (unlikely(!nvme_rdma_clear_waits(&req->waits, verdict, &left))) {
		nvme_rdma_protocol_error(queue,
					 "two responses to command ID %#x",
					 cqe->command_id);
		return;
	}
	if (verdict & NVME_RDMA_WAIT_INVALIDATE)
		queue->returned++;
	if (likely(!left)) {
		nvme_rdma_finish_request(req, queue->iob);
		return;
	}
	if (unlikely(left & NVME_RDMA_WAIT_SEND))
		queue->cq->awaited++;
	if (left & NVME_RDMA_WAIT_INVALIDATE && nvme_rdma_queue_usable(queue)) {
		queue->cq->awaited++;
		/* else nvme_rdma_post_done() does it */
		if (likely(!(left & NVME_RDMA_WAIT_POST)))
			nvme_rdma_invalidate_key(req);
	}
}

/**
 * nvme_rdma_aen_arrived() - the event request's SEND or response completed
 * @queue: the admin queue
 * @event: which of the two, enum nvme_rdma_wait
 *
 * The event is passed to the core when both have completed.
 *
 * Context: CQ.
 */
void nvme_rdma_aen_arrived(struct nvme_rdma_queue *queue, int event)
{
	int left;

	if (!nvme_rdma_clear_waits(&queue->aen_waits, event, &left))
		nvme_rdma_protocol_error(queue,
					 "asynchronous event, but no event request is outstanding");
	else if (!left)
		nvme_complete_async_event(&queue->ctrl->ctrl,
					  queue->aen_status,
					  &queue->aen_result);
}

static void nvme_rdma_event(struct nvme_rdma_queue *queue,
			    const struct nvme_completion *cqe,
			    const struct ib_wc *wc)
{
	/* The event request has no key: this key belongs to another request */
	if (unlikely(wc->wc_flags & IB_WC_WITH_INVALIDATE)) {
		nvme_rdma_protocol_error(queue,
					 "asynchronous event invalidated key %#x, which is not its own",
					 wc->ex.invalidate_rkey);
		return;
	}
	if (atomic_read(&queue->aen_waits) & NVME_RDMA_WAIT_RESPONSE) {
		queue->aen_status = cqe->status;
		queue->aen_result = cqe->result;
		if (unlikely(atomic_read(&queue->aen_waits) &
			     NVME_RDMA_WAIT_SEND))
			queue->cq->awaited++;
	}
	nvme_rdma_aen_arrived(queue, NVME_RDMA_WAIT_RESPONSE);
}

/* The handler of a receive from its first completion to its next post */
static void nvme_rdma_recv_twice(struct ib_cq *cq, struct ib_wc *wc)
{
	nvme_rdma_completed_twice(nvme_rdma_cq_queue(cq), "receive");
}

/* Copy the entry out of its receive, which may be posted again after that */
static void nvme_rdma_take_response(struct nvme_rdma_queue *queue, size_t offset,
				    struct nvme_completion *cqe)
{
	u64 dma = nvme_rdma_pages_dma(queue->rsps, offset);
	struct ib_device *ibdev = queue->device->dev;
	bool sync = queue->rsps->sync;

	if (sync)
		ib_dma_sync_single_for_cpu(ibdev, dma, sizeof(*cqe),
					   DMA_FROM_DEVICE);
	*cqe = *(struct nvme_completion *)nvme_rdma_pages_at(queue->rsps, offset);
	if (sync)
		ib_dma_sync_single_for_device(ibdev, dma, sizeof(*cqe),
					      DMA_FROM_DEVICE);
}

/* Handle the completion of a receive: a response. Context: CQ. */
static void nvme_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_queue *queue = nvme_rdma_cq_queue(cq);
	struct nvme_completion cqe;
	int ret = 0;

	static_assert(sizeof(cqe) == NVME_RDMA_CQE_LEN);
	wc->wr_cqe->done = nvme_rdma_recv_twice;
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvme_rdma_work_failed(queue, wc, "RECV");
		return;
	}
	/* An RDMA WRITE with immediate data leaves the receive empty */
	if (unlikely(wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)) {
		nvme_rdma_protocol_error(queue,
					 "RDMA WRITE with immediate data (expected a SEND)");
		return;
	}
	if (unlikely(!nvme_rdma_response_whole(wc->byte_len))) {
		nvme_rdma_protocol_error(queue,
					 "response of %u bytes (expected %zu)",
					 wc->byte_len, sizeof(cqe));
		return;
	}
	nvme_rdma_take_response(queue, (wc->wr_cqe - queue->rsp_cqes) * sizeof(cqe),
				&cqe);

	/* after a protocol error no receive is posted any more */
	if (likely(nvme_rdma_queue_usable(queue)))
		ret = nvme_rdma_post_recv(queue, wc->wr_cqe);
	if (unlikely(ret))
		nvme_rdma_protocol_error(queue,
					 "receive not posted again: error %d",
					 ret);

	if (unlikely(nvme_is_aen_req(queue->qid, cqe.command_id)))
		nvme_rdma_event(queue, &cqe, wc);
	else
		nvme_rdma_response(queue, &cqe, wc);
}

/**
 * nvme_rdma_init_recv_chain() - prepare the chain that nvme_rdma_post_recv() fills
 * @queue: the queue, its device known
 *
 * Context: process.
 */
void nvme_rdma_init_recv_chain(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_recv_chain *chain = &queue->recv_chain;
	int i;

	chain->nr = 0;
	for (i = 0; i < NVME_RDMA_RECV_CHAIN; i++) {
		chain->sge[i].length = sizeof(struct nvme_completion);
		chain->sge[i].lkey = queue->ctrl->pd->local_dma_lkey;
		chain->wr[i].sg_list = &chain->sge[i];
		chain->wr[i].num_sge = 1;
		chain->wr[i].next = i + 1 < NVME_RDMA_RECV_CHAIN ?
			&chain->wr[i + 1] : NULL;
	}
}

/**
 * nvme_rdma_post_recv() - post the receive of one completion entry
 * @queue: the queue
 * @cqe: the entry's member of @queue->rsp_cqes
 *
 * Receives are posted in chains of NVME_RDMA_RECV_CHAIN. There are that many more
 * receives than commands, so one for each command and one more are always posted.
 *
 * Context: process while the queue is made, then CQ.
 * Return: 0 or the provider's negative errno.
 */
int nvme_rdma_post_recv(struct nvme_rdma_queue *queue, struct ib_cqe *cqe)
{
	struct nvme_rdma_recv_chain *chain = &queue->recv_chain;
	size_t offset = (cqe - queue->rsp_cqes) * sizeof(struct nvme_completion);
	int i;

	chain->wr[chain->nr].wr_cqe = cqe;
	chain->sge[chain->nr].addr = nvme_rdma_pages_dma(queue->rsps, offset);
	if (++chain->nr < NVME_RDMA_RECV_CHAIN)
		return 0;
	chain->nr = 0;
	/* Before the post, a completion is a second one: see nvme_rdma_recv_twice() */
	for (i = 0; i < NVME_RDMA_RECV_CHAIN; i++)
		chain->wr[i].wr_cqe->done = nvme_rdma_recv_done;
	return ib_post_recv(queue->qp, chain->wr, NULL);
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
	int found = 0;

	if (!nvme_rdma_polled(queue))
		return 0;
	rcu_read_lock();
	if (nvme_rdma_queue_usable(queue) &&
	    !test_and_set_bit_lock(0, &queue->polling)) {
		queue->done.polls += NVME_RDMA_COUNTS;
		queue->iob = iob ?: &queue->batch;
		found = nvme_rdma_cq_poll(queue->cq);
		queue->iob = &queue->batch;
		clear_bit_unlock(0, &queue->polling);
	}
	rcu_read_unlock();
	return found;
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
	int found = nvme_rdma_poll_queue(queue, iob);

	if (unlikely(!found && hctx->queue == queue->ctrl->ctrl.connect_q))
		usleep_range(100, 200);
	return found;
}
