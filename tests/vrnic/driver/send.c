// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue.
 *
 * Operation: post_send copies work requests into the ring and executes them, in order, all
 * under sq_lock: vrnic_sq_run(). A work request that cannot be executed now (the peer has no
 * receive, or does not answer) delays later ones until a timer fires; the consumer's call
 * returns. A work request that fails takes the QP into the error state, in which all the rest
 * is flushed.
 *
 * Four counters divide the ring: posted (sq_head), executed (sq_next), completed (sq_acked),
 * and seen by the consumer (sq_polled). As on hardware, a slot returns to the consumer only
 * when it polls a completion of that work request or of a later one. So unsignaled work
 * requests keep their slots until then.
 *
 * With delay_ns a message is executed when it has arrived, and completes when its
 * acknowledgment is back (wire.c).
 *
 * With ack_lag, executed work completes later (lag.c), as if acknowledgments took time.
 *
 * With flush_done, a QP that fails flushes everything behind the last work request that had a
 * completion (sq_told), executed or not. So do drivers that generate these completions
 * themselves (bnxt_re, irdma): they do not know what was executed.
 */

#include "vrnic.h"

#define ACK_WAIT	(200 * NSEC_PER_USEC)

static enum vrnic_kind kind_of(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		return VRNIC_SEND;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return VRNIC_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return VRNIC_READ;
	case IB_WR_REG_MR:
	case IB_WR_REG_MR_INTEGRITY:
		return VRNIC_REG;
	case IB_WR_LOCAL_INV:
		return VRNIC_INV;
	default:
		return VRNIC_OTHER;
	}
}

static const enum ib_wc_opcode wc_opcodes[VRNIC_KINDS] = {
	[VRNIC_SEND] = IB_WC_SEND,
	[VRNIC_WRITE] = IB_WC_RDMA_WRITE,
	[VRNIC_READ] = IB_WC_RDMA_READ,
	[VRNIC_REG] = IB_WC_REG_MR,
	[VRNIC_INV] = IB_WC_LOCAL_INV,
};

/**
 * vrnic_source() - walk the data that a work request sends
 * @it: the walk
 * @qp: the QP
 * @wqe: the work request
 * @use: the purpose, as text
 */
void vrnic_source(struct vrnic_iter *it, struct vrnic_qp *qp,
		  const struct vrnic_swqe *wqe, const char *use)
{
	*it = (struct vrnic_iter) {
		.qp = qp,
		.sge = wqe->sge,
		.num_sge = wqe->num_sge,
		.use = use,
	};
	if (wqe->inlined) {
		it->run = (void *)wqe->sge;
		it->run_len = wqe->len;
	}
}

/* ---- completion ---- */

static __always_inline void acknowledged(struct vrnic_qp *qp, const struct vrnic_swqe *wqe,
					 u32 i)
{
	struct vrnic_cqe cqe;

	if (!wqe->status && !(wqe->flags & IB_SEND_SIGNALED) && !qp->sq_all)
		return;
	cqe.wc = (struct ib_wc) {
		.wr_id = wqe->wr_id,
		.status = wqe->status,
		.opcode = wc_opcodes[wqe->kind],
		.byte_len = wqe->len,
		.qp = &qp->ibqp,
	};
	cqe.qp = qp;
	cqe.credit = i + 1;
	qp->sq_told = i + 1;
	cqe.queue = VRNIC_SQ;
	vrnic_complete(qp, VRNIC_SQ, &cqe, false);
}

/* @wire: there is one; a constant, so that work without a wire does not pay for it */
static __always_inline void ack(struct vrnic_qp *qp, u32 keep, bool wire)
{
	while (qp->sq_next - qp->sq_acked > keep) {
		const u32 i = qp->sq_acked;
		const struct vrnic_swqe *wqe = vrnic_swqe(qp, i);

		if (wire && !vrnic_wire_answered(qp, wqe))
			break;
		if (wqe->hashed && !wqe->status)
			vrnic_lag_check(qp, wqe, "acknowledged");
		/* vrnic_lag_heard() looks at it without the lock */
		WRITE_ONCE(qp->sq_acked, i + 1);
		acknowledged(qp, wqe, i);
	}
}

/**
 * vrnic_sq_ack() - complete executed work, as far as its acknowledgment is back
 * @qp: its QP
 * @keep: number of work requests to leave out
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_sq_ack(struct vrnic_qp *qp, u32 keep)
{
	lockdep_assert_held(&qp->sq_lock);
	ack(qp, keep, qp->wire.delay);
}

static __always_inline void executed(struct vrnic_qp *qp, struct vrnic_swqe *wqe,
				     enum ib_wc_status status, enum vrnic_kind kind,
				     bool wire)
{
	u32 lag = qp->dev->config.ack_lag;

	wqe->status = status;
	qp->counts.wr[kind]++;
	qp->counts.bytes[kind] += wqe->len;
	if (unlikely(lag && !status))
		vrnic_lag_remember(qp, wqe);
	qp->sq_next++;
	if (wire)
		vrnic_wire_executed(qp, wqe);
	ack(qp, status ? 0 : lag, wire);
}

/* ---- execution ---- */

static __always_inline enum ib_wc_status
execute(struct vrnic_qp *qp, struct vrnic_qp **peer, struct vrnic_swqe *wqe)
{
	if (qp->ibqp.qp_type != IB_QPT_RC) {
		vrnic_ud_send(qp, wqe);
		return IB_WC_SUCCESS;
	}
	switch (wqe->opcode) {
	case IB_WR_REG_MR:
	case IB_WR_REG_MR_INTEGRITY:
		return vrnic_mr_register(qp, wqe);
	case IB_WR_LOCAL_INV:
		return vrnic_mr_invalidate(qp, (__force u32)wqe->imm, false) ?
			IB_WC_SUCCESS : IB_WC_MW_BIND_ERR;
	default:
		break;
	}
	if (!*peer)
		*peer = vrnic_rc_peer(qp);
	if (!*peer)
		return VRNIC_RETRY_LOST;
	switch (wqe->kind) {
	case VRNIC_SEND:
		return vrnic_rc_send(qp, *peer, wqe);
	case VRNIC_WRITE:
		return vrnic_rc_write(qp, *peer, wqe);
	default:
		return vrnic_rc_read(qp, *peer, wqe);
	}
}

/* As the specification codes the time after which to try again, in units of
 * 10 us (InfiniBand Architecture, RNR NAK timer field)
 */
static u64 rnr_ns(u8 timer)
{
	static const u32 units[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152,
	};

	return units[timer & 31] * 10ULL * NSEC_PER_USEC;
}

/* Return: success if there will be another attempt, or the final status */
static enum ib_wc_status try_later(struct vrnic_qp *qp, enum ib_wc_status why,
				   const struct vrnic_qp *peer)
{
	u64 wait;

	if (why == VRNIC_RETRY_RNR) {
		qp->counts.rnr++;
		/* 7 means without end */
		if (qp->attr.rnr_retry != 7 && !qp->rnr_left--)
			return IB_WC_RNR_RETRY_EXC_ERR;
		wait = rnr_ns(peer->attr.min_rnr_timer) + 2ULL * qp->wire.delay;
	} else {
		qp->counts.lost++;
		if (vrnic_is_iwarp(qp->dev) &&
		    (vrnic_iw_reset(qp) || !qp->retry_left))
			return IB_WC_WR_FLUSH_ERR;
		if (!qp->attr.timeout) {
			qp->sq_waits = true;	/* for modify_qp */
			return IB_WC_SUCCESS;
		}
		if (!qp->retry_left--)
			return IB_WC_RETRY_EXC_ERR;
		wait = 4096ULL << min_t(u8, qp->attr.timeout, 31);
	}
	qp->sq_waits = true;
	hrtimer_start(&qp->timer, ns_to_ktime(wait), HRTIMER_MODE_REL);
	return IB_WC_SUCCESS;
}

static void flush(struct vrnic_qp *qp)
{
	u32 i;

	vrnic_sq_ack(qp, 0);
	/* Their places are still theirs: the consumer has got none of them back */
	if (qp->dev->config.flush_done)
		qp->sq_acked = qp->sq_told;
	for (i = qp->sq_acked; i != qp->sq_head; i++) {
		struct vrnic_swqe *wqe = vrnic_swqe(qp, i);

		wqe->status = IB_WC_WR_FLUSH_ERR;
		wqe->at = 0;
	}
	qp->sq_next = qp->sq_head;
	vrnic_sq_ack(qp, 0);
}

/* One work request, which meets a fault once, however often it is tried */
static __always_inline enum ib_wc_status
try_one(struct vrnic_qp *qp, struct vrnic_qp **peer, struct vrnic_swqe *wqe,
	enum vrnic_kind kind)
{
	struct vrnic_fault_hit hit;

	if (!wqe->tried) {
		wqe->tried = true;
		wqe->fault = IB_WC_SUCCESS;
		if (vrnic_fault(qp->dev, VRNIC_FAULT_WR, kind, qp, &hit) &&
		    !vrnic_fault_deadly(qp, &hit)) {
			if (!hit.after)
				return hit.action;
			wqe->fault = hit.action;
		}
	}
	if (unlikely(qp->dev->config.ack_lag))
		vrnic_lag_begin(qp, wqe);
	return execute(qp, peer, wqe) ?: wqe->fault;
}

static __always_inline void run(struct vrnic_qp *qp, bool wire)
{
	struct vrnic_qp *peer = NULL;

	if (qp->sq_waits || (READ_ONCE(qp->dev->dead) && qp->state != IB_QPS_ERR)) {
		vrnic_lag_wait(qp);
		return;
	}
	if (qp->state == IB_QPS_ERR)
		flush(qp);
	while (qp->state == IB_QPS_RTS && qp->sq_next != qp->sq_head) {
		struct vrnic_swqe *wqe = vrnic_swqe(qp, qp->sq_next);
		enum vrnic_kind kind = wqe->kind;
		enum ib_wc_status status;

		if (wire && !vrnic_wire_arrived(qp, wqe)) {
			vrnic_lag_wait(qp);
			break;
		}
		status = try_one(qp, &peer, wqe, kind);
		if (status == VRNIC_RETRY_RNR || status == VRNIC_RETRY_LOST) {
			status = try_later(qp, status, peer);
			if (!status) {
				vrnic_lag_wait(qp);
				break;
			}
		} else {
			qp->rnr_left = qp->attr.rnr_retry;
			qp->retry_left = qp->attr.retry_cnt;
		}
		executed(qp, wqe, status, kind, wire);
		if (unlikely(status)) {
			/* With a wire the news has to come back first: vrnic_wire_begin() */
			if (qp->sq_acked == qp->sq_next)
				vrnic_qp_error(qp);	/* flushes the rest */
			break;
		}
	}
	if (peer)
		vrnic_qp_put(peer);
	if (qp->sq_acked != qp->sq_next && qp->state == IB_QPS_RTS &&
	    qp->dev->config.ack_lag)
		hrtimer_start(&qp->ack_timer, ns_to_ktime(ACK_WAIT),
			      HRTIMER_MODE_REL);
}

/**
 * vrnic_sq_run() - execute posted work
 * @qp: its QP
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_sq_run(struct vrnic_qp *qp)
{
	lockdep_assert_held(&qp->sq_lock);
	if (likely(!qp->wire.delay)) {
		run(qp, false);
		return;
	}
	vrnic_wire_begin(qp);
	run(qp, true);
	vrnic_wire_next(qp);
}

/* ---- posting ---- */

/* The MR may go before it is executed: it is looked up again then */
static bool fill_reg(struct vrnic_qp *qp, struct vrnic_swqe *wqe,
		     const struct ib_send_wr *wr)
{
	struct vrnic_mr *mr = to_vmr(reg_wr(wr)->mr);

	wqe->reg.index = mr->index;
	wqe->reg.serial = mr->serial;
	wqe->reg.key = reg_wr(wr)->key;
	wqe->reg.access = reg_wr(wr)->access;
	if (wr->opcode == IB_WR_REG_MR)
		return qp->ibqp.qp_type == IB_QPT_RC && !mr->sig;
	return vrnic_sig_post(qp, mr);
}

/* Return: whether the work request is one that the device knows */
static bool fill(struct vrnic_qp *qp, struct vrnic_swqe *wqe,
		 const struct ib_send_wr *wr)
{
	bool rc = qp->ibqp.qp_type == IB_QPT_RC;

	if (vrnic_is_iwarp(qp->dev) && (wr->opcode == IB_WR_SEND_WITH_IMM ||
					wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM))
		return false;
	if (wr->opcode == IB_WR_SEND || wr->opcode == IB_WR_SEND_WITH_IMM) {
		if (rc)
			return true;
		wqe->ud.ah = to_vah(ud_wr(wr)->ah);
		wqe->ud.qpn = ud_wr(wr)->remote_qpn;
		wqe->ud.qkey = ud_wr(wr)->remote_qkey;
		wqe->ud.pkey_index = ud_wr(wr)->pkey_index;
		return true;
	}
	switch (wr->opcode) {
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		return rc;
	case IB_WR_RDMA_READ_WITH_INV:
		/* Which only iWARP has */
		if (!vrnic_is_iwarp(qp->dev))
			return false;
		fallthrough;
	case IB_WR_RDMA_READ:
		if (wr->num_sge > qp->dev->config.max_sge_rd ||
		    wr->send_flags & IB_SEND_INLINE)
			return false;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		return rc;
	case IB_WR_REG_MR:
	case IB_WR_REG_MR_INTEGRITY:
		return fill_reg(qp, wqe, wr);
	default:
		return false;
	}
}

/* Inline data, which the consumer gives by virtual address and without a key */
static bool fill_inline(struct vrnic_qp *qp, struct vrnic_swqe *wqe,
			const struct ib_send_wr *wr)
{
	void *to = wqe->sge;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->cap.max_inline_data - wqe->len)
			return false;
		vrnic_memcpy(to + wqe->len, (void *)(uintptr_t)sge->addr,
			     sge->length);
		wqe->len += sge->length;
	}
	wqe->num_sge = 0;
	wqe->inlined = true;
	qp->counts.inlined++;
	return true;
}

static bool fill_data(struct vrnic_qp *qp, struct vrnic_swqe *wqe,
		      const struct ib_send_wr *wr)
{
	u64 len = 0;
	int i;

	wqe->len = 0;
	wqe->inlined = false;
	if (wr->num_sge > qp->cap.max_send_sge)
		return false;
	if (wr->send_flags & IB_SEND_INLINE)
		return fill_inline(qp, wqe, wr);
	wqe->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		wqe->sge[i] = wr->sg_list[i];
		len += wr->sg_list[i].length;
	}
	wqe->len = len;
	return len <= VRNIC_MAX_MESSAGE;
}

static int refuse(struct vrnic_qp *qp, const struct ib_send_wr *wr)
{
	/* For one without data, vrnic_sig_post() has reported the error */
	if (wr->opcode != IB_WR_REG_MR_INTEGRITY || wr->num_sge)
		vrnic_violation(qp->dev, qp, "a work request that the QP cannot take: opcode %#x, %d SGEs, flags %#x",
				wr->opcode, wr->num_sge, wr->send_flags);
	return -EINVAL;
}

static int post_one(struct vrnic_qp *qp, const struct ib_send_wr *wr)
{
	struct vrnic_swqe *wqe = vrnic_swqe(qp, qp->sq_head);

	if (unlikely(qp->sq_head - READ_ONCE(qp->sq_polled) >=
		     qp->cap.max_send_wr)) {
		vrnic_violation(qp->dev, qp, "SQ overrun: %u work requests are posted or their completions not polled yet",
				qp->cap.max_send_wr);
		return -ENOMEM;
	}
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->kind = kind_of(wr->opcode);
	wqe->tried = false;
	wqe->hashed = false;
	wqe->flags = wr->send_flags;
	wqe->imm = wr->ex.imm_data;
	if (unlikely(!fill(qp, wqe, wr) || !fill_data(qp, wqe, wr)))
		return refuse(qp, wr);
	if (wr->send_flags & IB_SEND_SIGNALED)
		qp->counts.signaled++;
	qp->sq_head++;
	return 0;
}

int vrnic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct vrnic_qp *qp = to_vqp(ibqp);
	struct vrnic_fault_hit hit;
	unsigned long flags;
	int ret = 0;
	u32 first;

	*bad = wr;
	if (vrnic_fault(qp->dev, VRNIC_FAULT_POST, kind_of(wr->opcode), qp, &hit))
		return -hit.arg;
	spin_lock_irqsave(&qp->sq_lock, flags);
	qp->counts.posts_send++;
	first = qp->sq_head;
	if (unlikely(qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR)) {
		vrnic_violation(qp->dev, qp, "post_send in the state %d",
				qp->state);
		ret = -EINVAL;
	}
	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = post_one(qp, wr);
	}
	if (unlikely(qp->wire.delay))
		vrnic_wire_posted(qp, first);
	vrnic_sq_run(qp);
	spin_unlock_irqrestore(&qp->sq_lock, flags);
	return ret;
}
