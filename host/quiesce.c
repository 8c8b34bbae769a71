// SPDX-License-Identifier: GPL-2.0
/*
 * Quiescing: no request is dispatched while queues go down and come up.
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
 */
#include <linux/slab.h>

#include "ctrl.h"
#include "io.h"

/**
 * struct nvme_rdma_request_queue - a request queue of the I/O tag set
 * @entry: in nvme_rdma_ctrl.request_queues, under @quiesce_lock
 * @q: the request queue; the entry holds a reference to it
 * @quiesced: this file has quiesced @q, and must unquiesce it
 */
struct nvme_rdma_request_queue {
	struct list_head	entry;
	struct request_queue	*q;
	bool			quiesced;
};

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
	if (!blk_get_queue(q))
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
	struct nvme_rdma_request_queue *kept, *found = NULL;

	spin_lock(&ctrl->quiesce_lock);
	list_for_each_entry(kept, &ctrl->request_queues, entry) {
		if (kept->q == q) {
			found = kept;
			list_del(&kept->entry);
			break;
		}
	}
	spin_unlock(&ctrl->quiesce_lock);
	if (found)
		nvme_rdma_put_request_queue(found);
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
