// SPDX-License-Identifier: GPL-2.0
/*
 * Quiescing: no request is dispatched while queues go down and come back.
 *
 * The core's own calls quiesce the request queues that are there, and later let those
 * go that are there then. In between a scan may have made another one: its last
 * answer may come after the I/O queues were quiesced and before the admin queue is.
 * That one is let go without ever having been quiesced; blk-mq warns of it (6.2 and
 * later), and until then it dispatches into queues that are not there.
 *
 * So the account is kept here. Each request queue of the I/O tag set is in a list from
 * the making of its first hardware context to the end of that; one that comes while
 * the others are quiesced is quiesced from the start. The queue of Connects
 * is in the list and is never quiesced. blk-mq makes hardware contexts anew when their
 * number changes; then nothing is quiesced.
 *
 * The core lets request queues go in two places: when the controller is up, and before
 * it removes namespaces. It finds nothing of its own to do. At the first of these
 * nvme_rdma_setup_ctrl() does it; before the second all works have ended, and each
 * of them lets go what it has quiesced.
 */
#include <linux/slab.h>

#include "nvme_rdma.h"

struct nvme_rdma_request_queue {
	struct list_head	entry;
	struct request_queue	*q;
	bool			quiesced;
};

/**
 * nvme_rdma_add_request_queue() - there is one more
 * @ctrl: the controller
 * @q: a request queue of its I/O tag set, which dispatches nothing yet
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int nvme_rdma_add_request_queue(struct nvme_rdma_ctrl *ctrl,
				struct request_queue *q)
{
	struct nvme_rdma_request_queue *kept;

	/* blk-mq may be changing the number of queues, with requests waiting */
	kept = kzalloc(sizeof(*kept), GFP_NOIO);
	if (!kept)
		return -ENOMEM;
	kept->q = q;
	spin_lock(&ctrl->quiesce_lock);
	list_add_tail(&kept->entry, &ctrl->request_queues);
	if (ctrl->quiesced) {
		kept->quiesced = true;
		blk_mq_quiesce_queue_nowait(q);
	}
	spin_unlock(&ctrl->quiesce_lock);
	return 0;
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
	kfree(found);
}

/**
 * nvme_rdma_quiesce_io() - dispatch no I/O, from now on
 * @ctrl: the controller
 *
 * Nothing is being dispatched any more when this returns.
 *
 * Context: process; the work that takes queues down.
 */
void nvme_rdma_quiesce_io(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_request_queue *kept;

	spin_lock(&ctrl->quiesce_lock);
	ctrl->quiesced = true;
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
 * Does nothing if nvme_rdma_quiesce_io() has not been called since the last time.
 *
 * Context: process.
 */
void nvme_rdma_unquiesce_io(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_request_queue *kept;

	spin_lock(&ctrl->quiesce_lock);
	ctrl->quiesced = false;
	list_for_each_entry(kept, &ctrl->request_queues, entry) {
		if (kept->quiesced) {
			kept->quiesced = false;
			blk_mq_unquiesce_queue(kept->q);
		}
	}
	spin_unlock(&ctrl->quiesce_lock);
}
