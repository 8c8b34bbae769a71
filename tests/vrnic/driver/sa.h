/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subnet administrator of all InfiniBand ports of this kernel, which are one subnet. It
 * has a LID that no port has, like a separate node.
 */
#ifndef _VRNIC_SA_H
#define _VRNIC_SA_H

#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include "vrnic.h"

/* MAD status: the upper byte is the class's own (IBA 1.3, 15.2.1, table 185) */
#define SA_STATUS_OK			0x0000
#define SA_STATUS_UNSUPPORTED		IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB
#define SA_STATUS_NO_RESOURCES		0x0100
#define SA_STATUS_REQ_INVALID		0x0200
#define SA_STATUS_NO_RECORDS		0x0300
#define SA_STATUS_INVALID_GID		0x0500
#define SA_STATUS_INSUFFICIENT		0x0600

/* Properties of a link, in a record's codes: 4096 bytes, 100 Gb/s, 268 ms */
#define SA_MTU			IB_MTU_4096
#define SA_RATE			IB_RATE_100_GBPS
#define SA_LIFE			16

/* A selector in the upper two bits determines how a request means the value */
#define SA_EXACTLY(value)	(IB_SA_EQ << 6 | (value))

u16 vrnic_sa_mcmember(struct ib_sa_mad *mad, struct vrnic_dev *from);
void vrnic_sa_drop_groups(void);

#endif
