// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: one for each tag of a queue, made while others work.
 *
 * Making them is the longest part of a connection on most hardware: each takes
 * a command of the device's firmware. So a queue connects with those that
 * Connect needs, and a work makes the others meanwhile. A request that comes
 * before its tag has one goes back to blk-mq for some milliseconds.
 *
 * If the device runs out, the queue is broken, and the controller comes back with as many
 * queues as it had regions for, and makes all of them before it connects. It asks for all
 * queues again when it is reset, or lost for another reason.
 *
 * Works of different devices do not wait for each other. If a device makes no region for
 * some seconds, and a request waits for one, the queue is broken.
 */
#include <linux/sched/mm.h>

#include "dma.h"
#include "nvme_rdma.h"

/* A firmware's command that takes longer is lost, as a rule: in seconds */
#define NVME_RDMA_MR_TMO	10

/* Reserved tags are the lowest: Connect has the first of an I/O queue */
#define NVME_RDMA_FIRST_MRS	1

/*
 * Drivers have many words for a device that has no more. Each of the first kind says so by
 * itself: ENOSPC is erdma's, EAGAIN mlx5's. The others say only that the device refused:
 * EINVAL of qedr and rxe, EIO and EFAULT of bnxt_re for whatever its firmware answers. If the
 * device has made such a region before, the request is not to blame.
 *
 * ETIMEDOUT, ENODEV, EBUSY and the like are of a device that does not answer, or is reset.
 */
static bool nvme_rdma_mr_shortage(int error, bool made_before)
{
	switch (error) {
	case -ENOMEM:
	case -ENOSPC:
	case -ENOBUFS:
	case -ENOSR:
	case -ENFILE:
	case -EDQUOT:
	case -EAGAIN:
	case -EOVERFLOW:
		return true;
	case -EINVAL:
	case -EFAULT:
	case -EIO:
		return made_before;
	default:
		return false;
	}
}

/* The errno of a region that was not made: -ENOMEM if the device has no more */
static int nvme_rdma_mr_error(struct nvme_rdma_queue *queue, int error,
			      bool made_before)
{
	if (error == -ENOMEM || !nvme_rdma_mr_shortage(error, made_before))
		return error;
	nvme_rdma_queue_msg(warn, queue,
			    "%s makes no more memory regions: error %d, taken for %d\n",
			    dev_name(&queue->device->dev->dev), error, -ENOMEM);
	return -ENOMEM;
}

/*
 * A transfer that starts inside a page needs one page entry more. All regions of a kind are
 * asked for alike, by all queues of a device.
 */
static int nvme_rdma_make_mr(struct nvme_rdma_queue *queue, int tag)
{
	struct nvme_rdma_device *ndev = queue->device;
	struct ib_pd *pd = queue->ctrl->pd;
	struct ib_mr *mr;

	if (queue->sig_mrs) {
		mr = ib_alloc_mr_integrity(pd, ndev->pi_pages, ndev->pi_pages);
		if (IS_ERR(mr))
			return nvme_rdma_mr_error(queue, PTR_ERR(mr),
						  READ_ONCE(ndev->makes_sig_mrs));
		queue->sig_mrs[tag] = mr;
		WRITE_ONCE(ndev->makes_sig_mrs, true);
	}
	mr = ib_alloc_mr(pd, ndev->mr_type, ndev->max_mr_pages + 1);
	if (IS_ERR(mr))
		return nvme_rdma_mr_error(queue, PTR_ERR(mr),
					  READ_ONCE(ndev->makes_mrs));
	WRITE_ONCE(ndev->makes_mrs, true);
	WRITE_ONCE(ndev->mr_made, jiffies);
	/* who finds it finds the other one, too; pairs with nvme_rdma_tag_mr() */
	smp_store_release(&queue->mrs[tag], mr);
	return 0;
}

/*
 * The device has no more: the controller comes back with the queues before this one. If it
 * is lost for another reason later, it tries to have all of them again.
 */
static bool nvme_rdma_out_of_mrs(struct nvme_rdma_queue *queue, int error)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	unsigned int most = READ_ONCE(ctrl->mr_queues);

	if (!queue->qid || error != -ENOMEM)
		return false;
	most = min(most ?: UINT_MAX, max(queue->qid - 1u, 1u));
	WRITE_ONCE(ctrl->mr_queues, most);
	return true;
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
	/* for the recovery that this starts; an attempt to connect takes it back (connect.c) */
	if (nvme_rdma_out_of_mrs(queue, ret))
		WRITE_ONCE(queue->ctrl->mr_short, true);
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
	/* a queue that broke may have been stopped by others, who then free them */
	if (!queue->flushed && queue->mrs &&
	    !READ_ONCE(queue->mrs[queue->depth - 1])) {
		WRITE_ONCE(queue->device->mr_made, jiffies);
		/* pairs with nvme_rdma_no_mr() */
		smp_store_release(&queue->filling, true);
		queue_work(queue->device->mr_wq, &queue->mr_work);
	}
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

static struct ib_mr **nvme_rdma_alloc_mr_table(struct nvme_rdma_queue *queue)
{
	return nvme_rdma_alloc_array(queue->device->dev, queue->depth,
				     sizeof(struct ib_mr *));
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
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	/* who makes a controller is told if there are too few for a single I/O queue */
	bool all = !queue->qid || READ_ONCE(ctrl->mrs_first) ||
		   (queue->qid == 1 && !READ_ONCE(ctrl->owns_opts));
	int count = all ? queue->depth : NVME_RDMA_FIRST_MRS;
	int i, ret = 0;

	queue->mrs = nvme_rdma_alloc_mr_table(queue);
	if (!queue->mrs)
		return -ENOMEM;
	if (queue->qid && ctrl->pi) {
		queue->sig_mrs = nvme_rdma_alloc_mr_table(queue);
		if (!queue->sig_mrs)
			return -ENOMEM;
	}
	for (i = 0; i < count && !ret; i++)
		ret = nvme_rdma_make_mr(queue, i);
	if (ret)
		nvme_rdma_out_of_mrs(queue, ret);
	return ret;
}

/**
 * nvme_rdma_no_mr() - a request waits for the memory region of its tag
 * @queue: the queue, which is connected
 *
 * It has not begun, and so has no timeout of its own.
 *
 * Context: as queue_rq().
 */
void nvme_rdma_no_mr(struct nvme_rdma_queue *queue)
{
	unsigned long made;

	nvme_rdma_count(queue, NVME_RDMA_EV_NO_MR);
	/* before that others connect, and nobody makes any; pairs with nvme_rdma_fill_mrs() */
	if (!smp_load_acquire(&queue->filling))
		return;
	made = READ_ONCE(queue->device->mr_made);
	if (time_before(jiffies, made + NVME_RDMA_MR_TMO * HZ))
		return;
	if (nvme_rdma_break_queue(queue, -ETIMEDOUT))
		nvme_rdma_queue_msg(err, queue,
				    "%s has made no memory region for %u s, and requests wait for one\n",
				    dev_name(&queue->device->dev->dev),
				    NVME_RDMA_MR_TMO);
}

/**
 * nvme_rdma_fit_queues() - ask for no more I/O queues than there are memory regions for
 * @ctrl: the controller, connected; the depth of its queues is known
 * @nr: I/O queues; lowered to what the device has in all, and to what it had for this
 *	controller when it ran out
 *
 * Context: process. Return: 0, or -ENOMEM if the device has too few for one.
 */
int nvme_rdma_fit_queues(struct nvme_rdma_ctrl *ctrl, unsigned int *nr)
{
	unsigned int depth = ctrl->ctrl.sqsize + 1, most = *nr;
	unsigned int each = ctrl->pi ? 2 * depth : depth;
	int has = ctrl->device->dev->attrs.max_mr;

	/* some devices do not say */
	if (has > 0)
		most = min_t(unsigned int, most,
			     max(has - NVME_AQ_DEPTH, 0) / each);
	if (ctrl->mr_queues)
		most = min(most, ctrl->mr_queues);
	if (!most) {
		dev_err(ctrl->ctrl.device,
			"%s has %d memory regions, expected %u or more: connect with a smaller queue size\n",
			dev_name(&ctrl->device->dev->dev), has,
			NVME_AQ_DEPTH + each);
		return -ENOMEM;
	}
	if (most < *nr)
		dev_warn(ctrl->ctrl.device,
			 "%s has memory regions for %u of %u I/O queues of %u commands, using these\n",
			 dev_name(&ctrl->device->dev->dev), most, *nr, depth);
	*nr = most;
	return 0;
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
 * Context: process, for as long as the device's driver takes; @queue->key_lock held.
 */
void nvme_rdma_free_mrs(struct nvme_rdma_queue *queue)
{
	lockdep_assert_held(&queue->key_lock);
	cancel_work_sync(&queue->mr_work);
	WRITE_ONCE(queue->filling, false);
	nvme_rdma_end_mrs(queue, &queue->sig_mrs);
	nvme_rdma_end_mrs(queue, &queue->mrs);
}
