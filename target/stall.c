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
 * Nor does the look alone: a disk that hangs can hold up the handler of
 * completions (drain.c), so that nothing of a queue seems to complete. A queue
 * that looks stalled gets a work of its own, which has the handler come to all
 * that has completed by then, for as long as that takes, and looks once more.
 *
 * Costs: the time is noted in a response when its chain is posted, and in the
 * queue when a chain has completed. Nothing is written for a queue that idles,
 * and its responses are not looked at.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "nvmet_rdma.h"

#define LOOKS_PER_TMO	4

static bool is_stalled(const struct nvmet_rdma_queue *queue)
{
	unsigned long since = jiffies - nvmet_rdma_response_tmo * HZ;
	u32 i;

	if (READ_ONCE(queue->credits) == queue->nr_credits ||
	    time_after(READ_ONCE(queue->progress), since))
		return false;
	for (i = 0; i < queue->nr_rsps; i++) {
		unsigned long posted = READ_ONCE(queue->rsps[i].posted);

		if (posted && time_before(posted, since))
			return true;
	}
	return false;
}

static void judge(struct work_struct *work)
{
	struct nvmet_rdma_queue *queue =
		container_of(work, struct nvmet_rdma_queue, judge_work);

	/* No work runs twice at a time: it begins after the one that may run */
	queue_work(queue->cq->comp_wq, &queue->cq->work);
	flush_work(&queue->cq->work);
	if (!nvmet_rdma_queue_is_live(queue) || !is_stalled(queue))
		return;
	nvmet_rdma_queue_warn(queue,
			      "the host has taken no response and given no data for %u seconds (response_tmo); closing the connection, check the host\n",
			      nvmet_rdma_response_tmo);
	nvmet_rdma_queue_fail(queue);
}

/* Under the lock of the list, where a queue is until its release cancels this */
static void judge_if_stalled(struct nvmet_rdma_queue *queue)
{
	if (nvmet_rdma_queue_is_live(queue) && is_stalled(queue))
		nvmet_rdma_queue_judge(queue);
}

static void stall_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(look, stall_work);

static void look_later(void)
{
	queue_delayed_work(nvmet_rdma_wq, &look, nvmet_rdma_response_tmo * HZ /
						 LOOKS_PER_TMO);
}

static void stall_work(struct work_struct *work)
{
	nvmet_rdma_visit_queues(judge_if_stalled);
	look_later();
}

/**
 * nvmet_rdma_stall_init() - a new queue
 * @queue: the queue
 *
 * Context: any.
 */
void nvmet_rdma_stall_init(struct nvmet_rdma_queue *queue)
{
	INIT_WORK(&queue->judge_work, judge);
}

/**
 * nvmet_rdma_stall_register() - begin to look at queues
 *
 * Context: may sleep; the workqueue is there.
 */
void nvmet_rdma_stall_register(void)
{
	look_later();
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
