// SPDX-License-Identifier: GPL-2.0
/*
 * Tag sets: requests, hardware contexts, queue maps.
 *
 * Hardware context i of the I/O tag set is queue i + 1; that of the admin tag
 * set is queue 0. A request belongs to one hardware context for life, so it
 * points to its queue from the start. With an I/O scheduler there are more
 * requests than tags; only a request that has a tag uses a capsule or an MR.
 *
 * CPUs: the Connect of a queue is a request of its hardware context. blk-mq allocates it
 * only if a CPU of that context is online and not isolated. So no CPU is mapped to a queue
 * without such a CPU. A queue that loses its CPUs later, as they go offline, stays idle
 * when the controller reconnects: no request is sent by it. A request for it means that
 * one of its CPUs is online again. Then the controller is reset, which connects the queue
 * (io.c).
 */
#include <linux/sched/isolation.h>

#include "completion.h"
#include "ctrl.h"
#include "io.h"

static int nvme_rdma_init_request(struct blk_mq_tag_set *set,
				  struct request *rq, unsigned int hctx_idx,
				  nvme_rdma_numa_node_t numa_node)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(set->driver_data);
	struct nvme_rdma_request *req = blk_mq_rq_to_pdu(rq);
	u16 qid = set == &ctrl->tag_set ? hctx_idx + 1 : 0;

	req->req.ctrl = &ctrl->ctrl;
	req->req.cmd = &req->cmd;
	req->queue = &ctrl->queues[qid];
	req->send_cqe.done = nvme_rdma_send_done;
	/*
	 * What is the same for all commands of the request. The other members are written for
	 * each: a SEND may be signaled, or have data behind it. The key and the MR are those of
	 * a tag, and with an I/O scheduler a request has another tag each time.
	 */
	req->send_wr.sg_list = req->sge;
	req->send_wr.opcode = IB_WR_SEND;
	req->reg_wr.wr.wr_cqe = &req->queue->unsignaled_reg;
	req->reg_wr.wr.next = &req->send_wr;
	return 0;
}

static int nvme_rdma_init_hctx(struct blk_mq_hw_ctx *hctx, void *data,
			       unsigned int hctx_idx)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(data);

	hctx->driver_data = &ctrl->queues[hctx_idx + 1];
	/*
	 * A hardware context that went while its CPUs were offline is used again for another
	 * number of queues. blk-mq of 6.1 and 7.2 leaves this bit, for which it refuses every tag.
	 */
	clear_bit(BLK_MQ_S_INACTIVE, &hctx->state);
	if (!hctx_idx)
		nvme_rdma_add_request_queue(ctrl, hctx->queue);
	return 0;
}

static void nvme_rdma_exit_hctx(struct blk_mq_hw_ctx *hctx,
				unsigned int hctx_idx)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(hctx->queue->tag_set->driver_data);

	if (!hctx_idx)
		nvme_rdma_del_request_queue(ctrl, hctx->queue);
}

static int nvme_rdma_init_admin_hctx(struct blk_mq_hw_ctx *hctx, void *data,
				     unsigned int hctx_idx)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(data);

	hctx->driver_data = &ctrl->queues[0];
	return 0;
}

/* Does a queue of @map have a CPU on which its Connect can be allocated? */
static bool nvme_rdma_can_connect(const struct blk_mq_queue_map *map,
				  unsigned int queue)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (map->mq_map[cpu] == queue && !cpu_is_isolated(cpu))
			return true;
	return false;
}

/*
 * Map the CPUs of queues that cannot connect to those that can, in turn. Maps that share
 * queues get the same result.
 */
static void nvme_rdma_fold_map(struct blk_mq_queue_map *map)
{
	unsigned int cpu, i, queue, next = 0;

	for_each_possible_cpu(cpu) {
		if (nvme_rdma_can_connect(map, map->mq_map[cpu]))
			continue;
		for (i = 0; i < map->nr_queues; i++) {
			queue = map->queue_offset + next++ % map->nr_queues;
			if (nvme_rdma_can_connect(map, queue)) {
				map->mq_map[cpu] = queue;
				break;
			}
		}
	}
}

/*
 * If blk-mq cannot allocate more queues, it keeps the old number and maps that many: the
 * others have no hardware context.
 */
static void nvme_rdma_map_queues(struct blk_mq_tag_set *set)
{
	struct nvme_rdma_ctrl *ctrl = to_rdma_ctrl(set->driver_data);
	u32 queues[HCTX_MAX_TYPES], left = set->nr_hw_queues;
	int i;

	for (i = 0; i < HCTX_MAX_TYPES; i++) {
		queues[i] = min(ctrl->io_queues[i], left);
		left -= queues[i];
	}
	/* nvmf_map_queues() leaves kinds without queues as they were */
	for (i = 0; i < set->nr_maps; i++)
		set->map[i].nr_queues = 0;
	nvmf_map_queues(set, &ctrl->ctrl, queues);
	for (i = 0; i < set->nr_maps; i++)
		nvme_rdma_fold_map(&set->map[i]);
}

/**
 * nvme_rdma_queue_wanted() - is an online CPU mapped to a queue?
 * @queue: an I/O queue, which has a hardware context
 *
 * Context: process; the controller's queues are the caller's.
 */
bool nvme_rdma_queue_wanted(struct nvme_rdma_queue *queue)
{
	const struct blk_mq_tag_set *set = &queue->ctrl->tag_set;
	unsigned int cpu, i;

	for (i = 0; i < set->nr_maps; i++) {
		/* blk-mq has cleared the map of a kind without queues */
		if (!set->map[i].nr_queues)
			continue;
		for_each_online_cpu(cpu)
			if (set->map[i].mq_map[cpu] == queue->qid - 1)
				return true;
	}
	return false;
}

static const struct blk_mq_ops nvme_rdma_mq_ops = {
	.queue_rq	= nvme_rdma_queue_rq,
	NVME_RDMA_QUEUE_RQS(nvme_rdma_queue_rqs)
	.commit_rqs	= nvme_rdma_commit_rqs,
	.complete	= nvme_rdma_complete_rq,
	.init_request	= nvme_rdma_init_request,
	.init_hctx	= nvme_rdma_init_hctx,
	.exit_hctx	= nvme_rdma_exit_hctx,
	.timeout	= nvme_rdma_timeout,
	.map_queues	= nvme_rdma_map_queues,
	.poll		= nvme_rdma_poll,
};

static const struct blk_mq_ops nvme_rdma_admin_mq_ops = {
	.queue_rq	= nvme_rdma_queue_rq,
	.commit_rqs	= nvme_rdma_commit_rqs,
	.complete	= nvme_rdma_complete_rq,
	.init_request	= nvme_rdma_init_request,
	.init_hctx	= nvme_rdma_init_admin_hctx,
	.timeout	= nvme_rdma_timeout,
};

/**
 * nvme_rdma_show_tags() - show a tag set to the abort work, or hide it
 * @ctrl: the controller
 * @have: its have_admin_tags or have_io_tags
 * @there: the new value
 *
 * The abort work looks at tag sets under cancel_lock: a hidden one may go. The members that
 * belong to a tag set are visible before it is.
 *
 * Context: process.
 */
void nvme_rdma_show_tags(struct nvme_rdma_ctrl *ctrl, bool *have,
			 bool there)
{
	mutex_lock(&ctrl->cancel_lock);
	/* pairs with nvme_rdma_other_path_pi(), which does not take the lock */
	smp_store_release(have, there);
	mutex_unlock(&ctrl->cancel_lock);
}

/**
 * nvme_rdma_alloc_admin_tags() - allocate the admin tag set and its request queues
 * @ctrl: the controller
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_alloc_admin_tags(struct nvme_rdma_ctrl *ctrl)
{
	int ret;

	ret = nvme_alloc_admin_tag_set(&ctrl->ctrl, &ctrl->admin_tag_set,
				       &nvme_rdma_admin_mq_ops,
				       sizeof(struct nvme_rdma_request));
	nvme_rdma_show_tags(ctrl, &ctrl->have_admin_tags, !ret);
	return ret;
}

/**
 * nvme_rdma_alloc_io_tags() - allocate the I/O tag set and the request queue for Connect
 * @ctrl: the controller, its queue count and queue kinds known
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_alloc_io_tags(struct nvme_rdma_ctrl *ctrl)
{
	unsigned int size = struct_size((struct nvme_rdma_request *)NULL, meta,
					ctrl->pi ? 1 : 0);
	unsigned int maps = ctrl->ctrl.opts->nr_poll_queues ?
		HCTX_MAX_TYPES : HCTX_TYPE_READ + 1;
	int ret;

	ret = nvme_alloc_io_tag_set(&ctrl->ctrl, &ctrl->tag_set,
				    &nvme_rdma_mq_ops, maps, size);
	ctrl->tag_set_depth = ctrl->ctrl.sqsize + 1;
	nvme_rdma_show_tags(ctrl, &ctrl->have_io_tags, !ret);
	return ret;
}

/**
 * nvme_rdma_fit_tags() - limit the number of I/O queues to those of the I/O tag set
 * @ctrl: the controller, its I/O tag set allocated, its queue count and queue kinds known
 *
 * The block layer of a crash kernel allocates one hardware queue of one kind, whatever the
 * driver asks for (blk_mq_alloc_tag_set(), as of 6.1). A second queue would not be polled.
 *
 * Context: process; the controller's queues are the caller's.
 */
void nvme_rdma_fit_tags(struct nvme_rdma_ctrl *ctrl)
{
	unsigned int nr = ctrl->ctrl.queue_count - 1;

	if (ctrl->tag_set.nr_maps > 1 || nr == 1)
		return;
	dev_warn(ctrl->ctrl.device,
		 "this kernel supports one I/O queue, as crash kernels do: using 1 of %u, without write and poll queues\n",
		 nr);
	ctrl->ctrl.queue_count = 2;
	memset(ctrl->io_queues, 0, sizeof(ctrl->io_queues));
	ctrl->io_queues[HCTX_TYPE_DEFAULT] = 1;
}
