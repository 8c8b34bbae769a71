// SPDX-License-Identifier: GPL-2.0
/*
 * Keys: forged, foreign, stale, without the right, of memory that is too short.
 *
 * The target's READ or WRITE fails at this side, which ends the connection: there
 * is nothing better. What counts is that it fails, that no byte goes where none
 * should, and that nothing of the command stays behind.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

#define ACCESS_ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_WRITE)
#define MARK		0x3c

static const uint8_t opcodes[] = { OPC_READ, OPC_WRITE };

static const char *opcode_name(uint8_t opc)
{
	return opc == OPC_READ ? "read" : "write";
}

/* One block of namespace 1, its data at an address and by a key */
static struct reply transfer(struct queue *q, uint8_t opc, uint8_t id,
			     uint64_t addr, uint32_t len, uint32_t key)
{
	uint8_t sqe[SQE_LEN];

	wire_rw(sqe, opc, queue_cid(q), 1, 24, (uint16_t)(len / BLOCK_LEN));
	wire_sgl_keyed(sqe, id, addr, len, key);
	return queue_command(q, sqe);
}

static void key_forged(void)
{
	struct ctrl k = { 0 };
	struct reply reply;
	uint32_t own;
	size_t i, n;

	for (i = 0; i < 2 * 8; i++) {
		uint8_t opc = opcodes[i / 8];

		need_again(&k);
		own = k.io.data.mr->rkey;
		n = i % 8;
		if (!begin("%s-%zu", opcode_name(opc), n))
			continue;
		reply = transfer(&k.io, opc, SGL_KEYED,
				 (uintptr_t)k.io.data.at, BLOCK_LEN,
				 n == 0 ? 0 : n == 1 ? 1 : n == 2 ? ~0u :
				 n == 3 ? own ^ 1 : n == 4 ? own ^ 0x100 :
				 n == 5 ? own + 0x100 : n == 6 ? ~own :
				 0x80000000);
		outcome(REFUSED, "%s", reply_text(reply));
	}
}

/* Of the same device: of another connection's protection domain */
static void key_foreign(void)
{
	struct queue other;
	struct ctrl k = { 0 };
	size_t i, j;
	bool same;

	for (i = 0; i < sizeof(opcodes); i++) {
		need_queue(&other, &(struct queue_how){ 0 });
		memset(other.data.at, MARK, DATA_LEN);
		need_again(&k);
		if (begin("%s", opcode_name(opcodes[i])))
			outcome(REFUSED, "%s",
				reply_text(transfer(&k.io, opcodes[i], SGL_KEYED,
						    (uintptr_t)other.data.at,
						    BLOCK_LEN,
						    other.data.mr->rkey)));
		for (same = true, j = 0; j < DATA_LEN; j++)
			same &= other.data.at[j] == MARK;
		if (begin("%s-memory", opcode_name(opcodes[i])))
			outcome("untouched", "%s", same ? "untouched" :
				"written to");
		queue_close(&other);
	}
}

/* Its registration is removed; the memory stays */
static void key_stale(void)
{
	struct ctrl k = { 0 };
	struct mem memory;
	uint32_t key;
	size_t i;

	for (i = 0; i < sizeof(opcodes); i++) {
		need_again(&k);
		memory = mem_make(&k.io.c, BLOCK_LEN, ACCESS_ALL);
		key = memory.mr->rkey;
		if (begin("%s-before", opcode_name(opcodes[i])))
			outcome("success", "%s",
				reply_text(transfer(&k.io, opcodes[i], SGL_KEYED,
						    (uintptr_t)memory.at,
						    BLOCK_LEN, key)));
		if (ibv_dereg_mr(memory.mr))
			die("cannot take a registration back");
		if (begin("%s", opcode_name(opcodes[i])))
			outcome(REFUSED, "%s",
				reply_text(transfer(&k.io, opcodes[i], SGL_KEYED,
						    (uintptr_t)memory.at,
						    BLOCK_LEN, key)));
	}
}

/* Taken back while the target has many commands that need it */
static void key_taken_back(void)
{
	uint8_t sqe[SQE_LEN];
	struct ctrl k = { 0 };
	struct mem memory;
	size_t i, j;

	for (i = 0; i < sizeof(opcodes); i++) {
		if (!begin("%s", opcode_name(opcodes[i])))
			continue;
		need_again(&k);
		memory = mem_make(&k.io.c, 65536, ACCESS_ALL);
		for (j = 0; j < QUEUE_DEPTH - 1; j++) {
			wire_rw(sqe, opcodes[i], queue_cid(&k.io), 1, 0, 128);
			wire_sgl_keyed(sqe, SGL_KEYED, (uintptr_t)memory.at,
				       65536, memory.mr->rkey);
			queue_send(&k.io, sqe, SQE_LEN);
		}
		if (ibv_dereg_mr(memory.mr))
			die("cannot take a registration back");
		for (j = 0; j < QUEUE_DEPTH - 1; j++) {
			if (queue_await(&k.io, CID_ANY, ANSWER_MS).kind !=
			    REPLY_STATUS)
				break;
		}
		outcome("ended|all answered", "%s",
			j == QUEUE_DEPTH - 1 ? "all answered" :
			k.io.ended || k.io.c.disconnected ? "ended" :
			"no answer");
	}
}

static void key_no_right(void)
{
	static const struct {
		const char *name;
		uint8_t opc;
		int access;
	} rights[] = {
		{ "read-none", OPC_READ, IBV_ACCESS_LOCAL_WRITE },
		{ "read-remote-read", OPC_READ, IBV_ACCESS_REMOTE_READ },
		{ "write-none", OPC_WRITE, IBV_ACCESS_LOCAL_WRITE },
		{ "write-remote-write", OPC_WRITE, IBV_ACCESS_LOCAL_WRITE |
		  IBV_ACCESS_REMOTE_WRITE },
	};
	struct ctrl k = { 0 };
	struct mem memory;
	size_t i;

	for (i = 0; i < sizeof(rights) / sizeof(*rights); i++) {
		if (!begin("%s", rights[i].name))
			continue;
		need_again(&k);
		memory = mem_make(&k.io.c, BLOCK_LEN, rights[i].access);
		outcome(REFUSED, "%s",
			reply_text(transfer(&k.io, rights[i].opc, SGL_KEYED,
					    (uintptr_t)memory.at, BLOCK_LEN,
					    memory.mr->rkey)));
		mem_free(&memory);
	}
}

/* Addresses outside the key's range, and ranges that wrap */
static void key_bounds(void)
{
	enum { BEFORE, ACROSS, BEHIND, NULL_ADDR, WRAP, LAST_BYTE, HALF, NR };
	static const char *const names[] = {
		"one-before", "one-across", "behind", "zero", "wrap",
		"last-byte", "2^63",
	};
	struct ctrl k = { 0 };
	struct mem memory;
	uint64_t base, addr;
	size_t i;

	for (i = 0; i < 2 * NR; i++) {
		uint8_t opc = opcodes[i / NR];

		if (!begin("%s-%s", opcode_name(opc), names[i % NR]))
			continue;
		need_again(&k);
		memory = mem_make(&k.io.c, 4096, ACCESS_ALL);
		base = (uintptr_t)memory.at;
		addr = i % NR == BEFORE ? base - 1 :
		       i % NR == ACROSS ? base + 4096 - BLOCK_LEN + 1 :
		       i % NR == BEHIND ? base + 4096 :
		       i % NR == NULL_ADDR ? 0 :
		       i % NR == WRAP ? 0ull - BLOCK_LEN / 2 :
		       i % NR == LAST_BYTE ? ~0ull : 1ull << 63;
		outcome(REFUSED, "%s",
			reply_text(transfer(&k.io, opc, SGL_KEYED, addr,
					    BLOCK_LEN, memory.mr->rkey)));
		mem_free(&memory);
	}
}

/*
 * Has a key invalidated that the host may not have invalidated: the response itself fails at
 * this side.
 */
static void key_invalidate(void)
{
	struct ctrl k = { 0 };
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!begin("%s", i ? "forged" : "own"))
			continue;
		need_again(&k);
		outcome(i ? REFUSED : "success|ended", "%s",
			reply_text(transfer(&k.io, OPC_READ,
					    SGL_KEYED_INVALIDATE,
					    (uintptr_t)k.io.data.at, BLOCK_LEN,
					    k.io.data.mr->rkey ^
					    (i ? 0x100 : 0))));
	}
	/* A command that moves nothing, and names a key to invalidate */
	if (begin("no-data")) {
		uint8_t sqe[SQE_LEN];

		need_again(&k);
		wire_command(sqe, OPC_FLUSH, queue_cid(&k.io), 1);
		wire_sgl_keyed(sqe, SGL_KEYED_INVALIDATE, 0, 0, 0x1234);
		outcome(ANSWERED_OR_END, "%s",
			reply_text(queue_command(&k.io, sqe)));
	}
}

/* A memory window, which can be invalidated: once, and never used again */
static void key_window(void)
{
	struct ibv_send_wr bind = { .wr_id = 1ull << 32,
				    .opcode = IBV_WR_BIND_MW };
	struct ibv_mw *window;
	struct mem memory;
	struct ctrl k;
	int i;

	need_all(&k);
	memory = mem_make(&k.io.c, 4096, ACCESS_ALL | IBV_ACCESS_MW_BIND);
	window = ibv_alloc_mw(k.io.c.pd, IBV_MW_TYPE_2);
	if (!window)
		die("no memory window");
	bind.bind_mw.mw = window;
	bind.bind_mw.rkey = ibv_inc_rkey(window->rkey);
	bind.bind_mw.bind_info.mr = memory.mr;
	bind.bind_mw.bind_info.addr = (uintptr_t)memory.at;
	bind.bind_mw.bind_info.length = 4096;
	bind.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ |
						 IBV_ACCESS_REMOTE_WRITE;
	conn_post(&k.io.c, &bind);
	for (i = 0; i < 2; i++) {
		if (begin(i ? "used-again" : "used"))
			outcome(i ? REFUSED : "success", "%s",
				reply_text(transfer(&k.io, OPC_READ,
						    SGL_KEYED_INVALIDATE,
						    (uintptr_t)memory.at,
						    BLOCK_LEN,
						    bind.bind_mw.rkey)));
	}
}

/* Two commands of one ID, both under way */
static void cid_twice(void)
{
	uint8_t sqe[SQE_LEN];
	struct reply reply;
	struct ctrl k;
	int i;

	if (!begin_with(&k))
		return;
	for (i = 0; i < 8; i++) {
		wire_rw(sqe, i & 1 ? OPC_WRITE : OPC_READ, 42, 1, 32 + i, 1);
		queue_sgl(&k.io, sqe, (size_t)i * BLOCK_LEN, BLOCK_LEN);
		queue_send(&k.io, sqe, SQE_LEN);
	}
	for (i = 0; i < 8; i++) {
		reply = queue_await(&k.io, CID_ANY, ANSWER_MS);
		if (reply.kind != REPLY_STATUS)
			break;
	}
	outcome("8 answers|ended", i == 8 || reply.kind == REPLY_NONE ?
		"%d answers" : "ended", i);
}

const struct hostile_case key_cases[] = {
	{ "key-forged", "keys of nothing", key_forged, 0 },
	{ "key-foreign", "keys of another protection domain", key_foreign, 0 },
	{ "key-stale", "keys of what is not registered any more", key_stale,
	  0 },
	{ "key-taken-back", "keys taken back under commands", key_taken_back,
	  0 },
	{ "key-no-right", "keys without the right", key_no_right, 0 },
	{ "key-bounds", "addresses outside, ranges that wrap", key_bounds, 0 },
	{ "key-invalidate", "keys that cannot be invalidated", key_invalidate,
	  0 },
	{ "key-window", "a key that was invalidated", key_window, 0 },
	{ "cid-twice", "eight commands of one ID", cid_twice, 0 },
	{ 0 }
};
