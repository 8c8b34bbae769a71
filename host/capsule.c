// SPDX-License-Identifier: GPL-2.0
/*
 * Command capsules: the SGL of the data, and the memory that the SEND reads; io.c builds it.
 *
 * The command is built in the request. If the QP supports inline data, the post reads it
 * from there. Otherwise it is copied to the capsule of the request's tag, which is
 * DMA-mapped as long as the connection lasts. A capsule may be overwritten after the
 * response: the controller has the command then, and ignores the data of a
 * retransmission.
 */
#include "ctrl.h"
#include "data.h"
#include "device.h"

/**
 * nvme_rdma_sgl_null() - SGL of a command without data
 * @cmd: the command
 *
 * NVMe/RDMA: a keyed SGL data block descriptor of length 0.
 *
 * Context: any.
 */
void nvme_rdma_sgl_null(struct nvme_command *cmd)
{
	nvme_rdma_sgl_keyed(cmd, 0, 0, 0, false);
}

/**
 * nvme_rdma_sgl_in_capsule() - SGL of data that follows the command
 * @cmd: the command
 * @len: length in bytes
 *
 * NVMe over Fabrics: an SGL data block descriptor with an offset, here 0, from
 * where in-capsule data begins.
 *
 * Context: any.
 */
void nvme_rdma_sgl_in_capsule(struct nvme_command *cmd, u32 len)
{
	struct nvme_sgl_desc *sgl = &cmd->common.dptr.sgl;

	memset(sgl, 0, sizeof(*sgl));
	sgl->length = cpu_to_le32(len);
	sgl->type = NVME_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_OFFSET;
}

/**
 * nvme_rdma_place_command() - copy a command to a capsule
 * @queue: the queue
 * @cmd: the command
 * @slot: which of the queue's capsules
 * @sge: set to the capsule, from where the SEND reads it
 *
 * Context: any.
 */
void nvme_rdma_place_command(struct nvme_rdma_queue *queue,
			     const struct nvme_command *cmd,
			     unsigned int slot, struct ib_sge *sge)
{
	size_t offset = slot * sizeof(*cmd);

	sge->length = sizeof(*cmd);
	sge->lkey = queue->ctrl->pd->local_dma_lkey;
	sge->addr = nvme_rdma_pages_dma(queue->capsules, offset);
	if (queue->capsules->sync)
		ib_dma_sync_single_for_cpu(queue->device->dev, sge->addr,
					   sizeof(*cmd), DMA_TO_DEVICE);
	*(struct nvme_command *)nvme_rdma_pages_at(queue->capsules, offset) =
		*cmd;
	if (queue->capsules->sync)
		ib_dma_sync_single_for_device(queue->device->dev, sge->addr,
					      sizeof(*cmd), DMA_TO_DEVICE);
}
