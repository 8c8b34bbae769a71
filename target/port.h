/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: an address that hosts connect to */
#ifndef NVMET_RDMA_PORT_H
#define NVMET_RDMA_PORT_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <rdma/rdma_cm.h>

#include "core-abi/core.h"
#include "counters.h"

/**
 * struct nvmet_rdma_port - an address that hosts connect to
 * @ref: held by configfs' port and by each queue
 * @nport: the core's port; valid while a queue of the port exists, because the
 *	   core waits for reap_work before it frees it
 * @family: AF_INET or AF_INET6
 * @addr: the address to listen at, if it is known; written under @listen_lock and the lock
 *	  of the list of ports
 * @all_addrs: @addr stands for all addresses of this machine; set before the port listens,
 *	       and constant: configfs does not change the address of a port that is enabled
 * @portid: the number of the port in configfs, for the log
 * @icd: bytes of in-capsule data of I/O queues
 * @depth: most commands that a host may have outstanding on an I/O queue
 * @pi_wanted: configfs asks for T10 protection information; @nport says whether it is
 *	       enabled
 * @entry: in the list of ports, from start to stop of listening
 * @listen_lock: held to make or destroy the listener; never taken by the handler, because
 *		 destroying waits for that
 * @listener: the CM's ID, NULL while there is none
 * @waits_for: why there is none, as an errno; 0 if there is one; written under @listen_lock
 * @tries: tries to listen since the last event; under the lock of the list of ports
 * @listen_work: listens, and retries
 * @reap_work: waits for the queues of the port, on the core's workqueue
 * @queues: number of queues
 * @gone: woken when @queues becomes 0
 * @file: in debugfs
 * @events: counts by enum nvmet_rdma_port_event
 * @refused: counts by enum nvmet_rdma_refusal
 */
struct nvmet_rdma_port {
	struct kref		ref;
	struct nvmet_port	*nport;
	__kernel_sa_family_t	family;
	struct sockaddr_storage	addr;
	bool			all_addrs;
	u16			portid;
	u32			icd;
	u32			depth;
	bool			pi_wanted;
	struct list_head	entry;
	struct mutex		listen_lock; /* see above */
	struct rdma_cm_id	*listener;
	int			waits_for;
	unsigned int		tries;
	struct delayed_work	listen_work;
	struct work_struct	reap_work;
	atomic_t		queues;
	wait_queue_head_t	gone;
	struct dentry		*file;
	atomic64_t		events[NVMET_RDMA_NR_PORT_EVENTS];
	atomic64_t		refused[NVMET_RDMA_NR_REFUSALS];
};

/* Context: any. */
static inline void nvmet_rdma_port_event(struct nvmet_rdma_port *port,
					 enum nvmet_rdma_port_event event)
{
	atomic64_inc(&port->events[event]);
}

static inline void nvmet_rdma_port_free(struct kref *ref)
{
	kfree(container_of(ref, struct nvmet_rdma_port, ref));
}

/* Context: any. */
static inline void nvmet_rdma_port_put(struct nvmet_rdma_port *port)
{
	kref_put(&port->ref, nvmet_rdma_port_free);
}

/*
 * A queue of a port comes, and gets a reference. Context: the handler of the port's
 * listener, which the removal waits for.
 */
static inline void nvmet_rdma_port_add_queue(struct nvmet_rdma_port *port)
{
	kref_get(&port->ref);
	atomic_inc(&port->queues);
}

/* A queue is gone: the port is not touched again, nor is the core's. Context: any. */
static inline void nvmet_rdma_port_del_queue(struct nvmet_rdma_port *port)
{
	if (atomic_dec_and_test(&port->queues))
		wake_up_all(&port->gone);
	nvmet_rdma_port_put(port);
}

#endif /* NVMET_RDMA_PORT_H */
