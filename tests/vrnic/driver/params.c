// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of the next device. The parameters may be changed at any time
 * (/sys/module/vrnic/parameters); a device keeps the values at its creation.
 */

#include <linux/moduleparam.h>
#include <rdma/ib_mad.h>
#include "vrnic.h"

static struct vrnic_config config = {
	.link = VRNIC_ROCE,
	.vectors = 0,
	.first_cpu = 0,
	.max_qp = 65536,
	.max_qp_wr = 16384,
	.max_send_sge = 30,
	.max_recv_sge = 30,
	.max_sge_rd = 30,
	.max_inline = 512,
	.max_cq = 65536,
	.max_cqe = 1 << 20,
	.max_srq = 16384,
	.max_srq_wr = 32767,
	.max_mr = 1 << 20,
	.max_mr_errno = ENOMEM,
	.max_mr_pages = 4096,
	.max_rd_atom = 16,
	.ack_lag = 0,
	.delay_ns = 0,
	.pkeys = { IB_DEFAULT_PKEY_FULL },
	.nr_pkeys = 1,
	.sg_gaps = true,
	.remote_inv = true,
	.integrity = true,
	.integrity_mr = true,
	.local_dma_lkey = true,
	.cq_moderation = true,
};

static const char *const link_names[] = {
	[VRNIC_ROCE] = "roce",
	[VRNIC_IB] = "ib",
	[VRNIC_IWARP] = "iwarp",
};

static int link_set(const char *value, const struct kernel_param *kp)
{
	int ret = sysfs_match_string(link_names, value);

	if (ret < 0) {
		pr_err("vrnic: link: expected roce, ib or iwarp, \"%s\" came\n",
		       value);
		return ret;
	}
	config.link = ret;
	return 0;
}

static int link_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", link_names[config.link]);
}

static const struct kernel_param_ops link_ops = {
	.set = link_set,
	.get = link_get,
};
module_param_cb(link, &link_ops, NULL, 0644);
MODULE_PARM_DESC(link, "roce (the default), ib or iwarp");

#define PARAMETER(name, type, text) \
	module_param_named(name, config.name, type, 0644); \
	MODULE_PARM_DESC(name, text)

PARAMETER(vectors, uint, "completion vectors; 0 (the default): one for each CPU");
PARAMETER(first_cpu, uint, "which of the online CPUs vector 0 interrupts, vector 1 the next (0)");
PARAMETER(max_qp, uint, "queue pairs");
PARAMETER(max_qp_wr, uint, "work requests of a send or receive queue");
PARAMETER(max_send_sge, uint, "SGEs of a work request to send");
PARAMETER(max_recv_sge, uint, "SGEs of a receive");
PARAMETER(max_sge_rd, uint, "SGEs of an RDMA READ; always 1 over iWARP");
PARAMETER(max_inline, uint, "bytes of inline data; 0: none");
PARAMETER(max_cq, uint, "completion queues");
PARAMETER(max_cqe, uint, "completions of a queue");
PARAMETER(max_srq, uint, "shared receive queues; 0: the device has none");
PARAMETER(max_srq_wr, uint, "receives of a shared receive queue");
PARAMETER(max_mr, uint, "memory regions");
PARAMETER(max_mr_errno, uint, "errno of what asks for one more than max_mr, as drivers have different ones (12, ENOMEM)");
PARAMETER(max_mr_pages, uint, "pages of a memory region");
PARAMETER(mr_us, uint, "microseconds that it takes to make a memory region, as by a device's firmware (0)");
PARAMETER(max_rd_atom, uint, "RDMA READs at once");
PARAMETER(ack_lag, uint, "work requests that are executed and not yet acknowledged, at most; 0 (the default): each is at once");
PARAMETER(delay_ns, uint, "nanoseconds that a message takes to the peer, and its acknowledgment back (up to a second); 0 (the default): the poster executes it");
PARAMETER(sg_gaps, bool, "memory regions of any segments (SG_GAPS)");
PARAMETER(remote_inv, bool, "N: a SEND with invalidate arrives as a plain SEND");
PARAMETER(integrity, bool, "signature offload (T10-PI); never over iWARP");
PARAMETER(integrity_mr, bool, "N: says that it does signature offload, and makes no memory region for it");
PARAMETER(local_dma_lkey, bool, "N: no key for all of memory but by get_dma_mr");
PARAMETER(flush_done, bool, "a QP that breaks flushes what was executed without a completion, too");
PARAMETER(cq_moderation, bool, "N: no moderation of interrupts (modify_cq)");
PARAMETER(use_cq_dim, bool, "the core adapts the moderation of its CQs to their load, as on mlx5 (N)");
PARAMETER(iommu, bool, "Y: memory is mapped for a PCI function (QEMU's pci-testdev) behind Intel's IOMMU, which each access has to pass (N)");

module_param_array_named(pkeys, config.pkeys, ushort, &config.nr_pkeys, 0644);
MODULE_PARM_DESC(pkeys, "P_Keys over InfiniBand, of which 0xffff or 0x7fff has to be the first (0xffff)");

/**
 * vrnic_config_now() - the properties of a device that is created now
 *
 * Return: the parameters, adjusted to each other
 */
struct vrnic_config vrnic_config_now(void)
{
	struct vrnic_config c = config;

	if (!c.vectors || c.vectors > num_online_cpus())
		c.vectors = num_online_cpus();
	c.first_cpu %= num_online_cpus();
	c.delay_ns = min_t(unsigned int, c.delay_ns, NSEC_PER_SEC);
	if (!c.max_mr_errno || c.max_mr_errno > MAX_ERRNO)
		c.max_mr_errno = ENOMEM;
	if (c.link == VRNIC_IWARP) {
		c.max_sge_rd = 1;
		c.integrity = false;
	}
	if (c.link != VRNIC_IB) {
		c.pkeys[0] = IB_DEFAULT_PKEY_FULL;
		c.nr_pkeys = 1;
	}
	return c;
}
