// SPDX-License-Identifier: GPL-2.0
/*
 * Giving up an attempt to connect.
 *
 * An attempt that is given up fails every queue that connects, and no queue begins to
 * connect. A deletion of the controller gives it up, too, as the core waits for the end of
 * the attempt: while queues come up, the driver watches state_wq for the deletion.
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
 * nvme_rdma_give_up() - end an attempt to connect, and prevent others
 * @ctrl: the controller, not LIVE, which will be deleted
 * @error: negative errno for the context that connects
 *
 * A queue that begins to connect later sees abort_errno. A queue that began before fails
 * here. The abort work completes commands on a connected queue.
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
 * The core wakes state_wq at each change of the state, and the driver after the last job.
 * The context that changes the state may hold err_lock, which nvme_rdma_give_up() takes,
 * so a work calls that.
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
 * nvme_rdma_watch_deletion() - let a deletion end the attempt to connect
 * @ctrl: the controller, whose queues the caller owns
 *
 * Context: process.
 */
void nvme_rdma_watch_deletion(struct nvme_rdma_ctrl *ctrl)
{
	INIT_WORK(&ctrl->give_up_work, nvme_rdma_give_up_work);
	init_waitqueue_func_entry(&ctrl->state_watch, nvme_rdma_state_changed);
	add_wait_queue(&ctrl->ctrl.state_wq, &ctrl->state_watch);
	/* a deletion that came before has not called the function */
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
