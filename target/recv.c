// SPDX-License-Identifier: GPL-2.0
/*
 * Receives: from their completion to the list of waiting commands, and back to the HCA.
 *
 * Operation: nvmet_rdma_recv_done() checks a completed receive and parses its capsule
 * (sgl.c). list_arrived() appends commands to the queue's list of waiting commands and
 * queues the queue's work (io.c). nvmet_rdma_recv_repost() gives a receive back to the HCA.
 * Receives are posted several at a time, and there are that many more of them.
 *
 * Batches: the poller of a completion queue takes completions in batches (common/cq.c). The
 * handler of a receive collects the command in @arrived of its queue. That takes no lock, as only
 * the poller uses it. After the handlers of the batch, list_batch() lists the commands of each
 * queue together: one lock and one look at the work for all of them. A command that is alone in
 * its batch is listed at once. The poller still owns the completion queue in list_batch(), so a
 * flush waits for that, too. A release may find a queue's marker completed before that. But its
 * queue is DISCONNECTING since before the marker was posted. So the release drops what was listed
 * earlier, and list_batch() gives the rest back. The release frees the queue and its receives after
 * a flush, which it needs for the handlers themselves (qp.c, drain.c).
 *
 * Ownership: a posted receive belongs to the HCA. A completed one belongs to this file until
 * the command is listed, then to the list of waiting commands, and then to the command. A shared
 * receive belongs to the queue whose QP took it until it is posted again. The core works in
 * place, on the command and on the in-capsule data. So the receive is posted again when the
 * response is about to be posted. Earlier, the core still reads it. Later, the host may have
 * the response already, and may send its next command.
 *
 * Depth: a command counts against its queue's depth from its arrival until its response is
 * about to be posted. The host may send another command only after that. A host that keeps to
 * its depth never exceeds it. One that does not would empty an SRQ, so its queue is ended.
 *
 * Low water: when shared receives run low, a command is moved out of its receive, before it
 * starts or while it waits. A copy takes its place, and is freed where the receive would have
 * been posted again. Asynchronous Event Requests are always moved: they stay as long as their
 * controller.
 *
 * Failure: a queue cannot go on with one receive of its own less. Its host would be answered
 * with receiver-not-ready for ever. So the queue is ended if a receive of its own completes in
 * error or cannot be posted again. Its receives are freed with it, wherever they are. A shared
 * receive outlives the queue. Any code that has one which leads to no response posts it again,
 * whatever the queue's state: this file for an invalid capsule or one that arrives too late,
 * release.c for waiting commands, rsp.c for commands whose data never arrived.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/log2.h>
#include <linux/slab.h>

#include "error.h"
#include "list.h"
#include "recv.h"
#include "srq.h"
#include "trace.h"
#include "xfer.h"

/* Posts a receive of the queue's own */
static int nvmet_rdma_recv_post(struct nvmet_rdma_queue *queue,
				struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_recv_chain *chain = &queue->recv_chain;
	struct ib_recv_wr *first;
	unsigned long flags;
	int ret = 0;

	nvmet_rdma_recv_sync_for_device(queue->dev->ib, cmd);
	spin_lock_irqsave(&chain->lock, flags);
	first = nvmet_rdma_recv_chain_add(chain, cmd, NVMET_RDMA_RECV_CHAIN);
	if (first)
		ret = ib_post_recv(queue->qp, first, NULL);
	spin_unlock_irqrestore(&chain->lock, flags);
	return ret;
}

/**
 * nvmet_rdma_recv_nr() - receives of a queue that has its own
 * @queue: the queue
 *
 * Context: any. Return: one for each command that the host may have outstanding,
 * and those that wait to be posted.
 */
u32 nvmet_rdma_recv_nr(const struct nvmet_rdma_queue *queue)
{
	return queue->depth + NVMET_RDMA_RECV_CHAIN - 1;
}

/**
 * struct recv_copy - a command that has been moved out of its receive
 * @cmd: used in place of the receive
 * @capsule: the command
 */
struct recv_copy {
	struct nvmet_rdma_cmd	cmd;
	struct nvme_command	capsule;
};

static void recv_free_copy(struct nvmet_rdma_cmd *cmd)
{
	kfree(cmd->icd);
	kfree(container_of(cmd, struct recv_copy, cmd));
}

/**
 * nvmet_rdma_recv_repost() - give a receive back to the HCA
 * @cmd: the receive, whose content is not needed any more, or the copy of a command, which
 *	 is freed
 *
 * Context: any.
 */
void nvmet_rdma_recv_repost(struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_queue *queue = cmd->queue;
	int ret;

	if (cmd->srq) {
		/* The SRQ keeps it and retries: nothing is lost */
		if (unlikely(nvmet_rdma_srq_post(cmd->srq, cmd)))
			nvmet_rdma_event(queue, NVMET_RDMA_EV_POST);
		return;
	}
	if (unlikely(cmd->copied)) {
		recv_free_copy(cmd);
		return;
	}
	/* In a later state it would only be flushed */
	if (unlikely(!nvmet_rdma_queue_is_live(queue)))
		return;

	ret = nvmet_rdma_recv_post(queue, cmd);
	if (unlikely(ret)) {
		nvmet_rdma_queue_warn(queue,
				      "%s cannot post a receive again (error %d); closing the connection, the host will reconnect\n",
				      queue->dev->ib->name, ret);
		nvmet_rdma_event(queue, NVMET_RDMA_EV_POST);
		nvmet_rdma_queue_fail(queue);
	}
}

/**
 * nvmet_rdma_recv_repost_of() - give the receives of responses back to the HCA
 * @rsps: chains of a queue that are about to be posted
 * @n: number of @rsps
 *
 * A command whose data is read has still to be executed, and keeps its receive. Shared
 * receives are posted together, under one lock.
 *
 * Context: any. Return: number of receives that were given back.
 */
unsigned int nvmet_rdma_recv_repost_of(struct nvmet_rdma_rsp **rsps, unsigned int n)
{
	struct nvmet_rdma_cmd *cmd, *shared = NULL;
	unsigned int i, nr = 0;

	for (i = 0; i < n; i++) {
		cmd = rsps[i]->cmd;
		if (!cmd || rsps[i]->reading)
			continue;
		rsps[i]->cmd = NULL;
		nr++;
		if (cmd->srq && READ_ONCE(cmd->block->state) == NVMET_RDMA_BLOCK_USED) {
			cmd->next = shared;
			shared = cmd;
		} else {
			nvmet_rdma_recv_repost(cmd);
		}
	}
	if (shared && unlikely(nvmet_rdma_srq_post_list(shared->srq, shared)))
		nvmet_rdma_event(rsps[0]->queue, NVMET_RDMA_EV_POST);
	return nr;
}

/*
 * Copies a command in a shared receive, not yet known to the core, and its in-capsule data;
 * nvmet_rdma_recv_repost() frees the copy. An allocation of more than a page does not wait
 * for reclaim or compaction, whatever @gfp says: see buffer.c, "Shortage". Returns what to
 * use in place of @cmd, which stays the caller's; NULL without memory.
 */
static struct nvmet_rdma_cmd *nvmet_rdma_recv_copy(const struct nvmet_rdma_cmd *cmd,
						   gfp_t gfp)
{
	struct recv_copy *copy = kmalloc(sizeof(*copy), gfp);
	size_t size;

	if (!copy)
		return NULL;
	copy->cmd = *cmd;
	copy->cmd.copied = true;
	copy->cmd.srq = NULL;
	copy->capsule = *cmd->capsule;
	copy->cmd.capsule = &copy->capsule;
	copy->cmd.icd = NULL;
	if (cmd->sgl.data != NVMET_RDMA_DATA_CAPSULE)
		return &copy->cmd;

	/* A power of two, so that it is aligned as block devices need it */
	size = roundup_pow_of_two(cmd->sgl.len);
	if (size > PAGE_SIZE)
		gfp &= ~__GFP_DIRECT_RECLAIM;
	copy->cmd.icd = kmalloc(size, gfp);
	if (!copy->cmd.icd) {
		kfree(copy);
		return NULL;
	}
	memcpy(copy->cmd.icd, cmd->icd + cmd->sgl.offset, cmd->sgl.len);
	copy->cmd.sgl.offset = 0;
	return &copy->cmd;
}

/**
 * nvmet_rdma_recv_vacate() - move a command out of its shared receive
 * @cmd: the command, not yet known to the core
 * @gfp: how to allocate
 *
 * For an SRQ that runs low. A command may stay as long as a disk takes, so one slow disk
 * could hold all receives of many hosts. Without memory the command stays in its receive.
 *
 * Context: as @gfp says. Return: where the command is now.
 */
struct nvmet_rdma_cmd *nvmet_rdma_recv_vacate(struct nvmet_rdma_cmd *cmd,
					      gfp_t gfp)
{
	struct nvmet_rdma_cmd *copy = nvmet_rdma_recv_copy(cmd,
							   gfp | __GFP_NOWARN);

	if (!copy)
		return cmd;
	if (nvmet_rdma_srq_is_low(cmd->srq))
		nvmet_rdma_event(cmd->queue, NVMET_RDMA_EV_NO_RECEIVE);
	nvmet_rdma_recv_repost(cmd);
	return copy;
}

/**
 * nvmet_rdma_recv_post_all() - post the receives of a new queue
 * @queue: the queue, with receives of its own; its QP exists and its connection is
 *	   not accepted yet
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_recv_post_all(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_recv_block *recvs = queue->recvs;
	u32 i;
	int ret;

	for (i = 0; i < recvs->nr; i++) {
		recvs->cmds[i].queue = queue;
		ret = nvmet_rdma_recv_post(queue, &recvs->cmds[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static noinline void repost_list(struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_cmd *next;

	for (; cmd; cmd = next) {
		next = cmd->next;
		nvmet_rdma_recv_repost(cmd);
	}
}

/* Moves commands of a list out of shared receives, as far as there is memory */
static void vacate(struct nvmet_rdma_queue *queue, struct nvmet_rdma_cmd **link, gfp_t gfp)
{
	struct nvmet_rdma_cmd *cmd, *copy;

	for (; (cmd = *link); link = &(*link)->next) {
		if (!cmd->srq)
			continue;
		copy = nvmet_rdma_recv_copy(cmd, gfp | __GFP_NOWARN);
		if (!copy)
			return;
		nvmet_rdma_event(queue, NVMET_RDMA_EV_NO_RECEIVE);
		/* the copy links to the next command, too */
		*link = copy;
		nvmet_rdma_recv_repost(cmd);
	}
}

/**
 * nvmet_rdma_requeue_waiting() - put commands back among those that wait
 * @queue: their queue, its lock held
 * @first: the first of them
 *
 * They are inserted before all that arrived later. Earlier ones are in the list only if the
 * queue's work has put them back meanwhile.
 *
 * Context: any.
 */
void nvmet_rdma_requeue_waiting(struct nvmet_rdma_queue *queue, struct nvmet_rdma_cmd *first)
{
	struct nvmet_rdma_cmd **link = &queue->waiting, *last = first;
	u32 nr = 1;

	lockdep_assert_held(&queue->lock);
	for (; last->next; last = last->next)
		nr++;
	while (*link && (s32)((*link)->number - first->number) < 0)
		link = &(*link)->next;
	last->next = *link;
	*link = first;
	if (!last->next)
		queue->waiting_end = &last->next;
	queue->nr_waiting += nr;
}

/*
 * Moves waiting commands out of their receives, for an SRQ that runs low.
 *
 * The copies take no more memory than receives of the queue's own would. Meanwhile the
 * commands belong to this function alone, and later ones may overtake them.
 *
 * Context: process; the queue does not leave its SRQ.
 */
static void recv_vacate_waiting(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_cmd *cmds;
	bool kept;

	spin_lock_irq(&queue->lock);
	cmds = queue->waiting;
	queue->waiting = NULL;
	queue->waiting_end = &queue->waiting;
	queue->nr_waiting = 0;
	spin_unlock_irq(&queue->lock);
	if (!cmds)
		return;

	vacate(queue, &cmds, GFP_NOIO);

	spin_lock_irq(&queue->lock);
	/* A queue that is being released does not need its commands any more */
	kept = queue->state <= NVMET_RDMA_Q_LIVE;
	if (kept)
		nvmet_rdma_requeue_waiting(queue, cmds);
	if (queue->state == NVMET_RDMA_Q_LIVE)
		nvmet_rdma_queue_io(queue);
	spin_unlock_irq(&queue->lock);
	if (!kept)
		repost_list(cmds);
}

/**
 * nvmet_rdma_may_pass() - may a command start while another waits for memory?
 * @queue: the queue of both
 * @cmd: the command
 *
 * Context: any.
 */
bool nvmet_rdma_may_pass(const struct nvmet_rdma_queue *queue,
			 const struct nvmet_rdma_cmd *cmd)
{
	return !queue->qid && cmd->sgl.data != NVMET_RDMA_DATA_KEYED;
}

static void depth_exceeded(struct nvmet_rdma_queue *queue)
{
	if (READ_ONCE(queue->state) > NVMET_RDMA_Q_LIVE)
		return;
	nvmet_rdma_queue_warn(queue,
			      "more than %u commands outstanding; closing the connection, check the host's NVMe/RDMA driver\n",
			      queue->depth);
	nvmet_rdma_event(queue, NVMET_RDMA_EV_PROTOCOL);
	nvmet_rdma_queue_fail(queue);
}

static bool one_may_pass(const struct nvmet_rdma_queue *queue, const struct nvmet_rdma_cmd *cmd)
{
	for (; cmd; cmd = cmd->next) {
		if (nvmet_rdma_may_pass(queue, cmd))
			return true;
	}
	return false;
}

/* Moves arrived commands out of their receives. Returns the first one. */
static noinline struct nvmet_rdma_cmd *vacate_arrived(struct nvmet_rdma_queue *queue,
						      struct nvmet_rdma_cmd *first)
{
	vacate(queue, &first, GFP_NOWAIT);
	return first;
}

/*
 * Appends @nr commands, from @first to @last, to the waiting ones. Context: a completion handler,
 * or the end of its batch.
 */
static __always_inline void list_arrived(struct nvmet_rdma_queue *queue,
					 struct nvmet_rdma_cmd *first,
					 struct nvmet_rdma_cmd *last, u32 nr)
{
	unsigned long flags;
	bool none;

	last->next = NULL;
	/*
	 * Handlers run one at a time. The context that answered a command has counted it before
	 * it posted the response. So the count is here before the host's next command is. It is
	 * not undone: the queue ends, takes none of these, and its count does not matter any more.
	 */
	if (unlikely(nvmet_rdma_outstanding(queue) > queue->depth))
		depth_exceeded(queue);
	/*
	 * If the SRQ begins to run low right now, the commands stay: at most a batch for each
	 * completion queue. The SRQ's work moves the commands that wait already, outside of
	 * interrupts.
	 */
	if (unlikely(queue->srq && nvmet_rdma_srq_is_low(queue->srq))) {
		first = vacate_arrived(queue, first);
		for (last = first; last->next; last = last->next)
			;
	}

	spin_lock_irqsave(&queue->lock, flags);
	/* A queue that is being released does not need its commands any more */
	if (unlikely(queue->state > NVMET_RDMA_Q_LIVE)) {
		spin_unlock_irqrestore(&queue->lock, flags);
		repost_list(first);
		return;
	}
	none = !queue->waiting;
	*queue->waiting_end = first;
	queue->waiting_end = &last->next;
	queue->nr_waiting += nr;
	/* If others wait, the work is queued already, or will be */
	if (unlikely(queue->state != NVMET_RDMA_Q_LIVE))
		atomic64_add(nr, &queue->events[NVMET_RDMA_EV_NOT_LIVE]);
	else if (none || (queue->head_blocked && one_may_pass(queue, first)))
		nvmet_rdma_queue_io_and_look(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* The end of a batch. Context: the poller of the completion queue. */
static void list_batch(struct nvmet_rdma_cq_batch *batch)
{
	struct nvmet_rdma_queue *queue = batch->first;
	struct nvmet_rdma_arrived *arrived;
	struct nvmet_rdma_cmd *first;

	*batch->end = NULL;
	batch->first = NULL;
	batch->end = &batch->first;
	for (; queue; queue = arrived->next) {
		arrived = &queue->arrived;
		first = arrived->first;
		arrived->first = NULL;
		list_arrived(queue, first, arrived->last, arrived->nr);
	}
}

/* Appends a command to those that the batch has brought to its queue */
static void add_arrived(struct nvmet_rdma_queue *queue, struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_arrived *arrived = &queue->arrived;
	struct nvmet_rdma_cq_batch *batch;

	if (arrived->first) {
		arrived->last->next = cmd;
		arrived->last = cmd;
		arrived->nr++;
		return;
	}
	arrived->first = cmd;
	arrived->last = cmd;
	arrived->nr = 1;
	batch = queue->cq->context;
	batch->list = list_batch;
	*batch->end = queue;
	batch->end = &arrived->next;
}

/* The command needs more credit than its queue has */
static void reject_length(struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_sgl *sgl = &cmd->sgl;

	cmd->need = NVMET_RDMA_RSP_WRS;
	sgl->data = NVMET_RDMA_DATA_NONE;
	sgl->invalidate = false;
	sgl->status = NVMET_RDMA_SC_SGL_LENGTH;
	sgl->error_loc = NVMET_RDMA_SQE_DPTR;
}

/* A command with a valid capsule has arrived. Context: a completion handler. */
static void recv_arrived(struct nvmet_rdma_queue *queue, struct nvmet_rdma_cmd *cmd)
{
	const struct nvmet_rdma_sgl *sgl = &cmd->sgl;

	cmd->number = queue->arrivals;
	WRITE_ONCE(queue->arrivals, cmd->number + 1);
	cmd->need = NVMET_RDMA_RSP_WRS;
	if (sgl->data == NVMET_RDMA_DATA_KEYED) {
		cmd->need += nvmet_rdma_xfer_nr_wrs(queue, sgl->len, sgl->to_target);
		if (unlikely(cmd->need > queue->nr_credits))
			reject_length(cmd);
	}
	cmd->delay_counted = false;
	if (queue->cq->nr_batch > 1)
		add_arrived(queue, cmd);
	else
		list_arrived(queue, cmd, cmd, 1);
}

static void nvmet_rdma_recv_sync(struct nvmet_rdma_cmd *cmd, u32 received)
{
	struct ib_device *ib = cmd->queue->dev->ib;

	ib_dma_sync_single_for_cpu(ib, cmd->sge[0].addr, cmd->sge[0].length,
				   DMA_FROM_DEVICE);
	if (received > NVMET_RDMA_SQE_LEN)
		ib_dma_sync_single_for_cpu(ib, cmd->sge[1].addr,
					   received - NVMET_RDMA_SQE_LEN,
					   DMA_FROM_DEVICE);
}

/* Completion of a receive. Context: a completion handler. */
static void nvmet_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvmet_rdma_cmd *cmd = container_of(wc->wr_cqe,
						  struct nvmet_rdma_cmd, cqe);
	struct nvmet_rdma_queue *queue;
	u32 received = wc->byte_len;

	cmd->cqe.done = nvmet_rdma_completed_twice;
	if (cmd->srq) {
		cmd->queue = wc->qp->qp_context;
		WRITE_ONCE(cmd->posted_epoch, 0);
	}
	queue = cmd->queue;

	if (nvmet_rdma_drain_forced(queue)) {
		nvmet_rdma_recv_repost(cmd);
		return;
	}
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvmet_rdma_wc_failed(queue, wc, "receiving a capsule");
		nvmet_rdma_recv_repost(cmd);
		return;
	}

	/* An RDMA WRITE with immediate data consumes a receive and writes nothing to it */
	if (unlikely(wc->opcode != IB_WC_RECV))
		received = 0;

	nvmet_rdma_count(queue, NVMET_RDMA_N_RECEIVES);
	if (NVME_RDMA_COUNTS)
		cmd->arrived_at = nvme_rdma_cq_now(queue->cq);
	if (unlikely(cmd->sync))
		nvmet_rdma_recv_sync(cmd, received);
	if (unlikely(!nvmet_rdma_parse_sgl((const u8 *)cmd->capsule, received,
					   &queue->limits, &cmd->sgl))) {
		nvmet_rdma_queue_warn(queue,
				      "invalid capsule length %u (expected %u or more); closing the connection, check the host's NVMe/RDMA driver\n",
				      received, NVMET_RDMA_SQE_LEN);
		nvmet_rdma_event(queue, NVMET_RDMA_EV_PROTOCOL);
		nvmet_rdma_queue_fail(queue);
		nvmet_rdma_recv_repost(cmd);
		return;
	}
	nvmet_rdma_count(queue, (enum nvmet_rdma_count)cmd->sgl.data);
	trace_nvmet_rdma_command(queue, cmd);
	recv_arrived(queue, cmd);
}

const struct nvmet_rdma_srq_ops nvmet_rdma_recv_srq_ops = {
	.recv_done	= nvmet_rdma_recv_done,
	.vacate		= recv_vacate_waiting,
};

/**
 * nvmet_rdma_recv_chain_init() - initialize the chain of a new queue
 * @queue: the queue
 *
 * Context: any.
 */
void nvmet_rdma_recv_chain_init(struct nvmet_rdma_queue *queue)
{
	spin_lock_init(&queue->recv_chain.lock);
	queue->recv_chain.done = nvmet_rdma_recv_done;
}
