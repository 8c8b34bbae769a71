// SPDX-License-Identifier: GPL-2.0
/*
 * Private data of the CM messages: the request of the host, and the answer of the
 * controller.
 *
 * The messages are little endian records of fixed layout that begin with a
 * record format, 0 in every version of the NVMe/RDMA specification so far.
 * Fabrics pad private data, so a record may be followed by zeros; it may not
 * be shorter than its fields.
 *
 * This file is pure: the unit tests compile it in user space.
 */
#include "cm_req.h"

/* Byte offsets of the fields */
enum {
	RECORD_FORMAT		= 0,
	REQ_QID			= 2,
	REQ_HRQSIZE		= 4,
	REQ_HSQSIZE		= 6,
	REQ_CNTLID		= 8,
	REP_CRQSIZE		= 2,
	REP_LEN			= 4,
	REJ_STATUS		= 2,
	REJ_LEN			= 4,
};

#define RECORD_FORMAT_1_0	0

/**
 * nvme_rdma_cm_build_req() - write the private data of a connection request
 * @buf: NVME_RDMA_CM_REQ_LEN bytes
 * @qid: queue ID, 0 for the admin queue
 * @depth: commands that the host will have outstanding, 2 to 65535
 * @cntlid: the controller's ID for an I/O queue, 0 for the admin queue
 *
 * HRQSIZE is the number of receives that the host posts, HSQSIZE the 0's based
 * submission queue size.
 *
 * Context: any.
 */
void nvme_rdma_cm_build_req(u8 *buf, u16 qid, u16 depth, u16 cntlid)
{
	memset(buf, 0, NVME_RDMA_CM_REQ_LEN);
	put_unaligned_le16(RECORD_FORMAT_1_0, buf + RECORD_FORMAT);
	put_unaligned_le16(qid, buf + REQ_QID);
	put_unaligned_le16(depth, buf + REQ_HRQSIZE);
	put_unaligned_le16(depth - 1, buf + REQ_HSQSIZE);
	put_unaligned_le16(cntlid, buf + REQ_CNTLID);
}

/**
 * nvme_rdma_cm_parse_rep() - read the private data of an accepted connection
 * @data: the private data, may be NULL when @len is 0
 * @len: its length in bytes
 * @depth: commands that the host will have outstanding
 * @value: set to CRQSIZE, or the record format or the length that is wrong
 *
 * Context: any. Return: the answer of the controller.
 */
enum nvme_rdma_cm_answer nvme_rdma_cm_parse_rep(const u8 *data, size_t len,
						u16 depth, u16 *value)
{
	*value = len;
	if (len < REP_LEN)
		return NVME_RDMA_CM_NO_ANSWER;
	*value = get_unaligned_le16(data + RECORD_FORMAT);
	if (*value != RECORD_FORMAT_1_0)
		return NVME_RDMA_CM_WRONG_FORMAT;
	*value = get_unaligned_le16(data + REP_CRQSIZE);
	if (*value < depth)
		return NVME_RDMA_CM_FEW_RECEIVES;
	return NVME_RDMA_CM_ACCEPTED;
}

/**
 * nvme_rdma_cm_parse_rej() - read the private data of a rejected connection
 * @data: the private data, may be NULL when @len is 0
 * @len: its length in bytes
 * @status: set to the NVMe/RDMA status (enum nvme_rdma_cm_status)
 *
 * Context: any. Return: true if the data holds a status.
 */
bool nvme_rdma_cm_parse_rej(const u8 *data, size_t len, u16 *status)
{
	if (len < REJ_LEN ||
	    get_unaligned_le16(data + RECORD_FORMAT) != RECORD_FORMAT_1_0)
		return false;
	*status = get_unaligned_le16(data + REJ_STATUS);
	return true;
}
