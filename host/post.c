// SPDX-License-Identifier: GPL-2.0
/*
 * Posting requests to the device.
 *
 * Operation
 *
 * Requests wait on the queue's pending list until a batch ends. Under sq_lock
 * the list becomes one chain of work requests - REG_MR in front of the SEND of
 * a request that has an MR - and goes to the device in one ib_post_send().
 *
 * A request's waits are set last before the post. One of the bits is the end of the
 * post itself. Providers read the links of the chain after they have passed a work
 * request to the device. So a request that is answered at once, or before it was sent,
 * must not be completed, reused and linked again during the post. After the post the
 * list is walked once more: requests that the device accepted lose that bit, the others
 * end with the queue.
 *
 * sq_lock is held over ib_post_send(), as the slots that a signaled SEND gives back are those
 * of all work requests before it (credit.c): chains must be posted in the order in which they
 * were built. Each CPU has a queue of its own as a rule, so nobody waits for the lock.
 *
 * The end of the post is a locked subtraction for each request, one of three locked
 * instructions of a read in this module; the others are for its slots and its response. A
 * device may complete a request during its post, so the handler may clear its bits at the
 * same time, and a plain store could set them again. In batches of 8 the walk with the
 * subtraction takes 12 instructions of a request.
 *
 * Requests are posted only while the queue is CONNECTED or LIVE. blk-mq posts in an RCU
 * read-side section. A context that closes the queue and waits for a grace period, as
 * before nvme_rdma_drain_queue(), relies on that: no chain is posted behind the drain.
 */
#include "completion.h"
#include "ctrl.h"
#include "error.h"
#include "io.h"
#include "trace.h"

static struct ib_send_wr *nvme_rdma_first_wr(struct nvme_rdma_request *req)
{
	return nvme_rdma_registered(req) ?
		&req->reg_wr.wr : &req->send_wr;
}

static void nvme_rdma_count_request(struct nvme_rdma_queue *queue,
				    const struct nvme_rdma_request *req)
{
	struct request *rq = blk_mq_rq_from_pdu((void *)req);
	unsigned int bytes = req->data == NVME_RDMA_DATA_NONE ?
		0 : blk_rq_payload_bytes(rq);
	struct nvme_rdma_sent *sent = &queue->sent;

	trace_nvme_rdma_send(queue, req, bytes);
	if (!NVME_RDMA_COUNTS)
		return;
	sent->by_data[req->data]++;
	sent->bytes[rq_data_dir(rq)] += bytes;
}

/*
 * A SEND is signaled on the admin queue, if its in-capsule data must be unmapped, and
 * often enough to learn of free slots. The request waits for a signaled SEND, so its
 * handler finds the request that it was posted for. An unsignaled SEND may outlive its
 * request, so the queue owns its completion, see completion.c.
 */
static void nvme_rdma_arm(struct nvme_rdma_queue *queue,
			  struct nvme_rdma_request *req, u64 now)
{
	int waits = NVME_RDMA_WAIT_POST | NVME_RDMA_WAIT_RESPONSE;

	req->sent_at = now;
	queue->unretired++;
	if (nvme_rdma_registered(req)) {
		queue->unretired++;
		waits |= NVME_RDMA_WAIT_INVALIDATE;
	}
	if (!queue->qid || req->data == NVME_RDMA_DATA_IN_CAPSULE ||
	    queue->unretired >= queue->signal_every) {
		waits |= NVME_RDMA_WAIT_SEND;
		req->send_wr.wr_cqe = &req->send_cqe;
		req->send_wr.send_flags |= IB_SEND_SIGNALED;
		queue->sent.signaled += NVME_RDMA_COUNTS;
		req->retires = queue->unretired;
		queue->unretired = 0;
	}
	req->send_wr.next = req->next ? nvme_rdma_first_wr(req->next) : NULL;
	atomic_set_release(&req->waits, waits);
	nvme_rdma_count_request(queue, req);
}

/*
 * The block layer's time of the plug, if it has one, and this is the queue's first post of it.
 * Further ones may be much later.
 */
static u64 nvme_rdma_post_time(struct nvme_rdma_queue *queue)
{
	u64 now = nvme_rdma_plug_time();

	if (!now || unlikely(now == queue->plug_time))
		return ktime_get_ns();
	queue->plug_time = now;
	return now;
}

/* Requests after a post: a list, and the first one on it that the device did not accept */
struct nvme_rdma_posted {
	struct nvme_rdma_request *list;
	struct nvme_rdma_request *failed;
};

/* Post the pending requests. Return: all of them. */
static struct nvme_rdma_posted
nvme_rdma_post_locked(struct nvme_rdma_queue *queue)
	__must_hold(&queue->sq_lock)
{
	struct nvme_rdma_request *list = queue->pending, *req;
	struct nvme_rdma_posted posted = { .list = list, .failed = list };
	const struct ib_send_wr *bad = NULL;
	u64 now;
	int ret;

	if (!list)
		return posted;
	WRITE_ONCE(queue->pending, NULL);
	queue->pending_tail = &queue->pending;
	if (unlikely(!nvme_rdma_queue_usable(queue)))
		return posted;

	now = NVME_RDMA_COUNTS ? nvme_rdma_post_time(queue) : 0;
	for (req = list; req; req = req->next)
		nvme_rdma_arm(queue, req, now);
	queue->sent.posts += NVME_RDMA_COUNTS;
	ret = ib_post_send(queue->qp, nvme_rdma_first_wr(list), &bad);
	if (likely(!ret)) {
		posted.failed = NULL;
		return posted;
	}
	nvme_rdma_count(queue, NVME_RDMA_EV_POST);
	nvme_rdma_queue_msg(err, queue, "the device took no more work: error %d\n",
			    ret);
	for (req = list; req; req = req->next)
		if (bad == &req->reg_wr.wr || bad == &req->send_wr)
			posted.failed = req;
	return posted;
}

/*
 * A request may be freed, and its link with it, once its post bit is clear. Requests
 * that the device did not accept end with the queue: a REG_MR may have made a key valid,
 * and the peer can guess it.
 */
static void nvme_rdma_after_post(struct nvme_rdma_queue *queue,
				 struct nvme_rdma_posted posted)
{
	struct nvme_rdma_request *req, *next;

	for (req = posted.list; req != posted.failed; req = next) {
		next = req->next;
		nvme_rdma_post_done(req);
	}
	if (unlikely(posted.failed))
		nvme_rdma_break_queue(queue, -EIO);
}

/**
 * nvme_rdma_append() - add requests to the pending list
 * @queue: their queue
 * @first: the first of them, linked by @next; the caller does not own them any more when
 *	this returns
 * @end: the last one
 * @last: post all pending requests
 *
 * Context: as queue_rq().
 */
void nvme_rdma_append(struct nvme_rdma_queue *queue,
		      struct nvme_rdma_request *first,
		      struct nvme_rdma_request *end, bool last)
{
	struct nvme_rdma_posted posted = {};

	end->next = NULL;
	spin_lock(&queue->sq_lock);
	*queue->pending_tail = first;
	queue->pending_tail = &end->next;
	if (last)
		posted = nvme_rdma_post_locked(queue);
	spin_unlock(&queue->sq_lock);
	nvme_rdma_after_post(queue, posted);
}

/**
 * nvme_rdma_post_pending() - post the pending requests
 * @queue: the queue
 *
 * Context: as queue_rq().
 */
void nvme_rdma_post_pending(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_posted posted;

	if (!READ_ONCE(queue->pending))
		return;
	spin_lock(&queue->sq_lock);
	posted = nvme_rdma_post_locked(queue);
	spin_unlock(&queue->sq_lock);
	nvme_rdma_after_post(queue, posted);
}
