// SPDX-License-Identifier: GPL-2.0
/* The module, and notifications about network cards */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <rdma/rdma_netlink.h>
#include "vrnic.h"

MODULE_DESCRIPTION("Virtual RDMA NIC, for tests and benchmarks");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("vrnic");

struct workqueue_struct *vrnic_wq;
struct dentry *vrnic_debugfs;

static void card_changed(struct vrnic_dev *dev, void *ndev)
{
	if (dev->ndev == ndev)
		vrnic_port_update(dev);
}

static void card_goes(struct vrnic_dev *dev, void *ndev)
{
	if (dev->ndev == ndev && ib_device_try_get(&dev->ibdev)) {
		ib_unregister_device_queued(&dev->ibdev);
		ib_device_put(&dev->ibdev);
	}
}

static int hear(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		vrnic_each_device(card_changed, ndev);
		break;
	case NETDEV_UNREGISTER:
		vrnic_each_device(card_goes, ndev);
		break;
	default:
		break;
	}
	return NOTIFY_OK;
}

static struct notifier_block notifier = {
	.notifier_call = hear,
};

static struct rdma_link_ops link_ops = {
	.type = "vrnic",
	.newlink = vrnic_newlink,
};

static int __init vrnic_init(void)
{
	int ret;

	vrnic_wq = alloc_workqueue("vrnic", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!vrnic_wq)
		return -ENOMEM;
	vrnic_cqs_init();
	vrnic_debugfs = debugfs_create_dir("vrnic", NULL);
	vrnic_sa_make();
	ret = vrnic_iommu_init();
	if (ret)
		goto err_wq;
	ret = register_netdevice_notifier(&notifier);
	if (ret)
		goto err_iommu;
	rdma_link_register(&link_ops);
	return 0;

err_iommu:
	vrnic_iommu_exit();
err_wq:
	debugfs_remove(vrnic_debugfs);
	destroy_workqueue(vrnic_wq);
	return ret;
}

static void __exit vrnic_exit(void)
{
	rdma_link_unregister(&link_ops);
	unregister_netdevice_notifier(&notifier);
	ib_unregister_driver(vrnic_driver_id());
	vrnic_iommu_exit();
	debugfs_remove(vrnic_debugfs);
	destroy_workqueue(vrnic_wq);
	vrnic_sa_free();
	vrnic_cqs_exit();
}

module_init(vrnic_init);
module_exit(vrnic_exit);
