// SPDX-License-Identifier: GPL-2.0
/* Connections over iWARP: the calls of the connection manager; see iw_conn.c */

#include <linux/slab.h>
#include "iwarp.h"

#define SYN_WAIT	msecs_to_jiffies(100)
#define SYN_TIME	(10 * HZ)
#define REPLY_TIME	(20 * HZ)

/* How long TCP tries to send: 60 times 4.096 us * 2^16, which is 16 s */
#define SEND_TIMEOUT	16
#define SEND_TRIES	60

static u32 next_conn;

static int tell_request(struct vrnic_conn *conn, struct vrnic_listener *l)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = conn->remote,
		.remote_addr = conn->local,
		.private_data = conn->data,
		.private_data_len = conn->len,
		.provider_data = (void *)(uintptr_t)conn->id,
		.ird = conn->end[VRNIC_ACTIVE].ird,
		.ord = conn->end[VRNIC_ACTIVE].ord,
	};

	return l->cm_id->event_handler(l->cm_id, &event);
}

/* ---- the beginning ---- */

/* The QP that a call is about, with a reference; not connected yet */
static struct vrnic_qp *fresh_qp(struct iw_cm_id *cm_id,
				 const struct iw_cm_conn_param *param)
{
	struct vrnic_dev *dev = to_vdev(cm_id->device);
	struct vrnic_qp *qp;

	if (param->private_data_len > VRNIC_MPA_PRIVATE ||
	    param->ird > dev->config.max_rd_atom ||
	    param->ord > dev->config.max_rd_atom)
		return NULL;
	qp = vrnic_qp_find(param->qpn);
	if (qp && (qp->dev != dev || qp->ibqp.qp_type != IB_QPT_RC || qp->conn ||
		   READ_ONCE(qp->state) != IB_QPS_INIT)) {
		vrnic_qp_put(qp);
		qp = NULL;
	}
	return qp;
}

static void look_for_listener(struct vrnic_conn *conn)
{
	struct vrnic_listener *l;

	if (!vrnic_qp_works(conn->end[VRNIC_ACTIVE].qp))
		goto later;
	switch (vrnic_listener_find(&conn->remote, &l)) {
	case VRNIC_REFUSED:
		vrnic_conn_fail(conn, -ECONNREFUSED, NULL, 0);
		return;
	case VRNIC_NO_ANSWER:
		break;
	case VRNIC_LISTENS:
		if (tell_request(conn, l))
			break;
		conn->listener = l;
		l->waiting++;
		conn->state = VRNIC_CONN_ASKED;
		conn->deadline = jiffies + REPLY_TIME;
		vrnic_conn_wake(conn, REPLY_TIME);
		return;
	}
later:
	if (time_after_eq(jiffies, conn->deadline))
		vrnic_conn_fail(conn, -ETIMEDOUT, NULL, 0);
	else
		vrnic_conn_wake(conn, SYN_WAIT);
}

static void conn_work(struct work_struct *work)
{
	struct vrnic_conn *conn = container_of(to_delayed_work(work),
					       struct vrnic_conn, work);

	mutex_lock(&vrnic_iw_lock);
	if (conn->state == VRNIC_CONN_SYN)
		look_for_listener(conn);
	else if (conn->state == VRNIC_CONN_ASKED &&
		 time_after_eq(jiffies, conn->deadline))
		vrnic_conn_fail(conn, -ETIMEDOUT, NULL, 0);
	mutex_unlock(&vrnic_iw_lock);
	vrnic_conn_put(conn);
}

static struct vrnic_conn *conn_new(struct iw_cm_id *cm_id, struct vrnic_qp *qp,
				   const struct iw_cm_conn_param *param)
{
	struct vrnic_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	kref_init(&conn->refs);
	INIT_DELAYED_WORK(&conn->work, conn_work);
	conn->state = VRNIC_CONN_SYN;
	conn->local = cm_id->m_local_addr;
	conn->remote = cm_id->m_remote_addr;
	conn->deadline = jiffies + SYN_TIME;
	conn->len = param->private_data_len;
	memcpy(conn->data, param->private_data, conn->len);
	conn->end[VRNIC_ACTIVE] = (struct vrnic_end) {
		.cm_id = cm_id,
		.qp = qp,
		.ird = param->ird,
		.ord = param->ord,
	};
	return conn;
}

static int iw_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct vrnic_conn *conn;
	struct vrnic_qp *qp;
	int ret = -EINVAL;

	if (cm_id->m_local_addr.ss_family != cm_id->m_remote_addr.ss_family)
		return -EINVAL;
	mutex_lock(&vrnic_iw_lock);
	qp = fresh_qp(cm_id, param);
	if (!qp)
		goto out;
	conn = conn_new(cm_id, qp, param);
	ret = conn ? xa_alloc_cyclic(&vrnic_conns, &conn->id, conn, xa_limit_31b,
				     &next_conn, GFP_KERNEL) : -ENOMEM;
	if (ret < 0) {
		kfree(conn);
		vrnic_qp_put(qp);
		goto out;
	}
	cm_id->add_ref(cm_id);
	qp->conn = conn;
	vrnic_conn_wake(conn, 0);
	ret = 0;
out:
	mutex_unlock(&vrnic_iw_lock);
	return ret;
}

/* ---- the answer ---- */

static bool connect_qp(struct vrnic_end *end, const struct vrnic_end *peer)
{
	struct vrnic_qp *qp = end->qp;
	bool good;

	spin_lock_irq(&qp->sq_lock);
	spin_lock(&qp->resp_lock);
	good = qp->state == IB_QPS_INIT;
	if (good) {
		qp->attr.dest_qp_num = peer->qp->ibqp.qp_num;
		qp->attr.max_rd_atomic = end->ord;
		qp->attr.max_dest_rd_atomic = end->ird;
		qp->attr.timeout = SEND_TIMEOUT;
		qp->attr.retry_cnt = SEND_TRIES;
		qp->retry_left = SEND_TRIES;
		WRITE_ONCE(qp->state, IB_QPS_RTS);
	}
	spin_unlock(&qp->resp_lock);
	spin_unlock_irq(&qp->sq_lock);
	return good;
}

/* Neither side reads more at once than the other answers */
static void agree(struct vrnic_end *a, struct vrnic_end *b)
{
	a->ord = min(a->ord, b->ird);
	b->ord = min(b->ord, a->ird);
}

static int conn_accept(struct vrnic_conn *conn, struct iw_cm_id *cm_id,
		       const struct iw_cm_conn_param *param)
{
	struct vrnic_end *end = &conn->end[VRNIC_PASSIVE], *peer = &conn->end[VRNIC_ACTIVE];
	struct vrnic_qp *qp = fresh_qp(cm_id, param);

	if (!qp)
		return -EINVAL;
	*end = (struct vrnic_end) {
		.cm_id = cm_id,
		.qp = qp,
		.ird = param->ird,
		.ord = param->ord,
	};
	cm_id->add_ref(cm_id);
	agree(end, peer);
	if (!vrnic_qp_works(qp) || !vrnic_qp_works(peer->qp) || !connect_qp(end, peer)) {
		vrnic_end_drop(end);
		return -ECONNRESET;
	}
	if (!connect_qp(peer, end)) {
		vrnic_conn_break_qp(qp);
		vrnic_end_drop(end);
		return -ECONNRESET;
	}
	qp->conn = conn;
	conn->state = VRNIC_CONN_UP;
	vrnic_conn_answered(conn);
	vrnic_conn_sleep(conn);
	vrnic_conn_tell(conn, VRNIC_PASSIVE, IW_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	vrnic_conn_tell(conn, VRNIC_ACTIVE, IW_CM_EVENT_CONNECT_REPLY, 0,
			param->private_data, param->private_data_len);
	return 0;
}

/* The core's answer; NULL if it comes too late */
static struct vrnic_conn *asked(const struct iw_cm_id *cm_id)
{
	struct vrnic_conn *conn;

	lockdep_assert_held(&vrnic_iw_lock);
	conn = xa_load(&vrnic_conns, (uintptr_t)cm_id->provider_data);
	return conn && conn->state == VRNIC_CONN_ASKED ? conn : NULL;
}

static int iw_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct vrnic_conn *conn;
	int ret = -ECONNRESET;

	mutex_lock(&vrnic_iw_lock);
	conn = asked(cm_id);
	if (conn) {
		ret = conn_accept(conn, cm_id, param);
		if (ret)
			vrnic_conn_fail(conn, -ECONNRESET, NULL, 0);
	}
	mutex_unlock(&vrnic_iw_lock);
	return ret;
}

static int iw_reject(struct iw_cm_id *cm_id, const void *data, u8 len)
{
	struct vrnic_conn *conn;

	mutex_lock(&vrnic_iw_lock);
	conn = asked(cm_id);
	if (conn)
		vrnic_conn_fail(conn, -ECONNREFUSED, data, len);
	mutex_unlock(&vrnic_iw_lock);
	return conn ? 0 : -ECONNRESET;
}

/* ---- QPs, for the core ---- */

static void iw_add_ref(struct ib_qp *ibqp)
{
	refcount_inc(&to_vqp(ibqp)->refs);
}

static void iw_rem_ref(struct ib_qp *ibqp)
{
	vrnic_qp_put(to_vqp(ibqp));
}

/* The caller ensures that the QP stays */
static struct ib_qp *iw_get_qp(struct ib_device *ibdev, int qpn)
{
	struct vrnic_qp *qp = vrnic_qp_find(qpn);

	if (!qp)
		return NULL;
	vrnic_qp_put(qp);
	return qp->dev == to_vdev(ibdev) ? &qp->ibqp : NULL;
}

const struct ib_device_ops vrnic_iwarp_ops = {
	.iw_accept = iw_accept,
	.iw_add_ref = iw_add_ref,
	.iw_connect = iw_connect,
	.iw_create_listen = vrnic_iw_create_listen,
	.iw_destroy_listen = vrnic_iw_destroy_listen,
	.iw_get_qp = iw_get_qp,
	.iw_reject = iw_reject,
	.iw_rem_ref = iw_rem_ref,
};
