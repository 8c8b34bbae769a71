// SPDX-License-Identifier: GPL-2.0
/*
 * The list of queues, and those of a controller.
 *
 * A queue is in the list from nvmet_rdma_queue_publish() to nvmet_rdma_queue_unpublish(). Only
 * there do other files find it and end it.
 */

#include <linux/hashtable.h>

#include "connection.h"
#include "error.h"
#include "params.h"
#include "wq.h"

/*
 * Protects the list and the tables, and the removal of every device. Innermost but for the
 * spinlocks of a queue: lock, and sq_lock for a sweep. Taken with the core's subsys->lock held.
 */
static DEFINE_MUTEX(queues_mutex);
static LIST_HEAD(queues);
/*
 * Admin queues by their controller, from Connect on. A bucket has those of a few controllers. An
 * admin queue has a list of the controller's I/O queues.
 */
static DEFINE_HASHTABLE(admin_queues, 12);
/* Number of the last visit to all queues */
static u32 visits;

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

static void end_io_queues(struct nvmet_rdma_queue *admin)
{
	struct nvmet_rdma_queue *queue, *next;

	lockdep_assert_held(&queues_mutex);
	list_for_each_entry_safe(queue, next, &admin->io_queues, io_queues) {
		list_del_init(&queue->io_queues);
		nvmet_rdma_queue_disconnect(queue);
	}
}

/* An admin queue takes the I/O queues of its controller with it */
static void leave_lists(struct nvmet_rdma_queue *queue)
{
	hash_del(&queue->ctrl_entry);
	if (queue->qid)
		list_del_init(&queue->io_queues);
	else
		end_io_queues(queue);
}

/**
 * nvmet_rdma_join_ctrl() - add a queue to its controller
 * @queue: the queue
 * @ctrl: the core's controller
 * @proved: set if the controller's admin queue has authenticated the same host
 *
 * A controller that is being deleted can be found, and get queues, as long as one of its
 * queues waits for a disk. Its deletion uses the same table: either that finds this queue,
 * or this finds that the admin queue has ended.
 *
 * Context: may sleep. Return: whether the queue is the controller's now.
 */
bool nvmet_rdma_join_ctrl(struct nvmet_rdma_queue *queue, struct nvmet_ctrl *ctrl,
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
			list_add_tail(&queue->io_queues, &admin->io_queues);
		else
			hash_add(admin_queues, &queue->ctrl_entry,
				 (unsigned long)ctrl);
		*proved = READ_ONCE(admin->authenticated) &&
			  admin->quota == queue->quota;
	}
	mutex_unlock(&queues_mutex);
	return joins;
}

/**
 * nvmet_rdma_leave_ctrl() - undo nvmet_rdma_join_ctrl()
 * @queue: the queue
 *
 * Context: may sleep.
 */
void nvmet_rdma_leave_ctrl(struct nvmet_rdma_queue *queue)
{
	mutex_lock(&queues_mutex);
	queue->ctrl = NULL;
	leave_lists(queue);
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_queue_publish() - let others find, and end, a new queue
 * @queue: the queue; it is the context of its CM ID
 *
 * From now on only nvmet_rdma_queue_disconnect() ends it. This calls it itself if the device
 * is being removed. An event of the QP may have ended the queue already, before it could
 * be released. The queue and its CM ID stay until the handler of the connection request
 * has returned.
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
	/* it was never LIVE: the CM reports that only after this handler has returned */
	if (queue->state == NVMET_RDMA_Q_DISCONNECTING)
		nvmet_rdma_queue_release(queue, false);
	spin_unlock_irq(&queue->lock);
	if (queue->dev->removing)
		nvmet_rdma_queue_disconnect(queue);
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_queue_unpublish() - remove a queue from the list
 * @queue: the queue, published and being released
 *
 * The I/O queues of an admin queue's controller end, too. Their host may have ended them without
 * this side's knowledge.
 *
 * Context: may sleep.
 */
void nvmet_rdma_queue_unpublish(struct nvmet_rdma_queue *queue)
{
	mutex_lock(&queues_mutex);
	list_del_init(&queue->entry);
	leave_lists(queue);
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

/* Queues that are visited before others may be added and removed */
#define VISITED_AT_ONCE	32

/* Returns whether there are more. Visited and new queues are behind them. */
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
	if (queue) {
		nvmet_rdma_queue_disconnect(queue);
		end_io_queues(queue);
	}
	mutex_unlock(&queues_mutex);
}

/**
 * nvmet_rdma_ctrl_peer() - the address of a controller's host
 * @ctrl: the core's controller
 * @buf: where to print it
 * @len: room in @buf
 *
 * A queue in the table is not freed before the lock is released.
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
		ret = snprintf(buf, len, "%pISc", &queue->peer_addr);
	mutex_unlock(&queues_mutex);
	return ret;
}
