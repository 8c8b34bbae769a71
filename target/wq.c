// SPDX-License-Identifier: GPL-2.0
/* Workqueues: what may wait for what. */

#include "core-abi/core.h"
#include "wq.h"

/*
 * For deadlines, listeners, shared receives, failed completion queues, stall checks and queries
 * of routes. All of them sleep, but no longer than memory or the RDMA stack takes. Works that
 * may wait for a disk must not be queued here: a disk that hangs would stop ports and deadlines
 * of all hosts.
 */
struct workqueue_struct *nvmet_rdma_wq;
/* Executes commands on the CPU of their completions, and may wait for a disk */
struct workqueue_struct *nvmet_rdma_io_wq;
/*
 * Polls disks in the place of a thread, which may wait for one (thread.c). What it polls for may be
 * what frees memory. Its works sleep for microseconds, and queue themselves again, as there may be
 * only one worker then.
 */
struct workqueue_struct *nvmet_rdma_poll_wq;
/* For releases that wait for hosts, see nvmet_rdma_queue_release() */
struct workqueue_struct *nvmet_rdma_unestablished_wq;

/**
 * nvmet_rdma_wqs_register() - make the workqueues that are no device's
 *
 * Queues that were live are released by a workqueue of their device, see device.c.
 * Workqueues that may wait for a disk run as many works at once as the kernel allows, 512 or
 * more: with a disk that hangs, a host that reconnects again and again has a release
 * waiting for each connection. Commands may be what frees memory, if this machine is its
 * own host.
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_wqs_register(void)
{
	nvmet_rdma_wq = alloc_workqueue("nvmet-rdma-wq", WQ_UNBOUND, 0);
	if (!nvmet_rdma_wq)
		return -ENOMEM;
	nvmet_rdma_io_wq = alloc_workqueue("nvmet-rdma-io",
					   NVMET_RDMA_WQ_PERCPU | WQ_HIGHPRI |
					   WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	if (!nvmet_rdma_io_wq)
		goto err_destroy_wq;
	nvmet_rdma_poll_wq = alloc_workqueue("nvmet-rdma-poll",
					     WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!nvmet_rdma_poll_wq)
		goto err_destroy_io;
	nvmet_rdma_unestablished_wq = alloc_workqueue("nvmet-rdma-unready", WQ_UNBOUND,
						      WQ_UNBOUND_MAX_ACTIVE);
	if (!nvmet_rdma_unestablished_wq)
		goto err_destroy_poll;
	return 0;

err_destroy_poll:
	destroy_workqueue(nvmet_rdma_poll_wq);
err_destroy_io:
	destroy_workqueue(nvmet_rdma_io_wq);
err_destroy_wq:
	destroy_workqueue(nvmet_rdma_wq);
	return -ENOMEM;
}

/**
 * nvmet_rdma_wqs_unregister() - wait for the last release
 *
 * Releases have ended with their devices, except those on nvmet_rdma_unestablished_wq, which
 * are waited for first. Only their last steps may still run, after they have put the device,
 * and these queue no work. A release has cancelled the works of its queue. The other users of
 * nvmet_rdma_wq have cancelled theirs, but for queries of peer.c, which are waited for.
 *
 * Context: may sleep; there is no device any more, so there is no queue.
 */
void nvmet_rdma_wqs_unregister(void)
{
	destroy_workqueue(nvmet_rdma_unestablished_wq);
	destroy_workqueue(nvmet_rdma_poll_wq);
	destroy_workqueue(nvmet_rdma_io_wq);
	destroy_workqueue(nvmet_rdma_wq);
}
