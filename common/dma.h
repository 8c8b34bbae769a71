/* SPDX-License-Identifier: GPL-2.0 */
/* Properties of DMA mappings, and memory on the NUMA node of a device. */
#ifndef NVME_RDMA_DMA_H
#define NVME_RDMA_DMA_H

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

/**
 * nvme_rdma_needs_sync() - does a mapping need the ib_dma_sync functions?
 * @ibdev: the device
 * @addr: DMA address of a mapping that is kept for many accesses
 *
 * Context: any. Return: false if the memory is coherent and not bounced.
 */
static inline bool nvme_rdma_needs_sync(struct ib_device *ibdev, u64 addr)
{
	return !ib_uses_virt_dma(ibdev) &&
	       dma_need_sync(ibdev->dma_device, addr);
}

/**
 * nvme_rdma_max_mapping() - the largest size of a single DMA mapping
 * @ibdev: the device
 *
 * Context: any. Return: bytes.
 */
static inline size_t nvme_rdma_max_mapping(struct ib_device *ibdev)
{
	return ib_uses_virt_dma(ibdev) ? SIZE_MAX :
	       dma_max_mapping_size(ibdev->dma_device);
}

/**
 * nvme_rdma_alloc_array() - allocate a zeroed array on the NUMA node of a device
 * @ibdev: the device
 * @nr: number of elements
 * @size: bytes of each element
 *
 * Context: may sleep. Return: the array, to be freed by kvfree(), or NULL.
 */
static inline void *nvme_rdma_alloc_array(struct ib_device *ibdev, size_t nr,
					  size_t size)
{
	/* Linux 6.1 has no kvcalloc_node() */
	return kvmalloc_node(array_size(nr, size), GFP_KERNEL | __GFP_ZERO,
			     ibdev_to_node(ibdev));
}

#endif /* NVME_RDMA_DMA_H */
