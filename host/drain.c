// SPDX-License-Identifier: GPL-2.0
/*
 * Draining a queue pair, without trust in the device.
 *
 * A drain moves the QP into the error state and posts one more work request to
 * each of its queues. Work requests of a queue are flushed in order, so when
 * these two have completed, so has everything posted before them, and all
 * handlers have returned.
 *
 * It is done twice. Handlers of receives that succeeded may have posted a
 * receive or a LOCAL_INV behind the first drain's own; after it no receive
 * succeeds, so the second one finds all there is.
 *
 * A dead device flushes nothing, and one that its driver has declared dead takes no
 * work either. Its QP is destroyed, after which the verbs promise neither access to
 * memory nor completions: all that the drain is for. So is that of a completion queue
 * that has failed. (The drain that some drivers have themselves does not say whether
 * it did it.)
 */
#include "ctrl.h"
#include "device.h"

/* A flush is local work; what has not come after this never will */
#define NVME_RDMA_DRAIN_SECS	10

static void nvme_rdma_drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_drain *drain =
		container_of(wc->wr_cqe, struct nvme_rdma_drain, cqe);

	drain->arrived = true;
}

/**
 * nvme_rdma_drain_arrived() - all of a batch of completions has been handled
 * @drain: what it may have held
 *
 * Context: CQ.
 */
void nvme_rdma_drain_arrived(struct nvme_rdma_drain *drain)
{
	if (likely(!drain->arrived))
		return;
	drain->arrived = false;
	complete(&drain->done);
}

/**
 * nvme_rdma_init_drain() - what a queue is drained by
 * @queue: the queue
 *
 * Context: process.
 */
void nvme_rdma_init_drain(struct nvme_rdma_queue *queue)
{
	queue->sq_drain.cqe.done = nvme_rdma_drain_done;
	init_completion(&queue->sq_drain.done);
	queue->rq_drain.cqe.done = nvme_rdma_drain_done;
	init_completion(&queue->rq_drain.done);
}

/*
 * Nobody polls a CQ without interrupts any more: do it here. As with those who did, a
 * handler's tags stay for as long as it looks at them: nvme_rdma_hide_io_tags().
 */
static int nvme_rdma_drain_poll(struct nvme_rdma_queue *queue)
{
	int found;

	rcu_read_lock();
	found = nvme_rdma_cq_poll(queue->cq);
	rcu_read_unlock();
	return found;
}

/* A CQ may fail by what the drain makes it complete: look at that now and then */
static bool nvme_rdma_await_drain(struct nvme_rdma_queue *queue,
				  struct nvme_rdma_drain *drain,
				  unsigned long deadline)
{
	bool polled = nvme_rdma_polled(queue);

	nvme_rdma_cq_drain_sends(queue->cq);
	while (!READ_ONCE(queue->cq->broken)) {
		if (polled ? try_wait_for_completion(&drain->done) :
			     wait_for_completion_timeout(&drain->done, HZ / 2))
			return true;
		if (time_after(jiffies, deadline))
			break;
		if (polled && !nvme_rdma_drain_poll(queue))
			schedule_timeout_idle(1);
	}
	return false;
}

static int nvme_rdma_drain_once(struct nvme_rdma_queue *queue)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_send_wr send = {
		.wr_cqe		= &queue->sq_drain.cqe,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};
	struct ib_recv_wr recv = { .wr_cqe = &queue->rq_drain.cqe };
	unsigned long deadline;
	int ret;

	ret = ib_modify_qp(queue->qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	reinit_completion(&queue->sq_drain.done);
	ret = ib_post_send(queue->qp, &send, NULL);
	if (ret)
		return ret;
	deadline = jiffies + NVME_RDMA_DRAIN_SECS * HZ;
	if (!nvme_rdma_await_drain(queue, &queue->sq_drain, deadline))
		return -ETIMEDOUT;

	reinit_completion(&queue->rq_drain.done);
	ret = ib_post_recv(queue->qp, &recv, NULL);
	if (ret)
		return ret;
	if (!nvme_rdma_await_drain(queue, &queue->rq_drain, deadline))
		return -ETIMEDOUT;
	return 0;
}

/*
 * What has completed is handled, but not beside the end of the QP, to which handlers
 * may post, nor after it.
 */
static void nvme_rdma_destroy_as_it_is(struct nvme_rdma_queue *queue)
{
	bool polled = nvme_rdma_polled(queue);

	if (polled)
		nvme_rdma_drain_poll(queue);
	else
		nvme_rdma_cq_stop(queue->cq);
	rdma_destroy_qp(queue->cm_id);
	queue->qp = NULL;
	nvme_rdma_cq_discard(queue->cq);
	if (!polled)
		nvme_rdma_cq_start(queue->cq);
}

/**
 * nvme_rdma_drain_qp() - end every work request of a QP
 * @queue: the queue; nobody but completion handlers posts to it
 *
 * When this returns, the device does not touch the queue's capsules, responses
 * or data any more and no completion handler looks at a request.
 *
 * Context: process, for up to twice NVME_RDMA_DRAIN_SECS.
 */
void nvme_rdma_drain_qp(struct nvme_rdma_queue *queue)
{
	int ret;

	ret = nvme_rdma_drain_once(queue);
	if (!ret)
		ret = nvme_rdma_drain_once(queue);
	if (!ret)
		return;
	/* if it is broken, the device has said so */
	if (!READ_ONCE(queue->cq->broken))
		nvme_rdma_queue_msg(err, queue,
				    "%s does not flush its work requests (error %d): destroying its queue pair without a drain\n",
				    dev_name(&queue->device->dev->dev), ret);
	nvme_rdma_destroy_as_it_is(queue);
}
