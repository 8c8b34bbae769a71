// SPDX-License-Identifier: GPL-2.0
/*
 * Capsules: in each state of a queue, and messages that are none.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static const uint8_t nothing[SLOT_LEN];

/*
 * The command names more in-capsule data than was sent: the bytes behind it belong to another
 * command
 */
static void capsule_short(void)
{
	static const uint32_t sent[] = { 0, 1, 16, BLOCK_LEN - 1 };
	uint8_t capsule[SLOT_LEN];
	struct ctrl k;
	size_t i;

	need_all(&k);
	for (i = 0; i < sizeof(sent) / sizeof(*sent); i++) {
		if (!begin("%u", sent[i]))
			continue;
		need_again(&k);
		memset(capsule, 0xee, sizeof(capsule));
		wire_rw(capsule, OPC_WRITE, queue_cid(&k.io), 1, 0, 1);
		wire_sgl_in_capsule(capsule, 0, BLOCK_LEN);
		queue_send(&k.io, capsule, SQE_LEN + sent[i]);
		outcome(REFUSED, "%s", reply_text(queue_await(&k.io, CID_ANY,
							      ANSWER_MS)));
	}
	if (!begin("large"))
		return;
	need_again(&k);
	wire_rw(capsule, OPC_WRITE, queue_cid(&k.io), 1, 0,
		(uint16_t)(k.room / BLOCK_LEN));
	wire_sgl_in_capsule(capsule, 0, k.room);
	queue_send(&k.io, capsule, SQE_LEN + BLOCK_LEN);
	outcome(REFUSED, "%s",
		reply_text(queue_await(&k.io, CID_ANY, ANSWER_MS)));
}

/*
 * Each opcode, or each Fabrics command, on a queue without Connect. The target waits for
 * that as long as connect_tmo, 6 s here: there is a new queue each second.
 */
static void sweep(const struct queue_how *how, uint32_t nsid, bool fabrics)
{
	uint8_t sqe[SQE_LEN];
	uint64_t opened = 0;
	struct queue q;
	int i;

	for (i = 0; i < 256; i++) {
		if (!begin("0x%02x", i))
			continue;
		if (now_ms() - opened > 1000) {
			if (opened)
				queue_close(&q);
			opened = now_ms();
			need_queue(&q, how);
		}
		wire_command(sqe, fabrics ? OPC_FABRICS : (uint8_t)i,
			     queue_cid(&q), nsid);
		if (fabrics)
			put(sqe + SQE_FCTYPE, i, 4);
		outcome("refused *", "%s", reply_text(queue_command(&q, sqe)));
	}
}

static void before_connect_opcode(void)
{
	sweep(&(struct queue_how){ 0 }, 1, false);
}

static void before_connect_fctype(void)
{
	sweep(&(struct queue_how){ 0 }, 0, true);
}

static void before_connect_io(void)
{
	sweep(&(struct queue_how){ .qid = 1 }, 1, false);
}

/* Connect has come, and the controller is not enabled */
static void before_enable(void)
{
	static const uint8_t opcodes[] = {
		OPC_IDENTIFY, OPC_GET_LOG_PAGE, OPC_ABORT, OPC_SET_FEATURES,
		OPC_GET_FEATURES, OPC_ASYNC_EVENT, OPC_KEEP_ALIVE, 0x80, 0xff,
	};
	uint8_t sqe[SQE_LEN];
	struct queue q, io;
	struct reply reply;
	size_t i;

	need_queue(&q, &(struct queue_how){ 0 });
	reply = queue_connect(&q, 0xffff);
	if (!reply_good(reply))
		cannot(reply_text(reply));
	for (i = 0; i < sizeof(opcodes); i++) {
		if (!begin("0x%02x", opcodes[i]))
			continue;
		wire_command(sqe, opcodes[i], queue_cid(&q), 0);
		outcome("refused *", "%s",
			reply_text(queue_command(&q, sqe)));
	}
	if (!begin("io-queue"))
		return;
	/* A Command Sequence Error by the specification; nvmet's core takes it */
	need_queue(&io, &(struct queue_how){ .qid = 1 });
	outcome("success|refused *", "%s",
		reply_text(queue_connect(&io, (uint16_t)reply.result)));
}

/* Disabled again, or shut down, while an I/O queue is there */
static void after_disable(void)
{
	static const struct {
		const char *name;
		uint32_t cc;
	} ways[] = {
		{ "disabled", CC_ENABLED & ~1u },
		{ "shutdown-normal", CC_ENABLED | 1 << 14 },
		{ "shutdown-abrupt", CC_ENABLED | 2 << 14 },
		{ "cc-0", 0 }, { "cc-all", 0xffffffff },
	};
	struct ctrl k;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		need_all(&k);
		if (begin("%s", ways[i].name)) {
			property_set(&k.admin, 0, PROP_CC, ways[i].cc);
			outcome(ANSWERED_OR_END, "%s",
				reply_text(read_write(&k.io, OPC_READ, 0, 1)));
		}
		if (begin("%s-identify", ways[i].name))
			outcome(ANSWERED_OR_END, "%s",
				reply_text(identify(&k.admin, 0, 1)));
		ctrl_drop(&k);
	}
}

/* ---- messages that are no command capsule ---- */

static void send_wr(const char *expected, struct queue *q,
		    struct ibv_send_wr wr, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)q->data.at, .length = len,
			       .lkey = q->data.mr->lkey };

	wr.wr_id = 1ull << 32;
	wr.sg_list = &sge;
	wr.num_sge = len ? 1 : 0;
	conn_post(&q->c, &wr);
	outcome(expected, "%s",
		reply_text(queue_await(q, CID_ANY, ANSWER_MS)));
}

static bool set_qp(struct queue *q, struct ibv_qp_attr attr, int mask)
{
	return !ibv_modify_qp(q->c.qp, &attr, mask);
}

/*
 * The target grants no READ and no atomic, so that this side would not send any. A
 * queue pair that is drained may be told otherwise.
 */
static bool allow_reads(struct queue *q)
{
	if (!set_qp(q, (struct ibv_qp_attr){ .qp_state = IBV_QPS_SQD },
		    IBV_QP_STATE))
		return false;
	usleep(100000);
	return set_qp(q, (struct ibv_qp_attr){ .max_rd_atomic = 1 },
		      IBV_QP_MAX_QP_RD_ATOMIC) &&
	       set_qp(q, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS },
		      IBV_QP_STATE);
}

static bool is_read(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void capsule_verbs(void)
{
	static const struct {
		const char *name;
		const char *expected;
		struct ibv_send_wr wr;
		uint32_t len;
	} verbs[] = {
		{ "send-empty", "ended", { .opcode = IBV_WR_SEND }, 0 },
		{ "send-imm", ANSWERED_OR_END,
		  { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = ~0u }, 64 },
		{ "send-imm-empty", "ended",
		  { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 1 }, 0 },
		{ "send-inv-0", ANSWERED_OR_END,
		  { .opcode = IBV_WR_SEND_WITH_INV }, 64 },
		{ "send-inv-guess", ANSWERED_OR_END,
		  { .opcode = IBV_WR_SEND_WITH_INV,
		    .invalidate_rkey = 0x1234 }, 64 },
		{ "write-imm-empty", "ended",
		  { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = 1 }, 0 },
		{ "write-imm-guess", "ended",
		  { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		    .wr.rdma.rkey = 0x1234, .wr.rdma.remote_addr = 0x1000 },
		  64 },
		{ "write-guess", "ended",
		  { .opcode = IBV_WR_RDMA_WRITE, .wr.rdma.rkey = 0x1000,
		    .wr.rdma.remote_addr = 0xffff888000001000 }, 64 },
		{ "write-key-0", "ended",
		  { .opcode = IBV_WR_RDMA_WRITE,
		    .wr.rdma.remote_addr = 0xffff888000001000 }, 64 },
		{ "read-guess", "ended",
		  { .opcode = IBV_WR_RDMA_READ, .wr.rdma.rkey = 0x1000,
		    .wr.rdma.remote_addr = 0xffff888000001000 }, 64 },
		{ "read-key-0", "ended",
		  { .opcode = IBV_WR_RDMA_READ,
		    .wr.rdma.remote_addr = 0xffff888000001000 }, 64 },
		{ "atomic-guess", "ended",
		  { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		    .wr.atomic.rkey = 0x1000, .wr.atomic.compare_add = 1,
		    .wr.atomic.remote_addr = 0xffff888000001000 }, 8 },
	};
	struct queue q;
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (!begin("%s", verbs[i].name))
			continue;
		need_queue(&q, &(struct queue_how){ 0 });
		wire_fabrics(q.data.at, FCTYPE_PROPERTY_GET, 9);
		if (is_read(verbs[i].wr.opcode) && !allow_reads(&q))
			outcome("ended|not sent", "not sent");
		else
			send_wr(verbs[i].expected, &q, verbs[i].wr,
				verbs[i].len);
		queue_close(&q);
	}
}

/* A SEND that breaks off after two packets: no key fits the rest of it */
static void capsule_broken(void)
{
	const uint32_t good = 8192;
	struct queue q;
	int i;

	for (i = 0; i < 8; i++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .num_sge = 2,
					  .wr_id = 1ull << 32 };
		struct ibv_sge sge[2] = { { .length = good }, { .length = good } };

		need_queue(&q, &(struct queue_how){ .qid = 1 });
		if (!begin("%d", i))
			return;
		sge[0].addr = (uintptr_t)q.data.at;
		sge[0].lkey = q.data.mr->lkey;
		sge[1].addr = sge[0].addr + good;
		sge[1].lkey = ~q.data.mr->lkey;
		wr.sg_list = sge;
		conn_post(&q.c, &wr);
		outcome("ended", "%s",
			reply_text(queue_await(&q, CID_ANY, ANSWER_MS)));
		queue_close(&q);
	}
}

/* ---- after a goodbye ---- */

/* Ours: the connection manager has reported it, and the queue pair continues */
static void after_disconnect(void)
{
	uint8_t sqe[SQE_LEN];
	struct ibv_qp *qp;
	struct ctrl k;
	int i;

	if (!begin_with(&k))
		return;
	/* without a queue pair that it knows of it takes none down */
	qp = k.io.c.id->qp;
	k.io.c.id->qp = NULL;
	rdma_disconnect(k.io.c.id);
	k.io.c.id->qp = qp;
	for (i = 0; i < QUEUE_DEPTH; i++) {
		wire_rw(sqe, OPC_READ, queue_cid(&k.io), 1, 0, 1);
		queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
		queue_send(&k.io, sqe, SQE_LEN);
	}
	outcome("ended", "%s", queue_wait_end(&k.io, 2 * ANSWER_MS) ?
		"ended" : "no end");
}

/* Theirs: a capsule that is too short, and then good ones right behind it */
static void after_their_disconnect(void)
{
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	int i;

	if (!begin_with(&k))
		return;
	queue_send(&k.io, nothing, 1);
	for (i = 0; i < QUEUE_DEPTH - 1; i++) {
		wire_rw(sqe, OPC_WRITE, queue_cid(&k.io), 1, 0, 1);
		queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
		queue_send(&k.io, sqe, SQE_LEN);
	}
	outcome("ended", "%s", queue_wait_end(&k.io, 2 * ANSWER_MS) ?
		"ended" : "no end");
}

/* One queue breaks the rules: is the other one of the controller still there? */
static void io_ends_admin(void)
{
	struct ctrl k;

	if (!begin_with(&k))
		return;
	queue_send(&k.io, nothing, 0);
	queue_wait_end(&k.io, ANSWER_MS);
	outcome(ANSWERED_OR_END, "%s",
		reply_text(identify(&k.admin, 0, 1)));
}

const struct hostile_case capsule_cases[] = {
	{ "capsule-short", "less in-capsule data than the SGL says",
	  capsule_short, 0 },
	{ "before-connect-opcode", "each opcode before Connect",
	  before_connect_opcode, 0 },
	{ "before-connect-fctype", "each Fabrics command before Connect",
	  before_connect_fctype, 0 },
	{ "before-connect-io", "each opcode before an I/O queue's Connect",
	  before_connect_io, 0 },
	{ "before-enable", "commands before CC.EN", before_enable, 0 },
	{ "after-disable", "commands after CC.EN is gone, and after shutdown",
	  after_disable, 0 },
	{ "capsule-verbs", "messages that are no SEND, or no plain one",
	  capsule_verbs, 0 },
	{ "capsule-broken", "a SEND that breaks off in the middle",
	  capsule_broken, 0 },
	{ "after-disconnect", "commands after the host's DREQ",
	  after_disconnect, 0 },
	{ "after-their-disconnect", "commands behind what ends the connection",
	  after_their_disconnect, 0 },
	{ "io-ends-admin", "an I/O queue that the target ends", io_ends_admin,
	  0 },
	{ 0 }
};
