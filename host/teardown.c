// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing a controller's queues down.
 *
 * There are two ways. Recovery and a failed creation take all queues down at once.
 * Reset and deletion still have to tell the controller: they take the I/O queues down
 * side by side, and then the admin queue. Both cope with whatever the controller has.
 *
 * The caller owns the queues of the controller, see connect.c.
 */
#include "conn.h"
#include "connect.h"
#include "ctrl.h"
#include "device.h"
#include "io.h"

static int nvme_rdma_drain_job(struct nvme_rdma_queue *queue)
{
	nvme_rdma_drain_queue(queue);
	return 0;
}

static int nvme_rdma_free_job(struct nvme_rdma_queue *queue)
{
	nvme_rdma_free_queue(queue);
	return 0;
}

/*
 * When this returns, no context uses these queues, and no device accesses their memory.
 * If they are all queues of the controller, their keys stay valid, but no QP is left on
 * which a peer could use them.
 */
static void nvme_rdma_stop_queues(struct nvme_rdma_ctrl *ctrl, int first,
				  int last)
{
	bool all = !first && last == ctrl->ctrl.queue_count;
	int i;

	for (i = first; i < last; i++)
		nvme_rdma_close_queue(&ctrl->queues[i]);
	synchronize_rcu();
	nvme_rdma_run_jobs(ctrl, first, last, all ? nvme_rdma_flush_job :
			   nvme_rdma_drain_job);
	for (i = first; i < last; i++)
		nvme_rdma_set_drained(&ctrl->queues[i]);
}

static void nvme_rdma_stop_io_dispatch(struct nvme_rdma_ctrl *ctrl)
{
	if (ctrl->have_io_tags) {
		nvme_rdma_quiesce_io(ctrl);
		nvme_sync_io_queues(&ctrl->ctrl);
	}
}

/*
 * The I/O queues were stopped, so no completion handler runs. The requests in flight are
 * cancelled, which unmaps their data: no device accesses it any more. Freeing the queues
 * waits for their CM callbacks. The callback of the admin queue may still queue the abort
 * work, which iterates over the tag sets that are shown to it. The abort work is cancelled
 * after the queues are freed: it may have found them drained, and must not complete a
 * request of the next connection.
 */
static void nvme_rdma_cancel_io(struct nvme_rdma_ctrl *ctrl, bool remove, bool fail)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;

	if (ctrl->have_io_tags) {
		mutex_lock(&ctrl->cancel_lock);
		nvme_cancel_tagset(nctrl);
		mutex_unlock(&ctrl->cancel_lock);
	}
	/* No queue is usable, which queue_rq() checks, see io.c */
	if (fail)
		nvme_rdma_unquiesce_io(ctrl);
	nvme_rdma_run_jobs(ctrl, 1, nctrl->queue_count, nvme_rdma_free_job);
	cancel_work_sync(&ctrl->abort_work);
	if (ctrl->have_io_tags && remove) {
		nvme_rdma_unquiesce_io(ctrl);
		nvme_rdma_show_tags(ctrl, &ctrl->have_io_tags, false);
		nvme_remove_io_tag_set(nctrl);
		nvme_rdma_del_request_queues(ctrl);
	}
}

/*
 * Take down all I/O queues, while the admin queue is still in use. Request queues stay
 * quiesced unless @remove.
 */
static void nvme_rdma_teardown_io(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	if (ctrl->ctrl.queue_count < 2)
		return;
	nvme_rdma_stop_io_dispatch(ctrl);
	nvme_rdma_stop_queues(ctrl, 1, ctrl->ctrl.queue_count);
	nvme_rdma_cancel_io(ctrl, remove, false);
}

/*
 * The asynchronous event work posts to the admin queue without a request. It posts nothing
 * if the controller is not LIVE. A response that arrives before the queue is drained queues
 * it again, see nvme_rdma_cancel_admin().
 */
static void nvme_rdma_stop_admin_dispatch(struct nvme_rdma_ctrl *ctrl)
{
	if (ctrl->have_admin_tags) {
		nvme_quiesce_admin_queue(&ctrl->ctrl);
		blk_sync_queue(ctrl->ctrl.admin_q);
	}
	cancel_work_sync(&ctrl->ctrl.async_event_work);
}

static void nvme_rdma_cancel_admin(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;

	if (ctrl->have_admin_tags) {
		mutex_lock(&ctrl->cancel_lock);
		nvme_cancel_admin_tagset(nctrl);
		mutex_unlock(&ctrl->cancel_lock);
	}
	nvme_rdma_run_jobs(ctrl, 0, 1, nvme_rdma_free_job);
	cancel_work_sync(&ctrl->abort_work);
	/* it must not run when the controller is LIVE again, with a new event request */
	cancel_work_sync(&nctrl->async_event_work);
	if (ctrl->have_admin_tags && remove) {
		nvme_unquiesce_admin_queue(nctrl);
		nvme_rdma_show_tags(ctrl, &ctrl->have_admin_tags, false);
		nvme_remove_admin_tag_set(nctrl);
		/* no timeout can queue it any more */
		cancel_work_sync(&ctrl->abort_work);
	}
	nvme_rdma_set_device(ctrl, NULL);
}

/**
 * nvme_rdma_teardown_admin() - take down the admin queue
 * @ctrl: the controller, whose I/O queues are down
 * @remove: end the tag set, too; else the request queue stays quiesced
 *
 * Context: process.
 */
void nvme_rdma_teardown_admin(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	nvme_rdma_stop_admin_dispatch(ctrl);
	nvme_rdma_stop_queues(ctrl, 0, 1);
	nvme_rdma_cancel_admin(ctrl, remove);
}

/**
 * nvme_rdma_teardown_all() - take down all queues at once, without telling the controller
 * @ctrl: the controller
 * @remove: free the tag sets, too
 * @fail: let I/O fail over to another path before the queues are freed, which takes minutes
 *	  on a device that does not respond
 *
 * Request queues stay quiesced unless @remove or, those of I/O, @fail.
 *
 * Context: process.
 */
void nvme_rdma_teardown_all(struct nvme_rdma_ctrl *ctrl, bool remove, bool fail)
{
	nvme_rdma_stop_io_dispatch(ctrl);
	nvme_rdma_stop_admin_dispatch(ctrl);
	nvme_rdma_stop_queues(ctrl, 0, ctrl->ctrl.queue_count);
	nvme_rdma_cancel_io(ctrl, remove, fail);
	nvme_rdma_cancel_admin(ctrl, remove);
}

/**
 * nvme_rdma_release_pending() - unquiesce requests held for a controller
 * @ctrl: the controller, down and not about to reconnect at once
 *
 * The requests fail over to another path, or wait inside blk-mq, where fast_io_fail_tmo
 * ends them. The keep-alive is stopped last: on some kernels its work waits for its
 * request, which fails only now.
 *
 * Context: process.
 */
void nvme_rdma_release_pending(struct nvme_rdma_ctrl *ctrl)
{
	nvme_rdma_unquiesce_io(ctrl);
	nvme_unquiesce_admin_queue(&ctrl->ctrl);
	nvme_stop_keep_alive(&ctrl->ctrl);
}

/**
 * nvme_rdma_shutdown_ctrl() - disable or shut down a controller, and take down its queues
 * @ctrl: the controller
 * @remove: shut it down instead of disabling it, and free its tag sets
 *
 * Without a connection to the controller, all queues go down at once: then no request waits
 * for the end of all keys, which takes long on a device that does not respond.
 *
 * Context: process.
 */
void nvme_rdma_shutdown_ctrl(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	if (!nvme_rdma_queue_live(&ctrl->queues[0])) {
		nvme_rdma_teardown_all(ctrl, remove, false);
		return;
	}
	nvme_rdma_teardown_io(ctrl, remove);
	nvme_quiesce_admin_queue(&ctrl->ctrl);
	WRITE_ONCE(ctrl->short_timeouts, true);
	nvme_disable_ctrl(&ctrl->ctrl, remove);
	nvme_rdma_teardown_admin(ctrl, remove);
}
