// SPDX-License-Identifier: GPL-2.0
/*
 * One queue: its state and its verbs resources.
 *
 * A queue's memory belongs to its controller and lives as long; its verbs
 * resources are made for each connection, in nvme_rdma_create_ib(), and end in
 * nvme_rdma_free_queue(). What is DMA-mapped is mapped once for that time: all
 * command capsules as one array, all completion entries as another.
 *
 * The send queue's size: each of @depth commands holds at most three slots,
 * REG_MR, SEND and LOCAL_INV. A command whose SEND nobody waits for may be
 * done while its slots are not yet known to be free, because only a signaled
 * work request at or behind them tells; so there are @signal_every + 2 slots
 * more than commands can hold, and a SEND is signaled when @signal_every slots
 * are unretired. Peers may acknowledge late, so even this can run out: slots
 * are therefore counted, see post.c. One more slot is for the drain.
 */
#include <linux/slab.h>

#include "nvme_rdma.h"

/* Slots that one command can hold: REG_MR, SEND, LOCAL_INV */
#define NVME_RDMA_SLOTS_PER_COMMAND	3

/* ib_drain_qp() posts one work request of its own to each queue */
#define NVME_RDMA_DRAIN_SLOTS		1

/* Signal at least this often, and let at most this many slots linger */
#define NVME_RDMA_SIGNAL_EVERY_MIN	4
#define NVME_RDMA_SIGNAL_EVERY_MAX	32

/**
 * nvme_rdma_init_queue() - a queue's members that last as long as it
 * @ctrl: its controller
 * @qid: its ID
 *
 * Context: process.
 */
void nvme_rdma_init_queue(struct nvme_rdma_ctrl *ctrl, u16 qid)
{
	struct nvme_rdma_queue *queue = &ctrl->queues[qid];

	queue->ctrl = ctrl;
	queue->qid = qid;
	queue->state = NVME_RDMA_Q_IDLE;
	spin_lock_init(&queue->sq_lock);
	spin_lock_init(&queue->state_lock);
	mutex_init(&queue->stop_lock);
	init_completion(&queue->cm_done);
}

/**
 * nvme_rdma_move_queue() - the one function that changes a queue's state
 * @queue: the queue
 * @to: the new state
 *
 * Context: @queue->state_lock held. Return: true if the queue moved, false if
 * the table has no such move and the queue stays where it is.
 */
bool nvme_rdma_move_queue(struct nvme_rdma_queue *queue,
			  enum nvme_rdma_queue_state to)
{
	lockdep_assert_held(&queue->state_lock);
	if (!nvme_rdma_queue_may_move(queue->state, to))
		return false;
	dev_dbg(queue->ctrl->ctrl.device, "queue %u: %s -> %s\n", queue->qid,
		nvme_rdma_queue_state_name(queue->state),
		nvme_rdma_queue_state_name(to));
	WRITE_ONCE(queue->state, to);
	return true;
}

/**
 * nvme_rdma_fail_queue() - note that a queue's connection came to nothing
 * @queue: the queue
 * @error: negative errno for whoever waits for the connection
 *
 * The first failure counts. Wakes who waits in nvme_rdma_await_connect().
 *
 * Context: any; does not sleep. Return: true for the first failure.
 */
bool nvme_rdma_fail_queue(struct nvme_rdma_queue *queue, int error)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&queue->state_lock, flags);
	first = nvme_rdma_move_queue(queue, NVME_RDMA_Q_FAILED);
	if (first)
		queue->error = error;
	spin_unlock_irqrestore(&queue->state_lock, flags);
	complete(&queue->cm_done);
	return first;
}

static void nvme_rdma_qp_event(struct ib_event *event, void *context)
{
	struct nvme_rdma_queue *queue = context;

	nvme_rdma_queue_msg(dbg, queue, "QP event: %s\n",
			    ib_event_msg(event->event));
}

/*
 * One array, one DMA mapping. The arrays are kmalloc()ed, so they are
 * physically contiguous and do not share a cache line with anything else.
 */
static void *nvme_rdma_alloc_mapped(struct ib_device *ibdev, size_t size,
				    u64 *dma, enum dma_data_direction dir)
{
	void *array = kzalloc(size, GFP_KERNEL);

	if (!array)
		return NULL;
	*dma = ib_dma_map_single(ibdev, array, size, dir);
	if (ib_dma_mapping_error(ibdev, *dma)) {
		kfree(array);
		return NULL;
	}
	return array;
}

static void nvme_rdma_free_mapped(struct ib_device *ibdev, void *array,
				  size_t size, u64 dma,
				  enum dma_data_direction dir)
{
	ib_dma_unmap_single(ibdev, dma, size, dir);
	kfree(array);
}

static size_t nvme_rdma_capsules_size(const struct nvme_rdma_queue *queue)
{
	return array_size(queue->depth, sizeof(struct nvme_command));
}

static size_t nvme_rdma_rsps_size(const struct nvme_rdma_queue *queue)
{
	return array_size(queue->depth, sizeof(struct nvme_completion));
}

static int nvme_rdma_create_cq(struct nvme_rdma_queue *queue,
			       unsigned int entries)
{
	struct ib_device *ibdev = queue->device->dev;
	int vector = queue->qid ?
		(queue->qid - 1) % ibdev->num_comp_vectors : 0;

	queue->cq_size = entries;
	if (nvme_rdma_polled(queue))
		queue->cq = ib_alloc_cq(ibdev, queue, entries, vector,
					IB_POLL_DIRECT);
	else
		queue->cq = ib_cq_pool_get(ibdev, entries, vector,
					   IB_POLL_SOFTIRQ);
	return PTR_ERR_OR_ZERO(queue->cq);
}

static void nvme_rdma_destroy_cq(struct nvme_rdma_queue *queue)
{
	if (nvme_rdma_polled(queue))
		ib_free_cq(queue->cq);
	else
		ib_cq_pool_put(queue->cq, queue->cq_size);
}

/*
 * Ask for room for a command inline. Some providers refuse what they cannot
 * give instead of granting less, so ask again without. A QP that is to be
 * read from a kernel pointer needs the provider to copy while posting, which
 * is what IB_SEND_INLINE means.
 */
static int nvme_rdma_create_qp(struct nvme_rdma_queue *queue,
			       unsigned int send_slots)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= nvme_rdma_qp_event,
		.qp_context	= queue,
		.send_cq	= queue->cq,
		.recv_cq	= queue->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	 = send_slots + NVME_RDMA_DRAIN_SLOTS,
			.max_recv_wr	 = queue->depth + NVME_RDMA_DRAIN_SLOTS,
			.max_send_sge	 =
				1 + queue->device->max_inline_segments,
			.max_recv_sge	 = 1,
			.max_inline_data = sizeof(struct nvme_command),
		},
	};
	struct ib_qp_init_attr plain = attr;
	int ret;

	plain.cap.max_inline_data = 0;
	ret = rdma_create_qp(queue->cm_id, queue->device->pd, &attr);
	if (ret) {
		attr = plain;
		ret = rdma_create_qp(queue->cm_id, queue->device->pd, &attr);
	}
	if (ret)
		return ret;
	queue->qp = queue->cm_id->qp;
	queue->send_inline =
		attr.cap.max_inline_data >= sizeof(struct nvme_command);
	return 0;
}

static void nvme_rdma_free_mrs(struct nvme_rdma_queue *queue)
{
	int i;

	for (i = 0; i < queue->depth && queue->mrs[i]; i++)
		ib_dereg_mr(queue->mrs[i]);
	kvfree(queue->mrs);
	queue->mrs = NULL;
}

/* A transfer that starts inside a page needs one page entry more */
static int nvme_rdma_alloc_mrs(struct nvme_rdma_queue *queue)
{
	struct ib_mr *mr;
	int i;

	queue->mrs = kvcalloc(queue->depth, sizeof(*queue->mrs), GFP_KERNEL);
	if (!queue->mrs)
		return -ENOMEM;
	for (i = 0; i < queue->depth; i++) {
		mr = ib_alloc_mr(queue->device->pd, IB_MR_TYPE_MEM_REG,
				 queue->device->max_mr_pages + 1);
		if (IS_ERR(mr)) {
			nvme_rdma_free_mrs(queue);
			return PTR_ERR(mr);
		}
		queue->mrs[i] = mr;
	}
	return 0;
}

/* All receives are posted before the connection can bring anything */
static int nvme_rdma_fill_receives(struct nvme_rdma_queue *queue)
{
	int i, ret;

	for (i = 0; i < queue->depth; i++) {
		queue->rsp_cqes[i].done = nvme_rdma_recv_done;
		ret = nvme_rdma_post_recv(queue, &queue->rsp_cqes[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * nvme_rdma_create_ib() - verbs resources of a queue whose device is known
 * @queue: the queue, its address resolved
 *
 * On failure nothing is left behind and the log says what could not be had.
 *
 * Context: process; CM callback. Return: 0 or a negative errno.
 */
int nvme_rdma_create_ib(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_device *ndev;
	unsigned int slots;
	const char *what;
	int ret;

	ndev = nvme_rdma_get_device(queue->cm_id->device);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	queue->device = ndev;
	if (queue->qid && ndev != queue->ctrl->device) {
		nvme_rdma_queue_msg(err, queue,
				    "its route leads over %s, the admin queue's over %s: all queues must use one device\n",
				    dev_name(&ndev->dev->dev),
				    dev_name(&queue->ctrl->device->dev->dev));
		nvme_rdma_put_device(ndev);
		queue->device = NULL;
		return -EXDEV;
	}

	queue->tags = NULL;
	queue->signal_every = clamp_t(unsigned int, queue->depth / 2,
				      NVME_RDMA_SIGNAL_EVERY_MIN,
				      NVME_RDMA_SIGNAL_EVERY_MAX);
	slots = NVME_RDMA_SLOTS_PER_COMMAND * queue->depth +
		queue->signal_every + 2;
	atomic_set(&queue->sq_avail, slots);
	queue->unretired = 0;
	queue->pending = NULL;
	queue->pending_tail = &queue->pending;

	what = "completion queue";
	ret = nvme_rdma_create_cq(queue, slots + queue->depth +
				  2 * NVME_RDMA_DRAIN_SLOTS);
	if (ret)
		goto err_put_device;

	what = "queue pair";
	ret = nvme_rdma_create_qp(queue, slots);
	if (ret)
		goto err_destroy_cq;

	what = "memory regions";
	ret = nvme_rdma_alloc_mrs(queue);
	if (ret)
		goto err_destroy_qp;

	what = "command capsules";
	ret = -ENOMEM;
	queue->capsules = nvme_rdma_alloc_mapped(ndev->dev,
						 nvme_rdma_capsules_size(queue),
						 &queue->capsules_dma,
						 DMA_TO_DEVICE);
	if (!queue->capsules)
		goto err_free_mrs;

	what = "completion entries";
	queue->rsps = nvme_rdma_alloc_mapped(ndev->dev,
					     nvme_rdma_rsps_size(queue),
					     &queue->rsps_dma, DMA_FROM_DEVICE);
	if (!queue->rsps)
		goto err_free_capsules;
	queue->rsp_cqes = kcalloc(queue->depth, sizeof(*queue->rsp_cqes),
				  GFP_KERNEL);
	if (!queue->rsp_cqes)
		goto err_free_rsps;

	what = "posted receives";
	ret = nvme_rdma_fill_receives(queue);
	if (ret)
		goto err_free_cqes;
	return 0;

err_free_cqes:
	kfree(queue->rsp_cqes);
err_free_rsps:
	nvme_rdma_free_mapped(ndev->dev, queue->rsps, nvme_rdma_rsps_size(queue),
			      queue->rsps_dma, DMA_FROM_DEVICE);
err_free_capsules:
	nvme_rdma_free_mapped(ndev->dev, queue->capsules,
			      nvme_rdma_capsules_size(queue),
			      queue->capsules_dma, DMA_TO_DEVICE);
err_free_mrs:
	nvme_rdma_free_mrs(queue);
err_destroy_qp:
	rdma_destroy_qp(queue->cm_id);
	queue->qp = NULL;
err_destroy_cq:
	if (!IS_ERR(queue->cq))
		nvme_rdma_destroy_cq(queue);
err_put_device:
	nvme_rdma_queue_msg(err, queue,
			    "%s: no %s for %u commands: error %d\n",
			    dev_name(&ndev->dev->dev), what, queue->depth, ret);
	nvme_rdma_put_device(ndev);
	queue->device = NULL;
	return ret;
}

/*
 * The CM ID is gone, so nothing posts to the QP or learns of it any more.
 * Destroying a QP that was never connected or was drained leaves no work
 * request behind that could write to the arrays or use an MR.
 */
static void nvme_rdma_destroy_ib(struct nvme_rdma_queue *queue)
{
	struct ib_device *ibdev = queue->device->dev;

	ib_destroy_qp(queue->qp);
	queue->qp = NULL;
	nvme_rdma_free_mrs(queue);
	nvme_rdma_destroy_cq(queue);
	kfree(queue->rsp_cqes);
	nvme_rdma_free_mapped(ibdev, queue->rsps, nvme_rdma_rsps_size(queue),
			      queue->rsps_dma, DMA_FROM_DEVICE);
	nvme_rdma_free_mapped(ibdev, queue->capsules,
			      nvme_rdma_capsules_size(queue),
			      queue->capsules_dma, DMA_TO_DEVICE);
	nvme_rdma_put_device(queue->device);
	queue->device = NULL;
}

/**
 * nvme_rdma_start_queue() - Fabrics Connect on a connected queue
 * @queue: the queue, its tag set allocated
 *
 * Context: process. Return: 0, a negative errno, or a positive NVMe status.
 */
int nvme_rdma_start_queue(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	int ret;

	WRITE_ONCE(queue->tags, queue->qid ?
		   ctrl->tag_set.tags[queue->qid - 1] :
		   ctrl->admin_tag_set.tags[0]);
	if (queue->qid)
		ret = nvmf_connect_io_queue(&ctrl->ctrl, queue->qid);
	else
		ret = nvmf_connect_admin_queue(&ctrl->ctrl);
	if (ret)
		return ret;

	spin_lock_irq(&queue->state_lock);
	if (!nvme_rdma_move_queue(queue, NVME_RDMA_Q_LIVE))
		ret = -ECONNRESET;
	spin_unlock_irq(&queue->state_lock);
	return ret;
}

/*
 * May the QP be drained when the queue leaves this state? Up to ROUTE a CM
 * callback may still be making the QP or taking it back, and a QP that was
 * never asked to connect holds nothing but receives that nobody answers.
 */
static bool nvme_rdma_may_drain(enum nvme_rdma_queue_state state)
{
	switch (state) {
	case NVME_RDMA_Q_CONNECTING:
	case NVME_RDMA_Q_CONNECTED:
	case NVME_RDMA_Q_LIVE:
	case NVME_RDMA_Q_FAILED:
		return true;
	default:
		return false;
	}
}

/**
 * nvme_rdma_close_queue() - from now on nobody begins to use a queue
 * @queue: the queue, in any state
 *
 * Those who began before are through after an RCU grace period, for which the
 * caller waits before it calls nvme_rdma_drain_queue().
 *
 * Context: process.
 */
void nvme_rdma_close_queue(struct nvme_rdma_queue *queue)
{
	enum nvme_rdma_queue_state from;

	spin_lock_irq(&queue->state_lock);
	from = queue->state;
	if (nvme_rdma_move_queue(queue, NVME_RDMA_Q_CLOSING))
		queue->drainable = nvme_rdma_may_drain(from);
	spin_unlock_irq(&queue->state_lock);
}

/**
 * nvme_rdma_drain_queue() - disconnect a closed queue and drain it
 * @queue: the queue, closed an RCU grace period ago; nothing is done if idle
 *
 * When this returns, the device does not touch the queue's capsules, responses
 * or data any more and no completion handler runs.
 *
 * References that end here: every posted work request. The first drain puts
 * the QP into the error state and ends what was posted before it. Meanwhile
 * handlers of receives that succeeded may have posted a receive or a LOCAL_INV
 * behind the drain's own; after it no receive succeeds, so the second drain
 * finds all there is. Requests that were appended but not posted are dropped
 * from the list; they were started, and are cancelled with the rest.
 *
 * Context: process.
 */
void nvme_rdma_drain_queue(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	if (queue->drainable && queue->qp) {
		rdma_disconnect(queue->cm_id);
		ib_drain_qp(queue->qp);
		ib_drain_qp(queue->qp);

		spin_lock(&queue->sq_lock);
		queue->pending = NULL;
		queue->pending_tail = &queue->pending;
		spin_unlock(&queue->sq_lock);
	}
	mutex_unlock(&queue->stop_lock);
}

/**
 * nvme_rdma_stop_queue() - close one queue and drain it
 * @queue: the queue, in any state
 *
 * Context: process.
 */
void nvme_rdma_stop_queue(struct nvme_rdma_queue *queue)
{
	nvme_rdma_close_queue(queue);
	synchronize_rcu();
	nvme_rdma_drain_queue(queue);
}

/**
 * nvme_rdma_free_queue() - end what nvme_rdma_begin_connect() began
 * @queue: the queue, drained; nothing is done if it is idle
 *
 * Destroying the CM ID waits for its callback, which is the only other user of
 * the verbs resources now; a timeout handler that comes late finds no QP.
 *
 * Context: process; not in a CM callback.
 */
void nvme_rdma_free_queue(struct nvme_rdma_queue *queue)
{
	mutex_lock(&queue->stop_lock);
	if (queue->cm_id) {
		rdma_destroy_id(queue->cm_id);
		queue->cm_id = NULL;
		if (queue->qp)
			nvme_rdma_destroy_ib(queue);
		queue->drainable = false;

		spin_lock_irq(&queue->state_lock);
		nvme_rdma_move_queue(queue, NVME_RDMA_Q_IDLE);
		spin_unlock_irq(&queue->state_lock);
	}
	mutex_unlock(&queue->stop_lock);
}
