// SPDX-License-Identifier: GPL-2.0
/*
 * Connect, on the admin queue and on an I/O queue: each field of the command and
 * of its data, and when it comes. (NVMe base specification, "Connect Command".)
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

#define BAD_FORMAT	"refused 0x180 DNR|ended"
#define BAD_PARAM	"refused 0x182 DNR|ended"
#define BAD_HOST	"refused 0x182 DNR|refused 0x184 DNR|ended"
#define BAD_LENGTH	"refused 0x00f DNR|refused 0x016 DNR|ended"
#define SUCCESS_OR(x)	"success|" x

struct field {
	const char *name;
	bool of_data;
	int offset, bytes;
	uint64_t value;
	const char *expected;
};

static const struct field admin_fields[] = {
	{ "good", false, SQE_CONNECT_RECFMT, 2, 0, "success" },
	{ "recfmt-1", false, SQE_CONNECT_RECFMT, 2, 1, BAD_FORMAT },
	{ "recfmt-65535", false, SQE_CONNECT_RECFMT, 2, 65535, BAD_FORMAT },
	{ "qid-1", false, SQE_CONNECT_QID, 2, 1, BAD_PARAM },
	{ "qid-65535", false, SQE_CONNECT_QID, 2, 65535, BAD_PARAM },
	{ "sqsize-0", false, SQE_CONNECT_SQSIZE, 2, 0, BAD_PARAM },
	{ "sqsize-1", false, SQE_CONNECT_SQSIZE, 2, 1, "success" },
	{ "sqsize-more", false, SQE_CONNECT_SQSIZE, 2, QUEUE_DEPTH,
	  SUCCESS_OR(BAD_PARAM) },
	{ "sqsize-65535", false, SQE_CONNECT_SQSIZE, 2, 65535,
	  SUCCESS_OR(BAD_PARAM) },
	{ "cattr-255", false, SQE_CONNECT_CATTR, 1, 255,
	  SUCCESS_OR(REFUSED) },
	{ "kato-1", false, SQE_CONNECT_KATO, 4, 1, SUCCESS_OR(REFUSED) },
	{ "kato-2^32-1", false, SQE_CONNECT_KATO, 4, 0xffffffff,
	  SUCCESS_OR(REFUSED) },
	{ "nsid-all", false, SQE_NSID + 1, 3, 0xffffff, SUCCESS_OR(REFUSED) },
	{ "cntlid-0", true, CONNECT_CNTLID, 2, 0, BAD_PARAM },
	{ "cntlid-1", true, CONNECT_CNTLID, 2, 1, BAD_PARAM },
	{ "cntlid-65534", true, CONNECT_CNTLID, 2, 0xfffe, BAD_PARAM },
	{ "hostid-0", true, CONNECT_HOSTID, 8, 0, SUCCESS_OR(BAD_PARAM) },
	{ "subnqn-empty", true, CONNECT_SUBNQN, 1, 0, BAD_PARAM },
	{ "subnqn-other", true, CONNECT_SUBNQN, 1, 'N', BAD_PARAM },
	{ "subnqn-not-utf8", true, CONNECT_SUBNQN, 2, 0xfffe, BAD_PARAM },
	{ "hostnqn-empty", true, CONNECT_HOSTNQN, 1, 0, SUCCESS_OR(BAD_HOST) },
	{ "hostnqn-not-utf8", true, CONNECT_HOSTNQN, 2, 0xfffe,
	  SUCCESS_OR(BAD_HOST) },
	{ "hostnqn-percent", true, CONNECT_HOSTNQN, 4, 0x6e256e25,
	  SUCCESS_OR(BAD_HOST) },
	{ "hostnqn-dot", true, CONNECT_HOSTNQN, 2, 0x2e, SUCCESS_OR(BAD_HOST) },
	{ "hostnqn-dot-dot", true, CONNECT_HOSTNQN, 3, 0x2e2e,
	  SUCCESS_OR(BAD_HOST) },
	{ "hostnqn-slash", true, CONNECT_HOSTNQN, 3, 0x2f2e2e,
	  SUCCESS_OR(BAD_HOST) },
	{ "reserved-18", true, 18, 8, ~0ull, "success" },
	{ "reserved-768", true, 768, 8, ~0ull, "success" },
	{ 0 }
};

/* The queue's ID is 1, until one has connected; it is 32 commands deep */
static const struct field io_fields[] = {
	{ "recfmt-1", false, SQE_CONNECT_RECFMT, 2, 1, BAD_FORMAT },
	{ "qid-0", false, SQE_CONNECT_QID, 2, 0, BAD_PARAM },
	{ "qid-2", false, SQE_CONNECT_QID, 2, 2, BAD_PARAM },
	{ "qid-129", false, SQE_CONNECT_QID, 2, 129, BAD_PARAM },
	{ "qid-65535", false, SQE_CONNECT_QID, 2, 65535, BAD_PARAM },
	{ "sqsize-0", false, SQE_CONNECT_SQSIZE, 2, 0, BAD_PARAM },
	{ "sqsize-65535", false, SQE_CONNECT_SQSIZE, 2, 65535, BAD_PARAM },
	{ "cntlid-65535", true, CONNECT_CNTLID, 2, 65535, BAD_PARAM },
	{ "cntlid-0", true, CONNECT_CNTLID, 2, 0, BAD_PARAM },
	{ "cntlid-65534", true, CONNECT_CNTLID, 2, 65534, BAD_PARAM },
	{ "subnqn-empty", true, CONNECT_SUBNQN, 1, 0, BAD_PARAM },
	{ "subnqn-other", true, CONNECT_SUBNQN, 1, 'N', BAD_PARAM },
	/* a controller is its host's alone */
	{ "hostnqn-other", true, CONNECT_HOSTNQN, 1, 'N', BAD_HOST },
	{ "hostnqn-empty", true, CONNECT_HOSTNQN, 1, 0, BAD_HOST },
	{ "sqsize-more", false, SQE_CONNECT_SQSIZE, 2, QUEUE_DEPTH,
	  SUCCESS_OR(BAD_PARAM) },
	{ "hostid-other", true, CONNECT_HOSTID, 8, 1, SUCCESS_OR(BAD_HOST) },
	{ "cattr-255", false, SQE_CONNECT_CATTR, 1, 255,
	  SUCCESS_OR(REFUSED) },
	{ "kato-2^32-1", false, SQE_CONNECT_KATO, 4, 0xffffffff,
	  SUCCESS_OR(REFUSED) },
	{ 0 }
};

/* Each on the queue of the previous one, until the target accepts no more */
static void connect_fields(const struct field *field, uint16_t qid,
			   uint16_t cntlid)
{
	struct queue q = { 0 };
	uint8_t sqe[SQE_LEN];
	struct reply reply;

	for (; field->name; field++) {
		if (!begin("%s", field->name))
			continue;
		if (!q.c.channel)
			need_queue(&q, &(struct queue_how){ .qid = qid });
		make_connect(&q, sqe, cntlid);
		put((field->of_data ? q.data.at : sqe) + field->offset,
		    field->value, field->bytes);
		reply = queue_command(&q, sqe);
		outcome(field->expected, "%s", reply_text(reply));
		if (reply.kind != REPLY_STATUS || reply_good(reply)) {
			queue_close(&q);
			/* that ID may stay in use for a while */
			qid += qid != 0;
		}
	}
}

static void connect_admin(void)
{
	connect_fields(admin_fields, 0, 0xffff);
}

static void connect_io(void)
{
	struct ctrl k;

	need_ctrl(&k);
	connect_fields(io_fields, 1, k.cntlid);
	if (begin("controller"))
		outcome("success", "%s", reply_text(identify(&k.admin, 0, 1)));
}

/* Names without an end: the whole field is of letters */
static void connect_names(void)
{
	static const struct {
		const char *name;
		int offset, len;
		const char *expected;
	} names[] = {
		{ "subnqn-256", CONNECT_SUBNQN, 256, BAD_PARAM },
		{ "subnqn-255", CONNECT_SUBNQN, 255, BAD_PARAM },
		{ "subnqn-224", CONNECT_SUBNQN, 224, BAD_PARAM },
		{ "hostnqn-256", CONNECT_HOSTNQN, 256, SUCCESS_OR(BAD_HOST) },
		{ "hostnqn-255", CONNECT_HOSTNQN, 255, SUCCESS_OR(BAD_HOST) },
		{ "hostnqn-224", CONNECT_HOSTNQN, 224, SUCCESS_OR(BAD_HOST) },
		{ "both-and-rest", CONNECT_SUBNQN, 768, BAD_PARAM },
	};
	struct queue q = { 0 };
	uint8_t sqe[SQE_LEN];
	struct reply reply;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!begin("%s", names[i].name))
			continue;
		if (!q.c.channel)
			need_queue(&q, &(struct queue_how){ 0 });
		make_connect(&q, sqe, 0xffff);
		memset(q.data.at + names[i].offset, 'a', names[i].len);
		reply = queue_command(&q, sqe);
		outcome(names[i].expected, "%s", reply_text(reply));
		if (reply.kind != REPLY_STATUS || reply_good(reply))
			queue_close(&q);
	}
}

static void connect_length(void)
{
	static const uint32_t lengths[] = { 0, 1, 256, 1023, 1025, 4096,
					    65536 };
	uint8_t sqe[SQE_LEN];
	struct queue q;
	size_t i;

	need_queue(&q, &(struct queue_how){ 0 });
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		if (!begin("%u", lengths[i]))
			continue;
		make_connect(&q, sqe, 0xffff);
		queue_sgl(&q, sqe, 0, lengths[i]);
		outcome(BAD_LENGTH, "%s", reply_text(queue_command(&q, sqe)));
	}
}

/* On a queue that has its controller, and one of another controller */
static void connect_again(void)
{
	uint8_t sqe[SQE_LEN];
	struct ctrl k;

	need_all(&k);
	if (begin("admin"))
		outcome(REFUSED, "%s",
			reply_text(queue_connect(&k.admin, 0xffff)));
	if (begin("io"))
		outcome(REFUSED, "%s",
			reply_text(queue_connect(&k.io, k.cntlid)));
	if (begin("sqsize-0")) {
		make_connect(&k.admin, sqe, 0xffff);
		put(sqe + SQE_CONNECT_SQSIZE, 0, 2);
		outcome(REFUSED, "%s",
			reply_text(queue_command(&k.admin, sqe)));
	}
	if (begin("still-there"))
		outcome("success", "%s",
			reply_text(read_write(&k.io, OPC_READ, 0, 1)));
	if (begin("admin-still-there"))
		outcome("success", "%s",
			reply_text(identify(&k.admin, 0, 1)));
}

/* Concurrent Connects, at most one of which may succeed */
static void connect_race(void)
{
	unsigned int good, answers, sqsize_0;
	uint8_t sqe[SQE_LEN];
	struct reply reply;
	struct queue q;
	int i;

	for (sqsize_0 = 0; sqsize_0 < 2; sqsize_0++) {
		if (!begin(sqsize_0 ? "some-of-no-size" : "equal"))
			continue;
		need_queue(&q, &(struct queue_how){ 0 });
		for (i = 0; i < 16; i++) {
			make_connect(&q, sqe, 0xffff);
			if (sqsize_0 && i & 1)
				put(sqe + SQE_CONNECT_SQSIZE, 0, 2);
			queue_send(&q, sqe, SQE_LEN);
		}
		for (good = answers = 0; answers < 16; answers++) {
			reply = queue_await(&q, CID_ANY, ANSWER_MS);
			if (reply.kind != REPLY_STATUS)
				break;
			good += reply_good(reply);
		}
		outcome("16 answers, 1 good|*, ended", "%u answers, %u good%s",
			answers, good, answers < 16 &&
			reply.kind == REPLY_ENDED ? ", ended" : "");
		queue_close(&q);
	}
}

/* Other commands right behind Connect, before its answer */
static void connect_hurried(void)
{
	uint8_t sqe[SQE_LEN];
	struct reply reply;
	struct queue q;
	int i, answers;

	if (!begin_whole())
		return;
	need_queue(&q, &(struct queue_how){ 0 });
	make_connect(&q, sqe, 0xffff);
	queue_send(&q, sqe, SQE_LEN);
	for (i = 0; i < 15; i++) {
		wire_fabrics(sqe, i & 1 ? FCTYPE_PROPERTY_GET :
			     FCTYPE_PROPERTY_SET, queue_cid(&q));
		put(sqe + SQE_PROP_OFFSET, PROP_CC, 4);
		put(sqe + SQE_PROP_VALUE, i & 2 ? CC_ENABLED : 0, 8);
		queue_send(&q, sqe, SQE_LEN);
	}
	for (answers = 0; answers < 16; answers++) {
		reply = queue_await(&q, CID_ANY, ANSWER_MS);
		if (reply.kind != REPLY_STATUS)
			break;
	}
	outcome("16 answers|ended", answers == 16 ||
		reply.kind == REPLY_NONE ? "%d answers" : "ended", answers);
}

/* The shortest keep-alive time, and no Keep Alive: the controller goes */
static void connect_kato(void)
{
	uint8_t sqe[SQE_LEN];
	struct reply reply;
	struct queue q;

	if (!begin_whole())
		return;
	need_queue(&q, &(struct queue_how){ 0 });
	make_connect(&q, sqe, 0xffff);
	put(sqe + SQE_CONNECT_KATO, 1000, 4);
	reply = queue_command(&q, sqe);
	if (!reply_good(reply))
		cannot(reply_text(reply));
	property_set(&q, 0, PROP_CC, CC_ENABLED);
	outcome("ended", "%s", queue_wait_end(&q, slow_ms(15000)) ?
		"ended" : "connected");
}

/* The discovery controller has no I/O queues, and its log an end */
static void discovery(void)
{
	static const uint64_t offsets[] = { 0, 4, 1024, 1ull << 32,
					    0ull - 1024, 0ull - 4 };
	struct reply reply;
	struct queue q, io;
	uint8_t sqe[SQE_LEN];
	uint16_t cntlid;
	size_t i;

	target.subnqn = "nqn.2014-08.org.nvmexpress.discovery";
	need_queue(&q, &(struct queue_how){ 0 });
	reply = queue_connect(&q, 0xffff);
	if (!reply_good(reply))
		cannot(reply_text(reply));
	cntlid = (uint16_t)reply.result;
	property_set(&q, 0, PROP_CC, CC_ENABLED);
	for (i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		if (!begin("log-%#llx", (unsigned long long)offsets[i]))
			continue;
		wire_command(sqe, OPC_GET_LOG_PAGE, queue_cid(&q), 0);
		put(sqe + SQE_CDW10, 0x70 | 255 << 16, 4);
		put(sqe + SQE_CDW12, offsets[i], 8);
		queue_sgl(&q, sqe, 0, 1024);
		outcome(ANSWERED, "%s", reply_text(queue_command(&q, sqe)));
	}
	for (i = 0; i < 256; i++) {
		if (i == OPC_ASYNC_EVENT || !begin("opcode-0x%02zx", i))
			continue;
		wire_command(sqe, (uint8_t)i, queue_cid(&q), 0);
		outcome(ANSWERED, "%s", reply_text(queue_command(&q, sqe)));
	}
	need_queue(&io, &(struct queue_how){ .qid = 1 });
	if (begin("io-queue"))
		outcome(REFUSED, "%s", reply_text(queue_connect(&io, cntlid)));
}

/* An I/O queue of a controller that has lost its admin queue, and so ends */
static void connect_late(void)
{
	struct queue late;
	struct ctrl k;

	if (!begin_with(&k))
		return;
	queue_close(&k.admin);
	/* before there is a queue, which the target's connect_tmo would end */
	usleep((useconds_t)slow_ms(1000) * 1000);
	need_queue(&late, &(struct queue_how){ .qid = 2 });
	outcome("refused 0x181|" BAD_PARAM, "%s",
		reply_text(queue_connect(&late, k.cntlid)));
}

/*
 * Another host connects an I/O queue to a host's controller, and breaks it. The controller
 * must not end with that queue before the other host has proved to be the same host.
 */
static void connect_foreign(void)
{
	unsigned int proved;

	for (proved = 0; proved < 2; proved++) {
		uint8_t sqe[SQE_LEN] = { 0 };
		struct queue foreign;
		struct reply reply;
		struct ctrl k;

		if (!begin(proved ? "proved" : "unproved"))
			continue;
		need_all(&k);
		need_queue(&foreign, &(struct queue_how){ .qid = 2 });
		reply = queue_connect(&foreign, k.cntlid);
		if (reply_good(reply) && proved)
			reply = read_write(&foreign, OPC_READ, 0, 1);
		if (!reply_good(reply))
			cannot(reply_text(reply));
		queue_send(&foreign, sqe, 1);
		if (!queue_wait_end(&foreign, ANSWER_MS))
			cannot("a capsule of one byte did not end its queue");
		outcome(proved ? "lives|ended" : "lives", "%s",
			queue_wait_end(&k.admin, slow_ms(2000)) ? "ended" :
			reply_good(identify(&k.admin, 1, 0)) ? "lives" : "no answer");
		queue_close(&foreign);
		ctrl_drop(&k);
	}
}

/* An I/O queue by another port than its controller's */
static void connect_other_port(void)
{
	struct queue io;
	struct ctrl k;

	if (!begin_whole())
		return;
	if (!target.other)
		cannot("--other names no port");
	need_ctrl(&k);
	target.at = target.other;
	need_queue(&io, &(struct queue_how){ .qid = 1 });
	outcome(BAD_PARAM, "%s", reply_text(queue_connect(&io, k.cntlid)));
}

const struct hostile_case connect_cases[] = {
	{ "connect-admin", "each field of the admin queue's Connect",
	  connect_admin, 0 },
	{ "connect-io", "each field of an I/O queue's Connect", connect_io, 0 },
	{ "connect-names", "NQNs that are too long, or have no end",
	  connect_names, 0 },
	{ "connect-length", "Connect with data of a wrong length",
	  connect_length, 0 },
	{ "connect-again", "Connect on a queue that has its controller",
	  connect_again, 0 },
	{ "connect-race", "16 Connects at once", connect_race, 0 },
	{ "connect-hurried", "commands that do not wait for Connect",
	  connect_hurried, 0 },
	{ "connect-late", "an I/O queue after the admin queue's end",
	  connect_late, 0 },
	{ "connect-other-port", "an I/O queue by another port than the admin queue",
	  connect_other_port, 0 },
	{ "connect-foreign", "an I/O queue of another host's controller, and it breaks",
	  connect_foreign, 0 },
	{ "discovery", "a discovery controller, and I/O", discovery, 0 },
	{ "connect-kato", "a host that keeps nothing alive", connect_kato, 0 },
	{ 0 }
};
