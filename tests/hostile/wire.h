/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The format on the wire, byte by byte: NVMe commands and completions, the data of Connect,
 * SGL descriptors, the CM's private data. Written from the NVMe base, NVMe over Fabrics and
 * NVMe/RDMA transport specifications, and not shared with kernel code, so that an error there
 * is not repeated here.
 */
#ifndef HOSTILE_WIRE_H
#define HOSTILE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define SQE_LEN			64
#define CQE_LEN			16
#define CONNECT_DATA_LEN	1024
#define NQN_LEN			256

/* Fields of a submission queue entry: byte offsets */
enum {
	SQE_OPC		= 0,
	SQE_FLAGS	= 1,
	SQE_CID		= 2,
	SQE_FCTYPE	= 4,	/* Fabrics commands */
	SQE_NSID	= 4,	/* all others */
	SQE_MPTR	= 16,
	SQE_SGL		= 24,
	SQE_CDW10	= 40,
	SQE_CDW11	= 44,
	SQE_CDW12	= 48,
	SQE_CDW13	= 52,
	SQE_CDW14	= 56,
	SQE_CDW15	= 60,
};

/* Of Connect; of the Property commands */
enum {
	SQE_CONNECT_RECFMT	= 40,
	SQE_CONNECT_QID		= 42,
	SQE_CONNECT_SQSIZE	= 44,
	SQE_CONNECT_CATTR	= 46,
	SQE_CONNECT_KATO	= 48,
	SQE_PROP_ATTRIB		= 40,
	SQE_PROP_OFFSET		= 44,
	SQE_PROP_VALUE		= 48,
};

/* Of the data of Connect */
enum {
	CONNECT_HOSTID	= 0,
	CONNECT_CNTLID	= 16,
	CONNECT_SUBNQN	= 256,
	CONNECT_HOSTNQN	= 512,
};

/* Of a completion queue entry */
enum {
	CQE_RESULT	= 0,
	CQE_SQHD	= 8,
	CQE_SQID	= 10,
	CQE_CID		= 12,
	CQE_STATUS	= 14,
};

/* Of an SGL descriptor */
enum {
	SGL_ADDR	= 0,
	SGL_LEN		= 8,	/* 4 bytes; 3 of a keyed one */
	SGL_KEY		= 11,	/* of a keyed one */
	SGL_ID		= 15,	/* type, subtype */
};

/* SGL identifiers that NVMe/RDMA has */
#define SGL_IN_CAPSULE		0x01	/* Data Block, offset */
#define SGL_KEYED		0x40	/* Keyed Data Block, address */
#define SGL_KEYED_INVALIDATE	0x4f	/* and invalidate the key */

/* PSDT in the command's flags: SGLs */
#define FLAGS_SGL		0x40

/* Opcodes */
#define OPC_FABRICS		0x7f
#define OPC_FLUSH		0x00
#define OPC_WRITE		0x01
#define OPC_READ		0x02
#define OPC_IDENTIFY		0x06
#define OPC_ABORT		0x08
#define OPC_SET_FEATURES	0x09
#define OPC_GET_FEATURES	0x0a
#define OPC_ASYNC_EVENT		0x0c
#define OPC_KEEP_ALIVE		0x18
#define OPC_GET_LOG_PAGE	0x02
#define FCTYPE_PROPERTY_SET	0x00
#define FCTYPE_CONNECT		0x01
#define FCTYPE_PROPERTY_GET	0x04

/* Properties */
#define PROP_CAP		0x00
#define PROP_VS			0x08
#define PROP_CC			0x14
#define PROP_CSTS		0x1c
#define PROP_NSSR		0x20

/* CC of a controller that is enabled: entries of 64 and 16 bytes */
#define CC_ENABLED		0x460001

/* Events, as a completion's result has them */
#define NOTICE_NS		0x040002u
#define NOTICE_ANA		0x0c0302u
#define NOTICE_FIRMWARE		0x010102u
#define ERROR_PERSISTS		0x000300u

/* CM private data: of the request, of accept, of reject */
#define CM_REQ_LEN		32
#define CM_REP_LEN		32
#define CM_REJ_LEN		4
enum {
	CM_REQ_RECFMT	= 0,
	CM_REQ_QID	= 2,
	CM_REQ_HRQSIZE	= 4,
	CM_REQ_HSQSIZE	= 6,
	CM_REQ_CNTLID	= 8,
	CM_REP_RECFMT	= 0,
	CM_REP_CRQSIZE	= 2,
	CM_REJ_RECFMT	= 0,
	CM_REJ_STS	= 2,
};

/* little endian, the low @bytes of @value */
void put(uint8_t *at, uint64_t value, int bytes);
uint64_t get(const uint8_t *at, int bytes);

void wire_command(uint8_t *sqe, uint8_t opc, uint16_t cid, uint32_t nsid);
void wire_fabrics(uint8_t *sqe, uint8_t fctype, uint16_t cid);
void wire_sgl_keyed(uint8_t *sqe, uint8_t id, uint64_t addr, uint32_t len,
		    uint32_t key);
void wire_sgl_in_capsule(uint8_t *sqe, uint64_t offset, uint32_t len);
void wire_connect(uint8_t *sqe, uint16_t cid, uint16_t qid, uint16_t sqsize,
		  uint32_t kato_ms);
void wire_connect_data(uint8_t *data, const uint8_t *hostid, uint16_t cntlid,
		       const char *subnqn, const char *hostnqn);
void wire_rw(uint8_t *sqe, uint8_t opc, uint16_t cid, uint32_t nsid,
	     uint64_t lba, uint16_t blocks);
void wire_cm_req(uint8_t *data, uint16_t qid, uint16_t hrqsize,
		 uint16_t hsqsize);
void wire_cqe(uint8_t *cqe, uint16_t cid, uint16_t sqhd, uint16_t status,
	      uint64_t result);

#endif /* HOSTILE_WIRE_H */
