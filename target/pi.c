// SPDX-License-Identifier: GPL-2.0
/*
 * T10 protection information: the HCA checks it and separates it from the data.
 *
 * A port enables it with param_pi_enable, a subsystem with attr_pi_enable, and a namespace has
 * it if its disk does: 8 bytes of guard, application tag and reference tag for each block. On
 * the wire they lie behind each block, unless the host set PRACT. Then the HCA generates them
 * for writes and strips them from reads. The core wants data and metadata apart.
 *
 * Operation: a command of such a namespace has req->metadata_len set by the core. It is moved
 * by a registration with a signature (rdma_rw), in the core's own pages. The result of the
 * check is known when the transfer has completed. For a write that is before the command
 * executes. For a read it is after the WRITE, and the response has to wait for it: the WRITE
 * is signaled, and pi_write_done() in send.c posts the response.
 *
 * Between those two the core holds no reference for the command any more. The release
 * (release.c) is still safe. A queue that is not live posts nothing. A handler that has seen
 * it live ends before the first drain does, so what it posted is before the second drain.
 * However, the command and its namespace are gone by then: the receive is posted again, and
 * the core has put the namespace. So the response keeps what the check needs of them.
 *
 * In-capsule data cannot carry protection information: the HCA does not see where it begins.
 *
 * NVM command set specification, "Protection Information". The errors are the command's
 * (End-to-end Guard, Application Tag, Reference Tag Check Error).
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/t10-pi.h>

#include "params.h"
#include "xfer.h"

/**
 * nvmet_rdma_pi_enable_port() - decide whether a port has protection information
 * @port: the port, about to listen
 * @ib: the device that it listens on, NULL if that is all
 *
 * Sets what the core reads when a controller is created. It may change when a port moves to
 * another device.
 *
 * Context: may sleep.
 */
void nvmet_rdma_pi_enable_port(struct nvmet_rdma_port *port,
			       const struct ib_device *ib)
{
	bool enable;

	if (!port->pi_wanted)
		return;
	enable = ib ? nvmet_rdma_pi_capable(ib) : nvmet_rdma_devices_have_pi();
	if (!enable)
		pr_warn("port %u: %s no integrity offload for T10 protection information; continuing without it, as if param_pi_enable were 0\n",
			port->portid,
			ib ? "its RDMA device has" : "some RDMA devices have");
	port->nport->pi_enable = enable;
}

/* Block device namespaces have only one kind: 8 bytes behind each block */
static void set_domain(const struct nvmet_req *req, struct ib_sig_domain *domain)
{
	const struct nvme_rw_command *rw = &req->cmd->rw;
	struct ib_t10_dif_domain *dif = &domain->sig.dif;

	domain->sig_type = IB_SIG_TYPE_T10_DIF;
	dif->bg_type = IB_T10DIF_CRC;
	dif->pi_interval = 1 << req->ns->blksize_shift;
	dif->ref_tag = le32_to_cpu(rw->reftag);
	dif->app_tag = nvme_rdma_app_tag(req->cmd);
	dif->apptag_check_mask = nvme_rdma_app_mask(req->cmd);
	/* A tag of all ones disables the check of a block */
	dif->app_escape = true;
	if (req->ns->pi_type == NVME_NS_DPS_PI_TYPE3)
		dif->ref_escape = true;
	else
		dif->ref_remap = true;
}

static bool pract_set(const struct nvmet_req *req)
{
	return req->cmd->rw.control & cpu_to_le16(NVME_RW_PRINFO_PRACT);
}

static void set_attrs(const struct nvmet_req *req, struct ib_sig_attrs *attrs)
{
	u16 control = le16_to_cpu(req->cmd->rw.control);

	memset(attrs, 0, sizeof(*attrs));
	set_domain(req, &attrs->mem);
	if (pract_set(req))
		attrs->wire.sig_type = IB_SIG_TYPE_NONE;
	else
		set_domain(req, &attrs->wire);
	if (control & NVME_RW_PRINFO_PRCHK_GUARD)
		attrs->check_mask |= IB_SIG_CHECK_GUARD;
	if (control & NVME_RW_PRINFO_PRCHK_APP)
		attrs->check_mask |= IB_SIG_CHECK_APPTAG;
	if (control & NVME_RW_PRINFO_PRCHK_REF)
		attrs->check_mask |= IB_SIG_CHECK_REFTAG;
	attrs->meta_length = req->metadata_len;
}

/**
 * nvmet_rdma_pi_len_on_wire() - the length that a command's SGL has to have
 * @req: the command; the core has set its namespace and metadata_len
 * @len: bytes of data and metadata together
 *
 * Context: any. Return: bytes.
 */
size_t nvmet_rdma_pi_len_on_wire(const struct nvmet_req *req, size_t len)
{
	if (req->metadata_len && pract_set(req))
		return len - req->metadata_len;
	return len;
}

/**
 * nvmet_rdma_pi_allows() - are a command's checks valid?
 * @req: the command; the core has set its namespace and metadata_len
 * @error_loc: if not, the byte of it that is wrong
 *
 * With type 1 the reference tag has to be that of the block, and with type 3 it cannot be
 * checked: NVM command set specification, "Protection Information", the reference tag
 * check. The disk does not check this, because it gets another command.
 *
 * Context: any.
 */
bool nvmet_rdma_pi_allows(const struct nvmet_req *req, u16 *error_loc)
{
	const struct nvme_rw_command *rw = &req->cmd->rw;

	if (!(rw->control & cpu_to_le16(NVME_RW_PRINFO_PRCHK_REF)))
		return true;
	if (req->ns->pi_type == NVME_NS_DPS_PI_TYPE3) {
		*error_loc = offsetof(struct nvme_rw_command, control);
		return false;
	}
	*error_loc = offsetof(struct nvme_rw_command, reftag);
	return le32_to_cpu(rw->reftag) == lower_32_bits(le64_to_cpu(rw->slba));
}

/**
 * nvmet_rdma_pi_set_len() - set the length of a command's buffers
 * @rsp: the command, its sgl set
 *
 * The core's buffers hold the metadata whether the wire does or not.
 *
 * Context: any.
 */
void nvmet_rdma_pi_set_len(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;

	req->transfer_len = rsp->sgl.len;
	if (pract_set(req))
		req->transfer_len += req->metadata_len;
}

/**
 * nvmet_rdma_pi_init() - map the buffers of a command with metadata
 * @rsp: the command, its sgl set, keyed and of the right length, with the core's list of
 *	 pages, which is freed on failure; its queue has protection information
 *
 * The credit that is reserved for the command is sufficient.
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_pi_init(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_req *req = &rsp->req;
	struct ib_sig_attrs attrs;
	int ret;

	rsp->pi_slba = le64_to_cpu(req->cmd->rw.slba);
	rsp->pi_interval = (1 << req->ns->blksize_shift) +
			   sizeof(struct t10_pi_tuple);
	set_attrs(req, &attrs);
	ret = rdma_rw_ctx_signature_init(&rsp->xfer.rw, queue->qp,
					 queue->cm_id->port_num, req->sg,
					 req->sg_cnt, req->metadata_sg,
					 req->metadata_sg_cnt, &attrs,
					 rsp->sgl.addr, rsp->sgl.key,
					 nvmet_rdma_xfer_dir(rsp));
	if (ret < 0) {
		nvmet_req_free_sgls(req);
		return ret;
	}
	rsp->xfer.how = NVMET_RDMA_XFER_PI;
	return 0;
}

/**
 * nvmet_rdma_pi_check() - get the result of the HCA's check
 * @rsp: the command; its transfer has completed and is not yet destroyed
 *
 * Context: any. Return: 0, or the NVMe status that the command ends with.
 */
u16 nvmet_rdma_pi_check(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;
	struct ib_mr_status found;
	u16 status;
	int ret;

	ret = ib_check_mr_status(rsp->xfer.rw.reg->mr, IB_MR_CHECK_SIG_STATUS,
				 &found);
	if (ret) {
		nvmet_rdma_queue_warn(rsp->queue,
				      "%s cannot report whether protection information is valid (error %d); failing the command\n",
				      rsp->queue->dev->ib->name, ret);
		return NVME_SC_INTERNAL;
	}
	if (likely(!(found.fail_status & IB_MR_CHECK_SIG_STATUS)))
		return NVME_SC_SUCCESS;

	switch (found.sig_err.err_type) {
	case IB_SIG_BAD_GUARD:
		status = NVME_SC_GUARD_CHECK;
		break;
	case IB_SIG_BAD_REFTAG:
		status = NVME_SC_REFTAG_CHECK;
		break;
	case IB_SIG_BAD_APPTAG:
		status = NVME_SC_APPTAG_CHECK;
		break;
	default:
		status = NVME_SC_INTERNAL;
		break;
	}
	nvmet_rdma_event(rsp->queue, NVMET_RDMA_EV_PI);
	/* The offset includes the metadata of each block */
	req->error_slba = rsp->pi_slba + div_u64(found.sig_err.sig_err_offset,
						 rsp->pi_interval);
	nvmet_rdma_queue_warn(rsp->queue,
			      "invalid protection information of block %llu: %#x (expected %#x, status %#x)\n",
			      req->error_slba, found.sig_err.actual,
			      found.sig_err.expected, status);
	return status;
}

/**
 * nvmet_rdma_pi_destroy() - undo the registration, keep the pages
 * @rsp: the command; its transfer has completed, or its QP is reset
 *
 * Context: any.
 */
void nvmet_rdma_pi_destroy(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_req *req = &rsp->req;

	rdma_rw_ctx_destroy_signature(&rsp->xfer.rw, queue->qp,
				      queue->cm_id->port_num, req->sg,
				      req->sg_cnt, req->metadata_sg,
				      req->metadata_sg_cnt,
				      nvmet_rdma_xfer_dir(rsp));
}
