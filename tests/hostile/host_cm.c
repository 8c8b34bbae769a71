// SPDX-License-Identifier: GPL-2.0
/*
 * Connection requests: the private data, requests for queues, and hosts that request a
 * connection and do not complete it. (NVMe/RDMA transport, "Connection Establishment".)
 *
 * InfiniBand's CM pads private data with zeroes to 56 bytes, so that a target sees short
 * private data as padded.
 */
#include <string.h>
#include <unistd.h>

#include "host.h"

/* Space behind the header of the RDMA CM, and the part that an application can use */
#define CM_REQ_MOST	56
#define CM_GIVEN_MOST	UINT8_MAX

/* Answers by number: the statuses of RDMA_CM_REJECT */
#define BAD_LEN		"rejected 1"
#define BAD_RECFMT	"rejected 2"
#define BAD_QID		"rejected 3"
#define BAD_HSQSIZE	"rejected 4"
#define BAD_HRQSIZE	"rejected 5"
#define NO_RESOURCES	"rejected 6"
#define BAD_IRD		"rejected 7"
#define BAD_CNTLID	"rejected 8"

/* RDMA_CM_ACCEPT: RECFMT 0, and receives for capsules */
static bool is_accept(const struct conn *c)
{
	return c->answer_len >= CM_REP_CRQSIZE + 2 && !get(c->answer + CM_REP_RECFMT, 2) &&
	       get(c->answer + CM_REP_CRQSIZE, 2);
}

static void ask(const char *expected, const struct queue_how *how)
{
	enum conn_result result;
	struct queue q;

	result = queue_open(&q, how);
	if (result == CONN_OK && !is_accept(&q.c))
		outcome(expected, "accepted by what is no accept: %u bytes, CRQSIZE %u",
			q.c.answer_len, (unsigned int)get(q.c.answer + CM_REP_CRQSIZE, 2));
	else
		outcome(expected, "%s", result_text(&q.c, result));
	queue_close(&q);
}

static void ask_with(const char *expected, const uint8_t *data, size_t len)
{
	struct queue_how how = { .private_data = data,
				 .private_data_len = (uint8_t)len };

	ask(expected, &how);
}

static bool over_iwarp(void)
{
	struct conn c;
	bool iwarp;

	conn_resolve(&c, target.at, NULL);
	iwarp = c.id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	conn_close(&c);
	return iwarp;
}

/* None, and each length: the missing part is zero, or the message is too short */
static void cm_length(void)
{
	uint8_t data[CM_GIVEN_MOST];
	int len, most = over_iwarp() ? CM_GIVEN_MOST : CM_REQ_MOST;

	memset(data, 0, sizeof(data));
	wire_cm_req(data, 0, QUEUE_DEPTH, QUEUE_DEPTH - 1);
	for (len = 0; len <= most; len++) {
		if (!begin("%d", len))
			continue;
		if (len <= CM_REQ_HSQSIZE)
			ask_with("rejected *", data, len);
		else if (len < CM_REQ_LEN)
			ask_with("accepted|" BAD_LEN, data, len);
		else
			ask_with("accepted", data, len);
	}
}

static const struct {
	const char *name;
	int offset, bytes;
	uint16_t value;
	const char *expected;
} fields[] = {
	{ "recfmt-1",		CM_REQ_RECFMT, 2, 1, BAD_RECFMT },
	{ "recfmt-255",		CM_REQ_RECFMT, 2, 255, BAD_RECFMT },
	{ "recfmt-65535",	CM_REQ_RECFMT, 2, 65535, BAD_RECFMT },
	{ "qid-0",		CM_REQ_QID, 2, 0, "accepted" },
	{ "qid-1",		CM_REQ_QID, 2, 1, "accepted" },
	{ "qid-128",		CM_REQ_QID, 2, 128, "accepted|" BAD_QID },
	{ "qid-129",		CM_REQ_QID, 2, 129, BAD_QID },
	{ "qid-32768",		CM_REQ_QID, 2, 32768, BAD_QID },
	{ "qid-65535",		CM_REQ_QID, 2, 65535, BAD_QID },
	{ "hsqsize-0",		CM_REQ_HSQSIZE, 2, 0, BAD_HSQSIZE },
	{ "hsqsize-1",		CM_REQ_HSQSIZE, 2, 1, "accepted" },
	/* No controller reports the maximum depth of its admin queue: a host cannot know it */
	{ "hsqsize-32",		CM_REQ_HSQSIZE, 2, 32, "accepted" },
	{ "hsqsize-71",		CM_REQ_HSQSIZE, 2, 71, "accepted" },
	{ "hsqsize-127",	CM_REQ_HSQSIZE, 2, 127, "accepted" },
	{ "hsqsize-135",	CM_REQ_HSQSIZE, 2, 135, "accepted" },
	{ "hsqsize-255",	CM_REQ_HSQSIZE, 2, 255,
	  "accepted|" BAD_HSQSIZE "|" NO_RESOURCES },
	{ "hsqsize-65534",	CM_REQ_HSQSIZE, 2, 65534,
	  "accepted|" BAD_HSQSIZE "|" NO_RESOURCES },
	{ "hsqsize-65535",	CM_REQ_HSQSIZE, 2, 65535,
	  "accepted|" BAD_HSQSIZE "|" NO_RESOURCES },
	{ "hrqsize-0",		CM_REQ_HRQSIZE, 2, 0, BAD_HRQSIZE },
	{ "hrqsize-1",		CM_REQ_HRQSIZE, 2, 1, "accepted" },
	{ "hrqsize-65535",	CM_REQ_HRQSIZE, 2, 65535,
	  "accepted|" BAD_HRQSIZE },
	{ "cntlid-1",		CM_REQ_CNTLID, 2, 1, "accepted|" BAD_CNTLID },
	{ "cntlid-65535",	CM_REQ_CNTLID, 2, 65535,
	  "accepted|" BAD_CNTLID },
	{ "reserved-10",	10, 2, 65535, "accepted" },
	{ "reserved-30",	30, 2, 65535, "accepted" },
};

static void cm_field(void)
{
	uint8_t data[CM_REQ_LEN];
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (!begin("%s", fields[i].name))
			continue;
		wire_cm_req(data, 0, QUEUE_DEPTH, QUEUE_DEPTH - 1);
		put(data + fields[i].offset, fields[i].value, fields[i].bytes);
		ask_with(fields[i].expected, data, sizeof(data));
	}
}

/* I/O queues have limits of their own: a port's, 1024 at most */
static void cm_io_size(void)
{
	static const uint16_t sizes[] = { 0, 1, 127, 1024, 65534, 65535 };
	uint8_t data[CM_REQ_LEN];
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (!begin("hsqsize-%u", sizes[i]))
			continue;
		wire_cm_req(data, 1, 128, sizes[i]);
		ask_with(!sizes[i] ? BAD_HSQSIZE :
			 sizes[i] < 128 ? "accepted" :
			 BAD_HSQSIZE "|" NO_RESOURCES, data, sizeof(data));
	}
}

/* Every byte of it, and all of them at once */
static void cm_garbage(void)
{
	uint8_t data[CM_REQ_LEN];
	int i;

	for (i = 0; i < CM_REQ_LEN; i++) {
		if (!begin("byte-%d", i))
			continue;
		wire_cm_req(data, 0, QUEUE_DEPTH, QUEUE_DEPTH - 1);
		data[i] ^= 0xff;
		ask_with(i < 2 ? BAD_RECFMT : i < 4 ? BAD_QID :
			 i < CM_REQ_HSQSIZE ? "accepted|" BAD_HRQSIZE :
			 i == CM_REQ_HSQSIZE ? "accepted|" BAD_HSQSIZE :
			 i < CM_REQ_CNTLID ? "accepted|" BAD_HSQSIZE "|" NO_RESOURCES :
			 "accepted|" BAD_CNTLID, data, sizeof(data));
	}
	memset(data, 0xff, sizeof(data));
	if (begin("all"))
		ask_with("rejected *", data, sizeof(data));
}

static void cm_no_reads(void)
{
	if (begin_whole())
		ask("accepted|" BAD_IRD, &(struct queue_how){ .no_reads = true });
}

/* The same queue ID a second time, while the first is in use */
static void cm_same_qid(void)
{
	enum conn_result result;
	struct ctrl k;
	struct queue q;

	need_all(&k);
	result = queue_open(&q, &(struct queue_how){ .qid = 1 });
	if (begin("connection"))
		outcome("accepted|rejected *", "%s", result_text(&q.c, result));
	if (result == CONN_OK && begin("connect"))
		outcome("refused * DNR|ended", "%s",
			reply_text(queue_connect(&q, k.cntlid)));
	if (begin("first"))
		outcome("success", "%s",
			reply_text(read_write(&k.io, OPC_READ, 0, 1)));
}

/* A queue of a controller that there is not */
static void cm_no_ctrl(void)
{
	static const uint16_t ids[] = { 0, 0x7ff0, 0xfff0, 0xffff };
	struct queue q;
	size_t i;

	need_queue(&q, &(struct queue_how){ .qid = 5 });
	for (i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		if (begin("cntlid-%#x", ids[i]))
			outcome("refused 0x182 DNR|ended", "%s",
				reply_text(queue_connect(&q, ids[i])));
	}
}

/* Longer than the target's connect_tmo, which is as slow as the machine, too */
#define SILENT_MS	slow_ms(20000)

/* Connects and sends nothing: no deadline is specified, but it must not stay for ever */
static void cm_silent(void)
{
	struct queue q;
	uint64_t from;

	need_queue(&q, &(struct queue_how){ 0 });
	if (!begin_whole())
		return;
	from = now_ms();
	if (queue_wait_end(&q, SILENT_MS))
		outcome("ended after *", "ended after %llu s",
			(unsigned long long)(now_ms() - from) / 1000);
	else
		outcome("ended after *", "connected after %d s",
			SILENT_MS / 1000);
}

/*
 * Connects and leaves at once, with or without a disconnect. "gone" says that it got that far;
 * NAME/beside checks that the target has noticed: its queues, the kernel's RDMA objects and
 * its memory are the same as before.
 */
static void cm_gone(void)
{
	struct queue q;
	int i;

	if (!begin_whole())
		return;
	for (i = 0; i < 20; i++) {
		need_queue(&q, &(struct queue_how){ .qid = i & 1 });
		if (i & 2)
			rdma_disconnect(q.c.id);
		queue_close(&q);
	}
	outcome("gone", "gone");
}

/* Asks, and does not wait for the answer; judged as cm_gone() */
static void cm_no_wait(void)
{
	uint8_t data[CM_REQ_LEN];
	const struct conn_how how = { .private_data = data,
				      .private_data_len = sizeof(data) };
	struct conn c;
	int i;

	if (!begin_whole())
		return;
	wire_cm_req(data, 0, QUEUE_DEPTH, QUEUE_DEPTH - 1);
	for (i = 0; i < 20; i++) {
		conn_resolve(&c, target.at, NULL);
		conn_make_qp(&c);
		conn_connect(&c, &how, i & 3);
		conn_close(&c);
	}
	outcome("gone", "gone");
}

/*
 * The host does not confirm the answer to its request by RTU, which iWARP does not have. The
 * target closes the connection like one on which nothing is sent; a Connect may still arrive.
 */
static void cm_no_rtu(void)
{
	const struct queue_how how = { .no_rtu = true };
	struct queue q;
	uint64_t from;
	int i;

	if (over_iwarp())
		return;
	if (begin("silent")) {
		need_queue(&q, &how);
		from = now_ms();
		if (!conn_event_due(&q.c, SILENT_MS))
			outcome("ended in time", "there after %d s",
				SILENT_MS / 1000);
		else if (now_ms() - from > 1000)
			outcome("ended in time", "ended in time");
		else
			outcome("ended in time", "ended at once");
		queue_close(&q);
	}
	if (begin("connect")) {
		need_queue(&q, &how);
		outcome("success|ended|no answer", "%s", reply_text(queue_connect(&q, 0xffff)));
		queue_close(&q);
	}
	if (begin("connect-then-rtu")) {
		uint8_t sqe[SQE_LEN];
		struct reply reply;

		need_queue(&q, &how);
		make_connect(&q, sqe, 0xffff);
		queue_send(&q, sqe, SQE_LEN);
		reply = queue_await(&q, CID_ANY, 500);
		if (reply.kind == REPLY_NONE && conn_establish(&q.c))
			reply = queue_await(&q, CID_ANY, ANSWER_MS);
		outcome("success|ended", "%s", reply_text(reply));
		queue_close(&q);
	}
	if (begin("gone")) {
		for (i = 0; i < 20; i++) {
			need_queue(&q, &how);
			queue_close(&q);
		}
		outcome("gone", "gone");
	}
}

/*
 * The request names a queue pair that is not the sender's: none, the CM's, or that of the same
 * host's I/O queue, which the CM then considers gone, as InfiniBand specifies.
 */
static void cm_foreign_qp(void)
{
	static const struct {
		const char *name;
		uint32_t qpn;
	} forms[] = { { "none", 0xfffffe }, { "cm", 1 }, { "multicast", 0xffffff },
		      { "own", 0 } };
	uint8_t data[CM_REQ_LEN];
	enum conn_result result;
	struct ctrl k;
	struct conn c;
	size_t i;

	if (over_iwarp())
		return;
	need_all(&k);
	wire_cm_req(data, 0, QUEUE_DEPTH, QUEUE_DEPTH - 1);
	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const struct conn_how how = {
			.private_data = data,
			.private_data_len = sizeof(data),
			.foreign_qpn = forms[i].qpn ?: k.io.c.qp->qp_num,
		};

		if (!begin("%s", forms[i].name))
			continue;
		conn_resolve(&c, target.at, NULL);
		result = conn_ask(&c, &how, 2 * ANSWER_MS);
		outcome("accepted|rejected *", "%s", result_text(&c, result));
		if (result == CONN_OK && conn_establish(&c))
			rdma_disconnect(c.id);
		conn_close(&c);
		if (begin("%s-io", forms[i].name))
			outcome(forms[i].qpn ? "success" : "success|ended", "%s",
				reply_text(read_write(&k.io, OPC_READ, 0, 1)));
	}
}

/* 64 connections that send nothing, all there at once */
static void cm_crowd(void)
{
	static struct queue queues[64];
	unsigned int i, open = 0;

	if (!begin_whole())
		return;
	for (i = 0; i < 64; i++)
		open += queue_open(&queues[i], &(struct queue_how){
				   .depth = 2 }) == CONN_OK;
	outcome("6[0-4] connections", "%u connections", open);
	for (i = 0; i < 64; i++)
		queue_close(&queues[i]);
}

const struct hostile_case cm_cases[] = {
	{ "cm-length", "private data of each length", cm_length, 0 },
	{ "cm-field", "private data: fields at and past their bounds",
	  cm_field, 0 },
	{ "cm-io-size", "private data: sizes of an I/O queue", cm_io_size, 0 },
	{ "cm-garbage", "private data: each byte flipped", cm_garbage, 0 },
	{ "cm-no-reads", "a host that serves no RDMA READ", cm_no_reads, 0 },
	{ "cm-same-qid", "a queue ID that is taken", cm_same_qid, 0 },
	{ "cm-no-ctrl", "a queue of no controller", cm_no_ctrl, 0 },
	{ "cm-silent", "connects and sends nothing", cm_silent, 0 },
	{ "cm-gone", "connects and is gone at once, 20 times", cm_gone, 0 },
	{ "cm-no-wait", "asks and is gone before the answer, 20 times",
	  cm_no_wait, 0 },
	{ "cm-no-rtu", "asks, and does not confirm the answer", cm_no_rtu, 0 },
	{ "cm-foreign-qp", "asks for a queue pair that it has not, or has already",
	  cm_foreign_qp, 0 },
	{ "cm-crowd", "64 connections that send nothing", cm_crowd, 0 },
	{ 0 }
};
