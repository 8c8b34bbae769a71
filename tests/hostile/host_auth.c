// SPDX-License-Identifier: GPL-2.0
/*
 * Authentication: Authentication Send and Receive of any length, and DH-HMAC-CHAP by a host
 * without the key. (NVMe base specification, "In-band Authentication".) The kernel's core,
 * behind the transport, judges the messages; a host that breaks them must not be accepted.
 */
#include <string.h>

#include "host.h"

#define FCTYPE_AUTH_SEND	0x05
#define FCTYPE_AUTH_RECEIVE	0x06
/* SECP, SPSP1, SPSP0 of NVMe's own authentication */
#define AUTH_PROTOCOL		(0xe90101u << 8)

/* What every message begins with, and how long each is without its values */
enum {
	MSG_TYPE	= 0,
	MSG_ID		= 1,
	MSG_T_ID	= 4,
	MSG_HEAD	= 8,
	MSG_LEN		= 16,	/* of Reply, Success1 and Success2 */
};

#define TYPE_COMMON		0x00
#define TYPE_DH_CHAP		0x01
#define ID_NEGOTIATE		0x00
#define ID_CHALLENGE		0x01
#define ID_REPLY		0x02
#define ID_SUCCESS1		0x03
#define ID_SUCCESS2		0x04
#define ID_FAILURE2		0xf0
#define ID_FAILURE1		0xf1

/* Of AUTH_Negotiate, with one protocol */
enum {
	NEG_SC_C	= 6,
	NEG_NAPD	= 7,
	NEG_AUTHID	= 8,
	NEG_HALEN	= 10,
	NEG_DHLEN	= 11,
	NEG_HASHES	= 12,
	NEG_GROUPS	= 42,
	NEG_LEN		= 72,
};

/* Of DH-HMAC-CHAP_Reply */
enum {
	REPLY_HL	= 6,
	REPLY_CVALID	= 8,
	REPLY_DHVLEN	= 10,
	REPLY_SEQNUM	= 12,
};

#define TRANSACTION		0x1234
#define SHA256			1
#define SHA256_LEN		32
#define FFDHE2048		1
/* The longest that a message's buffer is here */
#define RECEIVE_LEN		4096

#define LOCKED_OUT		"refused 0x191 DNR|ended"
#define OUT_OF_BOUNDS		"refused 0x002 DNR|refused 0x00f DNR|ended"

/* @said: the length in the command; @len: the length in its SGL */
static struct reply auth_saying(struct queue *q, uint8_t fctype, uint32_t said,
				struct mem *m, uint32_t len)
{
	uint8_t sqe[SQE_LEN];

	wire_fabrics(sqe, fctype, queue_cid(q));
	put(sqe + SQE_CDW10, AUTH_PROTOCOL, 4);
	put(sqe + SQE_CDW11, said, 4);
	wire_sgl_keyed(sqe, SGL_KEYED, (uintptr_t)m->at, len, m->mr->rkey);
	return queue_command(q, sqe);
}

static struct reply auth_with(struct queue *q, uint8_t fctype, struct mem *m, uint32_t len)
{
	return auth_saying(q, fctype, len, m, len);
}

/* No message is shorter than 8 bytes, or as long as 64 KiB */
static void auth_length(void)
{
	static const struct {
		uint32_t said, len;
	} lengths[] = {
		{ 0, 0 }, { 1, 1 }, { 5, 5 }, { 7, 7 }, { 8, 8 }, { 15, 15 }, { 16, 16 },
		{ 72, 72 }, { 4096, 4096 }, { 65536, 65536 }, { 65537, 65537 },
		{ 4 << 20, 4 << 20 }, { (4 << 20) + 4, (4 << 20) + 4 },
		{ 8 << 20, 8 << 20 }, { 0xffffff, 0xffffff },
		{ 0, 4096 }, { 4096, 0 }, { 4096, 4092 }, { 4092, 4096 },
		{ 0xffffffff, 4096 }, { 0x80000000, 4096 },
	};
	struct ctrl k = { 0 };
	struct mem memory;
	size_t i;

	for (i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
		bool receive = i & 1;
		uint32_t said = lengths[i / 2].said, len = lengths[i / 2].len;

		if (!begin("%s-%u-in-%u", receive ? "receive" : "send", said, len))
			continue;
		need_ctrl(&k);
		memory = mem_make(&k.admin.c, len ?: 1, IBV_ACCESS_LOCAL_WRITE |
				  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
		outcome(said == len && len >= MSG_HEAD && len <= 65536 ?
			ANSWERED_OR_END : OUT_OF_BOUNDS, "%s",
			reply_text(auth_saying(&k.admin, receive ? FCTYPE_AUTH_RECEIVE :
					       FCTYPE_AUTH_SEND, said, &memory, len)));
		conn_drop_qp(&k.admin.c);
		mem_free(&memory);
		ctrl_drop(&k);
	}
}

/* ---- a host without the key ---- */

static uint32_t make_message(uint8_t *msg, uint8_t id)
{
	bool common = id == ID_NEGOTIATE || id == ID_FAILURE1 || id == ID_FAILURE2;

	memset(msg, 0, RECEIVE_LEN);
	msg[MSG_TYPE] = common ? TYPE_COMMON : TYPE_DH_CHAP;
	msg[MSG_ID] = id;
	put(msg + MSG_T_ID, TRANSACTION, 2);
	switch (id) {
	case ID_NEGOTIATE:
		msg[NEG_NAPD] = 1;
		msg[NEG_AUTHID] = 1;
		msg[NEG_HALEN] = 1;
		msg[NEG_DHLEN] = 2;
		msg[NEG_HASHES] = SHA256;
		msg[NEG_GROUPS + 1] = FFDHE2048;
		return NEG_LEN;
	case ID_REPLY:
		msg[REPLY_HL] = SHA256_LEN;
		return MSG_LEN + 2 * SHA256_LEN;
	case ID_FAILURE1:
	case ID_FAILURE2:
		return MSG_HEAD;
	default:
		return MSG_LEN;
	}
}

/* The controller's ID */
static uint16_t need_locked(struct queue *q)
{
	struct reply connected, enabled;

	need_queue(q, &(struct queue_how){ 0 });
	connected = queue_connect(q, 0xffff);
	if (!reply_good(connected))
		cannot(reply_text(connected));
	enabled = property_set(q, 0, PROP_CC, CC_ENABLED);
	if (!reply_good(enabled))
		cannot(reply_text(enabled));
	return (uint16_t)connected.result;
}

/* These cases need the subsystem that requires a key; false if there is none */
static bool use_locked(void)
{
	if (target.locked)
		target.subnqn = target.locked;
	return target.locked;
}

/* The outcome of a queue that must not have been let in, and its end */
static void still_locked(struct queue *q)
{
	outcome(LOCKED_OUT, "%s", reply_text(identify(q, 0, 1)));
	queue_close(q);
}

/* Messages that follow the given number of correct messages of the exchange */
enum before { NOTHING, NEGOTIATED, CHALLENGED };

static void need_exchange(struct queue *q, enum before before)
{
	struct reply reply;

	need_locked(q);
	if (before == NOTHING)
		return;
	reply = auth_with(q, FCTYPE_AUTH_SEND, &q->data,
			  make_message(q->data.at, ID_NEGOTIATE));
	if (reply_good(reply) && before == CHALLENGED) {
		reply = auth_with(q, FCTYPE_AUTH_RECEIVE, &q->data, RECEIVE_LEN);
		if (reply_good(reply) && q->data.at[MSG_ID] != ID_CHALLENGE)
			cannot("no challenge came");
	}
	if (!reply_good(reply))
		cannot(reply_text(reply));
}

#define FIELD(at, length, wrong)	.offset = (at), .bytes = (length), .value = (wrong)
#define CUT(length)			.len = (length)
#define WHOLE				.len = 0

static const struct form {
	const char *name;
	enum before before;
	uint8_t id;
	uint8_t bytes;		/* of a field that is wrong, and where; 0: none */
	uint8_t offset;
	uint32_t value;
	uint32_t len;		/* 0: the message's own */
} forms[] = {
	{ "negotiate-type",		NOTHING, ID_NEGOTIATE, FIELD(MSG_TYPE, 1, 0xff) },
	{ "negotiate-id",		NOTHING, ID_NEGOTIATE, FIELD(MSG_ID, 1, 0xff) },
	{ "negotiate-concat",		NOTHING, ID_NEGOTIATE, FIELD(NEG_SC_C, 1, 0xff) },
	{ "negotiate-protocols-0",	NOTHING, ID_NEGOTIATE, FIELD(NEG_NAPD, 1, 0) },
	{ "negotiate-protocols-255",	NOTHING, ID_NEGOTIATE, FIELD(NEG_NAPD, 1, 255) },
	{ "negotiate-protocol-0",	NOTHING, ID_NEGOTIATE, FIELD(NEG_AUTHID, 1, 0) },
	{ "negotiate-hashes-0",		NOTHING, ID_NEGOTIATE, FIELD(NEG_HALEN, 1, 0) },
	{ "negotiate-hashes-31",	NOTHING, ID_NEGOTIATE, FIELD(NEG_HALEN, 1, 31) },
	{ "negotiate-hashes-255",	NOTHING, ID_NEGOTIATE, FIELD(NEG_HALEN, 1, 255) },
	{ "negotiate-groups-0",		NOTHING, ID_NEGOTIATE, FIELD(NEG_DHLEN, 1, 0) },
	{ "negotiate-groups-31",	NOTHING, ID_NEGOTIATE, FIELD(NEG_DHLEN, 1, 31) },
	{ "negotiate-groups-255",	NOTHING, ID_NEGOTIATE, FIELD(NEG_DHLEN, 1, 255) },
	{ "negotiate-hash-0",		NOTHING, ID_NEGOTIATE, FIELD(NEG_HASHES, 1, 0) },
	{ "negotiate-hash-4",		NOTHING, ID_NEGOTIATE, FIELD(NEG_HASHES, 1, 4) },
	{ "negotiate-hash-255",		NOTHING, ID_NEGOTIATE, FIELD(NEG_HASHES, 1, 255) },
	{ "negotiate-group-6",		NOTHING, ID_NEGOTIATE, FIELD(NEG_GROUPS, 2, 0x606) },
	{ "negotiate-group-255",	NOTHING, ID_NEGOTIATE, FIELD(NEG_GROUPS, 2, 0xffff) },
	{ "negotiate-head-alone",	NOTHING, ID_NEGOTIATE, CUT(MSG_HEAD) },
	{ "negotiate-cut-off",		NOTHING, ID_NEGOTIATE, CUT(NEG_LEN - 1) },
	{ "negotiate-twice",		NEGOTIATED, ID_NEGOTIATE, WHOLE },
	{ "negotiate-late",		CHALLENGED, ID_NEGOTIATE, WHOLE },
	{ "challenge",			NEGOTIATED, ID_CHALLENGE, WHOLE },
	{ "reply-first",		NOTHING, ID_REPLY, WHOLE },
	{ "reply-early",		NEGOTIATED, ID_REPLY, WHOLE },
	{ "reply-wrong",		CHALLENGED, ID_REPLY, WHOLE },
	{ "reply-type",			CHALLENGED, ID_REPLY, FIELD(MSG_TYPE, 1, 0) },
	{ "reply-transaction",		CHALLENGED, ID_REPLY, FIELD(MSG_T_ID, 2, 0x4321) },
	{ "reply-hash-0",		CHALLENGED, ID_REPLY, FIELD(REPLY_HL, 1, 0) },
	{ "reply-hash-1",		CHALLENGED, ID_REPLY, FIELD(REPLY_HL, 1, 1) },
	{ "reply-hash-255",		CHALLENGED, ID_REPLY, FIELD(REPLY_HL, 1, 255) },
	{ "reply-cvalid",		CHALLENGED, ID_REPLY, FIELD(REPLY_CVALID, 1, 255) },
	{ "reply-value-1",		CHALLENGED, ID_REPLY, FIELD(REPLY_DHVLEN, 2, 1) },
	{ "reply-value-65535",		CHALLENGED, ID_REPLY, FIELD(REPLY_DHVLEN, 2, 65535) },
	{ "reply-sequence",		CHALLENGED, ID_REPLY, FIELD(REPLY_SEQNUM, 4, ~0u) },
	{ "reply-head-alone",		CHALLENGED, ID_REPLY, CUT(MSG_HEAD) },
	{ "reply-cut-off",		CHALLENGED, ID_REPLY, CUT(MSG_LEN) },
	{ "success1",			CHALLENGED, ID_SUCCESS1, WHOLE },
	{ "success2-first",		NOTHING, ID_SUCCESS2, WHOLE },
	{ "success2-early",		NEGOTIATED, ID_SUCCESS2, WHOLE },
	{ "success2-unproved",		CHALLENGED, ID_SUCCESS2, WHOLE },
	{ "failure1",			CHALLENGED, ID_FAILURE1, WHOLE },
	{ "failure2-first",		NOTHING, ID_FAILURE2, WHOLE },
	{ "failure2",			CHALLENGED, ID_FAILURE2, WHOLE },
};

/* The messages gain no more access than no message at all */
static void auth_message(void)
{
	struct queue q;
	uint32_t len;
	size_t i;

	if (!use_locked())
		return;
	if (begin("nothing")) {
		need_locked(&q);
		still_locked(&q);
	}
	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const struct form *form = &forms[i];

		if (!begin("%s", form->name))
			continue;
		need_exchange(&q, form->before);
		len = make_message(q.data.at, form->id);
		put(q.data.at + form->offset, form->value, form->bytes);
		auth_with(&q, FCTYPE_AUTH_SEND, &q.data, form->len ?: len);
		auth_with(&q, FCTYPE_AUTH_RECEIVE, &q.data, RECEIVE_LEN);
		still_locked(&q);
	}
}

/* Fetches answers when there is none, twice, and into too small a buffer */
static void auth_fetch(void)
{
	static const uint32_t lengths[] = { 8, 15, 16, 47, 48, RECEIVE_LEN };
	static const char *const names[] = { "first", "negotiated", "again" };
	struct queue q;
	size_t i, n;

	if (!use_locked())
		return;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (n = 0; n < sizeof(lengths) / sizeof(*lengths); n++) {
			if (!begin("%s-%u", names[i], lengths[n]))
				continue;
			need_exchange(&q, (enum before)i);
			auth_with(&q, FCTYPE_AUTH_RECEIVE, &q.data, lengths[n]);
			still_locked(&q);
		}
	}
}

/* An I/O queue of a controller whose admin queue is not authenticated */
static void auth_io_queue(void)
{
	struct queue q, io;
	struct reply reply;
	uint16_t cntlid;

	if (!use_locked() || !begin_whole())
		return;
	cntlid = need_locked(&q);
	need_queue(&io, &(struct queue_how){ .qid = 1 });
	reply = queue_connect(&io, cntlid);
	if (reply_good(reply))
		reply = read_write(&io, OPC_READ, 0, 1);
	outcome(LOCKED_OUT, "%s", reply_text(reply));
}

const struct hostile_case auth_cases[] = {
	{ "auth-length", "Authentication Send and Receive of wrong lengths", auth_length, 0 },
	{ "auth-message", "messages of DH-HMAC-CHAP, by one who has no key", auth_message, 0 },
	{ "auth-fetch", "answers of DH-HMAC-CHAP that are not there, or do not fit",
	  auth_fetch, 0 },
	{ "auth-io-queue", "an I/O queue where the admin queue is not let in", auth_io_queue, 0 },
	{ 0 }
};
