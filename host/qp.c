// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs resources of a queue.
 *
 * They are allocated for each connection, when the address is resolved and the device
 * is known. nvme_rdma_destroy_verbs() frees whatever of them exists. The memory of
 * command capsules and of completion entries is mapped for all of that time.
 *
 * Size of the send queue: each of @depth commands holds at most three slots, for REG_MR,
 * SEND and LOCAL_INV. A command whose SEND is not signaled may complete before its slots
 * are known to be free, as only a signaled work request at or behind them tells. So
 * there are @signal_every + 2 slots more than commands can hold, and a SEND is
 * signaled when @signal_every slots are unretired. Peers may acknowledge late, so even
 * these slots can run out: therefore they are counted, see credit.c. One more slot is
 * for the drain.
 */
#include <linux/slab.h>

#include "completion.h"
#include "conn.h"
#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "dma.h"
#include "error.h"
#include "params.h"

/* Responses in flight, and receives that wait to be posted again */
static unsigned int nvme_rdma_recv_slots(const struct nvme_rdma_queue *queue)
{
	return queue->depth + NVME_RDMA_RECV_CHAIN;
}

static void nvme_rdma_qp_event(struct ib_event *event, void *context)
{
	struct nvme_rdma_queue *queue = context;

	nvme_rdma_queue_msg(dbg, queue, "QP event: %s\n",
			    ib_event_msg(event->event));
	/* If the QP is broken, completions of SENDs may have the reason */
	if (event->event != IB_EVENT_COMM_EST)
		nvme_rdma_cq_kick(queue->cq);
}

static void nvme_rdma_init_sq(struct nvme_rdma_queue *queue)
{
	queue->tags = NULL;
	queue->signal_every = clamp_t(unsigned int, queue->depth / 2,
				      NVME_RDMA_SIGNAL_EVERY_MIN,
				      NVME_RDMA_SIGNAL_EVERY_MAX);
	atomic_set(&queue->sq_taken, 0);
	WRITE_ONCE(queue->sq_given, nvme_rdma_sq_slots(queue));
	atomic_set(&queue->aen_waits, 0);
	queue->unretired = 0;
	queue->pending = NULL;
	queue->pending_tail = &queue->pending;
}

/* The first CPU that is mapped to an I/O queue; -1 if there is none */
static int nvme_rdma_queue_cpu(const struct nvme_rdma_queue *queue)
{
	const struct blk_mq_tag_set *set = &queue->ctrl->tag_set;
	unsigned int cpu;
	int i;

	for (i = 0; i < set->nr_maps; i++) {
		if (!set->map[i].nr_queues)
			continue;
		for_each_online_cpu(cpu)
			if (set->map[i].mq_map[cpu] == queue->qid - 1)
				return cpu;
	}
	return -1;
}

/*
 * A completion vector that interrupts a CPU which is mapped to the queue. Most providers
 * spread their vectors over the CPUs in order, but do not report that.
 */
static int nvme_rdma_pick_vector(const struct nvme_rdma_queue *queue)
{
	struct ib_device *ibdev = queue->device->dev;
	const struct cpumask *mask;
	int cpu, vector;

	if (!queue->qid)
		return 0;
	cpu = nvme_rdma_queue_cpu(queue);
	if (cpu < 0)
		return (queue->qid - 1) % ibdev->num_comp_vectors;
	for (vector = 0; vector < ibdev->num_comp_vectors; vector++) {
		mask = nvme_rdma_vector_affinity(ibdev, vector);
		if (!mask)
			break;
		if (cpumask_test_cpu(cpu, mask))
			return vector;
	}
	return cpu % ibdev->num_comp_vectors;
}

static void nvme_rdma_cq_failed(struct nvme_rdma_cq *cq)
{
	struct nvme_rdma_queue *queue = cq->context;

	nvme_rdma_count(queue, NVME_RDMA_EV_WC_ERROR);
	nvme_rdma_break_queue(queue, -EIO);
	nvme_rdma_queue_msg(err, queue,
			    "%s reports that a completion queue has failed; see its driver's messages\n",
			    dev_name(&queue->device->dev->dev));
}

static const struct nvme_rdma_cq_ops nvme_rdma_cq_ops = {
	.after_batch	= nvme_rdma_after_batch,
	.failed		= nvme_rdma_cq_failed,
};

/*
 * Completions of the send queue that a response depends on come before it. They are
 * handled with it, and need no interrupt. A polled queue has a single CQ for both.
 */
static int nvme_rdma_create_cq(struct nvme_rdma_queue *queue)
{
	unsigned int sends = nvme_rdma_sq_slots(queue) + NVME_RDMA_DRAIN_SLOTS;
	unsigned int receives = nvme_rdma_recv_slots(queue) +
				NVME_RDMA_DRAIN_SLOTS;
	bool polled = nvme_rdma_polled(queue);
	struct nvme_rdma_cq *cq;

	queue->vector = nvme_rdma_pick_vector(queue);
	queue->iob = &queue->batch;
	if (polled)
		receives += sends;
	cq = nvme_rdma_cq_alloc(queue->device->dev, receives, queue->vector,
				polled, &nvme_rdma_cq_ops, queue);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	queue->cq = cq;
	queue->cqn = cq->ib->res.id;
	return polled ? 0 : nvme_rdma_cq_add_sends(cq, sends);
}

/*
 * Ask for inline data of the size of a command. Some providers fail instead of granting
 * less, so retry without inline data.
 */
static int nvme_rdma_create_qp(struct nvme_rdma_queue *queue)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= nvme_rdma_qp_event,
		.qp_context	= queue,
		.send_cq	= queue->cq->sends ?: queue->cq->ib,
		.recv_cq	= queue->cq->ib,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	 = nvme_rdma_sq_slots(queue) +
					   NVME_RDMA_DRAIN_SLOTS,
			.max_recv_wr	 = nvme_rdma_recv_slots(queue) +
					   NVME_RDMA_DRAIN_SLOTS,
			.max_send_sge	 =
				1 + queue->device->max_inline_segments,
			.max_recv_sge	 = 1,
			.max_inline_data = sizeof(struct nvme_command),
		},
	};
	struct ib_qp_init_attr plain;
	int ret;

	if (queue->qid && queue->ctrl->pi)
		attr.create_flags |= IB_QP_CREATE_INTEGRITY_EN;
	plain = attr;
	plain.cap.max_inline_data = 0;
	ret = rdma_create_qp(queue->cm_id, queue->ctrl->pd, &attr);
	if (ret) {
		attr = plain;
		ret = rdma_create_qp(queue->cm_id, queue->ctrl->pd, &attr);
	}
	if (ret)
		return ret;
	queue->qp = queue->cm_id->qp;
	queue->send_inline =
		attr.cap.max_inline_data >= sizeof(struct nvme_command);
	return 0;
}

static int nvme_rdma_alloc_capsules(struct nvme_rdma_queue *queue)
{
	size_t size = array_size(queue->depth, sizeof(struct nvme_command));

	queue->generations = nvme_rdma_alloc_array(queue->device->dev,
						   queue->depth,
						   sizeof(*queue->generations));
	if (!queue->generations)
		return -ENOMEM;
	queue->capsules = nvme_rdma_pages_alloc(queue->device->dev, size,
						DMA_TO_DEVICE);
	return queue->capsules ? 0 : -ENOMEM;
}

static int nvme_rdma_alloc_rsps(struct nvme_rdma_queue *queue)
{
	size_t size = array_size(nvme_rdma_recv_slots(queue),
				 sizeof(struct nvme_completion));

	queue->rsps = nvme_rdma_pages_alloc(queue->device->dev, size,
					    DMA_FROM_DEVICE);
	if (!queue->rsps)
		return -ENOMEM;
	queue->rsp_cqes = nvme_rdma_alloc_array(queue->device->dev,
						nvme_rdma_recv_slots(queue),
						sizeof(*queue->rsp_cqes));
	return queue->rsp_cqes ? 0 : -ENOMEM;
}

/* Post the receives of all commands before anything can arrive */
static int nvme_rdma_fill_receives(struct nvme_rdma_queue *queue)
{
	int i, ret;

	nvme_rdma_init_recv_chain(queue);
	for (i = 0; i < nvme_rdma_recv_slots(queue); i++) {
		ret = nvme_rdma_post_recv(queue, &queue->rsp_cqes[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* With the admin queue, which exists before and after the others */
static int nvme_rdma_alloc_pd(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	struct ib_pd *pd;

	if (queue->qid)
		return 0;
	pd = ib_alloc_pd(queue->device->dev, nvme_rdma_register_always ?
			 0 : IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ctrl->pd = pd;
	return 0;
}

static void nvme_rdma_dealloc_pd(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;

	if (queue->qid || !ctrl->pd)
		return;
	ib_dealloc_pd(ctrl->pd);
	ctrl->pd = NULL;
}

/* Allocated in this order; nvme_rdma_destroy_verbs() frees each */
static const struct {
	const char *what;
	int (*make)(struct nvme_rdma_queue *queue);
} nvme_rdma_verbs_parts[] = {
	{ "protection domain",	nvme_rdma_alloc_pd },
	{ "completion queue",	nvme_rdma_create_cq },
	{ "queue pair",		nvme_rdma_create_qp },
	{ "memory regions",	nvme_rdma_alloc_mrs },
	{ "command capsules",	nvme_rdma_alloc_capsules },
	{ "completion entries",	nvme_rdma_alloc_rsps },
	{ "posted receives",	nvme_rdma_fill_receives },
};

/* max_segments and the buffers of a controller are for one device */
static bool nvme_rdma_same_device(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_device *admin = queue->ctrl->device;

	if (!queue->qid || queue->device == admin)
		return true;
	nvme_rdma_queue_msg(err, queue,
			    "resolved to RDMA device %s, the admin queue to %s: all queues must use one device\n",
			    dev_name(&queue->device->dev->dev),
			    dev_name(&admin->dev->dev));
	return false;
}

/**
 * nvme_rdma_create_verbs() - allocate the verbs resources of a queue
 * @queue: the queue, its address resolved
 *
 * After a failure, which the log explains, the caller calls nvme_rdma_destroy_verbs(), too.
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_create_verbs(struct nvme_rdma_queue *queue)
{
	int i, ret;

	ret = nvme_rdma_get_device(queue);
	if (ret) {
		nvme_rdma_queue_msg(err, queue,
				    "%s is being removed, or cannot carry NVMe/RDMA (error %d)\n",
				    dev_name(&queue->cm_id->device->dev), ret);
		return ret;
	}
	if (!nvme_rdma_same_device(queue))
		return -EXDEV;

	strscpy(queue->ibdev_name, dev_name(&queue->device->dev->dev),
		sizeof(queue->ibdev_name));
	nvme_rdma_init_sq(queue);
	for (i = 0; i < ARRAY_SIZE(nvme_rdma_verbs_parts); i++) {
		ret = nvme_rdma_verbs_parts[i].make(queue);
		if (ret) {
			nvme_rdma_queue_msg(err, queue,
					    "%s: cannot allocate %s for %u commands (error %d)\n",
					    dev_name(&queue->device->dev->dev),
					    nvme_rdma_verbs_parts[i].what,
					    queue->depth, ret);
			return ret;
		}
	}
	return 0;
}

/**
 * nvme_rdma_destroy_verbs() - free what nvme_rdma_create_verbs() allocated
 * @queue: the queue; its CM ID is destroyed, so nothing else uses the QP
 *
 * A QP that was never connected, or was drained, has no work request left that
 * could write to the arrays or use an MR.
 *
 * Context: process.
 */
void nvme_rdma_destroy_verbs(struct nvme_rdma_queue *queue)
{
	if (!queue->device)
		return;
	if (queue->qp)
		ib_destroy_qp(queue->qp);
	queue->qp = NULL;
	nvme_rdma_free_mrs(queue);
	if (queue->cq)
		nvme_rdma_cq_free(queue->cq);
	queue->cq = NULL;
	kvfree(queue->rsp_cqes);
	queue->rsp_cqes = NULL;
	nvme_rdma_pages_free(queue->device->dev, queue->rsps);
	queue->rsps = NULL;
	nvme_rdma_pages_free(queue->device->dev, queue->capsules);
	queue->capsules = NULL;
	kvfree(queue->generations);
	queue->generations = NULL;
	nvme_rdma_dealloc_pd(queue);
	nvme_rdma_release_device(queue);
}
