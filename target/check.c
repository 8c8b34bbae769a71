// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of a command that the core has parsed, before it gets a buffer and is executed.
 *
 * Here is what only the transport knows: the result of the SGL's parsing (sgl.c), the queue's
 * ID of the connection, and the limits of protection information. And what the core checks too
 * late: it allocates, or the host's data is moved, before it compares lengths.
 *
 * A rejected command is answered with Do Not Retry, and with the position of the invalid byte.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "error.h"
#include "io.h"
#include "xfer.h"

static_assert((int)NVMET_RDMA_SC_FIELD == (int)NVME_SC_INVALID_FIELD);
static_assert((int)NVMET_RDMA_SC_SGL_LENGTH == (int)NVME_SC_SGL_INVALID_DATA);
static_assert((int)NVMET_RDMA_SC_SGL_TYPE == (int)NVME_SC_SGL_INVALID_TYPE);
static_assert((int)NVMET_RDMA_SC_SGL_OFFSET ==
	      (int)NVME_SC_SGL_INVALID_OFFSET);
static_assert(offsetof(struct nvme_common_command, dptr) == NVMET_RDMA_SQE_DPTR);

/* Rejects a command, and points to the invalid byte of it */
static u16 refuse(struct nvmet_req *req, u16 status, u16 error_loc)
{
	req->error_loc = error_loc;
	return status | NVME_STATUS_DNR;
}

/*
 * Connect contains the queue ID again. A host that sends different IDs to the CM and to the
 * core would have a queue of one kind with the limits of another.
 */
static u16 check_connect(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_req *req = &rsp->req;
	u16 qid = le16_to_cpu(req->cmd->connect.qid);

	if (rsp->sgl.len != nvmet_req_transfer_len(req))
		return refuse(req, NVME_SC_SGL_INVALID_DATA,
			      NVMET_RDMA_SQE_DPTR);
	/*
	 * The core would take the controller away again from a queue that already has one, and
	 * nothing would end what depends on that controller.
	 */
	if (!req->cmd->connect.sqsize) {
		req->cqe->result.u32 =
			cpu_to_le32(offsetof(struct nvmf_connect_command,
					     sqsize));
		return refuse(req, NVME_SC_CONNECT_INVALID_PARAM,
			      offsetof(struct nvmf_connect_command, sqsize));
	}
	if (qid == queue->qid)
		return NVME_SC_SUCCESS;

	nvmet_rdma_event(queue, NVMET_RDMA_EV_PROTOCOL);
	nvmet_rdma_queue_warn(queue,
			      "Connect rejected: invalid queue ID %u (expected %u); check the host's NVMe/RDMA driver\n",
			      qid, queue->qid);
	req->cqe->result.u32 =
		cpu_to_le32(offsetof(struct nvmf_connect_command, qid));
	return refuse(req, NVME_SC_CONNECT_INVALID_PARAM,
		      offsetof(struct nvmf_connect_command, qid));
}

/*
 * The core compares lengths, too, but only when it executes: by then a buffer has been
 * allocated and filled. So lengths that it requires to be equal are compared here. Commands
 * without keyed data get no buffer, so the core's comparison is early enough for them. For
 * commands that it passes through to a controller it has no namespace, and for unknown
 * commands no length. These are left to the core, too.
 */
static u16 check_length(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;
	size_t expected;

	if (rsp->sgl.data != NVMET_RDMA_DATA_KEYED || !req->sq->qid || !req->ns)
		return NVME_SC_SUCCESS;

	switch (req->cmd->common.opcode) {
	case nvme_cmd_read:
	case nvme_cmd_write:
	case nvme_cmd_zone_append:
		expected = nvmet_rdma_pi_len_on_wire(req,
						     nvmet_req_transfer_len(req));
		if (rsp->sgl.len != expected)
			return refuse(req, NVME_SC_SGL_INVALID_DATA,
				      NVMET_RDMA_SQE_DPTR);
		break;
	case nvme_cmd_dsm:
		/* Hosts may send more than the ranges that they name */
		expected = nvmet_req_transfer_len(req);
		if (rsp->sgl.len < expected)
			return refuse(req, NVME_SC_SGL_INVALID_DATA,
				      NVMET_RDMA_SQE_DPTR);
		break;
	}
	return NVME_SC_SUCCESS;
}

/*
 * The core allocates the length that an authentication message names, in one piece, and reads
 * the head of the message, before it checks either. The sender is not authenticated yet.
 */
static u16 check_auth(struct nvmet_rdma_rsp *rsp)
{
	size_t head = sizeof(struct nvmf_auth_dhchap_failure_data);

	if (rsp->sgl.len && (rsp->sgl.len < head || rsp->sgl.len > SZ_64K))
		return refuse(&rsp->req, NVME_SC_INVALID_FIELD,
			      offsetof(struct nvmf_auth_send_command, tl));
	return NVME_SC_SUCCESS;
}

/* The core checks the length of all others, and allocates nothing by it */
static u16 check_fabrics(struct nvmet_rdma_rsp *rsp)
{
	switch (rsp->req.cmd->fabrics.fctype) {
	case nvme_fabrics_type_connect:
		return check_connect(rsp);
	case nvme_fabrics_type_auth_send:
	case nvme_fabrics_type_auth_receive:
		return check_auth(rsp);
	}
	return NVME_SC_SUCCESS;
}

/**
 * nvmet_rdma_check_command() - check what the core does not, or too late
 * @rsp: the command, which the core has parsed
 *
 * Context: may sleep. Return: 0 or an NVMe status.
 */
u16 nvmet_rdma_check_command(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;
	u16 status, error_loc;

	if (unlikely(rsp->sgl.status)) {
		nvmet_rdma_event(rsp->queue, NVMET_RDMA_EV_SGL);
		return refuse(req, rsp->sgl.status, rsp->sgl.error_loc);
	}
	/* by opcode: another Connect may be giving the queue a controller right now */
	if (unlikely(req->cmd->common.opcode == nvme_fabrics_command))
		return check_fabrics(rsp);
	if (unlikely(req->metadata_len)) {
		if (!nvmet_rdma_pi_allows(req, &error_loc))
			return refuse(req, NVME_SC_INVALID_PI, error_loc);
		if (rsp->sgl.len > NVMET_RDMA_PI_MAX_LEN)
			return refuse(req, NVME_SC_SGL_INVALID_DATA,
				      NVMET_RDMA_SQE_DPTR);
	}
	status = check_length(rsp);
	if (unlikely(!status && req->metadata_len && rsp->sgl.data == NVMET_RDMA_DATA_CAPSULE))
		return refuse(req, NVME_SC_SGL_INVALID_TYPE, NVMET_RDMA_SQE_DPTR);
	return status;
}
