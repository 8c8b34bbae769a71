// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: creation, changes of state, destruction.
 *
 * The state changes under both sq_lock and resp_lock, so that either is enough to rely on it.
 * A QP goes into the error state because its consumer requests it; its connection over iWARP
 * ended (iwarp.c); a fault requires it (fault.c); its own work request failed (under sq_lock,
 * in send.c); or a peer's message broke a rule. In the last case the peer holds its own
 * sq_lock and our resp_lock, and must not take our sq_lock: from then on no more messages are
 * accepted (resp_dead), and an interrupt does the rest (vrnic_qp_die()).
 *
 * A QP that is destroyed is first removed from the table, then moved to RESET, in which no
 * work starts. Then destruction waits for its timers and interrupts, and last for its
 * references.
 */

#include <linux/slab.h>
#include "vrnic.h"

/* Numbers are not reused soon: a late message finds no QP */
static DEFINE_XARRAY_ALLOC1(qps);
static u32 next_qpn;
static unsigned long qps_gone;
#define FIRST_QPN	0x100
#define LAST_QPN	0xfffff

/**
 * vrnic_qp_find() - a QP by its number, of any device
 * @qpn: not 0 or 1, which each port has
 *
 * Context: any.
 * Return: it with a reference, or NULL
 */
struct vrnic_qp *vrnic_qp_find(u32 qpn)
{
	struct vrnic_qp *qp;

	rcu_read_lock();
	qp = xa_load(&qps, qpn);
	if (qp && !vrnic_qp_get(qp))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/**
 * vrnic_qp_find_peer() - the QP that another one is connected to
 * @qp: the other one, which caches the result
 *
 * A cached result is valid until any QP is destroyed: removal from the table increments a
 * count before it waits for RCU, and frees the QP after that. So if the count has not changed
 * since the lookup, within RCU, the QP still exists.
 *
 * Context: any; @qp's sq_lock is held.
 * Return: it with a reference, or NULL
 */
struct vrnic_qp *vrnic_qp_find_peer(struct vrnic_qp *qp)
{
	struct vrnic_qp *peer = qp->peer;
	unsigned long gone;

	rcu_read_lock();
	gone = smp_load_acquire(&qps_gone);	/* pairs with destroy_qp */
	if (unlikely(!peer || qp->peer_gone != gone ||
		     peer->ibqp.qp_num != qp->attr.dest_qp_num)) {
		peer = xa_load(&qps, qp->attr.dest_qp_num);
		qp->peer = peer;
		qp->peer_gone = gone;
	}
	if (peer && !vrnic_qp_get(peer))
		peer = NULL;
	rcu_read_unlock();
	return peer;
}

/**
 * vrnic_qp_next() - choose the number of the next QP
 * @qpn: which it has, unless another has it
 *
 * Return: 0, or -EINVAL
 */
int vrnic_qp_next(u32 qpn)
{
	if (qpn < FIRST_QPN || qpn > LAST_QPN)
		return -EINVAL;
	WRITE_ONCE(next_qpn, qpn);
	return 0;
}

static bool is_special(enum ib_qp_type type)
{
	return type == IB_QPT_GSI || type == IB_QPT_SMI;
}

static int check_caps(const struct vrnic_config *config,
		      const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;
	/* The RDMA core's own QP may exceed the device's limit: it has at least 64 */
	u32 max_wr = is_special(attr->qp_type) ? U32_MAX : config->max_qp_wr;

	if (cap->max_send_wr > max_wr ||
	    cap->max_send_sge > config->max_send_sge ||
	    cap->max_inline_data > config->max_inline ||
	    !attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (!attr->srq && (cap->max_recv_wr > max_wr ||
			   cap->max_recv_sge > config->max_recv_sge))
		return -EINVAL;
	return 0;
}

static int make_number(struct vrnic_qp *qp, enum ib_qp_type type)
{
	int ret;

	if (type == IB_QPT_SMI) {
		qp->ibqp.qp_num = 0;
		return 0;
	}
	if (type == IB_QPT_GSI) {
		if (rcu_access_pointer(qp->dev->gsi))
			return -EBUSY;
		qp->ibqp.qp_num = 1;
		rcu_assign_pointer(qp->dev->gsi, qp);
		return 0;
	}
	ret = xa_alloc_cyclic(&qps, &qp->ibqp.qp_num, qp,
			      XA_LIMIT(FIRST_QPN, LAST_QPN), &next_qpn,
			      GFP_KERNEL);
	return min(ret, 0);
}

static enum hrtimer_restart qp_try_again(struct hrtimer *timer)
{
	struct vrnic_qp *qp = container_of(timer, struct vrnic_qp, timer);
	unsigned long flags;

	spin_lock_irqsave(&qp->sq_lock, flags);
	qp->sq_waits = false;
	vrnic_sq_run(qp);
	spin_unlock_irqrestore(&qp->sq_lock, flags);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart qp_acknowledge(struct hrtimer *timer)
{
	struct vrnic_qp *qp = container_of(timer, struct vrnic_qp, ack_timer);
	unsigned long flags;

	spin_lock_irqsave(&qp->sq_lock, flags);
	qp->wire.now = ktime_get();
	vrnic_sq_ack(qp, 0);
	spin_unlock_irqrestore(&qp->sq_lock, flags);
	return HRTIMER_NORESTART;
}

static void qp_dies(struct irq_work *work)
{
	struct vrnic_qp *qp = container_of(work, struct vrnic_qp, die);
	unsigned long flags;

	spin_lock_irqsave(&qp->sq_lock, flags);
	vrnic_qp_error(qp);
	spin_unlock_irqrestore(&qp->sq_lock, flags);
	if (qp->die_event != VRNIC_NO_EVENT)
		vrnic_event_qp(qp, qp->die_event);
}

static void init_locks_and_timers(struct vrnic_qp *qp)
{
	refcount_set(&qp->refs, 1);
	init_completion(&qp->freed);
	spin_lock_init(&qp->sq_lock);
	spin_lock_init(&qp->resp_lock);
	hrtimer_setup(&qp->timer, qp_try_again, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	hrtimer_setup(&qp->ack_timer, qp_acknowledge, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	qp->die = IRQ_WORK_INIT(qp_dies);
	vrnic_wire_init(qp);
	vrnic_iw_init_qp(qp);
	vrnic_hold_init(qp);
}

int vrnic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata)
{
	struct vrnic_dev *dev = to_vdev(ibqp->device);
	struct vrnic_qp *qp = to_vqp(ibqp);
	struct vrnic_fault_hit hit;
	u32 entries, room;
	int ret;

	if (udata || (attr->create_flags & ~IB_QP_CREATE_INTEGRITY_EN) ||
	    (attr->qp_type != IB_QPT_RC && attr->qp_type != IB_QPT_UD &&
	     attr->qp_type != IB_QPT_GSI && attr->qp_type != IB_QPT_SMI))
		return -EOPNOTSUPP;
	if ((attr->create_flags & IB_QP_CREATE_INTEGRITY_EN) &&
	    !dev->config.integrity)
		return -EOPNOTSUPP;
	ret = check_caps(&dev->config, attr);
	if (ret)
		return ret;
	if (vrnic_fault(dev, VRNIC_FAULT_MAKE, VRNIC_MAKE_QP, NULL, &hit))
		return -hit.arg;
	if (!atomic_add_unless(&dev->nr_qps, 1, dev->config.max_qp))
		return -ENOMEM;
	qp->dev = dev;
	qp->cap = attr->cap;
	qp->sq_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	qp->attr.qp_state = IB_QPS_RESET;
	qp->good_memory = U64_MAX;
	init_locks_and_timers(qp);

	ret = -ENOMEM;
	entries = roundup_pow_of_two(max(attr->cap.max_send_wr, 1U));
	room = max_t(u32, attr->cap.max_inline_data,
		     attr->cap.max_send_sge * sizeof(struct ib_sge));
	qp->sq_mask = entries - 1;
	qp->sq_stride = ALIGN(sizeof(struct vrnic_swqe) + room, 8);
	qp->sq_ring = kvcalloc(entries, qp->sq_stride, GFP_KERNEL);
	if (!qp->sq_ring)
		goto err_count;
	if (!attr->srq) {
		ret = vrnic_rq_init(&qp->rq, attr->cap.max_recv_wr,
				    attr->cap.max_recv_sge);
		if (ret)
			goto err_sq;
	}
	mutex_lock(&dev->obj_lock);
	list_add_tail(&qp->entry, &dev->qps);
	vrnic_cq_used(to_vcq(ibqp->send_cq), qp);
	vrnic_cq_used(to_vcq(ibqp->recv_cq), qp);
	mutex_unlock(&dev->obj_lock);
	ret = make_number(qp, attr->qp_type);
	if (ret)
		goto err_list;
	return 0;

err_list:
	mutex_lock(&dev->obj_lock);
	list_del(&qp->entry);
	mutex_unlock(&dev->obj_lock);
	if (!attr->srq)
		vrnic_rq_free(&qp->rq);
err_sq:
	kvfree(qp->sq_ring);
err_count:
	atomic_dec(&dev->nr_qps);
	return ret;
}

/* No work of the QP is executed, and no message is accepted any more */
static void qp_reset(struct vrnic_qp *qp)
{
	spin_lock_irq(&qp->sq_lock);
	spin_lock(&qp->resp_lock);
	qp->state = IB_QPS_RESET;
	qp->resp_dead = false;
	qp->comm_est = false;
	qp->sq_waits = false;
	qp->sq_next = qp->sq_head;
	qp->sq_acked = qp->sq_head;
	qp->sq_told = qp->sq_head;
	qp->sq_polled = qp->sq_head;
	spin_unlock(&qp->resp_lock);
	spin_unlock_irq(&qp->sq_lock);
	hrtimer_cancel(&qp->timer);
	hrtimer_cancel(&qp->ack_timer);
	vrnic_wire_reset(qp);
	irq_work_sync(&qp->die);
	vrnic_hold_drop(qp);
	if (!qp->ibqp.srq) {
		spin_lock_irq(&qp->rq.lock);
		qp->rq.tail = qp->rq.head;
		atomic_set(&qp->rq.held, 0);
		spin_unlock_irq(&qp->rq.lock);
	}
	vrnic_cq_clean(to_vcq(qp->ibqp.send_cq), qp);
	vrnic_cq_clean(to_vcq(qp->ibqp.recv_cq), qp);
	/* Dropped completions returned slots that are all free now */
	qp->sq_polled = qp->sq_head;
	if (!qp->ibqp.srq)
		atomic_set(&qp->rq.held, 0);
}

/* It is not found any more, neither by lookup nor by a cached result */
static void take_out(struct vrnic_qp *qp)
{
	xa_lock(&qps);
	__xa_erase(&qps, qp->ibqp.qp_num);
	smp_store_release(&qps_gone, qps_gone + 1);	/* for vrnic_qp_find_peer() */
	xa_unlock(&qps);
}

int vrnic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct vrnic_qp *qp = to_vqp(ibqp);
	struct vrnic_dev *dev = qp->dev;

	if (ibqp->qp_type == IB_QPT_GSI)
		RCU_INIT_POINTER(dev->gsi, NULL);
	else if (!is_special(qp->ibqp.qp_type))
		take_out(qp);
	mutex_lock(&dev->obj_lock);
	list_del(&qp->entry);
	vrnic_counters_add(dev, qp);
	mutex_unlock(&dev->obj_lock);

	if (vrnic_is_iwarp(dev))
		vrnic_iw_end(qp);
	qp_reset(qp);
	vrnic_qp_put(qp);
	wait_for_completion(&qp->freed);
	/* A user that found it before it was erased may still check its references */
	synchronize_rcu_expedited();
	if (!ibqp->srq)
		vrnic_rq_free(&qp->rq);
	kvfree(qp->sq_ring);
	atomic_dec(&dev->nr_qps);
	return 0;
}

/**
 * vrnic_qp_error() - into the error state, with all that is queued flushed
 * @qp: which
 *
 * Context: any; interrupts are off, sq_lock is held and no resp_lock.
 */
void vrnic_qp_error(struct vrnic_qp *qp)
{
	bool was;

	lockdep_assert_held(&qp->sq_lock);
	spin_lock(&qp->resp_lock);
	was = qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET;
	if (!was) {
		WRITE_ONCE(qp->state, IB_QPS_ERR);
		vrnic_rq_flush(qp);
	}
	spin_unlock(&qp->resp_lock);
	if (was)
		return;
	hrtimer_try_to_cancel(&qp->timer);
	hrtimer_try_to_cancel(&qp->wire.timer);
	qp->sq_waits = false;
	vrnic_sq_run(qp);
	if (vrnic_is_iwarp(qp->dev))
		vrnic_iw_broke(qp);
	if (qp->ibqp.srq)
		vrnic_event_qp(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/**
 * vrnic_qp_die() - let a QP fail, because of its peer or a fault
 * @qp: the QP
 * @event: event for its consumer; VRNIC_NO_EVENT if a completion reports it
 *
 * Context: any; interrupts are off. Any lock but a CQ's may be held.
 */
void vrnic_qp_die(struct vrnic_qp *qp, enum ib_event_type event)
{
	qp->resp_dead = true;
	qp->die_event = event;
	irq_work_queue(&qp->die);
}

static void take_path(struct vrnic_qp *qp, const struct ib_qp_attr *attr)
{
	/* What points elsewhere is the core's */
	qp->attr.ah_attr = attr->ah_attr;
	qp->attr.ah_attr.grh.sgid_attr = NULL;
}

static void take_attr(struct vrnic_qp *qp, const struct ib_qp_attr *attr, int mask)
{
#define TAKE(bit, member) \
	do { if (mask & (bit)) qp->attr.member = attr->member; } while (0)
	TAKE(IB_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IB_QP_PKEY_INDEX, pkey_index);
	TAKE(IB_QP_PORT, port_num);
	TAKE(IB_QP_QKEY, qkey);
	TAKE(IB_QP_PATH_MTU, path_mtu);
	TAKE(IB_QP_TIMEOUT, timeout);
	TAKE(IB_QP_RETRY_CNT, retry_cnt);
	TAKE(IB_QP_RNR_RETRY, rnr_retry);
	TAKE(IB_QP_RQ_PSN, rq_psn);
	TAKE(IB_QP_SQ_PSN, sq_psn);
	TAKE(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IB_QP_DEST_QPN, dest_qp_num);
#undef TAKE
	if (mask & IB_QP_AV)
		take_path(qp, attr);
	qp->rnr_left = qp->attr.rnr_retry;
	qp->retry_left = qp->attr.retry_cnt;
}

static bool limits_kept(const struct vrnic_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	u32 most = qp->dev->config.max_rd_atom;

	return !((mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > most) ||
		 (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
		  attr->max_dest_rd_atomic > most) ||
		 (mask & IB_QP_PORT && attr->port_num != VRNIC_PORT) ||
		 (mask & IB_QP_PKEY_INDEX &&
		  attr->pkey_index >= qp->dev->config.nr_pkeys));
}

/*
 * Over iWARP iw_connect or iw_accept connects a QP; the connection manager first moves it to
 * RTR. SQD is the orderly close, before which all work that can be sent is sent. SQE does not
 * exist, and means a refusal.
 */
static enum ib_qp_state iwarp_state(enum ib_qp_state now, enum ib_qp_state next)
{
	switch (next) {
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return now == IB_QPS_RESET || now == IB_QPS_INIT ? IB_QPS_INIT :
								   IB_QPS_SQE;
	case IB_QPS_RTS:
		return now == IB_QPS_RTS ? IB_QPS_RTS : IB_QPS_SQE;
	case IB_QPS_SQD:
		return IB_QPS_ERR;
	default:
		return next;
	}
}

int vrnic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct vrnic_qp *qp = to_vqp(ibqp);
	enum ib_qp_state now = qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : now;
	struct vrnic_fault_hit hit;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (qp->dev->config.link != VRNIC_IWARP &&
	    !ib_modify_qp_is_ok(now, next, ibqp->qp_type, mask)) {
		/* Its owner need not have heard that the device has died, and the QP with it */
		if (now == IB_QPS_ERR && READ_ONCE(qp->dev->dead))
			return -EIO;
		vrnic_violation(qp->dev, qp, "modify_qp from state %d to %d with attributes %#x is not allowed",
				now, next, mask);
		return -EINVAL;
	}
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != now) {
		vrnic_violation(qp->dev, qp, "modify_qp: the present state is %d, not %d",
				now, attr->cur_qp_state);
		return -EINVAL;
	}
	if (vrnic_is_iwarp(qp->dev) && mask & IB_QP_STATE)
		next = iwarp_state(now, next);
	if (!limits_kept(qp, attr, mask) || next == IB_QPS_SQD ||
	    next == IB_QPS_SQE)
		return -EINVAL;
	if (mask & IB_QP_STATE &&
	    vrnic_fault(qp->dev, VRNIC_FAULT_MODIFY, next, qp, &hit))
		return -(int)hit.arg;
	if (next == IB_QPS_RESET) {
		if (vrnic_is_iwarp(qp->dev))
			vrnic_iw_end(qp);
		qp_reset(qp);
		return 0;
	}
	spin_lock_irq(&qp->sq_lock);
	if (next == IB_QPS_ERR) {
		if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_SQD)
			vrnic_wire_hurry(qp);
		vrnic_qp_error(qp);
	} else if (mask & IB_QP_STATE && qp->state != now) {
		/* It went into the error state since we looked */
		spin_unlock_irq(&qp->sq_lock);
		return -EINVAL;
	} else {
		spin_lock(&qp->resp_lock);
		take_attr(qp, attr, mask);
		WRITE_ONCE(qp->state, next);
		spin_unlock(&qp->resp_lock);
	}
	spin_unlock_irq(&qp->sq_lock);
	return 0;
}

int vrnic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct vrnic_qp *qp = to_vqp(ibqp);

	spin_lock_irq(&qp->sq_lock);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->cap = qp->cap;
	spin_unlock_irq(&qp->sq_lock);
	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->cap;
	init->sq_sig_type = qp->sq_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	return 0;
}
