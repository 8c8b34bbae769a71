/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of a response (pure).
 *
 * They cover all properties of a response that the peer controls: its length, the command
 * that it answers, and the key that it invalidated. A response that is not due changes
 * nothing. The caller finds the request by a command ID of the peer. So if the request
 * does not wait for a response, only its waits are read.
 *
 * Everything is inline, as this is in the path of each response. The tests compile it
 * in user space.
 */
#ifndef NVME_RDMA_HOST_RESPONSE_H
#define NVME_RDMA_HOST_RESPONSE_H

#include "common/pure.h"

/* NVMe base specification: a completion queue entry */
#define NVME_RDMA_CQE_LEN	16

/*
 * Events that a request of the device still waits for. The context that clears the last
 * bit completes the request. An event whose bit is clear is a duplicate or a forgery, and
 * changes nothing.
 */
enum nvme_rdma_wait {
	/* the capsule's SEND: its in-capsule data must stay mapped until then */
	NVME_RDMA_WAIT_SEND		= 1 << 0,
	/* the controller's completion queue entry */
	NVME_RDMA_WAIT_RESPONSE		= 1 << 1,
	/* invalidation of the MR, by the peer or by a LOCAL_INV */
	NVME_RDMA_WAIT_INVALIDATE	= 1 << 2,
	/* the end of the post: until then the device may still read the WRs */
	NVME_RDMA_WAIT_POST		= 1 << 3,
};

/**
 * enum nvme_rdma_verdict - how to handle a response
 * @NVME_RDMA_RSP_IDLE: reject it, its command is not outstanding
 * @NVME_RDMA_RSP_WRONG_KEY: reject it, it invalidated a key of another command
 * @NVME_RDMA_RSP_ANSWER: accept it
 * @NVME_RDMA_RSP_INVALIDATED: accept it, the key of the command is invalid, too
 *
 * The value of an accepted response is the set of its events, enum nvme_rdma_wait.
 */
enum nvme_rdma_verdict {
	NVME_RDMA_RSP_IDLE		= 0,
	NVME_RDMA_RSP_WRONG_KEY		= NVME_RDMA_WAIT_INVALIDATE,
	NVME_RDMA_RSP_ANSWER		= NVME_RDMA_WAIT_RESPONSE,
	NVME_RDMA_RSP_INVALIDATED	= NVME_RDMA_WAIT_RESPONSE |
					  NVME_RDMA_WAIT_INVALIDATE,
};

/**
 * nvme_rdma_response_whole() - does a message hold a response?
 * @received: bytes that the HCA received
 *
 * NVMe over Fabrics: a response capsule is a completion queue entry. Only other fabrics
 * have data behind it. A longer message cannot arrive, as it exceeds its receive.
 *
 * Context: any. Return: true if it is not too short.
 */
static inline bool nvme_rdma_response_whole(u32 received)
{
	return received >= NVME_RDMA_CQE_LEN;
}

/**
 * nvme_rdma_response_has_key() - must the key of a response be checked?
 * @waits: events that its request waits for, enum nvme_rdma_wait
 * @invalidates: it came with an invalidation
 *
 * Context: any. Return: true if the request's own key is needed, and there.
 */
static inline bool nvme_rdma_response_has_key(int waits, bool invalidates)
{
	return waits & NVME_RDMA_WAIT_RESPONSE && invalidates &&
	       waits & NVME_RDMA_WAIT_INVALIDATE;
}

/**
 * nvme_rdma_judge_response() - check a response to a request
 * @waits: events that the request waits for, enum nvme_rdma_wait; 0 without a request
 * @invalidates: the response came with an invalidation
 * @key: the key that was invalidated, if @invalidates
 * @own_key: that of the request, if nvme_rdma_response_has_key()
 *
 * NVMe/RDMA transport specification: the controller may invalidate the key that
 * the command gave it, with the command's response, and no other.
 *
 * Context: any; accesses nothing else. Return: how to handle the response.
 */
static inline enum nvme_rdma_verdict
nvme_rdma_judge_response(int waits, bool invalidates, u32 key, u32 own_key)
{
	if (!(waits & NVME_RDMA_WAIT_RESPONSE))
		return NVME_RDMA_RSP_IDLE;
	if (!invalidates)
		return NVME_RDMA_RSP_ANSWER;
	if (!nvme_rdma_response_has_key(waits, invalidates) || key != own_key)
		return NVME_RDMA_RSP_WRONG_KEY;
	return NVME_RDMA_RSP_INVALIDATED;
}

#endif /* NVME_RDMA_HOST_RESPONSE_H */
