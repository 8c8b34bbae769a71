// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: one for each tag of a queue, made while others work.
 *
 * Making them is the longest part of a connection on most hardware: each takes
 * a command of the device's firmware. So a queue connects with those that
 * Connect needs, and a work makes the others meanwhile. A request that comes
 * before its tag has one goes back to blk-mq for some milliseconds.
 *
 * If the device runs out, the queue is broken, and from then on the controller
 * makes all of them before it connects: then who connects hears of it.
 */
#include <linux/sched/mm.h>

#include "nvme_rdma.h"

/* Reserved tags are the lowest: Connect has the first of an I/O queue */
#define NVME_RDMA_FIRST_MRS	1

/* A transfer that starts inside a page needs one page entry more */
static int nvme_rdma_make_mr(struct nvme_rdma_queue *queue, int tag)
{
	struct nvme_rdma_device *ndev = queue->device;
	struct ib_pd *pd = queue->ctrl->pd;
	struct ib_mr *mr;

	if (queue->sig_mrs) {
		mr = ib_alloc_mr_integrity(pd, ndev->pi_pages, ndev->pi_pages);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		queue->sig_mrs[tag] = mr;
	}
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, ndev->max_mr_pages + 1);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	/* who finds it finds the other one, too; pairs with nvme_rdma_tag_mr() */
	smp_store_release(&queue->mrs[tag], mr);
	return 0;
}

static void nvme_rdma_mr_work(struct work_struct *work)
{
	struct nvme_rdma_queue *queue =
		container_of(work, struct nvme_rdma_queue, mr_work);
	unsigned int flags;
	int ret = 0, i;

	/* who stops the queue waits for this, and I/O that reclaim waits for, for that */
	flags = memalloc_noio_save();
	for (i = NVME_RDMA_FIRST_MRS; i < queue->depth && !ret; i++) {
		if (READ_ONCE(queue->state) >= NVME_RDMA_Q_FAILED)
			break;
		/* who mapped queues anew asks twice, and the first time may not be over */
		if (!queue->mrs[i])
			ret = nvme_rdma_make_mr(queue, i);
	}
	memalloc_noio_restore(flags);
	if (!ret)
		return;
	nvme_rdma_queue_msg(err, queue,
			    "%s: no more than %d of %u memory regions: error %d\n",
			    dev_name(&queue->device->dev->dev), i - 1,
			    queue->depth, ret);
	WRITE_ONCE(queue->ctrl->mrs_first, true);
	nvme_rdma_break_queue(queue, ret);
}

/**
 * nvme_rdma_fill_mrs() - make the rest of a queue's memory regions, by and by
 * @queue: the queue, which was connected; the caller owns it
 *
 * Context: process.
 */
void nvme_rdma_fill_mrs(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	/* they may be gone again: others stop a queue that broke */
	if (queue->mrs && !READ_ONCE(queue->mrs[queue->depth - 1]))
		nvme_rdma_queue_mr_work(&queue->mr_work);
	mutex_unlock(&queue->stop_lock);
}

/**
 * nvme_rdma_init_mrs() - prepare a new queue
 * @queue: the queue
 *
 * Context: process.
 */
void nvme_rdma_init_mrs(struct nvme_rdma_queue *queue)
{
	INIT_WORK(&queue->mr_work, nvme_rdma_mr_work);
}

/**
 * nvme_rdma_alloc_mrs() - make a queue's first memory regions
 * @queue: the queue, its device known
 *
 * nvme_rdma_fill_mrs() makes the others. After a failure nvme_rdma_free_mrs()
 * is due as after success.
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_alloc_mrs(struct nvme_rdma_queue *queue)
{
	bool all = !queue->qid || READ_ONCE(queue->ctrl->mrs_first);
	int count = all ? queue->depth : NVME_RDMA_FIRST_MRS;
	int i, ret = 0;

	queue->mrs = kvcalloc(queue->depth, sizeof(*queue->mrs), GFP_KERNEL);
	if (!queue->mrs)
		return -ENOMEM;
	if (queue->qid && queue->ctrl->pi) {
		queue->sig_mrs = kvcalloc(queue->depth, sizeof(*queue->sig_mrs),
					  GFP_KERNEL);
		if (!queue->sig_mrs)
			return -ENOMEM;
	}
	for (i = 0; i < count && !ret; i++)
		ret = nvme_rdma_make_mr(queue, i);
	return ret;
}

static void nvme_rdma_end_mrs(struct nvme_rdma_queue *queue,
			      struct ib_mr ***mrs)
{
	int i;

	if (!*mrs)
		return;
	for (i = 0; i < queue->depth && (*mrs)[i]; i++)
		ib_dereg_mr((*mrs)[i]);
	kvfree(*mrs);
	*mrs = NULL;
}

/**
 * nvme_rdma_free_mrs() - undo nvme_rdma_alloc_mrs() and nvme_rdma_fill_mrs()
 * @queue: the queue; its QP was drained, or is gone
 *
 * Context: process; @queue->stop_lock held.
 */
void nvme_rdma_free_mrs(struct nvme_rdma_queue *queue)
{
	lockdep_assert_held(&queue->stop_lock);
	cancel_work_sync(&queue->mr_work);
	nvme_rdma_end_mrs(queue, &queue->sig_mrs);
	nvme_rdma_end_mrs(queue, &queue->mrs);
}
