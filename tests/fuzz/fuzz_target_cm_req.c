// SPDX-License-Identifier: GPL-2.0
/*
 * target/cm_req.c: the private data of a connection request.
 *
 * Input: 4 bytes length, 1 byte RDMA READs served, 1 byte whether those count, 2 bytes
 * each of the highest queue ID and the depths of the admin and the I/O queues, then
 * the private data. The parser gets at most the 32 bytes that a request has.
 */
#include "fuzz.h"

#include "target/cm_req.h"

/* NVMe/RDMA transport specification, status of RDMA_CM_REJECT */
enum {
	INVALID_LENGTH = 1, INVALID_RECFMT = 2, INVALID_QID = 3,
	INVALID_HSQSIZE = 4, INVALID_HRQSIZE = 5, INVALID_IRD = 7,
};

static bool same(const struct nvmet_rdma_cm_req *a,
		 const struct nvmet_rdma_cm_req *b)
{
	return a->qid == b->qid && a->depth == b->depth &&
	       a->hrqsize == b->hrqsize && a->value == b->value &&
	       a->min == b->min && a->max == b->max;
}

/*
 * Which rules a request breaks. One that is too short has no fields, and the layout of
 * another record format is not known, so those two are found first.
 */
static u64 oracle(const u8 *data, size_t len, u8 ird,
		  const struct nvmet_rdma_cm_limits *limits)
{
	u32 qid, hrqsize, hsqsize, most;
	u64 broken;

	fuzz_near(len, 32);
	fuzz_near(len, 0x10000);
	if (len < 32)
		return fuzz_broken(true, INVALID_LENGTH);
	if (data[0] || data[1])
		return fuzz_broken(true, INVALID_RECFMT);
	qid = (u32)fuzz_field(data, 2, 2);
	hrqsize = (u32)fuzz_field(data, 4, 2);
	hsqsize = (u32)fuzz_field(data, 6, 2);	/* 0's based */
	/* One that asks for too deep an admin queue gets what there is */
	most = qid == 0 ? 0x10000 : limits->io_depth;
	broken = fuzz_broken(qid > limits->max_qid, INVALID_QID);
	/* A queue of one entry is always full */
	broken |= fuzz_broken(hsqsize == 0 || hsqsize >= most, INVALID_HSQSIZE);
	broken |= fuzz_broken(hrqsize == 0, INVALID_HRQSIZE);
	broken |= fuzz_broken(limits->needs_ird && !ird, INVALID_IRD);
	if (fuzz_decides(broken, INVALID_QID))
		fuzz_near(qid, limits->max_qid);
	if (fuzz_decides(broken, INVALID_HSQSIZE)) {
		fuzz_near(hsqsize, 0);
		fuzz_near(hsqsize, 0xffff);
		if (qid)
			fuzz_near(hsqsize, most);
		else
			fuzz_near(hsqsize, most);
	}
	if (fuzz_decides(broken, INVALID_HRQSIZE))
		fuzz_near(hrqsize, 0);
	if (fuzz_decides(broken, INVALID_IRD) && limits->needs_ird)
		fuzz_near(ird, 0);
	return broken;
}

static void check_accepted(const struct nvmet_rdma_cm_req *req, const u8 *data,
			   const struct nvmet_rdma_cm_limits *limits)
{
	u32 least, nr = nvmet_rdma_cm_nr_rsps(req), asked, granted;

	fuzz_check(req->qid == fuzz_field(data, 2, 2));
	fuzz_check(req->qid <= limits->max_qid);
	fuzz_check(req->hrqsize == fuzz_field(data, 4, 2));
	asked = (u32)fuzz_field(data, 6, 2) + 1;
	granted = asked;
	if (!req->qid) {
		fuzz_near(asked, limits->admin_depth);
		if (asked > limits->admin_depth)
			granted = limits->admin_depth;
	}
	fuzz_check(req->depth == granted);
	fuzz_check(req->depth >= 2);
	fuzz_check(req->depth <= (req->qid ? limits->io_depth :
					     limits->admin_depth));
	/* More than the host may have outstanding, and bounded by the target's word */
	least = req->hrqsize;
	if (req->depth <= least)
		least = req->depth;
	fuzz_check(nr >= 2 && nr > least);
	fuzz_check(nr == least * 5 / 4 + 1);
}

/* What the log says of a refusal is true */
static void check_refused(const struct nvmet_rdma_cm_req *req,
			  enum nvmet_rdma_cm_sts status, const u8 *data,
			  size_t len, u8 ird)
{
	u64 found[8] = { [INVALID_LENGTH] = len, [INVALID_IRD] = ird };

	if (len >= 32) {
		found[INVALID_RECFMT] = fuzz_field(data, 0, 2);
		found[INVALID_QID] = fuzz_field(data, 2, 2);
		found[INVALID_HRQSIZE] = fuzz_field(data, 4, 2);
		found[INVALID_HSQSIZE] = fuzz_field(data, 6, 2) + 1;
	}
	fuzz_check(req->value == found[status]);
	fuzz_check(req->value < req->min || req->value > req->max);
}

static void check_names(unsigned int value)
{
	unsigned int i;

	fuzz_near(value, 7);
	fuzz_check(nvmet_rdma_cm_sts_name((enum nvmet_rdma_cm_sts)value)[0]);
	for (i = 0; i < 8; i++)
		fuzz_check(i == value ||
			   strcmp(nvmet_rdma_cm_sts_name((enum nvmet_rdma_cm_sts)i),
				  nvmet_rdma_cm_sts_name((enum nvmet_rdma_cm_sts)value)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	size_t len = fuzz_take(&in, 4);
	u8 ird = (u8)fuzz_take(&in, 1);
	struct nvmet_rdma_cm_limits limits = {
		.needs_ird = fuzz_take(&in, 1) & 1,
		.max_qid = (u16)fuzz_take(&in, 2),
		.admin_depth = (u16)fuzz_take(&in, 2),
		.io_depth = (u16)fuzz_take(&in, 2),
	};
	size_t have = len < 32 ? len : 32;
	u8 *msg = fuzz_exact(in, have), *again = fuzz_exact(in, have);
	u64 broken = oracle(msg, len, ird, &limits);
	struct nvmet_rdma_cm_req req, other;
	enum nvmet_rdma_cm_sts status;

	if (limits.admin_depth < 2)
		limits.admin_depth = 2;
	memset(&req, 0xff, sizeof(req));
	memset(&other, 0, sizeof(other));
	status = nvmet_rdma_parse_cm_req(msg, len, ird, &limits, &req);
	fuzz_check(nvmet_rdma_parse_cm_req(msg, len, ird, &limits, &other) ==
		   status);
	fuzz_check(same(&req, &other));
	fuzz_check(!have || !memcmp(msg, again, have));

	fuzz_check(!!status == !!broken);
	if (status) {
		fuzz_check(fuzz_among(broken, status));
		check_refused(&req, status, msg, len, ird);
	} else {
		check_accepted(&req, msg, &limits);
	}
	check_names((unsigned int)fuzz_field(data, 0, size < 4 ? 0 : 4));
	free(again);
	free(msg);
	return 0;
}
