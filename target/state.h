/* SPDX-License-Identifier: GPL-2.0 */
/* States of a target queue and the moves between them (pure, see state.c) */
#ifndef NVMET_RDMA_STATE_H
#define NVMET_RDMA_STATE_H

#include "common/pure.h"

/**
 * enum nvmet_rdma_queue_state - life of a target queue
 * @NVMET_RDMA_Q_CONNECTING:	the CM request is being answered; capsules that
 *				arrive are kept
 * @NVMET_RDMA_Q_LIVE:		established; capsules are executed
 * @NVMET_RDMA_Q_DISCONNECTING:	the release work owns the teardown; capsules are
 *				dropped, responses still end, by a flush
 * @NVMET_RDMA_Q_DRAINED:	nothing of the queue is in the HCA or in the core
 * @NVMET_RDMA_Q_NR_STATES:	number of states
 */
enum nvmet_rdma_queue_state {
	NVMET_RDMA_Q_CONNECTING,
	NVMET_RDMA_Q_LIVE,
	NVMET_RDMA_Q_DISCONNECTING,
	NVMET_RDMA_Q_DRAINED,
	NVMET_RDMA_Q_NR_STATES,
};

bool nvmet_rdma_queue_may_move(enum nvmet_rdma_queue_state from,
			       enum nvmet_rdma_queue_state to);
const char *nvmet_rdma_queue_state_name(enum nvmet_rdma_queue_state state);

#endif /* NVMET_RDMA_STATE_H */
