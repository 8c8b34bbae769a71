// SPDX-License-Identifier: GPL-2.0
/*
 * host/response.h: what a controller answers, one connection after the other.
 *
 * Input: events of 8 bytes: what, which request, bytes received, flags, 4 bytes key.
 * Requests are submitted, sent and answered, and keys invalidated, by the peer or by
 * ourselves, as host/post.c and host/recv.c do that. Beside the bits that those
 * keep, there is what really happened to each request: what the peer says must never
 * make the two differ. A response that breaks a rule ends the connection.
 */
#include "fuzz.h"

#include "host/response.h"

#define REQUESTS	4

enum { SUBMIT, POSTED, SEND_DONE, RESPONSE, LOCAL_INV_DONE, NR_EVENTS };

/* Flags: of a request that is submitted, and of a response */
enum { HAS_KEY = 1, SIGNALED = 2 };
enum { INVALIDATES = 1, NEAR_OWN_KEY = 2 };

struct request {
	int waits;		/* as the host keeps it */
	u32 key;
	/* what happened */
	bool busy, answered, key_valid, sending, posting;
};

struct event {
	u8 what, tag, received, flags;
	u32 key;
};

static void submit(struct request *req, const struct event *ev, u32 key)
{
	if (req->busy)
		return;
	*req = (struct request){
		.waits = NVME_RDMA_WAIT_POST | NVME_RDMA_WAIT_RESPONSE,
		.key = key, .busy = true, .posting = true,
		.sending = ev->flags & SIGNALED,
		.key_valid = ev->flags & HAS_KEY,
	};
	if (req->sending)
		req->waits |= NVME_RDMA_WAIT_SEND;
	if (req->key_valid)
		req->waits |= NVME_RDMA_WAIT_INVALIDATE;
}

/* Events are due: none is taken for another, or comes twice */
static void arrived(struct request *req, int events)
{
	fuzz_check((req->waits & events) == events);
	req->waits &= ~events;
	if (req->waits)
		return;
	/* The request ends here, and its memory is somebody else's */
	fuzz_check(req->busy && req->answered);
	fuzz_check(!req->key_valid && !req->sending && !req->posting);
	req->busy = false;
}

/* What the specification says of it; the answer that the host has to come to */
static enum nvme_rdma_verdict oracle(const struct request *req, bool invalidates,
				     u32 key)
{
	if (!req || !req->busy || req->answered)
		return NVME_RDMA_RSP_IDLE;
	if (!invalidates)
		return NVME_RDMA_RSP_ANSWER;
	return req->key_valid && key == req->key ? NVME_RDMA_RSP_INVALIDATED :
						   NVME_RDMA_RSP_WRONG_KEY;
}

static enum nvme_rdma_verdict judge(const struct request *req, bool invalidates,
				    u32 key)
{
	int waits = req ? req->waits : 0;
	bool own = req && key == req->key;
	enum nvme_rdma_verdict verdict;
	u32 own_key = 0;

	fuzz_kind((unsigned int)waits * 4 + invalidates * 2 + own);
	/* Keys differ in their index above, or in the consumer's part, the low byte */
	if (req && invalidates && !own && !((key ^ req->key) & 0xffff))
		fuzz_kind(64 + (unsigned int)waits);
	if (req && invalidates && !own && !((key ^ req->key) >> 8))
		fuzz_kind(80 + (unsigned int)waits);
	/* Nobody looks for the key of a request that may have none any more */
	if (nvme_rdma_response_has_key(waits, invalidates)) {
		fuzz_check(req->busy && !req->answered && req->key_valid);
		fuzz_check(invalidates);
		own_key = req->key;
	}
	verdict = nvme_rdma_judge_response(waits, invalidates, key, own_key);
	fuzz_check(nvme_rdma_judge_response(waits, invalidates, key, own_key) ==
		   verdict);
	/* What is not there does not count */
	if (!nvme_rdma_response_has_key(waits, invalidates))
		fuzz_check(nvme_rdma_judge_response(waits, invalidates, key,
						    key) == verdict);
	if (!invalidates)
		fuzz_check(nvme_rdma_judge_response(waits, false, ~key,
						    own_key) == verdict);
	return verdict;
}

/* Return: false if the response ends the connection */
static bool response(struct request *req, const struct event *ev)
{
	bool invalidates = ev->flags & INVALIDATES;
	u32 key = ev->key;
	enum nvme_rdma_verdict verdict;

	if (req && ev->flags & NEAR_OWN_KEY)
		key += req->key;
	fuzz_near(ev->received, 16);
	fuzz_check(nvme_rdma_response_whole(ev->received) ==
		   (ev->received >= 16));
	fuzz_check(nvme_rdma_response_whole(ev->key) == (ev->key >= 16));
	if (!nvme_rdma_response_whole(ev->received))
		return false;

	verdict = judge(req, invalidates, key);
	fuzz_check(verdict == oracle(req, invalidates, key));
	/* The verdict is no other than these, and is what the request may lose */
	switch (verdict) {
	case NVME_RDMA_RSP_IDLE:
	case NVME_RDMA_RSP_WRONG_KEY:
		return false;
	case NVME_RDMA_RSP_INVALIDATED:
		req->key_valid = false;
		break;
	case NVME_RDMA_RSP_ANSWER:
		break;
	default:
		fuzz_check(!"a verdict");
	}
	req->answered = true;
	arrived(req, verdict);
	return true;
}

/* One that is not due does not happen: that is the device's, not the peer's */
static void completed(struct request *req, bool *due, int event)
{
	if (!req->busy || !*due)
		return;
	*due = false;
	arrived(req, event);
}

static bool happens(struct request *reqs, const struct event *ev, u32 key)
{
	/* A command ID may be any; the host finds no request for most of them */
	struct request *req = ev->tag < REQUESTS ? &reqs[ev->tag] : NULL;

	if (ev->what % NR_EVENTS == RESPONSE)
		return response(req, ev);
	if (!req)
		return true;
	switch (ev->what % NR_EVENTS) {
	case SUBMIT:
		submit(req, ev, key);
		break;
	case POSTED:
		completed(req, &req->posting, NVME_RDMA_WAIT_POST);
		break;
	case SEND_DONE:
		completed(req, &req->sending, NVME_RDMA_WAIT_SEND);
		break;
	case LOCAL_INV_DONE:
		/* posted if the response left the key valid */
		if (req->answered)
			completed(req, &req->key_valid,
				  NVME_RDMA_WAIT_INVALIDATE);
		break;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct request reqs[REQUESTS] = { 0 };
	u32 key = 0x100;

	while (in.size) {
		struct event ev = {
			.what = (u8)fuzz_take(&in, 1),
			.tag = (u8)fuzz_take(&in, 1),
			.received = (u8)fuzz_take(&in, 1),
			.flags = (u8)fuzz_take(&in, 1),
			.key = (u32)fuzz_take(&in, 4),
		};

		if (!happens(reqs, &ev, key++))
			memset(reqs, 0, sizeof(reqs));
	}
	return 0;
}
