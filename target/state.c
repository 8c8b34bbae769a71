// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a target queue's states.
 *
 * A queue moves in one direction: CONNECTING, LIVE, DISCONNECTING, DRAINED. LIVE is left out if
 * the connection is never established. No state is entered twice. The code that moves a queue
 * to DISCONNECTING starts its release, so there is exactly one release.
 *
 * This file is pure: the unit tests compile it in user space.
 */
#include "state.h"

#define TO(state)	(1u << NVMET_RDMA_Q_##state)

static const struct {
	const char *name;
	unsigned int next;
} nvmet_rdma_queue_states[NVMET_RDMA_Q_NR_STATES] = {
	[NVMET_RDMA_Q_CONNECTING]    = { "connecting",
					 TO(LIVE) | TO(DISCONNECTING) },
	[NVMET_RDMA_Q_LIVE]	     = { "live", TO(DISCONNECTING) },
	[NVMET_RDMA_Q_DISCONNECTING] = { "disconnecting", TO(DRAINED) },
	[NVMET_RDMA_Q_DRAINED]	     = { "drained", 0 },
};

/**
 * nvmet_rdma_queue_may_move() - is a move between two states in the table?
 * @from: state that the queue is in
 * @to: state that it shall enter
 *
 * Context: any. Return: true if the move is allowed.
 */
bool nvmet_rdma_queue_may_move(enum nvmet_rdma_queue_state from,
			       enum nvmet_rdma_queue_state to)
{
	if (from >= NVMET_RDMA_Q_NR_STATES || to >= NVMET_RDMA_Q_NR_STATES)
		return false;
	return nvmet_rdma_queue_states[from].next & (1u << to);
}

/**
 * nvmet_rdma_queue_state_name() - a state in words, for the log
 * @state: the state
 *
 * Context: any. Return: a constant string, never NULL.
 */
const char *nvmet_rdma_queue_state_name(enum nvmet_rdma_queue_state state)
{
	if (state >= NVMET_RDMA_Q_NR_STATES)
		return "unknown";
	return nvmet_rdma_queue_states[state].name;
}
