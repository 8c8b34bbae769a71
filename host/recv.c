// SPDX-License-Identifier: GPL-2.0
/*
 * Responses: their receives, the requests that they are for, and events.
 *
 * A handler copies the entry of a response, posts its receive again, and completes the
 * request after that, so that a command which the completion triggers finds a receive.
 *
 * Responses are counted one by one, as each has its own latency: a histogram needs it. The
 * clock is read once for a batch of completions. Counting takes some 25 of the 149 instructions
 * for a response.
 *
 * completion.c says what handlers of completions may do.
 */
#include "completion.h"
#include "ctrl.h"
#include "device.h"
#include "error.h"
#include "trace.h"

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

/* What a completion queue entry says of its command */
struct nvme_rdma_entry {
	union nvme_result	result;
	u16			id;
	__le16			status;
};

static void nvme_rdma_count_response(struct nvme_rdma_queue *queue,
				     const struct nvme_rdma_request *req,
				     struct nvme_rdma_entry entry, bool invalidated)
{
	struct nvme_rdma_done *done = &queue->done;
	u64 now, ns;

	if (!NVME_RDMA_COUNTS)
		return;
	/* a forged response may arrive right before the post of its command */
	now = nvme_rdma_cq_now(queue->cq);
	ns = now > req->sent_at ? now - req->sent_at : 0;
	if (unlikely(le16_to_cpu(entry.status) >> 1))
		done->errors++;
	nvme_rdma_hist_add(&done->latency, ns);
	trace_nvme_rdma_response(queue, entry.id, entry.status, invalidated, ns);
}

/*
 * Some events of a request are still due after its response. If that is the end of its post
 * alone, the request may be gone.
 */
static void nvme_rdma_await_rest(struct nvme_rdma_queue *queue,
				 struct nvme_rdma_request *req, int left)
{
	if (unlikely(left & NVME_RDMA_WAIT_SEND))
		queue->cq->awaited++;
	if (left & NVME_RDMA_WAIT_INVALIDATE && nvme_rdma_queue_usable(queue)) {
		queue->cq->awaited++;
		/* else nvme_rdma_post_done() does it */
		if (likely(!(left & NVME_RDMA_WAIT_POST)))
			nvme_rdma_invalidate_key(req);
	}
}

/* Return: the request that sends, or has last sent, a command with the tag of @id; or NULL */
static struct nvme_rdma_request *nvme_rdma_request_of(struct nvme_rdma_queue *queue, u16 id)
{
	struct blk_mq_tags *tags = READ_ONCE(queue->tags);
	struct request *rq;

	if (unlikely(!tags))
		return NULL;
	rq = blk_mq_tag_to_rq(tags, nvme_tag_from_cid(id));
	return likely(rq) ? blk_mq_rq_to_pdu(rq) : NULL;
}

static void nvme_rdma_response(struct nvme_rdma_queue *queue,
			       struct nvme_rdma_entry entry,
			       const struct ib_wc *wc)
{
	struct nvme_rdma_request *req = nvme_rdma_request_of(queue, entry.id);
	enum nvme_rdma_verdict verdict = NVME_RDMA_RSP_IDLE;
	bool invalidated;
	int left;

	if (likely(req))
		verdict = nvme_rdma_verdict(req, entry.id, wc);
	if (unlikely(verdict == NVME_RDMA_RSP_IDLE)) {
		nvme_rdma_protocol_error(queue,
					 "response to command ID %#x, which is not outstanding",
					 entry.id);
		return;
	}
	if (unlikely(verdict == NVME_RDMA_RSP_WRONG_KEY)) {
		nvme_rdma_protocol_error(queue,
					 "response to command ID %#x invalidated key %#x, which is not that command's",
					 entry.id, wc->ex.invalidate_rkey);
		return;
	}
	invalidated = verdict & NVME_RDMA_WAIT_INVALIDATE;
	nvme_rdma_count_response(queue, req, entry, invalidated);
	req->status = entry.status;
	req->result = entry.result;
	/* These bits were set, and only handlers of the queue clear them: one at a time */
	left = atomic_sub_return(verdict, &req->waits);
	if (invalidated) {
		queue->done.remote_invalidates += NVME_RDMA_COUNTS;
		nvme_rdma_give_credit(queue, 1);
	}
	if (likely(!left))
		nvme_rdma_finish_request(req, queue->iob);
	else
		nvme_rdma_await_rest(queue, req, left);
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
			    struct nvme_rdma_entry entry,
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
		queue->aen_status = entry.status;
		queue->aen_result = entry.result;
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

/*
 * Copy the entry out of its receive, which may be posted again after that. Each member is
 * read once: the peer may write to a receive that is posted.
 */
static struct nvme_rdma_entry nvme_rdma_take_entry(struct nvme_rdma_queue *queue,
						   size_t offset, u64 dma)
{
	const struct nvme_completion *cqe = nvme_rdma_pages_at(queue->rsps, offset);
	struct ib_device *ibdev = queue->device->dev;
	struct nvme_rdma_entry entry;
	bool sync = queue->rsps->sync;

	if (unlikely(sync))
		ib_dma_sync_single_for_cpu(ibdev, dma, sizeof(*cqe),
					   DMA_FROM_DEVICE);
	entry.result.u64 = READ_ONCE(cqe->result.u64);
	entry.id = READ_ONCE(cqe->command_id);
	entry.status = READ_ONCE(cqe->status);
	if (unlikely(sync))
		ib_dma_sync_single_for_device(ibdev, dma, sizeof(*cqe),
					      DMA_FROM_DEVICE);
	return entry;
}

static void nvme_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc);

/* Out of line: a variable on its stack costs each response. Return: 0 or a negative errno */
static noinline int nvme_rdma_post_chain(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_recv_chain *chain = &queue->recv_chain;
	int i;

	chain->nr = 0;
	/* Before the post, a completion is a second one: see nvme_rdma_recv_twice() */
	for (i = 0; i < NVME_RDMA_RECV_CHAIN; i++)
		chain->wr[i].wr_cqe->done = nvme_rdma_recv_done;
	return ib_post_recv(queue->qp, chain->wr, NULL);
}

/* Add a receive to the chain. Return: true if the chain is full. */
static bool nvme_rdma_chain_recv(struct nvme_rdma_queue *queue, struct ib_cqe *cqe, u64 dma)
{
	struct nvme_rdma_recv_chain *chain = &queue->recv_chain;
	unsigned int nr = chain->nr++;

	chain->wr[nr].wr_cqe = cqe;
	chain->sge[nr].addr = dma;
	return nr == NVME_RDMA_RECV_CHAIN - 1;
}

/* Handle the completion of a receive: a response. Context: CQ. */
static void nvme_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_queue *queue = nvme_rdma_cq_queue(cq);
	struct nvme_rdma_entry entry;
	size_t offset;
	int ret = 0;
	u64 dma;

	static_assert(sizeof(struct nvme_completion) == NVME_RDMA_CQE_LEN);
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
					 wc->byte_len, sizeof(struct nvme_completion));
		return;
	}
	offset = (wc->wr_cqe - queue->rsp_cqes) * sizeof(struct nvme_completion);
	dma = nvme_rdma_pages_dma(queue->rsps, offset);
	entry = nvme_rdma_take_entry(queue, offset, dma);

	/* after a protocol error no receive is posted any more */
	if (likely(nvme_rdma_queue_usable(queue)) &&
	    nvme_rdma_chain_recv(queue, wc->wr_cqe, dma))
		ret = nvme_rdma_post_chain(queue);
	if (unlikely(ret))
		nvme_rdma_protocol_error(queue,
					 "receive not posted again: error %d",
					 ret);

	if (unlikely(nvme_is_aen_req(queue->qid, entry.id)))
		nvme_rdma_event(queue, entry, wc);
	else
		nvme_rdma_response(queue, entry, wc);
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
 * Context: process, while the queue is made.
 * Return: 0 or the provider's negative errno.
 */
int nvme_rdma_post_recv(struct nvme_rdma_queue *queue, struct ib_cqe *cqe)
{
	size_t offset = (cqe - queue->rsp_cqes) * sizeof(struct nvme_completion);
	u64 dma = nvme_rdma_pages_dma(queue->rsps, offset);

	return nvme_rdma_chain_recv(queue, cqe, dma) ? nvme_rdma_post_chain(queue) : 0;
}
