// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: from the list of waiting commands to the core.
 *
 * Operation: nvmet_rdma_io_batch() reserves a response and all send work requests that a
 * command will take, for its data and its response, before anything else happens. A command
 * that gets them is started. Others wait in their receives, in the order of arrival. A waiting
 * command holds only its receive: no reference of the core and no buffer. The teardown of a
 * queue gives that receive back. A command that holds credit ends without needing more, so the
 * oldest waiting command gets its turn. A command that needs more credit than the queue has is
 * rejected when it arrives (recv.c).
 *
 * Shortage: a command gets its buffer when it starts, because only then the core knows the
 * namespace. Where memory is short there may be no buffer, or only one of so many pieces that
 * it takes more credit (xfer.c). Then the command goes back to the head of the list with the
 * credit that it needs, and gives up what it held. It is retried when a response of the queue
 * has completed, and by a timer, as memory may be freed elsewhere. On an admin queue, commands
 * that need no buffer pass it. A Keep Alive has to be answered in time, or the host gives up
 * the controller, and an Abort may end the shortage. They hold nothing that it waits for.
 * NVMe defines no order among them.
 *
 * Start: nvmet_rdma_io_start() lets the core parse the command, checks it (check.c), gets a
 * buffer, and executes the command. For an NVMe write the RDMA READ comes first.
 * Its completion (send.c) appends the command to @ready for this work.
 *
 * Context: completion handlers run in interrupts. They neither wait nor execute. The core
 * allocates, takes mutexes, and submits to disks that may be full, so works run the queues, on
 * the CPU of their completions (run.c). A disk that is full or hangs holds up only the queues
 * that use it. A work starts at most a batch of a queue at once, because others wait, too.
 * Commands may be what frees memory, if this machine is its own host. So allocations for them
 * must not wait for I/O.
 *
 * Failure: a command that the core or check.c rejects is answered. When the connection
 * breaks, the core's reference for a started command ends in nvmet_req_uninit() or with its
 * response. Buffers stay with the response until the release has drained the QP.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include "error.h"
#include "io.h"
#include "limits.h"
#include "list.h"
#include "params.h"
#include "recv.h"
#include "send.h"
#include "wq.h"
#include "xfer.h"

/* The operations that the core calls; set by main.c before there is a port */
const struct nvmet_fabrics_ops *nvmet_rdma_core_ops __ro_after_init;

static void use_in_capsule_data(struct nvmet_rdma_rsp *rsp)
{
	void *data = rsp->cmd->icd;

	/*
	 * Hosts place data right behind the command. Otherwise it is moved there: block devices
	 * need it aligned, and the receive has room.
	 */
	if (unlikely(rsp->sgl.offset))
		memmove(data, data + rsp->sgl.offset, rsp->sgl.len);

	sg_set_buf(&rsp->capsule_sg, data, rsp->sgl.len);
	rsp->req.sg = &rsp->capsule_sg;
	rsp->req.sg_cnt = 1;
}

/*
 * A buffer may hold another host's data. Only Reads of a block device are known to fill all of
 * it or to fail. A Read of a file succeeds without data where the file has become shorter than
 * the core knows. Other commands that send data may fill less than the host asked for. With
 * protection information the namespace is always a block device, and the metadata is part of
 * its Read. The core holds the namespace for the command, so its disk does not change.
 */
static void clear_buffer(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;

	if (likely(req->sq->qid && req->ns && req->ns->bdev &&
		   req->cmd->common.opcode == nvme_cmd_read))
		return;
	sg_zero_buffer(req->sg, req->sg_cnt, rsp->sgl.len, 0);
}

/*
 * The core has accepted a command. Unless that connects or authenticates, its host has done
 * both, and the queue keeps its controller until the core is told of the queue's end.
 * end_ctrl() in release.c relies on both.
 */
static void note_authenticated(struct nvmet_rdma_queue *queue,
			       const struct nvme_command *cmd)
{
	if (cmd->common.opcode == nvme_fabrics_command)
		return;
	spin_lock_irq(&queue->lock);
	/* pairs with end_ctrl() */
	smp_store_release(&queue->authenticated, true);
	/* It ended before that; the release waits for this command */
	if (queue->qid && queue->state != NVMET_RDMA_Q_LIVE)
		nvmet_rdma_mark_unfinished(queue);
	spin_unlock_irq(&queue->lock);
	nvmet_rdma_limits_authenticated(queue);
}

/* Has the command to be moved, so that other queues can use its receive? */
static bool must_vacate(const struct nvmet_rdma_cmd *cmd)
{
	return cmd->srq &&
	       (nvmet_rdma_srq_is_low(cmd->srq) ||
		(!cmd->queue->qid && cmd->capsule->common.opcode ==
				     nvme_admin_async_event));
}

/* Returns 0, an NVMe status, or a negative errno as nvmet_rdma_xfer_init() does */
static int prepare_data(struct nvmet_rdma_rsp *rsp)
{
	switch (rsp->sgl.data) {
	case NVMET_RDMA_DATA_NONE:
		break;
	case NVMET_RDMA_DATA_CAPSULE:
		use_in_capsule_data(rsp);
		break;
	case NVMET_RDMA_DATA_KEYED:
		return nvmet_rdma_xfer_init(rsp);
	}
	return NVME_SC_SUCCESS;
}

static void execute(struct nvmet_rdma_rsp *rsp)
{
	if (!nvmet_rdma_bdev_execute(rsp))
		rsp->req.execute(&rsp->req);
}

/*
 * Returns 0, or a negative errno if the command cannot start now. Then the core does not know
 * it, and it is still the caller's.
 */
static int nvmet_rdma_io_start(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_req *req = &rsp->req;
	int status;

	if (unlikely(must_vacate(rsp->cmd)))
		rsp->cmd = nvmet_rdma_recv_vacate(rsp->cmd, GFP_KERNEL);
	rsp->sgl = rsp->cmd->sgl;
	rsp->arrived_at = rsp->cmd->arrived_at;
	rsp->may_wait = false;
	req->cmd = rsp->cmd->capsule;
	if (unlikely(rsp->cmd->copied)) {
		rsp->capsule = *req->cmd;
		req->cmd = &rsp->capsule;
	}
	/* If the core rejects it, it has responded, and the response may be used again already */
	if (!nvmet_rdma_req_init(req, &queue->nvme_cq, &queue->nvme_sq,
				 nvmet_rdma_core_ops))
		return 0;
	if (unlikely(!queue->authenticated))
		note_authenticated(queue, req->cmd);

	status = nvmet_rdma_check_command(rsp);
	if (unlikely(status))
		goto complete;

	req->transfer_len = rsp->sgl.len;
	status = prepare_data(rsp);
	if (unlikely(status < 0)) {
		nvmet_req_uninit(req);
		return status;
	}
	if (unlikely(status))
		goto complete;
	if (rsp->sgl.data == NVMET_RDMA_DATA_KEYED) {
		if (rsp->sgl.to_target) {
			rsp->reading = true;
			nvmet_rdma_xfer_send(rsp);
			return 0;
		}
		clear_buffer(rsp);
	}

	execute(rsp);
	return 0;

complete:
	nvmet_req_complete(req, status);
	return 0;
}

static void execute_ready(struct nvmet_rdma_rsp *rsp)
{
	u16 status = NVME_SC_SUCCESS;

	rsp->reading = false;
	if (unlikely(rsp->xfer.how == NVMET_RDMA_XFER_PI))
		status = nvmet_rdma_pi_check(rsp);
	nvmet_rdma_xfer_sync_for_cpu(rsp);
	if (likely(!status))
		execute(rsp);
	else
		nvmet_req_complete(&rsp->req, status);
}

/* While memory is short, a command needs more credit than it did on arrival; see xfer.c */
static void raise_need(struct nvmet_rdma_queue *queue, struct nvmet_rdma_cmd *cmd)
{
	u32 need;

	if (cmd->sgl.data != NVMET_RDMA_DATA_KEYED)
		return;
	need = NVMET_RDMA_RSP_WRS +
	       nvmet_rdma_xfer_expect_wrs(queue, cmd->sgl.len,
					  cmd->sgl.to_target);
	cmd->need = max(cmd->need, min(need, queue->nr_credits));
}

/* Returns a response with credit for @cmd of a live queue, or NULL if it has to wait */
static struct nvmet_rdma_rsp *reserve(struct nvmet_rdma_queue *queue,
				      struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_rsp *rsp;

	lockdep_assert_held(&queue->lock);
	if (unlikely(queue->min_chunk < NVMET_RDMA_CHUNK_MAX))
		raise_need(queue, cmd);
	if (queue->credits < cmd->need)
		return NULL;
	rsp = queue->free_rsps;
	if (!rsp)
		return NULL;

	queue->free_rsps = rsp->next;
	queue->credits -= cmd->need;
	rsp->credit = cmd->need;
	rsp->cmd = cmd;
	return rsp;
}

/* The oldest command cannot be started: count why, once */
static void count_delay(struct nvmet_rdma_queue *queue,
			struct nvmet_rdma_cmd *cmd, enum nvmet_rdma_event why)
{
	if (cmd->delay_counted)
		return;
	cmd->delay_counted = true;
	nvmet_rdma_event(queue, why);
}

/* The most tags that the block layer takes at once */
#define MAX_PLUG_IOS	32u

/**
 * struct io_batch - commands of one run of the work
 * @ready: commands whose data was read
 * @start: commands to start
 * @nr: number of @start
 * @more: more commands can start
 * @grow: more commands could start with more responses
 */
struct io_batch {
	struct nvmet_rdma_rsp	*ready;
	struct nvmet_rdma_rsps	start;
	unsigned int		nr;
	bool			more;
	bool			grow;
};

/*
 * Takes ready commands, and as many waiting ones, up to @max, as get a response and credit.
 * @batch is empty.
 */
static __always_inline void take_batch(struct nvmet_rdma_queue *queue, struct io_batch *batch,
				       unsigned int max)
{
	struct nvmet_rdma_cmd *cmd;
	struct nvmet_rdma_rsp *rsp;
	bool head_blocked = false;
	unsigned int nr = 0;

	spin_lock_irq(&queue->lock);
	if (unlikely(queue->state != NVMET_RDMA_Q_LIVE))
		goto out;
	batch->ready = queue->ready.first;
	queue->ready.first = NULL;
	WRITE_ONCE(queue->blocked, false);
	while ((cmd = queue->waiting)) {
		if (nr == max) {
			batch->more = true;
			break;
		}
		rsp = reserve(queue, cmd);
		if (unlikely(!rsp)) {
			head_blocked = true;
			batch->grow = !queue->free_rsps &&
				      queue->allocated_rsps < queue->max_rsps;
			if (!batch->grow)
				count_delay(queue, cmd, queue->free_rsps ?
					    NVMET_RDMA_EV_NO_CREDIT :
					    NVMET_RDMA_EV_NO_RESPONSE);
			break;
		}
		nvmet_rdma_rsps_add(&batch->start, rsp);
		nr++;
		queue->waiting = cmd->next;
	}
	if (!cmd)
		queue->waiting_end = &queue->waiting;
	queue->nr_waiting -= nr;
	WRITE_ONCE(queue->head_blocked, head_blocked);
	queue->deep = nr > 1 || (batch->ready && batch->ready->next);
	batch->nr = nr;
out:
	spin_unlock_irq(&queue->lock);
}

/* The delay of a retry begins with a jiffy, and is doubled up to this */
#define MAX_RETRY_DELAY	HZ

static void retry_later(struct nvmet_rdma_queue *queue,
			const struct nvmet_rdma_cmd *cmd)
{
	unsigned long delay = queue->retry_delay;

	/* If it is pending, this retry was caused by a completion */
	if (!queue_delayed_work(nvmet_rdma_io_wq, &queue->retry_work, delay))
		return;
	queue->retry_delay = min_t(unsigned long, 2 * delay, MAX_RETRY_DELAY);
	if (delay < MAX_RETRY_DELAY && queue->retry_delay == MAX_RETRY_DELAY)
		nvmet_rdma_queue_warn(queue,
				      "a command of %u bytes is still waiting for memory; check what uses the memory%s\n",
				      cmd->sgl.len,
				      nvme_rdma_max_mapping(queue->dev->ib) == SIZE_MAX ?
				      "" : ", and the size of the DMA bounce buffer (swiotlb=)");
}

/**
 * nvmet_rdma_io_retry_work() - retry commands that wait for memory
 * @work: of the queue
 *
 * Context: may sleep.
 */
void nvmet_rdma_io_retry_work(struct work_struct *work)
{
	struct nvmet_rdma_queue *queue =
		container_of(to_delayed_work(work), struct nvmet_rdma_queue,
			     retry_work);

	spin_lock_irq(&queue->lock);
	/* The work of a queue that ends has been cancelled */
	if (queue->state == NVMET_RDMA_Q_LIVE)
		nvmet_rdma_queue_io(queue);
	spin_unlock_irq(&queue->lock);
}

/*
 * The first command of @batch that is left cannot start, so those behind it wait again, too, in
 * their old order. The state may have changed: the release drops waiting commands once this
 * work has ended.
 */
static void put_back(struct nvmet_rdma_queue *queue, struct io_batch *batch, int why)
{
	struct nvmet_rdma_cmd *cmd, **link = &cmd;
	struct nvmet_rdma_rsp *rsp, *next;

	spin_lock_irq(&queue->lock);
	for (rsp = batch->start.first; rsp; rsp = next) {
		next = rsp->next;
		*link = rsp->cmd;
		link = &rsp->cmd->next;
		rsp->cmd = NULL;
		queue->credits += rsp->credit;
		rsp->credit = 0;
		rsp->next = queue->free_rsps;
		queue->free_rsps = rsp;
	}
	*link = NULL;
	nvmet_rdma_requeue_waiting(queue, cmd);
	count_delay(queue, cmd, why == -EBUSY ? NVMET_RDMA_EV_NO_CREDIT :
						NVMET_RDMA_EV_NO_MEMORY);
	/* The credit may have been released before the command was in the list */
	batch->more = why == -EBUSY && queue->credits >= cmd->need;
	batch->grow = false;
	WRITE_ONCE(queue->head_blocked, !batch->more);
	if (why != -EBUSY)
		retry_later(queue, cmd);
	spin_unlock_irq(&queue->lock);
}

/* Takes commands that may pass the first one, which waits for memory: at most a batch */
static void take_passing(struct nvmet_rdma_queue *queue, struct io_batch *batch)
{
	struct nvmet_rdma_cmd **link = &queue->waiting, *cmd;
	struct nvmet_rdma_rsp *rsp;

	batch->start.first = NULL;
	batch->nr = 0;
	spin_lock_irq(&queue->lock);
	if (unlikely(queue->state != NVMET_RDMA_Q_LIVE))
		goto out;
	while ((cmd = *link) && batch->nr < NVMET_RDMA_BATCH) {
		if (!nvmet_rdma_may_pass(queue, cmd)) {
			link = &cmd->next;
			continue;
		}
		rsp = reserve(queue, cmd);
		if (!rsp)
			break;
		nvmet_rdma_rsps_add(&batch->start, rsp);
		batch->nr++;
		*link = cmd->next;
		queue->nr_waiting--;
	}
	if (!*link)
		queue->waiting_end = link;
	batch->more = batch->nr == NVMET_RDMA_BATCH;
	batch->grow = cmd && !queue->free_rsps && queue->allocated_rsps < queue->max_rsps;
out:
	spin_unlock_irq(&queue->lock);
}

/* They need no buffer, so each of them starts */
static void start_passing(struct nvmet_rdma_queue *queue, struct io_batch *batch)
{
	struct nvmet_rdma_rsp *rsp, *next;

	take_passing(queue, batch);
	for (rsp = batch->start.first; rsp; rsp = next) {
		next = rsp->next;
		nvmet_rdma_io_start(rsp);
	}
}

/*
 * The first waiting command needs a response or credit. Returns true if there is a response
 * for it now. Otherwise a completion will queue the work.
 */
static bool unblock_head(struct nvmet_rdma_queue *queue, bool grow)
{
	if (grow) {
		if (!nvmet_rdma_rsp_grow(queue))
			return true;
		nvmet_rdma_event(queue, NVMET_RDMA_EV_NO_RESPONSE);
	}
	nvmet_rdma_sweep(queue);
	return false;
}

/* Does a command move data, which is not read from the host first? */
static bool executes_at_once(const struct nvmet_rdma_sgl *sgl)
{
	return sgl->data == NVMET_RDMA_DATA_CAPSULE ||
	       (sgl->data == NVMET_RDMA_DATA_KEYED && !sgl->to_target);
}

/* Lets the block layer know how many requests will come, for it to take their tags at once */
static void expect_ios(const struct io_batch *batch, struct blk_plug *plug)
{
	struct nvmet_rdma_rsp *rsp;
	unsigned int nr = 0;

	for (rsp = batch->ready; rsp; rsp = rsp->next)
		nr++;
	for (rsp = batch->start.first; rsp; rsp = rsp->next)
		nr += executes_at_once(&rsp->cmd->sgl);
	if (nr)
		nvmet_rdma_plug_expect(plug, min(nr, MAX_PLUG_IOS));
}

/* Has the plug got a request last that the block layer may wait with, while it submits? */
static bool newest_blocks(struct blk_plug *plug)
{
	const struct request *rq = nvmet_rdma_plug_newest(plug);

	return rq && rq->mq_hctx->flags & BLK_MQ_F_BLOCKING;
}

/*
 * The block layer may submit in the middle of a plug, while this queue is RUNNING, and some
 * kernels submit the newest request first. So if a driver may sleep, nothing of other queues is
 * to be in the plug with its request. They are left as if the task slept (run.c). Of a command
 * that a stripe splits over several disks, only the last request is looked at.
 */
static bool part_from_others(struct nvmet_rdma_queue *queue)
{
	if (likely(!newest_blocks(current->plug)))
		return false;
	WRITE_ONCE(queue->waits, true);
	io_schedule();
	return true;
}

/* Executes and starts the commands of a batch. @shared: in a plug of several queues */
static __always_inline void execute_batch(struct nvmet_rdma_queue *queue, struct io_batch *batch,
					  bool shared)
{
	struct nvmet_rdma_rsp *rsp, *next;
	int why = 0;

	for (rsp = batch->ready; rsp; rsp = next) {
		next = rsp->next;
		execute_ready(rsp);
		if (shared)
			shared = !part_from_others(queue);
	}
	for (rsp = batch->start.first; rsp; rsp = next) {
		next = rsp->next;
		why = nvmet_rdma_io_start(rsp);
		if (unlikely(why))
			break;
		if (shared)
			shared = !part_from_others(queue);
	}
	if (likely(!why)) {
		queue->retry_delay = NVMET_RDMA_MIN_RETRY_DELAY;
		return;
	}
	batch->start.first = rsp;
	put_back(queue, batch, why);
	if (why != -EBUSY && !queue->qid)
		start_passing(queue, batch);
}

/*
 * The completion queue is not armed while this work runs the queue. If a handler did not
 * count the queue, it was listed while it ran, or not by a handler, or was not busy yet.
 */
static void begin_look(struct nvmet_rdma_queue *queue)
{
	if (queue->looks || !nvmet_rdma_queue_is_busy(queue) ||
	    READ_ONCE(queue->cq->cpu) != raw_smp_processor_id())
		return;
	queue->looks = true;
	nvme_rdma_cq_expect(queue->cq);
}

/*
 * A device that completes a receive twice usually does so at once. Nothing interrupts for the
 * second completion, so the work looks for it before it executes the command: when the receive
 * is posted again, such a completion looks like that of another command.
 */
static void look_for_second(struct nvmet_rdma_queue *queue)
{
	if (queue->looks)
		nvme_rdma_cq_look(queue->cq);
}

/*
 * The end of the batch. If the queue runs again at once, completions are handled first, for
 * its next batch. Nothing below sleeps in this case.
 */
static void end_look(struct nvmet_rdma_queue *queue, bool more)
{
	if (!queue->looks)
		return;
	more |= atomic_read(&queue->run_state) & NVMET_RDMA_RUN_LISTED;
	if (more && !queue->head_blocked && nvme_rdma_cq_is_busy(queue->cq))
		nvme_rdma_cq_look(queue->cq);
	else
		nvmet_rdma_queue_looked(queue);
}

/* The disk gets the commands together, and their responses are posted together */
static noinline void execute_several(struct nvmet_rdma_queue *queue, struct io_batch *batch)
{
	struct blk_plug plug;

	begin_look(queue);
	look_for_second(queue);
	blk_start_plug(&plug);
	nvmet_rdma_send_collect(queue);
	if (queue->qid)
		expect_ios(batch, &plug);
	execute_batch(queue, batch, false);
	nvmet_rdma_send_collected(queue);
	if (queue->looks && unlikely(nvmet_rdma_plug_may_wait(&plug)))
		nvmet_rdma_queue_looked(queue);
	/* Disks that complete synchronously do so here */
	blk_finish_plug(&plug);
	nvmet_rdma_send_collect_end(queue);
	end_look(queue, batch->more);
}

/* The same in the plug of several queues; they end together (run.c) */
static noinline void execute_in_plug(struct nvmet_rdma_queue *queue, struct io_batch *batch,
				     bool look)
{
	if (look)
		begin_look(queue);
	look_for_second(queue);
	nvmet_rdma_send_collect(queue);
	execute_batch(queue, batch, true);
	/* RDMA READs, and what has completed by now, do not wait for other queues */
	nvmet_rdma_send_collected(queue);
	/* The end of the batch may sleep then, and nothing tells this queue of that */
	if (unlikely(queue->head_blocked))
		nvmet_rdma_queue_looked(queue);
}

static __always_inline void execute_one(struct nvmet_rdma_queue *queue, struct io_batch *batch,
					bool shared)
{
	/* Nothing tells of a sleep */
	if (queue->looks)
		nvmet_rdma_queue_looked(queue);
	execute_batch(queue, batch, shared);
}

/* Has a batch several commands? */
static bool is_several(const struct io_batch *batch)
{
	return batch->nr > 1 || (batch->ready && (batch->nr || batch->ready->next));
}

static __always_inline void begin_batch(struct nvmet_rdma_queue *queue, struct io_batch *batch,
					unsigned int max)
{
	if (READ_ONCE(queue->looks) && nvme_rdma_cq_look_early(queue->cq))
		nvme_rdma_cq_look(queue->cq);
	take_batch(queue, batch, max);
}

/* What is left runs in another batch */
static __always_inline void end_batch(struct nvmet_rdma_queue *queue, struct io_batch *batch)
{
	if (unlikely(queue->head_blocked))
		batch->more |= unblock_head(queue, batch->grow);
	if (batch->more)
		nvmet_rdma_queue_io(queue);
}

/**
 * nvmet_rdma_io_batch() - start and execute commands, at most a batch
 * @queue: the queue, RUNNING
 *
 * With several commands it has a plug of its own.
 *
 * Context: may sleep.
 */
void nvmet_rdma_io_batch(struct nvmet_rdma_queue *queue)
{
	struct io_batch batch = {};

	begin_batch(queue, &batch, NVMET_RDMA_BATCH);
	if (is_several(&batch))
		execute_several(queue, &batch);
	else
		execute_one(queue, &batch, false);
	end_batch(queue, &batch);
}

/**
 * nvmet_rdma_io_shared() - start and execute commands in a plug that several queues share
 * @queue: the queue, RUNNING, not an admin queue
 * @max: the most commands to start, NVMET_RDMA_BATCH or less
 * @look: the caller is a work that may count as one that looks for completions
 *
 * The responses of several commands are collected beyond this call. Then the queue is open, until
 * nvmet_rdma_io_shared_done() or nvmet_rdma_io_shared_sleeps().
 *
 * Context: may sleep. Return: true if the queue is open.
 */
bool nvmet_rdma_io_shared(struct nvmet_rdma_queue *queue, unsigned int max, bool look)
{
	struct io_batch batch = {};
	bool several;

	begin_batch(queue, &batch, max);
	several = is_several(&batch);
	if (several)
		execute_in_plug(queue, &batch, look);
	else
		execute_one(queue, &batch, true);
	end_batch(queue, &batch);
	return several;
}

/**
 * nvmet_rdma_io_shared_done() - the end of an open queue, after that of the plug
 * @queue: the queue, which collects no more responses
 *
 * This may poll its completion queue, whose handlers may be for other queues.
 *
 * Context: process; does not sleep.
 */
void nvmet_rdma_io_shared_done(struct nvmet_rdma_queue *queue)
{
	end_look(queue, false);
}

/**
 * nvmet_rdma_io_shared_sleeps() - the end of an open queue before that of the plug
 * @queue: the queue, whose task may sleep
 *
 * Context: its task; does not sleep.
 */
void nvmet_rdma_io_shared_sleeps(struct nvmet_rdma_queue *queue)
{
	nvmet_rdma_send_collect_end(queue);
	nvmet_rdma_queue_looked(queue);
}
