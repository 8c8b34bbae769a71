// SPDX-License-Identifier: GPL-2.0
/*
 * Send queue slots.
 *
 * The free slots are counted in sq_avail. A request takes all slots that it may need
 * before it is appended: one for its SEND and, with an MR, two for REG_MR and
 * LOCAL_INV. The send queue completes in order. So the completion of a signaled SEND
 * gives back the slots of all REG_MR and SEND since the signaled SEND before it
 * (retires). A LOCAL_INV is always signaled and gives back its own slot. If the peer
 * invalidated the key, the response gives back that slot.
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
