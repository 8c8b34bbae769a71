// SPDX-License-Identifier: GPL-2.0
/*
 * Connection requests, and the events of connections.
 *
 * Operation: listen.c passes the connection requests of its listeners to
 * nvmet_rdma_connect_request(). A request is parsed (cm_req.c), gets a queue (queue.c), and is
 * accepted. From then on the events of the CM ID go to nvmet_rdma_queue_event().
 *
 * Ownership of the CM ID: it is the CM's until the queue is published. A request that fails
 * before that is rejected with the status that the NVMe/RDMA specification has for the reason,
 * and a non-zero return value lets the CM destroy the ID. After that the queue's release work
 * destroys it, and the handlers return 0.
 *
 * All handlers run in a workqueue of the CM, one at a time for an ID, and may sleep.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <rdma/ib_cm.h>

#include "ack_timeout.h"
#include "connection.h"
#include "debugfs.h"
#include "error.h"
#include "limits.h"
#include "params.h"
#include "trace.h"

static_assert((int)NVMET_RDMA_CM_BAD_LEN == (int)NVME_RDMA_CM_INVALID_LEN);
static_assert((int)NVMET_RDMA_CM_BAD_RECFMT ==
	      (int)NVME_RDMA_CM_INVALID_RECFMT);
static_assert((int)NVMET_RDMA_CM_BAD_QID == (int)NVME_RDMA_CM_INVALID_QID);
static_assert((int)NVMET_RDMA_CM_BAD_HSQSIZE ==
	      (int)NVME_RDMA_CM_INVALID_HSQSIZE);
static_assert((int)NVMET_RDMA_CM_BAD_HRQSIZE ==
	      (int)NVME_RDMA_CM_INVALID_HRQSIZE);
static_assert((int)NVMET_RDMA_CM_NO_RESOURCES == (int)NVME_RDMA_CM_NO_RSC);
static_assert((int)NVMET_RDMA_CM_BAD_IRD == (int)NVME_RDMA_CM_INVALID_IRD);
static_assert(sizeof(struct nvme_rdma_cm_req) == NVMET_RDMA_CM_REQ_LEN);

/*
 * For the host's sends: one that finds no shared receive may wait as long as it takes. For
 * responses to a host without a receive, the host's request says how often this side retries,
 * and the CM uses that. stall.c bounds the time.
 */
#define RNR_RETRY_FOR_EVER	7

static int nvmet_rdma_cm_reject(struct rdma_cm_id *id,
				enum nvmet_rdma_cm_sts status)
{
	struct nvme_rdma_cm_rej rej = {
		.recfmt	= cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.sts	= cpu_to_le16(status),
	};

	rdma_reject(id, &rej, sizeof(rej), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

static int nvmet_rdma_cm_accept(struct nvmet_rdma_queue *queue,
				const struct rdma_conn_param *asked)
{
	struct nvme_rdma_cm_rep rep = {
		.recfmt	 = cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.crqsize = cpu_to_le16(queue->depth),
	};
	struct rdma_conn_param param = {
		.private_data		= &rep,
		.private_data_len	= sizeof(rep),
		.rnr_retry_count	= RNR_RETRY_FOR_EVER,
		.flow_control		= 1,
	};

	/* READs from the host: as many as it serves and the device sends */
	param.initiator_depth = min_t(u32, asked->initiator_depth,
				      queue->dev->ib->attrs.max_qp_init_rd_atom);
	/* The CM sets them in the QP when it accepts, not before and not after */
	rdma_set_min_rnr_timer(queue->cm_id, nvmet_rdma_min_rnr_timer);
	/*
	 * By default the CM uses the value in the host's request. So a host could choose how long
	 * its commands hold their resources.
	 */
	nvme_rdma_set_ack_timeout(queue->cm_id, nvmet_rdma_ack_timeout);
	return rdma_accept(queue->cm_id, &param);
}

static void nvmet_rdma_queue_not_established(struct nvmet_rdma_queue *queue,
					     struct rdma_cm_id *id,
					     const struct rdma_cm_event *event)
{
	const char *why = event->event == RDMA_CM_EVENT_REJECTED ?
			  rdma_reject_msg(id, event->status) : "no answer";

	nvmet_rdma_queue_warn(queue,
			      "connection accepted but not established (%s: %s, status %d); the host will retry\n",
			      rdma_event_msg(event->event), why, event->status);
	nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_NOT_ESTABLISHED);
	nvmet_rdma_queue_disconnect(queue);
}

static int nvmet_rdma_queue_event(struct rdma_cm_id *id,
				  struct rdma_cm_event *event)
{
	struct nvmet_rdma_queue *queue = id->context;

	trace_nvmet_rdma_cm_event(queue->port, queue, event);

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		nvmet_rdma_queue_established(queue);
		break;
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		nvmet_rdma_queue_not_established(queue, id, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		nvmet_rdma_queue_disconnect(queue);
		break;
	default:
		break;
	}
	return 0;
}

static void nvmet_rdma_cm_log_reject(const struct rdma_cm_id *id,
				     const struct nvmet_rdma_cm_req *req,
				     enum nvmet_rdma_cm_sts status)
{
	pr_warn_ratelimited("host %pISpc, queue %u: connection rejected: invalid %s %u (expected %u to %u); check the host's NVMe/RDMA driver and queue sizes\n",
			    &id->route.addr.dst_addr, req->qid,
			    nvmet_rdma_cm_sts_name(status), req->value,
			    req->min, req->max);
}

/* See nvmet_rdma_limits_charge() for two of the reasons */
static enum nvmet_rdma_refusal nvmet_rdma_cm_why_no_queue(long error)
{
	switch (error) {
	case -EDQUOT:
		return NVMET_RDMA_REFUSED_HOST_PENDING;
	case -EUSERS:
		return NVMET_RDMA_REFUSED_MAX_PENDING;
	default:
		return NVMET_RDMA_REFUSED_NO_MEMORY;
	}
}

/* Reads what the host asks for. Returns NVMET_RDMA_CM_OK, or why it is rejected. */
static enum nvmet_rdma_cm_sts
nvmet_rdma_cm_parse(const struct rdma_cm_id *id, const struct nvmet_rdma_port *port,
		    const struct nvmet_rdma_device *dev,
		    const struct rdma_conn_param *param, struct nvmet_rdma_cm_req *req)
{
	struct nvmet_rdma_cm_limits limits = {
		.max_qid	= NVMET_RDMA_MAX_QID,
		.needs_ird	= !rdma_protocol_iwarp(id->device, id->port_num),
	};
	enum nvmet_rdma_cm_sts status;

	limits.io_depth = min(port->depth, dev->depth_limit);
	/* the core of 6.1 checks Connect against the limit of all devices, here, too */
	limits.admin_depth = clamp_t(u32, nvmet_rdma_devices_depth_limit(),
				     NVME_AQ_DEPTH, NVMET_RDMA_ADMIN_DEPTH);
	status = nvmet_rdma_parse_cm_req(param->private_data,
					 param->private_data_len,
					 param->initiator_depth, &limits, req);
	if (status != NVMET_RDMA_CM_OK)
		nvmet_rdma_cm_log_reject(id, req, status);
	return status;
}

/* Accepts the connection. The ID is the queue's from here on. */
static void nvmet_rdma_cm_establish(struct nvmet_rdma_queue *queue,
				    const struct rdma_conn_param *param)
{
	struct rdma_cm_id *id = queue->cm_id;
	int ret;

	id->context = queue;
	id->event_handler = nvmet_rdma_queue_event;
	nvmet_rdma_debugfs_add_queue(queue);
	nvmet_rdma_queue_publish(queue);

	ret = nvmet_rdma_cm_accept(queue, param);
	if (!ret) {
		nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_ACCEPTED);
		return;
	}
	nvmet_rdma_queue_warn(queue,
			      "cannot accept the connection (error %d); the host will retry\n",
			      ret);
	nvmet_rdma_queue_disconnect(queue);
}

/**
 * nvmet_rdma_connect_request() - answer a connection request
 * @id: the new ID, the CM's until a queue has it
 * @port: the port that it came to
 * @param: what the host asks for
 *
 * Context: the handler of the port's listener; may sleep. Return: 0, or not 0 if the CM
 * shall destroy @id.
 */
int nvmet_rdma_connect_request(struct rdma_cm_id *id,
			       struct nvmet_rdma_port *port,
			       const struct rdma_conn_param *param)
{
	struct nvmet_rdma_device *dev;
	struct nvmet_rdma_queue *queue;
	struct nvmet_rdma_peer *peer;
	struct nvmet_rdma_cm_req req;
	enum nvmet_rdma_refusal why;
	enum nvmet_rdma_cm_sts status;

	dev = nvmet_rdma_device_get(id->device);
	if (IS_ERR(dev)) {
		pr_warn_ratelimited("host %pISpc: connection rejected: %s is being removed or has no protection domain left (error %ld)\n",
				    &id->route.addr.dst_addr, id->device->name,
				    PTR_ERR(dev));
		nvmet_rdma_count_refusal(port, &id->route.addr.dst_addr, 0,
					 NVMET_RDMA_REFUSED_DEVICE);
		return nvmet_rdma_cm_reject(id, NVMET_RDMA_CM_NO_RESOURCES);
	}

	status = nvmet_rdma_cm_parse(id, port, dev, param, &req);
	if (status != NVMET_RDMA_CM_OK) {
		why = (enum nvmet_rdma_refusal)status;
		goto err_put_device;
	}

	peer = nvmet_rdma_limits_enter(id, req.qid, &why);
	if (IS_ERR(peer)) {
		status = NVMET_RDMA_CM_NO_RESOURCES;
		goto err_put_device;
	}

	queue = nvmet_rdma_queue_create(id, port, dev, peer, &req);
	if (IS_ERR(queue)) {
		status = NVMET_RDMA_CM_NO_RESOURCES;
		why = nvmet_rdma_cm_why_no_queue(PTR_ERR(queue));
		/* A limit has been logged already */
		if (why == NVMET_RDMA_REFUSED_NO_MEMORY)
			pr_warn_ratelimited("host %pISpc, queue %u: connection rejected: no resources on %s, or no memory, for a queue of %u commands with %u bytes of in-capsule data (error %ld)\n",
					    &id->route.addr.dst_addr, req.qid,
					    id->device->name, req.depth,
					    port->icd, PTR_ERR(queue));
		goto err_leave;
	}

	nvmet_rdma_cm_establish(queue, param);
	return 0;

err_leave:
	nvmet_rdma_limits_leave(peer, NVMET_RDMA_PENDING, 0);
err_put_device:
	nvmet_rdma_device_put(dev);
	nvmet_rdma_count_refusal(port, &id->route.addr.dst_addr, req.qid, why);
	return nvmet_rdma_cm_reject(id, status);
}
