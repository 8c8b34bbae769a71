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
 * what it waits for. After the post it may be gone. Whether it was taken is
 * known from bad_wr: the links of the list stay readable, because a request
 * that completed meanwhile can be appended anew only under sq_lock.
 *
 * Send queue slots are counted in sq_avail. A request takes all that it can
 * ever need before it is appended: one for its SEND and, with an MR, two for
 * REG_MR and LOCAL_INV. The send queue completes in order, so a signaled SEND
 * that completes gives back the slots of all REG_MR and SEND since the
 * signaled one before it (retires). LOCAL_INV is always signaled and gives back
 * its own; where the peer invalidated, the slot returns with the response.
 */
#include "nvme_rdma.h"

/**
 * nvme_rdma_take_credit() - take send queue slots
 * @queue: the queue
 * @wrs: how many
 *
 * Context: any. Return: false if there are not that many; none is taken then.
 */
bool nvme_rdma_take_credit(struct nvme_rdma_queue *queue, int wrs)
{
	if (likely(atomic_sub_return(wrs, &queue->sq_avail) >= 0))
		return true;
	atomic_add(wrs, &queue->sq_avail);
	return false;
}

/**
 * nvme_rdma_give_credit() - give send queue slots back
 * @queue: the queue
 * @wrs: how many
 *
 * Context: any.
 */
void nvme_rdma_give_credit(struct nvme_rdma_queue *queue, int wrs)
{
	atomic_add(wrs, &queue->sq_avail);
}

/**
 * nvme_rdma_request_wrs() - send queue slots that a request can ever need
 * @req: the request, its data mapped
 *
 * Context: any. Return: SEND, and with an MR also REG_MR and LOCAL_INV.
 */
int nvme_rdma_request_wrs(const struct nvme_rdma_request *req)
{
	return req->data == NVME_RDMA_DATA_REGISTERED ? 3 : 1;
}

static struct ib_send_wr *nvme_rdma_first_wr(struct nvme_rdma_request *req)
{
	return req->data == NVME_RDMA_DATA_REGISTERED ?
		&req->reg_wr.wr : &req->send_wr;
}

/*
 * A SEND is signaled when its in-capsule data must be unmapped, on the admin
 * queue, and often enough to learn of free slots. A signaled SEND is waited
 * for, so that its handler finds the request it was posted for.
 */
static void nvme_rdma_arm(struct nvme_rdma_queue *queue,
			  struct nvme_rdma_request *req)
{
	int waits = NVME_RDMA_WAIT_RESPONSE;

	queue->unretired++;
	if (req->data == NVME_RDMA_DATA_REGISTERED) {
		queue->unretired++;
		waits |= NVME_RDMA_WAIT_INVALIDATE;
		req->reg_wr.wr.next = &req->send_wr;
	}
	if (!queue->qid || req->data == NVME_RDMA_DATA_IN_CAPSULE ||
	    queue->unretired >= queue->signal_every) {
		waits |= NVME_RDMA_WAIT_SEND;
		req->send_wr.send_flags |= IB_SEND_SIGNALED;
		req->retires = queue->unretired;
		queue->unretired = 0;
	}
	req->send_wr.next = req->next ? nvme_rdma_first_wr(req->next) : NULL;
	atomic_set(&req->waits, waits);
}

/* Of a list of which a post took a part, what it did not take */
static struct nvme_rdma_request *
nvme_rdma_not_taken(struct nvme_rdma_request *list,
		    const struct ib_send_wr *bad)
{
	struct nvme_rdma_request *req;

	for (req = list; req; req = req->next)
		if (bad == &req->reg_wr.wr || bad == &req->send_wr)
			return req;
	return list;
}

/* Returns the requests that the device did not take, linked, or NULL */
static struct nvme_rdma_request *
nvme_rdma_post_locked(struct nvme_rdma_queue *queue)
	__must_hold(&queue->sq_lock)
{
	struct nvme_rdma_request *list = queue->pending, *req;
	const struct ib_send_wr *bad = NULL;
	int ret;

	if (!list)
		return NULL;
	for (req = list; req; req = req->next)
		nvme_rdma_arm(queue, req);
	WRITE_ONCE(queue->pending, NULL);
	queue->pending_tail = &queue->pending;

	ret = ib_post_send(queue->qp, nvme_rdma_first_wr(list), &bad);
	if (likely(!ret))
		return NULL;
	nvme_rdma_queue_msg(err, queue, "the device took no more work: error %d\n",
			    ret);
	return nvme_rdma_not_taken(list, bad);
}

/*
 * The peer has not seen these requests. A key that REG_MR did make valid is
 * known to nobody, and the queue is on its way down.
 */
static void nvme_rdma_fail_requests(struct nvme_rdma_queue *queue,
				    struct nvme_rdma_request *list)
{
	struct nvme_rdma_request *req, *next;

	nvme_rdma_error_recovery(queue->ctrl);
	for (req = list; req; req = next) {
		next = req->next;
		atomic_set(&req->waits, 0);
		nvme_rdma_unmap_data(req);
		nvme_host_path_error(blk_mq_rq_from_pdu(req));
	}
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
	struct nvme_rdma_queue *queue = req->queue;
	struct nvme_rdma_request *failed = NULL;

	req->next = NULL;
	spin_lock(&queue->sq_lock);
	*queue->pending_tail = req;
	queue->pending_tail = &req->next;
	if (last)
		failed = nvme_rdma_post_locked(queue);
	spin_unlock(&queue->sq_lock);
	if (unlikely(failed))
		nvme_rdma_fail_requests(queue, failed);
}

/**
 * nvme_rdma_post_pending() - post the requests that wait
 * @queue: the queue
 *
 * Context: as queue_rq().
 */
void nvme_rdma_post_pending(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_request *failed;

	if (!READ_ONCE(queue->pending))
		return;
	spin_lock(&queue->sq_lock);
	failed = nvme_rdma_post_locked(queue);
	spin_unlock(&queue->sq_lock);
	if (unlikely(failed))
		nvme_rdma_fail_requests(queue, failed);
}

/**
 * nvme_rdma_post_recv() - post the receive of one completion entry
 * @queue: the queue
 * @cqe: the entry's member of @queue->rsp_cqes
 *
 * Context: any. Return: 0 or the provider's negative errno.
 */
int nvme_rdma_post_recv(struct nvme_rdma_queue *queue, struct ib_cqe *cqe)
{
	size_t slot = cqe - queue->rsp_cqes;
	struct ib_sge sge = {
		.addr	= queue->rsps_dma +
			  slot * sizeof(struct nvme_completion),
		.length	= sizeof(struct nvme_completion),
		.lkey	= queue->device->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_recv(queue->qp, &wr, NULL);
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
		.wr_cqe			= &req->reg_cqe,
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.ex.invalidate_rkey	= req->mr->rkey,
	};

	req->reg_cqe.done = nvme_rdma_invalidate_done;
	return ib_post_send(req->queue->qp, &wr, NULL);
}
