/* SPDX-License-Identifier: GPL-2.0 */
/* A request: what it is made of, and what it waits for */
#ifndef NVME_RDMA_HOST_REQUEST_H
#define NVME_RDMA_HOST_REQUEST_H

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/nvme.h>
#include <linux/scatterlist.h>

#include <rdma/ib_verbs.h>

#include "core-abi/core.h"
#include "response.h"

struct nvme_rdma_bounce;
struct nvme_rdma_queue;

/*
 * A SEND carries the 64-byte command and, for in-capsule data, at most this
 * many more segments. Four cover the largest in-capsule size in the field,
 * 16 KiB, in 4 KiB pages.
 */
#define NVME_RDMA_MAX_INLINE_SEGMENTS	4

/* Scatter entries inside the request: up to this many need no allocation */
#define NVME_RDMA_REQUEST_SG_CNT	2

/* Scatter entries for metadata inside the request: usually enough */
#define NVME_RDMA_META_SG_CNT		1

/* How a request's data travels */
enum nvme_rdma_data {
	NVME_RDMA_DATA_NONE,		/* no data */
	NVME_RDMA_DATA_IN_CAPSULE,	/* behind the command in its capsule */
	NVME_RDMA_DATA_REGISTERED,	/* through the MR of this request's tag */
	NVME_RDMA_DATA_PROTECTED,	/* the same, with protection information */
	NVME_RDMA_DATA_GLOBAL,		/* by the unsafe global key */
	NVME_RDMA_NR_DATA,
};

/**
 * struct nvme_rdma_meta - metadata of a request, if it is separate from the data
 * @nents:	entries of @sgt before DMA mapping; 0: there is no metadata
 * @count:	DMA segments
 * @pract:	the command came with PRACT, which the RDMA device does instead
 * @sgt:	the metadata
 * @sg:		first entries of @sgt
 */
struct nvme_rdma_meta {
	int			nents;
	int			count;
	bool			pract;
	struct sg_table		sgt;
	struct scatterlist	sg[NVME_RDMA_META_SG_CNT];
};

/**
 * struct nvme_rdma_request - the driver's part of a block request
 * @req:	the core's part; it must come first
 * @cmd:	the command as the core built it; @req.cmd points here for life
 * @queue:	the queue that owns the request for life
 * @waits:	enum nvme_rdma_wait; written before the post, cleared by events
 * @status:	from the response, wire format
 * @result:	from the response
 * @data:	how the data travels
 * @aborted:	an Abort was sent for it; set by the timeout handler, cleared by queue_rq()
 * @timed_out:	it timed out once after its response; as @aborted
 * @nents:	entries of @sgt before DMA mapping; 0: its only entry is mapped as a page
 * @mr:		this tag's MR while @data is registered or protected
 * @bounce:	pages in place of the data, see bounce.c; NULL: the data itself
 * @next:	next request to be posted; under the queue's sq_lock once it is pending
 * @sent_at:	time of the post, or of the beginning of its plug, in nanoseconds of ktime
 * @retires:	SQ slots that the signaled SEND of this request gives back
 * @send_cqe:	completion of the SEND, if it is signaled
 * @inv_cqe:	completion of LOCAL_INV
 * @send_wr:	the capsule
 * @reg_wr:	the registration, posted before the capsule
 * @sge:	the command, then in-capsule data
 * @sgt:	the data
 * @sg:		first entries of @sgt
 * @meta:	allocated only if the controller has @pi
 */
struct nvme_rdma_request {
	struct nvme_request	req;
	struct nvme_command	cmd;
	struct nvme_rdma_queue	*queue;
	atomic_t		waits;
	__le16			status;
	union nvme_result	result;
	enum nvme_rdma_data	data;
	bool			aborted;
	bool			timed_out;
	int			nents;
	struct ib_mr		*mr;
	struct nvme_rdma_bounce	*bounce;
	struct nvme_rdma_request *next;
	u64			sent_at;
	unsigned int		retires;
	struct ib_cqe		send_cqe;
	struct ib_cqe		inv_cqe;
	struct ib_send_wr	send_wr;
	struct ib_reg_wr	reg_wr;
	struct ib_sge		sge[1 + NVME_RDMA_MAX_INLINE_SEGMENTS];
	struct sg_table		sgt;
	struct scatterlist	sg[NVME_RDMA_REQUEST_SG_CNT];
	struct nvme_rdma_meta	meta[];
};

/* Context: any. Does a request still wait for an event? */
static inline bool nvme_rdma_waits_for(struct nvme_rdma_request *req,
				       enum nvme_rdma_wait event)
{
	return atomic_read(&req->waits) & event;
}

/* Context: any. Does its data travel through an MR? */
static inline bool nvme_rdma_registered(const struct nvme_rdma_request *req)
{
	return req->data == NVME_RDMA_DATA_REGISTERED ||
	       req->data == NVME_RDMA_DATA_PROTECTED;
}

#endif /* NVME_RDMA_HOST_REQUEST_H */
