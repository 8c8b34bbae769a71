// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks of receives: memory for capsules that the HCA writes into.
 *
 * A receive has room for one capsule. Its first element is the command, in an array that is
 * mapped once for the whole block. Its second is the in-capsule data, contiguous pages of the
 * receive's own, as large as the port says. A block belongs to a queue, or to a shared
 * receive queue, which feeds many queues (srq.c).
 */

#include <linux/log2.h>
#include <linux/slab.h>

#include "srq.h"

/**
 * nvmet_rdma_recv_sync_for_device() - sync a receive before it is posted
 * @ib: the device
 * @cmd: the receive, about to be posted
 *
 * Context: any.
 */
void nvmet_rdma_recv_sync_for_device(struct ib_device *ib,
				     struct nvmet_rdma_cmd *cmd)
{
	int i;

	if (!cmd->sync)
		return;
	for (i = 0; i < cmd->wr.num_sge; i++)
		ib_dma_sync_single_for_device(ib, cmd->sge[i].addr,
					      cmd->sge[i].length,
					      DMA_FROM_DEVICE);
}

/*
 * The core writes into a command of a passthrough namespace. Without cache coherency it would
 * write back the neighbour in the cache line, too, over what the device has written there.
 */
static size_t capsule_stride(struct ib_device *ib)
{
	size_t line = ib_uses_virt_dma(ib) ? 1 : dma_get_cache_alignment();

	return max(roundup_pow_of_two(line), sizeof(struct nvme_command));
}

static void nvmet_rdma_recv_init(struct nvmet_rdma_device *dev,
				 struct nvmet_rdma_recv_block *recvs, u32 i)
{
	struct nvmet_rdma_cmd *cmd = &recvs->cmds[i];
	size_t stride = capsule_stride(dev->ib);
	u32 lkey = dev->pd->local_dma_lkey;

	cmd->capsule = nvme_rdma_pages_at(recvs->capsules, i * stride);
	INIT_LIST_HEAD(&cmd->entry);
	cmd->sge[0].addr = nvme_rdma_pages_dma(recvs->capsules, i * stride);
	cmd->sge[0].length = sizeof(*cmd->capsule);
	cmd->sge[0].lkey = lkey;
	cmd->wr.wr_cqe = &cmd->cqe;
	cmd->wr.sg_list = cmd->sge;
	cmd->wr.num_sge = 1;
	cmd->sync = nvme_rdma_needs_sync(dev->ib, cmd->sge[0].addr);
}

/* alloc_pages_exact() on the device's node */
static void *alloc_on_node(struct ib_device *ib, size_t size)
{
	unsigned int order = get_order(size);
	size_t rest = (PAGE_SIZE << order) - PAGE_ALIGN(size);
	struct page *page = alloc_pages_node(ibdev_to_node(ib), GFP_KERNEL | __GFP_NOWARN, order);

	if (!page)
		return NULL;
	split_page(page, order);
	if (rest)
		free_pages_exact(page_address(page) + PAGE_ALIGN(size), rest);
	return page_address(page);
}

static int recv_alloc_data(struct nvmet_rdma_device *dev,
			   struct nvmet_rdma_recv_block *recvs, struct nvmet_rdma_cmd *cmd)
{
	cmd->icd = alloc_on_node(dev->ib, recvs->room);
	if (!cmd->icd)
		return -ENOMEM;
	cmd->sge[1].addr = ib_dma_map_single(dev->ib, cmd->icd, recvs->room,
					     DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(dev->ib, cmd->sge[1].addr)) {
		free_pages_exact(cmd->icd, recvs->room);
		cmd->icd = NULL;
		return -ENOMEM;
	}
	cmd->sge[1].length = recvs->room;
	cmd->sge[1].lkey = dev->pd->local_dma_lkey;
	cmd->wr.num_sge = 2;
	cmd->sync |= nvme_rdma_needs_sync(dev->ib, cmd->sge[1].addr);
	return 0;
}

/**
 * nvmet_rdma_recv_block_free_data() - free the in-capsule data of a block of receives
 * @dev: the device
 * @recvs: the block; no receive of it is posted
 *
 * Context: may sleep.
 */
void nvmet_rdma_recv_block_free_data(struct nvmet_rdma_device *dev,
				     struct nvmet_rdma_recv_block *recvs)
{
	u32 i;

	for (i = 0; i < recvs->nr; i++) {
		struct nvmet_rdma_cmd *cmd = &recvs->cmds[i];

		if (!cmd->icd)
			continue;
		ib_dma_unmap_single(dev->ib, cmd->sge[1].addr, recvs->room,
				    DMA_FROM_DEVICE);
		free_pages_exact(cmd->icd, recvs->room);
		cmd->icd = NULL;
	}
}

/**
 * nvmet_rdma_recv_block_alloc_data() - allocate the in-capsule data of a block of receives
 * @dev: the device
 * @recvs: the block, which has none
 *
 * Context: may sleep. Return: 0 or a negative errno; the block has none then.
 */
int nvmet_rdma_recv_block_alloc_data(struct nvmet_rdma_device *dev,
				     struct nvmet_rdma_recv_block *recvs)
{
	u32 i;

	for (i = 0; recvs->room && i < recvs->nr; i++) {
		if (recv_alloc_data(dev, recvs, &recvs->cmds[i])) {
			nvmet_rdma_recv_block_free_data(dev, recvs);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * nvmet_rdma_recv_block_alloc() - allocate and map a block of receives
 * @dev: the device, its protection domain there
 * @nr: receives, 1 or more
 * @room: bytes of in-capsule data of each
 *
 * Context: may sleep. Return: the block or an ERR_PTR().
 */
struct nvmet_rdma_recv_block *nvmet_rdma_recv_block_alloc(struct nvmet_rdma_device *dev,
							  u32 nr, u32 room)
{
	struct nvmet_rdma_recv_block *recvs;
	struct ib_device *ib = dev->ib;
	u32 i;

	BUILD_BUG_ON(sizeof(struct nvme_command) != NVMET_RDMA_SQE_LEN);

	recvs = kzalloc_node(sizeof(*recvs), GFP_KERNEL, ibdev_to_node(ib));
	if (!recvs)
		return ERR_PTR(-ENOMEM);
	recvs->nr = nr;
	recvs->room = room;
	recvs->capsules = nvme_rdma_pages_alloc(ib, nr * capsule_stride(ib),
						DMA_FROM_DEVICE);
	if (!recvs->capsules)
		goto err_free_recvs;
	recvs->cmds = nvme_rdma_alloc_array(ib, nr, sizeof(*recvs->cmds));
	if (!recvs->cmds)
		goto err_free_capsules;

	INIT_LIST_HEAD(&recvs->returned);
	for (i = 0; i < nr; i++)
		nvmet_rdma_recv_init(dev, recvs, i);
	if (nvmet_rdma_recv_block_alloc_data(dev, recvs)) {
		nvmet_rdma_recv_block_free(dev, recvs);
		return ERR_PTR(-ENOMEM);
	}
	return recvs;

err_free_capsules:
	nvme_rdma_pages_free(ib, recvs->capsules);
err_free_recvs:
	kfree(recvs);
	return ERR_PTR(-ENOMEM);
}

/**
 * nvmet_rdma_recv_block_free() - free a block of receives
 * @dev: the device
 * @recvs: the block; no receive of it is posted
 *
 * Context: may sleep.
 */
void nvmet_rdma_recv_block_free(struct nvmet_rdma_device *dev,
				struct nvmet_rdma_recv_block *recvs)
{
	nvmet_rdma_recv_block_free_data(dev, recvs);
	kvfree(recvs->cmds);
	nvme_rdma_pages_free(dev->ib, recvs->capsules);
	kfree(recvs);
}
