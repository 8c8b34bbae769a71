// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * Operation: vrnic_cq_add() appends a completion, in the context that executes the work. If
 * the queue is armed, it interrupts the CPU of its vector: a true interrupt, by irq_work
 * (with PREEMPT_RT a thread, as of a device), which counts as a device's. As on hardware, the
 * interrupt calls comp_handler for all queues that are due on that CPU by then. With moderation
 * it comes later (moder.c). poll_cq removes completions. Each returns slots of the send or
 * receive queue to the consumer, and not earlier, which the consumer has to respect.
 *
 * A consumer that overruns a queue has lost completions for good. As on hardware, an event
 * reports it, and the queue has no more completions.
 */

#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/kernel_stat.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "vrnic.h"

/**
 * struct vrnic_eq - the queues that a CPU has to be interrupted for
 * @due: the last one first
 * @irq: the interrupt
 * @call: the same, from another CPU
 */
struct vrnic_eq {
	struct llist_head due;
	struct irq_work irq;
	call_single_data_t call;
};

static DEFINE_PER_CPU(struct vrnic_eq, eqs);

/* In an interrupt, of this CPU's own making or of another's */
static void eq_interrupt(struct irq_work *irq)
{
	struct vrnic_eq *eq = container_of(irq, struct vrnic_eq, irq);
	struct llist_node *node, *next;
	struct vrnic_cq *cq;

	node = llist_reverse_order(llist_del_all(&eq->due));
	if (!node)
		return;
	/* As the kernel does for interrupts that arrive through an interrupt controller */
	__this_cpu_inc(kstat.irqs_sum);
	for (; node; node = next) {
		next = node->next;
		cq = llist_entry(node, struct vrnic_cq, due);
		/* It may be due again, and handled twice, but never not at all */
		atomic_xchg(&cq->is_due, 0);
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		atomic_dec_return_release(&cq->calls);
	}
}

/*
 * A CPU that is about to idle is spared the interrupt, and makes the calls that
 * others ask of it as it leaves the idle loop again, in no interrupt: it
 * interrupts itself then. With PREEMPT_RT interrupts are threads, as irq_work is.
 */
static void eq_interrupt_from(void *arg)
{
	struct vrnic_eq *eq = arg;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && likely(in_hardirq()))
		eq_interrupt(&eq->irq);
	else
		irq_work_queue(&eq->irq);
}

/*
 * One that is still to come serves for this one, too. With PREEMPT_RT the caller may move to
 * another CPU meanwhile, which then makes the calls.
 */
static __always_inline void interrupt(struct vrnic_cq *cq)
{
	int cpu = cpu_online(cq->cpu) ? cq->cpu : raw_smp_processor_id();
	struct vrnic_eq *eq = per_cpu_ptr(&eqs, cpu);

	if (atomic_xchg(&cq->is_due, 1))
		return;
	atomic_inc(&cq->calls);
	if (!llist_add(&cq->due, &eq->due))
		return;
	/* If that call is still to be made, it finds the queue */
	if (cpu == raw_smp_processor_id())
		irq_work_queue(&eq->irq);
	else
		smp_call_function_single_async(cpu, &eq->call);
}

/**
 * vrnic_cq_interrupt() - interrupt the CPU of a CQ
 * @cq: the CQ
 *
 * Context: any; interrupts are off.
 */
void vrnic_cq_interrupt(struct vrnic_cq *cq)
{
	interrupt(cq);
}

/**
 * vrnic_cqs_init() - before there is a completion queue
 *
 * Context: any.
 */
void vrnic_cqs_init(void)
{
	struct vrnic_eq *eq;
	int cpu;

	for_each_possible_cpu(cpu) {
		eq = per_cpu_ptr(&eqs, cpu);
		init_llist_head(&eq->due);
		eq->irq = IRQ_WORK_INIT(eq_interrupt);
		INIT_CSD(&eq->call, eq_interrupt_from, eq);
	}
}

/* Nothing to be done, on the CPU */
static void eq_idle(void *unused)
{
}

/**
 * vrnic_cqs_exit() - wait for interrupts that are of no queue any more
 *
 * Context: may sleep; there is no completion queue.
 */
void vrnic_cqs_exit(void)
{
	int cpu;

	/* Calls of a CPU are made in their order */
	on_each_cpu(eq_idle, NULL, true);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&eqs, cpu)->irq);
}

static int cq_cpu(const struct vrnic_dev *dev, int vector)
{
	return cpumask_nth((dev->config.first_cpu + vector) % num_online_cpus(),
			   cpu_online_mask);
}

static bool is_of_core(const struct ib_cq *cq)
{
	return cq->res.kern_name && !strcmp(cq->res.kern_name, "ib_core");
}

int vrnic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct vrnic_cq_udata *udata)
{
	struct vrnic_dev *dev = to_vdev(ibcq->device);
	struct vrnic_cq *cq = to_vcq(ibcq);
	struct vrnic_fault_hit hit;
	u32 size;

	if (udata || attr->flags)
		return -EOPNOTSUPP;
	/* The completion queue of the RDMA core's own QP may exceed the device's limit */
	if (!attr->cqe || (attr->cqe > dev->config.max_cqe && !is_of_core(ibcq)) ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	if (vrnic_fault(dev, VRNIC_FAULT_MAKE, VRNIC_MAKE_CQ, NULL, &hit))
		return -hit.arg;
	if (!atomic_add_unless(&dev->nr_cqs, 1, dev->config.max_cq))
		return -ENOMEM;
	size = roundup_pow_of_two(attr->cqe);
	cq->ring = kvcalloc(size, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring) {
		atomic_dec(&dev->nr_cqs);
		return -ENOMEM;
	}
	cq->mask = size - 1;
	cq->limit = attr->cqe;
	cq->cpu = cq_cpu(dev, attr->comp_vector);
	spin_lock_init(&cq->lock);
	vrnic_moder_init(cq);
	ibcq->cqe = attr->cqe;
	mutex_lock(&dev->obj_lock);
	list_add_tail(&cq->entry, &dev->cqs);
	mutex_unlock(&dev->obj_lock);
	return 0;
}

int vrnic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct vrnic_dev *dev = to_vdev(ibcq->device);
	struct vrnic_cq *cq = to_vcq(ibcq);

	mutex_lock(&dev->obj_lock);
	list_del(&cq->entry);
	dev->gone_cq[0] += cq->arms;
	dev->gone_cq[1] += cq->events;
	dev->gone_cq[2] += cq->polls;
	dev->gone_cq[3] += cq->cqes;
	dev->gone_cq[4] += cq->moder.calls;
	mutex_unlock(&dev->obj_lock);
	hrtimer_cancel(&cq->moder.timer);
	while (atomic_read_acquire(&cq->calls))
		usleep_range(10, 100);
	flush_workqueue(vrnic_wq);
	kvfree(cq->ring);
	atomic_dec(&dev->nr_cqs);
	return 0;
}

/**
 * vrnic_cq_used() - record that a QP uses a CQ
 * @cq: the CQ
 * @qp: the QP
 *
 * CQs of a pool belong to the core; the user of its QPs is the CQ's owner.
 *
 * Context: may sleep; obj_lock is held.
 */
void vrnic_cq_used(struct vrnic_cq *cq, const struct vrnic_qp *qp)
{
	lockdep_assert_held(&qp->dev->obj_lock);
	strscpy(cq->owner, vrnic_owner(qp), sizeof(cq->owner));
}

/* Which CPU a vector interrupts */
const struct cpumask *vrnic_vector_affinity(struct ib_device *ibdev, int vector)
{
	if (vector < 0 || vector >= ibdev->num_comp_vectors)
		return NULL;
	return cpumask_of(cq_cpu(to_vdev(ibdev), vector));
}

static void cq_overrun(struct vrnic_cq *cq, const struct vrnic_cqe *cqe)
{
	if (cq->overrun)
		return;
	vrnic_violation(cqe->qp->dev, cqe->qp,
			"CQ %u overrun: it holds %u completions, all of them taken, when one of the %s queue comes",
			cq->ibcq.res.id, cq->limit,
			cqe->queue == VRNIC_SQ ? "send" : "receive");
	cq->overrun = true;
	vrnic_event_cq(cq, IB_EVENT_CQ_ERR, 0);
}

/**
 * vrnic_cq_fail() - make a CQ unusable
 * @cq: the CQ
 * @cqe: a completion that is lost by that
 * @after_us: microseconds until its consumer is notified
 *
 * Context: any; interrupts are off.
 */
void vrnic_cq_fail(struct vrnic_cq *cq, const struct vrnic_cqe *cqe, u32 after_us)
{
	lockdep_assert_irqs_disabled();
	spin_lock(&cq->lock);
	if (!cq->overrun) {
		cq->overrun = true;
		vrnic_event_cq(cq, IB_EVENT_CQ_ERR, after_us);
	}
	vrnic_cqe_lost(cqe);
	spin_unlock(&cq->lock);
}

/**
 * vrnic_cq_add() - append a completion
 * @cq: its CQ
 * @cqe: the completion
 * @solicited: also interrupts for consumers that requested solicited completions only
 *
 * Context: any; interrupts are off.
 */
void vrnic_cq_add(struct vrnic_cq *cq, const struct vrnic_cqe *cqe,
		  bool solicited)
{
	bool fire;

	lockdep_assert_irqs_disabled();
	spin_lock(&cq->lock);
	if (unlikely(cq->head - cq->tail >= cq->limit || cq->overrun)) {
		cq_overrun(cq, cqe);
		vrnic_cqe_lost(cqe);
		spin_unlock(&cq->lock);
		return;
	}
	cq->ring[cq->head++ & cq->mask] = *cqe;
	cq->cqes++;
	fire = cq->armed == IB_CQ_NEXT_COMP ||
	       (cq->armed && (solicited || cqe->wc.status));
	if (fire && unlikely(cq->moder.count))
		fire = vrnic_moder_add(cq);
	if (fire) {
		cq->armed = 0;
		cq->events++;
	}
	spin_unlock(&cq->lock);
	if (fire)
		interrupt(cq);
}

/* The slots that a completion returns to the consumer */
static __always_inline void cq_credit(const struct vrnic_cqe *cqe)
{
	struct vrnic_qp *qp = cqe->qp;

	if (cqe->queue == VRNIC_SQ)
		WRITE_ONCE(qp->sq_polled, cqe->credit);
	else if (qp->ibqp.srq)
		atomic_sub(cqe->credit, &to_vsrq(qp->ibqp.srq)->rq.held);
	else
		atomic_sub(cqe->credit, &qp->rq.held);
}

/* A poll has found nothing: the bench counts what led to it as idle (tests/bench/plugin/vain.c) */
static noinline __noclone void vrnic_poll_nothing(void)
{
	barrier();
}

int vrnic_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct vrnic_cq *cq = to_vcq(ibcq);
	unsigned long flags;
	int got = 0;

	spin_lock_irqsave(&cq->lock, flags);
	cq->polls++;
	while (got < n && cq->tail != cq->head) {
		const struct vrnic_cqe *cqe = &cq->ring[cq->tail & cq->mask];

		wc[got++] = cqe->wc;
		cq_credit(cqe);
		cq->tail++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!got)
		vrnic_poll_nothing();
	return got;
}

int vrnic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct vrnic_cq *cq = to_vcq(ibcq);
	unsigned long irq;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq);
	cq->arms++;
	/* To ask for less does not undo having asked for more */
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = flags & IB_CQ_SOLICITED_MASK;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}

/**
 * vrnic_cq_clean() - remove completions of a QP that goes
 * @cq: where
 * @qp: it
 *
 * Context: any.
 */
void vrnic_cq_clean(struct vrnic_cq *cq, const struct vrnic_qp *qp)
{
	unsigned long flags;
	u32 from, to;

	spin_lock_irqsave(&cq->lock, flags);
	for (from = to = cq->tail; from != cq->head; from++) {
		const struct vrnic_cqe *cqe = &cq->ring[from & cq->mask];

		if (cqe->qp == qp)
			cq_credit(cqe);
		else
			cq->ring[to++ & cq->mask] = *cqe;
	}
	cq->head = to;
	spin_unlock_irqrestore(&cq->lock, flags);
}
