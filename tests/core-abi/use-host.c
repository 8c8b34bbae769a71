// SPDX-License-Identifier: GPL-2.0
/*
 * A module that uses what core-abi/core.h offers to the host: it is built for
 * every kernel, never loaded.
 */
#include <linux/module.h>

#include "core-abi/core.h"

/* The exported functions that a transport names in its tables. */
static const struct nvme_ctrl_ops use_ops = {
	.name			= "use",
	.module			= THIS_MODULE,
	.flags			= NVME_F_FABRICS | NVME_F_METADATA_SUPPORTED,
	.reg_read32		= nvmf_reg_read32,
	.reg_read64		= nvmf_reg_read64,
	.reg_write32		= nvmf_reg_write32,
	.subsystem_reset	= nvmf_subsystem_reset,
	.get_address		= nvmf_get_address,
	NVME_RDMA_OPS_GET_VIRT_BOUNDARY
};

static struct nvmf_transport_ops use_transport = {
	.name			= "use",
	.module			= THIS_MODULE,
	.required_opts		= NVMF_OPT_TRADDR,
	.allowed_opts		= NVMF_OPT_TRSVCID | NVMF_OPT_RECONNECT_DELAY |
				  NVMF_OPT_HOST_TRADDR | NVMF_OPT_CTRL_LOSS_TMO |
				  NVMF_OPT_NR_WRITE_QUEUES | NVMF_OPT_HOST_IFACE |
				  NVMF_OPT_NR_POLL_QUEUES | NVMF_OPT_TOS,
};

static int use_life(struct nvme_ctrl *ctrl, struct device *dev,
		    struct blk_mq_tag_set *set, const struct blk_mq_ops *ops)
{
	u32 queues[HCTX_MAX_TYPES] = { 0 };
	int nr, ret;

	ret = nvme_init_ctrl(ctrl, dev, &use_ops, 0) ?: nvme_add_ctrl(ctrl);
	ret = ret ?: nvme_alloc_admin_tag_set(ctrl, set, ops, 1);
	ret = ret ?: nvmf_connect_admin_queue(ctrl) ?: nvme_enable_ctrl(ctrl);
	ret = ret ?: nvme_init_ctrl_finish(ctrl, false);
	nr = nvmf_nr_io_queues(ctrl->opts);
	ret = ret ?: nvme_set_queue_count(ctrl, &nr);
	ret = ret ?: nvme_alloc_io_tag_set(ctrl, set, ops, HCTX_MAX_TYPES, 1);
	ret = ret ?: nvmf_connect_io_queue(ctrl, 1);
	nvmf_set_io_queues(ctrl->opts, nr, queues);
	nvmf_map_queues(set, ctrl, queues);
	if (nvme_change_ctrl_state(ctrl, NVME_CTRL_LIVE))
		nvme_start_ctrl(ctrl);
	queue_work(nvme_reset_wq, &ctrl->reset_work);
	queue_work(nvme_wq, &ctrl->async_event_work);
	flush_workqueue(nvme_delete_wq);
	nvme_rdma_set_frozen(ctrl, !nvme_rdma_disks_are_busy(set));
	nvme_rdma_reset_reconnects(ctrl);
	nvme_rdma_set_frozen(ctrl, false);
	nvme_stop_keep_alive(ctrl);
	nvme_auth_stop(ctrl);
	nvme_quiesce_admin_queue(ctrl);
	nvme_sync_io_queues(ctrl);
	nvme_cancel_tagset(ctrl);
	nvme_cancel_admin_tagset(ctrl);
	nvme_unquiesce_io_queues(ctrl);
	nvme_unquiesce_admin_queue(ctrl);
	nvme_disable_ctrl(ctrl, true);
	nvme_remove_io_tag_set(ctrl);
	nvme_remove_admin_tag_set(ctrl);
	if (!nvmf_should_reconnect(ctrl, ret))
		nvme_delete_ctrl(ctrl);
	nvme_stop_ctrl(ctrl);
	nvme_uninit_ctrl(ctrl);
	pr_info("%s %d\n", nvmf_ctrl_subsysnqn(ctrl), nvme_ctrl_state(ctrl));
	nvme_get_ctrl(ctrl);
	nvme_put_ctrl(ctrl);
	return ret;
}

static void use_unmap(struct request *rq)
{
	nvme_cleanup_cmd(rq);
}

static blk_status_t use_request(struct nvme_ctrl *ctrl, struct request *rq,
				struct blk_mq_tags *tags)
{
	struct nvme_ns *ns = rq->q->queuedata;
	union nvme_result result = { .u32 = cpu_to_le32(1) };
	u16 cid = nvme_cid(rq);

	if (!nvme_check_ready(ctrl, rq, true))
		return nvme_fail_nonready_command(ctrl, rq);
	if (nvme_setup_cmd(ns, rq))
		return BLK_STS_IOERR;
	nvme_start_request(rq);
	if (nvme_rdma_ns_has_pi(ns))
		pr_info("%u %u %u %u\n", nvme_rdma_ns_pi_type(ns),
			nvme_rdma_ns_pi_size(ns),
			nvme_rdma_app_tag(nvme_req(rq)->cmd),
			nvme_rdma_app_mask(nvme_req(rq)->cmd));
	nvme_rdma_blk_rq_map_sg(rq, NULL);
	if (nvme_rdma_vector_affinity(NULL, 0))
		return BLK_STS_IOERR;
	nvme_rdma_map_integrity_sg(rq, NULL);
	if (nvme_is_aen_req(nvme_req_qid(rq), cid))
		nvme_complete_async_event(ctrl, 0, &result);
	else if (blk_mq_tag_to_rq(tags, nvme_tag_from_cid(cid)) == rq &&
		 !nvme_try_complete_req(rq, 0, result))
		nvme_complete_rq(rq);
	nvmf_complete_timed_out_request(rq);
	return BLK_STS_OK;
}

static void use_queue_rqs(nvme_rdma_rq_list *list)
{
	nvme_rdma_rq_list again;
	struct request *rq;

	nvme_rdma_rq_list_init(&again);
	while (!nvme_rdma_rq_list_empty(list)) {
		rq = nvme_rdma_rq_list_pop(list);
		if (use_request(nvme_req(rq)->ctrl, rq, rq->mq_hctx->tags))
			nvme_rdma_rq_list_add(&again, rq);
	}
	*list = again;
}

static int use_init_request(struct blk_mq_tag_set *set, struct request *rq,
			    unsigned int hctx_idx, nvme_rdma_numa_node_t node)
{
	return 0;
}

static const struct blk_mq_ops use_mq_ops = {
	.init_request	= use_init_request,
	.queue_rqs	= use_queue_rqs,
};

static int __init use_init(void)
{
	struct io_comp_batch *iob = NULL;

	nvme_complete_batch(iob, use_unmap);
	use_life(NULL, NULL, NULL, &use_mq_ops);
	return nvmf_register_transport(&use_transport);
}

static void __exit use_exit(void)
{
	nvmf_unregister_transport(&use_transport);
}

module_init(use_init);
module_exit(use_exit);

MODULE_DESCRIPTION("Test of the build: never loaded");
MODULE_VERSION(NVME_RDMA_VERSION);
MODULE_LICENSE("GPL");
