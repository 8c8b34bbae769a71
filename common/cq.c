// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues of both modules; each module compiles this file.
 *
 * Operation: an interrupt takes completions in batches and calls the handler of each
 * (wr_cqe->done, as the RDMA core's completion queues do). After each batch it calls
 * after_batch(), so that handlers can defer work that is cheaper for several
 * completions at once. It arms the next interrupt when the queue is empty.
 *
 * A poll in a softirq of the same CPU continues in three cases: after a full batch,
 * when the share of the hard interrupt is used up, and if the provider did not call
 * from its own hard interrupt. Software providers call with their work half done.
 * Drivers of iWARP adapters call from ib_post_send() on a QP that has failed, with the
 * caller's locks held, and possibly in an interrupt. A polled queue has neither
 * interrupts nor a softirq: its owner polls it (nvme_rdma_cq_take()).
 *
 * The RDMA core's ib_alloc_cq() has no callback after a batch, and always uses its
 * softirq, which costs as much as handling a completion.
 *
 * The send queue may have a completion queue of its own, since most of its completions
 * are not urgent. The poller handles it before that of the receives, whose handlers
 * need its completions. This queue interrupts only while a handler waits for a send
 * completion (@awaited), or for a drain. If a queue pair fails, its flushed receives
 * interrupt.
 *
 * The poller is the interrupt, the softirq, a work that looks, or a stop. It owns the
 * queue by irq_poll's SCHED bit; the owner of a polled queue serializes its polls
 * instead. So the handlers of a queue never run concurrently, and need no lock against
 * each other. Locks that they share with other contexts must be safe in interrupts. The
 * poller clears the bit before it arms the interrupt: an interrupt that finds the bit
 * set does nothing, and would be lost. A context that still arms has cleared the bit in
 * an interrupt, in a softirq or with softirqs disabled. The free therefore takes the bit
 * for good, and then waits for an RCU grace period.
 *
 * Works that look: many handlers only queue a work on their own CPU, and the work's CPU
 * time is what limits the queue. Interrupts before the work runs, and while it runs,
 * cost time and start nothing earlier. So the owner counts such works in @lookers
 * (nvme_rdma_cq_expect()), and nothing arms the interrupt until the last of them has
 * looked (nvme_rdma_cq_looked()). A busy queue interrupts once for many commands. With
 * one command at a time nothing is gained, so the owner counts no works then.
 *
 * A work is counted only while it is sure to run soon: it is queued on the CPU that
 * handles the completions, and is not running yet, or it runs there and has not slept.
 * It looks before it sleeps. So completions wait neither for a disk nor for a work that
 * a disk holds up. If works cannot run (there is no memory for a worker, or a real-time
 * task has the CPU), a timer notices that none has looked, and the queue is armed.
 *
 * No wake-up is lost: if the bit is clear, then the queue is armed, or @lookers is not 0.
 * There are three steps that could break this.
 * - A poller leaves the queue unarmed. It clears the bit and then reads @lookers. The
 *   last work decrements @lookers and then tests the bit. Each has a full barrier in
 *   between. So the work finds the bit clear and arms, or the poller reads 0 and arms.
 * - A work does not arm, as @armed is set. This is written before the interrupt is
 *   requested, and cleared first of all by the interrupt. So the request is still to
 *   come, or the interrupt is. The interrupt's context then polls, or finds the bit set.
 *   In the latter case the poller clears the bit afterwards, and the first step applies.
 * - A queue is armed with completions in it. The verbs report this (missed events), or
 *   the device interrupts at once. If they report it, @armed is cleared, and a poll
 *   follows, which ends with the first step.
 * The other way round, a queue may be armed twice, or armed without @armed. That costs an
 * interrupt.
 *
 * A flush ends when a poll that began after it has found the queues empty, or has
 * handled as many completions as they can hold. It does not stop the queue: later
 * completions are handled meanwhile.
 */
#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "cq.h"
#include "cq_trace.h"
#include "moderate.h"

/* Completions of one poll in a softirq; the RDMA core's queues have the same budget */
#define NVME_RDMA_CQ_BUDGET	256
/*
 * Completions that one hard interrupt handles, in which a device may call for dozens of
 * queues of a vector. Two batches take some 30 us. For more completions than that, the
 * softirq is worth its cost.
 */
#define NVME_RDMA_CQ_AT_ONCE	(2 * NVME_RDMA_CQ_BATCH)
/*
 * After one to two periods without a look, the queue is armed: far longer than a work waits
 * for its CPU, far shorter than any timeout of a peer
 */
#define NVME_RDMA_CQ_PATIENCE	msecs_to_jiffies(5)
#define NVME_RDMA_CQ_TOO_LATE	2

/**
 * struct nvme_rdma_cq_share - the share of a CPU's present hard interrupt
 * @irq: number of the interrupt
 * @left: completions that it may still handle
 */
struct nvme_rdma_cq_share {
	unsigned long irq;
	int left;
};

static DEFINE_PER_CPU(struct nvme_rdma_cq_share, nvme_rdma_cq_shares);

/* Handles the first @n of at most @budget completions, and those that come meanwhile */
static noinline int nvme_rdma_cq_handle(struct nvme_rdma_cq *cq, struct ib_cq *ib, int n,
					int budget)
{
	int i, done = 0;

	for (;;) {
		cq->now = 0;
		cq->nr_batch = n;
		for (i = 0; i < n; i++) {
			struct ib_wc *wc = &cq->wc[i];

			/* NULL but for the last WR of an rdma_rw chain, which fails with them */
			if (likely(wc->wr_cqe))
				wc->wr_cqe->done(ib, wc);
		}
		done += n;
		if (cq->ops->after_batch)
			cq->ops->after_batch(cq);
		if (n < NVME_RDMA_CQ_BATCH || done >= budget)
			return done;
		n = ib_poll_cq(ib, min(NVME_RDMA_CQ_BATCH, budget - done), cq->wc);
		if (n <= 0)
			return done;
	}
}

static __always_inline int nvme_rdma_cq_poll_ib(struct nvme_rdma_cq *cq, struct ib_cq *ib,
						int budget)
{
	int n = ib_poll_cq(ib, min(NVME_RDMA_CQ_BATCH, budget), cq->wc);

	return n > 0 ? nvme_rdma_cq_handle(cq, ib, n, budget) : 0;
}

/*
 * End flush @wanted, which was the last one when the poll began, if the poll allows it:
 * it has handled @done completions, and found the queues empty if @empty.
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

/* The first poll after an interrupt begins */
static void nvme_rdma_cq_new_cycle(struct nvme_rdma_cq *cq)
{
	if (cq->ib->dim)
		nvme_rdma_moderate(cq->ib, cq->cycle);
	WRITE_ONCE(cq->per_cycle, (cq->per_cycle + cq->cycle) / 2);
	cq->cycle = 0;
	WRITE_ONCE(cq->unseen, true);
}

static int nvme_rdma_cq_process(struct nvme_rdma_cq *cq, int budget,
				enum nvme_rdma_cq_poller poller)
{
	/* Pairs with nvme_rdma_cq_flush(), which has set @behind before */
	unsigned int wanted = smp_load_acquire(&cq->wanted);
	int done = 0;

	if (cq->sends)
		done = nvme_rdma_cq_poll_ib(cq, cq->sends, budget);
	if (done < budget)
		done += nvme_rdma_cq_poll_ib(cq, cq->ib, budget - done);
	/* What a thread finds says nothing of the interrupts */
	if (poller != NVME_RDMA_CQ_BY_THREAD)
		cq->cycle += done;
	if (unlikely(wanted != cq->flushed))
		nvme_rdma_cq_end_flush(cq, wanted, done, done < budget);
	trace_nvme_rdma_cq_poll(cq, poller, done);
	return done;
}

static bool nvme_rdma_cq_missed(struct ib_cq *ib)
{
	return ib_req_notify_cq(ib, IB_CQ_NEXT_COMP |
				    IB_CQ_REPORT_MISSED_EVENTS) > 0;
}

/* Return: true if the queue may have completions that will not interrupt */
static bool nvme_rdma_cq_arm(struct nvme_rdma_cq *cq)
{
	bool missed;

	/* Before the request, after which the interrupt changes it */
	WRITE_ONCE(cq->armed, true);
	missed = nvme_rdma_cq_missed(cq->ib);
	trace_nvme_rdma_cq_arm(cq, missed);
	if (missed)
		WRITE_ONCE(cq->armed, false);
	return missed;
}

/* Take the SCHED bit. A full barrier, also if the bit is set already, but not after a stop. */
static bool nvme_rdma_cq_own(struct nvme_rdma_cq *cq)
{
	return !test_bit(IRQ_POLL_F_DISABLE, &cq->iop.state) &&
	       !test_and_set_bit(IRQ_POLL_F_SCHED, &cq->iop.state);
}

/*
 * The end of a poll that has cleared the SCHED bit, by an atomic operation: arm the
 * interrupt, unless works will look. Schedule a poll if completions have arrived since.
 * @awaited is the value from before the bit was cleared: another poller may change it now.
 *
 * A context that sets @draining or @wanted schedules a poll, and a work that was the last
 * looker arms. Neither has an effect while the SCHED bit is set, so the poller checks all of
 * them here, after it cleared the bit. The barrier pairs with that of irq_poll_sched() and
 * of nvme_rdma_cq_looked().
 */
static void nvme_rdma_cq_leave(struct nvme_rdma_cq *cq, bool awaited)
{
	bool again = false;

	smp_mb__after_atomic();	/* see above */
	if (!atomic_read(&cq->lookers) ||
	    unlikely(READ_ONCE(cq->late) == NVME_RDMA_CQ_TOO_LATE))
		again = nvme_rdma_cq_arm(cq);
	else if (!timer_pending(&cq->watch))
		mod_timer(&cq->watch, jiffies + NVME_RDMA_CQ_PATIENCE);
	if (cq->sends && (awaited || READ_ONCE(cq->draining)))
		again |= nvme_rdma_cq_missed(cq->sends);
	again |= READ_ONCE(cq->wanted) != READ_ONCE(cq->flushed);
	if (again)
		irq_poll_sched(&cq->iop);
}

static void nvme_rdma_cq_disown(struct nvme_rdma_cq *cq)
{
	bool awaited = cq->awaited;

	/* The next owner sees what this one has written */
	smp_mb__before_atomic();
	clear_bit(IRQ_POLL_F_SCHED, &cq->iop.state);
	nvme_rdma_cq_leave(cq, awaited);
}

/* The queue is unarmed, and has been for some time */
static void nvme_rdma_cq_overdue(struct timer_list *timer)
{
	struct nvme_rdma_cq *cq = container_of(timer, struct nvme_rdma_cq, watch);

	/* A poller that found the timer pending has set what is read here before */
	smp_mb();
	if (READ_ONCE(cq->armed))
		return;
	/* Without lookers, the last one was interrupted before it armed */
	if (atomic_read(&cq->lookers) && !READ_ONCE(cq->late)) {
		WRITE_ONCE(cq->late, 1);
		mod_timer(timer, jiffies + NVME_RDMA_CQ_PATIENCE);
		return;
	}
	WRITE_ONCE(cq->late, NVME_RDMA_CQ_TOO_LATE);
	irq_poll_sched(&cq->iop);
}

static int nvme_rdma_cq_softirq(struct irq_poll *iop, int budget)
{
	struct nvme_rdma_cq *cq = container_of(iop, struct nvme_rdma_cq, iop);
	bool awaited;
	int done;

	if (READ_ONCE(cq->came)) {
		WRITE_ONCE(cq->came, false);
		nvme_rdma_cq_new_cycle(cq);
	}
	done = nvme_rdma_cq_process(cq, budget, NVME_RDMA_CQ_BY_SOFTIRQ);
	awaited = cq->awaited;
	if (done < budget) {
		irq_poll_complete(iop);
		nvme_rdma_cq_leave(cq, awaited);
	}
	return done;
}

/*
 * Return: the share of the present interrupt. The kernel's count of interrupts identifies
 * it. An interrupt that the kernel does not count, such as one from another CPU, gets the
 * rest of the share of the last one that it does.
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

/* An interrupt leaves its poll to the softirq */
static void nvme_rdma_cq_defer(struct nvme_rdma_cq *cq)
{
	WRITE_ONCE(cq->came, true);
	irq_poll_sched(&cq->iop);
}

/*
 * A queue with fewer completions than its budget here is armed, and interrupts again for
 * each few completions, unless works look. That is cheaper than the softirq while
 * completions are few. If interrupts arrive faster than they are handled, the queue fills,
 * or many queues use up the share. Then a work or the softirq polls, and no interrupts arrive
 * meanwhile.
 *
 * The interrupt does not look once more before it arms, not even after several completions.
 * In the bench (tests/bench/run) the host was interrupted and armed as often with that look
 * as without. With host and target on processors of their own, it cost the host 17
 * instructions of a 4 KiB read at QD 32, 20 of one in batches of 8, and 134 of a write, whose
 * SEND and response complete together. The bench's device interrupts for almost each
 * response there. A completion that arrives before the arming is not lost: see above.
 */
static void nvme_rdma_cq_interrupt(struct ib_cq *ib, void *context)
{
	struct nvme_rdma_cq *cq = context;
	struct nvme_rdma_cq_share *share;
	int budget, done;

	WRITE_ONCE(cq->armed, false);
	WRITE_ONCE(cq->interrupts, READ_ONCE(cq->interrupts) + 1);
	WRITE_ONCE(cq->cpu, raw_smp_processor_id());
	if (!cq->at_once || !in_hardirq()) {
		nvme_rdma_cq_defer(cq);
		return;
	}
	share = nvme_rdma_cq_my_share();
	budget = min(NVME_RDMA_CQ_BATCH, share->left);
	if (unlikely(budget <= 0)) {
		nvme_rdma_cq_defer(cq);
		return;
	}
	if (!nvme_rdma_cq_own(cq))
		return;
	nvme_rdma_cq_new_cycle(cq);
	done = nvme_rdma_cq_process(cq, budget, NVME_RDMA_CQ_BY_INTERRUPT);
	/* A poll that finds nothing costs time, too */
	share->left -= max(done, 1);
	if (done < budget) {
		nvme_rdma_cq_disown(cq);
		return;
	}
	/* The softirq continues, and is the owner from now on */
	clear_bit_unlock(IRQ_POLL_F_SCHED, &cq->iop.state);
	irq_poll_sched(&cq->iop);
}

/* The queue overran, or the device cannot access its memory: it is unusable */
static void nvme_rdma_cq_event(struct ib_event *event, void *context)
{
	struct nvme_rdma_cq *cq = context;

	if (event->event != IB_EVENT_CQ_ERR)
		return;
	WRITE_ONCE(cq->broken, true);
	cq->ops->failed(cq);
}

/**
 * nvme_rdma_cq_alloc() - create a completion queue
 * @ibdev:	the device
 * @size:	maximum number of completions in the queue
 * @vector:	completion vector
 * @polled:	true for a queue without interrupts
 * @ops:	callbacks of the owner
 * @context:	for the owner
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
	cq->cpu = -1;
	/* With PREEMPT_RT, handlers take locks that sleep, and in_hardirq() is a true interrupt */
	cq->at_once = !IS_ENABLED(CONFIG_PREEMPT_RT) &&
		      !rdma_protocol_iwarp(ibdev, rdma_start_port(ibdev));
	mutex_init(&cq->flush_lock);
	init_completion(&cq->flush_done);
	timer_setup(&cq->watch, nvme_rdma_cq_overdue, 0);
	irq_poll_init(&cq->iop, NVME_RDMA_CQ_BUDGET, nvme_rdma_cq_softirq);
	ib = ib_create_cq(ibdev, polled ? NULL : nvme_rdma_cq_interrupt,
			  nvme_rdma_cq_event, cq, &attr);
	if (IS_ERR(ib)) {
		kfree(cq);
		return ERR_CAST(ib);
	}
	cq->ib = ib;
	/* The RDMA core shows it, and drivers of devices that have died look at it */
	ib->poll_ctx = polled ? IB_POLL_DIRECT : IB_POLL_SOFTIRQ;
	if (polled)
		return cq;
	nvme_rdma_moderate_init(ib);
	nvme_rdma_cq_arm(cq);
	return cq;
}

/**
 * nvme_rdma_cq_add_sends() - create a separate completion queue for the send queue
 * @cq:		the queue, which has interrupts, and no QP yet
 * @size:	maximum number of completions of the send queue
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
	sends->poll_ctx = IB_POLL_SOFTIRQ;
	cq->sends = sends;
	return 0;
}

/**
 * nvme_rdma_cq_free() - undo nvme_rdma_cq_alloc()
 * @cq:		the queue; its QPs have been destroyed, and no work looks at it
 *
 * Context: process.
 */
void nvme_rdma_cq_free(struct nvme_rdma_cq *cq)
{
	struct dim *dim = cq->ib->dim;

	if (!cq->polled) {
		irq_poll_disable(&cq->iop);
		/* Contexts that have cleared the SCHED bit may still arm */
		synchronize_rcu();
		timer_delete_sync(&cq->watch);
		nvme_rdma_moderate_stop(dim);
	}
	if (cq->sends)
		ib_destroy_cq(cq->sends);
	ib_destroy_cq(cq->ib);
	nvme_rdma_moderate_free(dim);
	kfree(cq);
}

/**
 * nvme_rdma_cq_poll_on() - handle all completions in a polled queue
 * @cq:		the queue
 * @taken:	the number of those that nvme_rdma_cq_take() has taken before, 1 or more
 *
 * Context: as nvme_rdma_cq_take(). Return: number of completions.
 */
int nvme_rdma_cq_poll_on(struct nvme_rdma_cq *cq, int taken)
{
	/* It has no queue for sends, and no flush waits for it */
	int done = nvme_rdma_cq_handle(cq, cq->ib, taken, INT_MAX);

	trace_nvme_rdma_cq_poll(cq, NVME_RDMA_CQ_BY_OWNER, done);
	return done;
}

/**
 * nvme_rdma_cq_stop() - handle the completions in a queue, then stop it
 * @cq:		the queue, which has interrupts
 *
 * No handler runs after the return, until nvme_rdma_cq_start(). The caller must call that
 * soon.
 *
 * Context: process; not in a handler of the queue. Returns with @flush_lock held.
 */
void nvme_rdma_cq_stop(struct nvme_rdma_cq *cq)
{
	/* irq_poll_disable() does not count its callers */
	mutex_lock(&cq->flush_lock);
	irq_poll_disable(&cq->iop);
	local_bh_disable();
	nvme_rdma_cq_process(cq, INT_MAX, NVME_RDMA_CQ_BY_STOP);
	local_bh_enable();
}

/**
 * nvme_rdma_cq_discard() - remove all completions without calling their handlers
 * @cq:		the queue, stopped or polled; its QPs have been destroyed
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
 * Context: process; the task that stopped the queue.
 */
void nvme_rdma_cq_start(struct nvme_rdma_cq *cq)
{
	bool awaited = cq->awaited;

	/* As nvme_rdma_cq_looked() */
	local_bh_disable();
	irq_poll_enable(&cq->iop);
	nvme_rdma_cq_leave(cq, awaited);
	local_bh_enable();
	mutex_unlock(&cq->flush_lock);
}

/**
 * nvme_rdma_cq_flush() - wait for the handlers of earlier completions
 * @cq:		the queue, which has interrupts
 *
 * Returns after the handlers of all earlier completions have run.
 *
 * Context: process; not in a handler of the queue.
 */
void nvme_rdma_cq_flush(struct nvme_rdma_cq *cq)
{
	mutex_lock(&cq->flush_lock);
	reinit_completion(&cq->flush_done);
	/* The poller does not access it unless a flush is pending */
	cq->behind = cq->ib->cqe + (cq->sends ? cq->sends->cqe : 0);
	/* Pairs with nvme_rdma_cq_process() */
	smp_store_release(&cq->wanted, cq->wanted + 1);
	irq_poll_sched(&cq->iop);
	wait_for_completion(&cq->flush_done);
	mutex_unlock(&cq->flush_lock);
}

/**
 * nvme_rdma_cq_kick() - schedule a poll for completions of the send queue
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
 * nvme_rdma_cq_drain_sends() - enable interrupts for all send completions
 * @cq:		the queue; its QP is about to be drained
 *
 * Context: process.
 */
void nvme_rdma_cq_drain_sends(struct nvme_rdma_cq *cq)
{
	WRITE_ONCE(cq->draining, true);
	nvme_rdma_cq_kick(cq);
}

/**
 * nvme_rdma_cq_expect() - a work will look
 * @cq:		the queue
 *
 * The work is queued on this CPU and not running, or runs on it. This is the CPU that
 * handles the queue's completions. The work calls nvme_rdma_cq_looked() when it ends, and
 * before it sleeps. A thread that looks all the time counts as a work, on any CPU.
 *
 * Context: any.
 */
void nvme_rdma_cq_expect(struct nvme_rdma_cq *cq)
{
	atomic_inc(&cq->lookers);
}

static void nvme_rdma_cq_note_look(struct nvme_rdma_cq *cq)
{
	if (unlikely(READ_ONCE(cq->late)))
		WRITE_ONCE(cq->late, 0);
}

/* If more remains than a softirq would handle, one continues before the caller does */
static int nvme_rdma_cq_poll_in_work(struct nvme_rdma_cq *cq, enum nvme_rdma_cq_poller poller)
{
	int done = 0;

	local_bh_disable();
	if (nvme_rdma_cq_own(cq)) {
		WRITE_ONCE(cq->unseen, false);
		done = nvme_rdma_cq_process(cq, NVME_RDMA_CQ_BUDGET, poller);
		nvme_rdma_cq_disown(cq);
		if (unlikely(done >= NVME_RDMA_CQ_BUDGET))
			irq_poll_sched(&cq->iop);
	}
	local_bh_enable();
	return done;
}

/**
 * nvme_rdma_cq_look() - handle completions of a queue that is not armed
 * @cq:		the queue, for which the caller is counted as a work that looks
 *
 * Context: process; not in a handler of the queue.
 */
void nvme_rdma_cq_look(struct nvme_rdma_cq *cq)
{
	nvme_rdma_cq_note_look(cq);
	if (!READ_ONCE(cq->armed))
		nvme_rdma_cq_poll_in_work(cq, NVME_RDMA_CQ_BY_WORK);
}

/**
 * nvme_rdma_cq_look_in_thread() - the same for a thread, which looks again and again
 * @cq:		the queue
 *
 * Context: process; not in a handler of the queue. Return: number of completions.
 */
int nvme_rdma_cq_look_in_thread(struct nvme_rdma_cq *cq)
{
	nvme_rdma_cq_note_look(cq);
	return READ_ONCE(cq->armed) ? 0 :
	       nvme_rdma_cq_poll_in_work(cq, NVME_RDMA_CQ_BY_THREAD);
}

/**
 * nvme_rdma_cq_looked() - undo nvme_rdma_cq_expect()
 * @cq:		the queue
 *
 * The last work that looks arms the interrupt. It polls before that only if completions
 * are likely, as an empty poll costs time, too.
 *
 * Context: process; not in a handler of the queue.
 */
void nvme_rdma_cq_looked(struct nvme_rdma_cq *cq)
{
	nvme_rdma_cq_note_look(cq);
	/* Not to be preempted between the end of the look and the request of an interrupt */
	local_bh_disable();
	/* The barrier pairs with nvme_rdma_cq_leave() */
	if (atomic_dec_and_test(&cq->lookers) && !READ_ONCE(cq->armed) &&
	    !test_bit(IRQ_POLL_F_SCHED, &cq->iop.state) &&
	    (nvme_rdma_cq_is_busy(cq) || nvme_rdma_cq_arm(cq)))
		nvme_rdma_cq_poll_in_work(cq, NVME_RDMA_CQ_BY_WORK);
	local_bh_enable();
}
