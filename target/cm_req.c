// SPDX-License-Identifier: GPL-2.0
/*
 * The private data of a connection request.
 *
 * A host sends the private data before any authentication, and it sizes memory and queue pairs
 * here. So each field is checked against a limit. A request outside the limits is rejected with
 * the status that the specification has for it: a queue that is smaller than the host assumes
 * would only cause receiver-not-ready storms later.
 *
 * This file is pure: the unit tests compile it in user space.
 */
#include "cm_req.h"

/* Byte offsets of the fields */
enum {
	RECFMT	= 0,
	QID	= 2,
	HRQSIZE	= 4,
	HSQSIZE	= 6,
};

#define RECFMT_1_0	0

/* A submission queue of one entry can never hold a command: full is empty */
#define MIN_DEPTH	2
/* HSQSIZE has 16 bits, and is 0's based */
#define MAX_DEPTH	0x10000

static bool is_between(struct nvmet_rdma_cm_req *req, u32 found, u32 least,
		       u32 most)
{
	req->value = found;
	req->min = least;
	req->max = most;
	return found >= least && found <= most;
}

/**
 * nvmet_rdma_parse_cm_req() - read the private data of a connection request
 * @data: the private data, may be NULL when @len is 0
 * @len: its length in bytes; the CM of InfiniBand pads it
 * @ird: RDMA READs that the host serves at once
 * @limits: limits of the request
 * @req: filled in; if it is rejected, value, min and max say why
 *
 * NVMe/RDMA transport specification, "Connection Establishment": HRQSIZE is
 * the number of receives, HSQSIZE is 0's based.
 *
 * A controller reports the depth limit of its I/O queues (CAP.MQES), but not of its admin
 * queue. So an admin queue that is too deep is not rejected, but granted less, which
 * CRQSIZE reports.
 *
 * Context: any; touches nothing but its arguments.
 * Return: NVMET_RDMA_CM_OK, or the status to reject the request with.
 */
enum nvmet_rdma_cm_sts
nvmet_rdma_parse_cm_req(const u8 *data, size_t len, u8 ird,
			const struct nvmet_rdma_cm_limits *limits,
			struct nvmet_rdma_cm_req *req)
{
	u32 most;

	memset(req, 0, sizeof(*req));
	if (!is_between(req, len > 0xffff ? 0xffff : (u32)len,
			NVMET_RDMA_CM_REQ_LEN, 0xffff))
		return NVMET_RDMA_CM_BAD_LEN;

	if (!is_between(req, get_unaligned_le16(data + RECFMT), RECFMT_1_0,
			RECFMT_1_0))
		return NVMET_RDMA_CM_BAD_RECFMT;

	req->qid = get_unaligned_le16(data + QID);
	if (!is_between(req, req->qid, 0, limits->max_qid))
		return NVMET_RDMA_CM_BAD_QID;

	req->depth = get_unaligned_le16(data + HSQSIZE) + 1;
	most = req->qid ? limits->io_depth : MAX_DEPTH;
	if (!is_between(req, req->depth, MIN_DEPTH, most))
		return NVMET_RDMA_CM_BAD_HSQSIZE;
	if (!req->qid && req->depth > limits->admin_depth)
		req->depth = limits->admin_depth;

	req->hrqsize = get_unaligned_le16(data + HRQSIZE);
	if (!is_between(req, req->hrqsize, 1, 0xffff))
		return NVMET_RDMA_CM_BAD_HRQSIZE;

	if (limits->needs_ird && !is_between(req, ird, 1, 0xff))
		return NVMET_RDMA_CM_BAD_IRD;

	return NVMET_RDMA_CM_OK;
}

/**
 * nvmet_rdma_cm_nr_rsps() - the number of responses of a queue
 * @req: a parsed request
 *
 * One for each command that the host may have outstanding, or for each response
 * that it can receive if those are fewer. There are a quarter more, because a host may send
 * its next command as soon as it has a response, before the completion of that response
 * is handled here. Further commands wait in their receives.
 *
 * Context: any. Return: the number, at least 2.
 */
u32 nvmet_rdma_cm_nr_rsps(const struct nvmet_rdma_cm_req *req)
{
	u32 n = req->depth < req->hrqsize ? req->depth : req->hrqsize;

	return n + n / 4 + 1;
}

/**
 * nvmet_rdma_cm_sts_name() - the field that a status is about, for the log
 * @sts: a status
 *
 * Context: any. Return: a constant string, never NULL.
 */
const char *nvmet_rdma_cm_sts_name(enum nvmet_rdma_cm_sts sts)
{
	static const char * const names[] = {
		[NVMET_RDMA_CM_OK]		= "nothing",
		[NVMET_RDMA_CM_BAD_LEN]		= "private data length",
		[NVMET_RDMA_CM_BAD_RECFMT]	= "record format",
		[NVMET_RDMA_CM_BAD_QID]		= "queue ID",
		[NVMET_RDMA_CM_BAD_HSQSIZE]	= "send queue depth (HSQSIZE + 1)",
		[NVMET_RDMA_CM_BAD_HRQSIZE]	= "receive queue size (HRQSIZE)",
		[NVMET_RDMA_CM_NO_RESOURCES]	= "resources",
		[NVMET_RDMA_CM_BAD_IRD]		= "RDMA READs served (IRD)",
	};

	if ((size_t)sts >= ARRAY_SIZE(names))
		return "unknown";
	return names[sts];
}
