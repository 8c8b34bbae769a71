// SPDX-License-Identifier: GPL-2.0
/*
 * What comes back: work completions and the controller's responses.
 *
 * Operation
 *
 * The handlers run in the CQ's context, an interrupt or a poller, one at a time for
 * a queue. Requests that are done end when all of a batch of completions has been
 * handled (nvme_rdma_after_batch()). Each handler looks at the status first. An error
 * says that the queue is broken and nothing more: no request is looked at, nor the QP,
 * which may be gone.
 *
 * No request waits for its REG_MR, nor for a SEND that is not signaled: the response
 * tells that both are done. Still such a work request may be flushed, long after that.
 * Drivers that make the completions of a broken QP themselves (bnxt_re, irdma) flush
 * all behind the last one that completed, done or not. The request may have another
 * life then, or be freed: those of an I/O scheduler and of flushes go with their disk,
 * before the queue. So these completions are the queue's own (unsignaled_send, unsignaled_reg).
 *
 * No handler runs once nvme_rdma_flush_queue() or nvme_rdma_drain_queue() has returned.
 *
 * A response's entry is copied, its receive posted again, and only then
 * the request completed: what the completion triggers finds a receive in place.
 *
 * Each event clears its bit in the request's waits. The bit was set before the
 * post, so it is missing only if the event is a duplicate or was never due;
 * that changes nothing and breaks the connection. Who clears the last bit
 * completes the request.
 */
#include "completion.h"
#include "ctrl.h"
#include "device.h"
#include "error.h"
#include "trace.h"

/**
 * nvme_rdma_after_batch() - the handlers of a batch of completions have run
 * @cq: the completion queue
 *
 * Who waits for a drain has to find the requests ended, so that comes last.
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

/*
 * Clear bits of what a request waits for. True if all of them were set; then
 * *left is what it still waits for.
 */
static bool nvme_rdma_clear_waits(atomic_t *waits, int events, int *left)
{
	int old = atomic_fetch_andnot(events, waits);

	*left = old & ~events;
	return (old & events) == events;
}

/*
 * LOCAL_INV of a request that was answered, on a queue that is not going down: there
 * the drain takes care of the key.
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
 * nvme_rdma_post_done() - the post that took a request has returned
 * @req: the request; not the caller's any more when this returns
 *
 * A response that came before left the LOCAL_INV to us: by a forged one, made before
 * the command was sent, it would overtake the REG_MR, and the key be valid when the
 * request is done.
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
 * nvme_rdma_send_done() - a capsule's SEND completed, or failed
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
	/* Once it has arrived, the response may end the request */
	retires = req->retires;
	if (unlikely(!nvme_rdma_clear_waits(&req->waits, NVME_RDMA_WAIT_SEND, &left))) {
		nvme_rdma_completed_twice(queue, "SEND");
		return;
	}
	queue->done.sends += NVME_RDMA_COUNTS;
	nvme_rdma_give_credit(queue, retires);
	/* The response came first, and had this waited for */
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
 * nvme_rdma_init_unsignaled() - completions of what no request waits for
 * @queue: the queue
 *
 * Context: process.
 */
void nvme_rdma_init_unsignaled(struct nvme_rdma_queue *queue)
{
	queue->unsignaled_send.done = nvme_rdma_unsignaled_send_done;
	queue->unsignaled_reg.done = nvme_rdma_unsignaled_reg_done;
}

/* As nvme_rdma_recv_twice(): a request may wait for an invalidation in its next life */
static void nvme_rdma_invalidated_twice(struct ib_cq *cq, struct ib_wc *wc)
{
	nvme_rdma_completed_twice(nvme_rdma_cq_queue(cq), "LOCAL_INV");
}

/**
 * nvme_rdma_invalidate_done() - a LOCAL_INV completed, or failed
 * @cq: the completion queue
 * @wc: the work completion
 *
 * Context: CQ.
 */
void nvme_rdma_invalidate_done(struct ib_cq *cq, struct ib_wc *wc)
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
 * nvme_rdma_post_invalidate() - invalidate a request's key ourselves
 * @req: the request, answered; its slot for this was taken at the start
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

/* By its tag: @mr of a request that a forged response names may just go */
static u32 nvme_rdma_tag_key(struct nvme_rdma_request *req, int tag)
{
	struct nvme_rdma_queue *queue = req->queue;

	if (unlikely(READ_ONCE(req->data) == NVME_RDMA_DATA_PROTECTED))
		return queue->sig_mrs[tag]->rkey;
	return queue->mrs[tag]->rkey;
}

/*
 * See response.h; of a request that does not wait for a response, nothing but its
 * waits is looked at. One that does has its tag and that tag's MR.
 */
static enum nvme_rdma_verdict
nvme_rdma_verdict(struct nvme_rdma_request *req, const struct ib_wc *wc)
{
	/* what is waited for was written before, the tag's MR, too */
	int waits = atomic_read_acquire(&req->waits);
	u32 own_key = 0;

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
	/* a batch may have been taken out just before the post of its last one */
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

	rq = tags ? nvme_find_rq(tags, cqe->command_id) : NULL;
	req = rq ? blk_mq_rq_to_pdu(rq) : NULL;
	verdict = req ? nvme_rdma_verdict(req, wc) : NVME_RDMA_RSP_IDLE;
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
		nvme_rdma_give_credit(queue, 1);
	if (likely(!left)) {
		nvme_rdma_finish_request(req, queue->iob);
		return;
	}
	if (unlikely(left & NVME_RDMA_WAIT_SEND))
		queue->cq->awaited++;
	if (left & NVME_RDMA_WAIT_INVALIDATE && nvme_rdma_queue_usable(queue)) {
		queue->cq->awaited++;
		/* else who posts does it, see nvme_rdma_post_done() */
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
	/* Its request has no key: this is one of another request's, in use */
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

/* Its place is that of the handler, from the first completion to the next post */
static void nvme_rdma_recv_twice(struct ib_cq *cq, struct ib_wc *wc)
{
	nvme_rdma_completed_twice(nvme_rdma_cq_queue(cq), "receive");
}

/* Copies the entry out of its receive, which may be posted again then */
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

/**
 * nvme_rdma_recv_done() - a response arrived, or the receive failed
 * @cq: the completion queue
 * @wc: the work completion
 *
 * Context: CQ.
 */
void nvme_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
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
	/* Nothing is in the receive that an RDMA WRITE has taken */
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

	/* a controller that broke the rules sends no more than was posted */
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
 * nvme_rdma_init_recv_chain() - prepare what nvme_rdma_post_recv() fills in
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
 * It is posted with others, NVME_RDMA_RECV_CHAIN at a time. Of the receives,
 * which are that many more than commands, at least one for each command and one
 * more are posted at any time.
 *
 * Context: the one who makes the queue, then the CQ's.
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
	/* Only now may they complete: until then a completion is one too many */
	for (i = 0; i < NVME_RDMA_RECV_CHAIN; i++)
		chain->wr[i].wr_cqe->done = nvme_rdma_recv_done;
	return ib_post_recv(queue->qp, chain->wr, NULL);
}

/**
 * nvme_rdma_poll_queue() - handle what a polled queue's CQ holds
 * @queue: the queue, of any kind
 * @iob: where the caller ends requests in one go, or NULL
 *
 * Several CPUs may poll a queue; who comes while another is at it has nothing
 * to do.
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
 * nvme_rdma_poll() - look for completions of a polled queue
 * @hctx: the hardware context
 * @iob: where the caller ends requests in one go, or NULL
 *
 * While a queue is not LIVE, the only one to poll it is the sender of its
 * Connect, in blk_execute_rq(), which would spin for a network round trip: many
 * queues connect at once, so it sleeps a little.
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
