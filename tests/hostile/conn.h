/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of a peer that may break any rule: librdmacm and libibverbs with deadlines, and
 * without checks that would keep an error from being sent.
 *
 * Each connection has its own event channel, protection domain, completion queue and queue
 * pair. One thread; each wait has a deadline.
 */
#ifndef HOSTILE_CONN_H
#define HOSTILE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netdb.h>
#include <rdma/rdma_cma.h>

/* Limits of outstanding work requests and operations of a queue pair */
#define CONN_WRS	1024

/* How an attempt to connect, or a wait for an event, has ended */
enum conn_result {
	CONN_OK,
	CONN_REJECTED,	/* by the peer; see reject_reason and answer */
	CONN_ERROR,	/* otherwise refused: unreachable, unresolved, ... */
	CONN_TIMEOUT,
};

/* Memory that the device may access */
struct mem {
	uint8_t *at;
	size_t len;
	struct ibv_mr *mr;
};

/* How to connect or accept; zeroes are the values of a well-behaved peer */
struct conn_how {
	const void *private_data;
	uint8_t private_data_len;
	uint8_t responder_resources;	/* 0: 1 */
	uint8_t initiator_depth;	/* 0: 1 */
	bool no_reads;			/* both really 0 */
	uint8_t rnr_retry_count;	/* 0: 7, which is for ever */
	uint8_t retry_count;		/* 0: 7 */
	uint32_t foreign_qpn;		/* conn_ask(): a queue pair that is not ours */
};

struct conn {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	/* of the last CM event: private data, and the reason of a rejection */
	uint8_t answer[256];
	uint8_t answer_len;
	int reject_reason;
	bool disconnected;
};

void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...);
/* Of a clock that only goes forward */
uint64_t now_us(void);
uint64_t now_ms(void);
/*
 * The same for deadlines: time in which this guest was not given a processor does not
 * pass. It does not pass evenly, so that it is nothing to measure with, nor to wait by.
 */
uint64_t own_ms(void);
/* Whether there is something to be read until then, of own_ms() */
bool readable_until(int fd, uint64_t until);
/* So many times as slow is this machine, or a kernel that watches itself */
int slow_times(void);
/* So many times as much memory takes a kernel that watches itself; else 1 */
int watched_times(void);
/* A deadline, which is longer on a slow machine and on a kernel that watches itself */
int slow_ms(int ms);
/*
 * A delay that has to stay longer or shorter than a timer of the kernel. Scenarios multiply
 * such timers by MACHINE_SLOW, which a kernel that watches itself does not change.
 */
int timer_ms(int ms);
struct addrinfo *look_up(const char *host, const char *port);

/* ---- memory ---- */

struct mem mem_make(struct conn *c, size_t len, int access);
void mem_free(struct mem *m);

/* ---- a connection that we ask for ---- */

void conn_resolve(struct conn *c, const struct addrinfo *to,
		  const struct sockaddr *from);
bool conn_try_qp(struct conn *c);
void conn_make_qp(struct conn *c);
/* One that the connection manager does not know, for conn_ask() */
void conn_make_own_qp(struct conn *c);
/* As conn_connect(), but the answer is not confirmed: conn_establish() does that */
enum conn_result conn_ask(struct conn *c, const struct conn_how *how, int ms);
bool conn_establish(struct conn *c);
enum conn_result conn_connect(struct conn *c, const struct conn_how *how,
			      int ms);

/* ---- connections that we are asked for ---- */

struct rdma_cm_id *conn_listen(struct rdma_event_channel *channel,
			       const struct addrinfo *where);
struct rdma_cm_event *conn_next_event(struct rdma_event_channel *channel,
				      int ms);
void conn_take(struct conn *c, struct rdma_cm_id *id);
enum conn_result conn_accept(struct conn *c, const struct conn_how *how,
			     int ms);

/* ---- both ---- */

bool conn_event_due(struct conn *c, int ms);
bool conn_wait_disconnected(struct conn *c, int ms);
/* Its memory can be freed then */
void conn_drop_qp(struct conn *c);
void conn_close(struct conn *c);

/* ---- work requests ---- */

/* They die if the verbs refuse to post; what becomes of them is in a completion */
void conn_recv(struct conn *c, uint64_t wr_id, struct mem *m, size_t offset,
	       size_t len);
void conn_send(struct conn *c, uint64_t wr_id, struct mem *m, size_t offset,
	       size_t len);
void conn_post(struct conn *c, struct ibv_send_wr *wr);
/* False if none came in time */
bool conn_poll(struct conn *c, struct ibv_wc *wc, int ms);

#endif /* HOSTILE_CONN_H */
