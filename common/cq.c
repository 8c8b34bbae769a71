// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues of either module, which each compile this file.
 *
 * Operation: an interrupt takes completions out in batches, calls the handler of
 * each (wr_cqe->done, as with the core's completion queues), and behind each batch
 * after_batch(), so that handlers may put off what is cheaper done for several.
 * When nothing is left it asks for the next interrupt. After a batch, after the share
 * of an interrupt that all queues have between them, or if the
 * provider does not call from its own hard interrupt, a poll in a softirq of the
 * same CPU does the rest: software providers call with their work half done, and
 * drivers of iWARP adapters out of ib_post_send() on a QP that has failed, which may
 * itself be in an interrupt, with the caller's locks. A queue of the kind "polled" has
 * neither: its owner calls nvme_rdma_cq_poll().
 *
 * The core's own ib_alloc_cq() would do but for after_batch(), for which it has no
 * place, and for its softirq, which costs as much as handling a completion does.
 *
 * Completions of the send queue may have a queue of their own: nobody is in a hurry
 * for most of them. It is polled before that of the receives is, which is when they
 * matter, and interrupts only while a handler has found that it came too early
 * (@awaited), or for a drain. A queue pair that breaks flushes its receives as well,
 * so that is heard of.
 *
 * Who polls owns the queue, by irq_poll's SCHED bit: the interrupt, the softirq, or
 * a stop. So handlers of a queue never run side by side, and need no lock among
 * themselves; with others, theirs are locks that interrupts may take. The bit is
 * given back before the next interrupt is asked for, or that could come to nobody:
 * so who frees the queue waits for @pollers, too.
 *
 * A flush waits until a poll that began after it has found the queues empty, or has
 * handled as many completions as they can hold. It takes the queue from nobody: others'
 * completions go on meanwhile.
 */
#include <linux/delay.h>
#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "cq.h"

/* As many completions before others get their turn; as the core's queues */
#define NVME_RDMA_CQ_BUDGET	256
/*
 * Completions that one hard interrupt handles. A device may call for dozens of queues of a
 * vector in it. Two batches take some 30 us; whatever is beyond that has company enough for
 * the softirq to be worth its price.
 */
#define NVME_RDMA_CQ_AT_ONCE	(2 * NVME_RDMA_CQ_BATCH)

/**
 * struct nvme_rdma_cq_share - what a CPU's present hard interrupt may still handle
 * @irq: number of that interrupt
 * @left: completions
 */
struct nvme_rdma_cq_share {
	unsigned long irq;
	int left;
};

static DEFINE_PER_CPU(struct nvme_rdma_cq_share, nvme_rdma_cq_shares);

static int nvme_rdma_cq_poll_ib(struct nvme_rdma_cq *cq, struct ib_cq *ib,
				int budget)
{
	int n, i, done = 0;

	do {
		cq->now = 0;
		n = ib_poll_cq(ib, min(NVME_RDMA_CQ_BATCH, budget - done),
			       cq->wc);
		for (i = 0; i < n; i++) {
			struct ib_wc *wc = &cq->wc[i];

			/* parts of rdma_rw's chains have none, and fail with it */
			if (likely(wc->wr_cqe))
				wc->wr_cqe->done(ib, wc);
		}
		if (n > 0) {
			done += n;
			if (cq->ops->after_batch)
				cq->ops->after_batch(cq);
		}
	} while (n == NVME_RDMA_CQ_BATCH && done < budget);
	return done;
}

/*
 * A poll, which began when flush @wanted was the last that had been asked for, has found
 * @done completions and, if that is less than it wanted, nothing left.
 */
static void nvme_rdma_cq_end_flush(struct nvme_rdma_cq *cq, unsigned int wanted,
				   int done, bool empty)
{
	cq->behind -= done;
	if (!empty && cq->behind > 0)
		return;
	WRITE_ONCE(cq->flushed, wanted);
	complete(&cq->flush_done);
}

static int nvme_rdma_cq_process(struct nvme_rdma_cq *cq, int budget)
{
	/* pairs with nvme_rdma_cq_flush(), which has set @behind before */
	unsigned int wanted = smp_load_acquire(&cq->wanted);
	int done = 0;

	if (cq->sends)
		done = nvme_rdma_cq_poll_ib(cq, cq->sends, budget);
	if (done < budget)
		done += nvme_rdma_cq_poll_ib(cq, cq->ib, budget - done);
	if (unlikely(wanted != cq->flushed))
		nvme_rdma_cq_end_flush(cq, wanted, done, done < budget);
	return done;
}

static bool nvme_rdma_cq_missed(struct ib_cq *ib)
{
	return ib_req_notify_cq(ib, IB_CQ_NEXT_COMP |
				    IB_CQ_REPORT_MISSED_EVENTS) > 0;
}

/*
 * Nothing was left, and the queue has been given back: say when there is more, or
 * look again if there is already. @awaited is the poller's, which alone knew it.
 *
 * Whoever sets @draining or @wanted schedules a poll, in vain as long as somebody polls:
 * that one sees it here. The barrier pairs with the one of irq_poll_sched().
 */
static void nvme_rdma_cq_arm(struct nvme_rdma_cq *cq, bool awaited)
{
	bool again = nvme_rdma_cq_missed(cq->ib);

	smp_mb();	/* see above */
	if (cq->sends && (awaited || READ_ONCE(cq->draining)))
		again |= nvme_rdma_cq_missed(cq->sends);
	again |= READ_ONCE(cq->wanted) != READ_ONCE(cq->flushed);
	if (again)
		irq_poll_sched(&cq->iop);
}

static int nvme_rdma_cq_softirq(struct irq_poll *iop, int budget)
{
	struct nvme_rdma_cq *cq = container_of(iop, struct nvme_rdma_cq, iop);
	bool awaited;
	int done;

	atomic_inc(&cq->pollers);
	done = nvme_rdma_cq_process(cq, budget);
	awaited = cq->awaited;
	if (done < budget) {
		irq_poll_complete(iop);
		nvme_rdma_cq_arm(cq, awaited);
	}
	atomic_dec_return_release(&cq->pollers);
	return done;
}

/*
 * The share of the interrupt that this is called in. They are told apart by the kernel's
 * count of them; an interrupt that it does not count, as that of another CPU, has what the
 * last one that it does has left.
 */
static struct nvme_rdma_cq_share *nvme_rdma_cq_my_share(void)
{
	struct nvme_rdma_cq_share *share = this_cpu_ptr(&nvme_rdma_cq_shares);
	unsigned long irq = __this_cpu_read(kstat.irqs_sum);

	if (share->irq != irq) {
		share->irq = irq;
		share->left = NVME_RDMA_CQ_AT_ONCE;
	}
	return share;
}

/*
 * A queue that has less than it may have here is armed, and so interrupts again for each
 * few completions. That is cheaper than the softirq as long as they are few. If interrupts
 * come faster than they are handled, either the queue fills, or there are many queues,
 * and the share ends: the softirq has them then, and no interrupts come while it does.
 */
static void nvme_rdma_cq_interrupt(struct ib_cq *ib, void *context)
{
	struct nvme_rdma_cq *cq = context;
	struct irq_poll *iop = &cq->iop;
	struct nvme_rdma_cq_share *share;
	bool awaited;
	int budget, done;

	if (!cq->at_once || !in_hardirq()) {
		irq_poll_sched(iop);
		return;
	}
	share = nvme_rdma_cq_my_share();
	budget = min(NVME_RDMA_CQ_BATCH, share->left);
	if (unlikely(budget <= 0)) {
		irq_poll_sched(iop);
		return;
	}
	if (test_bit(IRQ_POLL_F_DISABLE, &iop->state) ||
	    test_and_set_bit_lock(IRQ_POLL_F_SCHED, &iop->state))
		return;
	atomic_inc(&cq->pollers);
	done = nvme_rdma_cq_process(cq, budget);
	awaited = cq->awaited;
	clear_bit_unlock(IRQ_POLL_F_SCHED, &iop->state);
	/* To look for completions has its price, too */
	share->left -= max(done, 1);
	if (done < budget)
		nvme_rdma_cq_arm(cq, awaited);
	else
		irq_poll_sched(iop);
	atomic_dec_return_release(&cq->pollers);
}

/* A queue that was run over, or whose memory the device cannot reach, is of no more use */
static void nvme_rdma_cq_event(struct ib_event *event, void *context)
{
	struct nvme_rdma_cq *cq = context;

	if (event->event != IB_EVENT_CQ_ERR)
		return;
	WRITE_ONCE(cq->broken, true);
	cq->ops->failed(cq);
}

/**
 * nvme_rdma_cq_alloc() - make a completion queue
 * @ibdev:	the device
 * @size:	completions that it has to hold
 * @vector:	completion vector
 * @polled:	without interrupts
 * @ops:	what to call
 * @context:	for @ops
 *
 * Context: process. Return: the queue or an ERR_PTR().
 */
struct nvme_rdma_cq *
nvme_rdma_cq_alloc(struct ib_device *ibdev, unsigned int size,
		   unsigned int vector, bool polled,
		   const struct nvme_rdma_cq_ops *ops, void *context)
{
	struct ib_cq_init_attr attr = {
		.cqe		= size,
		.comp_vector	= vector,
	};
	struct nvme_rdma_cq *cq;
	struct ib_cq *ib;

	cq = kzalloc_node(sizeof(*cq), GFP_KERNEL, ibdev_to_node(ibdev));
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->context = context;
	cq->ops = ops;
	cq->polled = polled;
	cq->vector = vector;
	cq->at_once = !rdma_protocol_iwarp(ibdev, rdma_start_port(ibdev));
	mutex_init(&cq->flush_lock);
	init_completion(&cq->flush_done);
	irq_poll_init(&cq->iop, NVME_RDMA_CQ_BUDGET, nvme_rdma_cq_softirq);
	ib = ib_create_cq(ibdev, polled ? NULL : nvme_rdma_cq_interrupt,
			  nvme_rdma_cq_event, cq, &attr);
	if (IS_ERR(ib)) {
		kfree(cq);
		return ERR_CAST(ib);
	}
	cq->ib = ib;
	if (!polled)
		nvme_rdma_cq_arm(cq, false);
	return cq;
}

/**
 * nvme_rdma_cq_add_sends() - let the send queue have a completion queue of its own
 * @cq:		the queue, which has interrupts, and no QP yet
 * @size:	completions of the send queue that it has to hold
 *
 * Context: process. Return: 0 or a negative errno.
 */
int nvme_rdma_cq_add_sends(struct nvme_rdma_cq *cq, unsigned int size)
{
	struct ib_cq_init_attr attr = {
		.cqe		= size,
		.comp_vector	= cq->vector,
	};
	struct ib_cq *sends;

	sends = ib_create_cq(cq->ib->device, nvme_rdma_cq_interrupt,
			     nvme_rdma_cq_event, cq, &attr);
	if (IS_ERR(sends))
		return PTR_ERR(sends);
	cq->sends = sends;
	return 0;
}

/**
 * nvme_rdma_cq_free() - undo nvme_rdma_cq_alloc()
 * @cq:		the queue, of no QP any more
 *
 * Context: process.
 */
void nvme_rdma_cq_free(struct nvme_rdma_cq *cq)
{
	if (!cq->polled) {
		irq_poll_disable(&cq->iop);
		/* It may be a task that this one keeps from running */
		while (atomic_read_acquire(&cq->pollers))
			usleep_range(10, 20);
	}
	if (cq->sends)
		ib_destroy_cq(cq->sends);
	ib_destroy_cq(cq->ib);
	kfree(cq);
}

/**
 * nvme_rdma_cq_poll() - handle what a polled queue holds
 * @cq:		the queue
 *
 * Context: any, one at a time for a queue. Return: completions found.
 */
int nvme_rdma_cq_poll(struct nvme_rdma_cq *cq)
{
	return nvme_rdma_cq_process(cq, INT_MAX);
}

/**
 * nvme_rdma_cq_stop() - handle what has completed by now, and from then on nothing
 * @cq:		the queue, which has interrupts
 *
 * Context: process; not in a handler of the queue. nvme_rdma_cq_start() follows, soon.
 */
void nvme_rdma_cq_stop(struct nvme_rdma_cq *cq)
{
	/* irq_poll_disable() is for one at a time */
	mutex_lock(&cq->flush_lock);
	irq_poll_disable(&cq->iop);
	local_bh_disable();
	nvme_rdma_cq_process(cq, INT_MAX);
	local_bh_enable();
}

/**
 * nvme_rdma_cq_discard() - forget what a queue holds
 * @cq:		the queue, stopped or polled; its QPs are gone
 *
 * Context: process.
 */
void nvme_rdma_cq_discard(struct nvme_rdma_cq *cq)
{
	while (cq->sends && ib_poll_cq(cq->sends, NVME_RDMA_CQ_BATCH, cq->wc) > 0)
		;
	while (ib_poll_cq(cq->ib, NVME_RDMA_CQ_BATCH, cq->wc) > 0)
		;
}

/**
 * nvme_rdma_cq_start() - undo nvme_rdma_cq_stop()
 * @cq:		the queue
 *
 * Context: process; who stopped it.
 */
void nvme_rdma_cq_start(struct nvme_rdma_cq *cq)
{
	bool awaited = cq->awaited;

	irq_poll_enable(&cq->iop);
	nvme_rdma_cq_arm(cq, awaited);
	mutex_unlock(&cq->flush_lock);
}

/**
 * nvme_rdma_cq_flush() - handle what has completed by now
 * @cq:		the queue, which has interrupts
 *
 * When this returns, the handlers of all that completed before it was called
 * have.
 *
 * Context: process; not in a handler of the queue.
 */
void nvme_rdma_cq_flush(struct nvme_rdma_cq *cq)
{
	mutex_lock(&cq->flush_lock);
	reinit_completion(&cq->flush_done);
	/* No poll looks at it while no flush is wanted */
	cq->behind = cq->ib->cqe + (cq->sends ? cq->sends->cqe : 0);
	/* pairs with nvme_rdma_cq_process() */
	smp_store_release(&cq->wanted, cq->wanted + 1);
	irq_poll_sched(&cq->iop);
	wait_for_completion(&cq->flush_done);
	mutex_unlock(&cq->flush_lock);
}

/**
 * nvme_rdma_cq_kick() - have completions of the send queue looked at
 * @cq:		the queue
 *
 * Context: any.
 */
void nvme_rdma_cq_kick(struct nvme_rdma_cq *cq)
{
	if (cq->sends)
		irq_poll_sched(&cq->iop);
}

/**
 * nvme_rdma_cq_drain_sends() - from now on all completions are to be heard of
 * @cq:		the queue, whose QP is about to go
 *
 * Context: process.
 */
void nvme_rdma_cq_drain_sends(struct nvme_rdma_cq *cq)
{
	WRITE_ONCE(cq->draining, true);
	nvme_rdma_cq_kick(cq);
}
