/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The local ACK timeout: time until a packet without an acknowledgment is retransmitted.
 */
#ifndef NVME_RDMA_ACK_TIMEOUT_H
#define NVME_RDMA_ACK_TIMEOUT_H

#include <rdma/rdma_cm.h>

/*
 * 4.096 us * 2^17 is 0.54 s. The connection fails after eight of these timeouts. The
 * default of the CM on Ethernet depends on the kernel, from this value to 2.1 s.
 */
#define NVME_RDMA_ROCE_ACK_TIMEOUT	17

/**
 * nvme_rdma_set_ack_timeout() - set the local ACK timeout of a connection
 * @id: the CM ID, with its device known and its QP not connected yet
 * @code: the module parameter, an exponent as in the InfiniBand specification; 0 if unset
 *
 * If it is unset, InfiniBand uses the value of the subnet manager, and RoCE uses
 * NVME_RDMA_ROCE_ACK_TIMEOUT, as Ethernet has no subnet manager. iWARP ignores it.
 *
 * Context: any.
 */
static inline void nvme_rdma_set_ack_timeout(struct rdma_cm_id *id, u8 code)
{
	if (!code && rdma_protocol_roce(id->device, id->port_num))
		code = NVME_RDMA_ROCE_ACK_TIMEOUT;
	if (code)
		rdma_set_ack_timeout(id, code);
}

#endif /* NVME_RDMA_ACK_TIMEOUT_H */
