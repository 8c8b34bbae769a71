// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that outlive their connection.
 *
 * A connection may end while the disk has commands of it. The host repeats them by its next
 * connection, and then sends newer ones. A write that the disk has held back meanwhile would
 * overwrite these. So a host gets no new controller of a subsystem as long as a disk of the
 * subsystem may have a command of one of the host's ended queues (host_stats.c). Connect is
 * answered with "controller busy", and a host that reconnects tries again.
 *
 * Most disks complete their commands within milliseconds, and a host that resets its controller
 * connects as soon as that. So Connect waits for them, until two seconds after the end of the
 * queue. It keeps a work waiting meanwhile, so only some may wait at a time. A Connect that comes
 * later is answered at once. So a disk that hangs takes no places to wait from other hosts.
 *
 * Marks: a queue that ends is marked if its host has authenticated and has commands under way, or
 * if the first command proves that afterwards (io.c). With an admin queue its controller's I/O
 * queues end (queue_list.c); it is marked until then. The mark of an I/O queue is taken away when
 * nothing runs the queue any more and no command is being executed, or else when the core has none
 * any more. So a host does not wait for a dead HCA. It waits longer than for its own commands if
 * so many queues wait for a hanging disk that the release finds no worker.
 *
 * This is about connections whose end this target knows of, and about one target. A controller
 * that the host has beside the ended one is not touched: the host goes on by it.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/sched.h>
#include <linux/wait.h>

#include "debugfs.h"
#include "error.h"
#include "params.h"
#include "port.h"
#include "unfinished.h"

/* For how long after the end of a queue Connect waits, and how many at a time may */
#define WAIT		(2 * HZ)
#define MAX_WAITERS	32
/* How often it looks whether its own connection has ended */
#define LOOK		(HZ / 10)

/* Queues that finish */
static DECLARE_WAIT_QUEUE_HEAD(finish);
static atomic_t waiters;

/* Less than the deadline for Connect, which runs on */
static unsigned long most_wait(void)
{
	return min_t(unsigned long, WAIT, nvmet_rdma_connect_tmo * HZ / 2);
}

/* Returns true if Connect has to be refused */
static bool wait_for_finish(struct nvmet_rdma_queue *queue)
{
	unsigned long most = most_wait(), until = jiffies + most, since;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	bool unfinished;

	add_wait_queue(&finish, &wait);
	while ((unfinished = nvmet_rdma_host_unfinished(queue->nvme_sq.ctrl, &since))) {
		if (time_after(jiffies, since + most) || time_after(jiffies, until) ||
		    !nvmet_rdma_queue_is_live(queue))
			break;
		wait_woken(&wait, TASK_IDLE, LOOK);
	}
	remove_wait_queue(&finish, &wait);
	return unfinished;
}

/**
 * nvmet_rdma_unfinished_wait() - wait for commands of a host's ended connections
 * @queue: a new admin queue, which has a controller
 *
 * Context: a work; sleeps for up to two seconds.
 * Return: true if a disk may still have some, with the reason in the log.
 */
bool nvmet_rdma_unfinished_wait(struct nvmet_rdma_queue *queue)
{
	const struct nvmet_ctrl *ctrl = queue->nvme_sq.ctrl;
	bool unfinished = true;
	unsigned long since;

	if (!READ_ONCE(nvmet_rdma_refuse_unfinished) || !nvmet_rdma_host_unfinished(ctrl, &since))
		return false;
	if (atomic_inc_return(&waiters) <= MAX_WAITERS &&
	    time_before(jiffies, since + most_wait())) {
		nvmet_rdma_port_event(queue->port, NVMET_RDMA_PORT_HELD);
		unfinished = wait_for_finish(queue);
	}
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
 * Context: the release; may sleep.
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
