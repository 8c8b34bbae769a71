/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: commands at work, their data and their responses */
#ifndef NVMET_RDMA_RESPONSE_H
#define NVMET_RDMA_RESPONSE_H

#include <linux/blkdev.h>
#include <linux/llist.h>
#include <linux/nvme.h>
#include <linux/scatterlist.h>

#include <rdma/rw.h>

#include "buffer.h"
#include "core-abi/core.h"
#include "params.h"
#include "sgl.h"

struct nvmet_rdma_cmd;
struct nvmet_rdma_queue;

/**
 * enum nvmet_rdma_xfer_how - the memory of a command's keyed data
 * @NVMET_RDMA_XFER_NONE: nothing
 * @NVMET_RDMA_XFER_CHUNKS: chunks of the device's cache
 * @NVMET_RDMA_XFER_RW: the core's pages, mapped by rdma_rw
 * @NVMET_RDMA_XFER_PI: the core's pages and metadata, mapped by rdma_rw; see pi.c
 * @NVMET_RDMA_XFER_UNMAPPED: the core's pages, after rdma_rw has unmapped them
 */
enum nvmet_rdma_xfer_how {
	NVMET_RDMA_XFER_NONE,
	NVMET_RDMA_XFER_CHUNKS,
	NVMET_RDMA_XFER_RW,
	NVMET_RDMA_XFER_PI,
	NVMET_RDMA_XFER_UNMAPPED,
};

/* Chunks of a work request: as many as the largest transfer has of the largest size */
#define NVMET_RDMA_PART_CHUNKS	(NVMET_RDMA_MAX_LEN / NVMET_RDMA_CHUNK_MAX)

/**
 * struct nvmet_rdma_xfer_part - a work request of a transfer of several chunks
 * @next: the next part, or NULL
 * @nr: chunks
 * @wr: RDMA READ or WRITE
 * @sge: the chunks, for the HCA
 * @chunk: the chunks
 * @sg: the chunks, for the core, and behind them a link to those of the next part
 */
struct nvmet_rdma_xfer_part {
	struct nvmet_rdma_xfer_part	*next;
	u32				nr;
	struct ib_rdma_wr		wr;
	struct ib_sge			sge[NVMET_RDMA_PART_CHUNKS];
	struct nvmet_rdma_chunk		*chunk[NVMET_RDMA_PART_CHUNKS];
	struct scatterlist		sg[NVMET_RDMA_PART_CHUNKS + 1];
};

/**
 * struct nvmet_rdma_xfer - a transfer of keyed data
 * @how: how it is moved
 * @core_pages: the memory is the core's pages, not chunks; set by run_work for each transfer
 * @charged: bytes that count against the limits of limits.c, or 0
 * @parts: the chunks, if there are several; NULL if there is one
 * @nr_parts: work requests that chunks take
 * @chunk: the memory, if that is a single chunk, which is the usual case
 * @sg: the same, for the core
 * @sge: the same, for the HCA, with %NVMET_RDMA_XFER_CHUNKS
 * @wr: RDMA READ or WRITE of it
 * @rw: the transfer of rdma_rw, with %NVMET_RDMA_XFER_RW or %NVMET_RDMA_XFER_PI
 */
struct nvmet_rdma_xfer {
	enum nvmet_rdma_xfer_how	how;
	bool				core_pages;
	u32				charged;
	struct nvmet_rdma_xfer_part	*parts;
	u32				nr_parts;
	struct nvmet_rdma_chunk		*chunk;
	struct scatterlist		sg;
	union {
		struct {
			struct ib_sge		sge;
			struct ib_rdma_wr	wr;
		};
		struct rdma_rw_ctx		rw;
	};
};

/**
 * struct nvmet_rdma_rsp - a started command, and its response
 * @req: the core's request
 * @queue: the queue
 * @cmd: the command's receive; NULL once it is posted again
 * @reading: RDMA READs are under way, or the command waits to be executed, after them or because
 *	     a disk was full (bdev.c): it holds the core's reference. Set by what runs the queue,
 *	     or under its lock; cleared by whichever context ends that: what runs the queue, the
 *	     handler of the READs, or the release
 * @dropped: they were given up with the queue; never cleared
 * @may_wait: the disk may keep the task waiting that executes the command; see bdev.c
 * @polled: the disk that the thread polls for the command; NULL if it does not, or has ended
 * @capsule: the command, if it was moved out of its receive: the core may read it after it
 *	     has responded (effects of a passthru admin command)
 * @cqe: the completion entry, in its block
 * @sgl: where the data is; a copy, as the receive is posted again earlier
 * @capsule_sg: in-capsule data, for the core
 * @xfer: the transfer of keyed data
 * @pi_slba: the first block of a command with protection information
 * @pi_interval: bytes of a block and its protection information
 * @read_cqe: completion of the last RDMA READ
 * @write_cqe: completion of the RDMA WRITE, where the response waits for it
 * @data_cqe: completion of the other READs and of the WRITEs, which complete only if they
 *	      fail
 * @send_cqe: completion of the response
 * @send_sge: the completion entry, for the HCA
 * @send_wr: the response
 * @first: the first of a chain of work requests to be posted; see send.c
 * @last: the last one
 * @sent: number of the last response that was posted before it, or of itself
 * @credit: reserved send work requests
 * @arrived_at: when the command arrived
 * @ns: nanoseconds from then until the response was posted
 * @next: in one of the queue's lists: of free responses, of commands to be
 *	  executed, of responses that were posted
 * @collected: in the queue's list of chains that interrupts have collected
 */
struct nvmet_rdma_rsp {
	struct nvmet_req	req;
	struct nvmet_rdma_queue	*queue;
	struct nvmet_rdma_cmd	*cmd;
	bool			reading;
	bool			dropped;
	bool			may_wait;
	struct nvmet_rdma_polled_disk *polled;
	struct nvme_command	capsule;
	struct nvme_completion	*cqe;
	struct nvmet_rdma_sgl	sgl;
	struct scatterlist	capsule_sg;
	struct nvmet_rdma_xfer	xfer;
	u64			pi_slba;
	u32			pi_interval;
	struct ib_cqe		read_cqe;
	struct ib_cqe		write_cqe;
	struct ib_cqe		data_cqe;
	struct ib_cqe		send_cqe;
	struct ib_sge		send_sge;
	struct ib_send_wr	send_wr;
	struct ib_send_wr	*first;
	struct ib_send_wr	*last;
	u64			sent;
	u32			credit;
	u64			arrived_at;
	u64			ns;
	union {
		struct nvmet_rdma_rsp	*next;
		struct llist_node	collected;
	};
};

/* Responses that are allocated at a time: 16 KiB */
#define NVMET_RDMA_RSP_BLOCK		16

/**
 * struct nvmet_rdma_rsp_block - responses of a queue
 * @next: another block of the queue
 * @nr: responses in it
 * @cqes_dma: the device's address of @cqes, which are mapped unless the QP copies
 *	      them
 * @cqes: their completion entries
 * @rsps: the responses
 */
struct nvmet_rdma_rsp_block {
	struct nvmet_rdma_rsp_block	*next;
	u32				nr;
	u64				cqes_dma;
	struct nvme_completion		cqes[NVMET_RDMA_RSP_BLOCK]
						____cacheline_aligned;
	struct nvmet_rdma_rsp		rsps[];
};

/* The direction of a command's data, for the DMA API */
static inline enum dma_data_direction
nvmet_rdma_xfer_dir(const struct nvmet_rdma_rsp *rsp)
{
	return rsp->sgl.to_target ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/* First in, first out; @last is valid if there is a @first */
struct nvmet_rdma_rsps {
	struct nvmet_rdma_rsp	*first;
	struct nvmet_rdma_rsp	*last;
};

/* Context: with the lock of the list held. */
static inline void nvmet_rdma_rsps_add(struct nvmet_rdma_rsps *rsps,
				       struct nvmet_rdma_rsp *rsp)
{
	rsp->next = NULL;
	if (rsps->first)
		rsps->last->next = rsp;
	else
		rsps->first = rsp;
	rsps->last = rsp;
}

/* The most chains that are posted, and commands that are started, together */
#define NVMET_RDMA_BATCH		16

/* Delay of the first retry of a command that finds no memory, in jiffies */
#define NVMET_RDMA_MIN_RETRY_DELAY		1

/* Send work requests of a response without its data */
#define NVMET_RDMA_RSP_WRS		1

#endif /* NVMET_RDMA_RESPONSE_H */
