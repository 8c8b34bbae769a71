/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections over iWARP: listeners and requests.
 *
 * One mutex, vrnic_iw_lock, protects all of it. Every call of the connection manager may
 * sleep, and an interrupt reports the end of a QP through a work. The upcalls, made with the
 * mutex held, only queue works of the core.
 */
#ifndef _VRNIC_IWARP_H
#define _VRNIC_IWARP_H

#include <rdma/iw_cm.h>
#include "vrnic.h"

extern struct mutex vrnic_iw_lock;

/* ---- iw_listen.c ---- */

/**
 * struct vrnic_listener - an address and port, on one device
 * @entry: in the list of listeners
 * @cm_id: the core's, with a reference of ours
 * @dev: the device
 * @backlog: how many requests may wait for the consumer's answer
 * @waiting: how many do
 */
struct vrnic_listener {
	struct list_head entry;
	struct iw_cm_id *cm_id;
	struct vrnic_dev *dev;
	int backlog;
	int waiting;
};

/* Whether something listens at an address, as the sender of a SYN learns it */
enum vrnic_answer {
	VRNIC_NO_ANSWER,
	VRNIC_REFUSED,
	VRNIC_LISTENS,
};

enum vrnic_answer vrnic_listener_find(const struct sockaddr_storage *addr,
				      struct vrnic_listener **found);
int vrnic_iw_create_listen(struct iw_cm_id *cm_id, int backlog);
int vrnic_iw_destroy_listen(struct iw_cm_id *cm_id);

/* ---- iw_conn.c ---- */

/* RFC 5044, 7.1: 512 bytes; RFC 6581, 9.1 uses 4 of these for IRD and ORD */
#define VRNIC_MPA_PRIVATE	(512 - 4)

enum vrnic_side {
	VRNIC_ACTIVE,
	VRNIC_PASSIVE,
};

enum vrnic_conn_state {
	VRNIC_CONN_SYN,		/* not answered yet */
	VRNIC_CONN_ASKED,	/* the listener's consumer has the request */
	VRNIC_CONN_UP,		/* one end may be gone already */
	VRNIC_CONN_OVER,
};

/**
 * struct vrnic_end - one side of a connection
 * @cm_id: the core's, with a reference of ours; NULL if the side has ended, or has
 *	not accepted yet
 * @qp: the QP, or NULL, like @cm_id
 * @ird: maximum number of RDMA READs that it answers at once
 * @ord: maximum number of RDMA READs that it starts at once
 */
struct vrnic_end {
	struct iw_cm_id *cm_id;
	struct vrnic_qp *qp;
	u32 ird;
	u32 ord;
};

/**
 * struct vrnic_conn - a connection
 * @refs: of the table, and of @work while it is queued
 * @id: in the table
 * @state: see there
 * @listener: the listener with the request, in VRNIC_CONN_ASKED; NULL once it has ended
 * @end: of each side
 * @local, @remote: addresses as the active side has them
 * @deadline: in jiffies
 * @work: looks for a listener, and checks the deadline
 * @len: length of @data
 * @data: private data of the request
 *
 * All under vrnic_iw_lock.
 */
struct vrnic_conn {
	struct kref refs;
	u32 id;
	enum vrnic_conn_state state;
	struct vrnic_listener *listener;
	struct vrnic_end end[2];
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	unsigned long deadline;
	struct delayed_work work;
	u16 len;
	u8 data[VRNIC_MPA_PRIVATE];
};

extern struct xarray vrnic_conns;

void vrnic_conn_wake(struct vrnic_conn *conn, unsigned long delay);
void vrnic_conn_sleep(struct vrnic_conn *conn);
void vrnic_conn_put(struct vrnic_conn *conn);
int vrnic_conn_tell(struct vrnic_conn *conn, enum vrnic_side side,
		    enum iw_cm_event_type type, int status, const void *data,
		    u16 len);
void vrnic_end_drop(struct vrnic_end *end);
void vrnic_conn_answered(struct vrnic_conn *conn);
void vrnic_conn_break_qp(struct vrnic_qp *qp);
void vrnic_conn_fail(struct vrnic_conn *conn, int status, const void *data,
		     u16 len);
bool vrnic_qp_works(const struct vrnic_qp *qp);
void vrnic_iw_forget(const struct vrnic_listener *listener);

#endif
