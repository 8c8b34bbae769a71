// SPDX-License-Identifier: GPL-2.0
/*
 * A host in user space that does no more than to ask
 *
 * It runs in a process of its own, which may hang in a driver and is killed then. What it
 * learns is in memory that both share, written as it comes: @step says what is on.
 *
 * NVMe/RDMA transport specification, "Connection Establishment", and NVMe over Fabrics,
 * "Connect command": its 1024 bytes of data are offered by a key, since the controller
 * may have no room for them in its capsules.
 */
#include "doctor/verbs.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>
#include <nvme/types.h>
#include <rdma/rdma_cma.h>
#include <uuid/uuid.h>

#define ALL_S		20	/* until the process is killed */
#define RESOLVE_MS	3000
#define CONNECT_MS	8000
#define ANSWER_MS	5000
#define QUEUE_DEPTH	32	/* of the admin queue, the least that each controller takes */
#define REQ_BYTES	32	/* private data of the connection request */
#define CAPSULE_BYTES	64
#define CQE_BYTES	16
#define MOST_RETRIES	7
#define REASON_STALE	10	/* words_cm_reason() */
#define STALE_TRIES	3

#define SGL_KEYED	0x40	/* in each command's flags: the data pointer is an SGL */
#define SGL_TYPE_KEYED	0x40	/* keyed data block, its address */
#define DYNAMIC_CNTLID	0xffff
#define COMMAND_ID	1	/* there is one */

struct verbs_host {
	struct verbs_question question;
	struct verbs_answer answer;
	/* of the child alone */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct {
		uint8_t capsule[CAPSULE_BYTES];
		uint8_t cqe[CQE_BYTES];
		struct nvmf_connect_data data;
	} *memory;
	struct ibv_mr *mr;
};

static unsigned int get16(const uint8_t *at)
{
	return at[0] | at[1] << 8;
}

static void put_bytes(uint8_t *at, uint64_t value, unsigned int bytes)
{
	for (; bytes; bytes--, value >>= 8)
		*at++ = value;
}

static bool fails(struct verbs_host *host, int error)
{
	host->answer.error = error ? error : EIO;
	return false;
}

/* The peer's connection manager said no: why, and what the listener adds */
static void note_rejection(struct verbs_host *host, const struct rdma_cm_event *event)
{
	const uint8_t *data = event->param.conn.private_data;

	host->answer.rejected = true;
	host->answer.reason = event->status;
	if (data && event->param.conn.private_data_len >= 4 && get16(data) == 0) {
		host->answer.nvme_status = get16(data + 2);
		host->answer.has_nvme_status = host->answer.nvme_status;
	}
}

static bool await_event(struct verbs_host *host, enum rdma_cm_event_type want, int ms)
{
	struct pollfd poll_fd = { .fd = host->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	bool right;
	int n;

	n = poll(&poll_fd, 1, ms);
	if (n <= 0)
		return fails(host, n ? errno : ETIMEDOUT);
	if (rdma_get_cm_event(host->channel, &event))
		return fails(host, errno);
	right = event->event == want;
	if (!right) {
		host->answer.error = event->status < 0 ? -event->status : EIO;
		if (event->event == RDMA_CM_EVENT_REJECTED) {
			host->answer.error = ECONNREFUSED;
			note_rejection(host, event);
		} else if (event->event == RDMA_CM_EVENT_UNREACHABLE) {
			host->answer.error = ETIMEDOUT;
		}
	}
	rdma_ack_cm_event(event);
	return right;
}

static bool resolve(struct verbs_host *host)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *to = NULL, *from = NULL;

	host->answer.step = STEP_PROGRAMS;
	host->channel = rdma_create_event_channel();
	if (!host->channel ||
	    rdma_create_id(host->channel, &host->id, NULL, RDMA_PS_TCP))
		return fails(host, errno);
	host->answer.step = STEP_ADDRESS;
	if (getaddrinfo(host->question.address, host->question.port, &hints, &to))
		return fails(host, EINVAL);
	if (host->question.source &&
	    getaddrinfo(host->question.source, NULL, &hints, &from))
		return fails(host, EADDRNOTAVAIL);
	if (rdma_resolve_addr(host->id, from ? from->ai_addr : NULL, to->ai_addr, RESOLVE_MS))
		return fails(host, errno);
	if (!await_event(host, RDMA_CM_EVENT_ADDR_RESOLVED, RESOLVE_MS + 500))
		return false;
	snprintf(host->answer.device, sizeof(host->answer.device), "%s",
		 ibv_get_device_name(host->id->verbs->device));
	host->answer.step = STEP_ROUTE;
	if (rdma_resolve_route(host->id, RESOLVE_MS))
		return fails(host, errno);
	return await_event(host, RDMA_CM_EVENT_ROUTE_RESOLVED, RESOLVE_MS + 500);
}

/* A queue pair, and memory for one command */
static bool make_queue(struct verbs_host *host)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 2, .max_recv_wr = QUEUE_DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	host->answer.step = STEP_QUEUE;
	host->cq = ibv_create_cq(host->id->verbs, QUEUE_DEPTH + 2, NULL, NULL, 0);
	if (!host->cq)
		return fails(host, errno);
	attr.send_cq = host->cq;
	attr.recv_cq = host->cq;
	if (rdma_create_qp(host->id, NULL, &attr))
		return fails(host, errno);
	host->memory = calloc(1, sizeof(*host->memory));
	if (!host->memory)
		return fails(host, ENOMEM);
	host->mr = ibv_reg_mr(host->id->pd, host->memory, sizeof(*host->memory),
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			      IBV_ACCESS_REMOTE_WRITE);
	return host->mr ? true : fails(host, errno);
}

static bool make_connection(struct verbs_host *host)
{
	uint8_t request[REQ_BYTES] = { 0 };
	struct rdma_conn_param param = {
		.private_data = request, .private_data_len = sizeof(request),
		.responder_resources = 1, .initiator_depth = 0,
		.retry_count = MOST_RETRIES, .rnr_retry_count = MOST_RETRIES,
	};

	put_bytes(request + 4, QUEUE_DEPTH, 2);		/* HRQSIZE; record format and qid are 0 */
	put_bytes(request + 6, QUEUE_DEPTH - 1, 2);	/* HSQSIZE, 0's based */
	host->answer.step = STEP_CONNECT;
	if (rdma_connect(host->id, &param))
		return fails(host, errno);
	return await_event(host, RDMA_CM_EVENT_ESTABLISHED, CONNECT_MS);
}

/* The receive's completion; polled, as there is one command */
static bool await_response(struct verbs_host *host)
{
	struct ibv_wc wc;
	int waited, n;

	for (waited = 0; waited < ANSWER_MS; waited += 5) {
		n = ibv_poll_cq(host->cq, 1, &wc);
		if (n < 0)
			return fails(host, EIO);
		if (n && wc.status != IBV_WC_SUCCESS)
			return fails(host, ECONNRESET);
		if (n && wc.opcode & IBV_WC_RECV)
			return true;
		if (!n)
			poll(NULL, 0, 5);
	}
	return fails(host, ETIMEDOUT);
}

/* The response is in the memory of the completion then; its status is the caller's to judge */
static bool run_command(struct verbs_host *host)
{
	struct ibv_sge to = { (uintptr_t)host->memory->cqe, CQE_BYTES, host->mr->lkey };
	struct ibv_sge from = { (uintptr_t)host->memory->capsule, CAPSULE_BYTES, host->mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (ibv_post_recv(host->id->qp, &recv, &bad_recv) ||
	    ibv_post_send(host->id->qp, &send, &bad))
		return fails(host, errno);
	if (!await_response(host))
		return false;
	return get16(host->memory->cqe + 12) == COMMAND_ID ? true : fails(host, EPROTO);
}

static void ask_to_connect(struct verbs_host *host)
{
	struct nvmf_connect_data *data = &host->memory->data;
	const struct verbs_question *question = &host->question;
	uint8_t *capsule = host->memory->capsule, *cqe = host->memory->cqe;

	host->answer.step = STEP_COMMAND;
	capsule[0] = nvme_admin_fabrics;
	capsule[1] = SGL_KEYED;
	put_bytes(capsule + 2, COMMAND_ID, 2);
	capsule[4] = nvme_fabrics_type_connect;
	put_bytes(capsule + 24, (uintptr_t)data, 8);
	put_bytes(capsule + 32, sizeof(*data), 3);
	put_bytes(capsule + 35, host->mr->rkey, 4);
	capsule[39] = SGL_TYPE_KEYED;
	put_bytes(capsule + 44, QUEUE_DEPTH - 1, 2);	/* SQSIZE */
	uuid_parse(question->hostid, data->hostid);
	put_bytes((uint8_t *)&data->cntlid, DYNAMIC_CNTLID, 2);
	snprintf(data->subsysnqn, sizeof(data->subsysnqn), "%s", question->nqn);
	snprintf(data->hostnqn, sizeof(data->hostnqn), "%s", question->hostnqn);
	if (!run_command(host))
		return;
	host->answer.result = get16(cqe) | (uint32_t)get16(cqe + 2) << 16;
	host->answer.status = get16(cqe + 14) >> 1 & 0x7ff;
	host->answer.step = STEP_DONE;
}

/* The peer has a connection of before with a queue pair of this one's number */
static bool is_stale(const struct verbs_answer *answer)
{
	return answer->step == STEP_CONNECT && answer->rejected && !answer->has_nvme_status &&
	       answer->reason == REASON_STALE;
}

/* As the module does it, a stale connection is tried again, with another queue pair: the one
 * of before is still there. What is not undone goes with the process.
 */
static void be_host(void *shared)
{
	struct verbs_host *host = shared;
	unsigned int tries = 0;

	do {
		host->answer = (struct verbs_answer) { .step = STEP_NOT_TRIED };
		if (resolve(host) && make_queue(host) && make_connection(host)) {
			ask_to_connect(host);
			rdma_disconnect(host->id);
		}
	} while (is_stale(&host->answer) && ++tries < STALE_TRIES);
}

void verbs_ask(const struct verbs_question *question, struct verbs_answer *answer)
{
	struct verbs_host *host = shared_alloc(sizeof(*host));

	host->question = *question;
	if (!run_in_child(ALL_S, be_host, host))
		host->answer.error = ETIMEDOUT;
	*answer = host->answer;
}
