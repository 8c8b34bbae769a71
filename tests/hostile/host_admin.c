// SPDX-License-Identifier: GPL-2.0
/*
 * Invalid commands on a live controller's admin queue. Most of them are judged by the kernel's
 * core behind the transport, which has to deliver each answer.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

#define BAD_FIELD	"refused 0x002 DNR|ended"
/* What nvmet announces in Identify, plus one: Asynchronous Event Requests */
#define EVENTS		4
/* wr_id of sends that are counted; those of queue_send() have the same bit, and no other */
#define DEEP_SEND	(1ull << 32 | 1)

/* Command dwords 10 to 15 */
struct words {
	uint32_t dw[6];
};

static struct reply admin(struct queue *q, uint8_t opc, uint32_t nsid,
			  uint32_t len, const struct words *words)
{
	uint8_t sqe[SQE_LEN];
	int i;

	wire_command(sqe, opc, queue_cid(q), nsid);
	for (i = 0; i < 6; i++)
		put(sqe + SQE_CDW10 + 4 * i, words->dw[i], 4);
	queue_sgl(q, sqe, 0, len);
	return queue_command(q, sqe);
}

static void property(void)
{
	static const struct {
		const char *name;
		bool set;
		uint8_t attrib;
		uint32_t offset;
		uint64_t value;
		const char *expected;
	} forms[] = {
		{ "get-cap", false, 1, PROP_CAP, 0, "success" },
		{ "get-cap-4-bytes", false, 0, PROP_CAP, 0, BAD_FIELD },
		{ "get-vs-8-bytes", false, 1, PROP_VS, 0, BAD_FIELD },
		{ "get-csts-8-bytes", false, 1, PROP_CSTS, 0, BAD_FIELD },
		{ "get-offset-1", false, 0, 1, 0, BAD_FIELD },
		{ "get-offset-2^32-1", false, 0, 0xffffffff, 0, BAD_FIELD },
		{ "get-offset-2^32-4", false, 1, 0xfffffffc, 0, BAD_FIELD },
		{ "get-attrib-2", false, 2, PROP_VS, 0, ANSWERED_OR_END },
		{ "get-attrib-255", false, 255, PROP_CAP, 0, ANSWERED_OR_END },
		{ "set-cap", true, 1, PROP_CAP, ~0ull, BAD_FIELD },
		{ "set-vs", true, 0, PROP_VS, ~0ull, BAD_FIELD },
		{ "set-csts", true, 0, PROP_CSTS, ~0ull, BAD_FIELD },
		{ "set-cc-8-bytes", true, 1, PROP_CC, CC_ENABLED, BAD_FIELD },
		{ "set-nssr", true, 0, 0x20, 0x4e564d65, BAD_FIELD },
		{ "set-offset-2^32-1", true, 0, 0xffffffff, 0, BAD_FIELD },
		{ "set-cc-same", true, 0, PROP_CC, CC_ENABLED, "success" },
		{ "set-cc-high", true, 0, PROP_CC, ~0ull << 32 | CC_ENABLED,
		  ANSWERED_OR_END },
		{ "set-cc-entry-sizes", true, 0, PROP_CC, 0xff0001,
		  ANSWERED_OR_END },
		{ "set-cc-page-size", true, 0, PROP_CC, 0x460781,
		  ANSWERED_OR_END },
	};
	struct ctrl k;
	size_t i;

	need_all(&k);
	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!begin("%s", forms[i].name))
			continue;
		outcome(forms[i].expected, "%s",
			reply_text(forms[i].set ?
				   property_set(&k.admin, forms[i].attrib,
						forms[i].offset,
						forms[i].value) :
				   property_get(&k.admin, forms[i].attrib,
						forms[i].offset)));
	}
	if (begin("on-io-queue"))
		outcome(REFUSED, "%s",
			reply_text(property_get(&k.io, 0, PROP_VS)));
	if (begin("set-on-io-queue"))
		outcome(REFUSED, "%s",
			reply_text(property_set(&k.io, 0, PROP_CC, 0)));
}

static void sweep(uint8_t (*of)(int), bool fabrics, struct queue *q,
		  const char *expected)
{
	uint8_t sqe[SQE_LEN];
	int i;

	for (i = 0; i < 256; i++) {
		uint8_t value = of(i);

		if (!begin("0x%02x", value))
			continue;
		wire_command(sqe, fabrics ? OPC_FABRICS : value, queue_cid(q),
			     fabrics ? value : 0);
		outcome(expected, "%s", reply_text(queue_command(q, sqe)));
	}
}

static uint8_t any(int i) { return (uint8_t)i; }

/* Asynchronous Event Request is not answered: another comes in its place */
static uint8_t any_but_event(int i)
{
	return i == OPC_ASYNC_EVENT ? 0xff : (uint8_t)i;
}

static void admin_opcode(void)
{
	struct ctrl k;

	need_ctrl(&k);
	sweep(any_but_event, false, &k.admin, ANSWERED);
}

static void admin_fctype(void)
{
	struct ctrl k;

	need_ctrl(&k);
	sweep(any, true, &k.admin, ANSWERED);
}

static void io_fctype(void)
{
	struct ctrl k;

	need_all(&k);
	sweep(any, true, &k.io, ANSWERED);
}

static void identify_cns(void)
{
	static const uint32_t nsids[] = { 0, 1, 2, 0x7fffffff, 0xfffffffe,
					  0xffffffff };
	struct ctrl k;
	size_t n;
	int i;

	need_ctrl(&k);
	for (i = 0; i < 256; i++) {
		if (begin("0x%02x", i))
			outcome(ANSWERED, "%s",
				reply_text(identify(&k.admin, 1, (uint8_t)i)));
	}
	for (n = 0; n < sizeof(nsids) / sizeof(*nsids); n++) {
		if (begin("0-of-%#x", nsids[n]))
			outcome(ANSWERED, "%s",
				reply_text(identify(&k.admin, nsids[n], 0)));
		if (begin("2-of-%#x", nsids[n]))
			outcome(ANSWERED, "%s",
				reply_text(identify(&k.admin, nsids[n], 2)));
		if (begin("3-of-%#x", nsids[n]))
			outcome(ANSWERED, "%s",
				reply_text(identify(&k.admin, nsids[n], 3)));
	}
}

static void identify_length(void)
{
	static const uint32_t lengths[] = { 0, 1, 4095, 4097, 65536 };
	struct ctrl k;
	size_t i;

	need_ctrl(&k);
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		if (begin("%u", lengths[i]))
			outcome(REFUSED, "%s",
				reply_text(admin(&k.admin, OPC_IDENTIFY, 0,
						 lengths[i], &(struct words){
						 { 1 } })));
	}
}

static void log_page(void)
{
	static const struct {
		const char *name;
		uint32_t len;
		struct words words;
		const char *expected;
	} forms[] = {
		{ "length-0", 0, { { 2 } }, REFUSED },
		{ "length-not-numd", 512, { { 2 | 63 << 16 } }, REFUSED },
		{ "numd-2^32-1", 512, { { 2 | 0xffff0000, 0xffff } }, REFUSED },
		{ "numd-wraps", 4, { { 2 | 0xffff0000, 0xffff } }, REFUSED },
		{ "numd-2^30", 512, { { 2 | 0xffff0000, 0x3fff } }, REFUSED },
		{ "offset-1", 512, { { 2 | 127 << 16, 0, 1 } }, ANSWERED },
		{ "offset-4", 512, { { 2 | 127 << 16, 0, 4 } }, ANSWERED },
		{ "offset-2^32-4", 512, { { 2 | 127 << 16, 0, 0xfffffffc } },
		  ANSWERED },
		{ "offset-2^64-512", 512, { { 2 | 127 << 16, 0, 0xfffffe00,
					      0xffffffff } }, ANSWERED },
		{ "offset-2^64-4", 512, { { 2 | 127 << 16, 0, 0xfffffffc,
					    0xffffffff } }, ANSWERED },
		{ "offset-2^63", 512, { { 2 | 127 << 16, 0, 0, 0x80000000 } },
		  ANSWERED },
		{ "error-log-offset", 64, { { 1 | 15 << 16, 0, 0xffffffc0,
					      0xffffffff } }, ANSWERED },
		{ "discovery-offset", 1024, { { 0x70 | 255 << 16, 0, 0xfffffc00,
						0xffffffff } }, ANSWERED },
		{ "ana-long", 65536, { { 0x0c | 16383 << 16 } }, ANSWERED },
	};
	struct ctrl k;
	size_t i;
	int id;

	need_ctrl(&k);
	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (begin("%s", forms[i].name))
			outcome(forms[i].expected, "%s",
				reply_text(admin(&k.admin, OPC_GET_LOG_PAGE,
						 0xffffffff, forms[i].len,
						 &forms[i].words)));
	}
	for (id = 0; id < 256; id++) {
		struct words words = { { (uint32_t)id | 127 << 16 } };

		if (begin("0x%02x", id))
			outcome(ANSWERED, "%s",
				reply_text(admin(&k.admin, OPC_GET_LOG_PAGE,
						 0xffffffff, 512, &words)));
		/* 2^32 dwords, which are no bytes in 32 bits */
		words = (struct words){ { (uint32_t)id | 0xffff0000, 0xffff } };
		if (begin("0x%02x-wraps", id))
			outcome(ANSWERED, "%s",
				reply_text(admin(&k.admin, OPC_GET_LOG_PAGE,
						 0xffffffff, 0, &words)));
	}
}

static void features(void)
{
	struct ctrl k;
	int id;

	need_ctrl(&k);
	for (id = 0; id < 256; id++) {
		struct words words = { { (uint32_t)id, 0xffffffff } };

		if (begin("get-0x%02x", id))
			outcome(ANSWERED, "%s",
				reply_text(admin(&k.admin, OPC_GET_FEATURES, 1,
						 0, &words)));
		if (begin("set-0x%02x", id))
			outcome(ANSWERED, "%s",
				reply_text(admin(&k.admin, OPC_SET_FEATURES, 1,
						 0, &words)));
	}
}

/* More than the controller takes: the last ones are refused, none is lost */
static void event_flood(void)
{
	uint8_t sqe[SQE_LEN];
	struct reply reply;
	struct ctrl k;
	int i, refused;

	if (!begin_whole())
		return;
	need_ctrl(&k);
	for (i = 0; i < QUEUE_DEPTH - 2; i++) {
		wire_command(sqe, OPC_ASYNC_EVENT, queue_cid(&k.admin), 0);
		queue_send(&k.admin, sqe, SQE_LEN);
	}
	for (refused = 0; refused < QUEUE_DEPTH - 2 - EVENTS; refused++) {
		reply = queue_await(&k.admin, CID_ANY, ANSWER_MS);
		if (reply.kind != REPLY_STATUS ||
		    (reply.status & STATUS_CODE) != 0x105)
			break;
	}
	reply = identify(&k.admin, 0, 1);
	outcome("26 refused 0x105, then success", "%d refused 0x105, then %s",
		refused, reply_text(reply));
}

/* Sends @nr commands at once, which the queue does not have to remember */
static void send_at_once(struct queue *q, struct mem *capsules, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		wire_command(capsules->at + i * SQE_LEN, OPC_KEEP_ALIVE, queue_cid(q), 0);
		conn_send(&q->c, DEEP_SEND, capsules, i * SQE_LEN, SQE_LEN);
	}
}

/* Whether the target has received all @nr. Some may be answered already. */
static const char *received(struct queue *q, unsigned int nr)
{
	struct ibv_wc wc;

	while (nr && conn_poll(&q->c, &wc, ANSWER_MS) && wc.status == IBV_WC_SUCCESS) {
		if (wc.wr_id == DEEP_SEND)
			nr--;
		else
			q->replies++;
	}
	return nr ? "some" : "all";
}

/* Whether @nr responses have come by a queue since it was made */
static const char *answered(struct queue *q, unsigned int nr)
{
	while (q->replies < nr && queue_await(q, CID_ANY, ANSWER_MS).kind == REPLY_STATUS)
		;
	return q->replies < nr ? "some" : "all";
}

/*
 * An admin queue that is full: no command of it is started before the answer to the
 * connection request has been confirmed. Then once more, on a live controller.
 */
static void admin_deep_of(uint16_t depth)
{
	struct queue_how how = { .depth = depth, .no_rtu = true };
	struct mem capsules;
	const char *text;
	struct queue q;

	if (begin("%u-full", depth)) {
		need_queue(&q, &how);
		capsules = mem_make(&q.c, (size_t)depth * SQE_LEN, 0);
		send_at_once(&q, &capsules, depth);
		text = received(&q, depth);
		conn_establish(&q.c);
		outcome("all taken, all answered", "%s taken, %s answered", text,
			answered(&q, depth));
		conn_drop_qp(&q.c);
		mem_free(&capsules);
		queue_close(&q);
	}
	if (begin("%u-live", depth)) {
		how.no_rtu = false;
		need_queue(&q, &how);
		if (!reply_good(queue_connect(&q, 0xffff)) ||
		    !reply_good(property_set(&q, 0, PROP_CC, CC_ENABLED)))
			cannot("Connect");
		capsules = mem_make(&q.c, (size_t)depth * SQE_LEN, 0);
		send_at_once(&q, &capsules, depth - 1);
		text = answered(&q, q.replies + depth - 1);
		outcome("all answered, then success", "%s answered, then %s", text,
			reply_text(identify(&q, 0, 1)));
		conn_drop_qp(&q.c);
		mem_free(&capsules);
		queue_close(&q);
	}
}

/* Linux asks for 32; hosts in user space for more */
static void admin_deep(void)
{
	static const uint16_t depths[] = { 32, 72, 128, 136 };
	size_t i;

	for (i = 0; i < sizeof(depths) / sizeof(*depths); i++)
		admin_deep_of(depths[i]);
}

static void nonsense(void)
{
	static const struct {
		const char *name;
		uint8_t opc;
		uint32_t nsid, len;
		struct words words;
	} forms[] = {
		{ "abort-nothing", OPC_ABORT, 0, 0, { { 0x12340000 } } },
		{ "abort-itself", OPC_ABORT, 0, 0, { { 0 } } },
		{ "abort-no-queue", OPC_ABORT, 0, 0, { { 0xffffffff } } },
		{ "abort-data", OPC_ABORT, 0, 512, { { 0 } } },
		{ "keep-alive", OPC_KEEP_ALIVE, 0, 0, { { 0 } } },
		{ "keep-alive-nsid", OPC_KEEP_ALIVE, 0xffffffff, 0,
		  { { ~0u, ~0u, ~0u, ~0u, ~0u, ~0u } } },
		{ "keep-alive-data", OPC_KEEP_ALIVE, 0, 512, { { 0 } } },
		{ "create-queue", 0x01, 0, 0, { { 0xff0001, 1 } } },
		{ "delete-queue", 0x00, 0, 0, { { 0 } } },
		{ "format", 0x80, 0xffffffff, 0, { { 0 } } },
		{ "sanitize", 0x84, 0, 0, { { 2 } } },
		{ "firmware", 0x11, 0, 4096, { { 1023 } } },
		{ "security", 0x81, 0, 512, { { 0, 512 } } },
		{ "directive", 0x19, 1, 512, { { 127, 1 } } },
	};
	struct ctrl k;
	size_t i;

	need_ctrl(&k);
	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (begin("%s", forms[i].name))
			outcome(ANSWERED, "%s",
				reply_text(admin(&k.admin, forms[i].opc,
						 forms[i].nsid, forms[i].len,
						 &forms[i].words)));
	}
}

const struct hostile_case admin_cases[] = {
	{ "property", "Property Get and Set of wrong sizes and offsets",
	  property, 0 },
	{ "admin-opcode", "each opcode on the admin queue", admin_opcode, 0 },
	{ "admin-fctype", "each Fabrics command on the admin queue",
	  admin_fctype, 0 },
	{ "io-fctype", "each Fabrics command on an I/O queue", io_fctype, 0 },
	{ "identify-cns", "Identify of what there is not", identify_cns, 0 },
	{ "identify-length", "Identify with a wrong length", identify_length,
	  0 },
	{ "log-page", "Get Log Page: offsets and lengths that wrap", log_page,
	  0 },
	{ "features", "Get and Set Features with all bits set", features, 0 },
	{ "event-flood", "more Asynchronous Event Requests than the limit",
	  event_flood, 0 },
	{ "admin-deep", "admin queues of 32 to 136 commands, full of them", admin_deep, 0 },
	{ "nonsense", "admin commands that make no sense", nonsense, 0 },
	{ 0 }
};
