// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs for many queues side by side.
 *
 * A job that waits for the network or for a device runs in the queue's own work,
 * so a hundred queues connect, or go down, in the time of one. The owner of the
 * queues, see connect.c, starts these works and waits for all of them.
 */
#include <linux/sched/mm.h>

#include "conn.h"
#include "connect.h"
#include "ctrl.h"
#include "device.h"
#include "wq.h"

static void nvme_rdma_job_work(struct work_struct *work)
{
	struct nvme_rdma_queue *queue =
		container_of(work, struct nvme_rdma_queue, work);
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	unsigned int flags;

	/* reclaim may wait until the controller is connected again */
	flags = memalloc_noio_save();
	queue->result = queue->job(queue);
	memalloc_noio_restore(flags);
	if (atomic_dec_and_test(&ctrl->jobs_left))
		wake_up_all(&ctrl->ctrl.state_wq);
}

/**
 * nvme_rdma_init_queue_work() - initialize the job work of a queue
 * @queue: the queue
 *
 * Context: process.
 */
void nvme_rdma_init_queue_work(struct nvme_rdma_queue *queue)
{
	INIT_WORK(&queue->work, nvme_rdma_job_work);
}

static bool nvme_rdma_jobs_done(struct nvme_rdma_ctrl *ctrl)
{
	return !atomic_read(&ctrl->jobs_left);
}

static void nvme_rdma_await_or_give_up(struct nvme_rdma_ctrl *ctrl)
{
	if (wait_event_interruptible(ctrl->ctrl.state_wq,
				     nvme_rdma_jobs_done(ctrl)))
		nvme_rdma_give_up(ctrl, -EINTR);
}

/**
 * nvme_rdma_flush_job() - the job that flushes a queue
 * @queue: the queue
 *
 * Requests go to another path when all queues of a controller are flushed.
 *
 * Context: process; for nvme_rdma_run_jobs(). Return: 0.
 */
int nvme_rdma_flush_job(struct nvme_rdma_queue *queue)
{
	nvme_rdma_flush_queue(queue);
	return 0;
}

/*
 * A queue that goes down keeps its device, and with it the workqueue, until its last job
 * releases it. A queue that starts has no device yet. An I/O queue has to use the device of
 * the admin queue, which the controller has.
 */
static struct workqueue_struct *
nvme_rdma_job_wq(struct nvme_rdma_queue *queue,
		 int (*job)(struct nvme_rdma_queue *queue))
{
	bool up = job == nvme_rdma_start_queue;
	struct nvme_rdma_device *ndev = up && queue->qid ? queue->ctrl->device :
							   queue->device;

	if (up)
		return ndev ? ndev->up_wq : nvme_rdma_up_wq;
	if (!ndev)
		return nvme_rdma_down_wq;
	return job == nvme_rdma_flush_job ? ndev->down_wq : ndev->free_wq;
}

/**
 * nvme_rdma_run_jobs() - run a job for several queues side by side
 * @ctrl: the controller, whose queues the caller owns
 * @first: the first queue
 * @last: the queue after the last
 * @job: the job; it does not wait for the job of another queue, so a single thread can
 *	run all of them
 *
 * While queues start, a signal for the creator of the controller gives up the attempt.
 *
 * Context: process. Return: after all jobs have ended, the first error in the
 * order of the queues, or 0.
 */
int nvme_rdma_run_jobs(struct nvme_rdma_ctrl *ctrl, int first, int last,
		       int (*job)(struct nvme_rdma_queue *queue))
{
	int i, ret = 0;

	atomic_set(&ctrl->jobs_left, last - first);
	for (i = first; i < last; i++) {
		ctrl->queues[i].job = job;
		queue_work(nvme_rdma_job_wq(&ctrl->queues[i], job),
			   &ctrl->queues[i].work);
	}
	if (job == nvme_rdma_start_queue)
		nvme_rdma_await_or_give_up(ctrl);
	for (i = first; i < last; i++) {
		flush_work(&ctrl->queues[i].work);
		if (!ret)
			ret = ctrl->queues[i].result;
	}
	return ret;
}
