// SPDX-License-Identifier: GPL-2.0
/*
 * Connections over iWARP, as MPA sets them up on top of TCP, and their end.
 *
 * Operation: iw_connect starts a connection and returns. A work looks for a listener,
 * repeatedly like a SYN if nothing answers, and passes it the request. The listener's consumer
 * accepts or rejects it, and the active side is notified; accepting moves both QPs to RTS. A
 * connection ends when a QP leaves RTS: its side gets CLOSE, and the peer, whose QP goes into
 * the error state, gets DISCONNECT and CLOSE. If the wire is down then, the peer learns
 * nothing: its end stays until its consumer closes it, or sends when the wire is up again and
 * is answered by a reset (vrnic_iw_reset()).
 *
 * Each successful iw_connect gets one CONNECT_REPLY, each iw_accept one ESTABLISHED, and each
 * connected side one CLOSE; the core relies on that and waits. An end holds references on its
 * cm_id and its QP until then.
 *
 * The core identifies a request by its number and not by an address: it may drop a request
 * without ever answering it.
 */

#include <linux/slab.h>
#include "iwarp.h"

/* See iwarp.h */
DEFINE_MUTEX(vrnic_iw_lock);

DEFINE_XARRAY_ALLOC1(vrnic_conns);

static void conn_free(struct kref *refs)
{
	kfree(container_of(refs, struct vrnic_conn, refs));
}

/**
 * vrnic_conn_put() - one reference less
 * @conn: the connection
 */
void vrnic_conn_put(struct vrnic_conn *conn)
{
	kref_put(&conn->refs, conn_free);
}

/**
 * vrnic_conn_wake() - have a connection looked after
 * @conn: the connection
 * @delay: in jiffies; any time that was set before is forgotten
 *
 * Context: vrnic_iw_lock is held.
 */
void vrnic_conn_wake(struct vrnic_conn *conn, unsigned long delay)
{
	if (!mod_delayed_work(vrnic_wq, &conn->work, delay))
		kref_get(&conn->refs);
}

/**
 * vrnic_conn_sleep() - no more look after a connection
 * @conn: the connection
 *
 * Context: vrnic_iw_lock is held.
 */
void vrnic_conn_sleep(struct vrnic_conn *conn)
{
	if (cancel_delayed_work(&conn->work))
		vrnic_conn_put(conn);
}

/* ---- upcalls ---- */

/**
 * vrnic_conn_tell() - report an event to one side
 * @conn: the connection
 * @side: a side with a cm_id
 * @type: the event
 * @status: 0 or a negative errno
 * @data: private data, or NULL
 * @len: length of @data
 *
 * Context: vrnic_iw_lock is held.
 * Return: the core's return value
 */
int vrnic_conn_tell(struct vrnic_conn *conn, enum vrnic_side side,
		    enum iw_cm_event_type type, int status, const void *data,
		    u16 len)
{
	const struct vrnic_end *end = &conn->end[side];
	struct iw_cm_event event = {
		.event = type,
		.status = status,
		.local_addr = conn->local,
		.remote_addr = conn->remote,
		.private_data = (void *)data,
		.private_data_len = len,
		.ird = end->ird,
		.ord = end->ord,
	};

	return end->cm_id->event_handler(end->cm_id, &event);
}

/* ---- the end ---- */

/**
 * vrnic_end_drop() - a side is through
 * @end: it
 *
 * Context: vrnic_iw_lock is held.
 */
void vrnic_end_drop(struct vrnic_end *end)
{
	if (!end->qp)
		return;
	end->qp->conn = NULL;
	vrnic_qp_put(end->qp);
	end->cm_id->rem_ref(end->cm_id);
	memset(end, 0, sizeof(*end));
}

/**
 * vrnic_conn_answered() - a request waits for its listener no more
 * @conn: it
 *
 * Context: vrnic_iw_lock is held.
 */
void vrnic_conn_answered(struct vrnic_conn *conn)
{
	if (conn->listener)
		conn->listener->waiting--;
	conn->listener = NULL;
}

static void conn_over(struct vrnic_conn *conn)
{
	vrnic_conn_answered(conn);
	conn->state = VRNIC_CONN_OVER;
	xa_erase(&vrnic_conns, conn->id);
	vrnic_conn_sleep(conn);
	vrnic_conn_put(conn);
}

/**
 * vrnic_conn_break_qp() - end a QP's connection
 * @qp: the QP
 *
 * Context: vrnic_iw_lock is held.
 */
void vrnic_conn_break_qp(struct vrnic_qp *qp)
{
	spin_lock_irq(&qp->sq_lock);
	vrnic_qp_error(qp);
	spin_unlock_irq(&qp->sq_lock);
}

/**
 * vrnic_conn_fail() - let the setup of a connection fail
 * @conn: the connection, which only has its active end
 * @status: reported to the active side
 * @data: private data for the active side
 * @len: length of @data
 *
 * Context: vrnic_iw_lock is held.
 */
void vrnic_conn_fail(struct vrnic_conn *conn, int status, const void *data,
		     u16 len)
{
	struct vrnic_end *end = &conn->end[VRNIC_ACTIVE];

	lockdep_assert_held(&vrnic_iw_lock);
	vrnic_conn_tell(conn, VRNIC_ACTIVE, IW_CM_EVENT_CONNECT_REPLY, status, data, len);
	vrnic_conn_break_qp(end->qp);
	vrnic_end_drop(end);
	conn_over(conn);
}

/**
 * vrnic_qp_works() - whether a QP's end of the wire is good
 * @qp: it
 *
 * Context: any.
 * Return: whether it is
 */
bool vrnic_qp_works(const struct vrnic_qp *qp)
{
	return READ_ONCE(qp->dev->up) && !READ_ONCE(qp->dev->dead);
}

/* One side has closed it, in whatever way */
static void conn_close(struct vrnic_conn *conn, enum vrnic_side side)
{
	struct vrnic_end *own = &conn->end[side], *peer = &conn->end[!side];
	bool wire = peer->qp && vrnic_qp_works(own->qp) && vrnic_qp_works(peer->qp);

	lockdep_assert_held(&vrnic_iw_lock);
	vrnic_conn_tell(conn, side, IW_CM_EVENT_CLOSE, 0, NULL, 0);
	vrnic_end_drop(own);
	if (peer->qp && !wire)
		return;
	if (peer->qp) {
		vrnic_conn_break_qp(peer->qp);
		vrnic_conn_tell(conn, !side, IW_CM_EVENT_DISCONNECT, 0, NULL, 0);
		vrnic_conn_tell(conn, !side, IW_CM_EVENT_CLOSE, 0, NULL, 0);
		vrnic_end_drop(peer);
	}
	conn_over(conn);
}

static void qp_is_out(struct vrnic_qp *qp)
{
	struct vrnic_conn *conn;

	mutex_lock(&vrnic_iw_lock);
	conn = qp->conn;
	if (conn && conn->state == VRNIC_CONN_UP)
		conn_close(conn, conn->end[VRNIC_PASSIVE].qp == qp);
	else if (conn)
		vrnic_conn_fail(conn, -ECONNABORTED, NULL, 0);
	mutex_unlock(&vrnic_iw_lock);
}

static void qp_broke(struct work_struct *work)
{
	struct vrnic_qp *qp = container_of(work, struct vrnic_qp, iw_work);

	qp_is_out(qp);
	vrnic_qp_put(qp);
}

/**
 * vrnic_iw_init_qp() - initialize a QP's part of its connection
 * @qp: the QP
 */
void vrnic_iw_init_qp(struct vrnic_qp *qp)
{
	INIT_WORK(&qp->iw_work, qp_broke);
}

/**
 * vrnic_iw_broke() - a QP went into the error state
 * @qp: it
 *
 * Context: any.
 */
void vrnic_iw_broke(struct vrnic_qp *qp)
{
	if (!vrnic_qp_get(qp))
		return;
	if (!queue_work(vrnic_wq, &qp->iw_work))
		vrnic_qp_put(qp);
}

/**
 * vrnic_iw_end() - a QP is reset, or destroyed
 * @qp: it
 *
 * Context: may sleep.
 */
void vrnic_iw_end(struct vrnic_qp *qp)
{
	qp_is_out(qp);
	if (cancel_work_sync(&qp->iw_work))
		vrnic_qp_put(qp);
}

/**
 * vrnic_iw_reset() - whether the peer answers with a reset
 * @qp: the sending QP, whose peer does not accept the message
 *
 * Context: any; interrupts are off, sq_lock is held.
 * Return: true if the wire is up and the peer's end is gone; false if there is
 * no answer
 */
bool vrnic_iw_reset(const struct vrnic_qp *qp)
{
	struct vrnic_qp *peer;
	bool reset;

	if (!vrnic_qp_works(qp))
		return false;
	peer = vrnic_qp_find(qp->attr.dest_qp_num);
	if (!peer)
		return true;
	reset = vrnic_qp_works(peer) &&
		(peer->attr.dest_qp_num != qp->ibqp.qp_num ||
		 READ_ONCE(peer->state) != IB_QPS_RTS);
	vrnic_qp_put(peer);
	return reset;
}

/**
 * vrnic_iw_forget() - a listener goes
 * @listener: it
 *
 * Context: vrnic_iw_lock is held.
 */
void vrnic_iw_forget(const struct vrnic_listener *listener)
{
	struct vrnic_conn *conn;
	unsigned long id;

	lockdep_assert_held(&vrnic_iw_lock);
	xa_for_each(&vrnic_conns, id, conn) {
		if (conn->listener == listener)
			conn->listener = NULL;
	}
}
