// SPDX-License-Identifier: GPL-2.0
/*
 * The asynchronous event request of the admin queue.
 */
#include "completion.h"
#include "ctrl.h"
#include "data.h"
#include "device.h"
#include "error.h"
#include "io.h"

/* The SEND of the event request completed, or failed. Context: CQ. */
static void nvme_rdma_aen_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nvme_rdma_queue *queue = nvme_rdma_cq_queue(cq);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		nvme_rdma_work_failed(queue, wc, "SEND of the event request");
		return;
	}
	if (unlikely(!(atomic_read(&queue->aen_waits) & NVME_RDMA_WAIT_SEND))) {
		nvme_rdma_completed_twice(queue, "SEND");
		return;
	}
	nvme_rdma_give_credit(queue, 1);
	if (unlikely(!(atomic_read(&queue->aen_waits) &
		       NVME_RDMA_WAIT_RESPONSE)))
		queue->cq->awaited--;
	nvme_rdma_aen_arrived(queue, NVME_RDMA_WAIT_SEND);
}

/**
 * nvme_rdma_submit_async_event() - send an event request
 * @nctrl: the controller, LIVE
 *
 * One event request is outstanding at a time. It is no block request: its command ID and
 * its capsule follow those of the admin tags. It waits for its SEND and its response, as
 * requests do. It is posted in an RCU read-side section, as requests are, so its post ends
 * within a grace period after the queue was closed.
 *
 * Context: process (the core's asynchronous event work).
 */
void nvme_rdma_submit_async_event(struct nvme_ctrl *nctrl)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(nctrl);
	struct nvme_rdma_queue *queue = &ctrl->queues[0];
	struct nvme_command cmd = {};
	struct ib_sge sge;
	struct ib_send_wr wr = {
		.wr_cqe		= &queue->aen_cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};
	int ret = -ENOTCONN;

	cmd.common.opcode = nvme_admin_async_event;
	cmd.common.command_id = NVME_RDMA_AEN_CID;
	cmd.common.flags = NVME_CMD_SGL_METABUF;
	nvme_rdma_sgl_null(&cmd);

	rcu_read_lock();
	if (nvme_rdma_queue_usable(queue))
		ret = nvme_rdma_take_credit(queue, 1) ? 0 : -EBUSY;
	if (!ret) {
		nvme_rdma_place_command(queue, &cmd, NVME_RDMA_AEN_CID, &sge);
		queue->aen_cqe.done = nvme_rdma_aen_send_done;
		atomic_set(&queue->aen_waits,
			   NVME_RDMA_WAIT_SEND | NVME_RDMA_WAIT_RESPONSE);
		ret = ib_post_send(queue->qp, &wr, NULL);
	}
	rcu_read_unlock();
	/* the core calls this after a firmware activation, too */
	nvme_rdma_recheck_queues(ctrl);
	if (ret) {
		nvme_rdma_queue_msg(err, queue,
				    "asynchronous event request not sent: error %d\n",
				    ret);
		nvme_rdma_break_queue(queue, ret);
	}
}
