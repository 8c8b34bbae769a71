// SPDX-License-Identifier: GPL-2.0
/*
 * Messages as a peer that keeps the rules would write them. A case takes one and
 * breaks it with put().
 */
#include <stdio.h>
#include <string.h>

#include "wire.h"

void put(uint8_t *at, uint64_t value, int bytes)
{
	for (; bytes--; value >>= 8)
		*at++ = (uint8_t)value;
}

uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

/* Without data: a keyed SGL of nothing, as Linux hosts send it */
void wire_command(uint8_t *sqe, uint8_t opc, uint16_t cid, uint32_t nsid)
{
	memset(sqe, 0, SQE_LEN);
	put(sqe + SQE_OPC, opc, 1);
	put(sqe + SQE_FLAGS, FLAGS_SGL, 1);
	put(sqe + SQE_CID, cid, 2);
	put(sqe + SQE_NSID, nsid, 4);
	wire_sgl_keyed(sqe, SGL_KEYED, 0, 0, 0);
}

void wire_fabrics(uint8_t *sqe, uint8_t fctype, uint16_t cid)
{
	wire_command(sqe, OPC_FABRICS, cid, 0);
	put(sqe + SQE_FCTYPE, fctype, 1);
}

void wire_sgl_keyed(uint8_t *sqe, uint8_t id, uint64_t addr, uint32_t len,
		    uint32_t key)
{
	uint8_t *sgl = sqe + SQE_SGL;

	put(sgl + SGL_ADDR, addr, 8);
	put(sgl + SGL_LEN, len, 3);
	put(sgl + SGL_KEY, key, 4);
	put(sgl + SGL_ID, id, 1);
}

void wire_sgl_in_capsule(uint8_t *sqe, uint64_t offset, uint32_t len)
{
	uint8_t *sgl = sqe + SQE_SGL;

	memset(sgl, 0, 16);
	put(sgl + SGL_ADDR, offset, 8);
	put(sgl + SGL_LEN, len, 4);
	put(sgl + SGL_ID, SGL_IN_CAPSULE, 1);
}

/* Its SGL, for the CONNECT_DATA_LEN bytes of data, is the caller's */
void wire_connect(uint8_t *sqe, uint16_t cid, uint16_t qid, uint16_t sqsize,
		  uint32_t kato_ms)
{
	wire_fabrics(sqe, FCTYPE_CONNECT, cid);
	put(sqe + SQE_CONNECT_QID, qid, 2);
	put(sqe + SQE_CONNECT_SQSIZE, sqsize, 2);
	put(sqe + SQE_CONNECT_KATO, kato_ms, 4);
}

/* @cntlid: 0xffff for a new controller, on the admin queue */
void wire_connect_data(uint8_t *data, const uint8_t *hostid, uint16_t cntlid,
		       const char *subnqn, const char *hostnqn)
{
	memset(data, 0, CONNECT_DATA_LEN);
	memcpy(data + CONNECT_HOSTID, hostid, 16);
	put(data + CONNECT_CNTLID, cntlid, 2);
	snprintf((char *)data + CONNECT_SUBNQN, NQN_LEN, "%s", subnqn);
	snprintf((char *)data + CONNECT_HOSTNQN, NQN_LEN, "%s", hostnqn);
}

/* @blocks: 1 or more; the field is 0's based. Its SGL is the caller's. */
void wire_rw(uint8_t *sqe, uint8_t opc, uint16_t cid, uint32_t nsid,
	     uint64_t lba, uint16_t blocks)
{
	wire_command(sqe, opc, cid, nsid);
	put(sqe + SQE_CDW10, lba, 8);
	put(sqe + SQE_CDW12, blocks - 1, 2);
}

/* @hsqsize: 0's based, as on the wire */
void wire_cm_req(uint8_t *data, uint16_t qid, uint16_t hrqsize,
		 uint16_t hsqsize)
{
	memset(data, 0, CM_REQ_LEN);
	put(data + CM_REQ_QID, qid, 2);
	put(data + CM_REQ_HRQSIZE, hrqsize, 2);
	put(data + CM_REQ_HSQSIZE, hsqsize, 2);
}

/* @status: without the phase bit, which means nothing here */
void wire_cqe(uint8_t *cqe, uint16_t cid, uint16_t sqhd, uint16_t status,
	      uint64_t result)
{
	memset(cqe, 0, CQE_LEN);
	put(cqe + CQE_RESULT, result, 8);
	put(cqe + CQE_SQHD, sqhd, 2);
	put(cqe + CQE_CID, cid, 2);
	put(cqe + CQE_STATUS, status << 1, 2);
}
