// SPDX-License-Identifier: GPL-2.0
/*
 * Queues: the creation of a host's connections.
 *
 * nvmet_rdma_queue_create() makes a queue for a connection request. The queue is visible to
 * other files from nvmet_rdma_queue_publish() on (queue_list.c). nvmet_rdma_queue_disconnect()
 * ends it (error.c). That may be called any number of times, in any context and for any
 * reason. The call that changes the state queues the release work, which owns the queue from
 * then on (release.c).
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include "cm_req.h"
#include "connection.h"
#include "debugfs.h"
#include "error.h"
#include "io.h"
#include "limits.h"
#include "list.h"
#include "params.h"
#include "qp.h"
#include "recv.h"
#include "run.h"
#include "send.h"
#include "srq.h"
#include "trace.h"
#include "unfinished.h"

static atomic_t queue_numbers;

/**
 * nvmet_rdma_queue_established() - the connection is established
 * @queue: the queue
 *
 * Queues the work for commands that arrived before. It does not start them here: the CM
 * holds its handler lock, which must not depend on what a command waits for.
 *
 * Context: may sleep.
 */
void nvmet_rdma_queue_established(struct nvmet_rdma_queue *queue)
{
	spin_lock_irq(&queue->lock);
	if (nvmet_rdma_queue_move(queue, NVMET_RDMA_Q_LIVE))
		nvmet_rdma_queue_io(queue);
	spin_unlock_irq(&queue->lock);
}

/**
 * nvmet_rdma_install_queue() - accept Connect (nvmet_fabrics_ops.install_queue)
 * @sq: the core's part of the queue, which has a controller now
 *
 * The core accepts a queue of a controller by any port, but knows only the port by which the
 * controller was created. That port has to outlive all queues of the controller.
 *
 * Context: may sleep. Return: 0, or an NVMe status, with the Do Not Retry bit if the
 * controller belongs to another port.
 */
u16 nvmet_rdma_install_queue(struct nvmet_sq *sq)
{
	struct nvmet_rdma_queue *queue =
		container_of(sq, struct nvmet_rdma_queue, nvme_sq);
	enum nvmet_rdma_refusal why;
	bool proved;

	if (queue->connected)
		return 0;
	if (queue->qid && sq->ctrl->port != queue->port->nport) {
		nvmet_rdma_event(queue, NVMET_RDMA_EV_PROTOCOL);
		nvmet_rdma_queue_warn(queue,
				      "Connect rejected: controller %u belongs to another port; check the host's configuration\n",
				      sq->ctrl->cntlid);
		return NVME_SC_CONNECT_INVALID_PARAM | NVME_STATUS_DNR;
	}
	if (!nvmet_rdma_join_ctrl(queue, sq->ctrl, &proved)) {
		nvmet_rdma_queue_warn(queue,
				      "Connect rejected: controller %u is being deleted; the host may retry\n",
				      sq->ctrl->cntlid);
		return NVME_SC_CONNECT_CTRL_BUSY;
	}
	if (!queue->qid && nvmet_rdma_unfinished_wait(queue)) {
		why = NVMET_RDMA_REFUSED_UNFINISHED;
		goto busy;
	}
	if (nvmet_rdma_limits_connected(queue, proved, &why))
		goto busy;
	WRITE_ONCE(queue->connected, true);
	cancel_delayed_work(&queue->deadline);
	nvmet_rdma_host_join(queue);
	nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_CONNECTED);
	trace_nvmet_rdma_connect(queue, sq->ctrl);
	return 0;

busy:
	nvmet_rdma_leave_ctrl(queue);
	nvmet_rdma_count_refusal(queue->port, &queue->peer_addr, queue->qid, why);
	return NVME_SC_CONNECT_CTRL_BUSY;
}

static void nvmet_rdma_deadline(struct work_struct *work)
{
	struct nvmet_rdma_queue *queue =
		container_of(to_delayed_work(work), struct nvmet_rdma_queue,
			     deadline);

	if (READ_ONCE(queue->connected))
		return;
	nvmet_rdma_queue_warn(queue,
			      "no Connect received within %u seconds (connect_tmo); closing the connection\n",
			      nvmet_rdma_connect_tmo);
	nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_NO_CONNECT);
	nvmet_rdma_queue_disconnect(queue);
}

static int nvmet_rdma_queue_set_pi(struct nvmet_rdma_queue *queue)
{
	if (!queue->qid || !queue->port->nport->pi_enable)
		return 0;
	/* The connection uses another device than the port decided for */
	if (!nvmet_rdma_pi_capable(queue->dev->ib))
		return -EOPNOTSUPP;
	queue->pi = true;
	return 0;
}

static void nvmet_rdma_queue_set_limits(struct nvmet_rdma_queue *queue,
					const struct nvmet_rdma_cm_req *req)
{
	queue->qid = req->qid;
	queue->depth = req->depth;
	queue->max_rsps = nvmet_rdma_cm_nr_rsps(req);
	queue->limits.max_len = NVMET_RDMA_MAX_LEN;
	queue->limits.capsule_room = req->qid ? queue->port->icd :
						NVMET_RDMA_ADMIN_ICD;
}

/* Receives for a queue that has no SRQ */
static int nvmet_rdma_queue_own_recvs(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_recv_block *recvs;

	if (queue->srq)
		return 0;
	recvs = nvmet_rdma_recv_block_alloc(queue->dev, nvmet_rdma_recv_nr(queue),
					    queue->limits.capsule_room);
	if (IS_ERR(recvs))
		return PTR_ERR(recvs);
	queue->recvs = recvs;
	return nvmet_rdma_recv_post_all(queue);
}

static u64 rsp_bytes(const struct nvmet_rdma_queue *queue)
{
	return (u64)queue->max_rsps * sizeof(struct nvmet_rdma_rsp);
}

/*
 * Bytes of its own receives, or of those that an SRQ may grow by; data takes whole pages
 * (recv_block.c)
 */
static u64 recv_bytes(const struct nvmet_rdma_queue *queue)
{
	return (u64)nvmet_rdma_recv_nr(queue) *
	       (sizeof(struct nvmet_rdma_cmd) + sizeof(struct nvme_command) +
		PAGE_ALIGN(queue->limits.capsule_room));
}

/* Allocates a queue and initializes all that cannot fail */
static struct nvmet_rdma_queue *
queue_alloc(struct rdma_cm_id *id, struct nvmet_rdma_port *port,
	    struct nvmet_rdma_device *dev, struct nvmet_rdma_peer *quota,
	    const struct nvmet_rdma_cm_req *req)
{
	struct nvmet_rdma_queue *queue;

	queue = kzalloc_node(sizeof(*queue), GFP_KERNEL, ibdev_to_node(dev->ib));
	if (!queue)
		return NULL;
	queue->run = nvmet_rdma_run_alloc(GFP_KERNEL);
	if (!queue->run) {
		kfree(queue);
		return NULL;
	}
	queue->cm_id = id;
	queue->dev = dev;
	queue->port = port;
	queue->peer_addr = id->route.addr.dst_addr;
	queue->number = (u32)atomic_inc_return(&queue_numbers);
	queue->quota = quota;
	nvmet_rdma_queue_set_limits(queue, req);
	spin_lock_init(&queue->lock);
	queue->state = NVMET_RDMA_Q_CONNECTING;
	queue->waiting_end = &queue->waiting;
	nvmet_rdma_recv_chain_init(queue);
	nvmet_rdma_send_init(queue);
	init_completion(&queue->run_ended);
	INIT_LIST_HEAD(&queue->io_queues);
	INIT_DELAYED_WORK(&queue->retry_work, nvmet_rdma_io_retry_work);
	queue->retry_delay = NVMET_RDMA_MIN_RETRY_DELAY;
	INIT_WORK(&queue->release_work, nvmet_rdma_release_work);
	nvmet_rdma_stall_init(queue);
	INIT_DELAYED_WORK(&queue->deadline, nvmet_rdma_deadline);

	nvmet_rdma_drain_init(queue);
	queue->vector = nvmet_rdma_vector_get(dev, !queue->qid);
	return queue;
}

/* Uses an SRQ if there is one, and if the QP can be made with it */
static int queue_create_qp(struct nvmet_rdma_queue *queue)
{
	int ret;

	nvmet_rdma_srq_join(queue, &nvmet_rdma_recv_srq_ops);
	ret = nvmet_rdma_qp_create(queue);
	if (ret && queue->srq) {
		nvmet_rdma_srq_leave(queue);
		ret = nvmet_rdma_qp_create(queue);
	}
	return ret;
}

/**
 * nvmet_rdma_queue_create() - make a queue for a connection request
 * @id: the CM's ID of the connection; it stays the caller's if this fails
 * @port: the port; the queue holds a reference
 * @dev: the device, from nvmet_rdma_device_get(); the queue's on success
 * @quota: the host, from nvmet_rdma_limits_enter(); the queue's on success
 * @req: what the host asks for, within limits
 *
 * All receives are posted. Events of @id have to go to the queue next.
 *
 * Context: may sleep. Return: the queue or an ERR_PTR().
 */
struct nvmet_rdma_queue *
nvmet_rdma_queue_create(struct rdma_cm_id *id, struct nvmet_rdma_port *port,
			struct nvmet_rdma_device *dev,
			struct nvmet_rdma_peer *quota,
			const struct nvmet_rdma_cm_req *req)
{
	bool known = nvmet_rdma_limits_knows_host(quota);
	struct nvmet_rdma_queue *queue;
	int ret;

	queue = queue_alloc(id, port, dev, quota, req);
	if (!queue)
		return ERR_PTR(-ENOMEM);
	ret = nvmet_rdma_queue_set_pi(queue);
	if (ret)
		goto err_free_queue;
	ret = nvmet_rdma_limits_charge(queue, rsp_bytes(queue) +
				       (known ? 0 : recv_bytes(queue)));
	if (ret)
		goto err_free_queue;
	ret = queue_create_qp(queue);
	if (ret)
		goto err_free_recvs;
	if (known && !queue->srq)
		ret = nvmet_rdma_limits_charge(queue, recv_bytes(queue));
	if (ret)
		goto err_destroy_qp;
	ret = nvmet_rdma_rsp_grow(queue);
	if (ret)
		goto err_destroy_qp;
	nvmet_rdma_cq_init(&queue->nvme_cq);
	ret = nvmet_rdma_sq_init(&queue->nvme_sq, &queue->nvme_cq);
	if (ret)
		goto err_put_cq;
	ret = nvmet_rdma_queue_own_recvs(queue);
	if (ret)
		goto err_destroy_sq;

	nvmet_rdma_port_add_queue(port);
	return queue;

	/* The QP was not connected: no receive completes, and none is left */
err_destroy_sq:
	nvmet_sq_destroy(&queue->nvme_sq);
err_put_cq:
	nvmet_rdma_cq_put(&queue->nvme_cq);
	nvmet_rdma_rsp_free(queue);
err_destroy_qp:
	nvmet_rdma_qp_destroy(queue);
err_free_recvs:
	nvmet_rdma_queue_free_recvs(queue);
	nvmet_rdma_limits_uncharge(queue);
err_free_queue:
	nvmet_rdma_vector_put(dev, queue->vector, !queue->qid);
	kfree(queue->run);
	kfree(queue);
	return ERR_PTR(ret);
}
