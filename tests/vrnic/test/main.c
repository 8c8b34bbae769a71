// SPDX-License-Identifier: GPL-2.0
/*
 * The module: adds and removes devices, runs groups of tests, and shows results.
 *
 * A running group has its devices as a user. When the core removes a device, remove sets
 * vt_dev.going and waits for the users.
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "vrnic_test.h"

MODULE_DESCRIPTION("Tests of the virtual RDMA NIC");
MODULE_LICENSE("GPL");

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);	/* protects devices */
static DEFINE_MUTEX(run_lock);		/* one group at a time, and its results */
static struct dentry *dir;

static const struct {
	const char *name;
	const struct vt_test *tests;
} groups[] = {
	{ "data", vt_data },
	{ "data-mr", vt_data_mr },
	{ "load", vt_load },
	{ "completion", vt_completion },
	{ "first-cpu", vt_first_cpu },
	{ "slots", vt_slots },
	{ "states", vt_states },
	{ "flush-done", vt_flush_done },
	{ "rnr", vt_rnr },
	{ "keys", vt_keys },
	{ "reg", vt_reg_rules },
	{ "inval", vt_inval },
	{ "srq", vt_srq },
	{ "ud", vt_ud },
	{ "sig", vt_sig },
	{ "sig-err", vt_sig_err },
	{ "sig-rules", vt_sig_rules },
	{ "iwarp", vt_iwarp },
	{ "refuse", vt_refuse },
	{ "lag", vt_lag },
	{ "faults", vt_faults },
	{ "limits", vt_limits },
	{ "limits-none", vt_limits_none },
	{ "events", vt_events },
	{ "die", vt_die },
	{ "removal-link", vt_removal_link },
	{ "removal-card", vt_removal_card },
	{ "counters", vt_counters },
	{ "cost", vt_cost },
	{ "at-once", vt_at_once },
	{ "wire", vt_wire },
	{ "wire-fail", vt_wire_fail },
	{ "wire-lag", vt_wire_lag },
	{ "moderation", vt_moderation },
	{ "moderation-none", vt_moderation_none },
	{ "dim", vt_dim },
	{ "iommu", vt_iommu },
	{ "iommu-leave", vt_iommu_leave },
	{ "iommu-clear", vt_iommu_clear },
};

static void put_device_user(struct vt_dev *dev)
{
	if (refcount_dec_and_test(&dev->users))
		complete(&dev->unused);
}

static int client_add(struct ib_device *ibdev)
{
	struct vt_dev *dev;

	/* Its counts are read from its own structure */
	if (!ibdev->ops.owner || strcmp(ibdev->ops.owner->name, "vrnic"))
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	refcount_set(&dev->users, 1);
	init_completion(&dev->unused);
	init_completion(&dev->going);
	mutex_lock(&devices_lock);
	list_add_tail(&dev->entry, &devices);
	mutex_unlock(&devices_lock);
	return 0;
}

static void client_remove(struct ib_device *ibdev, void *unused)
{
	struct vt_dev *dev, *found = NULL;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, entry) {
		if (dev->ibdev == ibdev)
			found = dev;
	}
	if (found)
		list_del(&found->entry);
	mutex_unlock(&devices_lock);
	if (!found)
		return;
	complete_all(&found->going);
	put_device_user(found);
	wait_for_completion(&found->unused);
	kfree(found);
}

static struct ib_client client = {
	.name = "vrnic_test",
	.add = client_add,
	.remove = client_remove,
};

static struct vt_dev *get_device_user(const char *name)
{
	struct vt_dev *dev, *found = NULL;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, entry) {
		if (!strcmp(dev_name(&dev->ibdev->dev), name) &&
		    refcount_inc_not_zero(&dev->users))
			found = dev;
	}
	mutex_unlock(&devices_lock);
	return found;
}

static void run_group(const struct vt_test *test, struct vt_devs *d)
{
	vt_report_begin();
	for (; test->run; test++) {
		pr_info("vrnic_test: %s\n", test->name);
		test->run(d);
		vt_report_test_end(test->name);
	}
	vt_report_end();
}

/* "GROUP DEVICE [DEVICE]" */
static int run(char *line)
{
	const char *name = strsep(&line, " ");
	const char *first = strsep(&line, " ");
	const char *second = strsep(&line, " ") ?: first;
	struct vt_devs d = {};
	int i, ret = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!strcmp(groups[i].name, name))
			break;
	}
	if (i == ARRAY_SIZE(groups) || !first)
		return -EINVAL;
	d.dev[0] = get_device_user(first);
	d.dev[1] = get_device_user(second);
	if (d.dev[0] && d.dev[1]) {
		d.a = d.dev[0]->ibdev;
		d.b = d.dev[1]->ibdev;
		run_group(groups[i].tests, &d);
		ret = 0;
	}
	for (i = 0; i < 2; i++) {
		if (d.dev[i])
			put_device_user(d.dev[i]);
	}
	return ret;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t len,
			 loff_t *pos)
{
	char *line;
	int ret;

	if (len >= PAGE_SIZE)
		return -EINVAL;
	line = memdup_user_nul(from, len);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&run_lock);
	ret = run(strim(line));
	mutex_unlock(&run_lock);
	kfree(line);
	return ret ?: len;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

static int results_show(struct seq_file *s, void *unused)
{
	mutex_lock(&run_lock);
	vt_report_show(s);
	mutex_unlock(&run_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(results);

static int __init vt_init(void)
{
	int ret = ib_register_client(&client);

	if (ret)
		return ret;
	dir = debugfs_create_dir("vrnic_test", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("results", 0400, dir, NULL, &results_fops);
	vt_shell_init(dir);
	return 0;
}

static void __exit vt_exit(void)
{
	debugfs_remove(dir);
	ib_unregister_client(&client);
}

module_init(vt_init);
module_exit(vt_exit);
