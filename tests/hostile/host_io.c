// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of an I/O queue that make no sense: opcodes, namespaces, ranges of
 * blocks that wrap or are not there.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

#define OPC_WRITE_UNCOR		0x04
#define OPC_COMPARE		0x05
#define OPC_WRITE_ZEROES	0x08
#define OPC_DSM			0x09
#define DSM_DEALLOCATE		4
#define DSM_RANGE		16

static void io_opcode(void)
{
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	int i;

	need_all(&k);
	for (i = 0; i < 256; i++) {
		if (!begin("0x%02x", i))
			continue;
		wire_command(sqe, (uint8_t)i, queue_cid(&k.io), 1);
		outcome(ANSWERED, "%s", reply_text(queue_command(&k.io, sqe)));
	}
	/* The same, and an SGL of one block whatever the opcode */
	for (i = 0; i < 256; i++) {
		if (!begin("0x%02x-with-data", i))
			continue;
		wire_command(sqe, (uint8_t)i, queue_cid(&k.io), 1);
		queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
		outcome(ANSWERED, "%s", reply_text(queue_command(&k.io, sqe)));
	}
}

static void io_nsid(void)
{
	static const uint32_t nsids[] = { 0, 2, 3, 1024, 0x7fffffff,
					  0xfffffffe, 0xffffffff };
	static const uint8_t opcodes[] = { OPC_READ, OPC_WRITE, OPC_FLUSH,
					   OPC_DSM, OPC_WRITE_ZEROES };
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	size_t i, n;

	need_all(&k);
	for (i = 0; i < sizeof(opcodes); i++) {
		for (n = 0; n < sizeof(nsids) / sizeof(*nsids); n++) {
			if (!begin("0x%02x-of-%#x", opcodes[i], nsids[n]))
				continue;
			wire_rw(sqe, opcodes[i], queue_cid(&k.io), nsids[n], 0,
				1);
			if (opcodes[i] == OPC_READ || opcodes[i] == OPC_WRITE)
				queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
			outcome(opcodes[i] == OPC_FLUSH ? ANSWERED :
				"refused * DNR", "%s",
				reply_text(queue_command(&k.io, sqe)));
		}
	}
}

/* Ranges of blocks to read, write and clear */
static void io_range(void)
{
	static const struct {
		const char *name;
		uint64_t lba;	/* of the namespace's end, if negative is true */
		bool from_end;
		uint16_t blocks;
	} ranges[] = {
		{ "end", 0, true, 1 },
		{ "across-end", -1ull, true, 2 },
		{ "across-end-128", -127ull, true, 128 },
		{ "2^32", 1ull << 32, false, 1 },
		{ "2^54", 1ull << 54, false, 8 },
		{ "2^55", 1ull << 55, false, 8 },
		{ "2^55+1", (1ull << 55) + 1, false, 1 },
		{ "2^63", 1ull << 63, false, 1 },
		{ "2^64-1", ~0ull, false, 1 },
		{ "2^64-1+2", ~0ull, false, 2 },
		{ "2^64-128+128", -128ull, false, 128 },
		{ "2^64-127+128", -127ull, false, 128 },
	};
	static const uint8_t opcodes[] = { OPC_READ, OPC_WRITE,
					   OPC_WRITE_ZEROES };
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	size_t i, n;

	need_all(&k);
	for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		for (n = 0; n < sizeof(opcodes); n++) {
			uint64_t lba = ranges[i].lba +
				       (ranges[i].from_end ? k.blocks : 0);

			if (!begin("0x%02x-%s", opcodes[n], ranges[i].name))
				continue;
			wire_rw(sqe, opcodes[n], queue_cid(&k.io), 1, lba,
				ranges[i].blocks);
			if (opcodes[n] != OPC_WRITE_ZEROES)
				queue_sgl(&k.io, sqe, 0, ranges[i].blocks *
					  BLOCK_LEN);
			outcome("refused *", "%s",
				reply_text(queue_command(&k.io, sqe)));
		}
	}
}

/* More blocks than data: 65536 of them, the most that a command can name */
static void io_length(void)
{
	static const uint32_t lengths[] = { 0, BLOCK_LEN, 4096, 65536 };
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	size_t i;

	need_all(&k);
	for (i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
		uint8_t opc = i & 1 ? OPC_WRITE : OPC_READ;

		if (!begin("0x%02x-%u", opc, lengths[i / 2]))
			continue;
		wire_rw(sqe, opc, queue_cid(&k.io), 1, 0, 0);
		queue_sgl(&k.io, sqe, 0, lengths[i / 2]);
		outcome(REFUSED, "%s", reply_text(queue_command(&k.io, sqe)));
	}
}

/* Dataset Management: the number of ranges differs from what is sent */
static void io_ranges(void)
{
	static const struct {
		const char *name;
		uint8_t nr;		/* 0's based */
		uint32_t len;
		uint64_t lba;
		uint32_t blocks;
		const char *expected;
	} forms[] = {
		{ "none-of-256", 255, 0, 0, 1, REFUSED },
		{ "one-of-256", 255, DSM_RANGE, 0, 1, REFUSED },
		{ "15-bytes", 0, DSM_RANGE - 1, 0, 1, REFUSED },
		{ "256", 255, 4096, 64, 1, ANSWERED },
		{ "more", 0, 4096, 64, 1, ANSWERED },
		{ "much-more", 0, 65536, 64, 1, ANSWERED },
		{ "no-blocks", 0, DSM_RANGE, 0, 0, ANSWERED },
		{ "across-end", 0, DSM_RANGE, 0, 0xffffffff, ANSWERED },
		{ "2^64-1", 0, DSM_RANGE, ~0ull, 1, ANSWERED },
		{ "wraps", 0, DSM_RANGE, -128ull, 256, ANSWERED },
	};
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	size_t i, n;

	need_all(&k);
	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!begin("%s", forms[i].name))
			continue;
		for (n = 0; n < 256; n++) {
			uint8_t *range = k.io.data.at + n * DSM_RANGE;

			put(range, 0, 4);
			put(range + 4, forms[i].blocks, 4);
			put(range + 8, forms[i].lba, 8);
		}
		wire_command(sqe, OPC_DSM, queue_cid(&k.io), 1);
		put(sqe + SQE_CDW10, forms[i].nr, 4);
		put(sqe + SQE_CDW11, DSM_DEALLOCATE, 4);
		queue_sgl(&k.io, sqe, 0, forms[i].len);
		outcome(forms[i].expected, "%s",
			reply_text(queue_command(&k.io, sqe)));
	}
}

/* Bits that mean protection information, placement hints, streams */
static void io_bits(void)
{
	uint8_t sqe[SQE_LEN];
	struct ctrl k;
	int bit;

	need_all(&k);
	for (bit = 16; bit < 128; bit++) {
		if (!begin("bit-%d", bit))
			continue;
		need_again(&k);
		wire_rw(sqe, OPC_READ, queue_cid(&k.io), 1, 0, 1);
		queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
		sqe[SQE_CDW12 + bit / 8] |= (uint8_t)(1 << bit % 8);
		outcome(ANSWERED, "%s", reply_text(queue_command(&k.io, sqe)));
	}
	if (begin("metadata")) {
		wire_rw(sqe, OPC_READ, queue_cid(&k.io), 1, 0, 1);
		queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
		put(sqe + SQE_MPTR, ~0ull, 8);
		outcome(ANSWERED, "%s", reply_text(queue_command(&k.io, sqe)));
	}
}

/* A refused command has changed nothing, and a read returns the disk's own data */
static void io_unharmed(void)
{
	uint8_t sqe[SQE_LEN], block[BLOCK_LEN];
	struct reply reply;
	struct ctrl k;

	if (!begin_with(&k))
		return;
	memset(block, 0x42, sizeof(block));
	memcpy(k.io.data.at, block, sizeof(block));
	reply = read_write(&k.io, OPC_WRITE, 48, 1);
	if (!reply_good(reply))
		cannot(reply_text(reply));
	memset(k.io.data.at, 0xbd, 4 * BLOCK_LEN);
	/* as many bytes as would fit one block more, and as one too few */
	wire_rw(sqe, OPC_WRITE, queue_cid(&k.io), 1, 48, 1);
	queue_sgl(&k.io, sqe, 0, 2 * BLOCK_LEN);
	queue_command(&k.io, sqe);
	wire_rw(sqe, OPC_WRITE, queue_cid(&k.io), 1, 48, 2);
	queue_sgl(&k.io, sqe, 0, BLOCK_LEN);
	queue_command(&k.io, sqe);
	need_again(&k);
	reply = read_write(&k.io, OPC_READ, 48, 1);
	outcome("unharmed", "%s", !reply_good(reply) ? "nothing to read" :
		memcmp(k.io.data.at, block, sizeof(block)) ? "overwritten" :
		"unharmed");
}

const struct hostile_case io_cases[] = {
	{ "io-opcode", "each opcode on an I/O queue", io_opcode, 0 },
	{ "io-nsid", "namespaces that there are not", io_nsid, 0 },
	{ "io-range", "blocks past the end, and past 2^64", io_range, 0 },
	{ "io-length", "65536 blocks, and data of fewer", io_length, 0 },
	{ "io-ranges", "Dataset Management: ranges and their number",
	  io_ranges, 0 },
	{ "io-bits", "each bit of the last four dwords of a Read", io_bits, 0 },
	{ "io-unharmed", "data after commands that were refused", io_unharmed,
	  0 },
	{ 0 }
};
