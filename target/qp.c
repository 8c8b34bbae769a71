// SPDX-License-Identifier: GPL-2.0
/*
 * The queue pair of a queue, and its share of a completion queue.
 *
 * Sizes: without an SRQ, the receive queue holds the queue's receives. The send queue holds
 * for each response the response itself and the work request of a small transfer. Beyond that
 * it holds one transfer of the largest size in single pages. So the usual load never waits for
 * credit, and any single command fits, however short memory is. Each queue has one more for
 * the drain, and the send queue one for sweeps (send.c). If a device cannot have as many, the
 * send queue is smaller, and commands wait.
 *
 * Sends and receives of a QP complete on one completion queue. drain.c relies on that. It is
 * shared with other QPs of the SRQ, or of the vector without an SRQ (cqs.c).
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "common/device_limit.h"
#include "cqs.h"
#include "error.h"
#include "params.h"
#include "qp.h"
#include "recv.h"
#include "srq.h"
#include "xfer.h"

/* Registrations for transfers from and to the memory of a disk */
#define SPARE_RW_CONTEXTS	2
/* The most work requests that rdma_rw_init_qp() adds for a context */
#define WRS_PER_RW_CONTEXT	3
/* Work requests that drain.c posts to each queue */
#define DRAIN_WRS		1
/* Work requests that send.c posts without credit */
#define SWEEP_WRS		1

/**
 * struct qp_plan - sizes to create a QP with
 * @send_wrs: send work requests, without the drain's
 * @min_send_wrs: enough for any one command beside all responses
 * @rw_contexts: transfers of rdma_rw
 * @send_sge: gather elements of a send work request
 * @inline_data: bytes
 */
struct qp_plan {
	u32 send_wrs;
	u32 min_send_wrs;
	u32 rw_contexts;
	u32 send_sge;
	u32 inline_data;
};

static void nvmet_rdma_qp_event(struct ib_event *event, void *context)
{
	struct nvmet_rdma_queue *queue = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/*
		 * A capsule arrived before the CM's last message, which establishes the connection
		 */
		rdma_notify(queue->cm_id, event->event);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		nvmet_rdma_drain_last_wqe(queue);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_PATH_MIG_ERR:
		nvmet_rdma_queue_warn(queue,
				      "%s reports \"%s\"; closing the connection, the host will reconnect\n",
				      queue->dev->ib->name,
				      ib_event_msg(event->event));
		nvmet_rdma_event(queue, NVMET_RDMA_EV_QP);
		nvmet_rdma_queue_fail(queue);
		break;
	default:
		pr_debug("host %pISpc, queue %u: %s\n", &queue->peer_addr,
			 queue->qid, ib_event_msg(event->event));
	}
}

/* Returns -EINVAL if the device does not have enough for one small command */
static int qp_plan_sizes(struct nvmet_rdma_queue *queue, struct qp_plan *plan)
{
	const struct ib_device_attr *attrs = &queue->dev->ib->attrs;
	u32 most = nvme_rdma_limit_less(attrs->max_qp_wr, DRAIN_WRS + SWEEP_WRS);
	u32 small, largest;

	/* A part of a transfer has at most so many chunks; a page list has more */
	plan->send_sge = max(attrs->max_send_sge, 1);
	if (!queue->use_rw)
		plan->send_sge = min_t(u32, plan->send_sge,
				       NVMET_RDMA_PART_CHUNKS);
	queue->max_write_sge = plan->send_sge;
	/* Some devices report 0, but have at least one */
	queue->max_read_sge = clamp_t(u32, attrs->max_sge_rd, 1,
				      plan->send_sge);

	small = max(nvmet_rdma_xfer_nr_wrs(queue, SZ_4K, true),
		    nvmet_rdma_xfer_nr_wrs(queue, SZ_4K, false));
	if (most < NVMET_RDMA_RSP_WRS + small)
		return -EINVAL;
	largest = nvmet_rdma_xfer_max_wrs(queue);
	plan->min_send_wrs = min(queue->max_rsps * NVMET_RDMA_RSP_WRS +
				 largest, most);
	plan->send_wrs = min(queue->max_rsps * (NVMET_RDMA_RSP_WRS + small) +
			     largest, most);
	plan->rw_contexts = queue->p2p ? SPARE_RW_CONTEXTS : 0;
	if (queue->use_rw)
		plan->rw_contexts = queue->max_rsps *
				    nvmet_rdma_rw_max_mrs(queue);
	if (queue->pi)
		plan->rw_contexts = max(plan->rw_contexts, queue->max_rsps);
	/* Software iWARP takes inline data with SEND, not with SEND_WITH_INV */
	plan->inline_data =
		rdma_protocol_iwarp(queue->dev->ib, queue->cm_id->port_num) ?
		0 : sizeof(struct nvme_completion);
	return 0;
}

static int qp_try(struct nvmet_rdma_queue *queue, const struct qp_plan *plan)
{
	struct ib_qp_init_attr attr = {
		.event_handler		= nvmet_rdma_qp_event,
		.qp_context		= queue,
		.send_cq		= queue->cq->ib,
		.recv_cq		= queue->cq->ib,
		.qp_type		= IB_QPT_RC,
		.sq_sig_type		= IB_SIGNAL_REQ_WR,
		.cap.max_send_wr	= plan->send_wrs + DRAIN_WRS +
					  SWEEP_WRS,
		.cap.max_send_sge	= plan->send_sge,
		.cap.max_inline_data	= plan->inline_data,
		.cap.max_rdma_ctxs	= plan->rw_contexts,
	};
	int ret;

	if (queue->pi)
		attr.create_flags |= IB_QP_CREATE_INTEGRITY_EN;
	if (queue->srq) {
		attr.srq = queue->srq->ib;
	} else {
		attr.cap.max_recv_wr = nvmet_rdma_recv_nr(queue) + DRAIN_WRS;
		attr.cap.max_recv_sge = queue->limits.capsule_room ? 2 : 1;
	}
	ret = rdma_create_qp(queue->cm_id, queue->dev->pd, &attr);
	if (ret)
		return ret;
	queue->qp = queue->cm_id->qp;
	queue->nr_credits = plan->send_wrs;
	queue->credits = plan->send_wrs;
	queue->min_chunk = NVMET_RDMA_CHUNK_MAX;
	queue->inline_rsp = plan->inline_data &&
			    attr.cap.max_inline_data >= plan->inline_data;
	return 0;
}

static int qp_get_cq(struct nvmet_rdma_queue *queue, u32 send_wrs)
{
	queue->nr_cqe = send_wrs;
	if (queue->srq)
		return nvmet_rdma_cqs_get(&queue->srq->cqs, queue);
	queue->nr_cqe += nvmet_rdma_recv_nr(queue) + DRAIN_WRS;
	return nvmet_rdma_cqs_get(&queue->dev->vectors[queue->vector].cqs, queue);
}

/**
 * nvmet_rdma_qp_create() - make the QP of a new queue
 * @queue: the queue; its CM ID, device, SRQ, depth, max_rsps and limits are set
 *
 * Sets qp, cq, nr_cqe, use_rw, p2p, inline_rsp, and what depends on the sizes.
 *
 * Context: may sleep. Return: 0 or a negative errno; nothing is left behind.
 */
int nvmet_rdma_qp_create(struct nvmet_rdma_queue *queue)
{
	struct ib_device *ib = queue->dev->ib;
	struct qp_plan plan;
	int ret;

	queue->use_rw = nvmet_rdma_use_rw_api ||
			rdma_protocol_iwarp(ib, queue->cm_id->port_num);
	queue->p2p = ib_dma_pci_p2p_dma_supported(ib);
	ret = qp_plan_sizes(queue, &plan);
	if (ret)
		return ret;

	ret = qp_get_cq(queue, min_t(u32, ib->attrs.max_qp_wr, plan.send_wrs +
				     DRAIN_WRS + SWEEP_WRS +
				     WRS_PER_RW_CONTEXT * plan.rw_contexts));
	if (ret)
		return ret;

	ret = qp_try(queue, &plan);
	if (ret) {
		plan.inline_data = 0;
		ret = qp_try(queue, &plan);
	}
	if (ret) {
		plan.send_wrs = plan.min_send_wrs;
		ret = qp_try(queue, &plan);
	}
	if (ret)
		nvmet_rdma_cqs_put(queue);
	return ret;
}

/**
 * nvmet_rdma_qp_destroy() - undo nvmet_rdma_qp_create()
 * @queue: the queue; its QP is drained, or cannot be, and nothing is posted to it any more
 *
 * Events of the QP use the CM ID and end here, so this is called before rdma_destroy_id().
 * After this no completion refers to the QP or the queue, and no handler runs for one.
 *
 * With an SRQ that is true before, unless the QP could not be drained. Then its driver removes
 * its completions when it is destroyed. (Soft-RoCE does not, but it always drains.) Handlers
 * must not run meanwhile, as they find the queue by the QP.
 *
 * Receives of the queue's own know their queue, so their completion queue is not stopped: a
 * driver that hangs here would stop the hosts that share it. After a drain no completion is
 * left, as the markers were the last. But the QP may not have been drained: the HCA is dead, or
 * the queue could not be created. Then drivers remove its completions (mlx5), or flush its
 * receives (software iWARP), and a handler may have got some before. The flush waits for all
 * of these handlers. They need the queue and its memory, and no QP, except if a device that is
 * dead has also completed a work request twice (nvmet_rdma_completed_twice()).
 *
 * Context: may sleep.
 */
void nvmet_rdma_qp_destroy(struct nvmet_rdma_queue *queue)
{
	bool stop = queue->srq && queue->drain.forced;

	if (stop)
		nvme_rdma_cq_stop(queue->cq);
	rdma_destroy_qp(queue->cm_id);
	if (stop)
		nvme_rdma_cq_start(queue->cq);
	else if (!queue->srq)
		nvme_rdma_cq_flush(queue->cq);
	nvmet_rdma_cqs_put(queue);
}
