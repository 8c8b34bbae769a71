// SPDX-License-Identifier: GPL-2.0
/*
 * Responses and the send queue: what is posted together, what is signaled, what is free again.
 *
 * Operation: the core calls nvmet_rdma_queue_response() when a command has completed, in any
 * context. This posts one chain: the RDMA WRITEs of the data and the SEND of the completion
 * entry, which invalidates the host's key if the host asked for that. The post copies the entry
 * where the QP grants 16 bytes of inline data. Right before the post, the command's receive is
 * given back, as the host may send its next command then.
 *
 * Batches: chains of commands that the queue's work executes at once are posted together, at
 * the end of its batch or before it sleeps. Their receives are, too. The block layer's plug
 * reports a sleep, so no response and no receive waits for a disk.
 *
 * Collecting: a disk that interrupts ends several commands in one interrupt. Their chains are
 * collected without a lock, and the first one schedules a tasklet. That runs right after the
 * interrupt, or after the softirq, and posts all of them together. The last command of a queue
 * has no other one to be posted with: its chain is posted at once. So are chains from tasks.
 *
 * Signaling: only every Nth response is signaled. The send queue completes in order, so the
 * completion of a signaled work request covers all before it. Only then are buffers, send
 * credit and responses free: until then the HCA may have to send the same data again. Each
 * response has a number, by its place in the send queue, and a signaled work request knows the
 * number of the last response before it.
 *
 * Sweeps: the responses behind the last signaled one are few and hold little. Large buffers,
 * registrations and the admin queue are always signaled. If a command waits for credit, or
 * nothing has arrived for a while and the memory should be freed, an empty RDMA WRITE is
 * posted behind them. Its completion retires them. Code that finds a command waiting sets
 * @head_blocked and then sweeps, under sq_lock. Code that posts reads @head_blocked under
 * sq_lock. So a response is either swept or signaled.
 *
 * Counting: a command is counted when its response has completed, because only one completion
 * handler of a queue runs at a time. Until then the response keeps the values.
 *
 * Failure: if a post fails in the middle of a chain, the HCA may still read the buffers. The
 * responses then keep them until the queue is freed, after the drain. There is no retry: the
 * queue is ended and the host reconnects. A command whose READs are not all posted is not
 * executed, and the core's reference ends here.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "error.h"
#include "list.h"
#include "recv.h"
#include "send.h"
#include "trace.h"
#include "xfer.h"

/* Unsignaled responses that may be posted, and bytes of their buffers */
#define MAX_UNSIGNALED		8
#define MAX_UNSIGNALED_BYTES	SZ_32K
/* and the part of a queue's responses that they may be */
#define UNSIGNALED_PART	8

static void read_done(struct ib_cq *cq, struct ib_wc *wc);
static void pi_write_done(struct ib_cq *cq, struct ib_wc *wc);
static void send_done(struct ib_cq *cq, struct ib_wc *wc);

/**
 * nvmet_rdma_drop_read() - give up a command whose RDMA READs will not be executed
 * @rsp: the response, which keeps buffer and credit for the release
 *
 * Drops the core's reference that the READs have, if there are any.
 *
 * Context: any; nothing else uses the READs.
 */
void nvmet_rdma_drop_read(struct nvmet_rdma_rsp *rsp)
{
	if (!rsp->reading)
		return;
	WRITE_ONCE(rsp->dropped, true);
	/* Pairs with nvmet_rdma_rsp_executes(), which would take it for one that is executed */
	smp_store_release(&rsp->reading, false);
	nvmet_req_uninit(&rsp->req);
}

/* ---- posts ---- */

static bool is_response(const struct nvmet_rdma_rsp *rsp)
{
	return rsp->last == &rsp->send_wr;
}

/* Shall the response be signaled? */
static bool wants_signal(struct nvmet_rdma_queue *queue,
			 const struct nvmet_rdma_rsp *rsp)
{
	queue->unsignaled++;
	if (rsp->xfer.how == NVMET_RDMA_XFER_CHUNKS)
		queue->unsignaled_bytes += rsp->sgl.len;
	else if (rsp->xfer.how != NVMET_RDMA_XFER_NONE)
		return true;
	return queue->unsignaled >= queue->max_unsignaled ||
	       queue->unsignaled_bytes >= MAX_UNSIGNALED_BYTES ||
	       READ_ONCE(queue->head_blocked);
}

static void note_signaled(struct nvmet_rdma_queue *queue)
{
	if (!queue->signaled++)
		WRITE_ONCE(queue->last_progress, jiffies);
}

/* The work requests of a chain */
static u32 nr_wrs(const struct nvmet_rdma_rsp *rsp)
{
	const struct ib_send_wr *wr;
	u32 nr = 1;

	for (wr = rsp->first; wr != rsp->last; wr = wr->next)
		nr++;
	return nr;
}

/*
 * A chain takes its place in the send queue, at the time @now. It may complete only from now
 * on: an earlier completion is reported as an error.
 */
static void take_place(struct nvmet_rdma_queue *queue,
		       struct nvmet_rdma_rsp *rsp, u64 now)
{
	if (!is_response(rsp)) {
		rsp->sent = queue->sent;
		if (rsp->sgl.to_target)
			rsp->read_cqe.done = read_done;
		else
			rsp->write_cqe.done = pi_write_done;
		note_signaled(queue);
		return;
	}
	rsp->send_cqe.done = send_done;
	rsp->ns = now > rsp->arrived_at ? now - rsp->arrived_at : 0;
	trace_nvmet_rdma_response(rsp);
	rsp->sent = ++queue->sent;
	nvmet_rdma_rsps_add(&queue->unretired, rsp);
	if (wants_signal(queue, rsp)) {
		queue->unsignaled = 0;
		queue->unsignaled_bytes = 0;
		rsp->send_wr.send_flags |= IB_SEND_SIGNALED;
		note_signaled(queue);
	} else {
		rsp->send_wr.send_flags &= ~IB_SEND_SIGNALED;
	}
}

/*
 * Finds the first of @n chains that the HCA has not taken completely. Begins at the end:
 * chains that it has taken may have completed, and may be reused.
 */
static unsigned int first_failed(struct nvmet_rdma_rsp **rsps, unsigned int n,
				 const struct ib_send_wr *bad)
{
	const struct ib_send_wr *wr;
	unsigned int i = n;

	while (i--) {
		for (wr = rsps[i]->first; wr != bad && wr != rsps[i]->last;)
			wr = wr->next;
		if (wr == bad)
			return i;
	}
	return 0;
}

/* They were the last to take places, and must not be retired as sent */
static void undo_places(struct nvmet_rdma_queue *queue,
			struct nvmet_rdma_rsp **rsps, unsigned int n)
{
	struct nvmet_rdma_rsp *rsp, *last = NULL;
	unsigned int i;

	lockdep_assert_held(&queue->sq_lock);
	for (i = 0; i < n && !is_response(rsps[i]); i++)
		;
	if (i == n)
		return;
	for (rsp = queue->unretired.first; rsp != rsps[i]; rsp = rsp->next)
		last = rsp;
	if (last)
		last->next = NULL;
	else
		queue->unretired.first = NULL;
	queue->unretired.last = last;
}

static void post_failed(struct nvmet_rdma_queue *queue,
			struct nvmet_rdma_rsp **rsps, unsigned int n, int error)
{
	bool live = nvmet_rdma_queue_is_live(queue);
	unsigned int i;

	nvmet_rdma_queue_fail(queue);
	nvmet_rdma_event(queue, NVMET_RDMA_EV_POST);
	if (live)
		nvmet_rdma_queue_warn(queue,
				      "%s cannot post %s (error %d); closing the connection, the host will reconnect\n",
				      queue->dev->ib->name,
				      rsps[0]->reading ? "an RDMA READ" :
							 "a response", error);
	for (i = 0; i < n; i++)
		nvmet_rdma_drop_read(rsps[i]);
}

/* Nothing is posted to an HCA that is considered dead; see force_drain() */
static int post_send(struct nvmet_rdma_queue *queue,
		     const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	lockdep_assert_held(&queue->sq_lock);
	*bad = wr;
	if (nvmet_rdma_drain_forced(queue))
		return -ESHUTDOWN;
	return ib_post_send(queue->qp, wr, bad);
}

/*
 * Posts chains. The receives of @answered commands among them were given back; those of READs
 * are still in use. When the lock is released, responses may complete and be reused.
 */
static void post(struct nvmet_rdma_queue *queue, struct nvmet_rdma_rsp **rsps,
		 unsigned int n, unsigned int answered)
{
	const struct ib_send_wr *bad;
	unsigned int i, failed = 0, wrs = 0;
	u64 now = NVME_RDMA_COUNTS ? ktime_get_ns() : 0;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&queue->sq_lock, flags);
	/* pairs with nvmet_rdma_outstanding(); before the host has a response */
	smp_store_release(&queue->answered, queue->answered + answered);
	for (i = 0; i < n; i++) {
		take_place(queue, rsps[i], now);
		if (NVME_RDMA_COUNTS)
			wrs += nr_wrs(rsps[i]);
		rsps[i]->last->next = i + 1 < n ? rsps[i + 1]->first : NULL;
	}
	nvmet_rdma_count_posts(queue, NVMET_RDMA_N_POSTS, 1);
	nvmet_rdma_count_posts(queue, NVMET_RDMA_N_WRS, wrs);
	ret = post_send(queue, rsps[0]->first, &bad);
	if (unlikely(ret)) {
		failed = first_failed(rsps, n, bad);
		undo_places(queue, rsps + failed, n - failed);
	}
	spin_unlock_irqrestore(&queue->sq_lock, flags);
	if (unlikely(ret))
		post_failed(queue, rsps + failed, n - failed, ret);
}

static void post_batch(struct nvmet_rdma_queue *queue)
{
	unsigned int n = queue->nr_batch;

	if (!n)
		return;
	queue->nr_batch = 0;
	post(queue, queue->batch, n, nvmet_rdma_recv_repost_of(queue->batch, n));
}

/*
 * The task is about to sleep. Its callback is off the plug's list. The block layer then
 * submits what it has plugged, or lets other tasks do so. So nothing is collected that would
 * have to wait for this task, and no completion waits for its look.
 */
static void unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct nvmet_rdma_queue *queue =
		container_of(cb, struct nvmet_rdma_queue, plug);

	INIT_LIST_HEAD(&cb->list);
	post_batch(queue);
	nvmet_rdma_queue_looked(queue);
}

/* The task continues, so its callback is removed from the plug's list, if it is there */
static void unplugged(struct nvmet_rdma_queue *queue)
{
	if (!list_empty(&queue->plug.list))
		list_del_init(&queue->plug.list);
}

/**
 * nvmet_rdma_plug_may_wait() - may blk_finish_plug() wait for a disk?
 * @plug: the plug, without callbacks of this module
 *
 * Other callbacks may, such as that of raid1. So may drivers to which it submits, if their
 * queues say so.
 *
 * Context: process; the task of the plug.
 */
bool nvmet_rdma_plug_may_wait(struct blk_plug *plug)
{
	struct request *rq;

	if (!list_empty(&plug->cb_list))
		return true;
	rq_list_for_each(&plug->mq_list, rq) {
		if (rq->mq_hctx->flags & BLK_MQ_F_BLOCKING)
			return true;
	}
	return false;
}

/**
 * nvmet_rdma_send_collect() - collect the chains of commands that this task executes from now on
 * @queue: the queue
 *
 * Context: process, with a plug; one task at a time for a queue.
 */
void nvmet_rdma_send_collect(struct nvmet_rdma_queue *queue)
{
	if (queue->looks)
		list_add(&queue->plug.list, &current->plug->cb_list);
	WRITE_ONCE(queue->batcher, current);
}

/**
 * nvmet_rdma_send_collected() - post the chains that are collected by now
 * @queue: the queue
 *
 * Its callback is not in the plug after this, until a further chain is collected.
 *
 * Context: the task that collects.
 */
void nvmet_rdma_send_collected(struct nvmet_rdma_queue *queue)
{
	unplugged(queue);
	post_batch(queue);
}

/**
 * nvmet_rdma_send_collect_end() - post the collected chains, and collect no more
 * @queue: the queue
 *
 * Context: the task that collects.
 */
void nvmet_rdma_send_collect_end(struct nvmet_rdma_queue *queue)
{
	WRITE_ONCE(queue->batcher, NULL);
	nvmet_rdma_send_collected(queue);
}

/*
 * Posts what interrupts have collected, in their order. The tasklet's SCHED bit is cleared
 * already. So a chain that is collected from now on is either in this list, or its context
 * finds the list empty and schedules the tasklet again.
 *
 * Context: tasklet.
 */
static void post_collected(struct tasklet_struct *tasklet)
{
	struct nvmet_rdma_queue *queue =
		container_of(tasklet, struct nvmet_rdma_queue, post_collected);
	struct llist_node *node = llist_reverse_order(llist_del_all(&queue->collected));
	struct nvmet_rdma_rsp *rsps[NVMET_RDMA_BATCH];
	unsigned int n;

	while (node) {
		/* The node is the response's, which may be reused when it is posted */
		for (n = 0; node && n < NVMET_RDMA_BATCH; n++) {
			rsps[n] = llist_entry(node, struct nvmet_rdma_rsp, collected);
			node = node->next;
		}
		post(queue, rsps, n, nvmet_rdma_recv_repost_of(rsps, n));
	}
}

/* The context is not the work that collects a batch. Context: any. */
static noinline void post_or_collect(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_rdma_cmd *cmd = rsp->reading ? NULL : rsp->cmd;

	/* Is there a command besides this one? It counts until its receive is given back. */
	if (in_interrupt() &&
	    (nvmet_rdma_outstanding(queue) > !!cmd || !llist_empty(&queue->collected))) {
		if (llist_add(&rsp->collected, &queue->collected))
			tasklet_schedule(&queue->post_collected);
		return;
	}
	if (cmd) {
		rsp->cmd = NULL;
		nvmet_rdma_recv_repost(cmd);
	}
	post(queue, &rsp, 1, !!cmd);
}

/* Posts a chain of work requests, or collects it. Context: any. */
static __always_inline void send_chain(struct nvmet_rdma_rsp *rsp, struct ib_send_wr *first,
				       struct ib_send_wr *last)
{
	struct nvmet_rdma_queue *queue = rsp->queue;

	rsp->first = first;
	rsp->last = last;
	/* Not in an interrupt of that task */
	if (READ_ONCE(queue->batcher) != current || !in_task()) {
		post_or_collect(rsp);
		return;
	}
	if (list_empty(&queue->plug.list))
		list_add(&queue->plug.list, &current->plug->cb_list);
	queue->batch[queue->nr_batch++] = rsp;
	if (queue->nr_batch == NVMET_RDMA_BATCH)
		post_batch(queue);
}

/**
 * nvmet_rdma_xfer_send() - post a transfer that has a completion of its own
 * @rsp: the command
 *
 * Context: any.
 */
void nvmet_rdma_xfer_send(struct nvmet_rdma_rsp *rsp)
{
	struct ib_send_wr *first = nvmet_rdma_xfer_wrs(rsp, NULL);
	struct ib_send_wr *last = first;

	while (last->next)
		last = last->next;
	send_chain(rsp, first, last);
}

/* ---- responses ---- */

static void rsp_sync(struct nvmet_rdma_rsp *rsp)
{
	ib_dma_sync_single_for_device(rsp->queue->dev->ib, rsp->send_sge.addr,
				      rsp->send_sge.length, DMA_TO_DEVICE);
}

/* Is data sent before the response: did the host ask for some, without an error? */
static bool rsp_has_data(const struct nvmet_rdma_rsp *rsp)
{
	return rsp->xfer.how != NVMET_RDMA_XFER_NONE && !rsp->sgl.to_target &&
	       !rsp->cqe->status;
}

/* Posts a response behind its data, which begins with @first. Context: any. */
static __always_inline void rsp_send(struct nvmet_rdma_rsp *rsp, struct ib_send_wr *first)
{
	if (!rsp->queue->inline_rsp)
		rsp_sync(rsp);
	send_chain(rsp, first, &rsp->send_wr);
}

/**
 * nvmet_rdma_queue_response() - answer a command (nvmet_fabrics_ops.queue_response)
 * @req: the core's request
 *
 * As soon as the chain is posted, the response may complete and serve another
 * command: neither @req nor anything of it is touched then.
 *
 * Context: any.
 */
void nvmet_rdma_queue_response(struct nvmet_req *req)
{
	struct nvmet_rdma_rsp *rsp = container_of(req, struct nvmet_rdma_rsp,
						  req);
	struct ib_send_wr *send = &rsp->send_wr;
	bool data = rsp_has_data(rsp);

	if (rsp->sgl.invalidate) {
		send->opcode = IB_WR_SEND_WITH_INV;
		send->ex.invalidate_rkey = rsp->sgl.key;
	} else {
		send->opcode = IB_WR_SEND;
	}
	/* With protection information the response waits for the result of the check */
	if (unlikely(data && rsp->xfer.how == NVMET_RDMA_XFER_PI))
		nvmet_rdma_xfer_send(rsp);
	else
		rsp_send(rsp, data ? nvmet_rdma_xfer_wrs(rsp, send) : send);
}

/* ---- completions ---- */

static void count_transfer(const struct nvmet_rdma_rsp *rsp, u64 *n)
{
	n[rsp->sgl.to_target ? NVMET_RDMA_N_BYTES_WRITTEN :
			       NVMET_RDMA_N_BYTES_READ] += rsp->sgl.len;
	if (rsp->sgl.data != NVMET_RDMA_DATA_KEYED)
		return;
	if (likely(rsp->xfer.how == NVMET_RDMA_XFER_CHUNKS))
		n[NVMET_RDMA_N_BY_CHUNKS]++;
	else if (rsp->req.metadata_len)
		n[NVMET_RDMA_N_BY_PI]++;
	else
		n[NVMET_RDMA_N_BY_RW]++;
}

static void count_response(const struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_counts *counts = &rsp->queue->counts;
	u64 *n = counts->n;

	if (!NVME_RDMA_COUNTS)
		return;
	n[NVMET_RDMA_N_INVALIDATES] += rsp->sgl.invalidate;
	if (unlikely(rsp->cqe->status))
		n[NVMET_RDMA_N_ERRORS]++;
	else if (rsp->sgl.data != NVMET_RDMA_DATA_NONE)
		count_transfer(rsp, n);
	nvme_rdma_hist_add(&counts->latency, rsp->ns);
}

/*
 * A work request has completed, and all before it. @sent is the number of the last response
 * among them, and @good says whether that has succeeded. Those before it have. @signaled says
 * whether it was signaled: an unsignaled one completes if it fails.
 *
 * Context: a completion handler of the queue.
 */
static void retire(struct nvmet_rdma_queue *queue, u64 sent, bool good,
		   bool signaled)
{
	struct nvmet_rdma_rsp *retired, *rsp, *last = NULL;
	unsigned long flags;
	u32 credit = 0;

	spin_lock_irqsave(&queue->sq_lock, flags);
	queue->signaled -= signaled;
	WRITE_ONCE(queue->last_progress, jiffies);
	retired = queue->unretired.first;
	for (rsp = retired; rsp && rsp->sent <= sent; rsp = rsp->next)
		last = rsp;
	queue->unretired.first = rsp;
	if (last)
		last->next = NULL;
	spin_unlock_irqrestore(&queue->sq_lock, flags);
	if (!last)
		return;

	for (rsp = retired; rsp; rsp = rsp->next) {
		if (likely(good || rsp->sent < sent))
			count_response(rsp);
		credit += rsp->credit;
		rsp->credit = 0;
	}
	nvmet_rdma_xfer_destroy_list(retired);
	spin_lock_irqsave(&queue->lock, flags);
	last->next = queue->free_rsps;
	queue->free_rsps = retired;
	queue->credits += credit;
	/* The work of a queue that ends has been cancelled */
	if (queue->waiting && queue->state == NVMET_RDMA_Q_LIVE)
		nvmet_rdma_queue_io_and_look(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* The data of an NVMe write was read. Context: a completion handler of the queue. */
static void read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_rsp *rsp = container_of(wc->wr_cqe,
						  struct nvmet_rdma_rsp,
						  read_cqe);
	struct nvmet_rdma_queue *queue = rsp->queue;
	bool ready = false;
	unsigned long flags;

	rsp->read_cqe.done = nvmet_rdma_completed_twice;
	if (nvmet_rdma_drain_forced(queue))
		return;
	nvmet_rdma_count(queue, NVMET_RDMA_N_SENDS);
	retire(queue, rsp->sent, true, true);
	if (likely(wc->status == IB_WC_SUCCESS)) {
		spin_lock_irqsave(&queue->lock, flags);
		ready = queue->state == NVMET_RDMA_Q_LIVE;
		if (likely(ready)) {
			nvmet_rdma_rsps_add(&queue->ready, rsp);
			nvmet_rdma_queue_io_and_look(queue);
		}
		spin_unlock_irqrestore(&queue->lock, flags);
	} else {
		nvmet_rdma_wc_failed(queue, wc, "an RDMA READ");
	}
	if (unlikely(!ready))
		nvmet_rdma_drop_read(rsp);
}

/* The data of an NVMe read was sent. Context: a completion handler of the queue. */
static void pi_write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_rsp *rsp = container_of(wc->wr_cqe,
						  struct nvmet_rdma_rsp,
						  write_cqe);
	struct nvmet_rdma_queue *queue = rsp->queue;
	u16 status;

	rsp->write_cqe.done = nvmet_rdma_completed_twice;
	if (nvmet_rdma_drain_forced(queue))
		return;
	nvmet_rdma_count(queue, NVMET_RDMA_N_SENDS);
	retire(queue, rsp->sent, true, true);
	/* The response keeps buffer and credit for the release */
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvmet_rdma_wc_failed(queue, wc, "an RDMA WRITE");
		return;
	}
	if (unlikely(!nvmet_rdma_queue_is_live(queue)))
		return;

	status = nvmet_rdma_pi_check(rsp);
	if (unlikely(status))
		rsp->cqe->status = cpu_to_le16(status << 1);
	rsp_send(rsp, &rsp->send_wr);
}

/* A signaled response was sent, or one has failed. Context: a completion handler. */
static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_rsp *rsp = container_of(wc->wr_cqe,
						  struct nvmet_rdma_rsp,
						  send_cqe);
	struct nvmet_rdma_queue *queue = rsp->queue;
	bool good = wc->status == IB_WC_SUCCESS;

	rsp->send_cqe.done = nvmet_rdma_completed_twice;
	if (nvmet_rdma_drain_forced(queue))
		return;
	nvmet_rdma_count(queue, NVMET_RDMA_N_SENDS);
	if (unlikely(!good))
		nvmet_rdma_wc_failed(queue, wc, "sending a response");
	retire(queue, rsp->sent, good,
	       rsp->send_wr.send_flags & IB_SEND_SIGNALED);
}

static void sweep_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_queue *queue = container_of(wc->wr_cqe,
						      struct nvmet_rdma_queue,
						      sweep_cqe);

	queue->sweep_cqe.done = nvmet_rdma_completed_twice;
	if (nvmet_rdma_drain_forced(queue))
		return;
	nvmet_rdma_count(queue, NVMET_RDMA_N_SENDS);
	if (unlikely(wc->status != IB_WC_SUCCESS))
		nvmet_rdma_wc_failed(queue, wc, "an empty RDMA WRITE");
	else
		retire(queue, queue->sweep_sent, true, true);
}

/**
 * nvmet_rdma_sweep() - make posted unsignaled responses complete
 * @queue: the queue, with its QP
 *
 * Does nothing if something signaled is under way: its completion covers them.
 *
 * Context: any.
 */
void nvmet_rdma_sweep(struct nvmet_rdma_queue *queue)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &queue->sweep_cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};
	const struct ib_send_wr *bad;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&queue->sq_lock, flags);
	/* A failed sweep stays under way: the drain ends it */
	if (!queue->signaled && queue->unretired.first) {
		queue->unsignaled = 0;
		queue->unsignaled_bytes = 0;
		queue->sweep_sent = queue->sent;
		queue->sweep_cqe.done = sweep_done;
		note_signaled(queue);
		nvmet_rdma_count_posts(queue, NVMET_RDMA_N_SWEEPS, 1);
		ret = post_send(queue, &wr.wr, &bad);
	}
	spin_unlock_irqrestore(&queue->sq_lock, flags);
	if (likely(!ret))
		return;
	nvmet_rdma_event(queue, NVMET_RDMA_EV_POST);
	if (nvmet_rdma_queue_is_live(queue))
		nvmet_rdma_queue_warn(queue,
				      "%s cannot post an empty RDMA WRITE (error %d); closing the connection, the host will reconnect\n",
				      queue->dev->ib->name, ret);
	nvmet_rdma_queue_fail(queue);
}

/**
 * nvmet_rdma_send_init() - initialize the send queue of a new queue
 * @queue: the queue; its qid and max_rsps are set
 *
 * Context: any.
 */
void nvmet_rdma_send_init(struct nvmet_rdma_queue *queue)
{
	spin_lock_init(&queue->sq_lock);
	/* Each response of the admin queue is signaled */
	if (queue->qid)
		queue->max_unsignaled = min_t(u32, MAX_UNSIGNALED,
					      queue->max_rsps / UNSIGNALED_PART);
	queue->plug.callback = unplug;
	tasklet_setup(&queue->post_collected, post_collected);
	INIT_LIST_HEAD(&queue->plug.list);
	queue->last_progress = jiffies;
}

/**
 * nvmet_rdma_send_stop() - wait until all collected chains are posted
 * @queue: the queue; no command of it is in the core, and none starts
 *
 * Nothing is collected any more.
 *
 * Context: may sleep.
 */
void nvmet_rdma_send_stop(struct nvmet_rdma_queue *queue)
{
	tasklet_kill(&queue->post_collected);
}
