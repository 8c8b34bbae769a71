// SPDX-License-Identifier: GPL-2.0
/* target/sgl.c: where a command's data is, for every SGL that a host can send */
#include "harness.h"

#include "target/sgl.h"

#define ROOM	4096
#define MDTS	0x100000
#define U64(x)	((u64)(x))

/* Opcodes, types of Fabrics commands, SGL identifiers */
enum { FLUSH = 0x00, WRITE = 0x01, READ = 0x02, DSM = 0x09, AER = 0x0c };
enum { FABRICS = 0x7f };
enum { PROP_SET = 0x00, CONNECT = 0x01, PROP_GET = 0x04 };
enum { AUTH_SEND = 0x05, AUTH_RECV = 0x06 };
enum { IN_CAPSULE = 0x01, KEYED = 0x40, INVALIDATE = 0x4f };

static const struct nvmet_rdma_sgl_limits usual = { ROOM, MDTS };
static const struct nvmet_rdma_sgl_limits no_room = { 0, MDTS };

static void command(u8 *sqe, u8 opcode, u8 fctype, u8 id, u64 addr, u32 len,
		    u32 key)
{
	memset(sqe, 0xee, NVMET_RDMA_SQE_LEN);
	sqe[0] = opcode;
	sqe[4] = fctype;
	put_unaligned_le64(addr, sqe + 24);
	put_unaligned_le32(len, sqe + 32);
	if (id != IN_CAPSULE) {
		sqe[34] = len >> 16;
		put_unaligned_le32(key, sqe + 35);
	}
	sqe[39] = id;
}

/* The parser reads exactly the received bytes */
static bool parse(const u8 *sqe, u32 received,
		  const struct nvmet_rdma_sgl_limits *limits,
		  struct nvmet_rdma_sgl *sgl)
{
	u32 len = received < NVMET_RDMA_SQE_LEN ? received : NVMET_RDMA_SQE_LEN;
	u8 *copy = unit_exact_copy(sqe, len);
	bool ok = nvmet_rdma_parse_sgl(copy, received, limits, sgl);

	free(copy);
	return ok;
}

static void every_short_capsule(void **state)
{
	struct nvmet_rdma_sgl sgl;
	u8 sqe[NVMET_RDMA_SQE_LEN];
	u32 received;

	(void)state;
	command(sqe, WRITE, 0, KEYED, 0x1000, 512, 7);
	for (received = 0; received < NVMET_RDMA_SQE_LEN; received++) {
		unit_context("%u bytes", received);
		unit_equal(false, parse(sqe, received, &usual, &sgl));
	}
	for (; received < NVMET_RDMA_SQE_LEN + 2; received++) {
		unit_context("%u bytes", received);
		unit_equal(true, parse(sqe, received, &usual, &sgl));
		unit_equal(NVMET_RDMA_DATA_KEYED, sgl.data);
	}
}

/* offset and length against the received bytes; all are writes */
static void in_capsule(void **state)
{
	static const struct {
		u32 received;
		u64 offset;
		u32 len;
		u16 status;
	} table[] = {
		{ 64, 0, 1, NVMET_RDMA_SC_SGL_LENGTH },
		{ 65, 0, 1, 0 },
		{ 65, 0, 2, NVMET_RDMA_SC_SGL_LENGTH },
		{ 65, 1, 1, NVMET_RDMA_SC_SGL_LENGTH },
		{ 65, 2, 1, NVMET_RDMA_SC_SGL_OFFSET },
		{ 64 + 512, 0, 512, 0 },
		{ 64 + 511, 0, 512, NVMET_RDMA_SC_SGL_LENGTH },
		{ 64 + 512, 512, 512, NVMET_RDMA_SC_SGL_LENGTH },
		{ 64 + 1024, 512, 512, 0 },
		{ 64 + 1024, 512, 513, NVMET_RDMA_SC_SGL_LENGTH },
		{ 64 + ROOM, 0, ROOM, 0 },
		{ 64 + ROOM, 0, ROOM + 1, NVMET_RDMA_SC_SGL_LENGTH },
		{ 64 + ROOM, ROOM, 1, NVMET_RDMA_SC_SGL_LENGTH },
		{ 64 + ROOM, ROOM - 1, 1, 0 },
		{ 64 + ROOM, ROOM + 1, 1, NVMET_RDMA_SC_SGL_OFFSET },
		/* more than the receive holds: no HCA does that, but still */
		{ 64 + ROOM + 1, 0, ROOM + 1, NVMET_RDMA_SC_SGL_LENGTH },
		{ 0xffffffff, 0, ROOM + 1, NVMET_RDMA_SC_SGL_LENGTH },
		/* offset + length wraps in 64, or in 32 bits */
		{ 64 + ROOM, U64(0) - 4096, 4096, NVMET_RDMA_SC_SGL_OFFSET },
		{ 64 + ROOM, U64(0) - 4096, 8192, NVMET_RDMA_SC_SGL_OFFSET },
		{ 64 + ROOM, U64(0) - 1, 1, NVMET_RDMA_SC_SGL_OFFSET },
		{ 64 + ROOM, U64(1) << 32, 512, NVMET_RDMA_SC_SGL_OFFSET },
		{ 64 + ROOM, U64(0xfffff000), 4096, NVMET_RDMA_SC_SGL_OFFSET },
		{ 64 + ROOM, 0, 0xffffffff, NVMET_RDMA_SC_SGL_LENGTH },
		{ 64 + ROOM, 4095, 0xfffff001, NVMET_RDMA_SC_SGL_LENGTH },
		{ 64 + ROOM, 1, 0xffffffff, NVMET_RDMA_SC_SGL_LENGTH },
	};
	struct nvmet_rdma_sgl sgl;
	u8 sqe[NVMET_RDMA_SQE_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("line %zu: %u bytes received, offset %#llx, length %#x",
			     i, table[i].received, table[i].offset,
			     table[i].len);
		command(sqe, WRITE, 0, IN_CAPSULE, table[i].offset,
			table[i].len, 0);
		unit_equal(true, parse(sqe, table[i].received, &usual, &sgl));
		unit_equal(table[i].status, sgl.status);
		if (sgl.status) {
			unit_equal(NVMET_RDMA_DATA_NONE, sgl.data);
			unit_equal(NVMET_RDMA_SQE_DPTR, sgl.error_loc);
			continue;
		}
		unit_equal(NVMET_RDMA_DATA_CAPSULE, sgl.data);
		unit_equal(true, sgl.to_target);
		unit_equal(false, sgl.invalidate);
		unit_equal(table[i].len, sgl.len);
		unit_equal(table[i].offset, sgl.offset);

		/* the same on a queue without room, and for a read */
		unit_equal(true, parse(sqe, table[i].received, &no_room, &sgl));
		unit_equal(NVMET_RDMA_SC_SGL_TYPE, sgl.status);
		sqe[0] = READ;
		unit_equal(true, parse(sqe, table[i].received, &usual, &sgl));
		unit_equal(NVMET_RDMA_SC_FIELD, sgl.status);
		unit_equal(NVMET_RDMA_DATA_NONE, sgl.data);
	}
}

static void in_capsule_of_nothing(void **state)
{
	struct nvmet_rdma_sgl sgl;
	u8 sqe[NVMET_RDMA_SQE_LEN];

	(void)state;
	unit_context("no data");
	command(sqe, WRITE, 0, IN_CAPSULE, U64(0) - 4096, 0, 0);
	assert_true(parse(sqe, 64, &no_room, &sgl));
	unit_equal(0, sgl.status);
	unit_equal(NVMET_RDMA_DATA_NONE, sgl.data);
	unit_equal(0, sgl.len);
}

static void keyed(void **state)
{
	static const struct {
		u64 addr;
		u32 len;
		enum nvmet_rdma_data data;
		u16 status;
	} table[] = {
		{ 0x1000, 0, NVMET_RDMA_DATA_NONE, 0 },
		{ 0x1000, 1, NVMET_RDMA_DATA_KEYED, 0 },
		{ 0, 512, NVMET_RDMA_DATA_KEYED, 0 },
		{ 0x1000, 0xffff, NVMET_RDMA_DATA_KEYED, 0 },
		{ 0x1000, 0x10000, NVMET_RDMA_DATA_KEYED, 0 },
		{ 0x1000, MDTS - 1, NVMET_RDMA_DATA_KEYED, 0 },
		{ 0x1000, MDTS, NVMET_RDMA_DATA_KEYED, 0 },
		{ 0x1000, MDTS + 1, NVMET_RDMA_DATA_NONE,
		  NVMET_RDMA_SC_SGL_LENGTH },
		{ 0x1000, 0xffffff, NVMET_RDMA_DATA_NONE,
		  NVMET_RDMA_SC_SGL_LENGTH },
		{ U64(0) - 4096, 4096, NVMET_RDMA_DATA_KEYED, 0 },
		{ U64(0) - 4096, 4097, NVMET_RDMA_DATA_NONE,
		  NVMET_RDMA_SC_SGL_OFFSET },
		{ U64(0) - 1, 1, NVMET_RDMA_DATA_KEYED, 0 },
		{ U64(0) - 1, 2, NVMET_RDMA_DATA_NONE,
		  NVMET_RDMA_SC_SGL_OFFSET },
	};
	static const u8 ids[] = { KEYED, INVALIDATE };
	static const u8 opcodes[] = { READ, WRITE };
	struct nvmet_rdma_sgl sgl;
	u8 sqe[NVMET_RDMA_SQE_LEN];
	size_t i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		for (j = 0; j < ARRAY_SIZE(ids) * ARRAY_SIZE(opcodes); j++) {
			u8 id = ids[j % ARRAY_SIZE(ids)];
			u8 opcode = opcodes[j / ARRAY_SIZE(ids)];

			unit_context("line %zu: address %#llx, length %#x, id %#x, opcode %#x",
				     i, table[i].addr, table[i].len, id,
				     opcode);
			command(sqe, opcode, 0, id, table[i].addr,
				table[i].len, 0xfedcba98);
			unit_equal(true, parse(sqe, 64, &usual, &sgl));
			unit_equal(table[i].status, sgl.status);
			unit_equal(table[i].data, sgl.data);
			if (sgl.data != NVMET_RDMA_DATA_KEYED) {
				unit_equal(sgl.status ? NVMET_RDMA_SQE_DPTR : 0,
					   sgl.error_loc);
				unit_equal(false, sgl.invalidate);
				continue;
			}
			unit_equal(table[i].len, sgl.len);
			unit_equal(opcode == WRITE, sgl.to_target);
			unit_equal(table[i].addr, sgl.addr);
			unit_equal(0xfedcba98, sgl.key);
			unit_equal(id == INVALIDATE, sgl.invalidate);
		}
	}
}

static void every_type_and_subtype(void **state)
{
	struct nvmet_rdma_sgl sgl;
	u8 sqe[NVMET_RDMA_SQE_LEN];
	unsigned int id;

	(void)state;
	for (id = 0; id < 256; id++) {
		bool known = id == IN_CAPSULE || id == KEYED ||
			     id == INVALIDATE;

		unit_context("SGL identifier %#x", id);
		/* as keyed 512 bytes at 0; in the capsule it needs a length */
		command(sqe, WRITE, 0, id, 0, 512, 0);
		unit_equal(true, parse(sqe, 64 + 512, &usual, &sgl));
		unit_equal(known ? 0 : NVMET_RDMA_SC_SGL_TYPE, sgl.status);
		if (!known) {
			unit_equal(NVMET_RDMA_DATA_NONE, sgl.data);
			unit_equal(NVMET_RDMA_SQE_DPTR, sgl.error_loc);
		}
	}
}

static void directions(void **state)
{
	static const struct {
		u8 opcode, fctype;
		bool to_target;
		enum nvmet_rdma_data data;
	} table[] = {
		{ WRITE, 0, true, NVMET_RDMA_DATA_KEYED },
		{ READ, 1, false, NVMET_RDMA_DATA_KEYED },
		{ DSM, 0, true, NVMET_RDMA_DATA_KEYED },
		{ 0x03, 0, true, NVMET_RDMA_DATA_KEYED },
		{ FLUSH, 1, false, NVMET_RDMA_DATA_NONE },
		{ AER, 1, false, NVMET_RDMA_DATA_NONE },
		{ FABRICS, CONNECT, true, NVMET_RDMA_DATA_KEYED },
		{ FABRICS, AUTH_SEND, true, NVMET_RDMA_DATA_KEYED },
		{ FABRICS, AUTH_RECV, false, NVMET_RDMA_DATA_KEYED },
		{ FABRICS, PROP_SET, false, NVMET_RDMA_DATA_NONE },
		{ FABRICS, PROP_GET, false, NVMET_RDMA_DATA_NONE },
	};
	struct nvmet_rdma_sgl sgl;
	u8 sqe[NVMET_RDMA_SQE_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		unit_context("opcode %#x, type %#x", table[i].opcode,
			     table[i].fctype);
		command(sqe, table[i].opcode, table[i].fctype, KEYED, 0x1000,
			1024, 5);
		unit_equal(true, parse(sqe, 64, &usual, &sgl));
		unit_equal(0, sgl.status);
		unit_equal(table[i].to_target, sgl.to_target);
		unit_equal(table[i].data, sgl.data);
		/* kept for the core, which refuses what it does not expect */
		unit_equal(1024, sgl.len);
	}
}

/* The possible results, for any input */
static void check_invariants(const struct nvmet_rdma_sgl *sgl, u32 received,
			     const struct nvmet_rdma_sgl_limits *limits)
{
	if (sgl->status) {
		unit_equal(NVMET_RDMA_DATA_NONE, sgl->data);
		unit_equal(NVMET_RDMA_SQE_DPTR, sgl->error_loc);
		unit_equal(false, sgl->invalidate);
		return;
	}
	switch (sgl->data) {
	case NVMET_RDMA_DATA_NONE:
		break;
	case NVMET_RDMA_DATA_CAPSULE:
		assert_true(sgl->to_target);
		assert_true(sgl->len);
		assert_true(U64(sgl->offset) + sgl->len <= received - 64);
		assert_true(U64(sgl->offset) + sgl->len <= limits->capsule_room);
		break;
	case NVMET_RDMA_DATA_KEYED:
		assert_true(sgl->len && sgl->len <= limits->max_len);
		assert_true(sgl->addr + (sgl->len - 1) >= sgl->addr);
		break;
	default:
		fail_msg("%s: data is %d", unit_where, sgl->data);
	}
}

static void random_capsules(void **state)
{
	static const u8 ids[] = { IN_CAPSULE, KEYED, INVALIDATE };
	static const u32 rooms[] = { 0, 512, ROOM, 65536 };
	unsigned int seen[3] = { 0, 0, 0 }, refused = 0, round;
	u64 seed = 20260102;

	(void)state;
	for (round = 0; round < 300000; round++) {
		u64 r = unit_random(&seed), s = unit_random(&seed);
		struct nvmet_rdma_sgl_limits limits = {
			.capsule_room = rooms[r & 3],
			.max_len = 1u << (12 + (r >> 2 & 15)),
		};
		struct nvmet_rdma_sgl sgl;
		u8 sqe[NVMET_RDMA_SQE_LEN];
		u32 received = s % (64 + 70000);
		size_t i;

		unit_context("round %u", round);
		for (i = 0; i < sizeof(sqe); i++)
			sqe[i] = unit_random(&seed) >> 56;
		/* Three in four get a descriptor that exists, and near sizes */
		if (r >> 8 & 3) {
			sqe[39] = ids[(r >> 10) % ARRAY_SIZE(ids)];
			if (sqe[39] == IN_CAPSULE) {
				put_unaligned_le64(r >> 16 & 0x1fff, sqe + 24);
				put_unaligned_le32(r >> 32 & 0x1fff, sqe + 32);
			}
		}
		if (!parse(sqe, received, &limits, &sgl)) {
			assert_true(received < NVMET_RDMA_SQE_LEN);
			continue;
		}
		assert_true(received >= NVMET_RDMA_SQE_LEN);
		check_invariants(&sgl, received, &limits);
		if (sgl.status)
			refused++;
		else
			seen[sgl.data]++;
	}
	/* The loop is worth something only if it sees all of them */
	assert_in_range(seen[NVMET_RDMA_DATA_NONE], 1000, 290000);
	assert_in_range(seen[NVMET_RDMA_DATA_CAPSULE], 1000, 290000);
	assert_in_range(seen[NVMET_RDMA_DATA_KEYED], 1000, 290000);
	assert_in_range(refused, 1000, 290000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_short_capsule),
		cmocka_unit_test(in_capsule),
		cmocka_unit_test(in_capsule_of_nothing),
		cmocka_unit_test(keyed),
		cmocka_unit_test(every_type_and_subtype),
		cmocka_unit_test(directions),
		cmocka_unit_test(random_capsules),
	};

	return cmocka_run_group_tests_name("target_sgl", tests, NULL, NULL);
}
