// SPDX-License-Identifier: GPL-2.0
/*
 * One queue: its state, its start and its end.
 *
 * A queue's memory belongs to its controller and lives as long. The end has
 * four parts, so that many queues can pass through it side by side:
 * nvme_rdma_close_queue() lets nobody in, an RCU grace period lets everybody
 * out, nvme_rdma_drain_queue() ends what the device has, and the keys; then
 * nvme_rdma_free_queue() gives the verbs resources back, see ib.c.
 *
 * A key is good on every queue pair of the controller, whose protection domain
 * they share: that a queue's own was drained does not keep the peer from its
 * data. So keys end with the drain, by the end of their MRs, before any request
 * does. Where all queues go, nvme_rdma_flush_queue() drains each of them first;
 * then no queue pair is left for a key, and the MRs, thousands of commands of the
 * device's firmware, go when the requests are on their way to another path.
 *
 * Who brings a controller up or down owns its queues and alone frees them. The
 * abort work may stop a queue meanwhile, once it failed. It holds stop_lock from
 * the look at its state to the end of the drain, and so does not meet the queue's
 * next connection.
 *
 * The end of the MRs may hang for a minute each in the device's driver, so nobody
 * ends them under stop_lock alone: the owner needs that lock to flush the queue, and
 * requests go to another path when it has flushed all of them. key_lock is for this
 * instead. Nobody takes it before the requests have gone but the abort work, and the
 * owner where it ends a part of the queues (nvme_rdma_drain_queue()), for whose
 * requests the end of the keys is due. The timeout handler, for which the owner waits
 * before it flushes, takes stop_lock only, for a look.
 */
#include "nvme_rdma.h"
#include "trace.h"

/**
 * nvme_rdma_init_queue() - a queue's members that last as long as it
 * @ctrl: its controller
 * @qid: its ID
 *
 * Context: process.
 */
void nvme_rdma_init_queue(struct nvme_rdma_ctrl *ctrl, u16 qid)
{
	struct nvme_rdma_queue *queue = &ctrl->queues[qid];

	queue->ctrl = ctrl;
	queue->qid = qid;
	queue->state = NVME_RDMA_Q_IDLE;
	spin_lock_init(&queue->sq_lock);
	spin_lock_init(&queue->state_lock);
	mutex_init(&queue->key_lock);
	mutex_init(&queue->stop_lock);
	init_waitqueue_head(&queue->moved);
	nvme_rdma_init_quiet(queue);
	nvme_rdma_init_drain(queue);
	nvme_rdma_init_mrs(queue);
	nvme_rdma_init_queue_work(queue);
}

/**
 * nvme_rdma_move_queue() - the one function that changes a queue's state
 * @queue: the queue
 * @to: the new state
 *
 * Context: @queue->state_lock held. Return: true if the queue moved, false if
 * the table has no such move and the queue stays where it is.
 */
bool nvme_rdma_move_queue(struct nvme_rdma_queue *queue,
			  enum nvme_rdma_queue_state to)
{
	lockdep_assert_held(&queue->state_lock);
	if (!nvme_rdma_queue_may_move(queue->state, to))
		return false;
	trace_nvme_rdma_queue_state(queue, to);
	/* pairs with nvme_rdma_queue_usable() and nvme_rdma_queue_live() */
	smp_store_release(&queue->state, to);
	wake_up_all(&queue->moved);
	return true;
}

/**
 * nvme_rdma_fail_queue() - note that a queue's connection came to nothing
 * @queue: the queue
 * @error: negative errno for whoever waits for the connection
 *
 * The first failure counts.
 *
 * Context: any; does not sleep. Return: true for the first failure.
 */
bool nvme_rdma_fail_queue(struct nvme_rdma_queue *queue, int error)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&queue->state_lock, flags);
	first = nvme_rdma_move_queue(queue, NVME_RDMA_Q_FAILED);
	if (first)
		queue->error = error;
	spin_unlock_irqrestore(&queue->state_lock, flags);
	return first;
}

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
 * nvme_rdma_refused() - is a status a refusal?
 * @status: how a command ended: a negative errno, or a positive NVMe status
 *
 * By the controller's answer, or by the core for a key: then that is the reason,
 * and the end of the connection may only be what the controller made of it, as
 * targets do after an authentication that failed. A command that was not
 * answered ends with a status of type Path Related.
 *
 * Context: any.
 */
bool nvme_rdma_refused(int status)
{
	if (status > 0)
		return (status & NVME_SCT_MASK) != NVME_SCT_PATH;
	return status == -EKEYREJECTED || status == -ENOKEY;
}

/**
 * nvme_rdma_start_queue() - bring an idle queue to LIVE
 * @queue: the queue, its depth set, its tag set allocated
 *
 * One that was started already is left as it is. An I/O queue without a processor that
 * its Connect can be made on stays idle, see tagset.c.
 *
 * Context: process. Return: 0, a negative errno, or a positive NVMe status.
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

	/* a broken connection explains why Connect was not answered */
	spin_lock_irq(&queue->state_lock);
	if (queue->error && !nvme_rdma_refused(ret))
		ret = queue->error;
	else if (!ret && !nvme_rdma_move_queue(queue, NVME_RDMA_Q_LIVE))
		ret = -ECONNRESET;
	spin_unlock_irq(&queue->state_lock);
	nvme_rdma_count(queue, ret ? NVME_RDMA_EV_CONNECT_FAILED :
			       NVME_RDMA_EV_CONNECT);
	return ret;
}

/**
 * nvme_rdma_close_queue() - from now on nobody begins to use a queue
 * @queue: the queue, in any state
 *
 * Those who began before are through after an RCU grace period, for which the
 * caller waits before it calls nvme_rdma_drain_queue().
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
 * The error state comes first: over iWARP rdma_disconnect() waits until a
 * connection that is being made has come to something, which nobody may ever
 * answer, and a device gives it up with its QP. The drain does it again and
 * looks at what comes of it.
 */
static void nvme_rdma_flush_locked(struct nvme_rdma_queue *queue)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	lockdep_assert_held(&queue->stop_lock);
	if (!queue->drainable || queue->flushed)
		return;
	ib_modify_qp(queue->qp, &attr, IB_QP_STATE);
	rdma_disconnect(queue->cm_id);
	nvme_rdma_drain_qp(queue);

	spin_lock(&queue->sq_lock);
	queue->pending = NULL;
	queue->pending_tail = &queue->pending;
	spin_unlock(&queue->sq_lock);
	queue->flushed = true;
}

static void nvme_rdma_set_drained_locked(struct nvme_rdma_queue *queue)
{
	lockdep_assert_held(&queue->stop_lock);
	if (!queue->flushed)
		return;
	/* what the drain ended is seen by who sees it drained */
	smp_store_release(&queue->drained, true);
}

/**
 * nvme_rdma_flush_queue() - disconnect a closed queue and drain its queue pair
 * @queue: the queue, closed an RCU grace period ago; nothing is done if idle
 *
 * When this returns, no completion handler runs, and by this queue pair nothing
 * touches the queue's capsules, responses or data. When it has for all of a
 * controller's, nvme_rdma_set_drained() is due.
 *
 * Requests that were appended but not posted are dropped from the list; they
 * were started, and are cancelled with the rest.
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
 * nvme_rdma_set_drained() - nothing touches what a queue's requests have any more
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
 * For a queue that others of its controller outlive. Its owner may have flushed all of them
 * by now, or have freed it and connect it anew: then nothing is done. Under key_lock it
 * stays flushed, so that its MRs are not filled, and nobody else frees them.
 */
static void nvme_rdma_end_keys(struct nvme_rdma_queue *queue)
{
	bool due;

	mutex_lock(&queue->key_lock);
	mutex_lock(&queue->stop_lock);
	due = queue->flushed && !queue->drained;
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
 * When this returns, nothing touches the queue's capsules, responses or data
 * any more, by whatever queue pair.
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

/**
 * nvme_rdma_stop_queue() - close one queue and drain it
 * @queue: the queue, in any state
 *
 * Context: process.
 */
void nvme_rdma_stop_queue(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	nvme_rdma_stop_locked(queue);
	mutex_unlock(&queue->stop_lock);
	nvme_rdma_end_keys(queue);
}

/**
 * nvme_rdma_fail_late_queue() - fail a queue because of a request without an answer
 * @queue: the queue
 * @rq: the request, which the caller keeps from being freed
 *
 * Its owner may have ended the request while the caller came here, and connected
 * the queue anew; the request may be under way again, and in time.
 *
 * Context: process. Return: true if the request is late, and the queue of no more use.
 */
bool nvme_rdma_fail_late_queue(struct nvme_rdma_queue *queue,
			       struct request *rq)
{
	bool late;

	mutex_lock(&queue->stop_lock);
	late = blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT &&
	       time_after_eq(jiffies, READ_ONCE(rq->deadline));
	if (late)
		nvme_rdma_fail_queue(queue, -ETIMEDOUT);
	mutex_unlock(&queue->stop_lock);
	return late;
}

/**
 * nvme_rdma_stop_failed_queue() - as nvme_rdma_stop_queue(), if the queue failed
 * @queue: the queue, which its owner may meanwhile close and connect anew
 *
 * Does not wait for one that has not: software iWARP connects under the lock, for as
 * long as TCP tries.
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
 * nvme_rdma_free_queue() - end what nvme_rdma_connect_queue() began
 * @queue: the queue, drained; nothing is done if it is idle
 *
 * Destroying the CM ID waits for its callback, which is the only other user of
 * the verbs resources now; abort work that comes late finds no QP.
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
		nvme_rdma_destroy_ib(queue);
		queue->drainable = false;
		queue->flushed = false;
		queue->drained = false;

		spin_lock_irq(&queue->state_lock);
		nvme_rdma_move_queue(queue, NVME_RDMA_Q_IDLE);
		spin_unlock_irq(&queue->state_lock);
	}
	mutex_unlock(&queue->stop_lock);
	mutex_unlock(&queue->key_lock);
}
