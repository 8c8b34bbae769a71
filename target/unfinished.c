// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that outlive their connection.
 *
 * A connection may end while the disk has commands of it. Its host knows nothing of them: it sends
 * them again by its next connection, and then newer ones. A write that the disk has held back
 * meanwhile would overwrite these. So a host gets no new controller of a subsystem as long as one
 * of its ended queues may have a command at a disk of that (host_stats.c). Connect is answered with
 * "controller busy", and the host tries again.
 *
 * Most disks need milliseconds for what they have, and a host that resets its controller connects
 * as soon as that. So Connect waits for a while first. It keeps a work waiting meanwhile, so that
 * only a few may do so at a time: a disk that hangs holds up no other hosts.
 *
 * This is about connections whose end this target knows of, and about one target. A controller
 * that the host has beside the ended one is not touched: the host goes on by it.
 *
 * Ordering: a queue is marked when it ends, and is in its host's list until after the core has none
 * of its commands any more.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/sched.h>
#include <linux/wait.h>

#include "debugfs.h"
#include "error.h"
#include "params.h"
#include "unfinished.h"

/* How long Connect waits, and how many at a time may */
#define WAIT		(2 * HZ)
#define MAX_WAITERS	8

/* Queues that finish */
static DECLARE_WAIT_QUEUE_HEAD(finish);
static atomic_t waiters;

static bool wait_for_finish(const struct nvmet_ctrl *ctrl)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long left = WAIT;
	bool unfinished;

	add_wait_queue(&finish, &wait);
	while ((unfinished = nvmet_rdma_host_is_unfinished(ctrl)) && left)
		left = wait_woken(&wait, TASK_IDLE, left);
	remove_wait_queue(&finish, &wait);
	return unfinished;
}

/**
 * nvmet_rdma_unfinished_wait() - wait for commands of a host's ended connections
 * @queue: a new admin queue, which has a controller
 *
 * Context: a work; sleeps for up to two seconds.
 * Return: true if a disk still has some, with the reason in the log.
 */
bool nvmet_rdma_unfinished_wait(struct nvmet_rdma_queue *queue)
{
	const struct nvmet_ctrl *ctrl = queue->nvme_sq.ctrl;
	bool unfinished = true;

	if (!READ_ONCE(nvmet_rdma_refuse_unfinished) || !nvmet_rdma_host_is_unfinished(ctrl))
		return false;
	if (atomic_inc_return(&waiters) <= MAX_WAITERS)
		unfinished = wait_for_finish(ctrl);
	atomic_dec(&waiters);
	if (unfinished)
		nvmet_rdma_queue_warn(queue,
				      "Connect rejected: a disk of %s still has commands of this host's last connection, which could overwrite newer data; the host may retry\n",
				      ctrl->subsys->subsysnqn);
	return unfinished;
}

/**
 * nvmet_rdma_unfinished_end() - an ended queue has no command at a disk any more
 * @queue: the queue
 *
 * Context: may sleep.
 */
void nvmet_rdma_unfinished_end(struct nvmet_rdma_queue *queue)
{
	if (!queue->unfinished)
		return;
	WRITE_ONCE(queue->unfinished, false);
	atomic_dec(&nvmet_rdma_nr_unfinished);
	if (wq_has_sleeper(&finish))
		wake_up_all(&finish);
}
