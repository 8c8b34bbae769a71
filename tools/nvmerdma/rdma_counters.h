/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What RDMA devices count of packets that went wrong.
 *
 * They count for all who use them, from when the device was made, under names of their
 * drivers, in hw_counters of sysfs: of a port, or of the device.
 */
#ifndef NVMERDMA_RDMA_COUNTERS_H
#define NVMERDMA_RDMA_COUNTERS_H

#include "base.h"

enum rdma_trouble {
	TROUBLE_RETRY,		/* lost, out of order, late */
	TROUBLE_RNR_THERE,	/* the peer had no receive */
	TROUBLE_RNR_HERE,	/* nor had this side */
	TROUBLE_REFUSED,	/* for the key of the memory */
	TROUBLE_LOST,		/* dropped, damaged */
};

struct rdma_counter {
	const char *name;
	enum rdma_trouble trouble;
	bool retries;		/* each is something that this side had to send again */
};

/* rdma_counter_at() - one after the other; NULL: there is no more */
const struct rdma_counter *rdma_counter_at(size_t i);

/*
 * rdma_retries() - what a device had to send again since it was made
 *
 * @sysfs: /sys/class/infiniband
 *
 * All of its ports together. False if it counts none of that.
 */
bool rdma_retries(const char *sysfs, const char *device, uint64_t *retries);

#endif
