// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing a controller back: reset, error recovery, reconnecting.
 *
 * Whoever sees an error calls nvme_rdma_error_recovery(); the first one moves
 * the controller to RESETTING and starts the work. The work takes everything
 * down at once, so that requests can go to another path, and leaves the
 * controller in CONNECTING. From there reconnect work brings it up or waits
 * reconnect_delay seconds for its next turn, until ctrl_loss_tmo is over and
 * the controller is deleted.
 *
 * Nothing else than ctrl_loss_tmo, the user, and the removal of its RDMA device ends a
 * controller that was live, not even a target that refuses it: one that starts again answers
 * before it has all of its subsystems and hosts, and the device or the target of another
 * moment may have less room. Refusals make the pauses longer.
 *
 * Deletion moves the controller to DELETING first, which ends all of the above
 * at its next state change, and then waits for the work in
 * nvme_rdma_stop_ctrl().
 *
 * Reclaim may wait for I/O that waits for all of this, so that nothing in it allocates
 * memory by I/O, nor what it calls in the cores.
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

/* Was an attempt refused, and why; NULL if it was not, but failed */
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
 * The pause before the next attempt, in units of reconnect_delay. The core counts them to
 * find when ctrl_loss_tmo is over, which a longer pause shall not put off.
 */
static unsigned int nvme_rdma_pause(struct nvme_rdma_ctrl *ctrl, bool refused)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	/* which sysfs may change */
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

	/* only a deletion takes a controller out of CONNECTING behind us */
	if (nvme_ctrl_state(nctrl) != NVME_CTRL_CONNECTING)
		return;
	/* without the status, so that it looks at ctrl_loss_tmo alone */
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
	 * Lost for another reason than want of memory regions: ask for all of them again. No
	 * work makes any now: of several queues that run out the last ones say so late.
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
 * Requests of a drained queue only: of another, even if it is on its way down,
 * the device may still have the data.
 */
static bool nvme_rdma_abort_request(struct request *rq, void *data)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);

	if (nvme_rdma_queue_drained(req->queue))
		nvmf_complete_timed_out_request(rq);
	return true;
}

/*
 * A queue failed while the controller was not LIVE. Whoever brings the
 * controller up waits for a command on it, Connect perhaps, for up to a minute;
 * end those commands now. Under cancel_lock nobody removes a tag set or changes
 * its queues, and nobody else cancels the request that this work has just found
 * not completed.
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
	 * A new one: its creator, or a deletion, took it out of RESETTING, perhaps
	 * before this work was queued, and owns its queues.
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
		/* a deletion waits for us, and then for requests that wait */
		nvme_rdma_release_pending(ctrl);
		/*
		 * Or the RESETTING that we saw was recovery's, as nvme_reset_ctrl()
		 * queued us long after its change of the state. Recovery has gone on
		 * to CONNECTING, and nvme_stop_ctrl() took its next attempt away.
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
 * nvme_rdma_init_recovery() - the works of a new controller
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
 * nvme_rdma_subsystem_reset() - NVM Subsystem Reset, asked for by an ioctl
 * @nctrl: the controller
 *
 * The core moves the controller to RESETTING, sets NSSR, and resets the
 * controller. If setting NSSR fails, because the target refuses it or takes its
 * connections down before it answers, the core leaves the controller as it is,
 * and nobody else takes one out of RESETTING.
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
 * nvme_rdma_stop_ctrl() - wait for recovery, and let none begin
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
