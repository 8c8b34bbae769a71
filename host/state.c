// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a host queue's states.
 *
 * Without an error the order is IDLE, ADDRESS, ROUTE, CONNECTING, CONNECTED, LIVE,
 * CLOSING, IDLE. An error leads to FAILED from any state but IDLE and CLOSING. From FAILED
 * the queue moves to CLOSING only. CLOSING is entered once, by the context that then
 * disconnects and drains the queue.
 *
 * This file is pure: the unit tests compile it in user space.
 */
#include "state.h"

#define TO(state)	(1u << NVME_RDMA_Q_##state)

static const struct {
	const char *name;
	unsigned int next;
} nvme_rdma_queue_states[NVME_RDMA_Q_NR_STATES] = {
	[NVME_RDMA_Q_IDLE]	 = { "idle", TO(ADDRESS) },
	[NVME_RDMA_Q_ADDRESS]	 = { "resolving the address",
				     TO(ROUTE) | TO(FAILED) | TO(CLOSING) },
	[NVME_RDMA_Q_ROUTE]	 = { "resolving the route",
				     TO(CONNECTING) | TO(FAILED) | TO(CLOSING) },
	[NVME_RDMA_Q_CONNECTING] = { "connecting",
				     TO(CONNECTED) | TO(FAILED) | TO(CLOSING) },
	[NVME_RDMA_Q_CONNECTED]	 = { "connected",
				     TO(LIVE) | TO(FAILED) | TO(CLOSING) },
	[NVME_RDMA_Q_LIVE]	 = { "live", TO(FAILED) | TO(CLOSING) },
	[NVME_RDMA_Q_FAILED]	 = { "failed", TO(CLOSING) },
	[NVME_RDMA_Q_CLOSING]	 = { "closing", TO(IDLE) },
};

/**
 * nvme_rdma_queue_may_move() - is a move between two states in the table?
 * @from: state that the queue is in
 * @to: state that it shall enter
 *
 * Context: any. Return: true if the move is allowed.
 */
bool nvme_rdma_queue_may_move(enum nvme_rdma_queue_state from,
			      enum nvme_rdma_queue_state to)
{
	if (from >= NVME_RDMA_Q_NR_STATES || to >= NVME_RDMA_Q_NR_STATES)
		return false;
	return nvme_rdma_queue_states[from].next & (1u << to);
}

/**
 * nvme_rdma_queue_state_name() - a state in words, for log and tracepoints
 * @state: the state
 *
 * Context: any. Return: a constant string, never NULL.
 */
const char *nvme_rdma_queue_state_name(enum nvme_rdma_queue_state state)
{
	if (state >= NVME_RDMA_Q_NR_STATES)
		return "unknown";
	return nvme_rdma_queue_states[state].name;
}
