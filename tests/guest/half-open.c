// SPDX-License-Identifier: GPL-2.0
/*
 * half-open COUNT ADDRESS SERVICE [SOURCE]: a host that asks for connections and
 * then says nothing: no Connect, ever.
 *
 * Opens COUNT of them, one after another, from SOURCE if that is given; prints
 * "open N refused M status S", S being the status of the last refusal, -1
 * without one; then holds them until it is told to end on standard input, or
 * until the target has closed all of them, and prints "closed N".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#define TIMEOUT_MS	5000
#define ADMIN_DEPTH	32

/* NVMe/RDMA transport specification, RDMA_CM_REQUEST and RDMA_CM_REJECT */
struct cm_request {
	uint16_t recfmt;
	uint16_t qid;
	uint16_t hrqsize;
	uint16_t hsqsize;
	uint8_t  reserved[24];
};

struct cm_reject {
	uint16_t recfmt;
	uint16_t sts;
};

static int last_status = -1;

static void die(const char *what)
{
	fprintf(stderr, "half-open: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void note_refusal(const struct rdma_cm_event *event)
{
	struct cm_reject rej;

	if (!event || event->event != RDMA_CM_EVENT_REJECTED ||
	    event->param.conn.private_data_len < sizeof(rej)) {
		last_status = 0;
		return;
	}
	memcpy(&rej, event->param.conn.private_data, sizeof(rej));
	last_status = rej.sts;
}

static struct rdma_cm_id *open_one(struct sockaddr *from, struct sockaddr *to)
{
	/* little endian, as everything that the kernel's soft-RoCE runs on here */
	struct cm_request req = {
		.hrqsize = ADMIN_DEPTH,
		.hsqsize = ADMIN_DEPTH - 1,
	};
	struct rdma_conn_param param = {
		.private_data		= &req,
		.private_data_len	= sizeof(req),
		.responder_resources	= 1,
		.initiator_depth	= 1,
		.retry_count		= 7,
		.rnr_retry_count	= 7,
	};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_cm_id *id;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_resolve_addr(id, from, to, TIMEOUT_MS))
		die("rdma_resolve_addr");
	if (rdma_resolve_route(id, TIMEOUT_MS))
		die("rdma_resolve_route");
	if (rdma_create_qp(id, NULL, &attr))
		die("rdma_create_qp");
	if (!rdma_connect(id, &param))
		return id;

	note_refusal(id->event);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	return NULL;
}

static void close_one(struct rdma_cm_id *id)
{
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

static int was_closed(struct rdma_cm_id *id)
{
	struct pollfd fd = { .fd = id->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int closed;

	if (poll(&fd, 1, 0) <= 0 || rdma_get_cm_event(id->channel, &event))
		return 0;
	closed = event->event == RDMA_CM_EVENT_DISCONNECTED;
	rdma_ack_cm_event(event);
	return closed;
}

static struct addrinfo *look_up(const char *host, const char *service)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found;
	int err = getaddrinfo(host, service, &hints, &found);

	if (err) {
		fprintf(stderr, "half-open: \"%s\" is no address: %s\n", host,
			gai_strerror(err));
		exit(2);
	}
	return found;
}

int main(int argc, char **argv)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct addrinfo *from = NULL, *to;
	int count = argc > 1 ? atoi(argv[1]) : 0;
	int i, open = 0, refused = 0, closed = 0;
	struct rdma_cm_id **ids;

	if (argc < 4 || count < 1) {
		fprintf(stderr, "usage: half-open COUNT ADDRESS SERVICE [SOURCE]\n");
		return 2;
	}
	to = look_up(argv[2], argv[3]);
	if (argc > 4)
		from = look_up(argv[4], NULL);
	ids = calloc((size_t)count, sizeof(*ids));
	if (!ids)
		die("memory");

	for (i = 0; i < count; i++) {
		ids[open] = open_one(from ? from->ai_addr : NULL, to->ai_addr);
		if (ids[open])
			open++;
		else
			refused++;
	}
	printf("open %d refused %d status %d\n", open, refused, last_status);
	fflush(stdout);

	while (closed < open && poll(&in, 1, 50) <= 0) {
		for (i = 0; i < open; i++) {
			if (!ids[i] || !was_closed(ids[i]))
				continue;
			close_one(ids[i]);
			ids[i] = NULL;
			closed++;
		}
	}
	printf("closed %d\n", closed);
	for (i = 0; i < open; i++) {
		if (ids[i])
			close_one(ids[i]);
	}
	free(ids);
	freeaddrinfo(to);
	if (from)
		freeaddrinfo(from);
	return 0;
}
