// SPDX-License-Identifier: GPL-2.0
/*
 * Draining a queue pair, even if the device does not respond.
 *
 * A drain moves the QP into the error state and posts one more work request to
 * each of its queues. Work requests of a queue are flushed in order, so when
 * these two have completed, so has everything posted before them, and all
 * handlers have returned.
 *
 * A queue pair is drained twice. Handlers of receives that succeeded may have posted a
 * receive or a LOCAL_INV behind the work requests of the first drain. After the first
 * drain no receive succeeds, so the second one waits for all work requests.
 *
 * A dead device flushes nothing, and a device that its driver has declared dead accepts no
 * work request. Then the QP is destroyed, after which the verbs guarantee that there is
 * neither access to memory nor a completion: the purpose of the drain. The same is done
 * if the completion queue has failed. (The drain of some drivers does not report whether
 * it succeeded.)
 */
#include "ctrl.h"
#include "device.h"

/* A flush is local: a work request that is not flushed after this time never will be */
#define NVME_RDMA_DRAIN_SECS	10

static void nvme_rdma_drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_drain *drain =
		container_of(wc->wr_cqe, struct nvme_rdma_drain, cqe);

	drain->arrived = true;
}

/**
 * nvme_rdma_drain_arrived() - signal a drain at the end of a batch of completions
 * @drain: the drain, whose completion may have been in the batch
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
 * nvme_rdma_init_drain() - prepare the drain of a queue
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
 * Poll a CQ without interrupts, as no other context polls it any more. The RCU read-side
 * section keeps the tags while a handler uses them, see nvme_rdma_hide_io_tags().
 */
static int nvme_rdma_drain_poll(struct nvme_rdma_queue *queue)
{
	int found;

	rcu_read_lock();
	found = nvme_rdma_cq_take(queue->cq);
	if (found > 0)
		found = nvme_rdma_cq_poll_on(queue->cq, found);
	rcu_read_unlock();
	return max(found, 0);
}

/* The completions of the drain may make a CQ fail, so check that from time to time */
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
 * Completions are handled before the QP is destroyed, not during or after that: handlers
 * may post to it.
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
 * @queue: the queue; only completion handlers post to it
 *
 * When this returns, the device does not access the queue's capsules, responses or data
 * through this QP any more, and no completion handler uses a request.
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
	/* a broken CQ was reported already */
	if (!READ_ONCE(queue->cq->broken))
		nvme_rdma_queue_msg(err, queue,
				    "%s does not flush its work requests (error %d): destroying its queue pair without a drain\n",
				    dev_name(&queue->device->dev->dev), ret);
	nvme_rdma_destroy_as_it_is(queue);
}
