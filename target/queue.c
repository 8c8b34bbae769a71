// SPDX-License-Identifier: GPL-2.0
/*
 * Queues: a host's connections.
 *
 * A queue is made by nvmet_rdma_queue_create() for a connection request, seen
 * by the rest of the module from nvmet_rdma_queue_publish() on, and ended by
 * nvmet_rdma_queue_disconnect(), which may be called any number of times, in
 * any context and for any reason: the one call that moves the state queues the
 * release work, which owns the queue from then on:
 * nvmet_rdma_release_work(); see release.c.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include <linux/hashtable.h>

#include "nvmet_rdma.h"
#include "trace.h"

/*
 * Deadlines, listening, shared receives, the look for stalls: all of them sleep,
 * none for longer than memory or the RDMA stack takes. What may wait for a disk
 * must not be here, or one that hangs would stop ports and deadlines of all.
 */
struct workqueue_struct *nvmet_rdma_wq;
/* Executes commands, and so may wait for a disk; on the CPU of the completions */
struct workqueue_struct *nvmet_rdma_io_wq;
/* Waits for hosts, see queue_release() */
static struct workqueue_struct *unready_wq;

/*
 * Protects these, and removing of every device. Innermost but for the lock
 * of a queue: taken below the core's subsys->lock.
 */
static DEFINE_MUTEX(queues_mutex);
static LIST_HEAD(queues);
/*
 * By their controller, from Connect on: a bucket has those of a few controllers. Each I/O
 * queue looks for the admin queue of its own, so that these have a table to themselves.
 */
static DEFINE_HASHTABLE(admin_queues, 12);
static DEFINE_HASHTABLE(io_queues, 12);
/* Number of the last visit to all queues */
static u32 visits;
static atomic_t queue_numbers;

/**
 * nvmet_rdma_queue_move() - the one place where a queue's state changes
 * @queue: the queue, its lock held
 * @to: the state to enter
 *
 * Context: any. Return: false if the table of state.c has no such move.
 */
bool nvmet_rdma_queue_move(struct nvmet_rdma_queue *queue,
			   enum nvmet_rdma_queue_state to)
{
	lockdep_assert_held(&queue->lock);
	if (!nvmet_rdma_queue_may_move(queue->state, to))
		return false;
	trace_nvmet_rdma_queue_state(queue, to);
	WRITE_ONCE(queue->state, to);
	return true;
}

/**
 * nvmet_rdma_queue_is_live() - is the queue established and not being ended?
 * @queue: the queue
 *
 * Context: any. Return: what was true a moment ago.
 */
bool nvmet_rdma_queue_is_live(struct nvmet_rdma_queue *queue)
{
	return READ_ONCE(queue->state) == NVMET_RDMA_Q_LIVE;
}

/**
 * nvmet_rdma_queue_io() - there are commands to be started or executed
 * @queue: the queue, its lock held or its io_work running
 *
 * Context: any.
 */
void nvmet_rdma_queue_io(struct nvmet_rdma_queue *queue)
{
	queue_work(nvmet_rdma_io_wq, &queue->io_work);
}

/**
 * nvmet_rdma_queue_established() - the host has the answer of the CM
 * @queue: the queue
 *
 * Capsules that came before are started now, but not here: the CM holds its
 * handler's lock, which must not depend on what a command waits for.
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

/*
 * Over iWARP nobody can end a connection that has been accepted before the host sends its
 * first frame: rdma_disconnect() and rdma_destroy_id() wait for that, with software iWARP
 * for ever. So the releases of these are not where those of others wait their turn.
 */
static void queue_release(struct nvmet_rdma_queue *queue, bool was_live)
{
	bool waits = !was_live &&
		     rdma_protocol_iwarp(queue->dev->ib, queue->cm_id->port_num);

	queue_work(waits ? unready_wq : queue->dev->release_wq,
		   &queue->release_work);
}

/**
 * nvmet_rdma_queue_disconnect() - end a queue
 * @queue: the queue; it is gone some time after
 *
 * Context: any.
 */
void nvmet_rdma_queue_disconnect(struct nvmet_rdma_queue *queue)
{
	unsigned long flags;
	bool was_live;

	spin_lock_irqsave(&queue->lock, flags);
	was_live = queue->state == NVMET_RDMA_Q_LIVE;
	if (nvmet_rdma_queue_move(queue, NVMET_RDMA_Q_DISCONNECTING) &&
	    queue->published)
		queue_release(queue, was_live);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static struct nvmet_rdma_queue *find_admin_queue(const struct nvmet_ctrl *ctrl)
{
	struct nvmet_rdma_queue *queue;

	lockdep_assert_held(&queues_mutex);
	hash_for_each_possible(admin_queues, queue, ctrl_entry,
			       (unsigned long)ctrl) {
		if (queue->ctrl == ctrl)
			return queue;
	}
	return NULL;
}

/*
 * A controller that is being ended can be found, and given queues, as long as one of
 * its queues waits for a disk. Who ends it goes through the same table: either it finds
 * this queue, or this finds that the admin queue has ended. Returns whether the queue is
 * the controller's now, and in @proved whether it may do without a proof of its own.
 */
static bool join_ctrl(struct nvmet_rdma_queue *queue, struct nvmet_ctrl *ctrl,
		      bool *proved)
{
	struct nvmet_rdma_queue *admin = queue;
	bool joins;

	mutex_lock(&queues_mutex);
	if (queue->qid)
		admin = find_admin_queue(ctrl);
	joins = admin && nvmet_rdma_queue_is_live(admin) &&
		!list_empty(&queue->entry);
	if (joins) {
		queue->ctrl = ctrl;
		if (queue->qid)
			hash_add(io_queues, &queue->ctrl_entry,
				 (unsigned long)ctrl);
		else
			hash_add(admin_queues, &queue->ctrl_entry,
				 (unsigned long)ctrl);
		*proved = READ_ONCE(admin->proved) &&
			  admin->peer_host == queue->peer_host;
	}
	mutex_unlock(&queues_mutex);
	return joins;
}

/* Undoes join_ctrl() */
static void leave_ctrl(struct nvmet_rdma_queue *queue)
{
	mutex_lock(&queues_mutex);
	queue->ctrl = NULL;
	hash_del(&queue->ctrl_entry);
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_install_queue() - Connect has come (nvmet_fabrics_ops.install_queue)
 * @sq: the core's part of the queue, which has a controller now
 *
 * The core lets a queue come to a controller by any port, and knows of the port that
 * the controller came by only: that has to outlive all its queues.
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
				      "expected Connect for a controller of this port, %u came, which is another port's; refusing it\n",
				      sq->ctrl->cntlid);
		return NVME_SC_CONNECT_INVALID_PARAM | NVME_STATUS_DNR;
	}
	if (!join_ctrl(queue, sq->ctrl, &proved)) {
		nvmet_rdma_queue_warn(queue,
				      "controller %u is being ended; refusing Connect, the host may try again\n",
				      sq->ctrl->cntlid);
		return NVME_SC_CONNECT_CTRL_BUSY;
	}
	if (nvmet_rdma_limits_connected(queue, proved, &why)) {
		leave_ctrl(queue);
		nvmet_rdma_refused(queue->port, &queue->peer, queue->qid, why);
		return NVME_SC_CONNECT_CTRL_BUSY;
	}
	WRITE_ONCE(queue->connected, true);
	cancel_delayed_work(&queue->deadline);
	nvmet_rdma_host_join(queue);
	nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_CONNECTED);
	trace_nvmet_rdma_connect(queue, sq->ctrl);
	return 0;
}

/**
 * nvmet_rdma_queue_fail() - end a queue, and its controller with it
 * @queue: the queue; the caller has said why
 *
 * A transport error ends the association of host and controller (NVMe over
 * Fabrics, "Transport Error"), so that the host does not find one queue dead
 * and go on with the others.
 *
 * Context: any.
 */
void nvmet_rdma_queue_fail(struct nvmet_rdma_queue *queue)
{
	WRITE_ONCE(queue->failed, true);
	nvmet_rdma_queue_disconnect(queue);
}

/**
 * nvmet_rdma_wc_failed() - a work request completed in error
 * @queue: its queue
 * @wc: its completion
 * @what: what it was, for the log
 *
 * A flush is what is left of a connection that ends for another reason. It may
 * be the only sign of it, where the device has no event for a QP in error.
 *
 * Context: any.
 */
void nvmet_rdma_wc_failed(struct nvmet_rdma_queue *queue,
			  const struct ib_wc *wc, const char *what)
{
	trace_nvmet_rdma_work_failed(queue, wc);
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		nvmet_rdma_event(queue, NVMET_RDMA_EV_FLUSH);
		nvmet_rdma_queue_disconnect(queue);
		return;
	}
	nvmet_rdma_event(queue, NVMET_RDMA_EV_WC_ERROR);
	if (nvmet_rdma_queue_is_live(queue))
		nvmet_rdma_queue_warn(queue,
				      "%s failed: %s (vendor error %#x); closing the connection, see the host's log and the fabric\n",
				      what, ib_wc_status_msg(wc->status),
				      wc->vendor_err);
	nvmet_rdma_queue_fail(queue);
}

/**
 * nvmet_rdma_completed_twice() - for work requests that are not under way
 * @cq: the completion queue
 * @wc: a completion of one that has completed before
 *
 * A completion moves a receive or a response on; a second one would make two of it.
 * So it stands in the place of the handler from the first one until what it belongs
 * to is posted again.
 *
 * Context: a completion handler of the queue.
 */
void nvmet_rdma_completed_twice(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_queue *queue = wc->qp->qp_context;

	nvmet_rdma_event(queue, NVMET_RDMA_EV_WC_ERROR);
	nvmet_rdma_queue_warn(queue,
			      "%s completed the same work request twice; closing the connection, check the device and its firmware\n",
			      queue->dev->ib->name);
	nvmet_rdma_queue_fail(queue);
}

static void nvmet_rdma_deadline(struct work_struct *work)
{
	struct nvmet_rdma_queue *queue =
		container_of(to_delayed_work(work), struct nvmet_rdma_queue,
			     deadline);

	if (READ_ONCE(queue->connected))
		return;
	nvmet_rdma_queue_warn(queue,
			      "expected Connect within %u seconds, none came; closing the connection\n",
			      nvmet_rdma_connect_tmo);
	nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_NO_CONNECT);
	nvmet_rdma_queue_disconnect(queue);
}

static int nvmet_rdma_queue_set_pi(struct nvmet_rdma_queue *queue)
{
	if (!queue->qid || !queue->port->nport->pi_enable)
		return 0;
	/* By another device than the one that the port decided for */
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
	queue->nr_rsps = nvmet_rdma_cm_nr_rsps(req);
	queue->limits.max_len = NVMET_RDMA_MAX_LEN;
	queue->limits.capsule_room = req->qid ? queue->port->icd :
						NVMET_RDMA_ADMIN_ICD;
}

static u32 next_vector(const struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_device *dev = queue->dev;
	atomic_t *turns = queue->qid ? &dev->io_vectors : &dev->admin_vectors;

	return (u32)atomic_inc_return(turns) % dev->ib->num_comp_vectors;
}

/* Receives for a queue that has no SRQ */
static int nvmet_rdma_queue_own_recvs(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_recvs *recvs;

	if (queue->srq)
		return 0;
	recvs = nvmet_rdma_recvs_alloc(queue->dev, nvmet_rdma_recv_nr(queue),
				       queue->limits.capsule_room);
	if (IS_ERR(recvs))
		return PTR_ERR(recvs);
	queue->recvs = recvs;
	return nvmet_rdma_recv_post_all(queue);
}

static u64 rsp_bytes(const struct nvmet_rdma_queue *queue)
{
	return (u64)queue->nr_rsps * sizeof(struct nvmet_rdma_rsp);
}

/* Of receives of its own, or that an SRQ grows by; room for data is whole pages (recv.c) */
static u64 recv_bytes(const struct nvmet_rdma_queue *queue)
{
	return (u64)nvmet_rdma_recv_nr(queue) *
	       (sizeof(struct nvmet_rdma_cmd) + sizeof(struct nvme_command) +
		PAGE_ALIGN(queue->limits.capsule_room));
}

/**
 * nvmet_rdma_queue_create() - make a queue for a connection request
 * @id: the CM's ID of the connection; it stays the caller's if this fails
 * @port: the port; the queue holds a reference
 * @dev: the device, from nvmet_rdma_device_get(); the queue's on success
 * @peer_host: the host, from nvmet_rdma_limits_enter(); the queue's on success
 * @req: what the host asks for, within limits
 *
 * All receives are posted. Events of @id have to go to the queue next.
 *
 * Context: may sleep. Return: the queue or an ERR_PTR().
 */
struct nvmet_rdma_queue *
nvmet_rdma_queue_create(struct rdma_cm_id *id, struct nvmet_rdma_port *port,
			struct nvmet_rdma_device *dev,
			struct nvmet_rdma_peer *peer_host,
			const struct nvmet_rdma_cm_req *req)
{
	bool known = nvmet_rdma_limits_has_proof(peer_host);
	struct nvmet_rdma_queue *queue;
	int ret;

	queue = kzalloc_node(sizeof(*queue), GFP_KERNEL, ibdev_to_node(dev->ib));
	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->cm_id = id;
	queue->dev = dev;
	queue->port = port;
	queue->peer = id->route.addr.dst_addr;
	queue->number = (u32)atomic_inc_return(&queue_numbers);
	queue->peer_host = peer_host;
	nvmet_rdma_queue_set_limits(queue, req);
	spin_lock_init(&queue->lock);
	queue->state = NVMET_RDMA_Q_CONNECTING;
	queue->waiting_end = &queue->waiting;
	spin_lock_init(&queue->recv_chain.lock);
	nvmet_rdma_send_init(queue);
	INIT_WORK(&queue->io_work, nvmet_rdma_io_work);
	INIT_DELAYED_WORK(&queue->retry_work, nvmet_rdma_io_retry_work);
	queue->retry_delay = NVMET_RDMA_LEAST_RETRY;
	INIT_WORK(&queue->release_work, nvmet_rdma_release_work);
	nvmet_rdma_stall_init(queue);
	INIT_DELAYED_WORK(&queue->deadline, nvmet_rdma_deadline);

	nvmet_rdma_drain_init(queue);
	queue->vector = next_vector(queue);

	ret = nvmet_rdma_queue_set_pi(queue);
	if (ret)
		goto err_free_queue;
	ret = nvmet_rdma_limits_charge(queue, rsp_bytes(queue) +
				       (known ? 0 : recv_bytes(queue)));
	if (ret)
		goto err_free_queue;
	nvmet_rdma_srq_join(queue);
	ret = nvmet_rdma_qp_create(queue);
	if (ret && queue->srq) {
		nvmet_rdma_srq_leave(queue);
		ret = nvmet_rdma_qp_create(queue);
	}
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
	kfree(queue);
	return ERR_PTR(ret);
}

/**
 * nvmet_rdma_queue_publish() - let others find, and end, a new queue
 * @queue: the queue; it is the context of its CM ID
 *
 * From now on only nvmet_rdma_queue_disconnect() ends it, which this does
 * itself if the device is being removed. An event of the QP may have ended it
 * already, before there was anything to take down by. The queue, and so its CM
 * ID, stays until the handler of the connection request has returned.
 *
 * Context: the handler of the connection request; may sleep.
 */
void nvmet_rdma_queue_publish(struct nvmet_rdma_queue *queue)
{
	mutex_lock(&queues_mutex);
	list_add_tail(&queue->entry, &queues);
	queue->visited = visits;
	queue_delayed_work(nvmet_rdma_wq, &queue->deadline,
			   nvmet_rdma_connect_tmo * HZ);
	spin_lock_irq(&queue->lock);
	queue->published = true;
	/* it was never LIVE: the CM says so only when this handler has returned */
	if (queue->state == NVMET_RDMA_Q_DISCONNECTING)
		queue_release(queue, false);
	spin_unlock_irq(&queue->lock);
	if (queue->dev->removing)
		nvmet_rdma_queue_disconnect(queue);
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_queue_unpublish() - nobody finds the queue any more
 * @queue: the queue, published and being released
 *
 * Context: may sleep.
 */
void nvmet_rdma_queue_unpublish(struct nvmet_rdma_queue *queue)
{
	mutex_lock(&queues_mutex);
	list_del_init(&queue->entry);
	hash_del(&queue->ctrl_entry);
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_disconnect_device() - end all queues of a device
 * @dev: the device
 * @removing: it takes no queue after this
 *
 * Does not wait for them.
 *
 * Context: may sleep.
 */
void nvmet_rdma_disconnect_device(struct nvmet_rdma_device *dev, bool removing)
{
	struct nvmet_rdma_queue *queue;

	mutex_lock(&queues_mutex);
	dev->removing |= removing;
	list_for_each_entry(queue, &queues, entry) {
		if (queue->dev == dev)
			nvmet_rdma_queue_disconnect(queue);
	}
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_disconnect_port() - end all queues of a port
 * @port: the port; it does not listen any more
 *
 * Does not wait for them.
 *
 * Context: may sleep.
 */
void nvmet_rdma_disconnect_port(struct nvmet_rdma_port *port)
{
	struct nvmet_rdma_queue *queue;

	mutex_lock(&queues_mutex);
	list_for_each_entry(queue, &queues, entry) {
		if (queue->port == port)
			nvmet_rdma_queue_disconnect(queue);
	}
	mutex_unlock(&queues_mutex);
}

/* Queues that are visited while others wait to come or go */
#define VISITED_AT_ONCE	32

/* Returns whether there are more. Those that were visited, and new ones, are behind them. */
static bool visit_some(void (*visit)(struct nvmet_rdma_queue *queue))
{
	struct nvmet_rdma_queue *queue;
	unsigned int i;

	lockdep_assert_held(&queues_mutex);
	for (i = 0; i < VISITED_AT_ONCE; i++) {
		queue = list_first_entry_or_null(&queues,
						 struct nvmet_rdma_queue, entry);
		if (!queue || queue->visited == visits)
			return false;
		queue->visited = visits;
		list_move_tail(&queue->entry, &queues);
		visit(queue);
	}
	return true;
}

/**
 * nvmet_rdma_visit_queues() - visit all queues
 * @visit: called for each; may end the queue, does not sleep
 *
 * Context: may sleep; one at a time.
 */
void nvmet_rdma_visit_queues(void (*visit)(struct nvmet_rdma_queue *queue))
{
	bool more;

	mutex_lock(&queues_mutex);
	visits++;
	mutex_unlock(&queues_mutex);
	do {
		mutex_lock(&queues_mutex);
		more = visit_some(visit);
		mutex_unlock(&queues_mutex);
		cond_resched();
	} while (more);
}

/**
 * nvmet_rdma_delete_ctrl() - end all queues of a controller
 * @ctrl: the core's controller
 *
 * Does not wait for them: the core calls with subsys->lock held, which freeing
 * a controller takes.
 *
 * Context: may sleep.
 */
void nvmet_rdma_delete_ctrl(struct nvmet_ctrl *ctrl)
{
	struct nvmet_rdma_queue *queue;

	mutex_lock(&queues_mutex);
	queue = find_admin_queue(ctrl);
	if (queue)
		nvmet_rdma_queue_disconnect(queue);
	hash_for_each_possible(io_queues, queue, ctrl_entry,
			       (unsigned long)ctrl) {
		if (queue->ctrl == ctrl)
			nvmet_rdma_queue_disconnect(queue);
	}
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_ctrl_peer() - the address of a controller's host
 * @ctrl: the core's controller
 * @buf: where to print it
 * @len: room in @buf
 *
 * A queue that is found in the table is not freed before the lock is.
 *
 * Context: may sleep. Return: length printed, or -ENOTCONN if the controller
 * has lost its admin queue.
 */
ssize_t nvmet_rdma_ctrl_peer(const struct nvmet_ctrl *ctrl, char *buf,
			     size_t len)
{
	struct nvmet_rdma_queue *queue;
	ssize_t ret = -ENOTCONN;

	mutex_lock(&queues_mutex);
	queue = find_admin_queue(ctrl);
	if (queue)
		ret = snprintf(buf, len, "%pISc", &queue->peer);
	mutex_unlock(&queues_mutex);
	return ret;
}

/**
 * nvmet_rdma_queues_register() - make the workqueues
 *
 * Commands and releases, which may wait for a disk, run as much at once as the kernel lets
 * them: a host that connects again and again has a release of each time wait for a disk
 * that hangs. What is beyond that many, 512 or more, waits its turn. What releases queues
 * that were live is made with each device.
 * Commands may be what frees memory, if this machine is its own host.
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_queues_register(void)
{
	nvmet_rdma_wq = alloc_workqueue("nvmet-rdma-wq", WQ_UNBOUND, 0);
	if (!nvmet_rdma_wq)
		return -ENOMEM;
	nvmet_rdma_io_wq = alloc_workqueue("nvmet-rdma-io",
					   NVMET_RDMA_WQ_PERCPU | WQ_HIGHPRI |
					   WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	if (!nvmet_rdma_io_wq)
		goto err_destroy_wq;
	unready_wq = alloc_workqueue("nvmet-rdma-unready", WQ_UNBOUND,
				     WQ_UNBOUND_MAX_ACTIVE);
	if (!unready_wq)
		goto err_destroy_io;
	return 0;

err_destroy_io:
	destroy_workqueue(nvmet_rdma_io_wq);
err_destroy_wq:
	destroy_workqueue(nvmet_rdma_wq);
	return -ENOMEM;
}

/**
 * nvmet_rdma_queues_unregister() - wait for the last release
 *
 * Releases have ended with their devices, but for those on unready_wq, which goes first.
 * What may still run of one is its last steps, after it has given its device back: they
 * queue nothing here. It has cancelled the works of its queue, and the users of
 * nvmet_rdma_wq are gone, each having cancelled its own.
 *
 * Context: may sleep; there is no device any more, so there is no queue.
 */
void nvmet_rdma_queues_unregister(void)
{
	destroy_workqueue(unready_wq);
	destroy_workqueue(nvmet_rdma_io_wq);
	destroy_workqueue(nvmet_rdma_wq);
}
