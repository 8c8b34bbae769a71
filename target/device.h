/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: RDMA devices that queues live on */
#ifndef NVMET_RDMA_DEVICE_H
#define NVMET_RDMA_DEVICE_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include <rdma/ib_verbs.h>

#include "buffer.h"
#include "cqs.h"

/**
 * enum nvmet_rdma_last_wqe - does a device report the last receive of a QP with an SRQ?
 * @NVMET_RDMA_LAST_WQE_UNKNOWN: no QP has been drained yet
 * @NVMET_RDMA_LAST_WQE_REPORTED: it has reported one
 * @NVMET_RDMA_LAST_WQE_MISSING: it has not within the deadline
 */
enum nvmet_rdma_last_wqe {
	NVMET_RDMA_LAST_WQE_UNKNOWN,
	NVMET_RDMA_LAST_WQE_REPORTED,
	NVMET_RDMA_LAST_WQE_MISSING,
};

/**
 * struct nvmet_rdma_vector - a completion vector of a device
 * @cqs: completion queues of its queues that have receives of their own
 * @queues: number of its I/O queues, and of its admin queues
 * @polled: all its completion queues; changed under the device's srq_lock, read with RCU
 * @interrupts: those of completion queues that are gone; under the device's srq_lock
 * @wants_thread: a queue has asked for a thread
 * @thread: polls, if there is one (thread.c)
 */
struct nvmet_rdma_vector {
	struct nvmet_rdma_cqs	cqs;
	u32			queues[2];
	struct list_head	polled;
	u64			interrupts;
	bool			wants_thread;
	struct nvmet_rdma_thread *thread;
};

/**
 * struct nvmet_rdma_device - an RDMA device, from its arrival to its removal
 * @entry: in the list of devices
 * @ib: the device, compared by pointer
 * @events: handler of its events
 * @pd: protection domain, valid while @pd_users is not 0
 * @pd_lock: protects @pd, @pd_users and the setup of @bufs
 * @pd_users: queues that use @pd and @bufs, which end with the last. Not @users: drivers are
 *	called under @pd_lock, and never under the lock of the list
 * @users: its queues, from before they take @pd_lock until after they have released it; under
 *	the lock of the list. The removal, which frees @pd_lock, waits until it is 0
 * @release_wq: releases its queues; of each device, as a driver may hang for minutes
 * @removing: no queue may be added any more; set under queues_mutex, see nvmet_rdma_queue_publish()
 * @depth_limit: most commands that a queue on this device can have outstanding
 * @vector_lock: protects @last_vector, and @queues of @vectors
 * @last_vector: the vectors that the last I/O queue and the last admin queue got. They are
 *	chosen separately: otherwise hosts of one I/O queue each would use only every other
 *	vector for these
 * @vectors: its completion vectors
 * @threads_work: starts or ends the threads of @vectors
 * @bufs: data buffers, valid while @pd_users is not 0
 * @srq_size: most receives of an SRQ; 0 if there are no SRQs
 * @rnr_harms: a host that finds no receive is likely to lose its connection; see srq_grow.c
 * @srq_reports: it has reported a low-water mark, so that SRQs may grow by use; see srq_grow.c
 * @srq_lock: protects @srqs, most members of each (srq.c), and the lists of completion queues
 *	(cqs.c)
 * @srqs: shared receive queues, by vector
 * @last_wqe: see there; written by drains and by events of QPs
 * @dead: the HCA did not flush the last QP that was drained, or has failed; written by each
 *	  drain and by the event handler
 */
struct nvmet_rdma_device {
	struct list_head		entry;
	struct ib_device		*ib;
	struct ib_event_handler		events;
	struct ib_pd			*pd;
	struct mutex			pd_lock; /* see above */
	unsigned int			pd_users;
	unsigned int			users;
	struct workqueue_struct		*release_wq;
	bool				removing;
	u32				depth_limit;
	spinlock_t			vector_lock; /* see above */
	u32				last_vector[2];
	struct nvmet_rdma_vector	*vectors;
	struct work_struct		threads_work;
	struct nvmet_rdma_buffers	bufs;
	u32				srq_size;
	bool				rnr_harms;
	bool				srq_reports;
	struct mutex			srq_lock; /* see above */
	DECLARE_HASHTABLE(srqs, 6);
	enum nvmet_rdma_last_wqe	last_wqe;
	bool				dead;
};

/**
 * struct nvmet_rdma_device_ops - operations of higher layers
 * @appeared: a device, or a GID of one, has appeared; any context
 * @disconnect: end all queues of a device, which takes no queue after this if it is being
 *	removed; may sleep
 * @threads: start the threads that queues of a device have asked for, or end them all if not
 *	@may; may sleep
 */
struct nvmet_rdma_device_ops {
	void (*appeared)(void);
	void (*disconnect)(struct nvmet_rdma_device *dev, bool removing);
	void (*threads)(struct nvmet_rdma_device *dev, bool may);
};

int nvmet_rdma_devices_register(const struct nvmet_rdma_device_ops *ops);
void nvmet_rdma_devices_unregister(void);
struct nvmet_rdma_device *nvmet_rdma_device_get(struct ib_device *ib);
void nvmet_rdma_device_put(struct nvmet_rdma_device *dev);
u32 nvmet_rdma_devices_depth_limit(void);
void nvmet_rdma_device_update_threads(struct nvmet_rdma_device *dev);
void nvmet_rdma_devices_update_threads(void);
bool nvmet_rdma_pi_capable(const struct ib_device *ib);
bool nvmet_rdma_devices_have_pi(void);
int nvmet_rdma_device_interrupts(struct nvmet_rdma_device *dev, u32 vector, u64 *interrupts);

/* vector.c */

u32 nvmet_rdma_vector_get(struct nvmet_rdma_device *dev, bool admin);
void nvmet_rdma_vector_put(struct nvmet_rdma_device *dev, u32 vector, bool admin);

#endif /* NVMET_RDMA_DEVICE_H */
