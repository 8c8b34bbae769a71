/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a controller's response may do to a request (pure).
 *
 * All that the peer decides of a response is judged here: how long it is, which
 * command it answers, and which key it has invalidated. What is not due changes
 * nothing. The caller finds the request; it is the peer's word that leads there,
 * so of a request that waits for no response nothing but its waits is looked at.
 *
 * Everything is inline: this is on the way of each response. The tests compile it
 * in user space.
 */
#ifndef NVME_RDMA_HOST_RESPONSE_H
#define NVME_RDMA_HOST_RESPONSE_H

#include "common/pure.h"

/* NVMe base specification: a completion queue entry */
#define NVME_RDMA_CQE_LEN	16

/*
 * What a request in the hands of the device still waits for. A request is
 * completed by whoever clears the last bit; an event whose bit is not set is
 * a duplicate or a forgery and changes nothing.
 */
enum nvme_rdma_wait {
	/* the capsule's SEND: its in-capsule data must stay mapped until then */
	NVME_RDMA_WAIT_SEND		= 1 << 0,
	/* the controller's completion queue entry */
	NVME_RDMA_WAIT_RESPONSE		= 1 << 1,
	/* invalidation of the MR, by the peer or by a LOCAL_INV of ours */
	NVME_RDMA_WAIT_INVALIDATE	= 1 << 2,
	/* the end of the post: until then the device may still read the WRs */
	NVME_RDMA_WAIT_POST		= 1 << 3,
};

/**
 * enum nvme_rdma_verdict - what to do with a response
 * @NVME_RDMA_RSP_IDLE: refuse it, its command is not outstanding
 * @NVME_RDMA_RSP_WRONG_KEY: refuse it, it invalidated what it may not
 * @NVME_RDMA_RSP_ANSWER: take it
 * @NVME_RDMA_RSP_INVALIDATED: take it, the command's key is invalidated, too
 *
 * One that is to be taken is the events that it brings, enum nvme_rdma_wait.
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
 * NVMe over Fabrics: a response capsule is a completion queue entry, and data
 * behind it is for fabrics that put it there, which RDMA does not. A longer one
 * does not come: it is longer than its receive.
 *
 * Context: any. Return: true if it is not too short.
 */
static inline bool nvme_rdma_response_whole(u32 received)
{
	return received >= NVME_RDMA_CQE_LEN;
}

/**
 * nvme_rdma_response_has_key() - is it the key that decides about a response?
 * @waits: what its request waits for, enum nvme_rdma_wait
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
 * nvme_rdma_judge_response() - judge a response to a request
 * @waits: what the request waits for, enum nvme_rdma_wait; 0 if there is none
 * @invalidates: the response came with an invalidation
 * @key: the key that was invalidated, if @invalidates
 * @own_key: that of the request, if nvme_rdma_response_has_key()
 *
 * NVMe/RDMA transport specification: the controller may invalidate the key that
 * the command gave it, with the command's response, and no other.
 *
 * Context: any; touches nothing. Return: what to do with it.
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
