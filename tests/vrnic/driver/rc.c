// SPDX-License-Identifier: GPL-2.0
/*
 * The effect of a reliable connection's work request on the peer. The peer QP's resp_lock is
 * held while a message is accepted: one at a time, and none once it is in the error state.
 *
 * Faults of the responder: a sender whose message is too long for a receive, or whose key is
 * not valid, gets an error, and the responder's QP fails as well, as specified for reliable
 * connections.
 */

#include "vrnic.h"

/*
 * Over InfiniBand, whether the path leads to the peer, in their partition. Over RoCE
 * the peer's number alone does: an address that is wrong, or gone, is not noticed.
 */
static bool path_good(const struct vrnic_qp *qp, const struct vrnic_qp *peer)
{
	const struct vrnic_dev *dev = qp->dev, *to = peer->dev;

	if (dev->config.link != VRNIC_IB)
		return true;
	if (to->config.link != VRNIC_IB ||
	    rdma_ah_get_dlid(&qp->attr.ah_attr) != to->lid)
		return false;
	if (vrnic_pkeys_match(dev->config.pkeys[qp->attr.pkey_index],
			      to->config.pkeys[peer->attr.pkey_index]))
		return true;
	atomic_inc(&peer->dev->bad_pkeys);
	return false;
}

/* Whether messages of the QP reach their destination */
static bool connected(const struct vrnic_qp *qp, const struct vrnic_qp *peer)
{
	return READ_ONCE(qp->dev->up) && READ_ONCE(peer->dev->up) &&
	       !READ_ONCE(peer->dev->dead) &&
	       peer->ibqp.qp_type == IB_QPT_RC && path_good(qp, peer);
}

/**
 * vrnic_rc_peer() - the peer of a QP
 * @qp: the QP
 *
 * Context: any; interrupts are off, sq_lock is held.
 * Return: it with a reference, or NULL if there is no answer
 */
struct vrnic_qp *vrnic_rc_peer(struct vrnic_qp *qp)
{
	struct vrnic_qp *peer = vrnic_qp_find_peer(qp);

	if (!peer)
		return NULL;
	if (likely(connected(qp, peer)))
		return peer;
	vrnic_qp_put(peer);
	return NULL;
}

/*
 * With resp_lock, which is kept if it takes messages. It may have been reset and
 * connected to another since it was found.
 */
static __always_inline bool peer_takes(const struct vrnic_qp *qp, struct vrnic_qp *peer)
{
	spin_lock(&peer->resp_lock);
	if (likely((peer->state == IB_QPS_RTS || peer->state == IB_QPS_RTR) &&
		   !peer->resp_dead &&
		   peer->attr.dest_qp_num == qp->ibqp.qp_num)) {
		if (unlikely(peer->state == IB_QPS_RTR && !peer->comm_est)) {
			peer->comm_est = true;
			vrnic_event_qp(peer, IB_EVENT_COMM_EST);
		}
		return true;
	}
	spin_unlock(&peer->resp_lock);
	return false;
}

static void walk_remote(struct vrnic_iter *it, struct vrnic_qp *peer,
			struct ib_sge *sge, const struct vrnic_swqe *wqe,
			int access, const char *use)
{
	*sge = (struct ib_sge) {
		.addr = wqe->rdma.remote_addr,
		.length = wqe->len,
		.lkey = wqe->rdma.rkey,
	};
	*it = (struct vrnic_iter) {
		.qp = peer,
		.sge = sge,
		.num_sge = 1,
		.access = access,
		.remote = true,
		.use = use,
	};
}

/* Copy the message, which a fault may meet on its way */
static enum ib_wc_status carry(const struct vrnic_qp *qp, enum vrnic_kind kind,
			       struct vrnic_iter *to, struct vrnic_iter *from,
			       u32 len)
{
	struct vrnic_fault_hit hit;

	if (vrnic_fault(qp->dev, VRNIC_FAULT_CORRUPT, kind, qp, &hit))
		to->corrupt = hit.arg + 1;
	return vrnic_copy(to, from, len);
}

/* ---- SEND, and what else takes a receive ---- */

static void recv_done(struct vrnic_qp *peer, const struct vrnic_rwqe *recv,
		      const struct vrnic_qp *qp, const struct vrnic_swqe *wqe,
		      enum ib_wc_status status)
{
	struct vrnic_cqe cqe = {
		.wc = {
			.wr_id = recv->wr_id,
			.status = status,
			.opcode = IB_WC_RECV,
			.byte_len = wqe->len,
			.qp = &peer->ibqp,
			.src_qp = qp->ibqp.qp_num,
			.port_num = VRNIC_PORT,
		},
		.qp = peer,
		.credit = 1,
		.queue = VRNIC_RQ,
	};

	switch (wqe->opcode) {
	case IB_WR_RDMA_WRITE_WITH_IMM:
		cqe.wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case IB_WR_SEND_WITH_IMM:
		cqe.wc.wc_flags = IB_WC_WITH_IMM;
		cqe.wc.ex.imm_data = wqe->imm;
		break;
	case IB_WR_SEND_WITH_INV:
		if (!peer->dev->config.remote_inv)
			break;
		cqe.wc.wc_flags = IB_WC_WITH_INVALIDATE;
		cqe.wc.ex.invalidate_rkey = (__force u32)wqe->imm;
		break;
	default:
		break;
	}
	peer->counts.wr[VRNIC_RECV]++;
	peer->counts.bytes[VRNIC_RECV] += wqe->len;
	vrnic_complete(peer, VRNIC_RQ, &cqe, wqe->flags & IB_SEND_SOLICITED);
}

static u32 room(const struct vrnic_rwqe *recv)
{
	u32 i, sum = 0;

	for (i = 0; i < recv->num_sge; i++)
		sum += recv->sge[i].length;
	return sum;
}

/*
 * The part of the responder's result that the sender learns. Over iWARP a message is sent once
 * TCP has it; a later error ends the connection.
 */
static enum ib_wc_status told(const struct vrnic_qp *qp, enum ib_wc_status status)
{
	return vrnic_is_iwarp(qp->dev) ? IB_WC_SUCCESS : status;
}

/*
 * A receive that fails ends the responder's QP, and the sender is notified. An error of the
 * sender's own memory affects only the sender.
 */
static enum ib_wc_status recv_failed(struct vrnic_qp *peer,
				     const struct vrnic_rwqe *recv,
				     const struct vrnic_qp *qp,
				     const struct vrnic_swqe *wqe,
				     enum ib_wc_status here,
				     enum ib_wc_status there)
{
	recv_done(peer, recv, qp, wqe, here);
	vrnic_qp_die(peer, VRNIC_NO_EVENT);
	return here == IB_WC_REM_ABORT_ERR ? there : told(qp, there);
}

/*
 * iWARP cannot defer a message: a sender of more messages than its peer has receives for loses
 * the connection.
 */
static enum ib_wc_status no_recv(struct vrnic_qp *qp, struct vrnic_qp *peer)
{
	if (!vrnic_is_iwarp(qp->dev))
		return VRNIC_RETRY_RNR;
	vrnic_violation(peer->dev, peer, "a message of QP %u, and no receive: that is the end of a connection over iWARP",
			qp->ibqp.qp_num);
	vrnic_qp_die(peer, IB_EVENT_QP_FATAL);
	return IB_WC_SUCCESS;
}

/*
 * Whether the sender's own keys are good. If not, it is known before the first
 * packet leaves, and the peer's receive stays where it is. The key of all memory,
 * which needs no look, is the common case.
 */
static bool source_good(struct vrnic_qp *qp, const struct vrnic_swqe *wqe)
{
	u32 i;

	for (i = 0; i < wqe->num_sge; i++) {
		const struct ib_sge *sge = &wqe->sge[i];
		struct vrnic_mr *mr;

		if (likely(!sge->length || vrnic_is_dma_lkey(qp->dev, sge->lkey)))
			continue;
		mr = vrnic_mr_get(qp, sge->lkey, sge->addr, sge->length, 0, "SEND");
		if (!mr)
			return false;
		vrnic_mr_put(mr);
	}
	return true;
}

static enum ib_wc_status take_send(struct vrnic_qp *qp, struct vrnic_qp *peer,
				   struct vrnic_swqe *wqe)
{
	struct vrnic_iter from, to;
	const struct vrnic_rwqe *recv;
	struct vrnic_fault_hit hit;
	enum ib_wc_status status;

	recv = peer->ibqp.srq ? vrnic_srq_take(to_vsrq(peer->ibqp.srq)) :
				vrnic_rq_take(&peer->rq);
	if (unlikely(!recv))
		return no_recv(qp, peer);
	if (vrnic_fault(peer->dev, VRNIC_FAULT_WR, VRNIC_RECV, peer, &hit) &&
	    !vrnic_fault_deadly(peer, &hit))
		return recv_failed(peer, recv, qp, wqe, hit.action,
				   IB_WC_REM_OP_ERR);
	if (wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		recv_done(peer, recv, qp, wqe, IB_WC_SUCCESS);
		return IB_WC_SUCCESS;
	}
	if (unlikely(wqe->len > room(recv))) {
		vrnic_violation(peer->dev, peer, "a message of %u bytes for a receive of %u",
				wqe->len, room(recv));
		return recv_failed(peer, recv, qp, wqe, IB_WC_LOC_LEN_ERR,
				   IB_WC_REM_INV_REQ_ERR);
	}
	to = (struct vrnic_iter) {
		.qp = peer,
		.sge = recv->sge,
		.num_sge = recv->num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
		.use = "receive",
	};
	vrnic_source(&from, qp, wqe, "SEND");
	status = carry(qp, VRNIC_SEND, &to, &from, wqe->len);
	if (unlikely(status && to.failed))
		return recv_failed(peer, recv, qp, wqe, IB_WC_LOC_PROT_ERR,
				   IB_WC_REM_OP_ERR);
	if (unlikely(status))
		return recv_failed(peer, recv, qp, wqe, IB_WC_REM_ABORT_ERR,
				   status);
	if (unlikely(peer->dev->config.ack_lag))
		vrnic_lag_heard(peer, recv, wqe->len);
	if (wqe->opcode == IB_WR_SEND_WITH_INV && peer->dev->config.remote_inv &&
	    !vrnic_mr_invalidate(peer, (__force u32)wqe->imm, true))
		return recv_failed(peer, recv, qp, wqe, IB_WC_LOC_ACCESS_ERR,
				   IB_WC_REM_ACCESS_ERR);
	recv_done(peer, recv, qp, wqe, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

/**
 * vrnic_rc_send() - execute a SEND of any kind
 * @qp: by
 * @peer: to
 * @wqe: the work request
 *
 * Context: any; interrupts are off, @qp's sq_lock is held.
 * Return: its status, or VRNIC_RETRY_*
 */
enum ib_wc_status vrnic_rc_send(struct vrnic_qp *qp, struct vrnic_qp *peer,
				struct vrnic_swqe *wqe)
{
	enum ib_wc_status status;

	if (unlikely(!source_good(qp, wqe)))
		return IB_WC_LOC_PROT_ERR;
	if (unlikely(!peer_takes(qp, peer)))
		return VRNIC_RETRY_LOST;
	status = take_send(qp, peer, wqe);
	spin_unlock(&peer->resp_lock);
	return status;
}

/* ---- RDMA ---- */

/*
 * Whether the responder's QP allows it at all. If not, it answers that the request is invalid,
 * and fails. Over iWARP the stack does not report the number of READs.
 */
static bool qp_allows(struct vrnic_qp *peer, int access)
{
	bool reads = peer->attr.max_dest_rd_atomic ||
		     peer->dev->config.link == VRNIC_IWARP;

	if (likely(peer->attr.qp_access_flags & access &&
		   (reads || access != IB_ACCESS_REMOTE_READ)))
		return true;
	vrnic_violation(peer->dev, peer, "a peer's RDMA %s, which this QP does not allow: access %#x, READs at once %u",
			access == IB_ACCESS_REMOTE_READ ? "READ" : "WRITE",
			peer->attr.qp_access_flags, peer->attr.max_dest_rd_atomic);
	vrnic_qp_die(peer, IB_EVENT_QP_REQ_ERR);
	return false;
}

/* The responder's memory does not match the request */
static enum ib_wc_status remote_status(struct vrnic_qp *peer,
				       const struct vrnic_iter *remote,
				       enum ib_wc_status status)
{
	if (unlikely(status && remote->failed))
		vrnic_qp_die(peer, IB_EVENT_QP_ACCESS_ERR);
	return status;
}

/**
 * vrnic_rc_write() - execute an RDMA WRITE
 * @qp: the sender
 * @peer: owner of the destination
 * @wqe: the work request
 *
 * Context: any; interrupts are off, @qp's sq_lock is held.
 * Return: its status, or VRNIC_RETRY_*
 */
enum ib_wc_status vrnic_rc_write(struct vrnic_qp *qp, struct vrnic_qp *peer,
				 struct vrnic_swqe *wqe)
{
	struct vrnic_iter from, to;
	enum ib_wc_status status;
	struct ib_sge sge;

	if (unlikely(!peer_takes(qp, peer)))
		return VRNIC_RETRY_LOST;
	if (unlikely(!qp_allows(peer, IB_ACCESS_REMOTE_WRITE))) {
		spin_unlock(&peer->resp_lock);
		return told(qp, IB_WC_REM_INV_REQ_ERR);
	}
	walk_remote(&to, peer, &sge, wqe, IB_ACCESS_REMOTE_WRITE,
		    "a peer's RDMA WRITE");
	vrnic_source(&from, qp, wqe, "RDMA WRITE");
	status = carry(qp, VRNIC_WRITE, &to, &from, wqe->len);
	status = remote_status(peer, &to, status);
	if (to.failed)
		status = told(qp, status);
	else if (!status && wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		status = take_send(qp, peer, wqe);
	spin_unlock(&peer->resp_lock);
	return status;
}

/**
 * vrnic_rc_read() - execute an RDMA READ
 * @qp: the requester
 * @peer: owner of the source
 * @wqe: the work request
 *
 * Context: any; interrupts are off, @qp's sq_lock is held.
 * Return: its status, or VRNIC_RETRY_*
 */
enum ib_wc_status vrnic_rc_read(struct vrnic_qp *qp, struct vrnic_qp *peer,
				struct vrnic_swqe *wqe)
{
	struct vrnic_iter from, to;
	enum ib_wc_status status;
	struct ib_sge sge;

	if (unlikely(!qp->attr.max_rd_atomic &&
		     qp->dev->config.link != VRNIC_IWARP)) {
		vrnic_violation(qp->dev, qp, "RDMA READ on a QP that may have none at once");
		return IB_WC_LOC_QP_OP_ERR;
	}
	if (unlikely(!peer_takes(qp, peer)))
		return VRNIC_RETRY_LOST;
	if (unlikely(!qp_allows(peer, IB_ACCESS_REMOTE_READ))) {
		spin_unlock(&peer->resp_lock);
		return IB_WC_REM_INV_REQ_ERR;
	}
	walk_remote(&from, peer, &sge, wqe, IB_ACCESS_REMOTE_READ,
		    "a peer's RDMA READ");
	vrnic_source(&to, qp, wqe, "RDMA READ");
	/* Over iWARP the answer to a READ is a tagged write into its sink */
	to.access = vrnic_is_iwarp(qp->dev) ?
		IB_ACCESS_REMOTE_WRITE : IB_ACCESS_LOCAL_WRITE;
	status = carry(qp, VRNIC_READ, &to, &from, wqe->len);
	status = remote_status(peer, &from, status);
	spin_unlock(&peer->resp_lock);
	if (!status && wqe->opcode == IB_WR_RDMA_READ_WITH_INV &&
	    !vrnic_mr_invalidate(qp, wqe->sge[0].lkey, false))
		status = IB_WC_LOC_PROT_ERR;
	return status;
}
