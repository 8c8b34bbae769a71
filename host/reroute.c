// SPDX-License-Identifier: GPL-2.0
/*
 * Rerouting of requests whose queue did not come back.
 *
 * A request belongs to one hardware context until it ends. If a controller comes back with
 * fewer I/O queues, blk-mq can map the CPUs to them only when no request is left. A request
 * for a queue that is gone would never end. (With native multipath such requests have
 * returned to the multipath disk by then.)
 *
 * So while connect.c waits for the end of all requests, this file ends those of queues that
 * are gone. The bios of reads, writes and the like are submitted again after the new
 * queues are mapped. A flush request of blk-mq has no bio, and all requests that wait for
 * the flush end with it. Its command is sent at once on a LIVE queue, in a request of
 * connect_q, which is not frozen. It uses the reserved tag of Connect, so each queue sends
 * one at a time.
 *
 * A flush request whose command is sent by another request was not started: the timeout
 * handler and nvme_cancel_tagset() do not see it. The other request owns and completes it.
 *
 * Writes to a zoned disk are not rerouted, as each holds a reference to its zone in the
 * block layer: they are retried until ctrl_loss_tmo. Passthrough requests and others that
 * must not be retried fail in nvme_fail_nonready_command().
 */
#include "ctrl.h"
#include "io.h"

static NVME_RDMA_END_IO(nvme_rdma_flush_done)
{
	struct request *flush = rq->end_io_data;

	/* it may have been cancelled: the core decides on a retry */
	nvme_req(flush)->status = nvme_req(rq)->status ?:
				  status ? NVME_SC_HOST_PATH_ERROR : 0;
	nvme_complete_rq(flush);
	blk_mq_free_request(rq);
	return RQ_END_IO_NONE;
}

/* Return: a request on any queue that is LIVE and has interrupts, or NULL */
static struct request *nvme_rdma_alloc_passed(struct nvme_rdma_ctrl *ctrl)
{
	struct nvme_rdma_queue *queue;
	struct request *rq;
	int i;

	for (i = 1; i < ctrl->ctrl.queue_count; i++) {
		queue = &ctrl->queues[i];
		if (!nvme_rdma_queue_live(queue) || nvme_rdma_polled(queue))
			continue;
		rq = blk_mq_alloc_request_hctx(ctrl->ctrl.connect_q, REQ_OP_DRV_OUT,
					       BLK_MQ_REQ_NOWAIT | BLK_MQ_REQ_RESERVED,
					       i - 1);
		if (!IS_ERR(rq))
			return rq;
	}
	return NULL;
}

static blk_status_t nvme_rdma_pass_flush(struct nvme_rdma_ctrl *ctrl, struct request *flush)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(flush);
	struct request *rq = nvme_rdma_alloc_passed(ctrl);
	blk_status_t ret;

	if (!rq)
		return BLK_STS_RESOURCE;
	ret = nvme_setup_cmd(flush->q->queuedata, flush);
	if (ret) {
		blk_mq_free_request(rq);
		return ret;
	}
	nvme_init_request(rq, &req->cmd);
	rq->timeout = flush->q->rq_timeout;
	rq->end_io = nvme_rdma_flush_done;
	rq->end_io_data = flush;
	/* at the head: otherwise it could be added to the plug that is being flushed now */
	blk_execute_rq_nowait(rq, true);
	return BLK_STS_OK;
}

static void nvme_rdma_queue_bios(struct nvme_rdma_ctrl *ctrl, struct request *rq)
{
	struct bio *bio;

	for (bio = rq->bio; bio; bio = bio->bi_next) {
		/* its new queue would not be polled */
		if (bio->bi_opf & REQ_POLLED) {
			bio->bi_opf &= ~REQ_POLLED;
			bio->bi_cookie = BLK_QC_T_NONE;
		}
		/* its submission has succeeded already */
		bio->bi_opf &= ~REQ_NOWAIT;
	}
	spin_lock(&ctrl->reroute_lock);
	blk_steal_bios(&ctrl->reroute_bios, rq);
	spin_unlock(&ctrl->reroute_lock);
	blk_mq_end_request(rq, BLK_STS_OK);
}

/**
 * nvme_rdma_reroute() - reroute a request whose queue did not come back
 * @rq: the request; its queue is not usable
 * @ret: set to the return value of queue_rq(), if the request is rerouted
 *
 * Context: as queue_rq(). Return: true if @ret is set: the request has ended, is sent on
 * another queue, or is to be retried.
 */
bool nvme_rdma_reroute(struct request *rq, blk_status_t *ret)
{
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	struct nvme_rdma_ctrl *ctrl = req->queue->ctrl;

	/*
	 * A request with its own end_io may be a clone of dm-multipath, whose owner would
	 * take its data for transferred. Flushes of the block layer have one, too.
	 */
	if (!READ_ONCE(ctrl->rerouting) ||
	    READ_ONCE(req->queue->state) != NVME_RDMA_Q_IDLE ||
	    blk_noretry_request(rq) ||
	    (rq->end_io && !(rq->rq_flags & RQF_FLUSH_SEQ)) ||
	    blk_rq_is_passthrough(rq) || rq->cmd_flags & REQ_NVME_MPATH ||
	    (blk_queue_is_zoned(rq->q) && op_is_write(req_op(rq))))
		return false;
	*ret = BLK_STS_OK;
	if (rq->bio)
		nvme_rdma_queue_bios(ctrl, rq);
	else
		*ret = nvme_rdma_pass_flush(ctrl, rq);
	return true;
}

/* The bios may wait for tags until the controller is back or its I/O fails */
static void nvme_rdma_reroute_work(struct work_struct *work)
{
	struct nvme_rdma_ctrl *ctrl =
		container_of(work, struct nvme_rdma_ctrl, reroute_work);
	struct bio *bio;

	do {
		spin_lock(&ctrl->reroute_lock);
		bio = bio_list_pop(&ctrl->reroute_bios);
		spin_unlock(&ctrl->reroute_lock);
		if (bio)
			submit_bio_noacct(bio);
	} while (bio);
}

/**
 * nvme_rdma_start_reroute() - start to reroute requests of queues that are gone
 * @ctrl: the controller, all of whose remaining queues are connected
 *
 * Context: process; the owner of the queues.
 */
void nvme_rdma_start_reroute(struct nvme_rdma_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->rerouting, true);
}

/**
 * nvme_rdma_stop_reroute() - stop to reroute, and submit the kept bios again
 * @ctrl: the controller, its request queues not frozen any more
 *
 * Context: process; the owner of the queues.
 */
void nvme_rdma_stop_reroute(struct nvme_rdma_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->rerouting, false);
	/* readers of the flag are in an RCU read-side section, see io.c */
	synchronize_rcu();
	if (!bio_list_empty(&ctrl->reroute_bios))
		kblockd_schedule_work(&ctrl->reroute_work);
}

/**
 * nvme_rdma_init_reroute() - initialize rerouting for a new controller
 * @ctrl: the controller
 *
 * Context: process.
 */
void nvme_rdma_init_reroute(struct nvme_rdma_ctrl *ctrl)
{
	spin_lock_init(&ctrl->reroute_lock);
	bio_list_init(&ctrl->reroute_bios);
	INIT_WORK(&ctrl->reroute_work, nvme_rdma_reroute_work);
}

/**
 * nvme_rdma_end_reroute() - wait until all kept bios are submitted
 * @ctrl: the controller, whose disks are gone
 *
 * Context: process.
 */
void nvme_rdma_end_reroute(struct nvme_rdma_ctrl *ctrl)
{
	flush_work(&ctrl->reroute_work);
}
