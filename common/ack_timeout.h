/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a packet that is not acknowledged is sent again.
 */
#ifndef NVME_RDMA_ACK_TIMEOUT_H
#define NVME_RDMA_ACK_TIMEOUT_H

#include <rdma/rdma_cm.h>

/*
 * 4.096 us * 2^17 is 0.54 s, eight times before a silent peer is given up. What
 * the CM guesses on Ethernet differs between kernels, from this to 2.1 s.
 */
#define NVME_RDMA_ROCE_ACK_TIMEOUT	17

/**
 * nvme_rdma_set_ack_timeout() - set the local ACK timeout of a connection
 * @id: the CM's ID, its device known and its QP not connected
 * @code: the administrator's choice, an exponent as InfiniBand has it; 0: none
 *
 * Where nothing was chosen, the subnet manager of InfiniBand knows how long an
 * acknowledgment may take, while on Ethernet nobody does. On iWARP it is of no
 * effect.
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
