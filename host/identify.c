// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of a controller for its I/O queues: limits.c chooses, this file reports errors.
 */
#include "connect.h"
#include "ctrl.h"
#include "device.h"
#include "limits.h"

static void nvme_rdma_report_unfit(struct nvme_rdma_ctrl *ctrl,
				   enum nvme_rdma_fit fit, u32 depth)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;

	switch (fit) {
	case NVME_RDMA_FITS:
		break;
	case NVME_RDMA_ICDOFF:
		dev_err(nctrl->device,
			"unsupported in-capsule data offset %u (ICDOFF, expected 0)\n",
			nctrl->icdoff * NVME_RDMA_CAPSULE_UNIT);
		break;
	case NVME_RDMA_NO_KEYED_SGLS:
		dev_err(nctrl->device,
			"the controller does not support keyed SGLs (SGLS %#x), which NVMe/RDMA requires\n",
			nctrl->sgls);
		break;
	case NVME_RDMA_SMALL_CAPSULE:
		dev_err(nctrl->device,
			"capsules of %u bytes are too small for a command (IOCCSZ %u, expected %u or more)\n",
			nctrl->ioccsz * NVME_RDMA_CAPSULE_UNIT, nctrl->ioccsz,
			NVME_RDMA_MIN_CAPSULE);
		break;
	case NVME_RDMA_TOO_SHORT:
		dev_err(nctrl->device,
			"queue size too small: MQES allows %u, MAXCMD %u, %s %u (expected %u or more)\n",
			nctrl->sqsize + 1, nctrl->maxcmd,
			dev_name(&ctrl->device->dev->dev),
			ctrl->device->max_depth, NVME_RDMA_MIN_DEPTH);
		break;
	case NVME_RDMA_SHRUNK:
		dev_err(nctrl->device,
			"the controller now supports a queue size of %u, %u is in use: disconnect and connect again\n",
			depth, ctrl->tag_set_depth);
		break;
	}
}

/**
 * nvme_rdma_check_limits() - choose the size of I/O queues and of in-capsule data
 * @ctrl: the controller, which has been identified
 *
 * Logs the reason if the controller cannot have I/O queues.
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_check_limits(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_ctrl *nctrl = &ctrl->ctrl;
	const struct nvme_rdma_ctrl_caps theirs = {
		.sqsize	= nctrl->sqsize,
		.maxcmd	= nctrl->maxcmd,
		.icdoff	= nctrl->icdoff,
		.sgls	= nctrl->sgls,
		.ioccsz	= nctrl->ioccsz,
		.no_io	= nctrl->queue_count < 2,
	};
	struct nvme_rdma_host_caps ours = {
		.depth		= ctrl->device->max_depth,
		/* capsules and MRs are indexed by tag, and the tag set stays */
		.depth_in_use	= ctrl->have_io_tags ? ctrl->tag_set_depth : 0,
		.inline_size	= NVME_RDMA_MAX_INLINE_SEGMENTS * PAGE_SIZE,
	};
	struct nvme_rdma_limits limits;
	enum nvme_rdma_fit fit;

	if (ctrl->pi)
		ours.depth = min_t(u32, ours.depth,
				   NVME_RDMA_MAX_METADATA_QUEUE_SIZE);
	fit = nvme_rdma_choose_limits(&theirs, &ours, &limits);
	if (fit != NVME_RDMA_FITS) {
		nvme_rdma_report_unfit(ctrl, fit, limits.depth);
		WRITE_ONCE(ctrl->rejected, true);
		return fit == NVME_RDMA_ICDOFF ||
		       fit == NVME_RDMA_NO_KEYED_SGLS ? -EOPNOTSUPP : -EINVAL;
	}
	if (theirs.no_io)
		return 0;
	if (nctrl->opts->queue_size > limits.depth)
		dev_warn(nctrl->device,
			 "queue_size %zu is more than the controller or %s supports, using %u\n",
			 nctrl->opts->queue_size,
			 dev_name(&ctrl->device->dev->dev), limits.depth);
	nctrl->sqsize = limits.depth - 1;
	ctrl->inline_size = limits.inline_size;
	return 0;
}
