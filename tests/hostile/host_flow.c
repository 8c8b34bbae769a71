// SPDX-License-Identifier: GPL-2.0
/* Floods, withheld receives, hosts that take no response, that die, or that fall silent. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

/* For the target to find out: its response_tmo, and some tries */
#define STALL_MS	slow_ms(60000)
#define STALL_SECONDS	120
/* More than any queue here may have */
#define FLOOD		512

static void reads(struct queue *q, int nr, uint16_t blocks)
{
	uint8_t sqe[SQE_LEN];
	int i;

	for (i = 0; i < nr; i++) {
		wire_rw(sqe, OPC_READ, queue_cid(q), 1, (uint64_t)i, blocks);
		queue_sgl(q, sqe, 0, blocks * BLOCK_LEN);
		queue_send(q, sqe, SQE_LEN);
	}
}

/* In-capsule writes of all that a capsule has room for */
static void writes(struct ctrl *k, struct queue *q, int nr)
{
	uint8_t capsule[SLOT_LEN];
	int i;

	memset(capsule, 0x77, sizeof(capsule));
	for (i = 0; i < nr; i++) {
		wire_rw(capsule, OPC_WRITE, queue_cid(q), 1, 64,
			(uint16_t)(k->room / BLOCK_LEN));
		wire_sgl_in_capsule(capsule, 0, k->room);
		queue_send(q, capsule, SQE_LEN + k->room);
	}
}

static const char *end_of(struct queue *q, int ms)
{
	return queue_wait_end(q, ms) ? "ended" : "connected";
}

/* ---- floods ---- */

/* Asynchronous Event Requests are never answered, so that they add up */
static void flood_events(void)
{
	uint8_t sqe[SQE_LEN];
	struct queue q;
	int i;

	if (!begin_whole())
		return;
	need_queue(&q, &(struct queue_how){ .depth = 2, .receives = 64 });
	if (!reply_good(queue_connect(&q, 0xffff)) ||
	    !reply_good(property_set(&q, 0, PROP_CC, CC_ENABLED)))
		cannot("Connect");
	for (i = 0; i < 16; i++) {
		wire_command(sqe, OPC_ASYNC_EVENT, queue_cid(&q), 0);
		queue_send(&q, sqe, SQE_LEN);
	}
	outcome("ended", "%s", end_of(&q, ANSWER_MS));
}

/* Without waiting for a single answer, from a queue that is 2 deep */
static void flood_reads(void)
{
	struct ctrl k;
	struct queue q;

	need_ctrl(&k);
	need_io(&k, &q, &(struct queue_how){
		.qid = 1, .depth = 2, .receives = FLOOD });
	if (begin("reads")) {
		reads(&q, FLOOD, 1);
		/* a fast target may complete each before the next one */
		while (q.replies < FLOOD &&
		       queue_await(&q, CID_ANY, ANSWER_MS).kind == REPLY_STATUS)
			;
		outcome("ended|all answered", "%s", q.replies >= FLOOD ?
			"all answered" : end_of(&q, ANSWER_MS));
	}
}

/* Behind a flood of slow commands: 64 KiB each, all at once */
static void flood_large(void)
{
	struct ctrl k;

	if (!begin_with(&k))
		return;
	reads(&k.io, 4 * QUEUE_DEPTH, 128);
	while (k.io.replies < 4 * QUEUE_DEPTH &&
	       queue_await(&k.io, CID_ANY, ANSWER_MS).kind == REPLY_STATUS)
		;
	outcome("ended|all answered", "%s",
		k.io.replies >= 4 * QUEUE_DEPTH ? "all answered" :
		end_of(&k.io, ANSWER_MS));
}

/* Before Connect, FLOOD commands that are refused at once */
static void flood_before_connect(void)
{
	uint8_t sqe[SQE_LEN];
	struct queue q;
	int i;

	if (!begin_whole())
		return;
	need_queue(&q, &(struct queue_how){ .receives = FLOOD });
	wire_command(sqe, OPC_IDENTIFY, 0, 0);
	for (i = 0; i < FLOOD; i++)
		queue_send(&q, sqe, SQE_LEN);
	while (q.replies < FLOOD &&
	       queue_await(&q, CID_ANY, ANSWER_MS).kind == REPLY_STATUS)
		;
	outcome("ended|all answered", "%s", q.replies >= FLOOD ?
		"all answered" : end_of(&q, ANSWER_MS));
}

/*
 * Invalid capsules: each uses a receive, of which a shared queue has about 1024. No receive
 * may be lost with the connection that the capsule ends.
 */
static void bad_capsules(void)
{
	static const uint8_t none[SQE_LEN];
	struct queue q;
	int i, n, ended = 0;

	if (!begin_whole())
		return;
	for (i = 0; i < 40; i++) {
		need_queue(&q, &(struct queue_how){ .qid = 1, .depth = 32 });
		for (n = 0; n < 32; n++)
			queue_send(&q, none, (size_t)n);
		ended += queue_wait_end(&q, ANSWER_MS);
		queue_close(&q);
	}
	outcome("40 of 40 ended", "%d of 40 ended", ended);
}

/* Writes whose data never arrives: their receives and their credit as well */
static void bad_writes(void)
{
	struct ctrl k = { 0 };
	uint8_t sqe[SQE_LEN];
	int i, n, ended = 0;

	if (!begin_whole())
		return;
	for (i = 0; i < 20; i++) {
		need_again(&k);
		for (n = 0; n < QUEUE_DEPTH - 1; n++) {
			wire_rw(sqe, OPC_WRITE, queue_cid(&k.io), 1, 0, 8);
			wire_sgl_keyed(sqe, SGL_KEYED, 4096, 4096, 0x1234);
			queue_send(&k.io, sqe, SQE_LEN);
		}
		ended += queue_wait_end(&k.io, ANSWER_MS);
	}
	outcome("20 of 20 ended", "%d of 20 ended", ended);
}

/* ---- receives withheld ---- */

static void recv_none(void)
{
	uint8_t sqe[SQE_LEN];
	struct queue q;
	int i;

	if (!begin_whole())
		return;
	need_queue(&q, &(struct queue_how){ .no_receives = true });
	wire_fabrics(sqe, FCTYPE_PROPERTY_GET, 0);
	for (i = 0; i < QUEUE_DEPTH; i++)
		queue_send(&q, sqe, SQE_LEN);
	outcome("ended", "%s", end_of(&q, STALL_MS));
}

/* One response is taken, Connect's; none of the following ones */
static void recv_one(void)
{
	struct ctrl k;
	struct queue q;

	if (!begin_whole())
		return;
	need_ctrl(&k);
	need_io(&k, &q, &(struct queue_how){
		.qid = 1, .receives = 1, .withhold = true });
	reads(&q, QUEUE_DEPTH - 1, 8);
	outcome("ended", "%s", end_of(&q, STALL_MS));
}

/* The same on several queues, full of writes, while others continue */
static void recv_hog(void)
{
	static struct queue queues[4];
	const char *wrong;
	struct ctrl k;
	int i, ended = 0;

	if (!begin("others"))
		return;
	need_ctrl(&k);
	for (i = 0; i < 4; i++)
		need_io(&k, &queues[i], &(struct queue_how){
			.qid = (uint16_t)(i + 1), .depth = 128,
			.receives = 1, .withhold = true });
	for (i = 0; i < 4; i++)
		writes(&k, &queues[i], 127);
	wrong = ctrl_witness(77);
	outcome("unharmed", "%s", wrong ? wrong : "unharmed");
	if (!begin("end"))
		return;
	for (i = 0; i < 4; i++)
		ended += queue_wait_end(&queues[i], STALL_MS);
	outcome("4 of 4 ended", "%d of 4 ended", ended);
}

/* Slow, but it takes every response: nothing to end it for */
static void slow_reader(void)
{
	struct ctrl k;
	struct queue q;
	int i;

	if (!begin_whole())
		return;
	need_ctrl(&k);
	need_io(&k, &q, &(struct queue_how){
		.qid = 1, .receives = 1, .withhold = true });
	reads(&q, 16, 8);
	for (i = 0; i < 16; i++) {
		usleep(300000);
		conn_recv(&q.c, 0, &q.in, 0, CQE_LEN);
		if (queue_await(&q, CID_ANY, ANSWER_MS).kind != REPLY_STATUS)
			break;
	}
	outcome("16 of 16 answered", "%d of 16 answered", i);
}

/* A live controller that idles is left alone */
static void idle(void)
{
	struct ctrl k;

	if (!begin_with(&k))
		return;
	/* longer than the target's response_tmo */
	usleep((useconds_t)timer_ms(13000) * 1000);
	outcome("success", "%s",
		reply_text(read_write(&k.io, OPC_READ, 0, 1)));
}

/* ---- gone ---- */

/*
 * A process that is killed while all of a queue's commands are outstanding. "killed" says that
 * it was; NAME/beside checks that its queues, RDMA objects and memory are released.
 */
static void __attribute__((noreturn)) die_busy(bool with_writes)
{
	struct ctrl k;

	need_all(&k);
	if (with_writes)
		writes(&k, &k.io, QUEUE_DEPTH - 1);
	else
		reads(&k.io, QUEUE_DEPTH - 1, 128);
	raise(SIGKILL);
	_exit(1);
}

static void killed(void)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 6; i++) {
		if (!begin("%s-%d", i & 1 ? "writes" : "reads", i / 2))
			continue;
		fflush(stdout);
		pid = fork();
		if (pid < 0)
			die("no process");
		if (!pid)
			die_busy(i & 1);
		if (waitpid(pid, &status, 0) != pid)
			die("no status of a process");
		outcome("killed", "%s", WIFSIGNALED(status) ? "killed" :
			"it could not connect");
	}
}

/* Its queue pair fails without a notification: responses meet silence */
static void silent_error(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ctrl k;
	struct queue q;

	if (!begin_whole())
		return;
	need_ctrl(&k);
	need_io(&k, &q, &(struct queue_how){
		.qid = 1, .receives = 1, .withhold = true });
	reads(&q, QUEUE_DEPTH - 1, 8);
	/* until they are there, and their responses under way */
	usleep(500000);
	errno = ibv_modify_qp(q.c.qp, &attr, IBV_QP_STATE);
	if (errno)
		die("cannot fail a queue pair");
	outcome("disconnected", "%s",
		conn_wait_disconnected(&q.c, STALL_MS) ? "disconnected" :
		"connected");
}

/* A whole controller: connects, works, is torn down, in a tight row */
static void storm(void)
{
	const char *wrong;
	struct ctrl k;
	int i;

	if (!begin_whole())
		return;
	for (i = 0; i < 12; i++) {
		wrong = ctrl_open_all(&k);
		if (wrong)
			cannot(wrong);
		reads(&k.io, i, 8);
		if (i & 1)
			ctrl_drop(&k);
		else
			ctrl_leave(&k);
	}
	outcome("12 controllers", "%d controllers", i);
}

/* The admin queue goes, and I/O queues stay: their controller is no more */
static void admin_gone(void)
{
	struct ctrl k;

	if (!begin_with(&k))
		return;
	queue_close(&k.admin);
	usleep(300000);
	outcome(ANSWERED_OR_END, "%s",
		reply_text(read_write(&k.io, OPC_READ, 0, 1)));
}

const struct hostile_case flow_cases[] = {
	{ "flood-events", "more commands than the queue has, never answered",
	  flood_events, 0 },
	{ "flood-reads", "512 Reads from a queue of 2", flood_reads, 0 },
	{ "flood-large", "four times a queue of 64 KiB Reads", flood_large, 0 },
	{ "flood-before-connect", "512 commands before Connect",
	  flood_before_connect, 0 },
	{ "bad-capsules", "1280 capsules that are too short", bad_capsules, 0 },
	{ "bad-writes", "620 Writes with keys of nothing", bad_writes, 0 },
	{ "recv-none", "no receive for any response", recv_none,
	  STALL_SECONDS },
	{ "recv-one", "a receive for Connect alone", recv_one, STALL_SECONDS },
	{ "recv-hog", "four queues that fill receives and take no response",
	  recv_hog, 2 * STALL_SECONDS },
	{ "slow-reader", "a receive three times a second", slow_reader, 0 },
	{ "idle", "nothing at all for 8 s", idle, 0 },
	{ "killed", "a process killed with its queue full", killed, 0 },
	{ "silent-error", "a queue pair that fails without a word",
	  silent_error, STALL_SECONDS },
	{ "storm", "12 controllers, one after another", storm, 0 },
	{ "admin-gone", "an I/O queue without its admin queue", admin_gone, 0 },
	{ 0 }
};
