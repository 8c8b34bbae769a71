// SPDX-License-Identifier: GPL-2.0
/*
 * Handing work requests to the device.
 *
 * Operation
 *
 * Requests wait on the queue's pending list until a batch ends. Under sq_lock
 * the list becomes one chain of work requests - REG_MR in front of the SEND of
 * a request that has an MR - and goes to the device in one ib_post_send().
 *
 * The last thing that happens to a request before the post is that it is told
 * what it waits for. One of these is the end of the post: providers read the
 * links of the chain after they have shown a work request to the device, so a
 * request that is answered at once, or before it was sent at all, must not be
 * done, reused and linked anew while the post goes on. After the post the list
 * is walked once more; requests that the device took lose that bit, those that
 * it did not take end with the queue.
 *
 * No request is posted unless the queue is CONNECTED or LIVE. blk-mq posts in a
 * read-side section of RCU, so who closes the queue and waits for those, as
 * nvme_rdma_drain_queue() does, knows that no chain is posted behind the drain.
 */
#include "completion.h"
#include "ctrl.h"
#include "error.h"
#include "io.h"
#include "trace.h"

/**
 * nvme_rdma_request_wrs() - send queue slots that a request can ever need
 * @req: the request, its data mapped
 *
 * Context: any. Return: SEND, and with an MR also REG_MR and LOCAL_INV.
 */
int nvme_rdma_request_wrs(const struct nvme_rdma_request *req)
{
	return nvme_rdma_registered(req) ? 3 : 1;
}

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
 * A SEND is signaled when its in-capsule data must be unmapped, on the admin
 * queue, and often enough to learn of free slots. A signaled SEND is waited
 * for, so that its handler finds the request it was posted for. What is not
 * may outlive its request: its completion is the queue's, see completion.c.
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
		req->reg_wr.wr.next = &req->send_wr;
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
 * Posts what is pending. Returns the list of it, and in *failed where on the
 * list the requests begin that the device did not take, NULL if it took all.
 */
static struct nvme_rdma_request *
nvme_rdma_post_locked(struct nvme_rdma_queue *queue,
		      struct nvme_rdma_request **failed)
	__must_hold(&queue->sq_lock)
{
	struct nvme_rdma_request *list = queue->pending, *req;
	const struct ib_send_wr *bad = NULL;
	u64 now;
	int ret;

	*failed = list;
	if (!list)
		return NULL;
	WRITE_ONCE(queue->pending, NULL);
	queue->pending_tail = &queue->pending;
	if (unlikely(!nvme_rdma_queue_usable(queue)))
		return list;

	now = NVME_RDMA_COUNTS ? ktime_get_ns() : 0;
	for (req = list; req; req = req->next)
		nvme_rdma_arm(queue, req, now);
	queue->sent.posts += NVME_RDMA_COUNTS;
	ret = ib_post_send(queue->qp, nvme_rdma_first_wr(list), &bad);
	if (likely(!ret)) {
		*failed = NULL;
		return list;
	}
	nvme_rdma_count(queue, NVME_RDMA_EV_POST);
	nvme_rdma_queue_msg(err, queue, "the device took no more work: error %d\n",
			    ret);
	for (req = list; req; req = req->next)
		if (bad == &req->reg_wr.wr || bad == &req->send_wr)
			*failed = req;
	return list;
}

/*
 * A request may be gone, and its link with it, once its post bit is cleared. What
 * the device did not take ends with the queue: REG_MR may have made a key valid, and
 * the peer can guess it.
 */
static void nvme_rdma_after_post(struct nvme_rdma_queue *queue,
				 struct nvme_rdma_request *list,
				 struct nvme_rdma_request *failed)
{
	struct nvme_rdma_request *req, *next;

	for (req = list; req != failed; req = next) {
		next = req->next;
		nvme_rdma_post_done(req);
	}
	if (unlikely(failed))
		nvme_rdma_break_queue(queue, -EIO);
}

/**
 * nvme_rdma_append() - a request is ready to be posted
 * @req: the request; not the caller's any more when this returns
 * @last: post it and all that wait before it
 *
 * Context: as queue_rq().
 */
void nvme_rdma_append(struct nvme_rdma_request *req, bool last)
{
	struct nvme_rdma_request *list = NULL, *failed = NULL;
	struct nvme_rdma_queue *queue = req->queue;

	req->next = NULL;
	spin_lock(&queue->sq_lock);
	*queue->pending_tail = req;
	queue->pending_tail = &req->next;
	if (last)
		list = nvme_rdma_post_locked(queue, &failed);
	spin_unlock(&queue->sq_lock);
	nvme_rdma_after_post(queue, list, failed);
}

/**
 * nvme_rdma_post_pending() - post the requests that wait
 * @queue: the queue
 *
 * Context: as queue_rq().
 */
void nvme_rdma_post_pending(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_request *list, *failed;

	if (!READ_ONCE(queue->pending))
		return;
	spin_lock(&queue->sq_lock);
	list = nvme_rdma_post_locked(queue, &failed);
	spin_unlock(&queue->sq_lock);
	nvme_rdma_after_post(queue, list, failed);
}
