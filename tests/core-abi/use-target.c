// SPDX-License-Identifier: GPL-2.0
/*
 * A module that uses what core-abi/core.h offers to the target: it is built for
 * every kernel, never loaded.
 */
#include <linux/module.h>

#include "core-abi/core.h"

static ssize_t __maybe_unused use_host_traddr(struct nvmet_ctrl *ctrl,
					      char *traddr, size_t len)
{
	return snprintf(traddr, len, "%u", ctrl->cntlid);
}

static unsigned long use_count(struct nvmet_rdma_shrinker *s)
{
	return SHRINK_EMPTY;
}

static unsigned long use_scan(struct nvmet_rdma_shrinker *s, unsigned long nr)
{
	return SHRINK_STOP;
}

static struct nvmet_rdma_shrinker use_shrinker = {
	.count	= use_count,
	.scan	= use_scan,
};

static struct nvmet_fabrics_ops use_ops = {
	.owner	= THIS_MODULE,
	.type	= NVMF_TRTYPE_RDMA,
	.flags	= NVMF_KEYED_SGLS | NVMF_METADATA_SUPPORTED,
	NVMET_RDMA_OPS_HOST_TRADDR(use_host_traddr)
};

static void use_request(struct nvmet_req *req)
{
	struct nvmet_port *port = req->port;

	nvmet_rdma_cq_init(req->cq);
	if (nvmet_rdma_sq_init(req->sq, req->cq))
		return;
	if (!nvmet_rdma_req_init(req, req->cq, req->sq, &use_ops))
		return;
	if (nvmet_data_dir(req) == DMA_TO_DEVICE &&
	    nvmet_req_transfer_len(req) && !nvmet_req_alloc_sgls(req))
		nvmet_req_free_sgls(req);
	nvmet_rdma_port_set_max_queue_size(port,
					   nvmet_rdma_port_max_queue_size(port));
	nvmet_req_uninit(req);
	nvmet_req_complete(req, NVME_SC_INTERNAL | NVME_STATUS_DNR);
	nvmet_ctrl_fatal_error(req->sq->ctrl);
	nvmet_sq_destroy(req->sq);
	nvmet_rdma_cq_put(req->cq);
	flush_workqueue(nvmet_wq);
}

static int __init use_init(void)
{
	use_request(NULL);
	return nvmet_rdma_shrinker_register(&use_shrinker, "use") ?:
	       nvmet_register_transport(&use_ops);
}

static void __exit use_exit(void)
{
	nvmet_unregister_transport(&use_ops);
	nvmet_rdma_shrinker_unregister(&use_shrinker);
}

module_init(use_init);
module_exit(use_exit);

MODULE_DESCRIPTION("Test of the build: never loaded");
MODULE_VERSION(NVME_RDMA_VERSION);
MODULE_LICENSE("GPL");
