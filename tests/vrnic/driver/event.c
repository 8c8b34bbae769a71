// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous events, reported from a workqueue. The destroyer of an event's object waits for
 * that queue first.
 */

#include <linux/delay.h>
#include <linux/slab.h>
#include "vrnic.h"

struct vrnic_event {
	struct work_struct work;
	struct ib_event event;
	struct vrnic_qp *qp;
	u32 after_us;
};

static void event_tell(struct work_struct *work)
{
	struct vrnic_event *e = container_of(work, struct vrnic_event, work);
	struct ib_event *event = &e->event;

	/* here, so that a waiter for the queue also waits for this */
	if (e->after_us)
		fsleep(e->after_us);
	if (e->qp) {
		if (e->qp->ibqp.event_handler)
			e->qp->ibqp.event_handler(event, e->qp->ibqp.qp_context);
		vrnic_qp_put(e->qp);
	} else if (event->event == IB_EVENT_CQ_ERR) {
		struct ib_cq *cq = event->element.cq;

		if (cq->event_handler)
			cq->event_handler(event, cq->cq_context);
	} else {
		struct ib_srq *srq = event->element.srq;

		if (srq->event_handler)
			srq->event_handler(event, srq->srq_context);
	}
	kfree(e);
}

static struct vrnic_event *event_new(struct ib_device *ibdev,
				     enum ib_event_type type)
{
	struct vrnic_event *e = kzalloc(sizeof(*e), GFP_ATOMIC);

	if (!e) {
		pr_err("%s: no memory for event %d, nobody is told of it\n",
		       dev_name(&ibdev->dev), type);
		return NULL;
	}
	INIT_WORK(&e->work, event_tell);
	e->event.device = ibdev;
	e->event.event = type;
	return e;
}

/**
 * vrnic_event_qp() - report an event to a QP's consumer
 * @qp: the QP; the caller ensures that it stays
 * @type: the event
 *
 * Context: any.
 */
void vrnic_event_qp(struct vrnic_qp *qp, enum ib_event_type type)
{
	struct vrnic_event *e;

	if (!vrnic_qp_get(qp))
		return;
	e = event_new(qp->ibqp.device, type);
	if (!e) {
		vrnic_qp_put(qp);
		return;
	}
	e->event.element.qp = &qp->ibqp;
	e->qp = qp;
	queue_work(vrnic_wq, &e->work);
}

/**
 * vrnic_event_cq() - tell a CQ's consumer of an event
 * @cq: the CQ
 * @type: IB_EVENT_CQ_ERR
 * @after_us: microseconds until then
 *
 * Context: any.
 */
void vrnic_event_cq(struct vrnic_cq *cq, enum ib_event_type type, u32 after_us)
{
	struct vrnic_event *e = event_new(cq->ibcq.device, type);

	if (!e)
		return;
	e->event.element.cq = &cq->ibcq;
	e->after_us = after_us;
	queue_work(vrnic_wq, &e->work);
}

/**
 * vrnic_event_srq() - tell an SRQ's consumer of an event
 * @srq: the SRQ
 * @type: the event
 *
 * Context: any.
 */
void vrnic_event_srq(struct ib_srq *srq, enum ib_event_type type)
{
	struct vrnic_event *e = event_new(srq->device, type);

	if (!e)
		return;
	e->event.element.srq = srq;
	queue_work(vrnic_wq, &e->work);
}

/**
 * vrnic_event_dev() - tell all of an event of the device or its port
 * @dev: the device
 * @type: the event
 *
 * Context: any.
 */
void vrnic_event_dev(struct vrnic_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ibdev,
		.event = type,
		.element.port_num = VRNIC_PORT,
	};

	ib_dispatch_event(&event);
}
