// SPDX-License-Identifier: GPL-2.0
/*
 * Start and end of one queue.
 *
 * The memory of a queue belongs to its controller and lives as long. Taking a queue
 * down has four steps, so that many queues can take them side by side:
 * nvme_rdma_close_queue() bars new users, an RCU grace period waits for the present
 * users, nvme_rdma_drain_queue() ends the work requests and the keys, and
 * nvme_rdma_free_queue() frees the verbs resources, see qp.c.
 *
 * All queue pairs of a controller share its protection domain, and a key is valid on
 * each of them. So draining the queue pair of one queue does not keep the peer from the
 * data of that queue. The keys must end before any of its requests is completed: the
 * drain frees the MRs. If all queues go down, nvme_rdma_flush_queue() drains all queue
 * pairs first. Then no queue pair is left on which a key could be used, and the MRs,
 * thousands of firmware commands, are freed after the requests went to another path.
 *
 * The context that sets up or tears down a controller owns its queues; only the owner
 * frees them. The abort work may stop a queue that failed. It holds stop_lock from the
 * check of the state to the end of the drain, so it cannot stop the next connection
 * of the queue.
 *
 * Freeing an MR may hang for a minute in the driver of the device, so MRs are not freed
 * under stop_lock: the owner needs that lock to flush the queue, and requests go to
 * another path once it has flushed all queues. They are freed under key_lock instead.
 * Before the requests have gone, only two contexts take it: the abort work, and the
 * owner when it takes down a part of the queues (nvme_rdma_drain_queue()), whose requests
 * need the end of the keys. The timeout handler takes stop_lock only, and holds it for a
 * check, or while it flushes the completion queue of a usable queue. The owner waits for that
 * handler before it flushes.
 */
#include "conn.h"
#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "error.h"

/**
 * nvme_rdma_close_queue() - bar new users from a queue
 * @queue: the queue, in any state
 *
 * The caller waits for an RCU grace period, after which the present users are done,
 * before it calls nvme_rdma_drain_queue().
 *
 * Context: process.
 */
void nvme_rdma_close_queue(struct nvme_rdma_queue *queue)
{
	spin_lock_irq(&queue->state_lock);
	nvme_rdma_move_queue(queue, NVME_RDMA_Q_CLOSING);
	spin_unlock_irq(&queue->state_lock);
}

/*
 * The error state comes first: over iWARP, rdma_disconnect() waits for the end of a
 * connection attempt, which the peer may never answer, and a device ends that attempt
 * with its QP. The drain modifies the QP once more, and checks the result.
 */
static void nvme_rdma_flush_locked(struct nvme_rdma_queue *queue)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	lockdep_assert_held(&queue->stop_lock);
	if (queue->drain_state != NVME_RDMA_DRAIN_DUE)
		return;
	ib_modify_qp(queue->qp, &attr, IB_QP_STATE);
	rdma_disconnect(queue->cm_id);
	nvme_rdma_drain_qp(queue);

	spin_lock(&queue->sq_lock);
	queue->pending = NULL;
	queue->pending_tail = &queue->pending;
	spin_unlock(&queue->sq_lock);
	WRITE_ONCE(queue->drain_state, NVME_RDMA_DRAIN_FLUSHED);
}

static void nvme_rdma_set_drained_locked(struct nvme_rdma_queue *queue)
{
	lockdep_assert_held(&queue->stop_lock);
	if (queue->drain_state < NVME_RDMA_DRAIN_FLUSHED)
		return;
	/* a reader that sees DONE sees the effects of the drain; see nvme_rdma_queue_drained() */
	smp_store_release(&queue->drain_state, NVME_RDMA_DRAIN_DONE);
}

/**
 * nvme_rdma_flush_queue() - disconnect a closed queue and drain its queue pair
 * @queue: the queue, closed an RCU grace period ago; nothing is done if idle
 *
 * When this returns, no completion handler runs, and nothing accesses the queue's
 * capsules, responses or data through this queue pair. After all queues of a controller
 * are flushed, the caller calls nvme_rdma_set_drained().
 *
 * Requests that were appended but not posted are dropped from the list. They were
 * started, and are cancelled with the others.
 *
 * Context: process.
 */
void nvme_rdma_flush_queue(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	nvme_rdma_flush_locked(queue);
	mutex_unlock(&queue->stop_lock);
}

/**
 * nvme_rdma_set_drained() - note that nothing accesses the data of a queue any more
 * @queue: the queue, flushed, as are all others of its controller
 *
 * Context: process.
 */
void nvme_rdma_set_drained(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	nvme_rdma_set_drained_locked(queue);
	mutex_unlock(&queue->stop_lock);
}

/*
 * End the keys of a queue that others of its controller outlive. If its owner has flushed
 * all queues by now, or has freed this one and connects it again, do nothing. Under
 * key_lock the queue stays flushed: no MR is added, and no other context frees them.
 */
static void nvme_rdma_end_keys(struct nvme_rdma_queue *queue)
{
	bool due;

	mutex_lock(&queue->key_lock);
	mutex_lock(&queue->stop_lock);
	due = queue->drain_state == NVME_RDMA_DRAIN_FLUSHED;
	mutex_unlock(&queue->stop_lock);
	if (due) {
		nvme_rdma_free_mrs(queue);
		nvme_rdma_set_drained(queue);
	}
	mutex_unlock(&queue->key_lock);
}

/**
 * nvme_rdma_drain_queue() - flush a closed queue, and end its keys
 * @queue: the queue, closed an RCU grace period ago; nothing is done if idle
 *
 * When this returns, nothing accesses the queue's capsules, responses or data any more,
 * through any queue pair.
 *
 * Context: process.
 */
void nvme_rdma_drain_queue(struct nvme_rdma_queue *queue)
{
	nvme_rdma_flush_queue(queue);
	nvme_rdma_end_keys(queue);
}

static void nvme_rdma_stop_locked(struct nvme_rdma_queue *queue)
{
	nvme_rdma_close_queue(queue);
	synchronize_rcu();
	nvme_rdma_flush_locked(queue);
}

/* Close and drain a queue in any state */
static void nvme_rdma_stop_queue(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	nvme_rdma_stop_locked(queue);
	mutex_unlock(&queue->stop_lock);
	nvme_rdma_end_keys(queue);
}

/**
 * nvme_rdma_fail_late_queue() - fail a queue because a request timed out
 * @queue: the queue
 * @rq: the request, which the caller keeps from being freed
 *
 * The owner of the queue may have completed the request meanwhile, and connected the
 * queue again. The request may be in flight again, and not have timed out.
 *
 * The lock of a queue that is not usable is not taken: the context that failed or closed
 * it may be draining it, for seconds, and ends the request. The owner waits for this
 * handler before it flushes any queue.
 *
 * Context: process. Return: true if the request timed out, and the queue is failed or closed.
 */
bool nvme_rdma_fail_late_queue(struct nvme_rdma_queue *queue,
			       struct request *rq)
{
	bool late;

	if (!nvme_rdma_queue_usable(queue))
		return blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT;
	mutex_lock(&queue->stop_lock);
	late = blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT &&
	       time_after_eq(jiffies, READ_ONCE(rq->deadline));
	if (late)
		nvme_rdma_fail_queue(queue, -ETIMEDOUT);
	mutex_unlock(&queue->stop_lock);
	return late;
}

/**
 * nvme_rdma_stop_failed_queue() - close and drain a queue if it failed
 * @queue: the queue, which its owner may meanwhile close and connect again
 *
 * Does not wait for a queue that did not fail: software iWARP connects under stop_lock,
 * for as long as TCP retries.
 *
 * Context: process.
 */
void nvme_rdma_stop_failed_queue(struct nvme_rdma_queue *queue)
{
	bool failed;

	if (READ_ONCE(queue->state) != NVME_RDMA_Q_FAILED)
		return;
	mutex_lock(&queue->stop_lock);
	failed = READ_ONCE(queue->state) == NVME_RDMA_Q_FAILED;
	if (failed)
		nvme_rdma_stop_locked(queue);
	mutex_unlock(&queue->stop_lock);
	if (failed)
		nvme_rdma_end_keys(queue);
}

/**
 * nvme_rdma_free_queue() - free what nvme_rdma_start_queue() made
 * @queue: the queue, drained; nothing is done if it is idle
 *
 * Destroying the CM ID waits for its callback, which is the only other user of
 * the verbs resources now. Abort work that runs later finds no QP.
 *
 * Context: process; not in a CM callback.
 */
void nvme_rdma_free_queue(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->key_lock);
	mutex_lock(&queue->stop_lock);
	if (queue->cm_id) {
		rdma_destroy_id(queue->cm_id);
		queue->cm_id = NULL;
		nvme_rdma_destroy_verbs(queue);
		WRITE_ONCE(queue->drain_state, NVME_RDMA_DRAIN_NONE);

		spin_lock_irq(&queue->state_lock);
		nvme_rdma_move_queue(queue, NVME_RDMA_Q_IDLE);
		spin_unlock_irq(&queue->state_lock);
	}
	mutex_unlock(&queue->stop_lock);
	mutex_unlock(&queue->key_lock);
}

/* Attempts while the peer reports a stale connection, as after a reboot of either side */
#define NVME_RDMA_STALE_TRIES		3

static int nvme_rdma_fabrics_connect(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;

	WRITE_ONCE(queue->tags, queue->qid ?
		   ctrl->tag_set.tags[queue->qid - 1] :
		   ctrl->admin_tag_set.tags[0]);
	if (queue->qid)
		return nvmf_connect_io_queue(&ctrl->ctrl, queue->qid);
	return nvmf_connect_admin_queue(&ctrl->ctrl);
}

/**
 * nvme_rdma_is_rejection() - did the controller or the core reject a command?
 * @status: status of the command: a negative errno, or a positive NVMe status
 *
 * The controller rejects by its response, the core because of a key. Then that is the
 * reason to report. The connection may have ended as a consequence, as targets end it
 * after a failed authentication. A command without a response has a status of type
 * Path Related.
 *
 * Context: any.
 */
bool nvme_rdma_is_rejection(int status)
{
	if (status > 0)
		return (status & NVME_SCT_MASK) != NVME_SCT_PATH;
	return status == -EKEYREJECTED || status == -ENOKEY;
}

/*
 * Connect an idle queue. If the peer takes it for an old connection, ask again at
 * once, by another queue pair. In any case nvme_rdma_free_queue() frees what was made.
 */
static int nvme_rdma_connect_queue(struct nvme_rdma_queue *queue)
{
	int tries = 0, ret;

	for (;;) {
		ret = nvme_rdma_connect_once(queue);
		if (ret != -ESTALE || ++tries == NVME_RDMA_STALE_TRIES)
			return ret;
		nvme_rdma_stop_queue(queue);
		nvme_rdma_free_queue(queue);
	}
}

/**
 * nvme_rdma_queue_connectable() - can blk-mq allocate a request for its Connect?
 * @queue: an I/O queue, which has a hardware context
 *
 * Context: process; the controller's queues are the caller's.
 */
bool nvme_rdma_queue_connectable(struct nvme_rdma_queue *queue)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	queue_for_each_hw_ctx(queue->ctrl->ctrl.connect_q, hctx, i)
		if (hctx->queue_num == queue->qid - 1)
			return cpumask_intersects(hctx->cpumask,
						  cpu_online_mask);
	return false;
}

/**
 * nvme_rdma_start_queue() - bring an idle queue to LIVE
 * @queue: the queue, its depth set, its tag set allocated
 *
 * A queue that was started already is left as it is. An I/O queue without a CPU on which
 * its Connect can be sent stays idle, see tagset.c.
 *
 * Context: process; sleeps up to the deadlines. Return: 0; a positive NVMe status; or a
 * negative errno: -ETIMEDOUT, -ECONNREFUSED, the errno that the controller was given up
 * with, or that of another error, which the log has explained.
 */
int nvme_rdma_start_queue(struct nvme_rdma_queue *queue)
{
	int ret;

	if (READ_ONCE(queue->state) != NVME_RDMA_Q_IDLE)
		return READ_ONCE(queue->error);
	if (queue->qid && !nvme_rdma_queue_connectable(queue))
		return 0;
	ret = nvme_rdma_connect_queue(queue);
	if (!ret)
		ret = nvme_rdma_fabrics_connect(queue);

	/* the error of the connection explains a Connect without a response */
	spin_lock_irq(&queue->state_lock);
	if (queue->error && !nvme_rdma_is_rejection(ret))
		ret = queue->error;
	else if (!ret && !nvme_rdma_move_queue(queue, NVME_RDMA_Q_LIVE))
		ret = -ECONNRESET;
	spin_unlock_irq(&queue->state_lock);
	nvme_rdma_count(queue, ret ? NVME_RDMA_EV_CONNECT_FAILED :
			       NVME_RDMA_EV_CONNECT);
	return ret;
}
