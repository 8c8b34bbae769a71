/* SPDX-License-Identifier: GPL-2.0 */
/* Limits of an RDMA device. */
#ifndef NVME_RDMA_DEVICE_LIMIT_H
#define NVME_RDMA_DEVICE_LIMIT_H

#include <linux/types.h>

/**
 * nvme_rdma_limit_less() - what a limit leaves beside what is needed in any case
 * @limit: a member of struct ib_device_attr: int on most kernels, u32 on 7.3, where a
 *	difference of it and a larger number is not negative
 * @spare: what is needed in any case, in units of the limit
 *
 * Context: any. Return: the difference, 0 if the limit is the smaller one.
 */
static inline u32 nvme_rdma_limit_less(s64 limit, u32 spare)
{
	return limit > spare ? limit - spare : 0;
}

#endif /* NVME_RDMA_DEVICE_LIMIT_H */
