/* SPDX-License-Identifier: GPL-2.0 */
/* States of a host queue and the moves between them (pure, see state.c) */
#ifndef NVME_RDMA_HOST_STATE_H
#define NVME_RDMA_HOST_STATE_H

#include "common/pure.h"

/**
 * enum nvme_rdma_queue_state - life of a host queue
 * @NVME_RDMA_Q_IDLE:		nothing is allocated
 * @NVME_RDMA_Q_ADDRESS:	the peer's address is being resolved
 * @NVME_RDMA_Q_ROUTE:		the QP exists, the route is being resolved
 * @NVME_RDMA_Q_CONNECTING:	the CM request is on its way
 * @NVME_RDMA_Q_CONNECTED:	the QP is up; only Fabrics commands may travel
 * @NVME_RDMA_Q_LIVE:		Connect succeeded; commands travel
 * @NVME_RDMA_Q_FAILED:		connecting failed or the connection was lost
 * @NVME_RDMA_Q_CLOSING:	being disconnected, drained and freed
 * @NVME_RDMA_Q_NR_STATES:	number of states
 */
enum nvme_rdma_queue_state {
	NVME_RDMA_Q_IDLE,
	NVME_RDMA_Q_ADDRESS,
	NVME_RDMA_Q_ROUTE,
	NVME_RDMA_Q_CONNECTING,
	NVME_RDMA_Q_CONNECTED,
	NVME_RDMA_Q_LIVE,
	NVME_RDMA_Q_FAILED,
	NVME_RDMA_Q_CLOSING,
	NVME_RDMA_Q_NR_STATES,
};

bool nvme_rdma_queue_may_move(enum nvme_rdma_queue_state from,
			      enum nvme_rdma_queue_state to);
const char *nvme_rdma_queue_state_name(enum nvme_rdma_queue_state state);

#endif /* NVME_RDMA_HOST_STATE_H */
