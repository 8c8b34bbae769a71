// SPDX-License-Identifier: GPL-2.0
/*
 * host/cm_req.c: what the controller answers to a connection request, and that the
 * target reads in a request what the host wrote.
 *
 * Input: 1 byte length, 2 bytes each of the queue's depth, the queue ID and the
 * controller ID, then the private data of an answer. The parsers get at most the 4
 * bytes of it that mean something.
 */
#include "fuzz.h"

#include "host/cm_req.h"
#include "target/cm_req.h"

/* RDMA_CM_ACCEPT: record format, CRQSIZE: how many commands the controller receives */
static void accepted(const u8 *msg, size_t len, u16 depth)
{
	u16 value = 0xdead, again = 0xbeef, crqsize;
	enum nvme_rdma_cm_answer answer =
		nvme_rdma_cm_parse_rep(msg, len, depth, &value);

	fuzz_check(nvme_rdma_cm_parse_rep(msg, len, depth, &again) == answer);
	fuzz_check(value == again);
	fuzz_near(len, 4);
	if (len < 4) {
		fuzz_check(answer == NVME_RDMA_CM_NO_ANSWER && value == len);
		return;
	}
	if (msg[0] || msg[1]) {
		fuzz_check(answer == NVME_RDMA_CM_WRONG_FORMAT);
		fuzz_check(value == fuzz_field(msg, 0, 2));
		return;
	}
	crqsize = (u16)fuzz_field(msg, 2, 2);
	fuzz_near(crqsize, depth);
	fuzz_check(answer == (crqsize >= depth ? NVME_RDMA_CM_ACCEPTED :
						 NVME_RDMA_CM_FEW_RECEIVES));
	fuzz_check(value == crqsize);
}

/* RDMA_CM_REJECT: record format, status */
static void rejected(const u8 *msg, size_t len)
{
	u16 status = 0xdead, again = 0xbeef;
	bool known = nvme_rdma_cm_parse_rej(msg, len, &status);

	fuzz_check(nvme_rdma_cm_parse_rej(msg, len, &again) == known);
	fuzz_check(known == (len >= 4 && !msg[0] && !msg[1]));
	if (known)
		fuzz_check(status == fuzz_field(msg, 2, 2) && again == status);
	else	/* nobody shall take it for one */
		fuzz_check(status == 0xdead && again == 0xbeef);
}

/* RDMA_CM_REQUEST, 32 bytes: the rest of it is reserved, and that is zeros */
static void requested(u16 qid, u16 depth, u16 cntlid)
{
	static const struct nvmet_rdma_cm_limits most = {
		.max_qid = 0xffff, .admin_depth = 0xffff, .io_depth = 0xffff,
		.needs_ird = true,
	};
	struct nvmet_rdma_cm_req req;
	u8 *msg = malloc(32);
	unsigned int i;

	fuzz_check(msg);
	memset(msg, 0xee, 32);
	nvme_rdma_cm_build_req(msg, qid, depth, cntlid);
	fuzz_check(fuzz_field(msg, 0, 2) == 0);
	fuzz_check(fuzz_field(msg, 2, 2) == qid);
	fuzz_check(fuzz_field(msg, 4, 2) == depth);
	fuzz_check(fuzz_field(msg, 6, 2) == depth - 1u);
	fuzz_check(fuzz_field(msg, 8, 2) == cntlid);
	for (i = 10; i < 32; i++)
		fuzz_check(!msg[i]);
	fuzz_check(nvmet_rdma_parse_cm_req(msg, 32, 1, &most, &req) ==
		   NVMET_RDMA_CM_OK);
	fuzz_check(req.qid == qid && req.depth == depth && req.hrqsize == depth);
	free(msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	/* the CM's and the kernel's private data is at most 255 bytes */
	size_t len = fuzz_take(&in, 1);
	u16 depth = (u16)fuzz_take(&in, 2);
	u16 qid = (u16)fuzz_take(&in, 2);
	u16 cntlid = (u16)fuzz_take(&in, 2);
	u8 *msg = fuzz_exact(in, len < 4 ? len : 4);

	accepted(msg, len, depth);
	rejected(msg, len);
	/* No queue has less than two entries */
	if (depth >= 2)
		requested(qid, depth, cntlid);
	free(msg);
	return 0;
}
