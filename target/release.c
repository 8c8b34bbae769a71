// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a queue.
 *
 * What nvmet_rdma_release_work() does, and why it is complete:
 *
 *  1. The state is DISCONNECTING. No command gets a response any more, and nobody who checks
 *     the state from now on posts a receive of the queue's own. Taking and releasing the
 *     handler lock of the CM ID waits for a handler that was about to accept. Then the host is
 *     told, which shall not have to wait for a disk. nvmet_rdma_run_stop() waits for the work
 *     that runs the queue, for as long as one of its commands waits for a disk. No work runs
 *     the queue after that, so no command is started or executed. That work was the last to
 *     queue retry_work, which ends next. If no work has run the queue, its look at the
 *     completion queue is made up for.
 *  2. nvmet_rdma_drain() moves the QP to the error state: whatever is posted from now on is
 *     flushed. READs that were under way end, by a flush or because of the state, in
 *     read_done() of send.c, and drop the core's reference there.
 *  3. Waiting commands hold nothing of the core: giving their receives back is enough. Commands
 *     whose data was read and not yet written to the disk, or which a full disk has sent back
 *     (bdev.c), hold a reference, which is dropped. What a disk sends back from now on is
 *     completed with an error. Dropped is also the reference of a READ that a dead HCA never
 *     completes.
 *  4. nvmet_sq_destroy() completes what the core has parked (Asynchronous Event Requests). It
 *     waits until every reference is dropped: by a READ that was flushed, or after
 *     nvmet_rdma_queue_response() has returned. The references do not depend on send credit,
 *     on the host or on the HCA, because no holder of one waits for these. A response may be
 *     collected by then and not posted (send.c). The handler that collects the response of a
 *     command with protection information ended before the marker of the first drain. So
 *     nothing is collected any more, and nvmet_rdma_send_stop() waits until all that was
 *     collected is posted, and its receives are given back. Then nothing can post any more.
 *  5. Responses and receives that were posted between 2 and 4 are in the QP's queues behind the
 *     first drain. The second drain ends them. Then the last shared receive that the QP has
 *     taken is waited for, and handled.
 *  6. Now nothing of the queue is in the HCA or in the core, and nothing counts any more. Its
 *     file in debugfs is removed, which waits for readers, and its counts are added to its
 *     host's. What rdma_rw did for responses that could not be posted is undone first, as that
 *     needs the QP. Then the QP is destroyed, whose events use the CM ID, and then the CM ID.
 *     Destroying the ID waits for a running handler, which needs the queue, and is never done
 *     from a handler. No event follows it. Buffers and receives, the queue's own or its share
 *     of an SRQ, are freed after the QP: a dead HCA may access them as long as it has the QP.
 *     The memory of the queue is freed last.
 *  7. Then the references are dropped: of the device, whose removal waits for them, and of the
 *     port, whose count of queues the core's port depends on.
 *
 * Releases have workqueues of their own: each device has one (device.c), and one is for releases
 * that wait for hosts (wq.c). Steps 2 to 6 call the driver of the device, which may hang with
 * its firmware: releases on other devices do not wait for that. Steps 1 and 4 wait as long as
 * a disk takes, or over iWARP for a host that has not sent its first frame. So nothing that
 * others wait for may be queued behind them: neither the module's other works nor those of the
 * core, whose workqueue executes the very commands that step 4 waits for. The workqueues are
 * unbound, because releases sleep. They are not for memory reclaim, as freeing a controller
 * waits for work on system workqueues.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include "connection.h"
#include "debugfs.h"
#include "error.h"
#include "limits.h"
#include "list.h"
#include "qp.h"
#include "recv.h"
#include "run.h"
#include "send.h"
#include "srq.h"
#include "unfinished.h"

/* No command is added any more in this state */
static void nvmet_rdma_queue_drop_waiting(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_cmd *cmd, *next;

	spin_lock_irq(&queue->lock);
	cmd = queue->waiting;
	queue->waiting = NULL;
	queue->waiting_end = &queue->waiting;
	queue->nr_waiting = 0;
	spin_unlock_irq(&queue->lock);
	for (; cmd; cmd = next) {
		next = cmd->next;
		nvmet_rdma_recv_repost(cmd);
	}
}

/* READs that have ended, and whose command is not executed any more */
static void nvmet_rdma_queue_drop_ready(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_rsp_block *block;
	u32 i;

	for (block = queue->blocks; block; block = block->next) {
		for (i = 0; i < block->nr; i++)
			nvmet_rdma_drop_read(&block->rsps[i]);
	}
}

/**
 * nvmet_rdma_queue_free_recvs() - free a queue's receives, or its share of an SRQ
 * @queue: the queue; its QP is gone, or was never made
 *
 * Context: may sleep.
 */
void nvmet_rdma_queue_free_recvs(struct nvmet_rdma_queue *queue)
{
	if (queue->recvs)
		nvmet_rdma_recv_block_free(queue->dev, queue->recvs);
	nvmet_rdma_srq_leave(queue);
}

/* Steps 2 to 7 of the proof above */
static void nvmet_rdma_queue_destroy(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_device *dev = queue->dev;
	struct nvmet_rdma_port *port = queue->port;

	nvmet_rdma_drain(queue);
	nvmet_rdma_queue_drop_waiting(queue);
	nvmet_rdma_queue_drop_ready(queue);
	nvmet_sq_destroy(&queue->nvme_sq);
	nvmet_rdma_unfinished_end(queue);
	nvmet_rdma_cq_put(&queue->nvme_cq);
	nvmet_rdma_send_stop(queue);
	nvmet_rdma_drain(queue);
	nvmet_rdma_drain_receives(queue);

	spin_lock_irq(&queue->lock);
	nvmet_rdma_queue_move(queue, NVMET_RDMA_Q_DRAINED);
	spin_unlock_irq(&queue->lock);

	nvmet_rdma_debugfs_remove_queue(queue);
	nvmet_rdma_rsp_unmap(queue);
	nvmet_rdma_qp_destroy(queue);
	rdma_destroy_id(queue->cm_id);
	nvmet_rdma_rsp_free(queue);
	nvmet_rdma_queue_free_recvs(queue);
	nvmet_rdma_vector_put(dev, queue->vector, !queue->qid);
	nvmet_rdma_limits_leave(queue->quota, queue->standing,
				queue->charge);
	kfree(queue->subsysnqn);
	kfree(queue->run);
	kfree(queue);
	nvmet_rdma_device_put(dev);
	nvmet_rdma_port_del_queue(port);
}

/*
 * An association ends with a queue of it that fails. But a host may name another host's
 * controller in Connect without being authenticated as that host. Its queue must not end the
 * association. Before the authentication, Connect may still run, and may take the controller
 * away again. After it, the queue holds a reference until nvmet_sq_destroy().
 */
static void end_ctrl(struct nvmet_rdma_queue *queue)
{
	/* pairs with note_authenticated() */
	if (smp_load_acquire(&queue->authenticated))
		nvmet_ctrl_fatal_error(queue->nvme_sq.ctrl);
}

/**
 * nvmet_rdma_release_work() - release a queue
 * @work: of the queue, in the state DISCONNECTING; the queue is freed
 *
 * Context: may sleep.
 */
void nvmet_rdma_release_work(struct work_struct *work)
{
	struct nvmet_rdma_queue *queue =
		container_of(work, struct nvmet_rdma_queue, release_work);
	bool failed;

	nvmet_rdma_queue_unpublish(queue);
	if (!queue->qid)
		nvmet_rdma_unfinished_end(queue);
	rdma_lock_handler(queue->cm_id);
	rdma_unlock_handler(queue->cm_id);
	cancel_delayed_work_sync(&queue->deadline);
	/* From now on posts may fail because of this, so failed is read before */
	failed = READ_ONCE(queue->failed);
	rdma_disconnect(queue->cm_id);

	nvmet_rdma_port_event(queue->port, failed ? NVMET_RDMA_PORT_FAILED :
						    NVMET_RDMA_PORT_ENDED);
	if (failed)
		end_ctrl(queue);
	nvmet_rdma_run_stop(queue);
	cancel_delayed_work_sync(&queue->retry_work);
	cancel_work_sync(&queue->stall_work);
	nvmet_rdma_queue_looked(queue);
	/* No command gets to a disk any more; the HCA may take long to end what it has */
	if (!nvmet_rdma_rsp_executes(queue))
		nvmet_rdma_unfinished_end(queue);
	/* The host may have been authenticated meanwhile */
	if (failed)
		end_ctrl(queue);
	nvmet_rdma_queue_destroy(queue);
}
