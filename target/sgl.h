/* SPDX-License-Identifier: GPL-2.0 */
/* Where the data of a command is (pure, see sgl.c) */
#ifndef NVMET_RDMA_SGL_H
#define NVMET_RDMA_SGL_H

#include "common/pure.h"

/* NVMe base specification: a submission queue entry, and its data pointer */
#define NVMET_RDMA_SQE_LEN	64
#define NVMET_RDMA_SQE_DPTR	24

/**
 * enum nvmet_rdma_data - where a command's data is
 * @NVMET_RDMA_DATA_NONE: nothing moves
 * @NVMET_RDMA_DATA_CAPSULE: behind the command, in the capsule
 * @NVMET_RDMA_DATA_KEYED: in the host's memory
 */
enum nvmet_rdma_data {
	NVMET_RDMA_DATA_NONE,
	NVMET_RDMA_DATA_CAPSULE,
	NVMET_RDMA_DATA_KEYED,
};

/**
 * enum nvmet_rdma_sc - NVMe status codes of the parser
 *
 * The values are the specification's (Generic Command Status); check.c asserts
 * that they equal the kernel's NVME_SC_*.
 */
enum nvmet_rdma_sc {
	NVMET_RDMA_SC_OK		= 0x00,
	NVMET_RDMA_SC_FIELD		= 0x02,	/* Invalid Field in Command */
	NVMET_RDMA_SC_SGL_LENGTH	= 0x0f,	/* Data SGL Length Invalid */
	NVMET_RDMA_SC_SGL_TYPE		= 0x11,	/* SGL Descriptor Type Invalid */
	NVMET_RDMA_SC_SGL_OFFSET	= 0x16,	/* SGL Offset Invalid */
};

/**
 * struct nvmet_rdma_sgl_limits - limits of a queue
 * @capsule_room: bytes of in-capsule data that a receive of the queue holds
 * @max_len: most bytes of keyed data (MDTS)
 */
struct nvmet_rdma_sgl_limits {
	u32 capsule_room;
	u32 max_len;
};

/**
 * struct nvmet_rdma_sgl - a parsed and bounded SGL
 * @data: where it is
 * @to_target: data moves from the host to the target (NVMe write)
 * @invalidate: the response shall invalidate @key
 * @len: bytes; may be set with %NVMET_RDMA_DATA_NONE, for a command whose opcode
 *	 moves no data although its SGL has some: the core rejects those
 * @offset: of the data behind the command (%NVMET_RDMA_DATA_CAPSULE)
 * @key: of the host's memory (%NVMET_RDMA_DATA_KEYED)
 * @addr: in the host's memory (%NVMET_RDMA_DATA_KEYED)
 * @status: NVMe status to reject the command with; nothing else is valid then
 * @error_loc: byte of the command that the status is about
 */
struct nvmet_rdma_sgl {
	enum nvmet_rdma_data data;
	bool to_target;
	bool invalidate;
	u32 len;
	u32 offset;
	u32 key;
	u64 addr;
	u16 status;
	u16 error_loc;
};

bool nvmet_rdma_parse_sgl(const u8 *sqe, u32 received,
			  const struct nvmet_rdma_sgl_limits *limits,
			  struct nvmet_rdma_sgl *sgl);

#endif /* NVMET_RDMA_SGL_H */
