// SPDX-License-Identifier: GPL-2.0
/*
 * Queues: their memory, queue pairs and connections.
 *
 * A queue is made and taken away by one thread. The connection manager's handler only records
 * events. After rdma_destroy_qp() the device uses the queue's memory no more.
 */
#define pr_fmt(fmt) "feeder: " fmt

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "feeder.h"

#define STEP_MS		30000
/* A signaled SEND gives back the places of those before it, see feeder_send() */
#define SEND_WRS	(2 * FEEDER_DEPTH)
#define RETRIES		7	/* the most there are; of an absent receive, for ever */

static int mem_make(struct feeder_mem *mem, struct ib_device *dev, size_t len)
{
	mem->va = alloc_pages_exact(len, GFP_KERNEL | __GFP_ZERO);
	if (!mem->va)
		return -ENOMEM;
	mem->len = len;
	mem->dma = ib_dma_map_single(dev, mem->va, len, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(dev, mem->dma))
		return 0;
	free_pages_exact(mem->va, len);
	mem->va = NULL;
	return -ENOMEM;
}

static void mem_free(struct feeder_mem *mem, struct ib_device *dev)
{
	if (!mem->va)
		return;
	ib_dma_unmap_single(dev, mem->dma, mem->len, DMA_BIDIRECTIONAL);
	free_pages_exact(mem->va, mem->len);
	mem->va = NULL;
}

static int on_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct feeder_queue *queue = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		WRITE_ONCE(queue->ended, true);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		break;
	}
	queue->event = event->event;
	complete(&queue->step);
	return 0;
}

/* @ret: of the call that begins the step; waits for the event that ends it */
static int step(struct feeder_queue *queue, int ret, enum rdma_cm_event_type wanted)
{
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&queue->step, msecs_to_jiffies(STEP_MS)))
		return -ETIMEDOUT;
	if (queue->event == wanted)
		return 0;
	pr_err("queue %u: the connection manager reports \"%s\", expected \"%s\"\n",
	       queue->qid, rdma_event_msg(queue->event), rdma_event_msg(wanted));
	return -ECONNREFUSED;
}

/**
 * feeder_ctrls() - how many controllers have the host's queues
 * @host: the host
 *
 * Context: any. Return: their number.
 */
unsigned int feeder_ctrls(const struct feeder *host)
{
	return DIV_ROUND_UP(host->nr, FEEDER_CTRL_QUEUES);
}

/* What all queues share, on the device of the first one */
static int host_make(struct feeder *host, struct ib_device *dev)
{
	struct ib_cq_init_attr attr = {
		.cqe = (feeder_ctrls(host) + host->nr) * (FEEDER_QUEUE_SIZE + SEND_WRS),
	};
	struct ib_pd *pd;
	struct ib_cq *cq;

	if (host->pd)
		return 0;
	pd = ib_alloc_pd(dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	cq = ib_create_cq(dev, NULL, NULL, NULL, &attr);
	if (IS_ERR(cq)) {
		ib_dealloc_pd(pd);
		return PTR_ERR(cq);
	}
	host->pd = pd;
	host->cq = cq;
	return 0;
}

static void slots_make(struct feeder_queue *queue)
{
	unsigned int i;

	for (i = 0; i < FEEDER_DEPTH; i++) {
		struct feeder_slot *slot = &queue->slots[i];

		slot->queue = queue;
		slot->sqe = (struct nvme_command *)queue->capsules.va + i;
		slot->data = queue->data.va + i * FEEDER_DATA;
		slot->dma = queue->data.dma + i * FEEDER_DATA;
		slot->sge[0] = (struct ib_sge) {
			.addr = queue->capsules.dma + i * sizeof(*slot->sqe),
			.length = sizeof(*slot->sqe),
			.lkey = queue->host->pd->local_dma_lkey,
		};
		slot->sge[1] = (struct ib_sge) {
			.addr = slot->dma,
			.length = FEEDER_DATA,
			.lkey = queue->host->pd->local_dma_lkey,
		};
		slot->wr.opcode = IB_WR_SEND;
		slot->wr.sg_list = slot->sge;
		slot->wr.num_sge = 1;
		slot->next = queue->free;
		queue->free = slot;
	}
}

static int recvs_make(struct feeder_queue *queue)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < FEEDER_QUEUE_SIZE && !ret; i++) {
		struct feeder_recv *recv = &queue->recvs[i];

		recv->queue = queue;
		recv->cqe = (struct nvme_completion *)queue->replies.va + i;
		recv->sge = (struct ib_sge) {
			.addr = queue->replies.dma + i * sizeof(*recv->cqe),
			.length = sizeof(*recv->cqe),
			.lkey = queue->host->pd->local_dma_lkey,
		};
		recv->wr.wr_id = (uintptr_t)recv;
		recv->wr.sg_list = &recv->sge;
		recv->wr.num_sge = 1;
		ret = ib_post_recv(queue->id->qp, &recv->wr, NULL);
	}
	return ret;
}

/* feeder_free() undoes what a failure leaves */
static int queue_make(struct feeder_queue *queue)
{
	struct ib_device *dev = queue->id->device;
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = SEND_WRS,
			.max_recv_wr = FEEDER_QUEUE_SIZE,
			.max_send_sge = 2,
			.max_recv_sge = 1,
		},
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};
	int ret = host_make(queue->host, dev);

	if (ret)
		return ret;
	attr.send_cq = queue->host->cq;
	attr.recv_cq = queue->host->cq;
	ret = rdma_create_qp(queue->id, queue->host->pd, &attr) ?:
	      mem_make(&queue->capsules, dev,
		       FEEDER_DEPTH * sizeof(struct nvme_command)) ?:
	      mem_make(&queue->replies, dev,
		       FEEDER_QUEUE_SIZE * sizeof(struct nvme_completion)) ?:
	      mem_make(&queue->data, dev, FEEDER_DEPTH * FEEDER_DATA);
	queue->slots = kcalloc(FEEDER_DEPTH, sizeof(*queue->slots), GFP_KERNEL);
	queue->recvs = kcalloc(FEEDER_QUEUE_SIZE, sizeof(*queue->recvs), GFP_KERNEL);
	if (ret || !queue->slots || !queue->recvs)
		return ret ?: -ENOMEM;
	slots_make(queue);
	return recvs_make(queue);
}

static int queue_ask(struct feeder_queue *queue)
{
	/* NVMe/RDMA 1.0, section 3.2: the request's private data; sizes of queues are less one */
	struct nvme_rdma_cm_req req = {
		.recfmt = cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.qid = cpu_to_le16(queue->qid),
		.hrqsize = cpu_to_le16(queue->qid ? FEEDER_QUEUE_SIZE : NVME_AQ_DEPTH),
		.hsqsize = cpu_to_le16((queue->qid ? FEEDER_QUEUE_SIZE : NVME_AQ_DEPTH) - 1),
	};
	struct rdma_conn_param param = {
		.private_data = &req,
		.private_data_len = sizeof(req),
		.responder_resources = min_t(int, U8_MAX,
					     queue->id->device->attrs.max_qp_rd_atom),
		.retry_count = RETRIES,
		.rnr_retry_count = RETRIES,
		.qp_num = queue->id->qp->qp_num,
	};

	return rdma_connect(queue->id, &param);
}

/**
 * feeder_queue_connect() - connect a queue
 * @host: the host; after a failure, feeder_free() is due
 * @queue: its queue
 * @qid: the queue's number
 * @to: the target's address
 * @from: its own; NULL if the route decides
 *
 * Context: may sleep.
 *
 * Return: 0 or a negative errno.
 */
int feeder_queue_connect(struct feeder *host, struct feeder_queue *queue, u16 qid,
			 const struct sockaddr_storage *to, struct sockaddr_in *from)
{
	struct rdma_cm_id *id;

	queue->host = host;
	queue->qid = qid;
	init_completion(&queue->step);
	id = rdma_create_id(&init_net, on_event, queue, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	queue->id = id;
	return step(queue, rdma_resolve_addr(id, (struct sockaddr *)from, (struct sockaddr *)to,
					     STEP_MS),
		    RDMA_CM_EVENT_ADDR_RESOLVED) ?:
	       step(queue, rdma_resolve_route(id, STEP_MS), RDMA_CM_EVENT_ROUTE_RESOLVED) ?:
	       queue_make(queue) ?:
	       step(queue, queue_ask(queue), RDMA_CM_EVENT_ESTABLISHED);
}

/**
 * feeder_queue_disconnect() - end the connection of a queue that was connected
 * @queue: the queue
 *
 * Context: may sleep.
 */
void feeder_queue_disconnect(struct feeder_queue *queue)
{
	if (step(queue, rdma_disconnect(queue->id), RDMA_CM_EVENT_DISCONNECTED))
		pr_err("queue %u: not disconnected\n", queue->qid);
}

static void queue_free(struct feeder_queue *queue)
{
	struct ib_device *dev;

	if (!queue->id)
		return;
	dev = queue->id->device;
	if (queue->id->qp)
		rdma_destroy_qp(queue->id);
	mem_free(&queue->data, dev);
	mem_free(&queue->replies, dev);
	mem_free(&queue->capsules, dev);
	kfree(queue->recvs);
	kfree(queue->slots);
	rdma_destroy_id(queue->id);
}

/**
 * feeder_free() - free a host and its queues, whether connected or not
 * @host: the host
 *
 * Context: may sleep.
 */
void feeder_free(struct feeder *host)
{
	unsigned int i;

	for (i = 0; i < host->nr; i++)
		queue_free(&host->queues[i]);
	for (i = 0; i < feeder_ctrls(host); i++)
		queue_free(&host->admins[i]);
	if (host->cq)
		ib_free_cq(host->cq);
	if (host->pd)
		ib_dealloc_pd(host->pd);
	kvfree(host);
}
