// SPDX-License-Identifier: GPL-2.0
/*
 * Send queue slots.
 *
 * A request takes all slots that it may need before it is appended: one for its SEND and,
 * with an MR, two for REG_MR and LOCAL_INV. The send queue completes in order. So the
 * completion of a signaled SEND gives back the slots of all REG_MR and SEND since the
 * signaled SEND before it (retires). A LOCAL_INV is always signaled and gives back its own
 * slot. If the peer invalidated the key, the response gives back that slot.
 *
 * Slots are free while sq_given exceeds sq_taken. CPUs that submit take slots at the same
 * time, by one locked addition for each request. The handlers of a queue run one at a time
 * and give them back by a plain store. sq_taken falls only when a request found too few
 * slots. Both numbers wrap around.
 *
 * A slot is given back at once and not with others at the end of a batch: its request may
 * be complete by then, and the next one with its tag would find too few.
 */
#include "ctrl.h"
#include "device.h"

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

/**
 * nvme_rdma_sq_slots_free() - free send queue slots
 * @queue: the queue, which may be in use
 *
 * Context: any.
 */
unsigned int nvme_rdma_sq_slots_free(const struct nvme_rdma_queue *queue)
{
	unsigned int taken = atomic_read(&queue->sq_taken);
	int nr;

	/* in this order, a slot that is in use may be counted, but none is missing */
	smp_rmb();
	nr = READ_ONCE(queue->sq_given) - taken;
	return clamp_t(int, nr, 0, nvme_rdma_sq_slots(queue));
}
