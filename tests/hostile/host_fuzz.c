// SPDX-License-Identifier: GPL-2.0
/*
 * Inputs by number: messages of a host with errors in them.
 *
 * An input is a sequence: a connection request; then, as far as it gets, a controller and an
 * I/O queue; then messages; then an end. Each part is well-formed at first. Then a few fields
 * of a few parts get values that are small, large, at a boundary, or random. The seed and the
 * input's number determine everything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

/* Messages of one input, at most */
#define MESSAGES	24
#define DRAIN_MS	100
/* For an answer that may well not come */
#define PATIENCE_MS	300

static uint64_t state;
static bool loud;
/* A well-formed request or command before the messages failed */
static bool fell_short;

/* splitmix64 */
static uint64_t draw(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t below(uint64_t n)
{
	return draw() % n;
}

static bool one_in(uint64_t n)
{
	return !below(n);
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	va_list args;

	if (!loud)
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	fflush(stdout);
}

/* ---- values ---- */

static uint64_t interesting(void)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 7, 15, 16, 31, 32, 63, 64, 65, 127, 128, 255, 256,
		511, 512, 513, 1023, 1024, 1025, 4032, 4095, 4096, 4097, 8192,
		0x7fff, 0x8000, 0xffff, 0x10000, 0xfffff, 0x100000, 0x100001,
		0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
		-4096ull, -4095ull, -512ull, -511ull, -64ull, -2ull, -1ull,
	};

	switch (below(4)) {
	case 0:
		return draw();
	case 1:
		return 1ull << below(64);
	default:
		return values[below(sizeof(values) / sizeof(*values))];
	}
}

struct field {
	const char *name;
	int offset, bytes;
};

static const struct field req_fields[] = {
	{ "recfmt", CM_REQ_RECFMT, 2 }, { "qid", CM_REQ_QID, 2 },
	{ "hrqsize", CM_REQ_HRQSIZE, 2 }, { "hsqsize", CM_REQ_HSQSIZE, 2 },
	{ "cntlid", CM_REQ_CNTLID, 2 }, { "reserved", 16, 8 },
};

static const struct field sqe_fields[] = {
	{ "opc", SQE_OPC, 1 }, { "flags", SQE_FLAGS, 1 },
	{ "cid", SQE_CID, 2 }, { "nsid", SQE_NSID, 4 },
	{ "fctype", SQE_FCTYPE, 1 }, { "mptr", SQE_MPTR, 8 },
	{ "sgl.addr", SQE_SGL + SGL_ADDR, 8 },
	{ "sgl.len", SQE_SGL + SGL_LEN, 4 },
	{ "sgl.len3", SQE_SGL + SGL_LEN, 3 },
	{ "sgl.key", SQE_SGL + SGL_KEY, 4 }, { "sgl.id", SQE_SGL + SGL_ID, 1 },
	{ "cdw10", SQE_CDW10, 4 }, { "cdw11", SQE_CDW11, 4 },
	{ "cdw12", SQE_CDW12, 4 }, { "cdw13", SQE_CDW13, 4 },
	{ "cdw14", SQE_CDW14, 4 }, { "cdw15", SQE_CDW15, 4 },
	{ "word20", 40, 2 }, { "word21", 42, 2 }, { "word22", 44, 2 },
	{ "lba", SQE_CDW10, 8 },
};

static const struct field connect_data_fields[] = {
	{ "hostid", CONNECT_HOSTID, 8 }, { "cntlid", CONNECT_CNTLID, 2 },
	{ "subnqn", CONNECT_SUBNQN, 1 }, { "subnqn[30]", CONNECT_SUBNQN + 30, 8 },
	{ "hostnqn", CONNECT_HOSTNQN, 1 }, { "end", 1016, 8 },
};

#define MUTATE(at, fields) \
	mutate(at, fields, sizeof(fields) / sizeof(*(fields)))

static void mutate(uint8_t *at, const struct field *fields, size_t nr)
{
	const struct field *f = &fields[below(nr)];
	uint64_t value = one_in(3) ?
			 get(at + f->offset, f->bytes) ^ 1ull << below(8 * (uint64_t)f->bytes) :
			 interesting();

	say("  %s = %#" PRIx64 "\n", f->name, value);
	put(at + f->offset, value, f->bytes);
}

/* ---- messages ---- */

struct message {
	uint8_t bytes[SLOT_LEN];
	size_t len;
};

/* In the capsule, with a key, or as one with the other's numbers */
static void choose_sgl(struct queue *q, struct message *m, uint32_t len)
{
	switch (below(4)) {
	case 0:
		wire_sgl_in_capsule(m->bytes, 0, len);
		m->len = SQE_LEN + (len < 4096 ? len : 4096);
		break;
	case 1:
		queue_sgl(q, m->bytes, 0, len);
		put(m->bytes + SQE_SGL + SGL_ID, SGL_KEYED_INVALIDATE, 1);
		break;
	default:
		queue_sgl(q, m->bytes, below(2) * 4096, len);
	}
}

static void make_io(struct queue *q, struct message *m)
{
	static const uint8_t opcodes[] = { OPC_READ, OPC_WRITE, OPC_FLUSH,
					   0x05, 0x08, 0x09 };
	uint8_t opc = opcodes[below(one_in(3) ? 6 : 2)];
	uint16_t blocks = (uint16_t)(1u << below(8));

	wire_rw(m->bytes, opc, queue_cid(q), 1, below(1024), blocks);
	if (opc == OPC_READ || opc == OPC_WRITE)
		choose_sgl(q, m, blocks * BLOCK_LEN);
	else if (opc == 0x09)
		choose_sgl(q, m, 16);
}

static void make_admin(struct queue *q, struct message *m)
{
	static const uint8_t opcodes[] = {
		OPC_IDENTIFY, OPC_GET_LOG_PAGE, OPC_ABORT, OPC_SET_FEATURES,
		OPC_GET_FEATURES, OPC_ASYNC_EVENT, OPC_KEEP_ALIVE,
	};
	uint8_t opc = opcodes[below(sizeof(opcodes))];

	wire_command(m->bytes, opc, queue_cid(q), (uint32_t)below(2));
	if (opc == OPC_IDENTIFY) {
		put(m->bytes + SQE_CDW10, below(4), 1);
		choose_sgl(q, m, 4096);
	} else if (opc == OPC_GET_LOG_PAGE) {
		put(m->bytes + SQE_CDW10, below(16) | 127 << 16, 4);
		choose_sgl(q, m, 512);
	}
}

static void make_fabrics(struct queue *q, struct message *m)
{
	if (one_in(2)) {
		make_connect(q, m->bytes, q->qid ? (uint16_t)below(8) : 0xffff);
		if (one_in(3)) {
			memcpy(m->bytes + SQE_LEN, q->data.at,
			       CONNECT_DATA_LEN);
			wire_sgl_in_capsule(m->bytes, 0, CONNECT_DATA_LEN);
			m->len = SQE_LEN + CONNECT_DATA_LEN;
		}
		if (one_in(3))
			MUTATE(q->data.at, connect_data_fields);
		return;
	}
	wire_fabrics(m->bytes, one_in(2) ? FCTYPE_PROPERTY_GET :
		     FCTYPE_PROPERTY_SET, queue_cid(q));
	put(m->bytes + SQE_PROP_OFFSET, one_in(2) ? PROP_CC : PROP_CSTS, 4);
	put(m->bytes + SQE_PROP_VALUE, CC_ENABLED, 8);
}

static void post_oddly(struct queue *q, const struct message *m)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE,
	};
	struct ibv_sge sge = { .addr = (uintptr_t)q->data.at,
			       .length = (uint32_t)m->len,
			       .lkey = q->data.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1ull << 32, .sg_list = &sge,
				  .num_sge = 1, .opcode = opcodes[below(4)] };

	say("  opcode %d\n", wr.opcode);
	memcpy(q->data.at, m->bytes, m->len);
	if (wr.opcode == IBV_WR_SEND_WITH_INV) {
		wr.invalidate_rkey = (uint32_t)interesting();
	} else if (wr.opcode != IBV_WR_SEND_WITH_IMM) {
		wr.wr.rdma.rkey = (uint32_t)interesting();
		wr.wr.rdma.remote_addr = interesting();
		wr.num_sge = (int)below(2);
	}
	conn_post(&q->c, &wr);
}

static void send_one(struct queue *q)
{
	static struct message m;
	uint64_t i, wrong = one_in(4) ? 0 : 1 + below(3);

	memset(&m, 0, sizeof(m));
	m.len = SQE_LEN;
	switch (below(q->qid ? 6 : 4)) {
	case 0:
		make_fabrics(q, &m);
		break;
	case 1:
	case 2:
		make_admin(q, &m);
		break;
	default:
		make_io(q, &m);
	}
	say(" message %#x on queue %u, %zu bytes\n", m.bytes[SQE_OPC], q->qid,
	    m.len);
	for (i = 0; i < wrong; i++)
		MUTATE(m.bytes, sqe_fields);
	if (one_in(8)) {
		m.len = one_in(2) ? below(SQE_LEN + 16) :
			SQE_LEN + below(4096 + 64);
		say("  length = %zu\n", m.len);
	}
	if (one_in(24))
		post_oddly(q, &m);
	else
		queue_send(q, m.bytes, m.len);
}

/* ---- sequences ---- */

/* An error in a request explains its refusal; otherwise @fell_short */
static bool open_mutated(struct queue *q, struct queue_how *how)
{
	uint8_t data[56] = { 0 };
	enum conn_result result;

	how->depth = (uint16_t)(2 + below(31));
	if (one_in(4)) {
		how->withhold = true;
		how->receives = (uint16_t)(1 + below(4));
		say(" %u receives, and no more\n", how->receives);
	}
	if (one_in(6)) {
		wire_cm_req(data, how->qid, how->depth, how->depth - 1);
		MUTATE(data, req_fields);
		how->private_data = data;
		how->private_data_len = (uint8_t)(one_in(3) ? below(57) :
						  CM_REQ_LEN);
	}
	how->no_reads = one_in(32);
	result = queue_open(q, how);
	fell_short |= result != CONN_OK && !how->private_data && !how->no_reads;
	how->private_data = NULL;
	say(" queue %u: %s\n", how->qid, result_text(&q->c, result));
	return result == CONN_OK;
}

static void drain(struct queue *q, int ms)
{
	while (queue_await(q, CID_ANY, ms).kind == REPLY_STATUS)
		;
}

static void end(struct queue *q)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!q->c.channel)
		return;
	switch (below(5)) {
	case 0:
		say(" disconnect\n");
		rdma_disconnect(q->c.id);
		break;
	case 1:
		say(" the queue pair fails\n");
		ibv_modify_qp(q->c.qp, &attr, IBV_QP_STATE);
		break;
	case 2:
		say(" die\n");
		fflush(stdout);
		_exit(fell_short ? EXIT_SHORT : EXIT_GOOD);
	case 3:
		drain(q, DRAIN_MS);
		break;
	default:
		break;
	}
	say(" close\n");
	queue_close(q);
}

/* The I/O queue of a controller, with or without Connect */
static void open_io(struct ctrl *k)
{
	struct queue_how how = { .qid = (uint16_t)(1 + below(4)) };
	struct reply reply;

	if (!open_mutated(&k->io, &how)) {
		queue_close(&k->io);
		return;
	}
	if (!one_in(8)) {
		reply = queue_connect(&k->io, k->cntlid);
		say(" Connect: %s\n", reply_text(reply));
	}
}

/* As far as a controller, and its I/O queue: false if the input ends here */
static bool open_any(struct ctrl *k)
{
	struct queue_how how = { 0 };
	const char *wrong;

	if (one_in(4)) {
		how.qid = one_in(2);
		if (open_mutated(&k->admin, &how))
			return true;
		queue_close(&k->admin);
		return false;
	}
	wrong = ctrl_open(k);
	if (wrong) {
		say(" %s\n", wrong);
		fell_short = true;
		return false;
	}
	if (!one_in(4)) {
		answer_ms = PATIENCE_MS;
		open_io(k);
	}
	return true;
}

static void leave(struct ctrl *k)
{
	bool io_first = one_in(2);

	end(io_first ? &k->io : &k->admin);
	end(io_first ? &k->admin : &k->io);
}

bool fuzz_input(uint64_t seed, uint64_t number, bool aloud)
{
	struct ctrl k = { 0 };
	uint64_t i, nr;

	state = seed ^ number * 0xd1342543de82ef95;
	draw();
	loud = aloud;
	if (!open_any(&k))
		return !fell_short;
	nr = below(MESSAGES);
	for (i = 0; i < nr; i++) {
		send_one(k.io.c.qp && !one_in(4) ? &k.io : &k.admin);
		if (one_in(4))
			queue_await(&k.admin, CID_ANY, 20);
	}
	leave(&k);
	return !fell_short;
}
