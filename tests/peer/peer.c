// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that speaks the RDMA part of NVMe/RDMA and then does as it was told.
 *
 *	peer listen ADDRESS PORT reject STATUS	reject with an NVMe/RDMA status
 *	peer listen ADDRESS PORT silent		accept, take capsules, never answer
 *	peer listen ADDRESS PORT leave		accept, disconnect with the first capsule
 *	peer connect ADDRESS PORT idle N	N admin queues that never send Connect
 *
 * Prints "ready" when it listens or all its queues are connected, then a line
 * for each thing that happens; goes on until it is killed.
 */
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

/* Receives of a queue; hosts ask for 32 on the admin queue, 128 on others */
#define DEPTH		128
#define CAPSULE_LEN	(64 + 8192)

/* What the two sides tell each other when they connect (NVMe/RDMA 1.0) */
struct cm_req {
	uint16_t recfmt, qid, hrqsize, hsqsize;
	uint8_t reserved[24];
};

struct cm_rep {
	uint16_t recfmt, crqsize;
	uint8_t reserved[28];
};

struct cm_rej {
	uint16_t recfmt, sts;
};

enum what { REJECT, SILENT, LEAVE };

static struct rdma_event_channel *channel;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	int error = errno;
	va_list args;

	fprintf(stderr, "peer: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(error));
	exit(1);
}

static void say(const char *words)
{
	puts(words);
	fflush(stdout);
}

static struct rdma_cm_id *make_id(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("no CM ID");
	return id;
}

/* A QP with receives posted, all into one buffer: nobody reads it */
static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	void *room = calloc(1, CAPSULE_LEN);
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_sge sge = { .length = CAPSULE_LEN };
	struct ibv_mr *mr;
	int i;

	if (!pd || !room)
		die("no protection domain or memory");
	mr = ibv_reg_mr(pd, room, CAPSULE_LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die("cannot register memory");
	attr.send_cq = ibv_create_cq(id->verbs, 2 * DEPTH, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	if (!attr.send_cq || rdma_create_qp(id, pd, &attr))
		die("no queue pair");
	sge.addr = (uintptr_t)room;
	sge.lkey = mr->lkey;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	for (i = 0; i < DEPTH; i++) {
		errno = ibv_post_recv(id->qp, &wr, &bad);
		if (errno)
			die("cannot post a receive");
	}
}

static struct rdma_cm_event *next_event(void)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("no event from the CM");
	return event;
}

static void await_capsule(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(id->qp->recv_cq, 1, &wc))
		usleep(1000);
}

static void accept_request(struct rdma_cm_id *id,
			   const struct rdma_conn_param *asked)
{
	struct cm_rep rep = { .crqsize = DEPTH };
	struct rdma_conn_param param = {
		.private_data = &rep,
		.private_data_len = sizeof(rep),
		.initiator_depth = asked->initiator_depth,
		.rnr_retry_count = 7,
	};

	make_qp(id);
	if (rdma_accept(id, &param))
		die("cannot accept");
}

static void reject_request(struct rdma_cm_id *id, uint16_t status)
{
	struct cm_rej rej = { .sts = status };

	if (rdma_reject(id, &rej, sizeof(rej)))
		die("cannot reject");
}

static void __attribute__((noreturn))
serve(struct addrinfo *where, enum what what, uint16_t status)
{
	struct rdma_cm_id *id = make_id();

	if (rdma_bind_addr(id, where->ai_addr) || rdma_listen(id, DEPTH))
		die("cannot listen");
	say("ready");
	for (;;) {
		struct rdma_cm_event *event = next_event(), copy = *event;

		if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			if (what == REJECT)
				reject_request(copy.id, status);
			else
				accept_request(copy.id, &copy.param.conn);
		}
		rdma_ack_cm_event(event);
		say(rdma_event_str(copy.event));
		if (copy.event == RDMA_CM_EVENT_ESTABLISHED && what == LEAVE) {
			await_capsule(copy.id);
			say("a capsule; leaving");
			rdma_disconnect(copy.id);
		}
	}
}

static void await(enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event = next_event();

	if (event->event != wanted) {
		errno = event->status < 0 ? -event->status : ECONNREFUSED;
		die("%s in place of %s", rdma_event_str(event->event),
		    rdma_event_str(wanted));
	}
	rdma_ack_cm_event(event);
}

static void connect_one(struct addrinfo *where)
{
	struct cm_req req = { .hrqsize = 32, .hsqsize = 31 };
	struct rdma_conn_param param = {
		.private_data = &req,
		.private_data_len = sizeof(req),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct rdma_cm_id *id = make_id();

	if (rdma_resolve_addr(id, NULL, where->ai_addr, 3000))
		die("cannot resolve the address");
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	make_qp(id);
	if (rdma_resolve_route(id, 3000))
		die("cannot resolve the route");
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (rdma_connect(id, &param))
		die("cannot connect");
	await(RDMA_CM_EVENT_ESTABLISHED);
}

static void __attribute__((noreturn))
visit(struct addrinfo *where, int queues)
{
	int i;

	for (i = 0; i < queues; i++)
		connect_one(where);
	say("ready");
	for (;;) {
		struct rdma_cm_event *event = next_event();

		say(rdma_event_str(event->event));
		rdma_ack_cm_event(event);
	}
}

static int __attribute__((noreturn)) usage(void)
{
	fputs("usage: peer listen ADDRESS PORT reject STATUS|silent|leave\n"
	      "       peer connect ADDRESS PORT idle QUEUES\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct addrinfo *where;
	int ret;

	if (argc < 5)
		usage();
	ret = getaddrinfo(argv[2], argv[3],
			  &(struct addrinfo){ .ai_flags = AI_NUMERICHOST }, &where);
	if (ret) {
		fprintf(stderr, "peer: %s port %s: %s\n", argv[2], argv[3],
			gai_strerror(ret));
		return 2;
	}
	channel = rdma_create_event_channel();
	if (!channel)
		die("no event channel");

	if (!strcmp(argv[1], "connect") && !strcmp(argv[4], "idle") && argc == 6)
		visit(where, atoi(argv[5]));
	if (strcmp(argv[1], "listen"))
		usage();
	if (!strcmp(argv[4], "reject") && argc == 6)
		serve(where, REJECT, strtoul(argv[5], NULL, 0));
	if (!strcmp(argv[4], "silent") && argc == 5)
		serve(where, SILENT, 0);
	if (!strcmp(argv[4], "leave") && argc == 5)
		serve(where, LEAVE, 0);
	usage();
}
