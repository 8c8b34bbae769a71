// SPDX-License-Identifier: GPL-2.0
/*
 * Receives, of a QP or shared by several.
 *
 * Operation: post_recv and post_srq_recv append to a ring; a message takes the oldest receive
 * (vrnic_rq_take(), under the QP's resp_lock). Its slot in the ring stays unchanged until the
 * consumer has polled its completion, because only then the consumer may post another receive
 * there. So a message is copied without the ring's lock.
 */

#include <linux/slab.h>
#include "vrnic.h"

static struct vrnic_rwqe *rwqe(const struct vrnic_rq *rq, u32 i)
{
	return rq->ring + (size_t)(i & rq->mask) * rq->stride;
}

/**
 * vrnic_rq_init() - make a queue of receives
 * @rq: it
 * @size: how many receives
 * @max_sge: of each
 *
 * Return: 0, or -ENOMEM
 */
int vrnic_rq_init(struct vrnic_rq *rq, u32 size, u32 max_sge)
{
	u32 entries = roundup_pow_of_two(max(size, 1U));

	spin_lock_init(&rq->lock);
	rq->size = size;
	rq->max_sge = max_sge;
	rq->mask = entries - 1;
	rq->stride = sizeof(struct vrnic_rwqe) + max_sge * sizeof(struct ib_sge);
	atomic_set(&rq->held, 0);
	rq->ring = kvcalloc(entries, rq->stride, GFP_KERNEL);
	return rq->ring ? 0 : -ENOMEM;
}

void vrnic_rq_free(struct vrnic_rq *rq)
{
	kvfree(rq->ring);
}

/**
 * vrnic_rq_take() - take the oldest receive
 * @rq: the receives
 *
 * Context: any; interrupts are off.
 * Return: the receive, or NULL if there is none
 */
const struct vrnic_rwqe *vrnic_rq_take(struct vrnic_rq *rq)
{
	const struct vrnic_rwqe *wqe = NULL;

	spin_lock(&rq->lock);
	if (rq->tail != rq->head)
		wqe = rwqe(rq, rq->tail++);
	spin_unlock(&rq->lock);
	return wqe;
}

/* One receive, under the queue's lock */
static int rq_post(struct vrnic_dev *dev, const struct vrnic_qp *qp,
		   struct vrnic_rq *rq, const struct ib_recv_wr *wr)
{
	struct vrnic_rwqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge) {
		vrnic_violation(dev, qp, "a receive of %d SGEs, where %u are allowed",
				wr->num_sge, rq->max_sge);
		return -EINVAL;
	}
	if (atomic_read(&rq->held) >= rq->size) {
		vrnic_violation(dev, qp, "%s overrun: %u receives are posted or not polled yet",
				qp ? "RQ" : "SRQ", rq->size);
		return -ENOMEM;
	}
	wqe = rwqe(rq, rq->head);
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
	atomic_inc(&rq->held);
	rq->head++;
	return 0;
}

int vrnic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct vrnic_qp *qp = to_vqp(ibqp);
	struct vrnic_rq *rq = &qp->rq;
	struct vrnic_fault_hit hit;
	unsigned long flags;
	bool flush;
	int ret = 0;

	*bad = wr;
	if (ibqp->srq) {
		vrnic_violation(qp->dev, qp, "post_recv on a QP that has an SRQ");
		return -EINVAL;
	}
	if (vrnic_fault(qp->dev, VRNIC_FAULT_POST, VRNIC_RECV, qp, &hit))
		return -hit.arg;
	spin_lock_irqsave(&rq->lock, flags);
	qp->counts.posts_recv++;
	if (READ_ONCE(qp->state) == IB_QPS_RESET) {
		spin_unlock_irqrestore(&rq->lock, flags);
		vrnic_violation(qp->dev, qp, "post_recv in the state RESET");
		return -EINVAL;
	}
	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = rq_post(qp->dev, qp, rq, wr);
	}
	/*
	 * A QP sets the error state before it flushes under this lock: either the flush sees our
	 * receives, or we see the state.
	 */
	flush = READ_ONCE(qp->state) == IB_QPS_ERR;
	spin_unlock_irqrestore(&rq->lock, flags);
	if (unlikely(flush)) {
		spin_lock_irqsave(&qp->resp_lock, flags);
		if (qp->state == IB_QPS_ERR)
			vrnic_rq_flush(qp);
		spin_unlock_irqrestore(&qp->resp_lock, flags);
	}
	return ret;
}

int vrnic_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	struct vrnic_dev *dev = to_vdev(ibsrq->device);
	struct vrnic_srq *srq = to_vsrq(ibsrq);
	struct vrnic_fault_hit hit;
	unsigned long flags;
	int ret = 0;

	*bad = wr;
	if (vrnic_fault_srq(dev, srq, &hit))
		return -hit.arg;
	spin_lock_irqsave(&srq->rq.lock, flags);
	srq->posts++;
	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = rq_post(dev, NULL, &srq->rq, wr);
	}
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return ret;
}

/**
 * vrnic_rq_flush() - complete all receives of a QP in the error state
 * @qp: it
 *
 * Context: any; interrupts are off, resp_lock is held.
 */
void vrnic_rq_flush(struct vrnic_qp *qp)
{
	const struct vrnic_rwqe *wqe;

	lockdep_assert_held(&qp->resp_lock);
	if (qp->ibqp.srq)
		return;
	while ((wqe = vrnic_rq_take(&qp->rq))) {
		struct vrnic_cqe cqe = {
			.wc = {
				.wr_id = wqe->wr_id,
				.status = IB_WC_WR_FLUSH_ERR,
				.opcode = IB_WC_RECV,
				.qp = &qp->ibqp,
			},
			.qp = qp,
			.credit = 1,
			.queue = VRNIC_RQ,
		};

		vrnic_complete(qp, VRNIC_RQ, &cqe, false);
	}
}

/**
 * vrnic_srq_take() - take the oldest receive of an SRQ
 * @srq: the SRQ
 *
 * Raises the event that receives run low, if it was requested. As with soft-RoCE, a request that
 * comes when there is none left has no effect before the next receive.
 *
 * Context: any; interrupts are off.
 * Return: the receive, or NULL if there is none
 */
const struct vrnic_rwqe *vrnic_srq_take(struct vrnic_srq *srq)
{
	const struct vrnic_rwqe *wqe = NULL;
	bool low = false;

	spin_lock(&srq->rq.lock);
	if (srq->rq.tail != srq->rq.head)
		wqe = rwqe(&srq->rq, srq->rq.tail++);
	if (wqe && srq->limit && srq->rq.head - srq->rq.tail < srq->limit) {
		srq->limit = 0;
		low = true;
	}
	spin_unlock(&srq->rq.lock);
	if (low)
		vrnic_event_srq(&srq->ibsrq, IB_EVENT_SRQ_LIMIT_REACHED);
	return wqe;
}

int vrnic_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		     struct ib_udata *udata)
{
	struct vrnic_dev *dev = to_vdev(ibsrq->device);
	struct vrnic_srq *srq = to_vsrq(ibsrq);
	struct vrnic_fault_hit hit;
	int ret;

	if (udata || attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->attr.max_wr || attr->attr.max_wr > dev->config.max_srq_wr ||
	    attr->attr.max_sge > dev->config.max_recv_sge)
		return -EINVAL;
	if (vrnic_fault(dev, VRNIC_FAULT_MAKE, VRNIC_MAKE_SRQ, NULL, &hit))
		return -hit.arg;
	if (!atomic_add_unless(&dev->nr_srqs, 1, dev->config.max_srq))
		return -ENOMEM;
	ret = vrnic_rq_init(&srq->rq, attr->attr.max_wr, attr->attr.max_sge);
	if (ret) {
		atomic_dec(&dev->nr_srqs);
		return ret;
	}
	srq->limit = attr->attr.srq_limit;
	mutex_lock(&dev->obj_lock);
	list_add_tail(&srq->entry, &dev->srqs);
	mutex_unlock(&dev->obj_lock);
	return 0;
}

int vrnic_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct vrnic_srq *srq = to_vsrq(ibsrq);

	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (attr->srq_limit > srq->rq.size)
		return -EINVAL;
	spin_lock_irq(&srq->rq.lock);
	srq->limit = attr->srq_limit;
	spin_unlock_irq(&srq->rq.lock);
	return 0;
}

int vrnic_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct vrnic_srq *srq = to_vsrq(ibsrq);

	attr->max_wr = srq->rq.size;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	return 0;
}

int vrnic_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct vrnic_srq *srq = to_vsrq(ibsrq);
	struct vrnic_dev *dev = to_vdev(ibsrq->device);

	mutex_lock(&dev->obj_lock);
	list_del(&srq->entry);
	dev->gone.posts_recv += srq->posts;
	mutex_unlock(&dev->obj_lock);
	flush_workqueue(vrnic_wq);	/* its events */
	vrnic_rq_free(&srq->rq);
	atomic_dec(&dev->nr_srqs);
	return 0;
}
