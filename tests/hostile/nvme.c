// SPDX-License-Identifier: GPL-2.0
/*
 * See nvme.h.
 *
 * A queue has one send and one receive for each command. A response goes to the memory of its
 * receive; the receive is reposted before the next response is read, except for queues that
 * withhold receives.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nvme.h"

struct target target;
int answer_ms;
int look_ms = 1;

/* wr_id of sends; receives have their number */
#define WR_SEND		(1ull << 32)
/* In the Identify data of a controller, and of a namespace */
#define ID_MDTS		77
#define ID_IOCCSZ	1792
#define ID_NSZE		0
#define ID_LEN		4096
/* MDTS counts in the smallest page; CAP.MPSMIN is 0 here */
#define PAGE_LEN	4096
#define CC_SHUTDOWN	(1 << 14)

/* ---- queues ---- */

static void make_memory(struct queue *q)
{
	q->out = mem_make(&q->c, (size_t)SLOTS * SLOT_LEN, 0);
	q->in = mem_make(&q->c, (size_t)(q->receives + 1) * CQE_LEN,
			 IBV_ACCESS_LOCAL_WRITE);
	q->data = mem_make(&q->c, DATA_LEN, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
}

enum conn_result queue_open(struct queue *q, const struct queue_how *how)
{
	struct conn_how conn = { .no_reads = how->no_reads };
	uint8_t req[CM_REQ_LEN];
	unsigned int i;

	memset(q, 0, sizeof(*q));
	q->qid = how->qid;
	q->depth = how->depth ? how->depth : QUEUE_DEPTH;
	q->receives = how->no_receives ? 0 :
		      how->receives ? how->receives : q->depth;
	q->withhold = how->withhold;
	conn_resolve(&q->c, target.at, NULL);
	if (how->no_rtu)
		conn_make_own_qp(&q->c);
	else
		conn_make_qp(&q->c);
	make_memory(q);
	for (i = 0; i < q->receives; i++)
		conn_recv(&q->c, i, &q->in, i * CQE_LEN, CQE_LEN);

	wire_cm_req(req, q->qid, q->depth, q->depth - 1);
	conn.private_data = how->private_data ? how->private_data : req;
	conn.private_data_len = how->private_data ? how->private_data_len :
						    CM_REQ_LEN;
	return how->no_rtu ? conn_ask(&q->c, &conn, 2 * ANSWER_MS) :
			     conn_connect(&q->c, &conn, 2 * ANSWER_MS);
}

/* Without a word, if the peer is still there */
void queue_close(struct queue *q)
{
	if (!q->c.channel)
		return;
	conn_drop_qp(&q->c);
	mem_free(&q->out);
	mem_free(&q->in);
	mem_free(&q->data);
	conn_close(&q->c);
	memset(q, 0, sizeof(*q));
}

static void queue_leave(struct queue *q)
{
	if (!q->c.channel)
		return;
	rdma_disconnect(q->c.id);
	conn_wait_disconnected(&q->c, ANSWER_MS);
	queue_close(q);
}

uint16_t queue_cid(struct queue *q)
{
	return q->cid++ & 0x7fff;
}

void queue_send(struct queue *q, const void *capsule, size_t len)
{
	size_t offset = (size_t)(q->slot++ % SLOTS) * SLOT_LEN;

	memcpy(q->out.at + offset, capsule, len);
	conn_send(&q->c, WR_SEND, &q->out, offset, len);
}

/* A completion; true if it is a response, which is in @reply then */
static bool take_completion(struct queue *q, const struct ibv_wc *wc,
			    struct reply *reply)
{
	const uint8_t *cqe = q->in.at + wc->wr_id * CQE_LEN;

	if (wc->status != IBV_WC_SUCCESS) {
		q->ended = true;
		return false;
	}
	if (wc->wr_id >= WR_SEND)
		return false;
	reply->kind = REPLY_STATUS;
	reply->result = get(cqe + CQE_RESULT, 8);
	reply->sqhd = (uint16_t)get(cqe + CQE_SQHD, 2);
	reply->cid = (uint16_t)get(cqe + CQE_CID, 2);
	reply->status = (uint16_t)get(cqe + CQE_STATUS, 2) >> 1;
	q->replies++;
	if (!q->withhold)
		conn_recv(&q->c, wc->wr_id, &q->in, wc->wr_id * CQE_LEN,
			  CQE_LEN);
	return true;
}

struct reply queue_await(struct queue *q, uint32_t cid, int ms)
{
	uint64_t end = own_ms() + (uint64_t)ms;
	struct reply reply;
	struct ibv_wc wc;

	do {
		while (conn_poll(&q->c, &wc, 0)) {
			if (take_completion(q, &wc, &reply) &&
			    (cid == CID_ANY || cid == reply.cid))
				return reply;
		}
		if (q->ended || q->c.disconnected)
			return (struct reply){ .kind = REPLY_ENDED };
		conn_event_due(&q->c, look_ms);
	} while (own_ms() < end);
	return (struct reply){ .kind = REPLY_NONE };
}

bool queue_wait_end(struct queue *q, int ms)
{
	uint64_t end = own_ms() + (uint64_t)ms;
	struct reply reply;

	do
		reply = queue_await(q, CID_ANY, 50);
	while (reply.kind != REPLY_ENDED && own_ms() < end);
	return reply.kind == REPLY_ENDED;
}

struct reply queue_command(struct queue *q, const uint8_t *sqe)
{
	queue_send(q, sqe, SQE_LEN);
	return queue_await(q, (uint16_t)get(sqe + SQE_CID, 2),
			   answer_ms ? answer_ms : ANSWER_MS);
}

void queue_sgl(struct queue *q, uint8_t *sqe, size_t offset, uint32_t len)
{
	wire_sgl_keyed(sqe, SGL_KEYED, (uintptr_t)q->data.at + offset, len,
		       q->data.mr->rkey);
}

/* ---- commands ---- */

void make_connect(struct queue *q, uint8_t *sqe, uint16_t cntlid)
{
	wire_connect(sqe, queue_cid(q), q->qid, q->depth - 1, 0);
	wire_connect_data(q->data.at, target.hostid, cntlid, target.subnqn,
			  target.hostnqn);
	queue_sgl(q, sqe, 0, CONNECT_DATA_LEN);
}

struct reply queue_connect(struct queue *q, uint16_t cntlid)
{
	uint8_t sqe[SQE_LEN];

	make_connect(q, sqe, cntlid);
	return queue_command(q, sqe);
}

struct reply property_get(struct queue *q, uint8_t attrib, uint32_t offset)
{
	uint8_t sqe[SQE_LEN];

	wire_fabrics(sqe, FCTYPE_PROPERTY_GET, queue_cid(q));
	put(sqe + SQE_PROP_ATTRIB, attrib, 1);
	put(sqe + SQE_PROP_OFFSET, offset, 4);
	return queue_command(q, sqe);
}

struct reply property_set(struct queue *q, uint8_t attrib, uint32_t offset,
			  uint64_t value)
{
	uint8_t sqe[SQE_LEN];

	wire_fabrics(sqe, FCTYPE_PROPERTY_SET, queue_cid(q));
	put(sqe + SQE_PROP_ATTRIB, attrib, 1);
	put(sqe + SQE_PROP_OFFSET, offset, 4);
	put(sqe + SQE_PROP_VALUE, value, 8);
	return queue_command(q, sqe);
}

struct reply identify(struct queue *q, uint32_t nsid, uint8_t cns)
{
	uint8_t sqe[SQE_LEN];

	wire_command(sqe, OPC_IDENTIFY, queue_cid(q), nsid);
	put(sqe + SQE_CDW10, cns, 1);
	queue_sgl(q, sqe, 0, ID_LEN);
	return queue_command(q, sqe);
}

struct reply read_write(struct queue *q, uint8_t opc, uint64_t lba,
			uint16_t blocks)
{
	uint8_t sqe[SQE_LEN];

	wire_rw(sqe, opc, queue_cid(q), 1, lba, blocks);
	queue_sgl(q, sqe, 0, blocks * BLOCK_LEN);
	return queue_command(q, sqe);
}

/* ---- controllers ---- */

static const char *said(const char *what, const char *how)
{
	static char words[128];

	snprintf(words, sizeof(words), "%s: %s", what, how);
	return words;
}

static const char *ctrl_identify(struct ctrl *k)
{
	struct reply reply = identify(&k->admin, 0, 1);
	uint8_t mdts;

	if (!reply_good(reply))
		return said("Identify", reply_text(reply));
	mdts = k->admin.data.at[ID_MDTS];
	k->mdts = mdts && mdts < 12 ? PAGE_LEN << mdts : 16 << 20;
	k->room = (uint32_t)get(k->admin.data.at + ID_IOCCSZ, 4) * 16 - SQE_LEN;
	reply = identify(&k->admin, 1, 0);
	if (!reply_good(reply))
		return said("Identify of the namespace", reply_text(reply));
	k->blocks = get(k->admin.data.at + ID_NSZE, 8);
	return NULL;
}

const char *ctrl_open(struct ctrl *k)
{
	struct reply reply;

	memset(k, 0, sizeof(*k));
	if (queue_open(&k->admin, &(struct queue_how){ 0 }) != CONN_OK)
		return "the admin queue is not connected";
	reply = queue_connect(&k->admin, 0xffff);
	if (!reply_good(reply))
		return said("Connect", reply_text(reply));
	k->cntlid = (uint16_t)reply.result;
	reply = property_set(&k->admin, 0, PROP_CC, CC_ENABLED);
	if (!reply_good(reply))
		return said("Property Set", reply_text(reply));
	return ctrl_identify(k);
}

const char *ctrl_open_io(struct ctrl *k, struct queue *q,
			 const struct queue_how *how)
{
	struct reply reply;

	if (queue_open(q, how) != CONN_OK)
		return "the I/O queue is not connected";
	reply = queue_connect(q, k->cntlid);
	return reply_good(reply) ? NULL :
	       said("Connect of the I/O queue", reply_text(reply));
}

const char *ctrl_open_all(struct ctrl *k)
{
	const char *wrong = ctrl_open(k);

	if (wrong)
		return wrong;
	return ctrl_open_io(k, &k->io, &(struct queue_how){ .qid = 1 });
}

void ctrl_leave(struct ctrl *k)
{
	queue_leave(&k->io);
	if (k->admin.c.channel)
		property_set(&k->admin, 0, PROP_CC, CC_ENABLED | CC_SHUTDOWN);
	queue_leave(&k->admin);
	memset(k, 0, sizeof(*k));
}

void ctrl_drop(struct ctrl *k)
{
	queue_close(&k->io);
	queue_close(&k->admin);
	memset(k, 0, sizeof(*k));
}

static void fill(uint8_t *at, size_t len, uint64_t seed)
{
	size_t i;

	for (i = 0; i < len; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		at[i] = (uint8_t)(seed >> 56);
	}
}

/* The last blocks of the namespace are its own; adds up how long they took */
static const char *witness_data(struct ctrl *k, uint64_t seed, uint64_t *us)
{
	const uint16_t blocks = 16;
	uint64_t lba = k->blocks - blocks;
	uint8_t wanted[16 * BLOCK_LEN];
	uint64_t from;
	struct reply reply;

	fill(wanted, sizeof(wanted), seed);
	memcpy(k->io.data.at, wanted, sizeof(wanted));
	from = now_us();
	reply = read_write(&k->io, OPC_WRITE, lba, blocks);
	*us = now_us() - from;
	if (!reply_good(reply))
		return said("Write", reply_text(reply));
	memset(k->io.data.at, 0, sizeof(wanted));
	from = now_us();
	reply = read_write(&k->io, OPC_READ, lba, blocks);
	*us += now_us() - from;
	if (!reply_good(reply))
		return said("Read", reply_text(reply));
	return memcmp(k->io.data.at, wanted, sizeof(wanted)) ?
	       "what was written is not what was read" : NULL;
}

const char *ctrl_witness_rounds(uint64_t seed, unsigned int rounds,
				uint64_t *fastest)
{
	const char *wrong;
	struct ctrl k;
	uint64_t us;

	*fastest = UINT64_MAX;
	wrong = ctrl_open_all(&k);
	while (!wrong && rounds--) {
		wrong = witness_data(&k, seed++, &us);
		if (us < *fastest)
			*fastest = us;
	}
	if (!wrong)
		ctrl_leave(&k);
	return wrong;
}

const char *ctrl_witness(uint64_t seed)
{
	uint64_t fastest;

	return ctrl_witness_rounds(seed, 1, &fastest);
}

/* ---- words ---- */

const char *reply_text(struct reply reply)
{
	static char words[32];

	if (reply.kind == REPLY_ENDED)
		return "ended";
	if (reply.kind == REPLY_NONE)
		return "no answer";
	if (!(reply.status & STATUS_CODE))
		return "success";
	snprintf(words, sizeof(words), "refused 0x%03x%s",
		 reply.status & STATUS_CODE,
		 reply.status & STATUS_DNR ? " DNR" : "");
	return words;
}

bool reply_good(struct reply reply)
{
	return reply.kind == REPLY_STATUS && !(reply.status & STATUS_CODE);
}
