// SPDX-License-Identifier: GPL-2.0
/* The hostile target's description of itself: Fabrics commands, Identify, features, logs. */
#include <stdio.h>
#include <string.h>

#include "target.h"

#define SC_INVALID_OPCODE	0x0001
#define SC_INVALID_FIELD	0x0002
#define DNR			0x4000

/* Queues that it has; CAP: MQES 127, contiguous queues, ready within 1 s, NVM */
#define QUEUES			4
#define CAP			(127 | 1ull << 16 | 2ull << 24 | 1ull << 37)
#define VS			0x00010300
/* CC: enabled, and the notification of a shutdown; CSTS: ready, shutdown complete */
#define CC_EN			0x1
#define CC_SHN			0xc000
#define CSTS_RDY		0x1
#define CSTS_SHST_DONE		0x8
#define CSTS_PP			0x20

/* Of the log of ANA: the state of its first group */
#define ANA_FIRST_STATE		32
#define ANA_CHANGE		0x0f

#define FEAT_QUEUES		0x07
#define FEAT_EVENTS		0x0b
#define FEAT_KEEP_ALIVE		0x0f

/* Identify: which structure */
#define CNS_NS			0x00
#define CNS_CTRL		0x01
#define CNS_NS_LIST		0x02
#define CNS_NS_DESCS		0x03

static void put_text(uint8_t *at, const char *words, size_t len)
{
	memset(at, ' ', len);
	memcpy(at, words, strlen(words));
}

static void identify_ctrl(struct assoc *assoc, uint8_t *id)
{
	put_text(id + 4, "hostile", 20);
	put_text(id + 24, "a target that breaks the rules", 40);
	put_text(id + 64, "1", 8);
	put(id + 77, 5, 1);			/* MDTS: 128 KiB */
	put(id + 78, assoc->cntlid, 2);
	put(id + 80, VS, 4);
	put(id + 92, 1 << 8, 4);		/* OAES: namespaces */
	put(id + 111, assoc->discovery ? 2 : 1, 1);	/* for that, or for I/O */
	put(id + 258, 3, 1);			/* ACL */
	put(id + 320, 10, 2);			/* KAS: in seconds */
	put(id + 512, 0x66, 1);			/* entries of 64 and 16 bytes */
	put(id + 513, 0x44, 1);
	put(id + 514, 128, 2);			/* MAXCMD */
	put(id + 516, 1, 4);			/* NN */
	put(id + 536, 1 | 1 << 2 | 1 << 20, 4);	/* SGLS: keyed, offsets */
	snprintf((char *)id + 768, NQN_LEN, "%s", TARGET_NQN);
	put(id + 1792, (SQE_LEN + IN_CAPSULE_LEN) / 16, 4);
	put(id + 1796, CQE_LEN / 16, 4);
	put(id + 1803, 1, 1);			/* MSDBD */
	poke_bytes(assoc, AT_CTRL, id, PAGE_LEN);
	limits_ctrl(assoc, id);
}

static void identify_ns(const struct assoc *assoc, uint8_t *id)
{
	put(id, DISK_LEN >> LBA_SHIFT, 8);
	put(id + 8, DISK_LEN >> LBA_SHIFT, 8);
	put(id + 16, DISK_LEN >> LBA_SHIFT, 8);
	memset(id + 104, 0x5a, 16);		/* NGUID */
	put(id + 130, LBA_SHIFT, 1);
	poke_bytes(assoc, AT_NS, id, PAGE_LEN);
}

static void identify_descs(const struct assoc *assoc, uint8_t *id)
{
	put(id, 3, 1);				/* a UUID */
	put(id + 1, 16, 1);
	memset(id + 4, 0xa5, 16);
	poke_bytes(assoc, AT_NS_DESCS, id, PAGE_LEN);
}

static uint16_t identify(const struct command *cmd, uint8_t *id)
{
	struct assoc *assoc = cmd->queue->assoc;
	uint32_t nsid = (uint32_t)get(cmd->sqe + SQE_NSID, 4);

	switch (cmd->sqe[SQE_CDW10]) {
	case CNS_CTRL:
		identify_ctrl(assoc, id);
		return 0;
	case CNS_NS:
		identify_ns(assoc, id);
		return 0;
	case CNS_NS_LIST:
		if (nsid == 0)
			put(id, 1, 4);
		poke_bytes(assoc, AT_NS_LIST, id, PAGE_LEN);
		return 0;
	case CNS_NS_DESCS:
		identify_descs(assoc, id);
		return 0;
	default:
		return SC_INVALID_FIELD | DNR;
	}
}

/* Up to a page of data for the host, then the answer */
static void give_page(struct command *cmd, const uint8_t *page)
{
	uint32_t len = cmd_len(cmd);

	if (!cmd->no_data && len)
		queue_give(cmd->queue, page, len > PAGE_LEN ? PAGE_LEN : len,
			   cmd_addr(cmd), cmd_key(cmd));
	command_answer(cmd, 0, 0);
}

static void do_identify(struct command *cmd)
{
	uint8_t page[PAGE_LEN] = { 0 };
	uint16_t status = identify(cmd, page);

	if (status)
		command_answer(cmd, status, 0);
	else
		give_page(cmd, page);
}

static void do_log(struct command *cmd)
{
	uint8_t page[PAGE_LEN] = { 0 };

	poke_bytes(cmd->queue->assoc, AT_LOG, page, PAGE_LEN);
	if (cmd->queue->assoc->ana_changes)
		page[ANA_FIRST_STATE] = ANA_CHANGE;
	give_page(cmd, page);
}

static void set_features(struct command *cmd)
{
	uint8_t fid = cmd->sqe[SQE_CDW10];

	if (fid == FEAT_QUEUES)
		command_answer(cmd, 0, (QUEUES - 1) | (QUEUES - 1) << 16);
	else if (fid == FEAT_EVENTS || fid == FEAT_KEEP_ALIVE)
		command_answer(cmd, 0, 0);
	else
		command_answer(cmd, SC_INVALID_FIELD | DNR, 0);
}

static uint64_t property(const struct assoc *assoc, uint32_t offset)
{
	uint8_t value[8] = { 0 };

	switch (offset) {
	case PROP_CAP:
		put(value, CAP, 8);
		poke_bytes(assoc, AT_CAP, value, 8);
		break;
	case PROP_VS:
		put(value, VS, 4);
		poke_bytes(assoc, AT_VS, value, 8);
		break;
	case PROP_CC:
		put(value, assoc->cc, 4);
		break;
	case PROP_CSTS:
		put(value, (assoc->cc & CC_EN ? CSTS_RDY : 0) |
		    (assoc->cc & CC_SHN ? CSTS_SHST_DONE : 0) |
		    (now_ms() < assoc->activates_until ? CSTS_PP : 0), 4);
		poke_bytes(assoc, AT_CSTS, value, 8);
		break;
	default:
		break;
	}
	return get(value, 8);
}

/* Its data, the names of host and subsystem, is not looked at */
static void do_fabrics(struct command *cmd)
{
	struct assoc *assoc = cmd->queue->assoc;
	uint32_t offset = (uint32_t)get(cmd->sqe + SQE_PROP_OFFSET, 4);

	switch (cmd->sqe[SQE_FCTYPE]) {
	case FCTYPE_CONNECT:
		assoc->discovery |= !get(cmd->sqe + SQE_CONNECT_KATO, 4) && !cmd->queue->qid;
		command_answer(cmd, 0, assoc->cntlid);
		break;
	case FCTYPE_PROPERTY_GET:
		command_answer(cmd, 0, property(assoc, offset));
		break;
	case FCTYPE_PROPERTY_SET:
		if (offset == PROP_CC)
			assoc->cc = (uint32_t)get(cmd->sqe + SQE_PROP_VALUE, 4);
		command_answer(cmd, 0, 0);
		break;
	default:
		command_answer(cmd, SC_INVALID_FIELD | DNR, 0);
		break;
	}
}

/* A command of the admin queue, or a Fabrics command */
void admin_command(struct command *cmd)
{
	switch (cmd->sqe[SQE_OPC]) {
	case OPC_FABRICS:
		do_fabrics(cmd);
		break;
	case OPC_IDENTIFY:
		do_identify(cmd);
		break;
	case OPC_GET_LOG_PAGE:
		do_log(cmd);
		break;
	case OPC_SET_FEATURES:
		set_features(cmd);
		break;
	case OPC_KEEP_ALIVE:
		command_answer(cmd, 0, 0);
		break;
	case OPC_ABORT:
		/* bit 0: it was not aborted */
		command_answer(cmd, 0, 1);
		break;
	case OPC_ASYNC_EVENT:
		cmd->queue->assoc->event_request = cmd;
		break;
	default:
		command_answer(cmd, SC_INVALID_OPCODE | DNR, 0);
		break;
	}
}
