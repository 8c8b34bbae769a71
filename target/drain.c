// SPDX-License-Identifier: GPL-2.0
/*
 * Draining: wait until the HCA has released all work requests of a queue, with a deadline.
 *
 * Operation: nvmet_rdma_drain() moves the QP to the error state and posts a marker to its send
 * queue, and to its receive queue if it has one. Work requests complete in order, so when the
 * markers have completed, everything posted before has completed. There is one completion
 * queue, so everything that completed before has been handled. A QP on an SRQ has no receive
 * queue for a marker. There nvmet_rdma_drain_receives() waits for the event by which the HCA
 * reports that the QP has taken its last receive.
 *
 * ib_drain_qp() does not do: it waits for an HCA for ever and needs the QP until then. For a
 * QP on an SRQ it does nothing on older kernels, and on newer ones each call but the first
 * waits for a minute.
 *
 * Some devices lack the event (soft-RoCE of 6.1). Their QP is reset, after which it takes and
 * completes no receive. Then nvme_rdma_cq_flush() handles what has completed. A QP is reset
 * only after the last drain, because whatever is posted to it afterwards is lost.
 *
 * Completion handlers never wait. When the deadline has passed, the completion queue is
 * flushed: if the marker is not among the completions, the HCA has not completed it.
 *
 * Failure: an HCA that does not answer in time is considered dead. The QP is reset, which
 * stops it if the HCA still works at all. If the reset fails, the HCA may still work on what
 * the release frees. So once @forced is set, handlers only give shared receives back
 * (nvmet_rdma_drain_forced()). A flush after that waits for the handlers that did not see it.
 * No response is posted any more, because a QP in RESET takes none. A QP on an SRQ is destroyed
 * while its completion queue is stopped (qp.c), because only a completion tells which queue has
 * taken a shared receive. Buffers stay with their responses until the QP is gone (release.c).
 * If a device was dead for one queue, the others get a short deadline, until one of them
 * drains successfully. The same applies to the queues of a failed completion queue.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "qp.h"

/* An HCA flushes within milliseconds; an emulated one on a busy machine, within seconds */
#define DRAIN_MS		30000
/* For a device that has missed that deadline */
#define DRAIN_DEAD_MS		500
/* For the event, if the device is known to have it, and if not */
#define LAST_WQE_MS		5000
#define LAST_WQE_TRY_MS		1000

static void nvmet_rdma_drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_marker *marker =
		container_of(wc->wr_cqe, struct nvmet_rdma_marker, cqe);

	complete(&marker->done);
}

static void marker_init(struct nvmet_rdma_marker *marker)
{
	marker->cqe.done = nvmet_rdma_drain_done;
	init_completion(&marker->done);
}

static int post_markers(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_drain *drain = &queue->drain;
	struct ib_rdma_wr send = {
		.wr.wr_cqe	= &drain->send.cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};
	struct ib_recv_wr recv = {
		.wr_cqe		= &drain->recv.cqe,
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret;

	marker_init(&drain->send);
	marker_init(&drain->recv);
	ret = ib_modify_qp(queue->qp, &attr, IB_QP_STATE);
	if (!ret)
		ret = ib_post_send(queue->qp, &send.wr, NULL);
	if (!ret && !queue->srq)
		ret = ib_post_recv(queue->qp, &recv, NULL);
	return ret;
}

static bool cq_is_broken(const struct nvmet_rdma_queue *queue)
{
	return READ_ONCE(queue->cq->broken);
}

static bool wait_in_time(struct nvmet_rdma_queue *queue,
			 struct completion *done, unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);

	do {
		if (wait_for_completion_timeout(done,
						msecs_to_jiffies(DRAIN_DEAD_MS)))
			return true;
	} while (!READ_ONCE(queue->dev->dead) && !cq_is_broken(queue) &&
		 time_before(jiffies, end));
	return false;
}

static int wait_for_marker(struct nvmet_rdma_queue *queue,
			   struct nvmet_rdma_marker *marker)
{
	if (wait_in_time(queue, &marker->done, DRAIN_MS))
		return 0;
	nvme_rdma_cq_flush(queue->cq);
	return completion_done(&marker->done) ? 0 : -ETIMEDOUT;
}

static void reset_qp(struct nvmet_rdma_queue *queue)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	int ret = ib_modify_qp(queue->qp, &attr, IB_QP_STATE);

	if (ret)
		pr_warn_ratelimited("%s: cannot reset a queue pair (error %d)\n",
				    queue->dev->ib->name, ret);
	nvme_rdma_cq_flush(queue->cq);
}

static const char *forced_reason(const struct nvmet_rdma_queue *queue, int error)
{
	if (cq_is_broken(queue))
		return "cannot report the end of its work requests";
	if (error == -ETIMEDOUT)
		return "did not flush its work requests in time";
	return "cannot flush its work requests";
}

static void force_drain(struct nvmet_rdma_queue *queue, int error)
{
	if (!cq_is_broken(queue))
		WRITE_ONCE(queue->dev->dead, true);
	/* Seen by everything that posts a response of a parked command later */
	spin_lock_irq(&queue->sq_lock);
	WRITE_ONCE(queue->drain.forced, true);
	spin_unlock_irq(&queue->sq_lock);
	nvmet_rdma_event(queue, NVMET_RDMA_EV_DRAIN);
	nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_DRAIN);
	pr_err_ratelimited("host %pISpc, queue %u: %s %s (error %d); destroying the queue without a flush\n",
			   &queue->peer_addr, queue->qid, queue->dev->ib->name,
			   forced_reason(queue, error), error);
	reset_qp(queue);
}

/**
 * nvmet_rdma_drain() - wait until all that was posted has been handled
 * @queue: the queue; new receives are not posted to its own receive queue
 *
 * The receives of an SRQ that the queue's QP takes may still complete; see
 * nvmet_rdma_drain_receives().
 *
 * Context: may sleep, for a bounded time.
 */
void nvmet_rdma_drain(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_drain *drain = &queue->drain;
	int ret;

	if (drain->forced)
		return;
	ret = post_markers(queue);
	if (!ret)
		ret = wait_for_marker(queue, &drain->send);
	if (!ret && !queue->srq)
		ret = wait_for_marker(queue, &drain->recv);
	if (ret)
		force_drain(queue, ret);
	else
		WRITE_ONCE(queue->dev->dead, false);
}

/**
 * nvmet_rdma_drain_last_wqe() - the QP has taken its last shared receive
 * @queue: the queue
 *
 * Context: any; an event of the QP.
 */
void nvmet_rdma_drain_last_wqe(struct nvmet_rdma_queue *queue)
{
	WRITE_ONCE(queue->dev->last_wqe, NVMET_RDMA_LAST_WQE_REPORTED);
	complete(&queue->drain.last_wqe);
}

static bool wait_last_wqe(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_device *dev = queue->dev;
	struct completion *done = &queue->drain.last_wqe;

	switch (READ_ONCE(dev->last_wqe)) {
	case NVMET_RDMA_LAST_WQE_REPORTED:
		return wait_in_time(queue, done, LAST_WQE_MS);
	case NVMET_RDMA_LAST_WQE_MISSING:
		return completion_done(done);
	default:
		break;
	}
	if (wait_for_completion_timeout(done, msecs_to_jiffies(LAST_WQE_TRY_MS)))
		return true;
	/* unless another queue has received the event meanwhile */
	cmpxchg(&dev->last_wqe, NVMET_RDMA_LAST_WQE_UNKNOWN,
		NVMET_RDMA_LAST_WQE_MISSING);
	return false;
}

/**
 * nvmet_rdma_drain_receives() - wait until no shared receive is with the QP
 * @queue: the queue, with an SRQ or without; drained, and nothing is posted to it any more
 *
 * After this no completion names the QP.
 *
 * Context: may sleep, for a bounded time.
 */
void nvmet_rdma_drain_receives(struct nvmet_rdma_queue *queue)
{
	if (!queue->srq || queue->drain.forced)
		return;
	if (wait_last_wqe(queue))
		nvme_rdma_cq_flush(queue->cq);
	else
		reset_qp(queue);
}

/**
 * nvmet_rdma_drain_init() - initialize the drain of a new queue
 * @queue: the queue
 *
 * Context: any.
 */
void nvmet_rdma_drain_init(struct nvmet_rdma_queue *queue)
{
	init_completion(&queue->drain.last_wqe);
}
