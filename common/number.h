/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters that are numbers with a minimum and a maximum. If a value is out of
 * range, the module is not loaded.
 */
#ifndef NVME_RDMA_NUMBER_H
#define NVME_RDMA_NUMBER_H

#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

/**
 * struct nvme_rdma_number - a parameter
 * @value: the variable
 * @least: the minimum
 * @most: the maximum
 */
struct nvme_rdma_number {
	unsigned int	*value;
	unsigned int	least;
	unsigned int	most;
};

static inline int nvme_rdma_number_set(const char *val,
				       const struct kernel_param *kp)
{
	const struct nvme_rdma_number *number = kp->arg;
	unsigned int value;
	int ret;

	ret = kstrtouint(val, 0, &value);
	if (!ret && (value < number->least || value > number->most))
		ret = -EINVAL;
	if (ret) {
		pr_err("invalid %s \"%s\" (expected %u to %u)\n", kp->name, val,
		       number->least, number->most);
		return ret;
	}
	*number->value = value;
	return 0;
}

static inline int nvme_rdma_number_get(char *buf, const struct kernel_param *kp)
{
	const struct nvme_rdma_number *number = kp->arg;

	return sysfs_emit(buf, "%u\n", *number->value);
}

static const struct kernel_param_ops nvme_rdma_number_ops = {
	.set	= nvme_rdma_number_set,
	.get	= nvme_rdma_number_get,
};

/**
 * nvme_rdma_number_param() - define a module parameter
 * @name: name of the parameter
 * @variable: an unsigned int, initialized to the default value
 * @least: the minimum
 * @most: the maximum
 */
#define nvme_rdma_number_param(name, variable, least, most)		\
	nvme_rdma_number_param_mode(name, variable, least, most, 0444)

/* The same, with the mode of its file: 0644 if it may be changed at any time */
#define nvme_rdma_number_param_mode(name, variable, least, most, mode)	\
	module_param_cb(name, &nvme_rdma_number_ops,			\
			(&(struct nvme_rdma_number){ &(variable), least, most }), \
			mode)

#endif /* NVME_RDMA_NUMBER_H */
