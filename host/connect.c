// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing a controller's queues up.
 *
 * The order is the admin queue, the controller's limits, then all I/O queues side by
 * side. Creation, reset and reconnect use the same functions, which cope with
 * whatever the controller already has.
 *
 * One context at a time owns the queues of a controller. It holds the controller in
 * state CONNECTING (up) or in a state that keeps all others away (down, teardown.c).
 * It is the creator before the controller is known, then the reset, recovery or
 * reconnect work, or the core's deletion, which has flushed those works.
 */
#include "conn.h"
#include "connect.h"
#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "dma.h"
#include "error.h"
#include "io.h"

/* Waiting requests were split by the limits of the device of the connection before */
static bool nvme_rdma_device_maps_less(struct nvme_rdma_ctrl *ctrl, unsigned int pages,
				       unsigned int sectors)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	/* data that begins within a page touches one page more than its length says */
	unsigned int used = min_t(unsigned int, nctrl->max_segments,
				  (nctrl->max_hw_sectors >>
				   (ilog2(SZ_4K) - SECTOR_SHIFT)) + 1);

	if (pages >= used && sectors >= nctrl->max_hw_sectors)
		return false;
	dev_err(nctrl->device,
		"RDMA device %s maps %u pages and %u sectors for a transfer, %u and %u are in use: disconnect and connect again\n",
		dev_name(&ctrl->device->dev->dev), pages, sectors, used,
		nctrl->max_hw_sectors);
	WRITE_ONCE(ctrl->rejected, true);
	return true;
}

static int nvme_rdma_setup_admin(struct nvme_rdma_ctrl *ctrl, bool new)
{
	struct nvme_rdma_queue *queue = &ctrl->queues[0];
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	unsigned int pages, sectors;
	int ret;

	/* the core lowers these to the limits of the controller, in each attempt */
	nctrl->sqsize = nctrl->opts->queue_size - 1;
	nctrl->queue_count = nvme_rdma_most_queues(nctrl->opts);
	if (new) {
		ret = nvme_rdma_alloc_admin_tags(ctrl);
		if (ret)
			return ret;
	}
	queue->depth = NVME_AQ_DEPTH;
	queue->inline_size = 0;
	ret = nvme_rdma_run_jobs(ctrl, 0, 1, nvme_rdma_start_queue);
	if (ret)
		return ret;
	nvme_rdma_set_device(ctrl, queue->device);
	nctrl->numa_node = ibdev_to_node(ctrl->device->dev);

	ret = nvme_enable_ctrl(nctrl);
	if (ret)
		return ret;

	if (new)
		ctrl->pi = nvme_rdma_try_pi(ctrl);
	if (ctrl->pi && !ctrl->device->pi_pages) {
		dev_err(nctrl->device,
			"RDMA device %s has no T10-PI offload, which the first connection has used: disconnect and connect again\n",
			dev_name(&ctrl->device->dev->dev));
		WRITE_ONCE(ctrl->rejected, true);
		return -EXDEV;
	}
	pages = ctrl->device->max_mr_pages;
	if (ctrl->pi)
		pages = min(pages, ctrl->device->pi_pages);
	sectors = min_t(size_t, pages << (ilog2(SZ_4K) - SECTOR_SHIFT),
			nvme_rdma_max_mapping(ctrl->device->dev) >> SECTOR_SHIFT);
	if (!new && nvme_rdma_device_maps_less(ctrl, pages, sectors))
		return -EXDEV;
	if (!new)
		pages = min_t(unsigned int, pages, nctrl->max_segments);
	nctrl->max_segments = pages;
	nctrl->max_hw_sectors = sectors;
	nctrl->max_integrity_segments = ctrl->pi ? pages : 0;
	ret = nvme_rdma_make_bounce_reserve(ctrl);
	if (ret)
		return ret;
	nvme_unquiesce_admin_queue(nctrl);
	return nvme_init_ctrl_finish(nctrl, false);
}

static int nvme_rdma_count_io_queues(struct nvme_rdma_ctrl *ctrl)
{
	struct nvmf_ctrl_options *opts = ctrl->ctrl.opts;
	unsigned int nr = nvmf_nr_io_queues(opts);
	int ret;

	ret = nvme_rdma_fit_queues(ctrl, &nr);
	if (ret)
		return ret;
	ret = nvme_set_queue_count(&ctrl->ctrl, &nr);
	if (ret)
		return ret;
	if (!nr) {
		dev_err(ctrl->ctrl.device,
			"the controller granted 0 I/O queues (expected 1 or more)\n");
		return -ENOMEM;
	}
	ctrl->ctrl.queue_count = nr + 1;
	memset(ctrl->io_queues, 0, sizeof(ctrl->io_queues));
	nvmf_set_io_queues(opts, nr, ctrl->io_queues);
	return 0;
}

/* Start those below @count that are not started yet */
static int nvme_rdma_start_io_queues(struct nvme_rdma_ctrl *ctrl, int count)
{
	int i, ret;

	for (i = 1; i < count; i++) {
		ctrl->queues[i].depth = ctrl->ctrl.sqsize + 1;
		ctrl->queues[i].inline_size = ctrl->inline_size;
	}
	ret = nvme_rdma_run_jobs(ctrl, 1, count, nvme_rdma_start_queue);
	if (ret)
		return ret;
	/*
	 * After all queues are connected, which the MR works would delay, and
	 * before the controller is LIVE, when another context may take the queues
	 * down. Changing the number of queues waits for requests that need MRs.
	 */
	for (i = 1; i < count; i++)
		nvme_rdma_fill_mrs(&ctrl->queues[i]);
	return 0;
}

/*
 * When blk-mq maps queues again, it frees the tags of a hardware context without a CPU. No
 * request is in flight, so only a forged response would make a handler use the tags.
 */
static void nvme_rdma_hide_io_tags(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_queue *queue;
	int i;

	for (i = 1; i < ctrl->ctrl.queue_count; i++)
		WRITE_ONCE(ctrl->queues[i].tags, NULL);
	/* wait for pollers, and then for the other handlers */
	synchronize_rcu();
	for (i = 1; i < ctrl->ctrl.queue_count; i++) {
		queue = &ctrl->queues[i];
		if (queue->state != NVME_RDMA_Q_IDLE && !nvme_rdma_polled(queue))
			nvme_rdma_cq_flush(queue->cq);
	}
	nvme_rdma_show_tags(ctrl, &ctrl->have_io_tags, false);
}

static void nvme_rdma_show_io_tags(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_queue *queue;
	int i;

	nvme_rdma_show_tags(ctrl, &ctrl->have_io_tags, true);
	for (i = 1; i < ctrl->ctrl.queue_count; i++) {
		queue = &ctrl->queues[i];
		if (queue->state != NVME_RDMA_Q_IDLE)
			WRITE_ONCE(queue->tags, ctrl->tag_set.tags[i - 1]);
	}
}

/*
 * Change to a single queue first. blk-mq maps one request queue after the other, and with
 * the first one frees the tags of queues without a CPU. The other request queues still have
 * their old hardware contexts, whose exit uses these tags once more (blk_mq_exit_hctx()).
 * Tags that are freed since there are fewer queues are freed last, and those of queue 1
 * never are.
 */
static void nvme_rdma_update_hw_queues(struct nvme_rdma_ctrl *ctrl)
{
	blk_mq_update_nr_hw_queues(&ctrl->tag_set, 1);
	blk_mq_update_nr_hw_queues(&ctrl->tag_set, ctrl->ctrl.queue_count - 1);
}

/*
 * The number of I/O queues or their CPUs have changed: wait until no request is in flight,
 * then let blk-mq map the present queues. Requests for queues that are gone are rerouted,
 * see reroute.c.
 */
static int nvme_rdma_remap_queues(struct nvme_rdma_ctrl *ctrl)
{
	unsigned int were = ctrl->tag_set.nr_hw_queues;
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	int ret;

	nvme_rdma_start_freeze(ctrl);
	nvme_rdma_start_reroute(ctrl);
	nvme_rdma_unquiesce_io(ctrl);
	ret = nvme_rdma_wait_freeze(ctrl);
	if (!ret) {
		nvme_rdma_hide_io_tags(ctrl);
		nvme_rdma_update_hw_queues(ctrl);
		nvme_rdma_show_io_tags(ctrl);
		/* blk_mq_update_nr_hw_queues() returns no error */
		if (ctrl->tag_set.nr_hw_queues != nctrl->queue_count - 1) {
			dev_err(nctrl->device,
				"no memory to change from %u to %u I/O queues\n",
				were, nctrl->queue_count - 1);
			ret = -ENOMEM;
		}
	} else if (ret == -EBUSY) {
		dev_err(nctrl->device,
			"a disk is still being removed: cannot change from %u to %u I/O queues yet\n",
			were, nctrl->queue_count - 1);
	} else {
		dev_err(nctrl->device,
			"requests still in flight after %lu s: cannot change from %u to %u I/O queues\n",
			nvme_rdma_io_timeout(nctrl) / HZ, were,
			nctrl->queue_count - 1);
	}
	nvme_rdma_unfreeze(ctrl);
	nvme_rdma_stop_reroute(ctrl);
	return ret;
}

/* Is an online CPU mapped to a queue whose Connect cannot be sent? See tagset.c */
static bool nvme_rdma_has_unconnectable_queue(struct nvme_rdma_ctrl *ctrl)
{
	int i;

	for (i = 1; i < ctrl->ctrl.queue_count; i++)
		if (nvme_rdma_queue_wanted(&ctrl->queues[i]) &&
		    !nvme_rdma_queue_connectable(&ctrl->queues[i]))
			return true;
	return false;
}

static int nvme_rdma_setup_io(struct nvme_rdma_ctrl *ctrl, bool new)
{
	unsigned int known, count;
	int ret;

	ret = nvme_rdma_count_io_queues(ctrl);
	if (!ret && new)
		ret = nvme_rdma_alloc_io_tags(ctrl);
	if (ret)
		return ret;
	nvme_rdma_fit_tags(ctrl);
	count = ctrl->ctrl.queue_count;

	/*
	 * Connect is a request, which needs a hardware context. Start the queues that have
	 * one first: their requests have to end before blk-mq can map others.
	 */
	known = ctrl->tag_set.nr_hw_queues + 1;
	ret = nvme_rdma_start_io_queues(ctrl, min(known, count));
	if (ret || (known == count && !nvme_rdma_has_unconnectable_queue(ctrl)))
		return ret;
	ret = nvme_rdma_remap_queues(ctrl);
	if (!ret)
		ret = nvme_rdma_start_io_queues(ctrl, count);
	if (!ret && nvme_rdma_has_unconnectable_queue(ctrl)) {
		dev_err(ctrl->ctrl.device,
			"cannot connect I/O queues whose CPUs are isolated or offline: bring other CPUs online\n");
		ret = -EXDEV;
	}
	return ret;
}

/* The error of the connection explains a command without a response */
static int nvme_rdma_admin_error(struct nvme_rdma_ctrl *ctrl, int ret)
{
	int error = READ_ONCE(ctrl->queues[0].error);

	return error && !nvme_rdma_is_rejection(ret) ? error : ret;
}

/* Newer cores accept administrative controllers without I/O queues */
static int nvme_rdma_lost_io_queues(struct nvme_rdma_ctrl *ctrl)
{
	dev_err(ctrl->ctrl.device,
		"the controller has 0 I/O queues (expected those of the connection before)\n");
	return -ENODEV;
}

/**
 * nvme_rdma_setup_ctrl() - bring all queues up and the controller to LIVE
 * @ctrl: the controller, in state CONNECTING
 * @new: it is new: allocate the tag sets
 *
 * A deletion ends the attempt at once. After a failure all queues are down again.
 *
 * Context: process. Return: 0, a negative errno, or a positive NVMe status.
 */
int nvme_rdma_setup_ctrl(struct nvme_rdma_ctrl *ctrl, bool new)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	bool io;
	int ret;

	WRITE_ONCE(ctrl->short_timeouts, true);
	WRITE_ONCE(ctrl->rejected, false);
	nvme_rdma_watch_deletion(ctrl);
	ret = nvme_rdma_setup_admin(ctrl, new);
	if (!ret)
		ret = nvme_rdma_check_limits(ctrl);
	io = !ret && nctrl->queue_count > 1;
	if (io)
		ret = nvme_rdma_setup_io(ctrl, new);
	else if (!ret && ctrl->have_io_tags)
		ret = nvme_rdma_lost_io_queues(ctrl);
	nvme_rdma_unwatch_deletion(ctrl);
	/* before the controller is LIVE, as a recovery may count attempts then */
	if (!ret) {
		nvme_rdma_reset_reconnects(nctrl);
		ctrl->attempts = 0;
		ctrl->nr_rejections = 0;
	}
	/* fails after the start of a deletion, which goes on then */
	if (!ret && !nvme_change_ctrl_state(nctrl, NVME_CTRL_LIVE))
		ret = -ECANCELED;
	if (!ret) {
		WRITE_ONCE(ctrl->short_timeouts, false);
		nvme_rdma_unquiesce_io(ctrl);
		nvme_start_ctrl(nctrl);
		nvme_rdma_recheck_queues(ctrl);
		return 0;
	}

	ret = nvme_rdma_admin_error(ctrl, ret);
	if (io)
		nvme_rdma_teardown_all(ctrl, new, !new);
	else
		nvme_rdma_teardown_admin(ctrl, new);
	WRITE_ONCE(ctrl->short_timeouts, false);
	/* a shortage in this attempt has started no recovery; all MR works have ended */
	WRITE_ONCE(ctrl->mr_shortage, false);
	if (!new)
		nvme_rdma_release_pending(ctrl);
	return ret;
}
