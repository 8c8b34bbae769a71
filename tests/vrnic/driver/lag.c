// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgments that take time (the parameter ack_lag).
 *
 * Operation: executed work completes later. Until then hardware may send the same data again,
 * so it must not change: the data of a SEND or WRITE is hashed when it is executed, and again
 * when it is acknowledged, and a change in between is reported. The same applies to work that
 * waits because the peer has no receive or does not answer, and to work that was posted behind
 * it.
 *
 * An NVMe host may reuse a command's capsule as soon as it has the response: that implies that
 * the command has arrived, and the target drops a retransmission. So for a SEND of the NVMe
 * host the command's ID is stored. A message that arrives on its QP with that ID at the place
 * of a completion answers it: only the command's 64 bytes then had to stay unchanged. Data
 * behind them belongs to the block layer again as soon as the request ends, so the host has to
 * wait for the SEND. Messages of other senders are not answered in this way: a host's next
 * command does not imply that the previous response of its target has arrived.
 *
 * The receiver of a message holds the QP's resp_lock and must not take its sq_lock, under
 * which work requests are added and removed. It may still look at those that may lag: slots of
 * the ring stay, and an answer is written by cmpxchg, only over the ID that it is for. The ID
 * is stored before the command is executed, and so before any answer. Until the host has seen
 * the answer, it has no other command with that ID.
 */

#include "vrnic.h"

/* Of the NVMe specification: commands and completions, and where their IDs are */
#define SQE_BYTES	64
#define SQE_CID		2
#define CQE_BYTES	16
#define CQE_CID		12

/* struct vrnic_swqe.command: 0, or one of these with the ID */
#define WAITS		0x10000U
#define ANSWERED	0x20000U

/* The command of a SEND of an NVMe host, which waits for its answer; 0: it is none */
static u32 command_of(struct vrnic_qp *qp, const struct vrnic_swqe *wqe)
{
	struct vrnic_iter it;
	__le16 cid;

	if (wqe->kind != VRNIC_SEND || wqe->len < SQE_BYTES || wqe->inlined ||
	    strcmp(vrnic_owner(qp), "nvme_rdma"))
		return 0;
	vrnic_source(&it, qp, wqe, "SEND");
	if (!vrnic_iter_peek(&it, SQE_CID, &cid, sizeof(cid)))
		return 0;
	return WAITS | le16_to_cpu(cid);
}

/**
 * vrnic_lag_begin() - check a work request before it is executed
 * @qp: its QP
 * @wqe: the work request
 *
 * If it had to wait, its data must still be what was posted.
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_lag_begin(struct vrnic_qp *qp, struct vrnic_swqe *wqe)
{
	lockdep_assert_held(&qp->sq_lock);
	WRITE_ONCE(wqe->command, command_of(qp, wqe));
	if (wqe->hashed)
		vrnic_lag_check(qp, wqe, "sent");
	wqe->hashed = false;
}

/**
 * vrnic_lag_remember() - a work request was executed with success, or waits
 * @qp: on this QP
 * @wqe: it
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_lag_remember(struct vrnic_qp *qp, struct vrnic_swqe *wqe)
{
	struct vrnic_iter it;

	lockdep_assert_held(&qp->sq_lock);
	if (wqe->inlined || qp->ibqp.qp_type != IB_QPT_RC ||
	    (wqe->kind != VRNIC_SEND && wqe->kind != VRNIC_WRITE))
		return;
	vrnic_source(&it, qp, wqe, "once more");
	wqe->hashed = vrnic_iter_hash(&it, SQE_BYTES, wqe->hash);
}

/* Its keys are not those of a region, which an earlier work request may still have to register */
static bool needs_no_region(const struct vrnic_qp *qp, const struct vrnic_swqe *wqe)
{
	u32 i;

	for (i = 0; i < wqe->num_sge; i++) {
		if (!vrnic_is_dma_lkey(qp->dev, wqe->sge[i].lkey))
			return false;
	}
	return true;
}

/**
 * vrnic_lag_wait() - the posted work of a QP has to wait
 * @qp: the QP
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_lag_wait(struct vrnic_qp *qp)
{
	u32 i;

	lockdep_assert_held(&qp->sq_lock);
	if (!qp->dev->config.ack_lag)
		return;
	for (i = qp->sq_next; i != qp->sq_head; i++) {
		struct vrnic_swqe *wqe = vrnic_swqe(qp, i);

		if (!wqe->hashed && needs_no_region(qp, wqe))
			vrnic_lag_remember(qp, wqe);
	}
}

/**
 * vrnic_lag_check() - check a remembered work request when it continues
 * @qp: its QP
 * @wqe: the work request
 * @end: the event that it was remembered for: "sent" or "acknowledged"
 *
 * The data that it read must be unchanged.
 *
 * Context: any; interrupts are off, sq_lock is held.
 */
void vrnic_lag_check(struct vrnic_qp *qp, const struct vrnic_swqe *wqe, const char *end)
{
	bool answered = READ_ONCE(wqe->command) & ANSWERED;
	struct vrnic_iter it;
	u32 hash[2];

	lockdep_assert_held(&qp->sq_lock);
	vrnic_source(&it, qp, wqe, "once more");
	if (!vrnic_iter_hash(&it, SQE_BYTES, hash))
		return;
	if ((hash[0] != wqe->hash[0] && !answered) || hash[1] != wqe->hash[1])
		vrnic_violation(qp->dev, qp, "the buffer of a work request, opcode %#x, %u bytes, has changed before it was %s",
				wqe->opcode, wqe->len, end);
}

/**
 * vrnic_lag_heard() - a message has come
 * @qp: on this QP
 * @recv: it is there
 * @len: its length
 *
 * If it is the answer to a command that lags, that is answered.
 *
 * Context: any; interrupts are off, resp_lock is held.
 */
void vrnic_lag_heard(struct vrnic_qp *qp, const struct vrnic_rwqe *recv, u32 len)
{
	struct vrnic_iter it = {
		.qp = qp,
		.sge = recv->sge,
		.num_sge = recv->num_sge,
		/* The device knows what it has written, also where it may not read */
		.access = IB_ACCESS_LOCAL_WRITE,
		.use = "receive",
	};
	u32 i, first, waits, most;
	__le16 cid;

	lockdep_assert_held(&qp->resp_lock);
	if (len < CQE_BYTES || strcmp(vrnic_owner(qp), "nvme_rdma") ||
	    !vrnic_iter_peek(&it, CQE_CID, &cid, sizeof(cid)))
		return;
	waits = WAITS | le16_to_cpu(cid);
	/* As many as lag, and one that is being executed; with a wire, any */
	most = qp->wire.delay ? qp->sq_mask : min(qp->dev->config.ack_lag, qp->sq_mask);
	first = READ_ONCE(qp->sq_acked);
	for (i = 0; i <= most; i++) {
		struct vrnic_swqe *wqe = vrnic_swqe(qp, first + i);

		if (READ_ONCE(wqe->command) == waits)
			cmpxchg(&wqe->command, waits, ANSWERED | le16_to_cpu(cid));
	}
}
