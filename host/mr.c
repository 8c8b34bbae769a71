// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: one for each tag of a queue, allocated in the background.
 *
 * Their allocation is the longest part of a connection on most hardware: each takes a
 * firmware command. So a queue connects with the regions that Connect needs, and a work
 * allocates the others. A request whose tag has no region yet goes back to blk-mq for
 * some milliseconds.
 *
 * If the device has no more regions, the queue fails. The controller reconnects with as
 * many queues as it had regions for, and allocates all regions before it connects. After
 * a reset, or a recovery for another reason, it asks for all queues again.
 *
 * Works of different devices do not wait for each other. If a device allocates no region
 * for NVME_RDMA_MR_TMO, and a request waits for one, the queue fails.
 */
#include <linux/sched/mm.h>

#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "dma.h"
#include "error.h"
#include "params.h"

/* In seconds: a firmware command that takes longer is lost, as a rule */
#define NVME_RDMA_MR_TMO	10

/* Reserved tags are the lowest; Connect of an I/O queue uses the first */
#define NVME_RDMA_FIRST_MRS	1

/*
 * Drivers return different errnos if the device has no more regions. Those of the first
 * group mean only that, as ENOSPC of erdma and EAGAIN of mlx5. Those of the second group
 * mean that the device rejected the request: EINVAL of qedr and rxe, EIO and EFAULT of
 * bnxt_re for any error of its firmware. If the device has allocated such a region before,
 * the request is valid, and they mean a shortage, too.
 *
 * ETIMEDOUT, ENODEV, EBUSY and the like mean that the device does not respond, or is reset.
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

/* The errno of a failed allocation: -ENOMEM if the device has no more regions */
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
 * A transfer that starts inside a page needs one page entry more. All queues of a device
 * ask for regions of the same two kinds.
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
	WRITE_ONCE(ndev->last_mr_jiffies, jiffies);
	/* the integrity MR is visible before this one; pairs with nvme_rdma_tag_mr() */
	smp_store_release(&queue->mrs[tag], mr);
	return 0;
}

/*
 * The device has no more regions: the controller reconnects with the queues before this
 * one. After a later recovery for another reason, it asks for all queues again.
 */
static bool nvme_rdma_out_of_mrs(struct nvme_rdma_queue *queue, int error)
{
	unsigned int *limit = &queue->ctrl->max_mr_queues, old = READ_ONCE(*limit);
	unsigned int most = max(queue->qid - 1u, 1u);

	if (!queue->qid || error != -ENOMEM)
		return false;
	/*
	 * The works and start jobs of several queues may be here at the same time: the lowest
	 * number stays. Recovery and reset clear it after these have ended.
	 */
	while ((!old || most < old) && !try_cmpxchg(limit, &old, most))
		;
	return true;
}

static void nvme_rdma_mr_work(struct work_struct *work)
{
	struct nvme_rdma_queue *queue =
		container_of(work, struct nvme_rdma_queue, mr_work);
	unsigned int flags;
	int ret = 0, i;

	/* reclaim may wait for I/O, which waits for the end of the queue, which waits for this */
	flags = memalloc_noio_save();
	for (i = NVME_RDMA_FIRST_MRS; i < queue->depth && !ret; i++) {
		if (READ_ONCE(queue->state) >= NVME_RDMA_Q_FAILED)
			break;
		/* nvme_rdma_remap_queues() queues this twice, and the first run may not be over */
		if (!queue->mrs[i])
			ret = nvme_rdma_make_mr(queue, i);
	}
	memalloc_noio_restore(flags);
	if (!ret)
		return;
	/* for the recovery that this starts; a failed attempt to connect clears it (connect.c) */
	if (nvme_rdma_out_of_mrs(queue, ret))
		WRITE_ONCE(queue->ctrl->mr_shortage, true);
	nvme_rdma_queue_msg(err, queue,
			    "%s: allocated only %d of %u memory regions (error %d)\n",
			    dev_name(&queue->device->dev->dev), i - 1,
			    queue->depth, ret);
	WRITE_ONCE(queue->ctrl->mrs_before_connect, true);
	nvme_rdma_break_queue(queue, ret);
}

/**
 * nvme_rdma_fill_mrs() - start the allocation of the other memory regions of a queue
 * @queue: the queue, which was connected; the caller owns it
 *
 * Context: process.
 */
void nvme_rdma_fill_mrs(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	/* the abort work may have stopped a queue that failed; it frees the regions then */
	if (queue->drain_state < NVME_RDMA_DRAIN_FLUSHED && queue->mrs &&
	    !READ_ONCE(queue->mrs[queue->depth - 1])) {
		WRITE_ONCE(queue->device->last_mr_jiffies, jiffies);
		/* pairs with nvme_rdma_wait_for_mr() */
		smp_store_release(&queue->mr_work_queued, true);
		queue_work(queue->device->mr_wq, &queue->mr_work);
	}
	mutex_unlock(&queue->stop_lock);
}

/**
 * nvme_rdma_init_mrs() - initialize the MR work of a queue
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
 * nvme_rdma_alloc_mrs() - allocate the first memory regions of a queue
 * @queue: the queue, its device known
 *
 * nvme_rdma_fill_mrs() allocates the others. After a failure the caller calls
 * nvme_rdma_free_mrs(), too.
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_alloc_mrs(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	/* creation fails if there are too few for a single I/O queue */
	bool all = !queue->qid || READ_ONCE(ctrl->mrs_before_connect) ||
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
 * nvme_rdma_wait_for_mr() - note that a request waits for the memory region of its tag
 * @queue: the queue, which is connected
 *
 * The request was not started, so it has no timeout: fail the queue if the device has
 * allocated no region for NVME_RDMA_MR_TMO.
 *
 * Context: as queue_rq().
 */
void nvme_rdma_wait_for_mr(struct nvme_rdma_queue *queue)
{
	unsigned long made;

	nvme_rdma_count(queue, NVME_RDMA_EV_NO_MR);
	/* the MR work is queued after all queues connected; pairs with nvme_rdma_fill_mrs() */
	if (!smp_load_acquire(&queue->mr_work_queued))
		return;
	made = READ_ONCE(queue->device->last_mr_jiffies);
	if (time_before(jiffies, made + NVME_RDMA_MR_TMO * HZ))
		return;
	if (nvme_rdma_break_queue(queue, -ETIMEDOUT))
		nvme_rdma_queue_msg(err, queue,
				    "%s has allocated no memory region for %u s, and requests wait for one\n",
				    dev_name(&queue->device->dev->dev),
				    NVME_RDMA_MR_TMO);
}

/**
 * nvme_rdma_fit_queues() - limit the number of I/O queues by the memory regions
 * @ctrl: the controller, connected; the depth of its queues is known
 * @nr: number of I/O queues; lowered to the regions of the device, and to those that it had
 *	for this controller when it ran out of them
 *
 * Context: process. Return: 0, or -ENOMEM if the device has too few for one.
 */
int nvme_rdma_fit_queues(struct nvme_rdma_ctrl *ctrl, unsigned int *nr)
{
	unsigned int depth = ctrl->ctrl.sqsize + 1, most = *nr;
	unsigned int each = ctrl->pi ? 2 * depth : depth;
	int has = ctrl->device->dev->attrs.max_mr;

	/* some devices report none */
	if (has > 0)
		most = min_t(unsigned int, most,
			     max(has - NVME_AQ_DEPTH, 0) / each);
	if (ctrl->max_mr_queues)
		most = min(most, ctrl->max_mr_queues);
	if (!most) {
		dev_err(ctrl->ctrl.device,
			"%s has %d memory regions (expected %u or more): connect with a smaller queue size\n",
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

static void nvme_rdma_free_mr_table(struct nvme_rdma_queue *queue,
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
	WRITE_ONCE(queue->mr_work_queued, false);
	nvme_rdma_free_mr_table(queue, &queue->sig_mrs);
	nvme_rdma_free_mr_table(queue, &queue->mrs);
}
