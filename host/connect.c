// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing a controller's queues up and down.
 *
 * Up: the admin queue, the controller's limits, then all I/O queues side by
 * side. Down: all at once; or, where the controller is told, I/O queues, side by
 * side again, and then the admin queue. Each is written once and copes with whatever
 * of it is there, so that creation, reset, recovery, deletion and the failure of any
 * of them take the same ways.
 *
 * Callers hold the controller in state CONNECTING (up) or in a state that
 * keeps everybody else away (down): the creator before the controller is
 * known, else reset, recovery or reconnect work, or the core's deletion, which
 * has flushed those.
 */
#include "dma.h"
#include "nvme_rdma.h"

/* The admin queue's device is the controller's while that queue exists */
static void nvme_rdma_set_device(struct nvme_rdma_ctrl *ctrl,
				 struct nvme_rdma_device *ndev)
{
	struct nvme_rdma_device *old;

	if (ndev)
		nvme_rdma_hold_device(ndev);
	mutex_lock(&nvme_rdma_ctrl_mutex);
	old = ctrl->device;
	ctrl->device = ndev;
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	if (old)
		nvme_rdma_put_device(old);
}

/* Requests that wait were split by what the device of the connection before maps */
static bool nvme_rdma_maps_less(struct nvme_rdma_ctrl *ctrl, unsigned int pages,
				unsigned int sectors)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	/* data that begins within a page touches one more than its length says */
	unsigned int used = min_t(unsigned int, nctrl->max_segments,
				  (nctrl->max_hw_sectors >>
				   (ilog2(SZ_4K) - SECTOR_SHIFT)) + 1);

	if (pages >= used && sectors >= nctrl->max_hw_sectors)
		return false;
	dev_err(nctrl->device,
		"its route leads over %s, which maps %u pages and %u sectors at once, %u and %u are in use: disconnect and connect anew\n",
		dev_name(&ctrl->device->dev->dev), pages, sectors, used,
		nctrl->max_hw_sectors);
	WRITE_ONCE(ctrl->refused, true);
	return true;
}

static int nvme_rdma_admin_up(struct nvme_rdma_ctrl *ctrl, bool new)
{
	struct nvme_rdma_queue *queue = &ctrl->queues[0];
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	unsigned int pages, sectors;
	int ret;

	/* the core lowers these to what the controller takes, each time anew */
	nctrl->sqsize = nctrl->opts->queue_size - 1;
	nctrl->queue_count = nvme_rdma_most_queues(nctrl->opts);
	if (new) {
		ret = nvme_rdma_alloc_admin_tags(ctrl);
		if (ret)
			return ret;
	}
	queue->depth = NVME_AQ_DEPTH;
	queue->inline_size = 0;
	ret = nvme_rdma_each_queue(ctrl, 0, 1, nvme_rdma_start_queue);
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
			"its route leads over %s, which does no T10-PI offload, as that of the first connection does: disconnect and connect anew\n",
			dev_name(&ctrl->device->dev->dev));
		WRITE_ONCE(ctrl->refused, true);
		return -EXDEV;
	}
	pages = ctrl->device->max_mr_pages;
	if (ctrl->pi)
		pages = min(pages, ctrl->device->pi_pages);
	sectors = min_t(size_t, pages << (ilog2(SZ_4K) - SECTOR_SHIFT),
			nvme_rdma_max_mapping(ctrl->device->dev) >> SECTOR_SHIFT);
	if (!new && nvme_rdma_maps_less(ctrl, pages, sectors))
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
			"the controller grants no I/O queue\n");
		return -ENOMEM;
	}
	ctrl->ctrl.queue_count = nr + 1;
	memset(ctrl->io_queues, 0, sizeof(ctrl->io_queues));
	nvmf_set_io_queues(opts, nr, ctrl->io_queues);
	return 0;
}

/* Those below @count that are not started yet */
static int nvme_rdma_start_io_queues(struct nvme_rdma_ctrl *ctrl, int count)
{
	int i, ret;

	for (i = 1; i < count; i++) {
		ctrl->queues[i].depth = ctrl->ctrl.sqsize + 1;
		ctrl->queues[i].inline_size = ctrl->inline_size;
	}
	ret = nvme_rdma_each_queue(ctrl, 1, count, nvme_rdma_start_queue);
	if (ret)
		return ret;
	/*
	 * Not before all queues are connected, which these works would delay,
	 * and not after the controller is LIVE, when others may take the queues
	 * down. Changing the number of queues waits for requests that need them.
	 */
	for (i = 1; i < count; i++)
		nvme_rdma_fill_mrs(&ctrl->queues[i]);
	return 0;
}

/* Whether the abort work, which holds the lock meanwhile, looks at a tag set */
static void nvme_rdma_show_tags(struct nvme_rdma_ctrl *ctrl, bool *have,
				bool there)
{
	mutex_lock(&ctrl->cancel_lock);
	*have = there;
	mutex_unlock(&ctrl->cancel_lock);
}

/*
 * When blk-mq maps anew, it frees the tags of a hardware context that gets no processor.
 * No request is under way, so that who would look for one is misled by its peer.
 */
static void nvme_rdma_hide_io_tags(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_queue *queue;
	int i;

	for (i = 1; i < ctrl->ctrl.queue_count; i++)
		WRITE_ONCE(ctrl->queues[i].tags, NULL);
	/* those who poll, and then the other handlers */
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
 * By way of a single queue: blk-mq maps one request queue after the other, and by the
 * first one frees the tags of queues that no processor is mapped to any more. Those
 * after it still have their old hardware contexts, and with the end of these use the
 * tags once more (blk_mq_exit_hctx()). What it frees because there are fewer queues is
 * freed last, and queue 1 never is.
 */
static void nvme_rdma_update_hw_queues(struct nvme_rdma_ctrl *ctrl)
{
	blk_mq_update_nr_hw_queues(&ctrl->tag_set, 1);
	blk_mq_update_nr_hw_queues(&ctrl->tag_set, ctrl->ctrl.queue_count - 1);
}

/*
 * The controller came back with another number of I/O queues, or to other processors:
 * wait until no request is under way, then let blk-mq map as many queues as there are.
 * Those that wait for queues that are gone go another way, see reroute.c.
 */
static int nvme_rdma_map_anew(struct nvme_rdma_ctrl *ctrl)
{
	unsigned int were = ctrl->tag_set.nr_hw_queues;
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	int ret = 0;

	nvme_start_freeze(nctrl);
	nvme_rdma_start_reroute(ctrl);
	nvme_rdma_unquiesce_io(ctrl);
	if (nvme_wait_freeze_timeout(nctrl)) {
		nvme_rdma_hide_io_tags(ctrl);
		nvme_rdma_update_hw_queues(ctrl);
		nvme_rdma_show_io_tags(ctrl);
		/* it says nothing when it could not */
		if (ctrl->tag_set.nr_hw_queues != nctrl->queue_count - 1) {
			dev_err(nctrl->device,
				"no memory to change from %u to %u I/O queues\n",
				were, nctrl->queue_count - 1);
			ret = -ENOMEM;
		}
	} else {
		dev_err(nctrl->device,
			"requests still under way after %lu s, cannot change from %u to %u I/O queues\n",
			nvme_rdma_io_timeout(nctrl) / HZ, were,
			nctrl->queue_count - 1);
		ret = -ETIMEDOUT;
	}
	nvme_unfreeze(nctrl);
	nvme_rdma_stop_reroute(ctrl);
	return ret;
}

/* Does a processor send by a queue whose Connect cannot be made? See tagset.c */
static bool nvme_rdma_stranded(struct nvme_rdma_ctrl *ctrl)
{
	int i;

	for (i = 1; i < ctrl->ctrl.queue_count; i++)
		if (nvme_rdma_queue_wanted(&ctrl->queues[i]) &&
		    !nvme_rdma_queue_connectable(&ctrl->queues[i]))
			return true;
	return false;
}

static int nvme_rdma_io_up(struct nvme_rdma_ctrl *ctrl, bool new)
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
	 * Connect travels as a request, so only where blk-mq has a queue. These first:
	 * requests of theirs are under way, and have to end before others are mapped.
	 */
	known = ctrl->tag_set.nr_hw_queues + 1;
	ret = nvme_rdma_start_io_queues(ctrl, min(known, count));
	if (ret || (known == count && !nvme_rdma_stranded(ctrl)))
		return ret;
	ret = nvme_rdma_map_anew(ctrl);
	if (!ret)
		ret = nvme_rdma_start_io_queues(ctrl, count);
	if (!ret && nvme_rdma_stranded(ctrl)) {
		dev_err(ctrl->ctrl.device,
			"cannot connect queues whose processors are isolated, or offline: bring others online\n");
		ret = -EXDEV;
	}
	return ret;
}

static int nvme_rdma_flush_job(struct nvme_rdma_queue *queue)
{
	nvme_rdma_flush_queue(queue);
	return 0;
}

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
 * Nobody uses these queues, nor does a device what is theirs, when this returns.
 * If they are all of the controller's, their keys stay, of no use to anybody.
 */
static void nvme_rdma_stop_queues(struct nvme_rdma_ctrl *ctrl, int first,
				  int last)
{
	bool all = !first && last == ctrl->ctrl.queue_count;
	int i;

	for (i = first; i < last; i++)
		nvme_rdma_close_queue(&ctrl->queues[i]);
	synchronize_rcu();
	nvme_rdma_each_queue(ctrl, first, last, all ? nvme_rdma_flush_job :
			     nvme_rdma_drain_job);
	for (i = first; i < last; i++)
		nvme_rdma_set_drained(&ctrl->queues[i]);
}

static void nvme_rdma_quiet_io(struct nvme_rdma_ctrl *ctrl)
{
	if (ctrl->have_io_tags) {
		nvme_rdma_quiesce_io(ctrl);
		nvme_sync_io_queues(&ctrl->ctrl);
	}
}

/*
 * The I/O queues were stopped, so no completion runs: what is left in flight is
 * cancelled, and completing it unmaps its data, which no device touches any
 * more. Freeing the queues waits for their CM callbacks. The admin queue's may
 * still queue the abort work, which looks at the tag sets that are shown to it.
 * The abort work ends with the queues that it may have found drained: it must not
 * end a request once more, which the queue's next connection has then.
 */
static void nvme_rdma_end_io(struct nvme_rdma_ctrl *ctrl, bool remove, bool fail)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;

	if (ctrl->have_io_tags) {
		mutex_lock(&ctrl->cancel_lock);
		nvme_cancel_tagset(nctrl);
		mutex_unlock(&ctrl->cancel_lock);
	}
	/* No queue is usable, and who submits looks at that itself, see io.c */
	if (fail)
		nvme_rdma_unquiesce_io(ctrl);
	nvme_rdma_each_queue(ctrl, 1, nctrl->queue_count, nvme_rdma_free_job);
	cancel_work_sync(&ctrl->abort_work);
	if (ctrl->have_io_tags && remove) {
		nvme_rdma_unquiesce_io(ctrl);
		nvme_rdma_show_tags(ctrl, &ctrl->have_io_tags, false);
		nvme_remove_io_tag_set(nctrl);
		nvme_rdma_del_request_queues(ctrl);
	}
}

/*
 * End all I/O queues, while the admin queue is still of use. Request queues stay
 * quiesced unless @remove.
 */
static void nvme_rdma_io_down(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	if (ctrl->ctrl.queue_count < 2)
		return;
	nvme_rdma_quiet_io(ctrl);
	nvme_rdma_stop_queues(ctrl, 1, ctrl->ctrl.queue_count);
	nvme_rdma_end_io(ctrl, remove, false);
}

/*
 * The asynchronous event's work posts to the admin queue without a request. It
 * posts nothing once the controller is not LIVE. An answer that comes before the queue
 * is drained queues it again: see nvme_rdma_end_admin().
 */
static void nvme_rdma_quiet_admin(struct nvme_rdma_ctrl *ctrl)
{
	if (ctrl->have_admin_tags) {
		nvme_quiesce_admin_queue(&ctrl->ctrl);
		blk_sync_queue(ctrl->ctrl.admin_q);
	}
	cancel_work_sync(&ctrl->ctrl.async_event_work);
}

static void nvme_rdma_end_admin(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;

	if (ctrl->have_admin_tags) {
		mutex_lock(&ctrl->cancel_lock);
		nvme_cancel_admin_tagset(nctrl);
		mutex_unlock(&ctrl->cancel_lock);
	}
	nvme_rdma_each_queue(ctrl, 0, 1, nvme_rdma_free_job);
	cancel_work_sync(&ctrl->abort_work);
	/* it must not find the controller LIVE again, where another one was submitted */
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

/* End the admin queue. The request queue stays quiesced unless @remove. */
static void nvme_rdma_admin_down(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	nvme_rdma_quiet_admin(ctrl);
	nvme_rdma_stop_queues(ctrl, 0, 1);
	nvme_rdma_end_admin(ctrl, remove);
}

/**
 * nvme_rdma_all_down() - end all queues at once, asking the controller for nothing
 * @ctrl: the controller
 * @remove: end the tag sets, too
 * @fail: I/O shall go to another path at once, and not wait until all is freed, which
 *	  a device that does not answer may put off for a minute
 *
 * Request queues stay quiesced unless @remove or, those of I/O, @fail.
 *
 * Context: process.
 */
void nvme_rdma_all_down(struct nvme_rdma_ctrl *ctrl, bool remove, bool fail)
{
	nvme_rdma_quiet_io(ctrl);
	nvme_rdma_quiet_admin(ctrl);
	nvme_rdma_stop_queues(ctrl, 0, ctrl->ctrl.queue_count);
	nvme_rdma_end_io(ctrl, remove, fail);
	nvme_rdma_end_admin(ctrl, remove);
}

/**
 * nvme_rdma_let_fail() - let requests go that wait for a controller
 * @ctrl: the controller, down and not about to come back at once
 *
 * They fail over to another path, or wait inside blk-mq, where
 * fast_io_fail_tmo finds them. The keep-alive is stopped last: on some kernels
 * its work waits for its request, which fails only now.
 *
 * Context: process.
 */
void nvme_rdma_let_fail(struct nvme_rdma_ctrl *ctrl)
{
	nvme_rdma_unquiesce_io(ctrl);
	nvme_unquiesce_admin_queue(&ctrl->ctrl);
	nvme_stop_keep_alive(&ctrl->ctrl);
}

/**
 * nvme_rdma_shutdown_ctrl() - take a controller down in good order
 * @ctrl: the controller
 * @remove: for good: shut it down instead of disabling it, end its tag sets
 *
 * Where nobody is left to be told, everything goes at once: then no request waits for
 * the end of all keys, which is long on a device that does not answer either.
 *
 * Context: process.
 */
void nvme_rdma_shutdown_ctrl(struct nvme_rdma_ctrl *ctrl, bool remove)
{
	if (!nvme_rdma_queue_live(&ctrl->queues[0])) {
		nvme_rdma_all_down(ctrl, remove, false);
		return;
	}
	nvme_rdma_io_down(ctrl, remove);
	nvme_quiesce_admin_queue(&ctrl->ctrl);
	WRITE_ONCE(ctrl->brief, true);
	nvme_disable_ctrl(&ctrl->ctrl, remove);
	nvme_rdma_admin_down(ctrl, remove);
}

/**
 * nvme_rdma_recheck_queues() - recover if a queue broke while nobody looked
 * @ctrl: the controller, which has just become LIVE
 *
 * A queue that broke after its own Connect, but before the controller was LIVE, or
 * while the core had it wait for its firmware, started no recovery. One that is idle
 * has no processor, and was not connected.
 *
 * Context: any; does not sleep.
 */
void nvme_rdma_recheck_queues(struct nvme_rdma_ctrl *ctrl)
{
	int i;

	for (i = 0; i < ctrl->ctrl.queue_count; i++) {
		enum nvme_rdma_queue_state state =
			READ_ONCE(ctrl->queues[i].state);

		if (state != NVME_RDMA_Q_LIVE && state != NVME_RDMA_Q_IDLE)
			nvme_rdma_error_recovery(ctrl);
	}
}

/* A command that nobody answered: what became of the connection says why */
static int nvme_rdma_admin_error(struct nvme_rdma_ctrl *ctrl, int ret)
{
	int error = READ_ONCE(ctrl->queues[0].error);

	return error && !nvme_rdma_refused(ret) ? error : ret;
}

/* Newer cores let administrative controllers be without I/O queues */
static int nvme_rdma_lost_io(struct nvme_rdma_ctrl *ctrl)
{
	dev_err(ctrl->ctrl.device,
		"expected the controller that had I/O queues, one without any came back\n");
	return -ENODEV;
}

/**
 * nvme_rdma_setup_ctrl() - bring all queues up and the controller to LIVE
 * @ctrl: the controller, in state CONNECTING
 * @new: for the first time: make the tag sets
 *
 * A deletion meanwhile ends it at once. On failure everything that was brought
 * up is down again.
 *
 * Context: process. Return: 0, a negative errno, or a positive NVMe status.
 */
int nvme_rdma_setup_ctrl(struct nvme_rdma_ctrl *ctrl, bool new)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	bool io;
	int ret;

	WRITE_ONCE(ctrl->brief, true);
	WRITE_ONCE(ctrl->refused, false);
	nvme_rdma_watch(ctrl);
	ret = nvme_rdma_admin_up(ctrl, new);
	if (!ret)
		ret = nvme_rdma_check_limits(ctrl);
	io = !ret && nctrl->queue_count > 1;
	if (io)
		ret = nvme_rdma_io_up(ctrl, new);
	else if (!ret && ctrl->have_io_tags)
		ret = nvme_rdma_lost_io(ctrl);
	nvme_rdma_unwatch(ctrl);
	/* once it is LIVE, a recovery may be the next to count */
	if (!ret) {
		nvme_rdma_reset_reconnects(nctrl);
		ctrl->attempts = 0;
		ctrl->refusals = 0;
	}
	/* fails where a deletion came in between, which then goes on */
	if (!ret && !nvme_change_ctrl_state(nctrl, NVME_CTRL_LIVE))
		ret = -ECANCELED;
	if (!ret) {
		WRITE_ONCE(ctrl->brief, false);
		nvme_rdma_unquiesce_io(ctrl);
		nvme_start_ctrl(nctrl);
		nvme_rdma_recheck_queues(ctrl);
		return 0;
	}

	ret = nvme_rdma_admin_error(ctrl, ret);
	if (io)
		nvme_rdma_all_down(ctrl, new, !new);
	else
		nvme_rdma_admin_down(ctrl, new);
	WRITE_ONCE(ctrl->brief, false);
	/* a shortage in this attempt started no recovery; all works that make regions have ended */
	WRITE_ONCE(ctrl->mr_short, false);
	if (!new)
		nvme_rdma_let_fail(ctrl);
	return ret;
}
