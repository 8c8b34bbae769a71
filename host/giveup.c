// SPDX-License-Identifier: GPL-2.0
/*
 * Giving up an attempt to connect.
 *
 * Whoever has no more use for an attempt to connect gives the controller up:
 * every queue that is under way fails at once, and none begins. So does its
 * deletion, for which the core waits until the attempt has ended: while queues
 * are brought up, state_wq is watched.
 */
#include "connect.h"
#include "ctrl.h"
#include "error.h"
#include "wq.h"

/**
 * nvme_rdma_deleting() - has the deletion of a controller begun?
 * @ctrl: the controller
 *
 * Context: any.
 */
static bool nvme_rdma_deleting(struct nvme_rdma_ctrl *ctrl)
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

	cmpxchg(&ctrl->abort_errno, 0, error);
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
		container_of(watch, struct nvme_rdma_ctrl, state_watch);

	if (nvme_rdma_deleting(ctrl))
		queue_work(nvme_rdma_down_wq, &ctrl->give_up_work);
	return 0;
}

/**
 * nvme_rdma_watch_deletion() - from now on a deletion ends the attempt to connect
 * @ctrl: the controller, whose queues the caller owns
 *
 * Context: process.
 */
void nvme_rdma_watch_deletion(struct nvme_rdma_ctrl *ctrl)
{
	INIT_WORK(&ctrl->give_up_work, nvme_rdma_give_up_work);
	init_waitqueue_func_entry(&ctrl->state_watch, nvme_rdma_state_changed);
	add_wait_queue(&ctrl->ctrl.state_wq, &ctrl->state_watch);
	/* a deletion that came before has woken nobody */
	if (nvme_rdma_deleting(ctrl))
		nvme_rdma_give_up(ctrl, -ECANCELED);
}

/**
 * nvme_rdma_unwatch_deletion() - undo nvme_rdma_watch_deletion()
 * @ctrl: the controller, not LIVE yet; a deletion keeps it from that
 *
 * Context: process.
 */
void nvme_rdma_unwatch_deletion(struct nvme_rdma_ctrl *ctrl)
{
	remove_wait_queue(&ctrl->ctrl.state_wq, &ctrl->state_watch);
	cancel_work_sync(&ctrl->give_up_work);
}
