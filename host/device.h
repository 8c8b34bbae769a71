/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices, and what a queue uses of one: send queue slots, and the drain */
#ifndef NVME_RDMA_HOST_DEVICE_H
#define NVME_RDMA_HOST_DEVICE_H

#include <linux/list.h>
#include <linux/workqueue.h>

#include <rdma/ib_verbs.h>

#include "ctrl.h"

/*
 * Most pages that one fast-registration MR covers: 1 MiB in 4 KiB pages, what
 * targets commonly advertise as MDTS. A smaller device limit wins.
 */
#define NVME_RDMA_MAX_MR_PAGES		256

/*
 * Works of a device that allocate memory regions at a time. There are thousands of regions,
 * and a connect or a reset would wait for the CPUs that allocate them.
 */
#define NVME_RDMA_MR_WORKERS	2

/**
 * struct nvme_rdma_device - one RDMA device
 * @dev:	the device; compared by pointer, its GUID need not be unique
 * @entry:	in the device list while the RDMA core has the device
 * @events:	handler of the events of the device
 * @users:	queues, and controllers with an admin queue
 * @queues:	the queues that use it
 * @removing:	its removal has begun, which bars new users
 * @max_inline_segments: data segments that a SEND may carry besides the command
 * @max_mr_pages: 4 KiB pages that one MR can map
 * @pi_pages:	pages of data, and of metadata, that one integrity MR can map; 0
 *		without signature offload
 * @max_depth:	commands that a queue may have outstanding
 * @mr_type:	of the memory regions
 * @up_wq: @down_wq: @free_wq: connect queues, flush them, and free them or their keys; of
 *		each device that has been used, as a driver may hang for minutes, see wq.c
 * @mr_wq:	allocates memory regions
 * @last_mr_jiffies: time of the last allocation, in jiffies
 * @makes_mrs: @makes_sig_mrs: one of the kind was allocated, so a later error means that
 *		the device has no more
 */
struct nvme_rdma_device {
	struct ib_device	*dev;
	struct list_head	entry;
	struct ib_event_handler	events;
	unsigned int		users;
	struct list_head	queues;
	bool			removing;
	unsigned int		max_inline_segments;
	unsigned int		max_mr_pages;
	unsigned int		pi_pages;
	unsigned int		max_depth;
	enum ib_mr_type		mr_type;
	struct workqueue_struct	*up_wq;
	struct workqueue_struct	*down_wq;
	struct workqueue_struct	*free_wq;
	struct workqueue_struct	*mr_wq;
	unsigned long		last_mr_jiffies;
	bool			makes_mrs;
	bool			makes_sig_mrs;
};

/* device.c */
int nvme_rdma_add_device(struct ib_device *ibdev);
int nvme_rdma_get_device(struct nvme_rdma_queue *queue);
void nvme_rdma_release_device(struct nvme_rdma_queue *queue);
void nvme_rdma_set_device(struct nvme_rdma_ctrl *ctrl,
			  struct nvme_rdma_device *ndev);
bool nvme_rdma_device_removing(struct nvme_rdma_device *ndev);
void nvme_rdma_remove_device(struct ib_device *ibdev);

/**
 * nvme_rdma_take_credit() - take send queue slots, see credit.c
 * @queue: the queue
 * @wrs: number of slots
 *
 * Context: any. Return: false if fewer slots are free; none is taken then.
 */
static inline bool nvme_rdma_take_credit(struct nvme_rdma_queue *queue, int wrs)
{
	unsigned int taken = atomic_add_return(wrs, &queue->sq_taken);

	/* pairs with nvme_rdma_give_credit() */
	if (likely((int)(smp_load_acquire(&queue->sq_given) - taken) >= 0))
		return true;
	atomic_sub(wrs, &queue->sq_taken);
	return false;
}

/**
 * nvme_rdma_give_credit() - give send queue slots back
 * @queue: the queue
 * @wrs: number of slots
 *
 * Context: CQ. The handlers of a queue run one at a time, so no other context writes the number.
 */
static inline void nvme_rdma_give_credit(struct nvme_rdma_queue *queue, int wrs)
{
	/* a context that takes the slots sees that the provider has freed them */
	smp_store_release(&queue->sq_given, queue->sq_given + wrs);
}

/* credit.c */
unsigned int nvme_rdma_sq_slots(const struct nvme_rdma_queue *queue);
unsigned int nvme_rdma_sq_slots_free(const struct nvme_rdma_queue *queue);

/* drain.c */
void nvme_rdma_drain_arrived(struct nvme_rdma_drain *drain);
void nvme_rdma_init_drain(struct nvme_rdma_queue *queue);
void nvme_rdma_drain_qp(struct nvme_rdma_queue *queue);

#endif /* NVME_RDMA_HOST_DEVICE_H */
