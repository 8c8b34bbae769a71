// SPDX-License-Identifier: GPL-2.0
/*
 * The SGL of a capsule: where a command's data is.
 *
 * Only this file interprets a command's SGL. It runs before the core has seen the command and
 * before anything is allocated. The result is inside the receive (in-capsule data) or inside
 * MDTS (keyed data), or it is a status. It relies on the length that the HCA received, and
 * never on the receive's size: behind a short capsule lie the bytes of an older one.
 *
 * This file is pure: the unit tests compile it in user space.
 */
#include "sgl.h"

/* Bytes of the submission queue entry (NVMe base, NVMe over Fabrics) */
enum {
	OPCODE	= 0,
	FCTYPE	= 4,		/* of a Fabrics command */
	ADDRESS	= NVMET_RDMA_SQE_DPTR,
	LENGTH	= ADDRESS + 8,	/* 3 bytes if keyed, else 4 */
	KEY	= ADDRESS + 11,
	SGL_ID	= ADDRESS + 15,
};

#define OPCODE_FABRICS	0x7f

/* Bits 1:0 of an opcode or a Fabrics command type: the direction of the data */
#define DIR_MASK	0x3
#define DIR_TO_TARGET	0x1

/* SGL identifier: descriptor type above, subtype below */
#define SGL_ID_IN_CAPSULE	0x01	/* data block, offset */
#define SGL_ID_KEYED		0x40	/* keyed data block, address */
#define SGL_ID_KEYED_INVALIDATE	0x4f	/* the same, invalidate the key */

static void refuse(struct nvmet_rdma_sgl *sgl, enum nvmet_rdma_sc status)
{
	sgl->data = NVMET_RDMA_DATA_NONE;
	sgl->invalidate = false;
	sgl->status = status;
	sgl->error_loc = NVMET_RDMA_SQE_DPTR;
}

static void parse_in_capsule(const u8 *sqe, u32 received,
			     const struct nvmet_rdma_sgl_limits *limits,
			     struct nvmet_rdma_sgl *sgl)
{
	u32 have = received - NVMET_RDMA_SQE_LEN;
	u64 offset = get_unaligned_le64(sqe + ADDRESS);

	sgl->len = get_unaligned_le32(sqe + LENGTH);
	if (!sgl->len)
		return;
	if (!limits->capsule_room)
		return refuse(sgl, NVMET_RDMA_SC_SGL_TYPE);
	if (!sgl->to_target)
		return refuse(sgl, NVMET_RDMA_SC_FIELD);

	/* A receive cannot be longer than its buffers; do not depend on it */
	if (have > limits->capsule_room)
		have = limits->capsule_room;
	/* Two comparisons and no sum: offset + length may wrap */
	if (offset > have)
		return refuse(sgl, NVMET_RDMA_SC_SGL_OFFSET);
	if (sgl->len > have - offset)
		return refuse(sgl, NVMET_RDMA_SC_SGL_LENGTH);

	sgl->offset = (u32)offset;
	sgl->data = NVMET_RDMA_DATA_CAPSULE;
}

static void parse_keyed(const u8 *sqe, bool invalidate,
			const struct nvmet_rdma_sgl_limits *limits,
			struct nvmet_rdma_sgl *sgl)
{
	sgl->len = get_unaligned_le16(sqe + LENGTH) |
		   (u32)sqe[LENGTH + 2] << 16;
	if (!sgl->len)
		return;
	if (sgl->len > limits->max_len)
		return refuse(sgl, NVMET_RDMA_SC_SGL_LENGTH);

	sgl->addr = get_unaligned_le64(sqe + ADDRESS);
	sgl->key = get_unaligned_le32(sqe + KEY);
	sgl->invalidate = invalidate;
	/* The HCA counts up from addr: a range must not wrap */
	if (sgl->addr + (sgl->len - 1) < sgl->addr)
		return refuse(sgl, NVMET_RDMA_SC_SGL_OFFSET);
	sgl->data = NVMET_RDMA_DATA_KEYED;
}

/**
 * nvmet_rdma_parse_sgl() - parse the SGL of a command
 * @sqe: the capsule's first NVMET_RDMA_SQE_LEN bytes
 * @received: bytes that the HCA received, the command included
 * @limits: limits of the queue
 * @sgl: filled in; with a status if the command is to be rejected
 *
 * NVMe/RDMA transport specification, "Capsules and SGLs": a capsule has one
 * descriptor, which is a data block at an offset in the capsule or a keyed data
 * block, with or without invalidation of the key.
 *
 * Context: any; touches nothing but its arguments.
 * Return: false if @received does not hold a command, so that it cannot be answered; true
 * otherwise.
 */
bool nvmet_rdma_parse_sgl(const u8 *sqe, u32 received,
			  const struct nvmet_rdma_sgl_limits *limits,
			  struct nvmet_rdma_sgl *sgl)
{
	u8 direction;

	memset(sgl, 0, sizeof(*sgl));
	if (received < NVMET_RDMA_SQE_LEN)
		return false;

	direction = sqe[OPCODE] == OPCODE_FABRICS ? sqe[FCTYPE] : sqe[OPCODE];
	direction &= DIR_MASK;
	sgl->to_target = direction & DIR_TO_TARGET;

	switch (sqe[SGL_ID]) {
	case SGL_ID_IN_CAPSULE:
		parse_in_capsule(sqe, received, limits, sgl);
		break;
	case SGL_ID_KEYED:
		parse_keyed(sqe, false, limits, sgl);
		break;
	case SGL_ID_KEYED_INVALIDATE:
		parse_keyed(sqe, true, limits, sgl);
		break;
	default:
		refuse(sgl, NVMET_RDMA_SC_SGL_TYPE);
	}

	if (!direction && !sgl->status)
		sgl->data = NVMET_RDMA_DATA_NONE;
	return true;
}
