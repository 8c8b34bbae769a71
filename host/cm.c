// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting a queue: address, route, CM request, answer.
 *
 * nvme_rdma_connect_once() takes these steps one after another and sleeps in
 * between. Each step has its own deadline. A CM event, or an error, moves the queue to
 * another state, and every move wakes the sleeping context. Queues connect side by side,
 * see jobs.c.
 *
 * The callback runs under the handler mutex of the CM ID, one at a time for an ID,
 * and rdma_destroy_id() waits for it. It neither destroys the ID nor allocates verbs
 * resources: one thread of the CM resolves the addresses of the whole system.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <rdma/ib_cm.h>

#include "ack_timeout.h"
#include "cm_req.h"
#include "conn.h"
#include "ctrl.h"
#include "device.h"
#include "error.h"
#include "params.h"
#include "trace.h"

/* Retries of the transport and after RNR; 7 means no limit for the latter */
#define NVME_RDMA_RETRIES		7

/* The move of a CM event; an event after a failure moves nothing */
static void nvme_rdma_move_on_event(struct nvme_rdma_queue *queue,
				    enum nvme_rdma_queue_state to)
{
	spin_lock_irq(&queue->state_lock);
	nvme_rdma_move_queue(queue, to);
	spin_unlock_irq(&queue->state_lock);
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
				    "unsupported record format %u in the controller's answer (expected 0)\n",
				    value);
		WRITE_ONCE(queue->ctrl->rejected, true);
		return -EPROTO;
	case NVME_RDMA_CM_NO_ANSWER:
		nvme_rdma_queue_msg(warn, queue,
				    "the controller accepted with %u bytes of private data (expected 32): its number of receives is unknown\n",
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
	nvme_rdma_move_on_event(queue, NVME_RDMA_Q_CONNECTED);
	return 0;
}

/*
 * The errno for the reason of a listener. An invalid request is invalid the next time, too.
 * A lack of resources is temporary. An unknown controller ID is that of a controller which
 * the next attempt creates again.
 */
static int nvme_rdma_nvme_reject_errno(struct nvme_rdma_ctrl *ctrl, u16 status)
{
	switch (status) {
	case NVME_RDMA_CM_NO_RSC:
		return -EBUSY;
	case NVME_RDMA_CM_INVALID_CNTLID:
		return -ENOENT;
	case NVME_RDMA_CM_INVALID_LEN:
	case NVME_RDMA_CM_INVALID_RECFMT:
	case NVME_RDMA_CM_INVALID_QID:
	case NVME_RDMA_CM_INVALID_HSQSIZE:
	case NVME_RDMA_CM_INVALID_HRQSIZE:
	case NVME_RDMA_CM_INVALID_IRD:
	case NVME_RDMA_CM_INVALID_ORD:
		WRITE_ONCE(ctrl->rejected, true);
		return -EINVAL;
	default:
		return -ECONNRESET;
	}
}

/*
 * Report a rejected request. The NVMe status of the listener comes first; without one,
 * only the reason of the fabric is known.
 */
static int nvme_rdma_rejected(struct nvme_rdma_queue *queue,
			      struct rdma_cm_event *ev)
{
	const char *reason = rdma_reject_msg(queue->cm_id, ev->status);
	const u8 *data;
	u16 status;
	u8 len = 0;

	data = rdma_consumer_reject_data(queue->cm_id, ev, &len);
	/* InfiniBand's CM fills in zeroes if the peer sent no private data */
	if (data && nvme_rdma_cm_parse_rej(data, len, &status) && status) {
		nvme_rdma_queue_msg(err, queue,
				    "rejected by the controller: NVMe/RDMA status %#x (%s)\n",
				    status, nvme_rdma_cm_msg(status));
		return nvme_rdma_nvme_reject_errno(queue->ctrl, status);
	}
	if (ev->status == -ECONNREFUSED ||
	    ev->status == IB_CM_REJ_INVALID_SERVICE_ID) {
		nvme_rdma_queue_msg(err, queue,
				    "rejected: nothing listens for NVMe/RDMA on port %s (%s)\n",
				    queue->ctrl->ctrl.opts->trsvcid, reason);
		return -ECONNREFUSED;
	}
	nvme_rdma_queue_msg(err, queue, "rejected: %s (%d)\n", reason,
			    ev->status);
	return ev->status == IB_CM_REJ_STALE_CONN ? -ESTALE : -ECONNRESET;
}

/*
 * Only InfiniBand queries the route. For an answer without a path, whatever its reason,
 * the CM returns an errno that would blame the user's options.
 */
static int nvme_rdma_no_path(struct nvme_rdma_queue *queue, int status)
{
	bool silent = status == -ETIMEDOUT;

	nvme_rdma_queue_msg(err, queue,
			    "no path to the controller: the subnet administrator %s (error %d)\n",
			    silent ? "did not answer" :
				     "knows none for these ports and this P_Key",
			    status);
	return silent ? -ETIMEDOUT : -EHOSTUNREACH;
}

/* Report an event that ended an attempt to connect */
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
		return nvme_rdma_no_path(queue, ev->status);
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
 * The connection ended. The context that connects gets the errno; later, recovery
 * connects again.
 */
static int nvme_rdma_disconnected(struct nvme_rdma_queue *queue,
				  struct rdma_cm_event *ev)
{
	if (nvme_rdma_queue_usable(queue)) {
		nvme_rdma_count(queue, NVME_RDMA_EV_LOST);
		nvme_rdma_queue_msg(warn, queue, "connection lost: %s\n",
				    rdma_event_msg(ev->event));
	}
	return -ECONNRESET;
}

static int nvme_rdma_cm_handler(struct rdma_cm_id *cm_id,
				struct rdma_cm_event *ev)
{
	struct nvme_rdma_queue *queue = cm_id->context;
	int error = 0;

	trace_nvme_rdma_cm_event(queue, ev);
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		nvme_rdma_move_on_event(queue, NVME_RDMA_Q_ROUTE);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		nvme_rdma_move_on_event(queue, NVME_RDMA_Q_CONNECTING);
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
		/* on a connected queue: the neighbour entry of the peer has changed */
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

/* Sleep until the queue leaves a state; 0 if it moved without an error */
static int nvme_rdma_await_move(struct nvme_rdma_queue *queue,
				enum nvme_rdma_queue_state from,
				unsigned int secs)
{
	enum nvme_rdma_queue_state state;
	int error;

	wait_event_idle_timeout(queue->state_wait, READ_ONCE(queue->state) != from,
				secs * HZ);
	spin_lock_irq(&queue->state_lock);
	state = queue->state;
	error = queue->error;
	spin_unlock_irq(&queue->state_lock);

	if (error)
		return error;
	if (state == from) {
		nvme_rdma_queue_msg(err, queue,
				    "not connected: still %s after %u s\n",
				    nvme_rdma_queue_state_name(state), secs);
		return -ETIMEDOUT;
	}
	return state == NVME_RDMA_Q_CLOSING ? -ECANCELED : 0;
}

/*
 * Bind to the interface that the user named, which may differ in each attempt. Return: its
 * index, 0 if the user named none, or a negative errno.
 */
static int nvme_rdma_bind_iface(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	const char *name = ctrl->ctrl.opts->host_iface;
	const struct sockaddr_in6 *in6 = (const void *)&ctrl->addr;
	struct net_device *dev;
	int index;

	if (!(ctrl->ctrl.opts->mask & NVMF_OPT_HOST_IFACE))
		return 0;
	dev = dev_get_by_name(&init_net, name);
	if (!dev) {
		nvme_rdma_queue_msg(err, queue,
				    "invalid host_iface \"%s\" (no such network interface)\n",
				    name);
		return -ENODEV;
	}
	index = dev->ifindex;
	dev_put(dev);
	if (in6->sin6_family == AF_INET6 && in6->sin6_scope_id &&
	    in6->sin6_scope_id != index) {
		nvme_rdma_queue_msg(err, queue,
				    "the scope of traddr is not host_iface \"%s\"\n",
				    name);
		return -EINVAL;
	}
	queue->cm_id->route.addr.dev_addr.bound_dev_if = index;
	return index;
}

/* rdma_cm takes the interface of a link-local address from the address alone */
static void nvme_rdma_set_scope(struct sockaddr_storage *addr, int index)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET6 && !in6->sin6_scope_id &&
	    ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		in6->sin6_scope_id = index;
}

static int nvme_rdma_resolve_address(struct nvme_rdma_queue *queue)
{
	struct nvme_rdma_ctrl *ctrl = queue->ctrl;
	struct sockaddr_storage addr = ctrl->addr, src_addr = ctrl->src_addr;
	struct sockaddr *src = NULL;
	int index, ret;

	index = nvme_rdma_bind_iface(queue);
	if (index < 0)
		return index;
	nvme_rdma_set_scope(&addr, index);
	nvme_rdma_set_scope(&src_addr, index);
	if (ctrl->ctrl.opts->mask & NVMF_OPT_HOST_TRADDR)
		src = (struct sockaddr *)&src_addr;
	ret = rdma_resolve_addr(queue->cm_id, src, (struct sockaddr *)&addr,
				nvme_rdma_resolve_tmo * MSEC_PER_SEC);
	if (ret) {
		nvme_rdma_queue_msg(err, queue,
				    "address resolution did not start (error %d): is there an RDMA device for this address%s?\n",
				    ret, src ? " and for host_traddr" : "");
		return ret;
	}
	/* the resolver has its own deadline, and reports it by an event */
	return nvme_rdma_await_move(queue, NVME_RDMA_Q_ADDRESS,
				    2 * nvme_rdma_resolve_tmo);
}

static int nvme_rdma_resolve_route(struct nvme_rdma_queue *queue)
{
	struct nvmf_ctrl_options *opts = queue->ctrl->ctrl.opts;
	struct rdma_cm_id *cm_id = queue->cm_id;
	int ret;

	/* before the route, which the CM resolves with these */
	if (opts->tos >= 0)
		rdma_set_service_type(cm_id, opts->tos);
	nvme_rdma_set_ack_timeout(cm_id, nvme_rdma_ack_timeout);
	rdma_set_min_rnr_timer(cm_id, nvme_rdma_min_rnr_timer);

	ret = rdma_resolve_route(cm_id, nvme_rdma_resolve_tmo * MSEC_PER_SEC);
	if (ret) {
		nvme_rdma_queue_msg(err, queue,
				    "route resolution did not start: error %d\n",
				    ret);
		return ret;
	}
	return nvme_rdma_await_move(queue, NVME_RDMA_Q_ROUTE,
				    2 * nvme_rdma_resolve_tmo);
}

/*
 * From here on the device may have work requests of the queue, so the queue must be
 * drained. If a context has stopped the queue, it did not drain it: then do not connect.
 */
static int nvme_rdma_send_request(struct nvme_rdma_queue *queue,
				  struct rdma_conn_param *param)
{
	int ret = -ECANCELED;

	mutex_lock(&queue->stop_lock);
	if (READ_ONCE(queue->state) == NVME_RDMA_Q_CONNECTING) {
		WRITE_ONCE(queue->drain_state, NVME_RDMA_DRAIN_DUE);
		ret = rdma_connect(queue->cm_id, param);
	}
	mutex_unlock(&queue->stop_lock);
	return ret;
}

static int nvme_rdma_request_connection(struct nvme_rdma_queue *queue)
{
	u8 priv[NVME_RDMA_CM_REQ_LEN];
	struct rdma_conn_param param = {
		.qp_num			= queue->qp->qp_num,
		.flow_control		= 1,
		.responder_resources	=
			min(queue->device->dev->attrs.max_qp_rd_atom, U8_MAX),
		.retry_count		= NVME_RDMA_RETRIES,
		.rnr_retry_count	= NVME_RDMA_RETRIES,
		.private_data		= priv,
		.private_data_len	= sizeof(priv),
	};
	int ret;

	nvme_rdma_cm_build_req(priv, queue->qid, queue->depth,
			       queue->qid ? queue->ctrl->ctrl.cntlid : 0);
	ret = nvme_rdma_send_request(queue, &param);
	if (ret == -ECANCELED)
		return ret;
	if (ret) {
		nvme_rdma_queue_msg(err, queue,
				    "connection request not sent: error %d\n",
				    ret);
		return ret;
	}
	return nvme_rdma_await_move(queue, NVME_RDMA_Q_CONNECTING,
				    nvme_rdma_connect_tmo);
}

/* The queue is IDLE. nvme_rdma_give_up() fails it, or has set abort_errno before. */
static int nvme_rdma_begin_connect(struct nvme_rdma_queue *queue)
{
	struct rdma_cm_id *cm_id;

	/* the error of the attempt before does not count any more */
	queue->error = 0;
	cm_id = rdma_create_id(&init_net, nvme_rdma_cm_handler, queue,
			       RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id)) {
		nvme_rdma_queue_msg(err, queue, "no CM ID: error %ld\n",
				    PTR_ERR(cm_id));
		return PTR_ERR(cm_id);
	}
	queue->cm_id = cm_id;
	nvme_rdma_move_on_event(queue, NVME_RDMA_Q_ADDRESS);
	return READ_ONCE(queue->ctrl->abort_errno);
}

/**
 * nvme_rdma_connect_once() - try once to connect an idle queue
 * @queue: the queue, its @depth set
 *
 * In any case nvme_rdma_free_queue() frees what was made.
 *
 * Context: process; sleeps up to the deadlines.
 * Return: 0 if the queue is CONNECTED, or a negative errno: -ESTALE if the peer
 * takes the queue for an old connection, and those of nvme_rdma_start_queue().
 */
int nvme_rdma_connect_once(struct nvme_rdma_queue *queue)
{
	int ret;

	ret = nvme_rdma_begin_connect(queue);
	if (!ret)
		ret = nvme_rdma_resolve_address(queue);
	if (!ret)
		ret = nvme_rdma_create_verbs(queue);
	if (!ret)
		ret = nvme_rdma_resolve_route(queue);
	if (!ret)
		ret = nvme_rdma_request_connection(queue);
	return ret;
}
