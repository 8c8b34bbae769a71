// SPDX-License-Identifier: GPL-2.0
/*
 * target/sgl.c: a capsule and where its data is.
 *
 * Input: 4 bytes received, 4 bytes room for in-capsule data, 4 bytes MDTS, then the
 * command. The parser gets as many bytes of it as were received, at most the 64 of
 * a command: data behind it is none of its business.
 */
#include "fuzz.h"

#include "target/sgl.h"

/* NVMe base specification, Generic Command Status */
enum {
	INVALID_FIELD = 0x02, LENGTH_INVALID = 0x0f, TYPE_INVALID = 0x11,
	OFFSET_INVALID = 0x16,
};

/* What the specifications say of a command */
struct oracle {
	u64 broken;		/* a set, see fuzz_broken() */
	bool to_target;
	bool moves;		/* data */
	bool in_capsule;
	bool keyed;
	bool invalidate;
	u32 len;
	u32 key;
	u64 where;		/* offset, or address */
};

/* More than 64 bits hold it: nothing wraps here */
static fuzz_wide end_of(const struct oracle *o)
{
	return (fuzz_wide)o->where + o->len;
}

static void oracle_in_capsule(struct oracle *o, const u8 *sqe, u32 received,
			      const struct nvmet_rdma_sgl_limits *limits)
{
	u32 came = received - 64;
	u32 have = came < limits->capsule_room ? came : limits->capsule_room;

	o->in_capsule = true;
	o->len = (u32)fuzz_field(sqe, 32, 4);
	o->where = fuzz_field(sqe, 24, 8);
	if (!o->len) {
		o->moves = false;
		return;
	}
	fuzz_near(came, limits->capsule_room);
	if (limits->capsule_room && o->to_target) {
		fuzz_near(o->where, have);
		if (came < limits->capsule_room)
			fuzz_near(end_of(o), came);
		else
			fuzz_near(end_of(o), limits->capsule_room);
		fuzz_near(end_of(o), 1ull << 32);
		fuzz_near(end_of(o), FUZZ_2_TO_64);
	}
	/* Where there is no such data, none of it has a length or an offset */
	if (!limits->capsule_room) {
		o->broken = fuzz_broken(true, TYPE_INVALID);
		return;
	}
	o->broken |= fuzz_broken(!o->to_target, INVALID_FIELD);
	o->broken |= fuzz_broken(o->where > have, OFFSET_INVALID);
	/* An offset within what is there cannot be what is wrong */
	o->broken |= fuzz_broken(o->where <= have && end_of(o) > have, LENGTH_INVALID);
}

static void oracle_keyed(struct oracle *o, const u8 *sqe,
			 const struct nvmet_rdma_sgl_limits *limits)
{
	o->keyed = true;
	o->len = (u32)fuzz_field(sqe, 32, 3);
	o->where = fuzz_field(sqe, 24, 8);
	o->key = (u32)fuzz_field(sqe, 35, 4);
	o->invalidate = sqe[39] % 16 == 15;
	if (!o->len) {
		o->moves = false;
		return;
	}
	o->broken |= fuzz_broken(o->len > limits->max_len, LENGTH_INVALID);
	/* The last byte may be that at 2^64 - 1 */
	o->broken |= fuzz_broken(end_of(o) > FUZZ_2_TO_64, OFFSET_INVALID);
	if (fuzz_decides(o->broken, LENGTH_INVALID))
		fuzz_near(o->len, limits->max_len);
	if (fuzz_decides(o->broken, OFFSET_INVALID))
		fuzz_near(end_of(o), FUZZ_2_TO_64);
}

/*
 * NVMe base: bits 1:0 of an opcode, or of a Fabrics command's type, are the direction
 * of its data; an SGL descriptor is 16 bytes at 24, with its identifier behind. NVMe
 * over RDMA: it is a data block (0) with an offset (1), or a keyed data block (4),
 * plain (0) or with invalidation (15).
 */
static struct oracle oracle(const u8 *sqe, u32 received,
			    const struct nvmet_rdma_sgl_limits *limits)
{
	unsigned int direction = (sqe[0] == 0x7f ? sqe[4] : sqe[0]) % 4;
	unsigned int type = sqe[39] / 16, subtype = sqe[39] % 16;
	struct oracle o = {
		.to_target = direction == 1 || direction == 3,
		.moves = direction != 0,
	};

	if (!type && subtype == 1)
		oracle_in_capsule(&o, sqe, received, limits);
	else if (type == 4 && (!subtype || subtype == 15))
		oracle_keyed(&o, sqe, limits);
	else
		o.broken = fuzz_broken(true, TYPE_INVALID);
	return o;
}

/* Each direction with each descriptor, and each rule as the only one that is broken */
static void count_kind(const struct oracle *o, unsigned int direction)
{
	static const u8 rules[] = {
		TYPE_INVALID, INVALID_FIELD, OFFSET_INVALID, LENGTH_INVALID,
	};
	unsigned int how = o->len ? 1 : 0, i;

	if (o->broken)
		how = 2;
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (o->broken == fuzz_broken(true, rules[i]))
			how = 3 + i;
	fuzz_kind(how * 16 + o->in_capsule * 12 +
		  (o->keyed + o->invalidate) * 4 + direction);
}

static void check(const struct nvmet_rdma_sgl *sgl, const struct oracle *o,
		  u32 received, const struct nvmet_rdma_sgl_limits *limits)
{
	fuzz_check(!!sgl->status == !!o->broken);
	fuzz_check(sgl->to_target == o->to_target);
	if (sgl->status) {
		fuzz_check(fuzz_among(o->broken, sgl->status));
		fuzz_check(sgl->error_loc < 64 && sgl->error_loc >= 24);
		fuzz_check(sgl->data == NVMET_RDMA_DATA_NONE);
		fuzz_check(!sgl->invalidate);
		return;
	}
	fuzz_check(!sgl->error_loc);
	/* Also where nothing moves: the core holds it against the command */
	fuzz_check(sgl->len == o->len);
	if (!o->moves) {
		fuzz_check(sgl->data == NVMET_RDMA_DATA_NONE);
		return;
	}
	fuzz_check(sgl->len);
	if (o->keyed) {
		fuzz_check(sgl->data == NVMET_RDMA_DATA_KEYED);
		fuzz_check(sgl->len <= limits->max_len);
		fuzz_check(sgl->addr == o->where);
		fuzz_check(sgl->addr + (sgl->len - 1) >= sgl->addr);
		fuzz_check(sgl->key == o->key);
		fuzz_check(sgl->invalidate == o->invalidate);
		return;
	}
	fuzz_check(sgl->data == NVMET_RDMA_DATA_CAPSULE);
	fuzz_check(sgl->to_target && !sgl->invalidate);
	fuzz_check(sgl->offset == o->where);
	fuzz_check((u64)sgl->offset + sgl->len <= received - 64);
	fuzz_check((u64)sgl->offset + sgl->len <= limits->capsule_room);
	fuzz_check(sgl->offset + sgl->len >= sgl->offset);
}

static bool same(const struct nvmet_rdma_sgl *a, const struct nvmet_rdma_sgl *b)
{
	return a->data == b->data && a->to_target == b->to_target &&
	       a->invalidate == b->invalidate && a->len == b->len &&
	       a->offset == b->offset && a->key == b->key &&
	       a->addr == b->addr && a->status == b->status &&
	       a->error_loc == b->error_loc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	u32 received = (u32)fuzz_take(&in, 4);
	struct nvmet_rdma_sgl_limits limits = {
		.capsule_room = (u32)fuzz_take(&in, 4),
		.max_len = (u32)fuzz_take(&in, 4),
	};
	size_t len = received < 64 ? received : 64;
	u8 *sqe = fuzz_exact(in, len), *again = fuzz_exact(in, len);
	struct nvmet_rdma_sgl sgl, other;
	struct oracle o;

	memset(&sgl, 0xff, sizeof(sgl));
	memset(&other, 0, sizeof(other));
	fuzz_near(received, 64);
	fuzz_check(nvmet_rdma_parse_sgl(sqe, received, &limits, &sgl) ==
		   (received >= 64));
	/* The same twice, whatever stood there, and nothing is written but the answer */
	fuzz_check(nvmet_rdma_parse_sgl(sqe, received, &limits, &other) ==
		   (received >= 64));
	fuzz_check(same(&sgl, &other));
	fuzz_check(!len || !memcmp(sqe, again, len));
	if (received >= 64) {
		o = oracle(sqe, received, &limits);
		count_kind(&o, (sqe[0] == 0x7f ? sqe[4] : sqe[0]) % 4);
		check(&sgl, &o, received, &limits);
	}
	free(again);
	free(sqe);
	return 0;
}
