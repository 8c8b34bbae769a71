// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that take nothing.
 *
 * How often, and after what time, this side tries again when a host has no
 * receive for a response or does not answer an RDMA READ, the host says in its
 * connection request: for ever, if it wants. Meanwhile its commands keep
 * responses, send credit, buffers and maybe shared receives here. So all queues
 * are looked at, four times in response_tmo: one with something posted that long
 * ago, while nothing of it has completed for that long, is ended.
 *
 * The age alone does not count: behind many large transfers on a slow link a
 * response may be old, and all is well as long as the HCA gets on with them.
 *
 * What is signaled tells. Responses that linger behind the last signaled one are
 * swept up by the look (send.c), so that the next one finds whether the host takes
 * them. A queue that has sent nothing from one look to the next needs few responses,
 * and the memory of the others goes back (rsp.c).
 *
 * Handlers may be late, too, on a machine that is busy. A queue that looks stalled
 * gets a work, which has them come to all that has completed by then, and looks
 * once more.
 *
 * Costs: the time is noted when something signaled has completed, and when the
 * first one is posted. Nothing is written for a queue that idles.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "connection.h"
#include "error.h"
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

/* Under the lock of the list, where a queue is until its release cancels this */
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
 * nvmet_rdma_stall_init() - a new queue
 * @queue: the queue
 *
 * Context: any.
 */
void nvmet_rdma_stall_init(struct nvmet_rdma_queue *queue)
{
	INIT_WORK(&queue->stall_work, confirm_stall);
}

/**
 * nvmet_rdma_stall_register() - begin to look at queues
 *
 * Context: may sleep; the workqueue is there.
 */
void nvmet_rdma_stall_register(void)
{
	check_later();
}

/**
 * nvmet_rdma_stall_unregister() - do not look any more
 *
 * Context: may sleep.
 */
void nvmet_rdma_stall_unregister(void)
{
	cancel_delayed_work_sync(&look);
}
