/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that the virtual RNIC is built for, 6.1 to
 * 7.2; the only file of the device that asks for a version.
 */
#ifndef _VRNIC_COMPAT_H
#define _VRNIC_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>

/* The last argument of create_cq, which a kernel's own CQ does not have */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define vrnic_cq_udata	ib_udata
#else
#define vrnic_cq_udata	uverbs_attr_bundle
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* Which CPU a completion vector interrupts: drivers are asked up to 6.12 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define VRNIC_OPS_AFFINITY	.get_vector_affinity = vrnic_vector_affinity,
#else
#define VRNIC_OPS_AFFINITY
#endif

/* From 6.13 on the core raises port events itself for a driver that does not claim to do so. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define VRNIC_OPS_PORT_EVENT
#else
#define VRNIC_OPS_PORT_EVENT	.report_port_event = vrnic_report_port_event,
#endif

/* User memory has one argument more where there are DMA handles */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define VRNIC_DMAH
#else
#define VRNIC_DMAH	struct ib_dmah *dmah,
#endif

#endif
