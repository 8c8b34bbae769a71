// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that speaks the RDMA part of NVMe/RDMA and then does as it was told.
 *
 *	peer listen ADDRESS PORT reject STATUS	reject with an NVMe/RDMA status
 *	peer listen ADDRESS PORT silent		accept, take capsules, never answer
 *	peer listen ADDRESS PORT leave		accept, disconnect with the first capsule
 *	peer connect ADDRESS PORT idle N	N admin queues that never send Connect
 *	peer connect ADDRESS PORT deaf N SOURCE	N admin queues from an address, with as
 *						many commands as they may send, and no
 *						receive for any response
 *	peer connect ADDRESS PORT slow N SOURCE	the same, but each queue takes a response
 *						in 100 ms, and sends another command
 *	peer connect ADDRESS PORT logs N SOURCE	N discovery controllers that are asked
 *						for a log page of 1 MiB over and over,
 *						and no receive for any response
 *	peer connect ADDRESS PORT reads NQN N SOURCE  N I/O queues of a controller, with
 *						reads of 64 KiB, and no receive for any
 *						response but the first
 *	peer connect ADDRESS PORT proofs NQN N SOURCE  N I/O queues of a controller, with
 *						Authentication Receives of 64 KiB, and no
 *						receive for any response
 *	peer connect ADDRESS PORT ctrls NQN N SOURCE  N controllers: each gets Connect, is
 *						enabled and gets a Keep Alive, whatever
 *						comes of that; says how many were refused
 *	peer connect ADDRESS PORT exceed NQN	a controller of a subsystem, with one
 *						more command than its queue may have
 *	peer connect ADDRESS PORT break N	N I/O queues, one after another, that
 *						end in the middle of a capsule
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
/* What is sent: a command, and data */
#define COMMAND_LEN	64
#define SEND_LEN	(COMMAND_LEN + 16384)
/* A packet, whatever the MTU */
#define PACKET_LEN	4096
/* Commands of an admin queue */
#define ADMIN_DEPTH	32
/* Queues of a peer that is slow, and how long it takes for a response */
#define SLOW_QUEUES	16
#define SLOW_US		100000
#define CONNECT_DATA	1024
/* What is asked for and not taken: so often, and how much at a time */
#define WITHHELD	30
#define LOG_LEN		(1 << 20)
#define READ_LEN	(64 << 10)
#define BLOCK_LEN	512
#define DISCOVERY	"nqn.2014-08.org.nvmexpress.discovery"

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
/* All receives are into the one, all sends out of the other */
static uint8_t room[CAPSULE_LEN], capsule[SEND_LEN];

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

/* Into one and the same room, whose registration is the ID's context */
static void post_receives(struct rdma_cm_id *id, int receives)
{
	const struct ibv_mr *mr = id->context;
	struct ibv_sge sge = { .addr = (uintptr_t)room, .length = sizeof(room),
			       .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	while (receives--) {
		errno = ibv_post_recv(id->qp, &wr, &bad);
		if (errno)
			die("cannot post a receive");
	}
}

/* A QP with receives posted */
static void make_qp(struct rdma_cm_id *id, int receives)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = ADMIN_DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 2, .max_recv_sge = 1 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);

	if (!pd)
		die("no protection domain");
	id->context = ibv_reg_mr(pd, room, sizeof(room), IBV_ACCESS_LOCAL_WRITE);
	if (!id->context)
		die("cannot register memory");
	attr.send_cq = ibv_create_cq(id->verbs, 2 * DEPTH, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	if (!attr.send_cq || rdma_create_qp(id, pd, &attr))
		die("no queue pair");
	post_receives(id, receives);
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

	make_qp(id, DEPTH);
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

static struct rdma_cm_id *connect_one(struct addrinfo *where,
				      struct sockaddr *from,
				      const struct cm_req *req, int receives)
{
	struct rdma_conn_param param = {
		.private_data = req,
		.private_data_len = sizeof(*req),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct rdma_cm_id *id = make_id();

	if (rdma_resolve_addr(id, from, where->ai_addr, 3000))
		die("cannot resolve the address");
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	make_qp(id, receives);
	if (rdma_resolve_route(id, 3000))
		die("cannot resolve the route");
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (rdma_connect(id, &param))
		die("cannot connect");
	await(RDMA_CM_EVENT_ESTABLISHED);
	return id;
}

static void __attribute__((noreturn)) stay(void)
{
	say("ready");
	for (;;) {
		struct rdma_cm_event *event = next_event();

		say(rdma_event_str(event->event));
		rdma_ack_cm_event(event);
	}
}

static void __attribute__((noreturn))
idle(struct addrinfo *where, int queues)
{
	const struct cm_req req = { .hrqsize = ADMIN_DEPTH,
				    .hsqsize = ADMIN_DEPTH - 1 };
	int i;

	for (i = 0; i < queues; i++)
		connect_one(where, NULL, &req, DEPTH);
	stay();
}

static void put(size_t at, uint64_t value, int bytes)
{
	for (; bytes--; value >>= 8)
		capsule[at++] = (uint8_t)value;
}

/* A command without data: its SGL is a keyed one, of nothing */
static void make_command(uint8_t opcode, uint8_t fctype)
{
	memset(capsule, 0, sizeof(capsule));
	put(0, opcode, 1);
	put(1, 0x40, 1);
	put(4, fctype, 1);
	put(39, 0x40, 1);
}

/* All of it, or as much as @good bytes, whereupon the QP fails: no key fits more */
static void send_part(struct rdma_cm_id *id, uint32_t len, uint32_t good)
{
	static struct ibv_mr *mr;
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)capsule, .length = good },
		{ .addr = (uintptr_t)capsule + good, .length = len - good },
	};
	struct ibv_send_wr wr = { .sg_list = sge, .num_sge = good < len ? 2 : 1,
				  .opcode = IBV_WR_SEND }, *bad;

	if (!mr || mr->pd != id->qp->pd)
		mr = ibv_reg_mr(id->qp->pd, capsule, sizeof(capsule), 0);
	if (!mr)
		die("cannot register memory");
	sge[0].lkey = mr->lkey;
	sge[1].lkey = ~mr->lkey;
	errno = ibv_post_send(id->qp, &wr, &bad);
	if (errno)
		die("cannot post a send");
}

static void send_capsule(struct rdma_cm_id *id, uint32_t len)
{
	send_part(id, len, len);
}

/* The status of the response, which is the last that has been received */
static unsigned int await_response(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	do {
		while (!ibv_poll_cq(id->qp->recv_cq, 1, &wc))
			usleep(1000);
		errno = EIO;
		if (wc.status != IBV_WC_SUCCESS)
			die("no response: %s", ibv_wc_status_str(wc.status));
	} while (wc.opcode != IBV_WC_RECV);
	return (room[14] | room[15] << 8) >> 1;
}

static void must_succeed(struct rdma_cm_id *id, const char *what, uint32_t len)
{
	unsigned int status;

	send_capsule(id, len);
	status = await_response(id);
	if (!status)
		return;
	errno = EPROTO;
	die("%s: status %#x", what, status);
}

/* The command that was made, so many times */
static void send_commands(struct rdma_cm_id *id, int n)
{
	while (n--)
		send_capsule(id, COMMAND_LEN);
}

/* A queue with as many commands as it may have, and no receive for any response */
static struct rdma_cm_id *deaf_queue(struct addrinfo *where, struct sockaddr *from)
{
	const struct cm_req req = { .hrqsize = 1, .hsqsize = ADMIN_DEPTH - 1 };
	struct rdma_cm_id *id = connect_one(where, from, &req, 0);

	/* Property Get: there is no controller, which makes no difference */
	make_command(0x7f, 4);
	send_commands(id, ADMIN_DEPTH);
	return id;
}

static void __attribute__((noreturn))
deaf(struct addrinfo *where, int queues, struct sockaddr *from)
{
	while (queues--)
		deaf_queue(where, from);
	stay();
}

static void __attribute__((noreturn))
slow(struct addrinfo *where, int queues, struct sockaddr *from)
{
	struct rdma_cm_id *ids[SLOW_QUEUES];
	struct ibv_wc wc;
	int i;

	errno = EINVAL;
	if (queues < 1 || queues > SLOW_QUEUES)
		die("1 to %d queues", SLOW_QUEUES);
	for (i = 0; i < queues; i++)
		ids[i] = deaf_queue(where, from);
	say("ready");
	for (i = 0;; i = (i + 1) % queues) {
		post_receives(ids[i], 1);
		await_response(ids[i]);
		make_command(0x7f, 4);
		send_capsule(ids[i], COMMAND_LEN);
		while (ibv_poll_cq(ids[i]->qp->send_cq, 1, &wc))
			;
		usleep((useconds_t)(SLOW_US / queues));
	}
}

/* A queue, and Connect, yet to be sent; its data is right behind: host, controller, names */
static struct rdma_cm_id *ask_for_ctrl(struct addrinfo *where,
				       struct sockaddr *from, const char *nqn,
				       const struct cm_req *req, uint16_t cntlid,
				       int receives)
{
	struct rdma_cm_id *id = connect_one(where, from, req, receives);

	make_command(0x7f, 1);
	put(32, CONNECT_DATA, 4);
	put(39, 0x01, 1);
	put(42, req->qid, 2);
	put(44, req->hsqsize, 2);
	put(COMMAND_LEN, 0x5c, 1);
	put(COMMAND_LEN + 16, cntlid, 2);
	snprintf((char *)capsule + COMMAND_LEN + 256, 256, "%s", nqn);
	snprintf((char *)capsule + COMMAND_LEN + 512, 256, "%s-host", nqn);
	return id;
}

/* A queue that has its controller, a new one if it is an admin queue, and @receives left */
static struct rdma_cm_id *connect_nvme(struct addrinfo *where,
				       struct sockaddr *from, const char *nqn,
				       const struct cm_req *req, uint16_t *cntlid,
				       int receives)
{
	struct rdma_cm_id *id = ask_for_ctrl(where, from, nqn, req, *cntlid,
					     receives + 1);

	must_succeed(id, "Connect", COMMAND_LEN + CONNECT_DATA);
	*cntlid = (uint16_t)(room[0] | room[1] << 8);
	return id;
}

/* The admin queue of a new controller, which is enabled */
static struct rdma_cm_id *make_ctrl(struct addrinfo *where, struct sockaddr *from,
				    const char *nqn, uint16_t hsqsize,
				    uint16_t *cntlid, int receives)
{
	const struct cm_req req = { .hrqsize = ADMIN_DEPTH, .hsqsize = hsqsize };
	struct rdma_cm_id *id;

	*cntlid = 0xffff;
	id = connect_nvme(where, from, nqn, &req, cntlid, receives + 1);
	make_command(0x7f, 0);
	put(44, 0x14, 4);
	put(48, 0x460001, 8);
	must_succeed(id, "Property Set", COMMAND_LEN);
	return id;
}

/* In the capsule: the data goes to memory that the peer may write, whatever comes */
static void lend(struct rdma_cm_id *id, uint32_t len)
{
	static uint8_t lent[LOG_LEN];
	struct ibv_mr *mr = ibv_reg_mr(id->qp->pd, lent, len, IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		die("cannot register memory");
	put(24, (uintptr_t)lent, 8);
	put(32, len, 3);
	put(35, mr->rkey, 4);
}

static void __attribute__((noreturn))
logs(struct addrinfo *where, int queues, struct sockaddr *from)
{
	const uint32_t numd = LOG_LEN / 4 - 1;
	uint16_t cntlid;

	while (queues--) {
		struct rdma_cm_id *id = make_ctrl(where, from, DISCOVERY,
						  ADMIN_DEPTH - 1, &cntlid, 0);

		/* Get Log Page: discovery */
		make_command(0x02, 0);
		lend(id, LOG_LEN);
		put(40, 0x70 | numd << 16, 4);
		put(44, numd >> 16, 2);
		send_commands(id, WITHHELD);
	}
	stay();
}

/* I/O queues of a controller, each with the same command; @answers are taken */
static void __attribute__((noreturn))
io_queues(struct addrinfo *where, const char *nqn, int queues, struct sockaddr *from,
	  void (*make)(struct rdma_cm_id *id), int answers)
{
	struct cm_req req = { .hrqsize = ADMIN_DEPTH, .hsqsize = ADMIN_DEPTH - 1 };
	uint16_t cntlid;
	int i;

	make_ctrl(where, from, nqn, ADMIN_DEPTH - 1, &cntlid, 0);
	for (req.qid = 1; req.qid <= queues; req.qid++) {
		struct rdma_cm_id *id = connect_nvme(where, from, nqn, &req,
						     &cntlid, answers);

		make(id);
		for (i = 0; i < answers; i++)
			must_succeed(id, "I/O", COMMAND_LEN);
		send_commands(id, WITHHELD);
	}
	stay();
}

/* Of namespace 1, from its beginning */
static void make_read(struct rdma_cm_id *id)
{
	make_command(0x02, 0);
	put(4, 1, 4);
	lend(id, READ_LEN);
	put(48, READ_LEN / BLOCK_LEN - 1, 2);
}

/* Authentication Receive, of no security protocol that is known */
static void make_proof(struct rdma_cm_id *id)
{
	make_command(0x7f, 6);
	lend(id, READ_LEN);
	put(44, READ_LEN, 4);
}

static void __attribute__((noreturn))
ctrls(struct addrinfo *where, const char *nqn, int n, struct sockaddr *from)
{
	const struct cm_req req = { .hrqsize = ADMIN_DEPTH, .hsqsize = ADMIN_DEPTH - 1 };
	unsigned int status, last = 0;
	int refused = 0, i;

	for (i = 0; i < n; i++) {
		struct rdma_cm_id *id = ask_for_ctrl(where, from, nqn, &req, 0xffff, 3);

		send_capsule(id, COMMAND_LEN + CONNECT_DATA);
		status = await_response(id);
		if (status) {
			last = status;
			refused++;
			continue;
		}
		make_command(0x7f, 0);
		put(44, 0x14, 4);
		put(48, 0x460001, 8);
		must_succeed(id, "Property Set", COMMAND_LEN);
		make_command(0x18, 0);
		send_capsule(id, COMMAND_LEN);
		await_response(id);
	}
	printf("controllers %d refused %d status %#x\n", n - refused, refused, last);
	stay();
}

static void __attribute__((noreturn))
exceed(struct addrinfo *where, const char *nqn)
{
	const uint16_t hsqsize = 1;
	uint16_t cntlid;
	struct rdma_cm_id *id = make_ctrl(where, NULL, nqn, hsqsize, &cntlid,
					  DEPTH - 2);

	/* Asynchronous Event Requests: they are not answered */
	make_command(0x0c, 0);
	send_commands(id, hsqsize + 2);
	stay();
}

static void __attribute__((noreturn))
break_off(struct addrinfo *where, int queues)
{
	const struct cm_req req = { .qid = 1, .hrqsize = 2, .hsqsize = 1 };
	int i;

	make_command(0x01, 0);
	for (i = 0; i < queues; i++) {
		struct rdma_cm_id *id = connect_one(where, NULL, &req, 1);

		struct ibv_wc wc;

		send_part(id, SEND_LEN, 2 * PACKET_LEN);
		while (!ibv_poll_cq(id->qp->send_cq, 1, &wc))
			usleep(1000);
		errno = EPROTO;
		if (wc.status == IBV_WC_SUCCESS)
			die("all of the capsule has gone");
		if (rdma_disconnect(id))
			die("cannot disconnect");
		await(RDMA_CM_EVENT_DISCONNECTED);
		rdma_destroy_qp(id);
		rdma_destroy_id(id);
	}
	stay();
}

static int __attribute__((noreturn)) usage(void)
{
	fputs("usage: peer listen ADDRESS PORT reject STATUS|silent|leave\n"
	      "       peer connect ADDRESS PORT idle QUEUES|deaf|slow|exceed NQN|break QUEUES\n"
	      "       peer connect ADDRESS PORT logs QUEUES SOURCE|reads NQN QUEUES SOURCE\n"
	      "       peer connect ADDRESS PORT proofs|ctrls NQN QUEUES SOURCE\n",
	      stderr);
	exit(2);
}

static struct addrinfo *look_up(const char *host, const char *port)
{
	struct addrinfo *found;
	int ret = getaddrinfo(host, port,
			      &(struct addrinfo){ .ai_flags = AI_NUMERICHOST },
			      &found);

	if (!ret)
		return found;
	fprintf(stderr, "peer: %s port %s: %s\n", host, port ? port : "-",
		gai_strerror(ret));
	exit(2);
}

int main(int argc, char **argv)
{
	struct addrinfo *where;

	if (argc < 5)
		usage();
	where = look_up(argv[2], argv[3]);
	channel = rdma_create_event_channel();
	if (!channel)
		die("no event channel");

	if (!strcmp(argv[1], "connect")) {
		if (!strcmp(argv[4], "idle") && argc == 6)
			idle(where, atoi(argv[5]));
		if (!strcmp(argv[4], "deaf") && argc == 7)
			deaf(where, atoi(argv[5]), look_up(argv[6], NULL)->ai_addr);
		if (!strcmp(argv[4], "slow") && argc == 7)
			slow(where, atoi(argv[5]), look_up(argv[6], NULL)->ai_addr);
		if (!strcmp(argv[4], "logs") && argc == 7)
			logs(where, atoi(argv[5]), look_up(argv[6], NULL)->ai_addr);
		if (!strcmp(argv[4], "reads") && argc == 8)
			io_queues(where, argv[5], atoi(argv[6]),
				  look_up(argv[7], NULL)->ai_addr, make_read, 1);
		if (!strcmp(argv[4], "proofs") && argc == 8)
			io_queues(where, argv[5], atoi(argv[6]),
				  look_up(argv[7], NULL)->ai_addr, make_proof, 0);
		if (!strcmp(argv[4], "ctrls") && argc == 8)
			ctrls(where, argv[5], atoi(argv[6]), look_up(argv[7], NULL)->ai_addr);
		if (!strcmp(argv[4], "exceed") && argc == 6)
			exceed(where, argv[5]);
		if (!strcmp(argv[4], "break") && argc == 6)
			break_off(where, atoi(argv[5]));
	}
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
