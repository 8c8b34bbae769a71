// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting a queue: address, route, CM request, answer.
 *
 * nvme_rdma_begin_connect() starts; each event of the CM does the next step in
 * its callback; nvme_rdma_await_connect() waits for the end. Many queues can
 * be under way at once.
 *
 * The callback runs under the CM ID's handler mutex, one at a time for an ID,
 * and rdma_destroy_id() waits for it. It never destroys the ID.
 */
#include <rdma/ib_cm.h>

#include "nvme_rdma.h"

/* One attempt at an ARP or ND answer; the stack repeats it by itself */
#define NVME_RDMA_RESOLVE_TMO_MS	3000

/* CM retries of the request and RNR retries: 7 is for ever, see min RNR timer */
#define NVME_RDMA_CM_RETRIES		7

static bool nvme_rdma_step_queue(struct nvme_rdma_queue *queue,
				 enum nvme_rdma_queue_state to)
{
	bool moved;

	spin_lock_irq(&queue->state_lock);
	moved = nvme_rdma_move_queue(queue, to);
	spin_unlock_irq(&queue->state_lock);
	return moved;
}

static int nvme_rdma_address_resolved(struct nvme_rdma_queue *queue)
{
	struct nvmf_ctrl_options *opts = queue->ctrl->ctrl.opts;
	int ret;

	if (!nvme_rdma_step_queue(queue, NVME_RDMA_Q_ROUTE))
		return -ECANCELED;
	ret = nvme_rdma_create_ib(queue);
	if (ret)
		return ret;
	if (opts->tos >= 0)
		rdma_set_service_type(queue->cm_id, opts->tos);
	ret = rdma_resolve_route(queue->cm_id, NVME_RDMA_RESOLVE_TMO_MS);
	if (ret)
		nvme_rdma_queue_msg(err, queue,
				    "route resolution did not start: error %d\n",
				    ret);
	return ret;
}

static int nvme_rdma_route_resolved(struct nvme_rdma_queue *queue)
{
	u8 priv[NVME_RDMA_CM_REQ_LEN];
	struct rdma_conn_param param = {
		.qp_num			= queue->qp->qp_num,
		.flow_control		= 1,
		.responder_resources	=
			queue->device->dev->attrs.max_qp_rd_atom,
		.retry_count		= NVME_RDMA_CM_RETRIES,
		.rnr_retry_count	= NVME_RDMA_CM_RETRIES,
		.private_data		= priv,
		.private_data_len	= sizeof(priv),
	};
	int ret;

	if (!nvme_rdma_step_queue(queue, NVME_RDMA_Q_CONNECTING))
		return -ECANCELED;
	nvme_rdma_cm_build_req(priv, queue->qid, queue->depth,
			       queue->qid ? queue->ctrl->ctrl.cntlid : 0);
	ret = rdma_connect_locked(queue->cm_id, &param);
	if (ret)
		nvme_rdma_queue_msg(err, queue,
				    "connection request not sent: error %d\n",
				    ret);
	return ret;
}

static int nvme_rdma_established(struct nvme_rdma_queue *queue,
				 const struct rdma_conn_param *param)
{
	u16 value;

	switch (nvme_rdma_cm_parse_rep(param->private_data,
				       param->private_data_len, queue->depth,
				       &value)) {
	case NVME_RDMA_CM_WRONG_FORMAT:
		nvme_rdma_queue_msg(err, queue,
				    "the controller answers in record format %u, expected 0\n",
				    value);
		return -EPROTO;
	case NVME_RDMA_CM_NO_ANSWER:
		nvme_rdma_queue_msg(warn, queue,
				    "the controller accepted with %u bytes of private data, expected 32: cannot tell how many commands it can receive\n",
				    value);
		break;
	case NVME_RDMA_CM_FEW_RECEIVES:
		nvme_rdma_queue_msg(warn, queue,
				    "the controller can receive %u commands at once, %u may be sent: expect stalls, or connect with a smaller queue size\n",
				    value, queue->depth);
		break;
	case NVME_RDMA_CM_ACCEPTED:
		break;
	}
	if (!nvme_rdma_step_queue(queue, NVME_RDMA_Q_CONNECTED))
		return -ECANCELED;
	complete(&queue->cm_done);
	return 0;
}

static int nvme_rdma_nvme_reject_errno(u16 status)
{
	switch (status) {
	case NVME_RDMA_CM_NO_RSC:
		return -EBUSY;
	case NVME_RDMA_CM_INVALID_CNTLID:
		return -ENOENT;
	default:
		return -EINVAL;
	}
}

/*
 * Words and errno for a rejected request. The listener's NVMe status comes
 * first; without one the fabric's reason is all there is.
 */
static int nvme_rdma_rejected(struct nvme_rdma_queue *queue,
			      struct rdma_cm_event *ev)
{
	const char *reason = rdma_reject_msg(queue->cm_id, ev->status);
	const u8 *data;
	u16 status;
	u8 len = 0;

	data = rdma_consumer_reject_data(queue->cm_id, ev, &len);
	if (data && nvme_rdma_cm_parse_rej(data, len, &status)) {
		nvme_rdma_queue_msg(err, queue,
				    "rejected by the controller: NVMe/RDMA status %#x (%s)\n",
				    status, nvme_rdma_cm_msg(status));
		return nvme_rdma_nvme_reject_errno(status);
	}
	if (ev->status == -ECONNREFUSED ||
	    ev->status == IB_CM_REJ_INVALID_SERVICE_ID) {
		nvme_rdma_queue_msg(err, queue,
				    "refused: nothing listens on port %s for NVMe/RDMA there (%s)\n",
				    queue->ctrl->ctrl.opts->trsvcid, reason);
		return -ECONNREFUSED;
	}
	nvme_rdma_queue_msg(err, queue, "rejected: %s (%d)\n", reason,
			    ev->status);
	return -ECONNRESET;
}

/* Words and errno for an event that ended connecting; status is as given */
static int nvme_rdma_connect_failed(struct nvme_rdma_queue *queue,
				    struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		nvme_rdma_queue_msg(err, queue,
				    "the address cannot be resolved to an RDMA device (error %d): is it reachable, and does the interface towards it have an RDMA device?\n",
				    ev->status);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		nvme_rdma_queue_msg(err, queue, "no route: error %d\n",
				    ev->status);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		nvme_rdma_queue_msg(err, queue,
				    "no answer to the connection request (error %d)\n",
				    ev->status);
		break;
	default:
		nvme_rdma_queue_msg(err, queue, "%s (error %d)\n",
				    rdma_event_msg(ev->event), ev->status);
		break;
	}
	return ev->status < 0 ? ev->status : -ECONNRESET;
}

/*
 * The connection ended. While connecting, the waiter learns of it; later,
 * recovery makes a new one.
 */
static int nvme_rdma_disconnected(struct nvme_rdma_queue *queue,
				  struct rdma_cm_event *ev)
{
	if (nvme_rdma_queue_usable(queue))
		nvme_rdma_queue_msg(warn, queue, "connection lost: %s\n",
				    rdma_event_msg(ev->event));
	return -ECONNRESET;
}

static int nvme_rdma_cm_handler(struct rdma_cm_id *cm_id,
				struct rdma_cm_event *ev)
{
	struct nvme_rdma_queue *queue = cm_id->context;
	int error = 0;

	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		error = nvme_rdma_address_resolved(queue);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		error = nvme_rdma_route_resolved(queue);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		error = nvme_rdma_established(queue, &ev->param.conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		error = nvme_rdma_rejected(queue, ev);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		error = nvme_rdma_connect_failed(queue, ev);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		/* once connected: the peer's neighbour entry has changed */
		if (READ_ONCE(queue->state) == NVME_RDMA_Q_CONNECTING)
			error = nvme_rdma_connect_failed(queue, ev);
		else
			error = nvme_rdma_disconnected(queue, ev);
		break;
	default:
		error = nvme_rdma_disconnected(queue, ev);
		break;
	}
	if (error)
		nvme_rdma_break_queue(queue, error);
	return 0;
}

/**
 * nvme_rdma_begin_connect() - start connecting an idle queue
 * @queue: the queue
 * @depth: commands that may be outstanding
 *
 * On success nvme_rdma_await_connect() must follow; in any case
 * nvme_rdma_free_queue() ends what was begun.
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_begin_connect(struct nvme_rdma_queue *queue, u16 depth)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	struct sockaddr *src = NULL;
	struct rdma_cm_id *cm_id;
	int ret;

	queue->depth = depth;
	queue->error = 0;
	reinit_completion(&queue->cm_done);

	cm_id = rdma_create_id(&init_net, nvme_rdma_cm_handler, queue,
			       RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id)) {
		nvme_rdma_queue_msg(err, queue, "no CM ID: error %ld\n",
				    PTR_ERR(cm_id));
		return PTR_ERR(cm_id);
	}
	queue->cm_id = cm_id;
	nvme_rdma_step_queue(queue, NVME_RDMA_Q_ADDRESS);

	if (ctrl->ctrl.opts->mask & NVMF_OPT_HOST_TRADDR)
		src = (struct sockaddr *)&ctrl->src_addr;
	ret = rdma_resolve_addr(cm_id, src, (struct sockaddr *)&ctrl->addr,
				NVME_RDMA_RESOLVE_TMO_MS);
	if (ret)
		nvme_rdma_queue_msg(err, queue,
				    "address resolution did not start (error %d): is there an RDMA device for this address%s?\n",
				    ret, src ? " and for host_traddr" : "");
	return ret;
}

/**
 * nvme_rdma_connect_deadline() - until when queues that begin now may connect
 *
 * Context: any. Return: jiffies.
 */
unsigned long nvme_rdma_connect_deadline(void)
{
	return jiffies + nvme_rdma_connect_tmo * HZ;
}

/**
 * nvme_rdma_await_connect() - wait until a queue is connected
 * @queue: the queue, after nvme_rdma_begin_connect()
 * @deadline: until when, in jiffies
 *
 * Context: process. Return: 0, -ETIMEDOUT, -EINTR, or the errno of what went
 * wrong; the log has said it in words.
 */
int nvme_rdma_await_connect(struct nvme_rdma_queue *queue,
			    unsigned long deadline)
{
	unsigned long now = jiffies;
	enum nvme_rdma_queue_state state;
	long left;
	int error;

	left = time_before(now, deadline) ? deadline - now : 0;
	left = wait_for_completion_interruptible_timeout(&queue->cm_done, left);
	spin_lock_irq(&queue->state_lock);
	state = queue->state;
	error = queue->error;
	spin_unlock_irq(&queue->state_lock);

	if (state == NVME_RDMA_Q_CONNECTED)
		return 0;
	if (error)
		return error;
	if (left < 0)
		return -EINTR;
	nvme_rdma_queue_msg(err, queue, "not connected within %u s, still %s\n",
			    nvme_rdma_connect_tmo,
			    nvme_rdma_queue_state_name(state));
	return -ETIMEDOUT;
}
