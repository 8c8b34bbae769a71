// SPDX-License-Identifier: GPL-2.0
/*
 * Slots of the send queue.
 *
 * Send queue slots are counted in sq_avail. A request takes all that it can
 * ever need before it is appended: one for its SEND and, with an MR, two for
 * REG_MR and LOCAL_INV. The send queue completes in order, so a signaled SEND
 * that completes gives back the slots of all REG_MR and SEND since the
 * signaled one before it (retires). LOCAL_INV is always signaled and gives back
 * its own; where the peer invalidated, the slot returns with the response.
 */
#include "ctrl.h"
#include "device.h"

/**
 * nvme_rdma_take_credit() - take send queue slots
 * @queue: the queue
 * @wrs: how many
 *
 * Context: any. Return: false if there are not that many; none is taken then.
 */
bool nvme_rdma_take_credit(struct nvme_rdma_queue *queue, int wrs)
{
	if (likely(atomic_sub_return(wrs, &queue->sq_avail) >= 0))
		return true;
	atomic_add(wrs, &queue->sq_avail);
	return false;
}

/**
 * nvme_rdma_give_credit() - give send queue slots back
 * @queue: the queue
 * @wrs: how many
 *
 * Context: any.
 */
void nvme_rdma_give_credit(struct nvme_rdma_queue *queue, int wrs)
{
	atomic_add(wrs, &queue->sq_avail);
}

/**
 * nvme_rdma_sq_slots() - send queue slots for commands
 * @queue: the queue
 *
 * Context: any.
 */
unsigned int nvme_rdma_sq_slots(const struct nvme_rdma_queue *queue)
{
	return NVME_RDMA_SLOTS_PER_COMMAND * queue->depth +
	       queue->signal_every + 2;
}
