// SPDX-License-Identifier: GPL-2.0
/*
 * See conn.h. An error of the local machine ends the program with a message; what the peer
 * does is a result.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"
#include "../common/die.h"

#define RESOLVE_MS	slow_ms(5000)
/* How often the machine below is asked, which writes it some times a second */
#define STARVED_EVERY_US	100000

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	die_for("hostile", 1, fmt, args);
}

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Time that this guest has waited for a processor of the machine below, as that reports it */
static uint64_t starved_us(uint64_t now)
{
	static uint64_t starved, next;
	static int fd = -1;
	const char *path = getenv("VM_STARVED");
	char text[32] = "";

	if (!path || now < next)
		return starved;
	next = now + STARVED_EVERY_US;
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && pread(fd, text, sizeof(text) - 1, 0) > 0)
		starved = strtoull(text, NULL, 10) * 1000;
	return starved;
}

uint64_t now_ms(void)
{
	return now_us() / 1000;
}

uint64_t own_ms(void)
{
	static uint64_t latest;
	uint64_t now = now_us();
	uint64_t starved = starved_us(now);

	/* the event may be noticed late */
	if (now > latest + starved)
		latest = now - starved;
	return latest / 1000;
}

bool readable_until(int fd, uint64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now;

	do {
		now = own_ms();
		if (poll(&p, 1, now < until ? (int)(until - now) : 0) > 0)
			return true;
	} while (own_ms() < until);
	return false;
}

static int times(const char *variable)
{
	const char *value = getenv(variable);

	return value && atoi(value) > 0 ? atoi(value) : 1;
}

int slow_times(void)
{
	static int slow;

	if (!slow)
		slow = times("VM_SLOW");
	return slow;
}

int watched_times(void)
{
	return times("VM_WATCHED");
}

int slow_ms(int ms)
{
	return ms * slow_times();
}

int timer_ms(int ms)
{
	return ms * (slow_times() / watched_times());
}

struct addrinfo *look_up(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	int ret = getaddrinfo(host, port, &hints, &found);

	if (!ret)
		return found;
	fprintf(stderr, "hostile: %s port %s: %s\n", host, port ? port : "-",
		gai_strerror(ret));
	exit(2);
}

/* ---- memory ---- */

struct mem mem_make(struct conn *c, size_t len, int access)
{
	struct mem m = { .len = len };

	if (posix_memalign((void **)&m.at, 4096, len ? len : 1))
		die("no memory");
	memset(m.at, 0, len);
	m.mr = ibv_reg_mr(c->pd, m.at, len, access);
	if (!m.mr)
		die("cannot register %zu bytes", len);
	return m;
}

void mem_free(struct mem *m)
{
	if (m->mr && ibv_dereg_mr(m->mr))
		die("cannot take a registration back");
	free(m->at);
	memset(m, 0, sizeof(*m));
}

/* ---- events ---- */

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ret;

	do
		ret = poll(&p, 1, ms);
	while (ret < 0 && errno == EINTR);
	if (ret < 0)
		die("poll");
	return ret > 0;
}

struct rdma_cm_event *conn_next_event(struct rdma_event_channel *channel,
				      int ms)
{
	struct rdma_cm_event *event;

	if (!readable(channel->fd, ms))
		return NULL;
	if (rdma_get_cm_event(channel, &event))
		die("no event from the connection manager");
	return event;
}

static void remember(struct conn *c, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;

	c->answer_len = 0;
	if (param->private_data) {
		c->answer_len = param->private_data_len;
		memcpy(c->answer, param->private_data, c->answer_len);
	}
	c->reject_reason = event->event == RDMA_CM_EVENT_REJECTED ?
			   event->status : 0;
	if (event->event == RDMA_CM_EVENT_DISCONNECTED ||
	    event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		c->disconnected = true;
}

static enum conn_result await(struct conn *c, enum rdma_cm_event_type wanted,
			      int ms)
{
	struct rdma_cm_event *event = conn_next_event(c->channel, ms);
	enum rdma_cm_event_type came;

	if (!event)
		return CONN_TIMEOUT;
	came = event->event;
	remember(c, event);
	rdma_ack_cm_event(event);
	if (came == wanted)
		return CONN_OK;
	return came == RDMA_CM_EVENT_REJECTED ? CONN_REJECTED : CONN_ERROR;
}

/* Whether the peer or the fabric has reported an event of the connection */
bool conn_event_due(struct conn *c, int ms)
{
	struct rdma_cm_event *event = conn_next_event(c->channel, ms);

	if (!event)
		return false;
	remember(c, event);
	rdma_ack_cm_event(event);
	return true;
}

bool conn_wait_disconnected(struct conn *c, int ms)
{
	uint64_t end = own_ms() + ms, now;

	while (!c->disconnected && (now = own_ms()) < end)
		conn_event_due(c, (int)(end - now));
	return c->disconnected;
}

/* ---- connections ---- */

static void make_channel(struct conn *c)
{
	c->channel = rdma_create_event_channel();
	if (!c->channel)
		die("no event channel");
}

void conn_resolve(struct conn *c, const struct addrinfo *to,
		  const struct sockaddr *from)
{
	memset(c, 0, sizeof(*c));
	make_channel(c);
	if (rdma_create_id(c->channel, &c->id, c, RDMA_PS_TCP))
		die("no CM ID");
	if (rdma_resolve_addr(c->id, (struct sockaddr *)from, to->ai_addr,
			      RESOLVE_MS) ||
	    await(c, RDMA_CM_EVENT_ADDR_RESOLVED, 2 * RESOLVE_MS) != CONN_OK)
		die("cannot resolve the address");
	if (rdma_resolve_route(c->id, RESOLVE_MS) ||
	    await(c, RDMA_CM_EVENT_ROUTE_RESOLVED, 2 * RESOLVE_MS) != CONN_OK)
		die("cannot resolve the route");
	c->pd = ibv_alloc_pd(c->id->verbs);
	if (!c->pd)
		die("no protection domain");
}

static void make_cq(struct conn *c)
{
	c->cq = ibv_create_cq(c->id->verbs, 2 * CONN_WRS, NULL, NULL, 0);
	if (!c->cq)
		die("no completion queue");
}

/* Every send is signaled, so that each has an end that can be waited for */
static struct ibv_qp_init_attr qp_attr(const struct conn *c)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.send_cq = c->cq,
		.recv_cq = c->cq,
		.cap = { .max_send_wr = CONN_WRS, .max_recv_wr = CONN_WRS,
			 .max_send_sge = 4, .max_recv_sge = 2 },
	};
}

/* False if the peer has gone meanwhile, or the device has no room */
bool conn_try_qp(struct conn *c)
{
	struct ibv_qp_init_attr attr;

	make_cq(c);
	attr = qp_attr(c);
	if (rdma_create_qp(c->id, c->pd, &attr))
		return false;
	c->qp = c->id->qp;
	return true;
}

void conn_make_qp(struct conn *c)
{
	if (!conn_try_qp(c))
		die("no queue pair");
}

static void move_qp(struct conn *c, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(c->id, &attr, &mask))
		die("the connection manager has no attributes for a queue pair");
	/* the kernel's own, which are not of the verbs */
	mask &= IBV_QP_RATE_LIMIT | (IBV_QP_RATE_LIMIT - 1);
	errno = ibv_modify_qp(c->qp, &attr, mask);
	if (errno)
		die("cannot move a queue pair to state %d", state);
}

void conn_make_own_qp(struct conn *c)
{
	struct ibv_qp_init_attr attr;

	make_cq(c);
	attr = qp_attr(c);
	c->qp = ibv_create_qp(c->pd, &attr);
	if (!c->qp)
		die("no queue pair");
	move_qp(c, IBV_QPS_INIT);
}

static struct rdma_conn_param conn_param(const struct conn_how *how)
{
	return (struct rdma_conn_param){
		.private_data = how->private_data,
		.private_data_len = how->private_data_len,
		.responder_resources = how->no_reads ? 0 :
				       how->responder_resources ?: 1,
		.initiator_depth = how->no_reads ? 0 :
				   how->initiator_depth ?: 1,
		.retry_count = how->retry_count ?: 7,
		.rnr_retry_count = how->rnr_retry_count ?: 7,
	};
}

enum conn_result conn_connect(struct conn *c, const struct conn_how *how,
			      int ms)
{
	struct rdma_conn_param param = conn_param(how);

	if (rdma_connect(c->id, &param))
		die("cannot ask for a connection");
	return await(c, RDMA_CM_EVENT_ESTABLISHED, ms);
}

enum conn_result conn_ask(struct conn *c, const struct conn_how *how, int ms)
{
	struct rdma_conn_param param = conn_param(how);
	enum conn_result result;

	param.qp_num = how->foreign_qpn ?: c->qp->qp_num;
	if (rdma_connect(c->id, &param))
		die("cannot ask for a connection");
	result = await(c, RDMA_CM_EVENT_CONNECT_RESPONSE, ms);
	if (result == CONN_OK && c->qp) {
		move_qp(c, IBV_QPS_INIT);
		move_qp(c, IBV_QPS_RTR);
		move_qp(c, IBV_QPS_RTS);
	}
	return result;
}

/* False if the connection has ended meanwhile */
bool conn_establish(struct conn *c)
{
	return !rdma_establish(c->id);
}

struct rdma_cm_id *conn_listen(struct rdma_event_channel *channel,
			       const struct addrinfo *where)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("no CM ID");
	if (rdma_bind_addr(id, where->ai_addr) || rdma_listen(id, 128))
		die("cannot listen");
	return id;
}

/* A requested connection: with its own events from now on, and no QP yet */
void conn_take(struct conn *c, struct rdma_cm_id *id)
{
	memset(c, 0, sizeof(*c));
	make_channel(c);
	if (rdma_migrate_id(id, c->channel))
		die("cannot move a CM ID");
	c->id = id;
	id->context = c;
	c->pd = ibv_alloc_pd(id->verbs);
	if (!c->pd)
		die("no protection domain");
}

enum conn_result conn_accept(struct conn *c, const struct conn_how *how,
			     int ms)
{
	struct rdma_conn_param param = conn_param(how);

	if (rdma_accept(c->id, &param))
		die("cannot accept");
	return await(c, RDMA_CM_EVENT_ESTABLISHED, ms);
}

void conn_drop_qp(struct conn *c)
{
	if (!c->qp)
		return;
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	else if (ibv_destroy_qp(c->qp))
		die("cannot destroy a queue pair");
	c->qp = NULL;
}

/* Without a word to the peer if it is still connected: the caller disconnects */
void conn_close(struct conn *c)
{
	conn_drop_qp(c);
	if (c->cq && ibv_destroy_cq(c->cq))
		die("cannot destroy a completion queue");
	if (c->pd && ibv_dealloc_pd(c->pd))
		die("cannot free a protection domain: is its memory still registered?");
	if (c->id && rdma_destroy_id(c->id))
		die("cannot destroy a CM ID");
	if (c->channel)
		rdma_destroy_event_channel(c->channel);
	memset(c, 0, sizeof(*c));
}

/* ---- work requests ---- */

void conn_recv(struct conn *c, uint64_t wr_id, struct mem *m, size_t offset,
	       size_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)m->at + offset,
			       .length = (uint32_t)len, .lkey = m->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge,
				  .num_sge = len ? 1 : 0 }, *bad;

	errno = ibv_post_recv(c->qp, &wr, &bad);
	if (errno)
		die("cannot post a receive");
}

void conn_post(struct conn *c, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(c->qp, wr, &bad);
	if (errno)
		die("cannot post a send");
}

void conn_send(struct conn *c, uint64_t wr_id, struct mem *m, size_t offset,
	       size_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)m->at + offset,
			       .length = (uint32_t)len, .lkey = m->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = &sge,
				  .num_sge = len ? 1 : 0,
				  .opcode = IBV_WR_SEND };

	conn_post(c, &wr);
}

bool conn_poll(struct conn *c, struct ibv_wc *wc, int ms)
{
	uint64_t end = own_ms() + ms;

	for (;;) {
		int n = ibv_poll_cq(c->cq, 1, wc);

		if (n < 0)
			die("cannot poll a completion queue");
		if (n)
			return true;
		if (own_ms() >= end)
			return false;
		usleep(500);
	}
}
