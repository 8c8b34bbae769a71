// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile target for the kernel's NVMe/RDMA host: see target.h.
 *
 *	hostile-target list			the cases, with descriptions
 *	hostile-target ADDRESS PORT CASE [N]	one case, with its Nth value
 *	hostile-target ADDRESS PORT fuzz SEED N	number N of a seed's cases
 *	hostile-target drive ADDRESS PORT ...	the other end: see drive.c
 *
 * While it runs, a datagram to the UDP port of that number at 127.0.0.1 selects another case:
 * "CASE N" or "fuzz SEED N". The answer is "ok", the number of alarms since the program
 * started, 1 if every part of the previous case has happened, else 0, and the case as text; or
 * an error. An alarm is something that a host must never allow, whatever the case is. Each
 * alarm is also printed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drive.h"
#include "target.h"

/* How often it is looked for events */
#define LOOK_MS		2
/* After so many looks without a completion the next one has time */
#define SOON_IDLE	100
#define IDLE_US		5000

struct target target;
uint8_t target_disk[DISK_LEN];

static struct queue *queues;
static struct assoc *newest;

static void __attribute__((format(printf, 2, 0)))
print(const char *prefix, const char *fmt, va_list args)
{
	fputs(prefix, stdout);
	vprintf(fmt, args);
	putchar('\n');
	fflush(stdout);
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("target: ", fmt, args);
	va_end(args);
}

void alarm_say(const char *fmt, ...)
{
	va_list args;

	target.alarms++;
	va_start(args, fmt);
	print("ALARM: ", fmt, args);
	va_end(args);
}

/* One that is connected, of the same controller */
struct queue *other_queue(const struct queue *queue, bool admin)
{
	struct queue *q;

	for (q = queues; q; q = q->next)
		if (q != queue && q->assoc == queue->assoc && q->accepted &&
		    !q->dead && !q->qid == admin)
			return q;
	return NULL;
}

struct queue *last_io_queue(void)
{
	struct queue *q, *last = NULL;

	for (q = queues; q; q = q->next)
		if (q->qid && q->accepted && !q->dead &&
		    (!last || q->assoc->serial > last->assoc->serial))
			last = q;
	return last;
}

/* ---- associations ---- */

static bool is_twisted(enum scope scope, unsigned int number)
{
	if (scope == FIRST)
		return !number;
	return scope == ALWAYS || number;
}

static struct assoc *begin_assoc(void)
{
	static unsigned int serial;
	static uint16_t cntlid;
	struct assoc *assoc = calloc(1, sizeof(*assoc));
	unsigned int number = target.assocs++;

	if (!assoc)
		die("no memory");
	assoc->twist = target.twist;
	assoc->serial = ++serial;
	assoc->number = number;
	assoc->twisted = is_twisted(target.twist.scope, number);
	assoc->leaves = target.twist.scope == LATER && !number;
	cntlid = (uint16_t)(cntlid % 1000 + 1);
	assoc->cntlid = cntlid;
	newest = assoc;
	return assoc;
}

/* A controller ID may be forged: then it is the newest one */
static struct assoc *find_assoc(uint16_t cntlid)
{
	struct queue *q;

	for (q = queues; q; q = q->next)
		if (q->assoc->cntlid == cntlid)
			return q->assoc;
	return newest;
}

static void leave_assoc(struct assoc *assoc)
{
	if (--assoc->queues)
		return;
	if (newest == assoc)
		newest = NULL;
	free(assoc);
}

/* ---- connection requests ---- */

/* Whether the twist's rule for connections applies to it */
static bool is_about(const struct queue *queue)
{
	switch (queue->assoc->twist.on_queue) {
	case QUEUE_ADMIN:
		return !queue->qid;
	case QUEUE_IO:
		return queue->qid;
	default:
		return true;
	}
}

static enum request_act request_act(const struct queue *queue)
{
	if (!queue->assoc->twisted || !is_about(queue))
		return REQ_ACCEPT;
	return queue->assoc->twist.request;
}

/* Private data that is none of the specification's; returns its length */
static uint8_t garbage(uint8_t *data, size_t room, uint64_t len)
{
	if (len > room)
		len = room;
	memset(data, 0xa5, len);
	return (uint8_t)len;
}

static void withhold_receives(struct queue *queue, struct rdma_conn_param *param)
{
	uint64_t arg = queue->assoc->twist.request_arg;

	queue->withhold = true;
	queue->receives = arg & 0xffff;
	/* of the host's SENDs; 7 is for ever */
	if (arg & NO_RETRY)
		param->rnr_retry_count = 0;
}

static void accept_queue(struct queue *queue)
{
	enum request_act act = request_act(queue);
	uint8_t rep[196] = { 0 };
	struct rdma_conn_param param = {
		.private_data = rep,
		.private_data_len = CM_REP_LEN,
		.initiator_depth = act == REQ_NO_READS ? 0 : queue->reads,
		.responder_resources = act == REQ_NO_READS ? 0 : 1,
		.rnr_retry_count = 7,
	};

	queue->accept_at = 0;
	put(rep + CM_REP_CRQSIZE, queue->depth, 2);
	if (is_about(queue))
		poke_bytes(queue->assoc, AT_ACCEPT, rep, CM_REP_LEN);
	if (act == REQ_ACCEPT_LEN) {
		memset(rep, 0, sizeof(rep));
		param.private_data_len = garbage(rep, sizeof(rep),
						 queue->assoc->twist.request_arg);
	}
	if (act == REQ_RECEIVES)
		withhold_receives(queue, &param);
	queue->silent = act == REQ_SILENT;
	queue->leave = act == REQ_LEAVE_ESTABLISHED;
	if (!queue_open(queue) || rdma_accept(queue->c.id, &param)) {
		say("queue %u of %u commands is not to be had: %s", queue->qid,
		    queue->depth, strerror(errno));
		queue->gone = true;
		return;
	}
	queue->accepted = true;
	if (act == REQ_LEAVE)
		queue_disconnect(queue);
}

static void reject_queue(struct queue *queue, enum request_act act)
{
	uint8_t rej[148] = { 0 };
	uint64_t arg = queue->assoc->twist.request_arg;
	uint8_t len = CM_REJ_LEN;

	if (act == REQ_REJECT_LEN) {
		len = garbage(rej, sizeof(rej), arg);
	} else {
		put(rej + CM_REJ_STS, arg, 2);
		poke_bytes(queue->assoc, AT_REJECT, rej, CM_REJ_LEN);
	}
	if (act == REQ_REJECT_VENDOR ? rdma_reject_ece(queue->c.id, rej, len) :
	    act != REQ_REJECT_CM && rdma_reject(queue->c.id, rej, len))
		say("cannot reject: %s", strerror(errno));
	queue->gone = true;
}

static void requested(struct queue *queue)
{
	enum request_act act = request_act(queue);

	if (act != REQ_ACCEPT)
		used(queue->assoc, PART_REQUEST);
	switch (act) {
	case REQ_REJECT:
	case REQ_REJECT_LEN:
	case REQ_REJECT_CM:
	case REQ_REJECT_VENDOR:
		reject_queue(queue, act);
		break;
	case REQ_IGNORE:
		break;
	case REQ_LATE:
		queue->accept_at = now_ms() +
				   (uint64_t)timer_ms((int)queue->assoc->twist.request_arg);
		break;
	default:
		accept_queue(queue);
		break;
	}
}

/* The event is acknowledged before the queue's ID moves to its own channel */
static void take_request(struct rdma_cm_event *event)
{
	struct queue *queue = calloc(1, sizeof(*queue));
	struct rdma_cm_id *id = event->id;
	uint8_t req[CM_REQ_LEN] = { 0 };
	uint8_t len = event->param.conn.private_data_len;

	if (!queue)
		die("no memory");
	if (event->param.conn.private_data)
		memcpy(req, event->param.conn.private_data,
		       len > CM_REQ_LEN ? CM_REQ_LEN : len);
	queue->reads = event->param.conn.initiator_depth;
	rdma_ack_cm_event(event);

	queue->qid = (uint16_t)get(req + CM_REQ_QID, 2);
	queue->depth = (uint16_t)(get(req + CM_REQ_HSQSIZE, 2) + 1);
	queue->assoc = queue->qid ? find_assoc((uint16_t)get(req + CM_REQ_CNTLID, 2)) :
				    begin_assoc();
	if (!queue->assoc)
		queue->assoc = begin_assoc();
	queue->assoc->queues++;
	limits_request(queue->assoc, queue->qid);
	conn_take(&queue->c, id);
	queue->next = queues;
	queues = queue;
	requested(queue);
}

/* ---- the loop ---- */

static void queue_event(struct queue *queue)
{
	struct rdma_cm_event *event = conn_next_event(queue->c.channel, 0);
	enum rdma_cm_event_type type;

	if (!event)
		return;
	type = event->event;
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		if (queue->leave)
			queue_disconnect(queue);
		return;
	}
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		rdma_disconnect(queue->c.id);
	queue->gone = true;
}

/* Connections that the host has abandoned unnoticed: another case has started */
void drop_requests(void)
{
	struct queue *q;

	for (q = queues; q; q = q->next)
		q->gone |= !q->accepted;
}

static void drop_gone(void)
{
	struct queue **at = &queues, *queue;

	while ((queue = *at)) {
		if (!queue->gone) {
			at = &queue->next;
			continue;
		}
		*at = queue->next;
		if (!queue->qid)
			queue->assoc->event_request = NULL;
		if (queue->assoc->held && queue->assoc->held->queue == queue)
			queue->assoc->held = NULL;
		queue_close(queue);
		leave_assoc(queue->assoc);
		free(queue);
	}
}

/* Events and what waits for its time; completions are looked at more often */
static void seldom(struct rdma_event_channel *channel, int control, uint64_t now)
{
	struct rdma_cm_event *event = conn_next_event(channel, 0);
	struct queue *q;

	if (event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		take_request(event);
	else if (event)
		rdma_ack_cm_event(event);
	control_look(control);
	for (q = queues; q; q = q->next) {
		queue_event(q);
		command_due(q, now);
		if (q->accept_at && q->accept_at <= now)
			accept_queue(q);
	}
	drop_gone();
}

static void __attribute__((noreturn))
loop(struct rdma_event_channel *channel, int control)
{
	uint64_t now, looked = 0;
	unsigned int idle = 0;
	struct queue *q;
	bool busy;

	for (;;) {
		now = now_ms();
		if (now - looked >= LOOK_MS) {
			seldom(channel, control, now);
			looked = now;
		}
		busy = false;
		for (q = queues; q; q = q->next)
			busy |= queue_poll(q);
		/* otherwise an emulated processor would mostly wake up */
		idle = busy ? 0 : idle + 1;
		if (idle)
			usleep(idle < SOON_IDLE ? 200 : IDLE_US);
	}
}

static int list(void)
{
	const struct twist *twist;
	unsigned int n;

	for (n = 0; (twist = twist_number(n)); n++)
		printf("%-28s %3u  %-22s %s\n", twist->name, twist->values,
		       twist->expect, twist->about);
	return 0;
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: hostile-target list\n"
	      "       hostile-target ADDRESS PORT CASE [NUMBER OF ITS VALUE]\n"
	      "       hostile-target ADDRESS PORT fuzz SEED NUMBER\n"
	      "       hostile-target drive ADDRESS PORT [OPTION...]\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	char words[256] = "", answer[512];
	int i, control;

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (argc > 3 && !strcmp(argv[1], "drive"))
		return drive(argc - 1, argv + 1);
	if (argc < 4)
		usage();
	for (i = 3; i < argc; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s",
			 i > 3 ? " " : "", argv[i]);
	if (!control_choose(words, answer, sizeof(answer))) {
		fprintf(stderr, "hostile-target: %s\n", answer);
		return 2;
	}
	channel = rdma_create_event_channel();
	if (!channel)
		die("no event channel");
	conn_listen(channel, look_up(argv[1], argv[2]));
	control = control_open((uint16_t)atoi(argv[2]));
	say("%s", answer);
	say("ready");
	loop(channel, control);
}
