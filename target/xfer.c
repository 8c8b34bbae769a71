// SPDX-License-Identifier: GPL-2.0
/*
 * Keyed data: transfers between the host's memory and local buffers.
 *
 * Operation: nvmet_rdma_xfer_init() gives a command a buffer and passes it to the core as
 * req->sg. nvmet_rdma_xfer_wrs() makes the RDMA READs or WRITEs, which the caller posts as one
 * chain. nvmet_rdma_xfer_destroy() frees the buffer.
 *
 * The memory is chunks of the device's cache. Up to 128 KiB take one chunk, one scatter
 * element and one work request, all inside the response. A larger transfer takes parts, each
 * with a work request and as many chunks as that has elements.
 *
 * The alternative is the core's page list with rdma_rw (rw.c). Commands with protection
 * information use pi.c.
 *
 * Shortage: without large chunks a transfer takes more of them, and may need more work
 * requests than its command has reserved. nvmet_rdma_xfer_init() then takes more send credit
 * if there is some. Without credit, pages or a registration it gives back all that it has
 * taken, and the command waits (io.c). A waiting command holds none of these, and one that has
 * all of them completes without more. So each waiting command gets its turn.
 *
 * Ownership: the buffer belongs to the response until the last completion that can refer to
 * it, which is that of the response.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include "limits.h"
#include "params.h"
#include "xfer.h"

/* Elements of a work request of chunks */
static u32 xfer_part_chunks(const struct nvmet_rdma_queue *queue, bool to_target)
{
	return min_t(u32, nvmet_rdma_xfer_max_sge(queue, to_target),
		     NVMET_RDMA_PART_CHUNKS);
}

static u32 xfer_chunks_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			      u32 chunk_size, bool to_target)
{
	u32 chunks = DIV_ROUND_UP(len, chunk_size);

	/* Usually, and without a division */
	if (likely(chunks == 1))
		return 1;
	return DIV_ROUND_UP(chunks, xfer_part_chunks(queue, to_target));
}

/**
 * nvmet_rdma_xfer_max_wrs() - send work requests that any transfer may take
 * @queue: the queue, its QP not yet made
 *
 * Context: any. Return: their number, for a transfer without two pages in a row.
 */
u32 nvmet_rdma_xfer_max_wrs(const struct nvmet_rdma_queue *queue)
{
	u32 most = 0;

	if (queue->use_rw || queue->p2p)
		most = max(nvmet_rdma_rw_nr_wrs(queue, NVMET_RDMA_MAX_LEN, true),
			   nvmet_rdma_rw_nr_wrs(queue, NVMET_RDMA_MAX_LEN, false));
	if (!queue->use_rw)
		most = max3(most,
			    xfer_chunks_nr_wrs(queue, NVMET_RDMA_MAX_LEN,
					       NVMET_RDMA_CHUNK_MIN, true),
			    xfer_chunks_nr_wrs(queue, NVMET_RDMA_MAX_LEN,
					       NVMET_RDMA_CHUNK_MIN, false));
	return queue->pi ? max_t(u32, most, NVMET_RDMA_PI_WRS) : most;
}

/**
 * nvmet_rdma_xfer_nr_wrs() - send work requests that a transfer takes
 * @queue: the queue
 * @len: bytes, 1 to NVMET_RDMA_MAX_LEN
 * @to_target: RDMA READs, not WRITEs
 *
 * Context: any. Return: their number, if there are chunks of the best size.
 */
u32 nvmet_rdma_xfer_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			   bool to_target)
{
	u32 least = queue->pi ? NVMET_RDMA_PI_WRS : 1;

	if (unlikely(queue->use_rw))
		return max(least, nvmet_rdma_rw_nr_wrs(queue, len, to_target));
	return max(least, xfer_chunks_nr_wrs(queue, len, NVMET_RDMA_CHUNK_MAX,
					     to_target));
}

/**
 * nvmet_rdma_xfer_expect_wrs() - send work requests that a transfer will probably take
 * @queue: the queue
 * @len: bytes, 1 to NVMET_RDMA_MAX_LEN
 * @to_target: RDMA READs, not WRITEs
 *
 * Used while memory is short: a command that reserves too few would get its buffer and
 * have to give it back.
 *
 * Context: run_work. Return: their number, with chunks of the size that the last transfer had.
 */
u32 nvmet_rdma_xfer_expect_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			       bool to_target)
{
	return xfer_chunks_nr_wrs(queue, len, queue->min_chunk, to_target);
}

static void xfer_put_parts(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_buffers *bufs = &rsp->queue->dev->bufs;
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	struct nvmet_rdma_chunk *chunks = NULL;
	struct nvmet_rdma_xfer_part *part, *next;
	u32 i;

	for (part = xfer->parts; part; part = next) {
		next = part->next;
		for (i = 0; i < part->nr; i++) {
			part->chunk[i]->next = chunks;
			chunks = part->chunk[i];
		}
		kfree(part);
	}
	xfer->parts = NULL;
	nvmet_rdma_chunks_put(bufs, chunks);
}

static void xfer_set_sge(struct nvmet_rdma_queue *queue, struct ib_sge *sge,
			 const struct nvmet_rdma_chunk *chunk, u32 len)
{
	sge->addr = chunk->dma;
	sge->length = len;
	sge->lkey = queue->dev->pd->local_dma_lkey;
}

/* Appends an empty part behind @last, the last part of a transfer */
static struct nvmet_rdma_xfer_part *
xfer_add_part(struct nvmet_rdma_xfer *xfer, struct nvmet_rdma_xfer_part *last)
{
	struct nvmet_rdma_xfer_part *part = kmalloc(sizeof(*part), GFP_KERNEL);

	if (!part)
		return NULL;
	part->next = NULL;
	part->nr = 0;
	sg_init_table(part->sg, ARRAY_SIZE(part->sg));
	if (!last) {
		xfer->parts = part;
		return part;
	}
	last->next = part;
	/* The element behind the last one in use is the link */
	sg_chain(last->sg, last->nr + 1, part->sg);
	return part;
}

/*
 * Builds a transfer of several chunks, beginning with @chunk. Once a chunk of the best size is
 * missing, that size is not tried again.
 */
static int xfer_get_parts(struct nvmet_rdma_rsp *rsp,
			  struct nvmet_rdma_chunk *chunk)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	u32 in_part = xfer_part_chunks(queue, rsp->sgl.to_target);
	u32 size = NVMET_RDMA_CHUNK_MAX, left = rsp->sgl.len, len;
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	struct nvmet_rdma_xfer_part *part = NULL;

	rsp->req.sg_cnt = 0;
	xfer->nr_parts = 0;
	while (chunk) {
		if (!part || part->nr == in_part) {
			part = xfer_add_part(xfer, part);
			if (!part)
				break;
			xfer->nr_parts++;
		}
		/* A smaller chunk: there is none of the size */
		len = min(left, size);
		if (nvmet_rdma_chunk_size(chunk) < len) {
			if (size == NVMET_RDMA_CHUNK_MAX)
				nvmet_rdma_event(queue, NVMET_RDMA_EV_NO_CHUNK);
			size = nvmet_rdma_chunk_size(chunk);
			len = size;
		}
		part->chunk[part->nr] = chunk;
		sg_set_page(&part->sg[part->nr], chunk->page, len, 0);
		xfer_set_sge(queue, &part->sge[part->nr], chunk, len);
		part->nr++;
		rsp->req.sg_cnt++;
		left -= len;
		if (!left) {
			queue->min_chunk = size;
			sg_mark_end(&part->sg[part->nr - 1]);
			rsp->req.sg = xfer->parts->sg;
			return 0;
		}
		chunk = nvmet_rdma_chunk_get(&queue->dev->bufs,
					     min(left, size));
	}
	if (chunk)
		nvmet_rdma_chunk_put(&queue->dev->bufs, chunk);
	if (xfer->parts)
		xfer_put_parts(rsp);
	return -ENOMEM;
}

static int xfer_get_chunks(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	u32 len = rsp->sgl.len;
	struct nvmet_rdma_chunk *chunk;

	chunk = nvmet_rdma_chunk_get(&queue->dev->bufs,
				     min_t(u32, len, NVMET_RDMA_CHUNK_MAX));
	if (unlikely(!chunk))
		return -ENOMEM;
	if (unlikely(nvmet_rdma_chunk_size(chunk) < len))
		return xfer_get_parts(rsp, chunk);
	if (unlikely(len > queue->min_chunk))
		queue->min_chunk = NVMET_RDMA_CHUNK_MAX;
	xfer->chunk = chunk;
	xfer->nr_parts = 1;
	sg_mark_end(&xfer->sg);
	sg_set_page(&xfer->sg, chunk->page, len, 0);
	xfer_set_sge(queue, &xfer->sge, chunk, len);
	rsp->req.sg = &xfer->sg;
	rsp->req.sg_cnt = 1;
	return 0;
}

static void xfer_put_memory(struct nvmet_rdma_rsp *rsp)
{
	if (unlikely(rsp->xfer.core_pages))
		nvmet_req_free_sgls(&rsp->req);
	else if (unlikely(rsp->xfer.parts))
		xfer_put_parts(rsp);
	else
		nvmet_rdma_chunk_put(&rsp->queue->dev->bufs, rsp->xfer.chunk);
}

/*
 * Reserves @more send work requests for a command at work. Does not wait: a command that
 * holds credit and waits for more could wait for another that does the same.
 */
static bool take_more_credit(struct nvmet_rdma_rsp *rsp, u32 more)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&queue->lock, flags);
	taken = queue->credits >= more;
	if (taken) {
		queue->credits -= more;
		rsp->credit += more;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return taken;
}

/* The command takes more send work requests than it has reserved */
static noinline int xfer_need_credit(struct nvmet_rdma_rsp *rsp, u32 need)
{
	if (take_more_credit(rsp, need - rsp->credit))
		return 0;
	/* The send queue of a weak device may never have as many: wait for larger chunks */
	if (need > rsp->queue->nr_credits)
		return -ENOMEM;
	rsp->cmd->need = max(rsp->cmd->need, need);
	return -EBUSY;
}

/* Does the command have @wrs work requests, or gets them now? */
static inline int xfer_take_credit(struct nvmet_rdma_rsp *rsp, u32 wrs)
{
	u32 need = wrs + NVMET_RDMA_RSP_WRS;

	return likely(need <= rsp->credit) ? 0 : xfer_need_credit(rsp, need);
}

static int xfer_init_pi(struct nvmet_rdma_rsp *rsp)
{
	int ret;

	nvmet_rdma_pi_set_len(rsp);
	ret = nvmet_rdma_rw_alloc_list(rsp);
	return ret ?: nvmet_rdma_pi_init(rsp);
}

static int xfer_init_rw(struct nvmet_rdma_rsp *rsp)
{
	int ret = nvmet_rdma_rw_init(rsp);

	if (ret < 0)
		return ret;
	ret = xfer_take_credit(rsp, ret);
	if (ret)
		nvmet_rdma_rw_destroy(rsp);
	return ret;
}

static int xfer_get(struct nvmet_rdma_rsp *rsp)
{
	const struct nvmet_rdma_queue *queue = rsp->queue;
	bool rw = unlikely(queue->use_rw || nvmet_rdma_rw_wants_p2p(rsp));
	int ret;

	rsp->xfer.core_pages = rw || rsp->req.metadata_len;
	if (unlikely(rsp->req.metadata_len))
		return xfer_init_pi(rsp);

	ret = rw ? nvmet_rdma_rw_alloc_list(rsp) : xfer_get_chunks(rsp);
	if (unlikely(ret))
		return ret;
	ret = rw ? xfer_init_rw(rsp) : xfer_take_credit(rsp, rsp->xfer.nr_parts);
	if (unlikely(ret))
		xfer_put_memory(rsp);
	else
		rsp->xfer.how = rw ? NVMET_RDMA_XFER_RW :
				     NVMET_RDMA_XFER_CHUNKS;
	return ret;
}

/* May the error go away when others have released their resources? */
static bool is_shortage(int error)
{
	/* The DMA API returns -EIO if it has no room to map or bounce a list */
	return error == -ENOMEM || error == -EAGAIN || error == -EBUSY ||
	       error == -EIO;
}

static int xfer_refuse(const struct nvmet_rdma_rsp *rsp, int error)
{
	nvmet_rdma_event(rsp->queue, NVMET_RDMA_EV_TRANSFER);
	nvmet_rdma_queue_warn(rsp->queue,
			      "%s cannot move %zu bytes (error %d); failing the command\n",
			      rsp->queue->dev->ib->name, rsp->req.transfer_len,
			      error);
	return NVME_SC_INTERNAL;
}

/**
 * nvmet_rdma_xfer_init() - get a buffer for a command's keyed data
 * @rsp: the command; its sgl and req.transfer_len are set, the length is not 0
 *
 * Sets req.sg and req.sg_cnt. The buffer holds whatever was there before.
 *
 * Context: may sleep.
 * Return: 0; an NVMe status without the Do Not Retry bit; or a negative errno if the
 * command has to wait for resources of other commands: -EBUSY for the send credit that is
 * in cmd->need now, another for memory, or for a registration. On error it holds nothing.
 */
int nvmet_rdma_xfer_init(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	u32 bytes = 0;
	int ret;

	if (unlikely(!queue->qid || !READ_ONCE(queue->authenticated))) {
		bytes = max(roundup_pow_of_two(rsp->sgl.len), PAGE_SIZE);
		ret = nvmet_rdma_limits_take_data(queue, bytes);
		if (ret == -EDQUOT) {
			nvmet_rdma_event(queue, NVMET_RDMA_EV_TRANSFER);
			return NVME_SC_INTERNAL;
		}
		if (ret)
			return ret;
	}
	ret = xfer_get(rsp);
	if (likely(!ret)) {
		rsp->xfer.charged = bytes;
		return NVME_SC_SUCCESS;
	}
	if (bytes)
		nvmet_rdma_limits_give_data(queue, bytes);
	return is_shortage(ret) ? ret : xfer_refuse(rsp, ret);
}

static void xfer_sync_for_device(struct ib_device *ib, const struct ib_sge *sge,
				 u32 nr)
{
	for (; nr; nr--, sge++)
		ib_dma_sync_single_for_device(ib, sge->addr, sge->length,
					      DMA_BIDIRECTIONAL);
}

/* Makes the READ or WRITE of @nr elements; the caller sets @next */
static void xfer_init_wr(struct nvmet_rdma_rsp *rsp, struct ib_rdma_wr *wr,
			 struct ib_sge *sge, u32 nr, u64 addr)
{
	wr->wr.wr_cqe = &rsp->data_cqe;
	wr->wr.opcode = rsp->sgl.to_target ? IB_WR_RDMA_READ :
					     IB_WR_RDMA_WRITE;
	wr->wr.send_flags = 0;
	wr->wr.sg_list = sge;
	wr->wr.num_sge = nr;
	wr->remote_addr = addr;
	wr->rkey = rsp->sgl.key;
	xfer_sync_for_device(rsp->queue->dev->ib, sge, nr);
}

static u32 xfer_part_bytes(const struct nvmet_rdma_xfer_part *part)
{
	u32 i, bytes = 0;

	for (i = 0; i < part->nr; i++)
		bytes += part->sge[i].length;
	return bytes;
}

static struct ib_send_wr *xfer_chunk_wrs(struct nvmet_rdma_rsp *rsp,
					 struct ib_send_wr *then)
{
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	struct ib_rdma_wr *last = &xfer->wr;
	struct nvmet_rdma_xfer_part *part;
	u64 addr = rsp->sgl.addr;

	if (likely(!xfer->parts))
		xfer_init_wr(rsp, &xfer->wr, &xfer->sge, 1, addr);
	for (part = xfer->parts; part; part = part->next) {
		xfer_init_wr(rsp, &part->wr, part->sge, part->nr, addr);
		addr += xfer_part_bytes(part);
		if (part != xfer->parts)
			last->wr.next = &part->wr.wr;
		last = &part->wr;
	}

	last->wr.next = then;
	if (!then) {
		last->wr.wr_cqe = &rsp->read_cqe;
		last->wr.send_flags = IB_SEND_SIGNALED;
	}
	return likely(!xfer->parts) ? &xfer->wr.wr : &xfer->parts->wr.wr;
}

/**
 * nvmet_rdma_xfer_wrs() - make the work requests that move the data
 * @rsp: the command
 * @then: work request to follow, for a WRITE; NULL for a READ, the last of
 *	  which then completes at read_cqe, and for a WRITE that the response
 *	  waits for, which completes at write_cqe
 *
 * Only the last work request of the chain is signaled. It completes last
 * however the others end, so that nothing else needs to be waited for.
 *
 * Context: any. Return: the first of the chain, to be posted at once.
 */
struct ib_send_wr *nvmet_rdma_xfer_wrs(struct nvmet_rdma_rsp *rsp,
				       struct ib_send_wr *then)
{
	if (likely(rsp->xfer.how == NVMET_RDMA_XFER_CHUNKS))
		return xfer_chunk_wrs(rsp, then);
	return nvmet_rdma_rw_wrs(rsp, then);
}

/**
 * nvmet_rdma_xfer_unmap() - give up what of a buffer needs the QP
 * @rsp: the command, with a buffer or without; the HCA does not know it any more, or
 *	 is dead
 *
 * The memory stays the command's.
 *
 * Context: any.
 */
void nvmet_rdma_xfer_unmap(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;

	if (xfer->how == NVMET_RDMA_XFER_PI)
		nvmet_rdma_pi_destroy(rsp);
	else if (xfer->how == NVMET_RDMA_XFER_RW)
		nvmet_rdma_rw_destroy(rsp);
	else
		return;
	xfer->how = NVMET_RDMA_XFER_UNMAPPED;
}

/**
 * nvmet_rdma_xfer_sync_for_cpu() - make data that was read visible here
 * @rsp: the command; its RDMA READs have completed
 *
 * With rdma_rw the data becomes visible when it is unmapped, which has to be
 * now: the core is about to read it.
 *
 * Context: any.
 */
void nvmet_rdma_xfer_sync_for_cpu(struct nvmet_rdma_rsp *rsp)
{
	struct ib_device *ib = rsp->queue->dev->ib;
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;
	struct nvmet_rdma_xfer_part *part;
	u32 i;

	if (unlikely(xfer->how != NVMET_RDMA_XFER_CHUNKS)) {
		nvmet_rdma_xfer_unmap(rsp);
		return;
	}
	if (likely(!xfer->parts))
		ib_dma_sync_single_for_cpu(ib, xfer->sge.addr, xfer->sge.length,
					   DMA_BIDIRECTIONAL);
	for (part = xfer->parts; part; part = part->next) {
		for (i = 0; i < part->nr; i++)
			ib_dma_sync_single_for_cpu(ib, part->sge[i].addr,
						   part->sge[i].length,
						   DMA_BIDIRECTIONAL);
	}
}

/**
 * nvmet_rdma_xfer_destroy_list() - give the buffers of several commands back
 * @first: the commands, of one queue, with or without one; linked by @next. The HCA does not know
 *	   them any more
 *
 * Context: any.
 */
void nvmet_rdma_xfer_destroy_list(struct nvmet_rdma_rsp *first)
{
	struct nvmet_rdma_chunk *chunks, **end = &chunks;
	struct nvmet_rdma_rsp *rsp;

	for (rsp = first; rsp; rsp = rsp->next) {
		struct nvmet_rdma_xfer *xfer = &rsp->xfer;

		if (xfer->how == NVMET_RDMA_XFER_NONE)
			continue;
		if (unlikely(xfer->how != NVMET_RDMA_XFER_CHUNKS || xfer->parts ||
			     xfer->charged)) {
			nvmet_rdma_xfer_destroy(rsp);
			continue;
		}
		*end = xfer->chunk;
		end = &xfer->chunk->next;
		xfer->how = NVMET_RDMA_XFER_NONE;
	}
	*end = NULL;
	if (chunks)
		nvmet_rdma_chunks_put(&first->queue->dev->bufs, chunks);
}

/**
 * nvmet_rdma_xfer_destroy() - give a command's buffer back
 * @rsp: the command, with or without one; the HCA does not know it any more
 *
 * Context: any.
 */
void nvmet_rdma_xfer_destroy(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_xfer *xfer = &rsp->xfer;

	switch (xfer->how) {
	case NVMET_RDMA_XFER_NONE:
		return;
	case NVMET_RDMA_XFER_RW:
	case NVMET_RDMA_XFER_PI:
		nvmet_rdma_xfer_unmap(rsp);
		fallthrough;
	case NVMET_RDMA_XFER_CHUNKS:
	case NVMET_RDMA_XFER_UNMAPPED:
		xfer_put_memory(rsp);
		break;
	}
	xfer->how = NVMET_RDMA_XFER_NONE;
	if (unlikely(xfer->charged)) {
		nvmet_rdma_limits_give_data(rsp->queue, xfer->charged);
		xfer->charged = 0;
	}
}
