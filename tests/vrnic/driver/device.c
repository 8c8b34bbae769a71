// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: created on a network card by "rdma link add NAME type vrnic netdev CARD", removed
 * with the card or by "rdma link del". The parameters (params.c) at creation determine a
 * device's properties. The port is up while the card has a carrier.
 */

#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/platform_device.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>
#include "vrnic.h"

/* Of no other driver */
#define VRNIC_DRIVER_ID	((enum rdma_driver_id)0x7672)

/* Devices, to find a datagram's receiver; written under the lock, RCU for readers */
static LIST_HEAD(devices);
static DEFINE_SPINLOCK(devices_lock);
static atomic_t last_lid = ATOMIC_INIT(VRNIC_SM_LID);

struct vrnic_pd {
	struct ib_pd ibpd;
};

static int vrnic_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct vrnic_fault_hit hit;

	if (vrnic_fault(to_vdev(pd->device), VRNIC_FAULT_MAKE, VRNIC_MAKE_PD,
			NULL, &hit))
		return -hit.arg;
	return 0;
}

static int vrnic_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

/* ---- the device's description of itself ---- */

static int vrnic_query_device(struct ib_device *ibdev,
			      struct ib_device_attr *attr,
			      struct ib_udata *udata)
{
	const struct vrnic_config *c = &to_vdev(ibdev)->config;

	attr->sys_image_guid = ibdev->node_guid;
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = PAGE_MASK;
	attr->max_qp = c->max_qp;
	attr->max_qp_wr = c->max_qp_wr;
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS |
		IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_SYS_IMAGE_GUID |
		IB_DEVICE_PORT_ACTIVE_EVENT;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	if (c->local_dma_lkey)
		attr->kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
	if (c->sg_gaps)
		attr->kernel_cap_flags |= IBK_SG_GAPS_REG;
	attr->max_send_sge = c->max_send_sge;
	attr->max_recv_sge = c->max_recv_sge;
	attr->max_sge_rd = c->max_sge_rd;
	attr->max_cq = c->max_cq;
	attr->max_cqe = c->max_cqe;
	attr->max_mr = c->max_mr;
	attr->max_pd = c->max_qp;
	attr->max_qp_rd_atom = c->max_rd_atom;
	attr->max_qp_init_rd_atom = c->max_rd_atom;
	attr->max_res_rd_atom = c->max_rd_atom;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->max_ah = c->max_qp;
	attr->max_srq = c->max_srq;
	attr->max_srq_wr = c->max_srq_wr;
	attr->max_srq_sge = c->max_recv_sge;
	attr->max_mcast_grp = 1024;
	attr->max_mcast_qp_attach = 1024;
	attr->max_total_mcast_qp_attach = 1024;
	attr->max_fast_reg_page_list_len = c->max_mr_pages;
	if (c->integrity) {
		attr->kernel_cap_flags |= IBK_INTEGRITY_HANDOVER;
		attr->sig_prot_cap = IB_PROT_T10DIF_TYPE_1 |
				     IB_PROT_T10DIF_TYPE_2 |
				     IB_PROT_T10DIF_TYPE_3;
		attr->sig_guard_cap = IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM;
		attr->max_pi_fast_reg_page_list_len = c->max_mr_pages / 2;
	}
	attr->max_pkeys = VRNIC_PKEYS;
	if (c->cq_moderation) {
		attr->cq_caps.max_cq_moderation_count = VRNIC_MAX_CQ_COUNT;
		attr->cq_caps.max_cq_moderation_period = VRNIC_MAX_CQ_PERIOD;
	}
	return 0;
}

static void port_state(struct vrnic_dev *dev, struct ib_port_attr *attr)
{
	bool up = READ_ONCE(dev->up);

	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_POLLING;
}

static int vrnic_query_port(struct ib_device *ibdev, u32 port,
			    struct ib_port_attr *attr)
{
	struct vrnic_dev *dev = to_vdev(ibdev);

	port_state(dev, attr);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = dev->config.link == VRNIC_ROCE ? VRNIC_GIDS : 1;
	attr->pkey_tbl_len = vrnic_is_iwarp(dev) ? 0 : dev->config.nr_pkeys;
	attr->bad_pkey_cntr = atomic_read(&dev->bad_pkeys);
	attr->port_cap_flags = dev->config.link == VRNIC_IWARP ? 0 :
			       IB_PORT_CM_SUP;
	attr->max_msg_sz = VRNIC_MAX_MESSAGE;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->max_vl_num = 1;
	if (dev->config.link == VRNIC_IB) {
		attr->lid = dev->lid;
		attr->sm_lid = VRNIC_SM_LID;
	}
	return 0;
}

static int vrnic_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			    u16 *pkey)
{
	const struct vrnic_config *config = &to_vdev(ibdev)->config;

	if (index >= config->nr_pkeys)
		return -EINVAL;
	*pkey = config->pkeys[index];
	return 0;
}

/**
 * vrnic_set_pkey() - change the P_Key table
 * @dev: the device
 * @index: the entry
 * @pkey: its new value
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL if there is no such entry
 */
int vrnic_set_pkey(struct vrnic_dev *dev, u32 index, u32 pkey)
{
	if (index >= dev->config.nr_pkeys || pkey > U16_MAX)
		return -EINVAL;
	WRITE_ONCE(dev->config.pkeys[index], pkey);
	vrnic_event_dev(dev, IB_EVENT_PKEY_CHANGE);
	return 0;
}

/* The connection manager announces itself; that has no effect */
static int vrnic_modify_port(struct ib_device *ibdev, u32 port, int mask,
			     struct ib_port_modify *modify)
{
	return 0;
}

static int vrnic_query_gid(struct ib_device *ibdev, u32 port, int index,
			   union ib_gid *gid)
{
	struct vrnic_dev *dev = to_vdev(ibdev);

	memset(gid, 0, sizeof(*gid));
	if (dev->config.link == VRNIC_IWARP) {
		memcpy(gid->raw, dev->ndev->dev_addr, ETH_ALEN);
		return 0;
	}
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid->global.interface_id = cpu_to_be64(dev->guid);
	return 0;
}

static int vrnic_port_immutable(struct ib_device *ibdev, u32 port,
				struct ib_port_immutable *immutable)
{
	static const u32 core_caps[] = {
		[VRNIC_ROCE] = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP,
		[VRNIC_IB] = RDMA_CORE_PORT_IBA_IB,
		[VRNIC_IWARP] = RDMA_CORE_PORT_IWARP,
	};
	enum vrnic_link link = to_vdev(ibdev)->config.link;
	struct ib_port_attr attr = {};
	int ret;

	immutable->core_cap_flags = core_caps[link];
	ret = vrnic_query_port(ibdev, port, &attr);
	immutable->gid_tbl_len = attr.gid_tbl_len;
	immutable->pkey_tbl_len = attr.pkey_tbl_len;
	if (link != VRNIC_IWARP)
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return ret;
}

static enum rdma_link_layer vrnic_link_layer(struct ib_device *ibdev, u32 port)
{
	return to_vdev(ibdev)->config.link == VRNIC_IB ?
		IB_LINK_LAYER_INFINIBAND : IB_LINK_LAYER_ETHERNET;
}

static void __maybe_unused
vrnic_report_port_event(struct ib_device *ibdev, struct net_device *ndev,
			unsigned long event)
{
	/* vrnic_port_update() does, on all kernels alike */
}

/* ---- addresses over RoCE ---- */

static int set_gid(const struct ib_gid_attr *attr, const union ib_gid *gid)
{
	struct vrnic_dev *dev = to_vdev(attr->device);
	unsigned long flags;

	if (attr->index >= VRNIC_GIDS)
		return -EINVAL;
	spin_lock_irqsave(&dev->gid_lock, flags);
	dev->gids[attr->index] = *gid;
	spin_unlock_irqrestore(&dev->gid_lock, flags);
	return 0;
}

static int vrnic_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return set_gid(attr, &attr->gid);
}

static int vrnic_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return set_gid(attr, &(union ib_gid){});
}

/**
 * vrnic_has_gid() - whether an address belongs to a port
 * @dev: the port's device
 * @gid: the address
 *
 * Context: any.
 * Return: true if it does
 */
bool vrnic_has_gid(struct vrnic_dev *dev, const union ib_gid *gid)
{
	unsigned long flags;
	union ib_gid own;
	bool found;
	int i;

	if (dev->config.link != VRNIC_ROCE) {
		vrnic_query_gid(&dev->ibdev, VRNIC_PORT, 0, &own);
		return !memcmp(&own, gid, sizeof(own));
	}
	spin_lock_irqsave(&dev->gid_lock, flags);
	for (i = 0; i < VRNIC_GIDS; i++) {
		if (!memcmp(&dev->gids[i], gid, sizeof(*gid)))
			break;
	}
	found = i < VRNIC_GIDS;
	spin_unlock_irqrestore(&dev->gid_lock, flags);
	return found;
}

/**
 * vrnic_find_by_gid() - find the port with an address
 * @gid: the address
 *
 * Context: any, within RCU.
 * Return: the device, or NULL
 */
struct vrnic_dev *vrnic_find_by_gid(const union ib_gid *gid)
{
	struct vrnic_dev *dev;

	list_for_each_entry_rcu(dev, &devices, entry) {
		if (vrnic_has_gid(dev, gid))
			return dev;
	}
	return NULL;
}

/**
 * vrnic_find_by_lid() - find the port with a local identifier
 * @lid: the local identifier
 *
 * Context: any, within RCU.
 * Return: the device, or NULL
 */
struct vrnic_dev *vrnic_find_by_lid(u16 lid)
{
	struct vrnic_dev *dev;

	list_for_each_entry_rcu(dev, &devices, entry) {
		if (dev->lid == lid)
			return dev;
	}
	return NULL;
}

/**
 * vrnic_each_device() - do something for each device
 * @what: what
 * @arg: for @what
 *
 * Context: any; within RCU for @what.
 */
void vrnic_each_device(void (*what)(struct vrnic_dev *dev, void *arg), void *arg)
{
	struct vrnic_dev *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &devices, entry)
		what(dev, arg);
	rcu_read_unlock();
}

/* ---- the port ---- */

/**
 * vrnic_port_update() - update whether the port is up
 * @dev: the port's device
 *
 * Context: any; calls for one device are serialized.
 */
void vrnic_port_update(struct vrnic_dev *dev)
{
	bool up = netif_running(dev->ndev) && netif_carrier_ok(dev->ndev) &&
		  !READ_ONCE(dev->port_off);

	if (up == READ_ONCE(dev->up))
		return;
	WRITE_ONCE(dev->up, up);
	vrnic_event_dev(dev, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/* ---- made and gone ---- */

static int dma_device_make(struct vrnic_dev *dev, const char *name)
{
	struct platform_device *pdev;
	int ret;

	if (dev->config.iommu) {
		dev->dma = vrnic_iommu_claim(dev);
		return PTR_ERR_OR_ZERO(dev->dma);
	}
	pdev = platform_device_register_simple(name, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	ret = dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret) {
		platform_device_unregister(pdev);
		return ret;
	}
	dma_set_max_seg_size(&pdev->dev, SZ_2G);
	dev->dma = &pdev->dev;
	return 0;
}

static void dma_device_free(struct vrnic_dev *dev)
{
	if (dev->function)
		vrnic_iommu_release(dev);
	else
		platform_device_unregister(to_platform_device(dev->dma));
}

static void vrnic_dealloc_driver(struct ib_device *ibdev)
{
	struct vrnic_dev *dev = to_vdev(ibdev);

	debugfs_remove_recursive(dev->dir);
	vrnic_faults_free(dev);
	spin_lock(&devices_lock);
	list_del_rcu(&dev->entry);
	spin_unlock(&devices_lock);
	synchronize_rcu();
	flush_workqueue(vrnic_wq);
	netdev_put(dev->ndev, &dev->ndev_tracker);
	dma_device_free(dev);
	xa_destroy(&dev->mrs);
	mutex_destroy(&dev->obj_lock);
}

static const struct ib_device_ops vrnic_ops = {
	.owner = THIS_MODULE,
	.driver_id = VRNIC_DRIVER_ID,

	.alloc_mr = vrnic_alloc_mr,
	.alloc_pd = vrnic_alloc_pd,
	.attach_mcast = vrnic_attach_mcast,
	.create_ah = vrnic_create_ah,
	.create_cq = vrnic_create_cq,
	.create_qp = vrnic_create_qp,
	.dealloc_driver = vrnic_dealloc_driver,
	.dealloc_pd = vrnic_dealloc_pd,
	.dereg_mr = vrnic_dereg_mr,
	.destroy_ah = vrnic_destroy_ah,
	.destroy_cq = vrnic_destroy_cq,
	.destroy_qp = vrnic_destroy_qp,
	.detach_mcast = vrnic_detach_mcast,
	.get_dma_mr = vrnic_get_dma_mr,
	.get_link_layer = vrnic_link_layer,
	.get_port_immutable = vrnic_port_immutable,
	.map_mr_sg = vrnic_map_mr_sg,
	.modify_port = vrnic_modify_port,
	.modify_qp = vrnic_modify_qp,
	.poll_cq = vrnic_poll_cq,
	.post_recv = vrnic_post_recv,
	.post_send = vrnic_post_send,
	.query_ah = vrnic_query_ah,
	.query_device = vrnic_query_device,
	.query_gid = vrnic_query_gid,
	.query_pkey = vrnic_query_pkey,
	.query_port = vrnic_query_port,
	.query_qp = vrnic_query_qp,
	.reg_user_mr = vrnic_reg_user_mr,
	.req_notify_cq = vrnic_req_notify_cq,
	VRNIC_OPS_AFFINITY
	VRNIC_OPS_PORT_EVENT

	INIT_RDMA_OBJ_SIZE(ib_ah, vrnic_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, vrnic_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, vrnic_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, vrnic_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, vrnic_srq, ibsrq),
};

static const struct ib_device_ops vrnic_sig_ops = {
	.alloc_mr_integrity = vrnic_alloc_mr_integrity,
	.check_mr_status = vrnic_check_mr_status,
	.map_mr_sg_pi = vrnic_map_mr_sg_pi,
};

static const struct ib_device_ops vrnic_srq_ops = {
	.create_srq = vrnic_create_srq,
	.destroy_srq = vrnic_destroy_srq,
	.modify_srq = vrnic_modify_srq,
	.post_srq_recv = vrnic_post_srq_recv,
	.query_srq = vrnic_query_srq,
};

static const struct ib_device_ops vrnic_roce_ops = {
	.add_gid = vrnic_add_gid,
	.del_gid = vrnic_del_gid,
};

static void init_device(struct vrnic_dev *dev, struct net_device *ndev)
{
	struct ib_device *ibdev = &dev->ibdev;

	dev->config = vrnic_config_now();
	dev->ndev = ndev;
	dev->lid = atomic_inc_return(&last_lid);
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, ndev->dev_addr);
	dev->guid = be64_to_cpu(ibdev->node_guid);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1);
	spin_lock_init(&dev->gid_lock);
	spin_lock_init(&dev->mcast_lock);
	mutex_init(&dev->obj_lock);
	INIT_LIST_HEAD(&dev->mcast);
	INIT_LIST_HEAD(&dev->qps);
	INIT_LIST_HEAD(&dev->cqs);
	INIT_LIST_HEAD(&dev->srqs);
	vrnic_faults_init(dev);

	strscpy(ibdev->node_desc, "vrnic", sizeof(ibdev->node_desc));
	ibdev->node_type = dev->config.link == VRNIC_IWARP ? RDMA_NODE_RNIC :
							     RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = dev->config.vectors;
	/* The last index of keys belongs to no region */
	ibdev->local_dma_lkey = dev->config.local_dma_lkey ? 0xffffff00 : 0;
	ib_set_device_ops(ibdev, &vrnic_ops);
	if (dev->config.max_srq)
		ib_set_device_ops(ibdev, &vrnic_srq_ops);
	if (dev->config.integrity)
		ib_set_device_ops(ibdev, &vrnic_sig_ops);
	if (dev->config.cq_moderation)
		ib_set_device_ops(ibdev, &vrnic_moder_ops);
	ibdev->use_cq_dim = dev->config.use_cq_dim;
	if (dev->config.link == VRNIC_ROCE)
		ib_set_device_ops(ibdev, &vrnic_roce_ops);
	if (dev->config.link == VRNIC_IWARP) {
		ib_set_device_ops(ibdev, &vrnic_iwarp_ops);
		strscpy(ibdev->iw_ifname, ndev->name, sizeof(ibdev->iw_ifname));
		ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
	}
	dev->up = netif_running(ndev) && netif_carrier_ok(ndev);
}

/**
 * vrnic_newlink() - make a device
 * @name: its name
 * @ndev: on this network card
 *
 * Context: may sleep.
 * Return: 0 or an error
 */
int vrnic_newlink(const char *name, struct net_device *ndev)
{
	struct vrnic_dev *dev;
	int ret;

	dev = ib_alloc_device(vrnic_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	init_device(dev, ndev);
	ret = dma_device_make(dev, name);
	if (ret)
		goto err_dealloc;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	if (dev->config.link != VRNIC_IB) {
		ret = ib_device_set_netdev(&dev->ibdev, ndev, VRNIC_PORT);
		if (ret)
			goto err_put;
	}
	dev->dir = debugfs_create_dir(name, vrnic_debugfs);
	vrnic_counters_make(dev);
	vrnic_faults_make(dev);
	spin_lock(&devices_lock);
	list_add_tail_rcu(&dev->entry, &devices);
	spin_unlock(&devices_lock);
	ret = ib_register_device(&dev->ibdev, name, dev->dma);
	if (ret) {
		/* On failure the core leaves the rest to us; then it calls back */
		ib_dealloc_device(&dev->ibdev);
		return ret;
	}
	return 0;

err_put:
	netdev_put(ndev, &dev->ndev_tracker);
	dma_device_free(dev);
err_dealloc:
	dev->ibdev.ops.dealloc_driver = NULL;
	ib_dealloc_device(&dev->ibdev);
	return ret;
}

/**
 * vrnic_driver_id() - the driver ID of its devices
 *
 * Return: ops.driver_id
 */
enum rdma_driver_id vrnic_driver_id(void)
{
	return VRNIC_DRIVER_ID;
}
