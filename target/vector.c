// SPDX-License-Identifier: GPL-2.0
/* The completion vector of a new queue. */

#include "device.h"

/**
 * nvmet_rdma_vector_get() - choose the completion vector of a new queue
 * @dev: its device
 * @admin: it is an admin queue
 *
 * It is the vector with the fewest queues. Those that have as few take turns, so the queues of
 * a host, which arrive one after the other, use different ones.
 *
 * Context: process. Return: the vector, to be put with nvmet_rdma_vector_put().
 */
u32 nvmet_rdma_vector_get(struct nvmet_rdma_device *dev, bool admin)
{
	u32 nr = dev->ib->num_comp_vectors, i, at, least;

	spin_lock(&dev->vector_lock);
	at = dev->last_vector[admin];
	least = (at + 1) % nr;
	for (i = 0; i < nr; i++) {
		at = (at + 1) % nr;
		if (dev->vectors[at].queues[admin] < dev->vectors[least].queues[admin])
			least = at;
	}
	dev->vectors[least].queues[admin]++;
	dev->last_vector[admin] = least;
	spin_unlock(&dev->vector_lock);
	return least;
}

/**
 * nvmet_rdma_vector_put() - undo nvmet_rdma_vector_get()
 * @dev: the device
 * @vector: the vector
 * @admin: as before
 *
 * Context: process.
 */
void nvmet_rdma_vector_put(struct nvmet_rdma_device *dev, u32 vector, bool admin)
{
	spin_lock(&dev->vector_lock);
	dev->vectors[vector].queues[admin]--;
	spin_unlock(&dev->vector_lock);
}
