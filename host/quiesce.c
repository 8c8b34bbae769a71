// SPDX-License-Identifier: GPL-2.0
/*
 * Quiescing: no request is dispatched while queues go down and come back.
 *
 * The core's own calls quiesce the request queues that are there, and later let those
 * go that are there then. In between a scan may have made another one: its last
 * answer may come after the I/O queues were quiesced and before the admin queue is.
 * That one is let go without ever having been quiesced, of which blk-mq warns (6.2 and
 * later).
 *
 * So the account is kept here. Each request queue of the I/O tag set is in a list from
 * the making of its first hardware context to the end of that, and only what was
 * quiesced is let go. One that comes meanwhile is not quiesced: blk-mq is not done with
 * its flags yet. What it dispatches finds queues that are not ready (io.c). The queue
 * of Connects is in the list and is never quiesced.
 *
 * The list has a reference to each request queue, as blk-mq may make a hardware context
 * once more of one that is just ending, when their number changes; it does not end that
 * one. Such leftovers go with the tag set.
 *
 * The core quiesces while a controller activates firmware, and leaves it so when that
 * takes too long and a reset is to help. So its call is made, too, when queues are let go;
 * it does nothing but then.
 */
#include <linux/slab.h>

#include "ctrl.h"
#include "io.h"

struct nvme_rdma_request_queue {
	struct list_head	entry;
	struct request_queue	*q;
	bool			quiesced;
};

/**
 * nvme_rdma_add_request_queue() - there is one more
 * @ctrl: the controller
 * @q: a request queue of its I/O tag set
 *
 * Context: process.
 */
void nvme_rdma_add_request_queue(struct nvme_rdma_ctrl *ctrl,
				 struct request_queue *q)
{
	struct nvme_rdma_request_queue *kept;

	/* It ends: nothing is to be dispatched any more */
	if (!blk_get_queue(q))
		return;
	/*
	 * blk-mq may be changing the number of queues, with requests waiting. Then it has
	 * ended the first hardware context, and does not expect that it cannot be had again.
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
 * nvme_rdma_del_request_queue() - one ends
 * @ctrl: the controller
 * @q: a request queue that was added
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
 * nvme_rdma_del_request_queues() - the tag set is gone, and all request queues with it
 * @ctrl: the controller
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
 * nvme_rdma_quiesce_io() - dispatch no I/O
 * @ctrl: the controller
 *
 * Nothing is being dispatched any more when this returns, unless a request queue is
 * made meanwhile.
 *
 * Context: process; the work that takes queues down.
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
	/* Our tag sets do not block: who dispatches is in an RCU read section */
	synchronize_rcu();
}

/**
 * nvme_rdma_unquiesce_io() - dispatch what has come meanwhile, and all that comes
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
