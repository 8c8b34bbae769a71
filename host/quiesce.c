// SPDX-License-Identifier: GPL-2.0
/*
 * Quiescing: no request is dispatched while queues go down and come up. Freezing: no request is
 * in flight while the number of hardware contexts changes.
 *
 * The functions of the core quiesce the request queues that exist, and later unquiesce
 * those that exist then. In between a scan may have created another one: its last response
 * may arrive after the I/O queues were quiesced and before the admin queue is. That queue
 * would be unquiesced without having been quiesced, for which blk-mq warns (6.2 and later).
 *
 * So this file keeps a list of the request queues of the I/O tag set, from the
 * initialization of their first hardware context to its exit, and unquiesces only those
 * that it has quiesced. A request queue that is created meanwhile is not quiesced, since
 * blk-mq still changes its flags. Its requests find queues that are not ready (io.c). The
 * queue for Connect is in the list and is never quiesced.
 *
 * The list has a reference to each request queue: when the number of hardware contexts
 * changes, blk-mq may initialize one more for a queue that is just ending, without an
 * exit. Such entries are freed with the tag set.
 *
 * The core quiesces while a controller activates firmware, and does not unquiesce if that
 * takes too long and it resets the controller. So its function is called, too, when queues
 * are unquiesced; otherwise it has no effect.
 *
 * The same holds for freezing. The functions of the core freeze the namespaces that are in its
 * list, and unfreeze those that are in it then. A scan adds some in between, and removes others,
 * whose requests may be in flight. blk-mq itself freezes each request queue of the tag set when
 * the number changes, and waits without a limit. Nothing cancels requests meanwhile. So none may
 * be left that this file has not waited for. Scans of 6.8 and later add no namespace while the
 * controller is frozen (NVME_CTRL_FROZEN). Those of 6.1 do: the reads of such a namespace's
 * partitions end, unless the connection is lost at that moment.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "ctrl.h"
#include "io.h"

/*
 * How long disks may come and go while others are frozen, and how often to look. To add a disk
 * takes no I/O. To remove one may take I/O that waits for the end of the freeze.
 */
#define DISK_MS			1000
#define DISK_LOOK_MS		10

/**
 * struct nvme_rdma_request_queue - a request queue of the I/O tag set
 * @entry: in nvme_rdma_ctrl.request_queues, under @quiesce_lock
 * @q: the request queue; the entry holds a reference to it
 * @quiesced: this file has quiesced @q, and must unquiesce it
 * @frozen: this file has frozen @q, or is about to, and must unfreeze it: the entry stays. Set
 *	and cleared by the owner of the controller's queues.
 * @exited: @q has no hardware context any more, or blk-mq is making another first one. If it
 *	stays so, nvme_rdma_unfreeze() frees the entry.
 */
struct nvme_rdma_request_queue {
	struct list_head	entry;
	struct request_queue	*q;
	bool			quiesced;
	bool			frozen;
	bool			exited;
};

static struct nvme_rdma_request_queue *
nvme_rdma_find_request_queue(struct nvme_rdma_ctrl *ctrl, struct request_queue *q)
{
	struct nvme_rdma_request_queue *kept;

	list_for_each_entry(kept, &ctrl->request_queues, entry)
		if (kept->q == q)
			return kept;
	return NULL;
}

/* Returns false if no entry was kept for a queue that has a hardware context again */
static bool nvme_rdma_take_back_request_queue(struct nvme_rdma_ctrl *ctrl, struct request_queue *q)
{
	struct nvme_rdma_request_queue *kept;

	spin_lock(&ctrl->quiesce_lock);
	kept = nvme_rdma_find_request_queue(ctrl, q);
	if (kept)
		kept->exited = false;
	spin_unlock(&ctrl->quiesce_lock);
	return kept;
}

/**
 * nvme_rdma_add_request_queue() - add a request queue to the list
 * @ctrl: the controller
 * @q: a request queue of its I/O tag set
 *
 * Context: process.
 */
void nvme_rdma_add_request_queue(struct nvme_rdma_ctrl *ctrl,
				 struct request_queue *q)
{
	struct nvme_rdma_request_queue *kept;

	/* It is ending: nothing is dispatched any more */
	if (nvme_rdma_take_back_request_queue(ctrl, q) || !blk_get_queue(q))
		return;
	/*
	 * blk-mq may be changing the number of queues while requests wait. Then it has exited
	 * the first hardware context, and does not expect that initializing it again fails.
	 */
	kept = kzalloc(sizeof(*kept), GFP_NOIO | __GFP_NOFAIL);
	kept->q = q;
	spin_lock(&ctrl->quiesce_lock);
	list_add_tail(&kept->entry, &ctrl->request_queues);
	spin_unlock(&ctrl->quiesce_lock);
}

static void nvme_rdma_put_request_queue(struct nvme_rdma_request_queue *kept)
{
	blk_put_queue(kept->q);
	kfree(kept);
}

/**
 * nvme_rdma_del_request_queue() - remove a request queue from the list
 * @ctrl: the controller
 * @q: the request queue
 *
 * Context: process.
 */
void nvme_rdma_del_request_queue(struct nvme_rdma_ctrl *ctrl,
				 struct request_queue *q)
{
	struct nvme_rdma_request_queue *kept;

	spin_lock(&ctrl->quiesce_lock);
	kept = nvme_rdma_find_request_queue(ctrl, q);
	if (kept && kept->frozen) {
		kept->exited = true;
		kept = NULL;
	}
	if (kept)
		list_del(&kept->entry);
	spin_unlock(&ctrl->quiesce_lock);
	if (kept)
		nvme_rdma_put_request_queue(kept);
}

/**
 * nvme_rdma_del_request_queues() - empty the list
 * @ctrl: the controller, whose tag set is freed
 *
 * Context: process.
 */
void nvme_rdma_del_request_queues(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_request_queue *kept, *next;

	list_for_each_entry_safe(kept, next, &ctrl->request_queues, entry)
		nvme_rdma_put_request_queue(kept);
	INIT_LIST_HEAD(&ctrl->request_queues);
}

/**
 * nvme_rdma_quiesce_io() - quiesce the I/O request queues
 * @ctrl: the controller, whose queues the caller owns
 *
 * No request is being dispatched when this returns, except on a request queue that is
 * created meanwhile.
 *
 * Context: process.
 */
void nvme_rdma_quiesce_io(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_request_queue *kept;

	spin_lock(&ctrl->quiesce_lock);
	list_for_each_entry(kept, &ctrl->request_queues, entry) {
		if (!kept->quiesced && kept->q != ctrl->ctrl.connect_q) {
			kept->quiesced = true;
			blk_mq_quiesce_queue_nowait(kept->q);
		}
	}
	spin_unlock(&ctrl->quiesce_lock);
	/* the tag set is not blocking: requests are dispatched in an RCU read-side section */
	synchronize_rcu();
}

/**
 * nvme_rdma_unquiesce_io() - undo nvme_rdma_quiesce_io()
 * @ctrl: the controller
 *
 * Does nothing if nothing was quiesced.
 *
 * Context: process.
 */
void nvme_rdma_unquiesce_io(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_request_queue *kept;

	spin_lock(&ctrl->quiesce_lock);
	list_for_each_entry(kept, &ctrl->request_queues, entry) {
		if (kept->quiesced) {
			kept->quiesced = false;
			blk_mq_unquiesce_queue(kept->q);
		}
	}
	spin_unlock(&ctrl->quiesce_lock);
	nvme_unquiesce_io_queues(&ctrl->ctrl);
}

/* Frozen entries stay in the list, so @kept is still in it. With NULL, starts at the first one. */
static struct nvme_rdma_request_queue *
nvme_rdma_next_frozen(struct nvme_rdma_ctrl *ctrl, struct nvme_rdma_request_queue *kept)
{
	struct nvme_rdma_request_queue *found = NULL;

	spin_lock(&ctrl->quiesce_lock);
	kept = list_prepare_entry(kept, &ctrl->request_queues, entry);
	list_for_each_entry_continue(kept, &ctrl->request_queues, entry) {
		if (kept->frozen) {
			found = kept;
			break;
		}
	}
	spin_unlock(&ctrl->quiesce_lock);
	return found;
}

/**
 * nvme_rdma_start_freeze() - begin to freeze the I/O request queues
 * @ctrl: the controller, whose queues the caller owns
 *
 * No new request enters them. The queue for Connect is not frozen.
 *
 * Context: process.
 */
void nvme_rdma_start_freeze(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_request_queue *kept;

	nvme_rdma_set_frozen(&ctrl->ctrl, true);
	spin_lock(&ctrl->quiesce_lock);
	list_for_each_entry(kept, &ctrl->request_queues, entry)
		kept->frozen = kept->q != ctrl->ctrl.connect_q;
	spin_unlock(&ctrl->quiesce_lock);
	for (kept = NULL; (kept = nvme_rdma_next_frozen(ctrl, kept));)
		blk_freeze_queue_start_non_owner(kept->q);
}

/**
 * nvme_rdma_wait_freeze() - wait until the frozen request queues have no request
 * @ctrl: the controller
 *
 * Context: process.
 * Return: 0; -ETIMEDOUT if some have requests after the time that an I/O command may take;
 * -EBUSY if a disk is being removed, which may wait for the end of the freeze.
 */
int nvme_rdma_wait_freeze(struct nvme_rdma_ctrl *ctrl)
{
	/* blk-mq returns what is left in an int */
	int left = min_t(unsigned long, nvme_rdma_io_timeout(&ctrl->ctrl), INT_MAX);
	unsigned int looks = DISK_MS / DISK_LOOK_MS;
	struct nvme_rdma_request_queue *kept;

	for (kept = NULL; left > 0 && (kept = nvme_rdma_next_frozen(ctrl, kept));)
		left = blk_mq_freeze_queue_wait_timeout(kept->q, left);
	if (left <= 0)
		return -ETIMEDOUT;
	while (nvme_rdma_disks_are_busy(&ctrl->tag_set)) {
		if (!looks--)
			return -EBUSY;
		msleep(DISK_LOOK_MS);
	}
	return 0;
}

/**
 * nvme_rdma_unfreeze() - undo nvme_rdma_start_freeze()
 * @ctrl: the controller
 *
 * Context: process.
 */
void nvme_rdma_unfreeze(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_request_queue *kept;
	bool exited;

	while ((kept = nvme_rdma_next_frozen(ctrl, NULL))) {
		blk_mq_unfreeze_queue_non_owner(kept->q);
		spin_lock(&ctrl->quiesce_lock);
		kept->frozen = false;
		exited = kept->exited;
		if (exited)
			list_del(&kept->entry);
		spin_unlock(&ctrl->quiesce_lock);
		if (exited)
			nvme_rdma_put_request_queue(kept);
	}
	nvme_rdma_set_frozen(&ctrl->ctrl, false);
}
