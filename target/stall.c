// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that make no progress.
 *
 * A host's connection request says how often, and after what time, this side retries when the
 * host has no receive for a response or does not answer an RDMA READ. The host may ask for
 * unlimited retries. Meanwhile its commands hold responses, send credit, buffers and maybe
 * shared receives. So all queues are checked four times in response_tmo. A queue is ended if
 * it has work posted that long ago and nothing of it has completed for that long.
 *
 * The age alone does not count. Behind many large transfers on a slow link a response may be
 * old, and that is fine as long as the HCA makes progress.
 *
 * Only signaled work requests show progress. The check sweeps the unsignaled responses
 * (send.c), so that the next check finds whether the host takes them. A queue that has sent
 * nothing between two checks needs few responses, and the memory of the others is freed
 * (rsp.c).
 *
 * Handlers may be late, too, on a busy machine. So a queue that looks stalled gets a work that
 * first flushes its completion queue and then checks again.
 *
 * Cost: the time is written when something signaled has completed, and when the first one is
 * posted. Nothing is written for an idle queue.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "connection.h"
#include "error.h"
#include "list.h"
#include "params.h"
#include "send.h"
#include "wq.h"

#define CHECKS_PER_TMO	4

static bool is_stalled(const struct nvmet_rdma_queue *queue)
{
	unsigned long since = jiffies - nvmet_rdma_response_tmo * HZ;

	return READ_ONCE(queue->signaled) &&
	       time_before(READ_ONCE(queue->last_progress), since);
}

static void confirm_stall(struct work_struct *work)
{
	struct nvmet_rdma_queue *queue =
		container_of(work, struct nvmet_rdma_queue, stall_work);

	nvme_rdma_cq_flush(queue->cq);
	if (!nvmet_rdma_queue_is_live(queue) || !is_stalled(queue))
		return;
	nvmet_rdma_queue_warn(queue,
			      "the host has taken no response and given no data for %u seconds (response_tmo); closing the connection, check the host\n",
			      nvmet_rdma_response_tmo);
	nvmet_rdma_queue_fail(queue);
}

/* With the lock of the list held: a queue is in it until its release cancels the work */
static void check_queue(struct nvmet_rdma_queue *queue)
{
	u64 sent;

	if (!nvmet_rdma_queue_is_live(queue))
		return;
	if (is_stalled(queue)) {
		queue_work(nvmet_rdma_wq, &queue->stall_work);
		return;
	}
	nvmet_rdma_sweep(queue);
	sent = READ_ONCE(queue->sent);
	if (sent == queue->sent_at_check)
		nvmet_rdma_rsp_shrink(queue);
	/* There may be memory for another response now */
	spin_lock_irq(&queue->lock);
	if (queue->head_blocked && queue->state == NVMET_RDMA_Q_LIVE)
		nvmet_rdma_queue_io(queue);
	spin_unlock_irq(&queue->lock);
	queue->sent_at_check = sent;
}

static void stall_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(look, stall_work);

static void check_later(void)
{
	queue_delayed_work(nvmet_rdma_wq, &look, nvmet_rdma_response_tmo * HZ /
						 CHECKS_PER_TMO);
}

static void stall_work(struct work_struct *work)
{
	nvmet_rdma_visit_queues(check_queue);
	check_later();
}

/**
 * nvmet_rdma_stall_init() - initialize the check of a new queue
 * @queue: the queue
 *
 * Context: any.
 */
void nvmet_rdma_stall_init(struct nvmet_rdma_queue *queue)
{
	INIT_WORK(&queue->stall_work, confirm_stall);
}

/**
 * nvmet_rdma_stall_register() - begin to check queues
 *
 * Context: may sleep; the workqueue exists.
 */
void nvmet_rdma_stall_register(void)
{
	check_later();
}

/**
 * nvmet_rdma_stall_unregister() - stop checking queues
 *
 * Context: may sleep.
 */
void nvmet_rdma_stall_unregister(void)
{
	cancel_delayed_work_sync(&look);
}
