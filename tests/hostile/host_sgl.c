// SPDX-License-Identifier: GPL-2.0
/*
 * SGL descriptors: every type and subtype, in-capsule offsets and lengths, keyed
 * lengths. (NVMe/RDMA transport, "Capsules and SGLs".) Keys are host_key.c's.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

#define LAST		0xffffffffffffffffull

/* Answers to a descriptor that is wrong */
#define BAD_TYPE	"refused 0x011 DNR|refused 0x002 DNR|ended"
#define BAD_LENGTH	"refused 0x00f DNR|refused 0x002 DNR|ended"
#define NOT_MOVED	"refused 0x00f DNR|refused 0x002 DNR"
#define BAD_OFFSET	"refused 0x016 DNR|refused 0x00f DNR|" \
			"refused 0x002 DNR|ended"

/* ---- types and subtypes ---- */

static bool is_legal(int id)
{
	return id == SGL_IN_CAPSULE || id == SGL_KEYED ||
	       id == SGL_KEYED_INVALIDATE;
}

/* The fields of a keyed descriptor, or of one in the capsule, below any type */
static void set_id(struct queue *q, uint8_t *sqe, int id, uint32_t len)
{
	if (id == SGL_IN_CAPSULE)
		wire_sgl_in_capsule(sqe, 0, len);
	else
		queue_sgl(q, sqe, 0, len);
	put(sqe + SQE_SGL + SGL_ID, (uint64_t)id, 1);
}

static void types(struct ctrl *k, uint8_t opc)
{
	uint8_t capsule[SQE_LEN + BLOCK_LEN];
	struct queue *q = opc == OPC_IDENTIFY ? &k->admin : &k->io;
	uint32_t len = opc == OPC_IDENTIFY ? 4096 : BLOCK_LEN;
	const char *expected;
	int id;

	memset(capsule, 0xa5, sizeof(capsule));
	for (id = 0; id < 256; id++) {
		if (!begin("0x%02x", id))
			continue;
		need_again(k);
		if (opc == OPC_IDENTIFY) {
			wire_command(capsule, opc, queue_cid(q), 0);
			put(capsule + SQE_CDW10, 1, 1);
		} else {
			wire_rw(capsule, opc, queue_cid(q), 1, 8, 1);
		}
		set_id(q, capsule, id, len);
		queue_send(q, capsule, sizeof(capsule));
		/* A user's own registration may be beyond invalidation */
		expected = id == SGL_KEYED_INVALIDATE ? "success|ended" :
			   !is_legal(id) ? BAD_TYPE :
			   id == SGL_KEYED || opc == OPC_WRITE ? "success" :
			   BAD_TYPE;
		outcome(expected, "%s",
			reply_text(queue_await(q, CID_ANY, ANSWER_MS)));
	}
}

static void sgl_write_type(void)
{
	struct ctrl k;

	need_all(&k);
	types(&k, OPC_WRITE);
}

static void sgl_read_type(void)
{
	struct ctrl k;

	need_all(&k);
	types(&k, OPC_READ);
}

static void sgl_identify_type(void)
{
	struct ctrl k;

	need_all(&k);
	types(&k, OPC_IDENTIFY);
}

static void sgl_connect_type(void)
{
	uint8_t capsule[SQE_LEN + CONNECT_DATA_LEN];
	struct queue q = { 0 };
	struct reply reply;
	int id;

	for (id = 0; id < 256; id++) {
		if (!begin("0x%02x", id))
			continue;
		if (!q.c.channel)
			need_queue(&q, &(struct queue_how){ 0 });
		make_connect(&q, capsule, 0xffff);
		memcpy(capsule + SQE_LEN, q.data.at, CONNECT_DATA_LEN);
		set_id(&q, capsule, id, CONNECT_DATA_LEN);
		queue_send(&q, capsule, sizeof(capsule));
		reply = queue_await(&q, CID_ANY, ANSWER_MS);
		outcome(id == SGL_KEYED_INVALIDATE ? "success|ended" :
			is_legal(id) ? "success" : BAD_TYPE, "%s",
			reply_text(reply));
		if (reply.kind != REPLY_STATUS || reply_good(reply))
			queue_close(&q);
	}
}

/* PSDT and fused operations; and the rest of the byte */
static void sgl_flags(void)
{
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	int flags;

	need_all(&k);
	for (flags = 0; flags < 256; flags++) {
		if (!begin("0x%02x", flags))
			continue;
		need_again(&k);
		wire_rw(sqe, OPC_READ, queue_cid(&k.io), 1, 0, 1);
		queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
		put(sqe + SQE_FLAGS, (uint64_t)flags, 1);
		outcome((flags & 0xc3) == FLAGS_SGL ? ANSWERED : REFUSED, "%s",
			reply_text(queue_command(&k.io, sqe)));
	}
}

/* ---- in-capsule data ---- */

static const char *number(uint64_t n)
{
	static char words[32];

	if (n > LAST - 0x10000)
		snprintf(words, sizeof(words), "2^64-%llu",
			 (unsigned long long)(LAST - n) + 1);
	else if (n > 0xffff)
		snprintf(words, sizeof(words), "%#llx", (unsigned long long)n);
	else
		snprintf(words, sizeof(words), "%llu", (unsigned long long)n);
	return words;
}

/* A write of one block whose capsule has @room bytes of data, all of them sent */
static void in_capsule(struct ctrl *k, uint64_t offset, uint32_t len,
		       const char *expected)
{
	uint8_t capsule[SLOT_LEN], block[BLOCK_LEN];
	struct queue *q = &k->io;
	struct reply reply;

	need_again(k);
	memset(capsule, 0xee, sizeof(capsule));
	memset(block, (int)(offset + len) & 0x7f, sizeof(block));
	wire_rw(capsule, OPC_WRITE, queue_cid(q), 1, 16, 1);
	wire_sgl_in_capsule(capsule, offset, len);
	if (offset <= k->room - BLOCK_LEN)
		memcpy(capsule + SQE_LEN + offset, block, sizeof(block));
	queue_send(q, capsule, SQE_LEN + k->room);
	reply = queue_await(q, CID_ANY, ANSWER_MS);
	if (!reply_good(reply)) {
		outcome(expected, "%s", reply_text(reply));
		return;
	}
	reply = read_write(q, OPC_READ, 16, 1);
	outcome(expected, "%s", !reply_good(reply) ? "nothing to read" :
		memcmp(q->data.at, block, sizeof(block)) ? "other data" :
		"success");
}

static void sgl_offset(void)
{
	uint64_t offsets[24];
	struct ctrl k;
	int i, n = 0;

	need_all(&k);
	offsets[n++] = 0;
	offsets[n++] = 1;
	offsets[n++] = 4;
	offsets[n++] = k.room - BLOCK_LEN - 1;
	offsets[n++] = k.room - BLOCK_LEN;
	offsets[n++] = k.room - BLOCK_LEN + 1;
	offsets[n++] = k.room - 1;
	offsets[n++] = k.room;
	offsets[n++] = k.room + 1;
	offsets[n++] = 0x7fffffff;
	offsets[n++] = 0x80000000;
	offsets[n++] = 0xffffffff - BLOCK_LEN + 1;
	offsets[n++] = 0xffffffff;
	offsets[n++] = 0x100000000;
	offsets[n++] = 0x100000000 - BLOCK_LEN;
	offsets[n++] = 0x8000000000000000;
	offsets[n++] = LAST - 8191;
	offsets[n++] = LAST - 4095;
	offsets[n++] = LAST - SQE_LEN + 1;
	offsets[n++] = LAST - BLOCK_LEN + 1;
	offsets[n++] = LAST - 1;
	offsets[n++] = LAST;
	for (i = 0; i < n; i++) {
		if (begin("%s", number(offsets[i])))
			in_capsule(&k, offsets[i], BLOCK_LEN,
				   offsets[i] <= k.room - BLOCK_LEN ?
				   "success|refused * DNR" : BAD_OFFSET);
	}
}

static void sgl_capsule_length(void)
{
	uint32_t lengths[16];
	struct ctrl k;
	int i, n = 0;

	need_all(&k);
	lengths[n++] = 0;
	lengths[n++] = 1;
	lengths[n++] = BLOCK_LEN - 1;
	lengths[n++] = BLOCK_LEN;
	lengths[n++] = BLOCK_LEN + 1;
	lengths[n++] = k.room - 1;
	lengths[n++] = k.room;
	lengths[n++] = k.room + 1;
	lengths[n++] = 0x7fffffff;
	lengths[n++] = 0x80000000;
	lengths[n++] = 0xfffff000;
	lengths[n++] = 0xffffffff;
	for (i = 0; i < n; i++) {
		if (begin("%s", number(lengths[i])))
			in_capsule(&k, 0, lengths[i], lengths[i] == BLOCK_LEN ?
				   "success" : BAD_LENGTH);
	}
}

/* Offset and length whose sum wraps, at 32 and at 64 bits */
static void sgl_wrap(void)
{
	static const struct {
		uint64_t offset;
		uint32_t len;
	} sums[] = {
		{ LAST, 1 }, { LAST, 2 }, { LAST - 4095, 4096 },
		{ LAST - 4095, 8192 }, { LAST - 0xfffffffe, 0xffffffff },
		{ 1, 0xffffffff }, { 0xffffffff, 1 }, { 0xfffffe00, 512 },
		{ 0x8000000000000000, 0x80000000 }, { LAST - 511, 512 },
	};
	struct ctrl k;
	size_t i;

	need_all(&k);
	for (i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		if (begin("%s+%u", number(sums[i].offset), sums[i].len))
			in_capsule(&k, sums[i].offset, sums[i].len, BAD_OFFSET);
	}
}

/* On the admin queue, before and in Connect: no page of the target's, but its own */
static void sgl_admin(void)
{
	static const struct {
		uint64_t offset;
		uint32_t len, sent;
	} forms[] = {
		{ 0, 1024, 0 }, { 0, 1024, 512 }, { 0, 1024, 1023 },
		{ 1, 1024, 1024 }, { 4096, 1024, 1024 }, { LAST - 4095, 1024, 1024 },
		{ LAST - 1023, 1024, 1024 }, { 0, 1023, 1024 }, { 0, 1025, 1024 },
		{ 0, 0xffffffff, 1024 }, { 0, 0, 1024 }, { 0, 1024, 1024 },
	};
	uint8_t capsule[SLOT_LEN];
	struct queue q = { 0 };
	struct reply reply;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!begin("%s+%u-of-%u", number(forms[i].offset), forms[i].len,
			   forms[i].sent))
			continue;
		if (!q.c.channel)
			need_queue(&q, &(struct queue_how){ 0 });
		make_connect(&q, capsule, 0xffff);
		memcpy(capsule + SQE_LEN, q.data.at, CONNECT_DATA_LEN);
		wire_sgl_in_capsule(capsule, forms[i].offset, forms[i].len);
		queue_send(&q, capsule, SQE_LEN + forms[i].sent);
		reply = queue_await(&q, CID_ANY, ANSWER_MS);
		outcome(i + 1 == sizeof(forms) / sizeof(*forms) ? "success" :
			REFUSED, "%s", reply_text(reply));
		if (reply.kind != REPLY_STATUS || reply_good(reply))
			queue_close(&q);
	}
}

/* ---- keyed lengths ---- */

/*
 * One keyed length, with a valid key or an invalid one: data that does not fit is refused
 * before any transfer, which would end the connection with such a key.
 */
static void one_length(struct queue *q, uint8_t *sqe, const struct mem *memory,
		       uint32_t len, bool fits, bool forged)
{
	wire_sgl_keyed(sqe, SGL_KEYED, (uintptr_t)memory->at, len,
		       memory->mr->rkey ^ (forged ? 0x55 : 0));
	outcome(fits ? "success" : forged ? NOT_MOVED : BAD_LENGTH, "%s",
		reply_text(queue_command(q, sqe)));
}

static void keyed_length(struct ctrl *k, uint8_t opc, struct mem *memory)
{
	const uint32_t lengths[] = { 0, 1, BLOCK_LEN - 1, BLOCK_LEN,
				     BLOCK_LEN + 1, 65536, k->mdts - BLOCK_LEN,
				     k->mdts, k->mdts + 1, 0x7fffff, 0xffffff };
	struct queue *q = &k->io;
	uint8_t sqe[SQE_LEN];
	bool fits;
	size_t i;

	for (i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
		fits = lengths[i / 2] == BLOCK_LEN;
		if ((fits && i % 2) ||
		    !begin("%u%s", lengths[i / 2], i % 2 ? "-forged" : ""))
			continue;
		wire_rw(sqe, opc, queue_cid(q), 1, 0, 1);
		one_length(q, sqe, memory, lengths[i / 2], fits, i % 2);
	}
}

/* The command wants as much: it is too much for the controller */
static void whole_length(struct ctrl *k, uint8_t opc, struct mem *memory)
{
	const uint32_t lengths[] = { k->mdts, k->mdts + BLOCK_LEN, 2 * k->mdts,
				     16 << 20 };
	struct queue *q = &k->io;
	uint8_t sqe[SQE_LEN];
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		/* as many blocks as there are, for 3 bytes of length */
		uint32_t len = lengths[i] > 0xfffe00 ? 0xfffe00 : lengths[i];

		if (!begin("whole-%u", len))
			continue;
		wire_rw(sqe, opc, queue_cid(q), 1, 0,
			(uint16_t)(len / BLOCK_LEN));
		wire_sgl_keyed(sqe, SGL_KEYED, (uintptr_t)memory->at, len,
			       memory->mr->rkey);
		outcome(len <= k->mdts ? "success" : REFUSED, "%s",
			reply_text(queue_command(q, sqe)));
	}
}

static void lengths_of(uint8_t opc)
{
	struct mem memory;
	struct ctrl k;

	need_all(&k);
	if (!k.mdts || k.mdts > 4 << 20)
		cannot("an MDTS of 4 MiB or less");
	memory = mem_make(&k.io.c, 16 << 20, IBV_ACCESS_LOCAL_WRITE |
			  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	keyed_length(&k, opc, &memory);
	whole_length(&k, opc, &memory);
}

static void sgl_read_length(void)
{
	lengths_of(OPC_READ);
}

static void sgl_write_length(void)
{
	lengths_of(OPC_WRITE);
}

/* Up to 16 MiB of keyed data before the host has identified itself */
static void sgl_before_connect(void)
{
	static const uint32_t lengths[] = { 0, 1, 1023, 1025, 1 << 20,
					    (1 << 20) + 1, 0xffffff };
	uint8_t sqe[SQE_LEN];
	struct mem memory;
	struct queue q;
	size_t i;

	need_queue(&q, &(struct queue_how){ 0 });
	memory = mem_make(&q.c, 16 << 20, IBV_ACCESS_LOCAL_WRITE |
			  IBV_ACCESS_REMOTE_READ);
	for (i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
		if (!begin("%u%s", lengths[i / 2], i % 2 ? "-forged" : ""))
			continue;
		make_connect(&q, sqe, 0xffff);
		one_length(&q, sqe, &memory, lengths[i / 2], false, i % 2);
	}
}

const struct hostile_case sgl_cases[] = {
	{ "sgl-write-type", "each SGL identifier on a Write", sgl_write_type,
	  0 },
	{ "sgl-read-type", "each SGL identifier on a Read", sgl_read_type, 0 },
	{ "sgl-identify-type", "each SGL identifier on Identify",
	  sgl_identify_type, 0 },
	{ "sgl-connect-type", "each SGL identifier on Connect",
	  sgl_connect_type, 0 },
	{ "sgl-flags", "PSDT and fused operations, the byte's 256 values",
	  sgl_flags, 0 },
	{ "sgl-offset", "in-capsule offsets at and past each boundary",
	  sgl_offset, 0 },
	{ "sgl-capsule-length", "in-capsule lengths at and past each boundary",
	  sgl_capsule_length, 0 },
	{ "sgl-wrap", "in-capsule offsets and lengths whose sum wraps",
	  sgl_wrap, 0 },
	{ "sgl-admin", "in-capsule data on an admin queue", sgl_admin, 0 },
	{ "sgl-read-length", "keyed lengths of a Read", sgl_read_length, 0 },
	{ "sgl-write-length", "keyed lengths of a Write", sgl_write_length,
	  0 },
	{ "sgl-before-connect", "keyed lengths before Connect",
	  sgl_before_connect, 0 },
	{ 0 }
};
