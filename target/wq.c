// SPDX-License-Identifier: GPL-2.0
/* Workqueues: what may wait for what. */

#include "core-abi/core.h"
#include "wq.h"

/*
 * Deadlines, listening, shared receives, the look for stalls: all of them sleep,
 * none for longer than memory or the RDMA stack takes. What may wait for a disk
 * must not be here, or one that hangs would stop ports and deadlines of all.
 */
struct workqueue_struct *nvmet_rdma_wq;
/* Executes commands, and so may wait for a disk; on the CPU of the completions */
struct workqueue_struct *nvmet_rdma_io_wq;
/* Waits for commands, and so for disks */
struct workqueue_struct *nvmet_rdma_release_wq;
/* Waits for hosts, see queue_release() in error.c */
struct workqueue_struct *nvmet_rdma_unestablished_wq;

/**
 * nvmet_rdma_wqs_register() - make the workqueues
 *
 * Those that may wait for a disk run as much at once as the kernel lets them: a
 * host that connects again and again has a release of each time wait for a disk
 * that hangs. What is beyond that many, 512 or more, waits its turn.
 * Commands may be what frees memory, if this machine is its own host.
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
	nvmet_rdma_release_wq = alloc_workqueue("nvmet-rdma-release", WQ_UNBOUND,
				     WQ_UNBOUND_MAX_ACTIVE);
	if (!nvmet_rdma_release_wq)
		goto err_destroy_io;
	nvmet_rdma_unestablished_wq = alloc_workqueue("nvmet-rdma-unready", WQ_UNBOUND,
				     WQ_UNBOUND_MAX_ACTIVE);
	if (!nvmet_rdma_unestablished_wq)
		goto err_destroy_release;
	return 0;

err_destroy_release:
	destroy_workqueue(nvmet_rdma_release_wq);
err_destroy_io:
	destroy_workqueue(nvmet_rdma_io_wq);
err_destroy_wq:
	destroy_workqueue(nvmet_rdma_wq);
	return -ENOMEM;
}

/**
 * nvmet_rdma_wqs_unregister() - wait for the last release
 *
 * Releases go first. What may still run of one is its last steps, after it has
 * given its device back: they queue nothing here. It has cancelled the works of
 * its queue, and the users of nvmet_rdma_wq are gone, each having
 * cancelled its own.
 *
 * Context: may sleep; there is no device any more, so there is no queue.
 */
void nvmet_rdma_wqs_unregister(void)
{
	destroy_workqueue(nvmet_rdma_unestablished_wq);
	destroy_workqueue(nvmet_rdma_release_wq);
	destroy_workqueue(nvmet_rdma_io_wq);
	destroy_workqueue(nvmet_rdma_wq);
}
