// SPDX-License-Identifier: GPL-2.0
/*
 * Protection information (T10-PI) with signature offload of the RDMA device.
 *
 * On the wire each block is followed by its protection information, as an extended LBA.
 * In memory the block layer has it in a separate buffer, or not at all. One integrity MR
 * a tag joins the two: the device interleaves and checks it. Without a buffer in memory
 * it generates (write) or strips (read) the protection information. So the controller
 * is never asked to do so (PRACT), and the transfer is protected as well.
 *
 * A user's command with PRACT behaves as on a local disk: the device neither reads nor
 * writes a metadata buffer.
 *
 * An integrity MR is registered, invalidated and waited for as any other MR. The result
 * of the check is read when the request completes, as data may have arrived whose
 * protection information is wrong. It is read even if the command failed, as some
 * devices accept no other registration before (mlx5).
 */
#include <linux/slab.h>
#include <linux/t10-pi.h>

#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "params.h"

/* Protection information is 8 bytes here: CRC, application and reference tag */
static bool nvme_rdma_pi_fits(struct nvme_ns *ns)
{
	return nvme_rdma_ns_has_pi(ns) &&
	       nvme_rdma_ns_pi_size(ns) == sizeof(struct t10_pi_tuple);
}

static int nvme_rdma_identify(struct nvme_ctrl *nctrl, u8 cns, u32 nsid, void *data)
{
	struct nvme_command cmd = {
		.identify.opcode = nvme_admin_identify,
		.identify.nsid	 = cpu_to_le32(nsid),
		.identify.cns	 = cns,
	};

	return nvme_submit_sync_cmd(nctrl->admin_q, &cmd, data,
				    NVME_IDENTIFY_DATA_SIZE);
}

/* Namespaces in one list; a controller with more is not asked for the others */
#define NVME_RDMA_LISTED	(NVME_IDENTIFY_DATA_SIZE / sizeof(__le32))

/*
 * Does a namespace of the controller have protection information? True if that is not known
 * within the timeout of one command.
 */
static bool nvme_rdma_namespaces_have_pi(struct nvme_ctrl *nctrl)
{
	unsigned long end = jiffies + nvme_rdma_fabrics_tmo * HZ;
	struct nvme_id_ns *id = kzalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);
	__le32 *list = kzalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);
	bool pi = true;
	int i, ret;

	if (!id || !list ||
	    nvme_rdma_identify(nctrl, NVME_ID_CNS_NS_ACTIVE_LIST, 0, list) ||
	    list[NVME_RDMA_LISTED - 1])
		goto out;
	for (i = 0; list[i]; i++) {
		ret = nvme_rdma_identify(nctrl, NVME_ID_CNS_NS,
					 le32_to_cpu(list[i]), id);
		/* a namespace that was removed meanwhile has none */
		if (ret < 0 || (!ret && id->dps & NVME_NS_DPS_PI_MASK) ||
		    time_after(jiffies, end) || signal_pending(current))
			goto out;
	}
	pi = false;
out:
	kfree(list);
	kfree(id);
	return pi;
}

/*
 * All paths of a disk use protection information, or none does: a request that fails over
 * from one to another has it, or does not. Return: true if there is another path; then @pi
 * is set to its choice.
 */
static bool nvme_rdma_other_path_pi(struct nvme_rdma_ctrl *ctrl, bool *pi)
{
	struct nvme_rdma_ctrl *other;
	bool found = false;

	mutex_lock(&nvme_rdma_ctrl_mutex);
	list_for_each_entry(other, &nvme_rdma_ctrl_list, list) {
		/* pairs with nvme_rdma_show_tags() */
		if (other == ctrl || !smp_load_acquire(&other->have_io_tags) ||
		    strcmp(other->ctrl.opts->subsysnqn, ctrl->ctrl.opts->subsysnqn))
			continue;
		*pi = other->pi;
		found = true;
		break;
	}
	mutex_unlock(&nvme_rdma_ctrl_mutex);
	return found;
}

/**
 * nvme_rdma_try_pi() - choose whether a new controller uses protection information
 * @ctrl: the controller, whose admin queue is connected
 *
 * It needs twice the memory regions, and limits the depth and the size of transfers. So it
 * is used only if a namespace has it, or another path of the subsystem uses it. Some
 * devices claim to support it, and cannot allocate a memory region for it.
 *
 * Context: process. Return: true if the controller uses it.
 */
bool nvme_rdma_try_pi(struct nvme_rdma_ctrl *ctrl)
{
	unsigned int pages = ctrl->device->pi_pages;
	struct ib_mr *mr;
	bool pi;

	if (!pages || !nvme_rdma_t10_pi || ctrl->ctrl.opts->discovery_nqn)
		return false;
	if (!nvme_rdma_other_path_pi(ctrl, &pi))
		pi = nvme_rdma_namespaces_have_pi(&ctrl->ctrl);
	if (!pi)
		return false;
	mr = ib_alloc_mr_integrity(ctrl->pd, pages, pages);
	if (!IS_ERR(mr)) {
		ib_dereg_mr(mr);
		WRITE_ONCE(ctrl->device->makes_sig_mrs, true);
		return true;
	}
	dev_warn(ctrl->ctrl.device,
		 "%s cannot allocate a memory region for T10 protection information (error %ld): continuing without, as with the parameter t10_pi=N\n",
		 dev_name(&ctrl->device->dev->dev), PTR_ERR(mr));
	return false;
}

/**
 * nvme_rdma_wants_pi() - does a request transfer protection information?
 * @req: the request, its command set up, of a queue that has MRs for it
 *
 * Context: as queue_rq().
 */
bool nvme_rdma_wants_pi(struct nvme_rdma_request *req)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	struct nvme_ns *ns = rq->q->queuedata;

	/* without metadata apart, a user's own command carries it in the data */
	if (blk_rq_is_passthrough(rq) && !blk_integrity_rq(rq))
		return false;
	return ns && (req->cmd.common.opcode == nvme_cmd_read ||
		      req->cmd.common.opcode == nvme_cmd_write) &&
	       nvme_rdma_pi_fits(ns);
}

static void nvme_rdma_set_sig_domain(struct ib_sig_domain *domain, struct nvme_ns *ns,
				     const struct nvme_command *cmd)
{
	bool type3 = nvme_rdma_ns_pi_type(ns) == NVME_NS_DPS_PI_TYPE3;

	domain->sig_type = IB_SIG_TYPE_T10_DIF;
	domain->sig.dif = (struct ib_t10_dif_domain) {
		.bg_type	= IB_T10DIF_CRC,
		.pi_interval	= 1 << nvme_rdma_ns_lba_shift(ns),
		.app_tag	= nvme_rdma_app_tag(cmd),
		.ref_tag	= le32_to_cpu(cmd->rw.reftag),
		.apptag_check_mask = nvme_rdma_app_mask(cmd),
		/*
		 * The tag counts blocks, checked or only generated; with type 3
		 * it belongs to the application.
		 */
		.ref_remap	= !type3,
		/* tags of all ones: not protected (NVM command set, 5.2.2) */
		.app_escape	= true,
		.ref_escape	= type3,
	};
}

/* What the device checks, and where protection information is */
static void nvme_rdma_set_signature(struct ib_sig_attrs *sig,
				    struct nvme_ns *ns,
				    const struct nvme_command *cmd,
				    bool in_memory)
{
	u16 control = le16_to_cpu(cmd->rw.control);

	memset(sig, 0, sizeof(*sig));
	if (control & NVME_RW_PRINFO_PRCHK_GUARD)
		sig->check_mask |= IB_SIG_CHECK_GUARD;
	if (control & NVME_RW_PRINFO_PRCHK_APP)
		sig->check_mask |= IB_SIG_CHECK_APPTAG;
	if (control & NVME_RW_PRINFO_PRCHK_REF)
		sig->check_mask |= IB_SIG_CHECK_REFTAG;
	nvme_rdma_set_sig_domain(&sig->wire, ns, cmd);
	if (in_memory)
		sig->mem = sig->wire;
}

static int nvme_rdma_map_meta(struct nvme_rdma_request *req, struct request *rq)
{
	unsigned int segments = nvme_rdma_integrity_segments(rq);
	struct nvme_rdma_meta *meta = req->meta;
	int ret;

	meta->nents = 0;
	meta->pract = req->cmd.rw.control & cpu_to_le16(NVME_RW_PRINFO_PRACT);
	if (!segments || meta->pract)
		return 0;
	meta->sgt.sgl = meta->sg;
	ret = sg_alloc_table_chained(&meta->sgt, segments, meta->sg,
				     NVME_RDMA_META_SG_CNT);
	if (ret)
		return -ENOMEM;
	meta->nents = nvme_rdma_map_integrity_sg(rq, meta->sgt.sgl);
	meta->count = ib_dma_map_sg(req->queue->device->dev, meta->sgt.sgl,
				    meta->nents, rq_dma_dir(rq));
	if (meta->count > 0)
		return 0;
	sg_free_table_chained(&meta->sgt, NVME_RDMA_META_SG_CNT);
	meta->nents = 0;
	return -ENOMEM;
}

/**
 * nvme_rdma_unmap_pi() - undo nvme_rdma_register_pi()
 * @req: the request, which no device accesses any more
 *
 * Restores the command, as a user's command is not built again if it is requeued.
 *
 * Context: any.
 */
void nvme_rdma_unmap_pi(struct nvme_rdma_request *req)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	struct nvme_rdma_meta *meta = req->meta;

	if (meta->pract)
		req->cmd.rw.control |= cpu_to_le16(NVME_RW_PRINFO_PRACT);
	if (!meta->nents)
		return;
	ib_dma_unmap_sg(req->queue->device->dev, meta->sgt.sgl, meta->nents,
			rq_dma_dir(rq));
	sg_free_table_chained(&meta->sgt, NVME_RDMA_META_SG_CNT);
}

/*
 * Bytes that are transferred. 0 if data and metadata are not those of the same blocks, as
 * in an invalid command of a user: the device would go past the end of one of them, and
 * the queue pair would fail.
 */
static u32 nvme_rdma_pi_len(struct nvme_rdma_request *req,
			    struct nvme_ns *ns, const struct ib_mr *mr)
{
	u32 data = blk_rq_payload_bytes(blk_mq_rq_from_pdu(req));
	u32 pi = (data >> nvme_rdma_ns_lba_shift(ns)) *
		 sizeof(struct t10_pi_tuple);

	if (data & ((1 << nvme_rdma_ns_lba_shift(ns)) - 1))
		return 0;
	if (mr->length != data + (req->meta->nents ? pi : 0))
		return 0;
	return data + pi;
}

/**
 * nvme_rdma_register_pi() - register data and metadata as one protected range
 * @req: the request, its data mapped for DMA, nvme_rdma_wants_pi()
 * @count: DMA segments of the data
 *
 * Context: as queue_rq(). Return: 0, or a negative errno: -ENOMEM or -EAGAIN if a retry
 * may succeed; then no metadata is mapped.
 */
int nvme_rdma_register_pi(struct nvme_rdma_request *req, int count)
{
	struct request *rq = blk_mq_rq_from_pdu(req);
	struct nvme_rdma_meta *meta = req->meta;
	struct nvme_ns *ns = rq->q->queuedata;
	struct ib_mr *mr;
	u32 len;
	int ret;

	if (unlikely(!nvme_rdma_tag_mr(req->queue, rq->tag)))
		return -EAGAIN;
	mr = req->queue->sig_mrs[rq->tag];
	ret = nvme_rdma_map_meta(req, rq);
	if (ret)
		return ret;
	ret = ib_map_mr_sg_pi(mr, req->sgt.sgl, count, NULL,
			      meta->nents ? meta->sgt.sgl : NULL,
			      meta->nents ? meta->count : 0, NULL, SZ_4K);
	len = ret ? 0 : nvme_rdma_pi_len(req, ns, mr);
	if (!len) {
		/* a retry would fail, too, whatever @ret is */
		nvme_rdma_unmap_pi(req);
		return -EINVAL;
	}
	nvme_rdma_set_signature(mr->sig_attrs, ns, &req->cmd, meta->nents);
	req->cmd.rw.control &= ~cpu_to_le16(NVME_RW_PRINFO_PRACT);
	nvme_rdma_build_reg_mr(req, mr, len, IB_WR_REG_MR_INTEGRITY);
	req->data = NVME_RDMA_DATA_PROTECTED;
	return 0;
}

/**
 * nvme_rdma_check_pi() - read the result of the device's check
 * @req: the request, which has its response; its MR is invalid
 *
 * Must be called for each registration that was posted, unless its queue ends: devices
 * refuse to register the MR again before.
 *
 * Context: any. Return: an NVMe status, 0 if no error was found.
 */
u16 nvme_rdma_check_pi(struct nvme_rdma_request *req)
{
	struct nvme_rdma_queue *queue = req->queue;
	struct ib_mr_status found;
	int ret;

	ret = ib_check_mr_status(req->mr, IB_MR_CHECK_SIG_STATUS, &found);
	if (ret) {
		nvme_rdma_queue_msg(err, queue,
				    "%s did not report whether protection information was right (error %d)\n",
				    dev_name(&queue->device->dev->dev), ret);
		return NVME_SC_INVALID_PI;
	}
	if (!(found.fail_status & IB_MR_CHECK_SIG_STATUS))
		return 0;
	nvme_rdma_count(queue, NVME_RDMA_EV_PI);
	nvme_rdma_queue_msg(err, queue,
			    "protection information: %s expected %#x, found %#x, at byte %llu of command ID %#x\n",
			    found.sig_err.err_type == IB_SIG_BAD_GUARD ?
			    "guard" :
			    found.sig_err.err_type == IB_SIG_BAD_REFTAG ?
			    "reference tag" : "application tag",
			    found.sig_err.expected, found.sig_err.actual,
			    found.sig_err.sig_err_offset,
			    req->cmd.common.command_id);
	switch (found.sig_err.err_type) {
	case IB_SIG_BAD_GUARD:
		return NVME_SC_GUARD_CHECK;
	case IB_SIG_BAD_REFTAG:
		return NVME_SC_REFTAG_CHECK;
	default:
		return NVME_SC_APPTAG_CHECK;
	}
}
