// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: from the list of waiting commands to the core.
 *
 * Operation: nvmet_rdma_io_work() reserves a response and all send work requests that a
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
 * Start: nvmet_rdma_io_start() lets the core parse the command, checks what only the transport
 * knows, gets a buffer, and executes the command. For an NVMe write the RDMA READ comes first.
 * Its completion (send.c) appends the command to @ready for this work.
 *
 * Context: completion handlers run in interrupts. They neither wait nor execute. The core
 * allocates, takes mutexes, and submits to disks that may be full, so each queue has a work of
 * its own, on the CPU of its completions. A disk that is full or hangs holds up only the
 * queues that use it. A work starts at most a batch at once, because others have works, too.
 * Commands may be what frees memory, if this machine is its own host. So allocations for them
 * must not wait for I/O.
 *
 * Failure: a command that the core or this file rejects is answered. When the connection
 * breaks, the core's reference for a started command ends in nvmet_req_uninit() or with its
 * response. Buffers stay with the response until the release has drained the QP.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/sched/mm.h>

#include "error.h"
#include "io.h"
#include "limits.h"
#include "params.h"
#include "recv.h"
#include "send.h"
#include "wq.h"
#include "xfer.h"

static_assert((int)NVMET_RDMA_SC_FIELD == (int)NVME_SC_INVALID_FIELD);
static_assert((int)NVMET_RDMA_SC_SGL_LENGTH == (int)NVME_SC_SGL_INVALID_DATA);
static_assert((int)NVMET_RDMA_SC_SGL_TYPE == (int)NVME_SC_SGL_INVALID_TYPE);
static_assert((int)NVMET_RDMA_SC_SGL_OFFSET ==
	      (int)NVME_SC_SGL_INVALID_OFFSET);
static_assert(offsetof(struct nvme_common_command, dptr) == NVMET_RDMA_SQE_DPTR);

/* The operations that the core calls; set by main.c before there is a port */
const struct nvmet_fabrics_ops *nvmet_rdma_core_ops __ro_after_init;

/* Rejects a command, and points to the invalid byte of it */
static u16 refuse(struct nvmet_req *req, u16 status, u16 error_loc)
{
	req->error_loc = error_loc;
	return status | NVME_STATUS_DNR;
}

/*
 * Connect contains the queue ID again. A host that sends different IDs to the CM and to the
 * core would have a queue of one kind with the limits of another.
 */
static u16 check_connect(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	struct nvmet_req *req = &rsp->req;
	u16 qid = le16_to_cpu(req->cmd->connect.qid);

	if (rsp->sgl.len != nvmet_req_transfer_len(req))
		return refuse(req, NVME_SC_SGL_INVALID_DATA,
			      NVMET_RDMA_SQE_DPTR);
	/*
	 * The core would take the controller away again from a queue that already has one, and
	 * nothing would end what depends on that controller.
	 */
	if (!req->cmd->connect.sqsize) {
		req->cqe->result.u32 =
			cpu_to_le32(offsetof(struct nvmf_connect_command,
					     sqsize));
		return refuse(req, NVME_SC_CONNECT_INVALID_PARAM,
			      offsetof(struct nvmf_connect_command, sqsize));
	}
	if (qid == queue->qid)
		return NVME_SC_SUCCESS;

	nvmet_rdma_event(queue, NVMET_RDMA_EV_PROTOCOL);
	nvmet_rdma_queue_warn(queue,
			      "Connect rejected: invalid queue ID %u (expected %u); check the host's NVMe/RDMA driver\n",
			      qid, queue->qid);
	req->cqe->result.u32 =
		cpu_to_le32(offsetof(struct nvmf_connect_command, qid));
	return refuse(req, NVME_SC_CONNECT_INVALID_PARAM,
		      offsetof(struct nvmf_connect_command, qid));
}

/*
 * The core compares lengths, too, but only when it executes: by then a buffer has been
 * allocated and filled. So lengths that it requires to be equal are compared here. For
 * commands that it passes through to a controller it has no namespace, and for unknown
 * commands no length. These are left to the core.
 */
static u16 check_length(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;
	size_t expected;

	if (!req->sq->qid || !req->ns)
		return NVME_SC_SUCCESS;

	switch (req->cmd->common.opcode) {
	case nvme_cmd_read:
	case nvme_cmd_write:
	case nvme_cmd_zone_append:
		expected = nvmet_rdma_pi_len_on_wire(req,
						     nvmet_req_transfer_len(req));
		if (rsp->sgl.len != expected)
			return refuse(req, NVME_SC_SGL_INVALID_DATA,
				      NVMET_RDMA_SQE_DPTR);
		break;
	case nvme_cmd_dsm:
		/* Hosts may send more than the ranges that they name */
		expected = nvmet_req_transfer_len(req);
		if (rsp->sgl.len < expected)
			return refuse(req, NVME_SC_SGL_INVALID_DATA,
				      NVMET_RDMA_SQE_DPTR);
		break;
	}
	return NVME_SC_SUCCESS;
}

/*
 * The core allocates the length that an authentication message names, in one piece, and reads
 * the head of the message, before it checks either. The sender is not authenticated yet.
 */
static u16 check_auth(struct nvmet_rdma_rsp *rsp)
{
	size_t head = sizeof(struct nvmf_auth_dhchap_failure_data);

	if (rsp->sgl.len && (rsp->sgl.len < head || rsp->sgl.len > SZ_64K))
		return refuse(&rsp->req, NVME_SC_INVALID_FIELD,
			      offsetof(struct nvmf_auth_send_command, tl));
	return NVME_SC_SUCCESS;
}

/* The core checks the length of all others, and allocates nothing by it */
static u16 check_fabrics(struct nvmet_rdma_rsp *rsp)
{
	switch (rsp->req.cmd->fabrics.fctype) {
	case nvme_fabrics_type_connect:
		return check_connect(rsp);
	case nvme_fabrics_type_auth_send:
	case nvme_fabrics_type_auth_receive:
		return check_auth(rsp);
	}
	return NVME_SC_SUCCESS;
}

static u16 check_command(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;
	u16 error_loc;

	if (unlikely(rsp->sgl.status)) {
		nvmet_rdma_event(rsp->queue, NVMET_RDMA_EV_SGL);
		return refuse(req, rsp->sgl.status, rsp->sgl.error_loc);
	}
	/* by opcode: another Connect may be giving the queue a controller right now */
	if (unlikely(req->cmd->common.opcode == nvme_fabrics_command))
		return check_fabrics(rsp);
	if (unlikely(req->metadata_len)) {
		if (!nvmet_rdma_pi_allows(req, &error_loc))
			return refuse(req, NVME_SC_INVALID_PI, error_loc);
		if (rsp->sgl.len > NVMET_RDMA_PI_MAX_LEN)
			return refuse(req, NVME_SC_SGL_INVALID_DATA,
				      NVMET_RDMA_SQE_DPTR);
	}
	return check_length(rsp);
}

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
	/* pairs with end_ctrl() */
	smp_store_release(&queue->authenticated, true);
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
		if (unlikely(rsp->req.metadata_len))
			return refuse(&rsp->req, NVME_SC_SGL_INVALID_TYPE,
				      NVMET_RDMA_SQE_DPTR);
		use_in_capsule_data(rsp);
		break;
	case NVMET_RDMA_DATA_KEYED:
		return nvmet_rdma_xfer_init(rsp);
	}
	return NVME_SC_SUCCESS;
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
	req->cmd = rsp->cmd->capsule;
	if (unlikely(rsp->cmd->copied)) {
		rsp->capsule = *req->cmd;
		req->cmd = &rsp->capsule;
	}
	req->cqe = rsp->cqe;
	req->port = queue->port->nport;
	/* If the core rejects it, it has responded, and the response may be used again already */
	if (!nvmet_rdma_req_init(req, &queue->nvme_cq, &queue->nvme_sq,
				 nvmet_rdma_core_ops))
		return 0;
	if (unlikely(!queue->authenticated))
		note_authenticated(queue, req->cmd);

	status = check_command(rsp);
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

	req->execute(req);
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
		rsp->req.execute(&rsp->req);
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

/* Returns a response with credit for @cmd, or NULL if it has to wait */
static struct nvmet_rdma_rsp *reserve(struct nvmet_rdma_queue *queue,
				      struct nvmet_rdma_cmd *cmd)
{
	struct nvmet_rdma_rsp *rsp;

	lockdep_assert_held(&queue->lock);
	if (unlikely(queue->min_chunk < NVMET_RDMA_CHUNK_MAX))
		raise_need(queue, cmd);
	if (queue->state != NVMET_RDMA_Q_LIVE || queue->credits < cmd->need)
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
	struct nvmet_rdma_rsp	*start[NVMET_RDMA_BATCH];
	unsigned int		nr;
	bool			more;
	bool			grow;
};

/* Takes ready commands, and as many waiting ones as get a response and credit */
static void take_batch(struct nvmet_rdma_queue *queue, struct io_batch *batch)
{
	struct nvmet_rdma_cmd *cmd;
	bool head_blocked = false;

	spin_lock_irq(&queue->lock);
	queue->io_running = true;
	if (unlikely(queue->state != NVMET_RDMA_Q_LIVE))
		goto out;
	batch->ready = queue->ready.first;
	queue->ready.first = NULL;
	while ((cmd = queue->waiting)) {
		batch->more = batch->nr == NVMET_RDMA_BATCH;
		if (batch->more)
			break;
		batch->start[batch->nr] = reserve(queue, cmd);
		if (unlikely(!batch->start[batch->nr])) {
			head_blocked = true;
			batch->grow = !queue->free_rsps &&
				      queue->allocated_rsps < queue->max_rsps;
			if (!batch->grow)
				count_delay(queue, cmd, queue->free_rsps ?
					    NVMET_RDMA_EV_NO_CREDIT :
					    NVMET_RDMA_EV_NO_RESPONSE);
			break;
		}
		batch->nr++;
		queue->waiting = cmd->next;
		queue->nr_waiting--;
	}
	if (!queue->waiting)
		queue->waiting_end = &queue->waiting;
	WRITE_ONCE(queue->head_blocked, head_blocked);
	queue->deep = batch->nr > 1 || (batch->ready && batch->ready->next);
	/* It was queued while it ran, or not by a handler, or was not busy yet */
	if (!queue->looks && nvmet_rdma_queue_is_busy(queue) &&
	    READ_ONCE(queue->cq->cpu) == smp_processor_id()) {
		queue->looks = true;
		nvme_rdma_cq_expect(queue->cq);
	}
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
 * A command cannot start, so those behind it wait again, too, in their old order. The state
 * may have changed: the release drops waiting commands once this work has ended.
 */
static void put_back(struct nvmet_rdma_queue *queue, struct io_batch *batch,
		     unsigned int first, int why)
{
	struct nvmet_rdma_cmd *cmd = NULL;
	struct nvmet_rdma_rsp *rsp;
	unsigned int i = batch->nr;

	spin_lock_irq(&queue->lock);
	while (i-- > first) {
		rsp = batch->start[i];
		rsp->cmd->next = cmd;
		cmd = rsp->cmd;
		rsp->cmd = NULL;
		queue->credits += rsp->credit;
		rsp->credit = 0;
		rsp->next = queue->free_rsps;
		queue->free_rsps = rsp;
	}
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

	batch->nr = 0;
	spin_lock_irq(&queue->lock);
	while ((cmd = *link) && batch->nr < NVMET_RDMA_BATCH) {
		if (!nvmet_rdma_may_pass(queue, cmd)) {
			link = &cmd->next;
			continue;
		}
		rsp = reserve(queue, cmd);
		if (!rsp)
			break;
		batch->start[batch->nr++] = rsp;
		*link = cmd->next;
		queue->nr_waiting--;
	}
	if (!*link)
		queue->waiting_end = link;
	batch->more = batch->nr == NVMET_RDMA_BATCH;
	batch->grow = cmd && !queue->free_rsps && queue->allocated_rsps < queue->max_rsps;
	spin_unlock_irq(&queue->lock);
}

/* They need no buffer, so each of them starts */
static void start_passing(struct nvmet_rdma_queue *queue, struct io_batch *batch)
{
	unsigned int i;

	take_passing(queue, batch);
	for (i = 0; i < batch->nr; i++)
		nvmet_rdma_io_start(batch->start[i]);
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

/*
 * The end of the batch. If the work runs again at once, completions are handled first, for
 * its next batch. Nothing below sleeps in this case.
 */
static void end_look(struct nvmet_rdma_queue *queue, bool more)
{
	if (!queue->looks)
		return;
	more |= work_pending(&queue->io_work);
	if (more && !queue->head_blocked && nvme_rdma_cq_is_busy(queue->cq))
		nvme_rdma_cq_look(queue->cq);
	else
		nvmet_rdma_queue_looked(queue);
}

/**
 * nvmet_rdma_io_work() - start and execute commands
 * @work: of the queue; queued under its lock while it is live
 *
 * Context: may sleep.
 */
void nvmet_rdma_io_work(struct work_struct *work)
{
	struct nvmet_rdma_queue *queue =
		container_of(work, struct nvmet_rdma_queue, io_work);
	struct io_batch batch = {};
	struct nvmet_rdma_rsp *rsp, *next;
	struct blk_plug plug;
	unsigned int i, noio;
	int why = 0;

	noio = memalloc_noio_save();
	if (READ_ONCE(queue->looks) && nvme_rdma_cq_look_early(queue->cq))
		nvme_rdma_cq_look(queue->cq);
	take_batch(queue, &batch);
	nvmet_rdma_send_batch_begin(queue, &plug);
	for (rsp = batch.ready; rsp; rsp = next) {
		next = rsp->next;
		execute_ready(rsp);
	}
	for (i = 0; i < batch.nr && !why; i++)
		why = nvmet_rdma_io_start(batch.start[i]);
	if (unlikely(why)) {
		put_back(queue, &batch, i - 1, why);
		if (why != -EBUSY && !queue->qid)
			start_passing(queue, &batch);
	} else {
		queue->retry_delay = NVMET_RDMA_MIN_RETRY_DELAY;
	}
	nvmet_rdma_send_batch_end(queue, &plug);

	end_look(queue, batch.more);
	if (unlikely(queue->head_blocked))
		batch.more |= unblock_head(queue, batch.grow);
	if (batch.more)
		nvmet_rdma_queue_io(queue);
	memalloc_noio_restore(noio);
	/* Pairs with nvmet_rdma_queue_io_and_look() */
	smp_store_release(&queue->io_running, false);
}
