// SPDX-License-Identifier: GPL-2.0
/*
 * Many queues side by side.
 *
 * What takes a queue a network round trip or a wait for its device runs in a
 * work of its own, so a hundred queues connect, or go, in the time of one. Who
 * brings the controller up or down starts these works and waits for all of
 * them; there is one such owner at a time, see connect.c.
 *
 * Whoever has no more use for an attempt to connect gives the controller up:
 * every queue that is under way fails at once, and none begins. So does its
 * deletion, for which the core waits until the attempt has ended: while queues
 * are brought up, state_wq is watched.
 */
#include <linux/sched/mm.h>

#include "nvme_rdma.h"

/*
 * Jobs that call the device's driver are in workqueues of the device: a workqueue executes
 * only some hundred works at once, and a driver whose firmware hangs keeps that many for
 * minutes. These two are for jobs without a device. An admin queue learns its device while
 * it connects. Each controller has only one, whose start a work of the core's waits for, and
 * there are no more of those at a time. A queue without a device ends at once.
 *
 * What brings queues down must not wait behind what brings others up: that may
 * be many controllers whose peers do not answer, and another path waits for the
 * end of this one. Works that give up do not sleep.
 */
static struct workqueue_struct *nvme_rdma_up_wq;
static struct workqueue_struct *nvme_rdma_down_wq;

/* Unbound, as jobs sleep; for memory reclaim, as writeback waits for controllers */
#define NVME_RDMA_WQ_FLAGS	(WQ_UNBOUND | WQ_MEM_RECLAIM)

/**
 * nvme_rdma_alloc_wqs() - make the workqueues that are no device's
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_alloc_wqs(void)
{
	nvme_rdma_up_wq = alloc_workqueue("nvme-rdma-up", NVME_RDMA_WQ_FLAGS, 0);
	nvme_rdma_down_wq = alloc_workqueue("nvme-rdma-down",
					    NVME_RDMA_WQ_FLAGS, 0);
	if (nvme_rdma_up_wq && nvme_rdma_down_wq)
		return 0;
	nvme_rdma_free_wqs();
	return -ENOMEM;
}

static void nvme_rdma_free_wq(struct workqueue_struct *wq)
{
	if (wq)
		destroy_workqueue(wq);
}

/**
 * nvme_rdma_free_wqs() - undo nvme_rdma_alloc_wqs()
 *
 * Context: process; there is no controller any more.
 */
void nvme_rdma_free_wqs(void)
{
	nvme_rdma_free_wq(nvme_rdma_down_wq);
	nvme_rdma_free_wq(nvme_rdma_up_wq);
}

/**
 * nvme_rdma_alloc_device_wqs() - make a device's workqueues
 * @ndev: the device
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_alloc_device_wqs(struct nvme_rdma_device *ndev)
{
	const char *name = ndev->dev->name;

	ndev->up_wq = alloc_workqueue("nvme-rdma-up-%s", NVME_RDMA_WQ_FLAGS, 0,
				      name);
	ndev->down_wq = alloc_workqueue("nvme-rdma-down-%s", NVME_RDMA_WQ_FLAGS,
					0, name);
	ndev->mr_wq = alloc_workqueue("nvme-rdma-mr-%s", NVME_RDMA_WQ_FLAGS,
				      NVME_RDMA_MR_WORKERS, name);
	if (ndev->up_wq && ndev->down_wq && ndev->mr_wq)
		return 0;
	nvme_rdma_free_device_wqs(ndev);
	return -ENOMEM;
}

/**
 * nvme_rdma_free_device_wqs() - undo nvme_rdma_alloc_device_wqs()
 * @ndev: the device, without a user
 *
 * The job that has freed the device's last queue may not have returned: this waits for it.
 *
 * Context: process; not in a job.
 */
void nvme_rdma_free_device_wqs(struct nvme_rdma_device *ndev)
{
	nvme_rdma_free_wq(ndev->mr_wq);
	nvme_rdma_free_wq(ndev->down_wq);
	nvme_rdma_free_wq(ndev->up_wq);
}

static void nvme_rdma_job_work(struct work_struct *work)
{
	struct nvme_rdma_queue *queue =
		container_of(work, struct nvme_rdma_queue, work);
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	unsigned int flags;

	/* reclaim may be waiting for the controller to come back */
	flags = memalloc_noio_save();
	queue->result = queue->job(queue);
	memalloc_noio_restore(flags);
	if (atomic_dec_and_test(&ctrl->jobs))
		wake_up_all(&ctrl->ctrl.state_wq);
}

/**
 * nvme_rdma_init_queue_work() - prepare a queue for nvme_rdma_each_queue()
 * @queue: the queue
 *
 * Context: process.
 */
void nvme_rdma_init_queue_work(struct nvme_rdma_queue *queue)
{
	INIT_WORK(&queue->work, nvme_rdma_job_work);
}

/**
 * nvme_rdma_deleting() - has the deletion of a controller begun?
 * @ctrl: the controller
 *
 * Context: any.
 */
bool nvme_rdma_deleting(struct nvme_rdma_ctrl *ctrl)
{
	enum nvme_ctrl_state state = nvme_ctrl_state(&ctrl->ctrl);

	return state == NVME_CTRL_DELETING || state == NVME_CTRL_DELETING_NOIO;
}

/**
 * nvme_rdma_give_up() - end an attempt to connect at once, and let none begin
 * @ctrl: the controller, not LIVE, which will be deleted
 * @error: negative errno for whoever waits
 *
 * A queue that begins to connect after the note of it sees it; one that began
 * before is failed here. Commands on a queue that was connected are ended by the
 * abort work.
 *
 * Context: any; does not sleep.
 */
void nvme_rdma_give_up(struct nvme_rdma_ctrl *ctrl, int error)
{
	int i;

	cmpxchg(&ctrl->given_up, 0, error);
	for (i = 0; i < ctrl->ctrl.queue_count; i++)
		nvme_rdma_break_queue(&ctrl->queues[i], error);
}

static void nvme_rdma_give_up_work(struct work_struct *work)
{
	struct nvme_rdma_ctrl *ctrl =
		container_of(work, struct nvme_rdma_ctrl, give_up_work);

	nvme_rdma_give_up(ctrl, -ECANCELED);
}

/*
 * The core wakes state_wq at each change, the deletion's among them, and so do
 * we. Who changes the state may hold err_lock, which giving up takes.
 */
static int nvme_rdma_state_changed(struct wait_queue_entry *watch,
				   unsigned int mode, int flags, void *key)
{
	struct nvme_rdma_ctrl *ctrl =
		container_of(watch, struct nvme_rdma_ctrl, watch);

	if (nvme_rdma_deleting(ctrl))
		queue_work(nvme_rdma_down_wq, &ctrl->give_up_work);
	return 0;
}

/**
 * nvme_rdma_watch() - from now on a deletion ends the attempt to connect
 * @ctrl: the controller, whose queues the caller owns
 *
 * Context: process.
 */
void nvme_rdma_watch(struct nvme_rdma_ctrl *ctrl)
{
	INIT_WORK(&ctrl->give_up_work, nvme_rdma_give_up_work);
	init_waitqueue_func_entry(&ctrl->watch, nvme_rdma_state_changed);
	add_wait_queue(&ctrl->ctrl.state_wq, &ctrl->watch);
	/* a deletion that came before has woken nobody */
	if (nvme_rdma_deleting(ctrl))
		nvme_rdma_give_up(ctrl, -ECANCELED);
}

/**
 * nvme_rdma_unwatch() - undo nvme_rdma_watch()
 * @ctrl: the controller, not LIVE yet; a deletion keeps it from that
 *
 * Context: process.
 */
void nvme_rdma_unwatch(struct nvme_rdma_ctrl *ctrl)
{
	remove_wait_queue(&ctrl->ctrl.state_wq, &ctrl->watch);
	cancel_work_sync(&ctrl->give_up_work);
}

static bool nvme_rdma_jobs_done(struct nvme_rdma_ctrl *ctrl)
{
	return !atomic_read(&ctrl->jobs);
}

static void nvme_rdma_await_or_give_up(struct nvme_rdma_ctrl *ctrl)
{
	if (wait_event_interruptible(ctrl->ctrl.state_wq,
				     nvme_rdma_jobs_done(ctrl)))
		nvme_rdma_give_up(ctrl, -EINTR);
}

/*
 * A queue that is brought down keeps its device, and with it the workqueue, until its own
 * last job gives it back. One that starts has none yet. But if it is an I/O queue, the
 * controller has that of the admin queue, which it has to use, too.
 */
static struct workqueue_struct *nvme_rdma_job_wq(struct nvme_rdma_queue *queue,
						 bool up)
{
	struct nvme_rdma_device *ndev = up && queue->qid ? queue->ctrl->device :
							   queue->device;

	if (up)
		return ndev ? ndev->up_wq : nvme_rdma_up_wq;
	return ndev ? ndev->down_wq : nvme_rdma_down_wq;
}

/**
 * nvme_rdma_each_queue() - do a job for each of some queues, side by side
 * @ctrl: the controller, whose queues the caller owns
 * @first: the first queue
 * @last: the one behind the last
 * @job: what to do; it does not wait for the job of another queue, so even a
 *	single thread would bring all to an end
 *
 * While queues start, a signal for the controller's creator gives it up.
 *
 * Context: process. Return: after all jobs have ended, the first error in the
 * order of the queues, or 0.
 */
int nvme_rdma_each_queue(struct nvme_rdma_ctrl *ctrl, int first, int last,
			 int (*job)(struct nvme_rdma_queue *queue))
{
	bool up = job == nvme_rdma_start_queue;
	int i, ret = 0;

	atomic_set(&ctrl->jobs, last - first);
	for (i = first; i < last; i++) {
		ctrl->queues[i].job = job;
		queue_work(nvme_rdma_job_wq(&ctrl->queues[i], up),
			   &ctrl->queues[i].work);
	}
	if (up)
		nvme_rdma_await_or_give_up(ctrl);
	for (i = first; i < last; i++) {
		flush_work(&ctrl->queues[i].work);
		if (!ret)
			ret = ctrl->queues[i].result;
	}
	return ret;
}
