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
 * before the queue. So these completions are the queue's own (quiet_send, quiet_reg).
 *
 * No handler runs once nvme_rdma_flush_queue() or nvme_rdma_drain_queue() has returned.
 *
 * A response's entry is copied, its receive given back (post.c), and only then
 * the request completed: what the completion triggers finds a receive in place.
 *
 * Each event clears its bit in the request's waits. The bit was set before the
 * post, so it is missing only if the event is a duplicate or was never due;
 * that changes nothing and breaks the connection. Who clears the last bit
 * completes the request.
 */
#include "nvme_rdma.h"
#include "trace.h"

static struct nvme_rdma_queue *nvme_rdma_cq_queue(const struct ib_cq *ib)
{
	const struct nvme_rdma_cq *cq = ib->cq_context;

	return cq->context;
}

/*
 * A flush says something only where nothing else said why the queue broke. The
 * CM flushes the receives of a request that failed before it says how, which
 * is what the one who connects shall hear.
 */
static void nvme_rdma_work_failed(struct nvme_rdma_queue *queue,
				  const struct ib_wc *wc, const char *what)
{
	bool first;

	trace_nvme_rdma_work_failed(queue, wc);
	nvme_rdma_count(queue, wc->status == IB_WC_WR_FLUSH_ERR ?
			NVME_RDMA_EV_FLUSH : NVME_RDMA_EV_WC_ERROR);
	if (wc->status == IB_WC_WR_FLUSH_ERR &&
	    READ_ONCE(queue->state) == NVME_RDMA_Q_CONNECTING)
		return;
	first = nvme_rdma_break_queue(queue, -EIO);
	if (first || wc->status != IB_WC_WR_FLUSH_ERR)
		nvme_rdma_queue_msg(err, queue,
				    "%s failed: %s (%d), vendor code %#x\n",
				    what, ib_wc_status_msg(wc->status),
				    wc->status, wc->vendor_err);
}

/* With @iob, where the kernel lets it, the request ends with others */
static void nvme_rdma_finish(struct nvme_rdma_request *req,
			     struct io_comp_batch *iob)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	u16 status;

	if (unlikely(req->data == NVME_RDMA_DATA_PROTECTED)) {
		status = nvme_rdma_check_pi(req);
		if (!(le16_to_cpu(req->status) >> 1))
			req->status = cpu_to_le16(status << 1);
	}
	if (unlikely(READ_ONCE(req->aborted)))
		nvme_rdma_was_aborted(req);
	if (nvme_try_complete_req(rq, req->status, req->result))
		return;
	/* Some kernels take failed passthrough commands for good ones */
	status = nvme_req(rq)->status;
	if (unlikely(status) ||
	    !blk_mq_add_to_batch(rq, iob, status, nvme_rdma_complete_batch))
		nvme_rdma_complete_rq(rq);
}

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
static bool nvme_rdma_arrived(atomic_t *waits, int events, int *left)
{
	int old = atomic_fetch_andnot(events, waits);

	*left = old & ~events;
	return (old & events) == events;
}

/*
 * The controller, or the device, broke the rules: be done with it, and say how, once
 * for each connection.
 */
static __printf(2, 3) void
nvme_rdma_protocol_error(struct nvme_rdma_queue *queue, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	nvme_rdma_count(queue, NVME_RDMA_EV_PROTOCOL);
	if (!nvme_rdma_break_queue(queue, -EPROTO))
		return;
	va_start(args, fmt);
	vaf.va = &args;
	nvme_rdma_queue_msg(err, queue, "%pV\n", &vaf);
	va_end(args);
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
 * nvme_rdma_posted() - the post that took a request has returned
 * @req: the request; not the caller's any more when this returns
 *
 * A response that came before left the LOCAL_INV to us: by a forged one, made before
 * the command was sent, it would overtake the REG_MR, and the key be valid when the
 * request is done.
 *
 * Context: as queue_rq().
 */
void nvme_rdma_posted(struct nvme_rdma_request *req)
{
	int left;

	nvme_rdma_arrived(&req->waits, NVME_RDMA_WAIT_POST, &left);
	if (unlikely(!left))
		nvme_rdma_finish(req, NULL);
	else if (unlikely(!(left & NVME_RDMA_WAIT_RESPONSE) &&
			  left & NVME_RDMA_WAIT_INVALIDATE) &&
		 nvme_rdma_queue_usable(req->queue))
		nvme_rdma_invalidate_key(req);
}

static void nvme_rdma_completed_twice(struct nvme_rdma_queue *queue, const char *what)
{
	nvme_rdma_protocol_error(queue,
				 "a %s completed twice, check the device and its firmware",
				 what);
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
	if (unlikely(!nvme_rdma_arrived(&req->waits, NVME_RDMA_WAIT_SEND, &left))) {
		nvme_rdma_completed_twice(queue, "SEND");
		return;
	}
	queue->done.sends += NVME_RDMA_COUNTS;
	nvme_rdma_give_credit(queue, retires);
	/* The response came first, and had this waited for */
	if (unlikely(!(left & NVME_RDMA_WAIT_RESPONSE)))
		queue->cq->awaited--;
	if (!left)
		nvme_rdma_finish(req, queue->iob);
}

static void nvme_rdma_quiet_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		nvme_rdma_work_failed(nvme_rdma_cq_queue(cq), wc, "SEND");
}

static void nvme_rdma_quiet_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		nvme_rdma_work_failed(nvme_rdma_cq_queue(cq), wc, "REG_MR");
}

/**
 * nvme_rdma_init_quiet() - completions of what no request waits for
 * @queue: the queue
 *
 * Context: process.
 */
void nvme_rdma_init_quiet(struct nvme_rdma_queue *queue)
{
	queue->quiet_send.done = nvme_rdma_quiet_send_done;
	queue->quiet_reg.done = nvme_rdma_quiet_reg_done;
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
	if (nvme_rdma_arrived(&req->waits, NVME_RDMA_WAIT_INVALIDATE, &left) &&
	    !left)
		nvme_rdma_finish(req, queue->iob);
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
 * waits is looked at. One that does has its command, its tag and that tag's MR.
 *
 * The tag in an ID leads to a request which may have been sent since with another tag,
 * or with another generation of this one. So the whole ID has to be that of its command.
 */
static enum nvme_rdma_verdict
nvme_rdma_verdict(struct nvme_rdma_request *req, u16 id, const struct ib_wc *wc)
{
	/* what is waited for was written before, the tag's MR, too */
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
	if (unlikely(!nvme_rdma_arrived(&req->waits, verdict, &left))) {
		nvme_rdma_protocol_error(queue,
					 "two responses to command ID %#x",
					 cqe->command_id);
		return;
	}
	if (verdict & NVME_RDMA_WAIT_INVALIDATE)
		nvme_rdma_give_credit(queue, 1);
	if (likely(!left)) {
		nvme_rdma_finish(req, queue->iob);
		return;
	}
	if (unlikely(left & NVME_RDMA_WAIT_SEND))
		queue->cq->awaited++;
	if (left & NVME_RDMA_WAIT_INVALIDATE && nvme_rdma_queue_usable(queue)) {
		queue->cq->awaited++;
		/* else who posts does it, see nvme_rdma_posted() */
		if (likely(!(left & NVME_RDMA_WAIT_POST)))
			nvme_rdma_invalidate_key(req);
	}
}

/* An event is handed to the core when its request's SEND is done as well */
static void nvme_rdma_aen_arrived(struct nvme_rdma_queue *queue, int event)
{
	int left;

	if (!nvme_rdma_arrived(&queue->aen_waits, event, &left))
		nvme_rdma_protocol_error(queue,
					 "asynchronous event, but no event request is outstanding");
	else if (!left)
		nvme_complete_async_event(&queue->ctrl->ctrl,
					  queue->aen_status,
					  &queue->aen_result);
}

/**
 * nvme_rdma_aen_send_done() - the event request's SEND completed, or failed
 * @cq: the completion queue
 * @wc: the work completion
 *
 * Context: CQ.
 */
void nvme_rdma_aen_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_queue *queue = nvme_rdma_cq_queue(cq);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvme_rdma_work_failed(queue, wc, "SEND of the event request");
		return;
	}
	if (unlikely(!(atomic_read(&queue->aen_waits) & NVME_RDMA_WAIT_SEND))) {
		nvme_rdma_completed_twice(queue, "SEND");
		return;
	}
	nvme_rdma_give_credit(queue, 1);
	if (unlikely(!(atomic_read(&queue->aen_waits) &
		       NVME_RDMA_WAIT_RESPONSE)))
		queue->cq->awaited--;
	nvme_rdma_aen_arrived(queue, NVME_RDMA_WAIT_SEND);
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
					 "RDMA WRITE with immediate data, expected a SEND");
		return;
	}
	if (unlikely(!nvme_rdma_response_whole(wc->byte_len))) {
		nvme_rdma_protocol_error(queue,
					 "response of %u bytes, expected %zu",
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
