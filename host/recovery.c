// SPDX-License-Identifier: GPL-2.0
/*
 * Reset, error recovery and reconnecting.
 *
 * An error calls nvme_rdma_error_recovery() (error.c). The first call moves the controller
 * to RESETTING and queues the recovery work. The work takes all queues down at once, so
 * that requests can fail over to another path, and leaves the controller in CONNECTING. The
 * reconnect work brings it up, or waits reconnect_delay seconds for its next attempt, until
 * ctrl_loss_tmo is over and the controller is deleted.
 *
 * Only ctrl_loss_tmo, the user, and the removal of its RDMA device delete a controller that
 * was LIVE. A rejection does not: a target that restarts answers before it has all of its
 * subsystems and hosts, and the device or the target may have more room later. Rejections
 * make the pauses longer.
 *
 * A deletion moves the controller to DELETING first, which ends all of this at its next
 * change of the state. Then it waits for the works in nvme_rdma_stop_ctrl().
 *
 * Reclaim may wait for I/O that waits for these works. So neither they nor the cores that
 * they call allocate memory by I/O.
 */
#include <linux/sched/mm.h>

#include "conn.h"
#include "connect.h"
#include "control.h"
#include "ctrl.h"
#include "error.h"
#include "trace.h"

/* The longest pause after a rejection, in units of reconnect_delay */
#define NVME_RDMA_MAX_PAUSE	4u

/* Return: why an attempt was rejected; NULL if it failed for another reason */
static const char *nvme_rdma_rejection_reason(struct nvme_rdma_ctrl *ctrl, int status)
{
	if (READ_ONCE(ctrl->rejected))
		return "see above";
	if (status > 0 && status & NVME_STATUS_DNR)
		return "the controller set Do Not Retry";
	if (status == -EKEYREJECTED || status == -ENOKEY)
		return "a key is missing or wrong";
	return NULL;
}

/*
 * The pause before the next attempt, in units of reconnect_delay. The core counts these
 * units to end ctrl_loss_tmo, which a longer pause must not extend.
 */
static unsigned int nvme_rdma_pause(struct nvme_rdma_ctrl *ctrl, bool refused)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	/* sysfs may change it */
	int most = READ_ONCE(nctrl->opts->max_reconnects);
	unsigned int pause = 1;

	ctrl->nr_rejections = refused ? min(ctrl->nr_rejections + 1, NVME_RDMA_MAX_PAUSE) : 0;
	if (refused)
		pause = ctrl->nr_rejections;
	if (most != -1)
		pause = min_t(int, pause, max(most - nctrl->nr_reconnects, 1));
	nctrl->nr_reconnects += pause - 1;
	return pause;
}

static void nvme_rdma_reconnect_or_remove(struct nvme_rdma_ctrl *ctrl,
					  int status)
{
	const char *refused = nvme_rdma_rejection_reason(ctrl, status);
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	unsigned int seconds;

	/* only a deletion moves a controller out of CONNECTING meanwhile */
	if (nvme_ctrl_state(nctrl) != NVME_CTRL_CONNECTING)
		return;
	/* without the status, so that only ctrl_loss_tmo counts */
	if (!nvmf_should_reconnect(nctrl, 0)) {
		dev_err(nctrl->device,
			"not reconnecting after %u attempts (ctrl_loss_tmo), removing the controller\n",
			ctrl->attempts);
		nvme_delete_ctrl(nctrl);
		return;
	}
	seconds = nvme_rdma_pause(ctrl, refused) * nctrl->opts->reconnect_delay;
	if (refused)
		dev_warn(nctrl->device,
			 "the connection was rejected (%s); retrying in %u s, until ctrl_loss_tmo is over\n",
			 refused, seconds);
	else
		dev_info(nctrl->device, "reconnecting in %u s\n", seconds);
	queue_delayed_work(nvme_wq, &ctrl->reconnect_work, seconds * HZ);
}

static void nvme_rdma_reconnect_work(struct work_struct *work)
{
	struct nvme_rdma_ctrl *ctrl =
		container_of(to_delayed_work(work), struct nvme_rdma_ctrl,
			     reconnect_work);
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	unsigned int attempts = ++ctrl->attempts;
	unsigned int flags;
	int ret;

	nctrl->nr_reconnects++;

	flags = memalloc_noio_save();
	ret = nvme_rdma_setup_ctrl(ctrl, false);
	memalloc_noio_restore(flags);
	trace_nvme_rdma_recovery(ctrl, attempts, ret);
	if (ret) {
		dev_info(nctrl->device, "attempt %u to reconnect failed: %s %d\n",
			 attempts, ret > 0 ? "NVMe status" : "error", ret);
		nvme_rdma_reconnect_or_remove(ctrl, ret);
		return;
	}
	dev_info(nctrl->device, "reconnected after %u attempts\n", attempts);
}

static void nvme_rdma_error_recovery_work(struct work_struct *work)
{
	struct nvme_rdma_ctrl *ctrl =
		container_of(work, struct nvme_rdma_ctrl, err_work);
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	unsigned int flags;

	flags = memalloc_noio_save();
	flush_work(&nctrl->async_event_work);
	nvme_rdma_teardown_all(ctrl, false, true);
	/*
	 * Unless memory regions ran out, ask for all of them again. No MR work runs any more:
	 * of several queues that run out of regions, the last ones report that late.
	 */
	if (!READ_ONCE(ctrl->mr_shortage))
		WRITE_ONCE(ctrl->max_mr_queues, 0);
	WRITE_ONCE(ctrl->mr_shortage, false);
	nvme_rdma_release_pending(ctrl);
	nvme_auth_stop(nctrl);
	memalloc_noio_restore(flags);
	if (nvme_change_ctrl_state(nctrl, NVME_CTRL_CONNECTING))
		nvme_rdma_reconnect_or_remove(ctrl, 0);
}

/*
 * Complete requests of a drained queue only. Of another queue, even one that goes down,
 * the device may still access the data.
 */
static bool nvme_rdma_abort_request(struct request *rq, void *data)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);

	if (nvme_rdma_queue_drained(req->queue))
		nvmf_complete_timed_out_request(rq);
	return true;
}

/*
 * A queue failed while the controller was not LIVE. The context that brings the controller
 * up may wait for a command on it, as Connect, for up to a minute: complete these commands
 * now. Under cancel_lock no tag set is freed and no queues are changed, and no other
 * context cancels a request that this work found not completed.
 */
static void nvme_rdma_abort_work(struct work_struct *work)
{
	struct nvme_rdma_ctrl *ctrl =
		container_of(work, struct nvme_rdma_ctrl, abort_work);
	unsigned int flags;
	int i;

	flags = memalloc_noio_save();
	for (i = 0; i < ctrl->ctrl.queue_count; i++)
		nvme_rdma_stop_failed_queue(&ctrl->queues[i]);
	mutex_lock(&ctrl->cancel_lock);
	if (ctrl->have_admin_tags)
		blk_mq_tagset_busy_iter(&ctrl->admin_tag_set,
					nvme_rdma_abort_request, NULL);
	if (ctrl->have_io_tags)
		blk_mq_tagset_busy_iter(&ctrl->tag_set,
					nvme_rdma_abort_request, NULL);
	mutex_unlock(&ctrl->cancel_lock);
	memalloc_noio_restore(flags);
}

static void nvme_rdma_reset_work(struct work_struct *work)
{
	struct nvme_rdma_ctrl *ctrl =
		container_of(work, struct nvme_rdma_ctrl, ctrl.reset_work);
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	unsigned int flags;
	int ret;

	/*
	 * The controller is new. Its creator, or a deletion, moved it out of RESETTING,
	 * maybe before this work was queued, and owns its queues.
	 */
	if (nvme_ctrl_state(nctrl) != NVME_CTRL_RESETTING ||
	    !ctrl->have_admin_tags)
		return;
	flags = memalloc_noio_save();
	nvme_stop_ctrl(nctrl);
	nvme_rdma_shutdown_ctrl(ctrl, false);
	/* the device may have more memory regions now */
	WRITE_ONCE(ctrl->max_mr_queues, 0);
	WRITE_ONCE(ctrl->mr_shortage, false);
	if (nvme_change_ctrl_state(nctrl, NVME_CTRL_CONNECTING)) {
		ret = nvme_rdma_setup_ctrl(ctrl, false);
	} else {
		/* a deletion waits for this work, and then for pending requests */
		nvme_rdma_release_pending(ctrl);
		/*
		 * Or the RESETTING above was that of a recovery, if nvme_reset_ctrl()
		 * queued this work long after its change of the state. The recovery has
		 * moved on to CONNECTING, and nvme_stop_ctrl() cancelled its next attempt.
		 */
		ret = 0;
		nvme_rdma_reconnect_or_remove(ctrl, 0);
	}
	memalloc_noio_restore(flags);
	if (ret) {
		dev_warn(nctrl->device, "reconnecting after the reset failed: %s %d\n",
			 ret > 0 ? "NVMe status" : "error", ret);
		nctrl->nr_reconnects++;
		ctrl->attempts++;
		nvme_rdma_reconnect_or_remove(ctrl, ret);
	}
}

/**
 * nvme_rdma_init_recovery() - initialize the works of a new controller
 * @ctrl: the controller
 *
 * Context: process.
 */
void nvme_rdma_init_recovery(struct nvme_rdma_ctrl *ctrl)
{
	INIT_DELAYED_WORK(&ctrl->reconnect_work, nvme_rdma_reconnect_work);
	spin_lock_init(&ctrl->err_lock);
	mutex_init(&ctrl->cancel_lock);
	INIT_WORK(&ctrl->err_work, nvme_rdma_error_recovery_work);
	INIT_WORK(&ctrl->abort_work, nvme_rdma_abort_work);
	INIT_WORK(&ctrl->ctrl.reset_work, nvme_rdma_reset_work);
}

/**
 * nvme_rdma_subsystem_reset() - NVM Subsystem Reset, requested by an ioctl
 * @nctrl: the controller
 *
 * The core moves the controller to RESETTING, sets NSSR, and resets the controller.
 * Setting NSSR fails if the target rejects it, or ends its connections before it responds.
 * Then the core leaves the controller in RESETTING, and no other context would move it
 * out of that state.
 *
 * Context: process, waits. Return: 0, negative errno, or the NVMe status of the
 * Property Set.
 */
int nvme_rdma_subsystem_reset(struct nvme_ctrl *nctrl)
{
	int ret = nvmf_subsystem_reset(nctrl);

	/* -EBUSY: it is being deleted, or the reset was on its way already */
	if (ret && ret != -EBUSY &&
	    nvme_rdma_recover_from(to_rdma_ctrl(nctrl), NVME_CTRL_RESETTING))
		dev_warn(nctrl->device,
			 "the NVM subsystem reset failed: %s %d, starting error recovery\n",
			 ret > 0 ? "NVMe status" : "error", ret);
	return ret;
}

/**
 * nvme_rdma_stop_ctrl() - wait for recovery, and prevent another one
 * @nctrl: the controller, not LIVE any more
 *
 * Context: process; called by nvme_stop_ctrl().
 */
void nvme_rdma_stop_ctrl(struct nvme_ctrl *nctrl)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(nctrl);

	spin_lock_irq(&ctrl->err_lock);
	spin_unlock_irq(&ctrl->err_lock);
	flush_work(&ctrl->err_work);
	cancel_delayed_work_sync(&ctrl->reconnect_work);
}
