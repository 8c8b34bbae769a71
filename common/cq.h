/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queues of both modules; see cq.c.
 */
#ifndef NVME_RDMA_CQ_H
#define NVME_RDMA_CQ_H

#include <linux/completion.h>
#include <linux/irq_poll.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/timer.h>
#include <rdma/ib_verbs.h>

/* Completions that one call of ib_poll_cq() takes */
#define NVME_RDMA_CQ_BATCH	16

/*
 * Completions for each interrupt from which on a queue is busy. A command alone has up to two:
 * its receive and a send.
 */
#define NVME_RDMA_CQ_BUSY	3

/* Who polls a queue, for the tracepoint */
enum nvme_rdma_cq_poller {
	NVME_RDMA_CQ_BY_INTERRUPT,
	NVME_RDMA_CQ_BY_SOFTIRQ,
	NVME_RDMA_CQ_BY_WORK,
	NVME_RDMA_CQ_BY_THREAD,
	NVME_RDMA_CQ_BY_STOP,
	NVME_RDMA_CQ_BY_OWNER,
};

struct nvme_rdma_cq;

/**
 * struct nvme_rdma_cq_ops - callbacks of the owner
 * @after_batch: called after the handlers of each batch; may be NULL
 * @failed:	called when the device reported a failure of the queue, after @broken
 *		was set; in any context, and possibly more than once
 */
struct nvme_rdma_cq_ops {
	void (*after_batch)(struct nvme_rdma_cq *cq);
	void (*failed)(struct nvme_rdma_cq *cq);
};

/**
 * struct nvme_rdma_cq - a completion queue, or a pair of them
 * @ib:		the verbs' queue; only for receives if @sends exists
 * @sends:	the verbs' queue for the send queue, or NULL; it interrupts only while
 *		@awaited is not 0 or @draining is set
 * @awaited:	number of send completions that handlers wait for; accessed by the
 *		poller only, which includes the handlers
 * @draining:	a drain waits for all send completions; set once, by the drain
 * @context:	for the owner
 * @ops:	callbacks of the owner
 * @broken:	the device reported a failure; nothing completes any more, so nothing may
 *		wait for completions; set once, by the device's event, in any context
 * @polled:	it has no interrupts; its owner calls nvme_rdma_cq_take()
 * @at_once:	completions may be handled in hard interrupts
 * @vector:	the completion vector
 * @flush_lock:	serializes flushes and stops; held from a stop to its start
 * @wanted:	number of the last flush that was requested; written under @flush_lock
 * @flushed:	number of the last flush that ended; written by the poller
 * @behind:	upper limit of the completions that the flush still waits for; set
 *		before @wanted changes, then accessed by the poller only
 * @flush_done:	the flush ended
 * @nr_batch:	completions of the present batch; for handlers
 * @now:	time of the batch in ktime's nanoseconds; 0 until a handler needs it
 * @interrupts: how many there were; written by them, without a lock, so that it misses one now and
 *		then if a device calls on several CPUs at once
 * @cpu:	where the last interrupt was; any context reads it
 * @armed:	the interrupt was requested, or is just being requested, and has not arrived;
 *		written by it and by contexts that arm, without a lock (see cq.c)
 * @cycle:	completions since the last interrupt; accessed by the poller only
 * @per_cycle:	mean of the last ones, the latest of which count most; written by the poller
 * @came:	an interrupt has left its poll to the softirq, which clears it
 * @unseen:	no work has looked since the last interrupt; written by the poller
 * @lookers:	number of works that will look at the queue
 * @late:	periods of @watch without a look, up to NVME_RDMA_CQ_TOO_LATE
 * @watch:	the timer, pending if the queue is unarmed, and maybe longer
 * @iop:	schedules the poll in a softirq; unused if @polled
 * @wc:		the batch
 *
 * The handlers of a queue run one at a time.
 */
struct nvme_rdma_cq {
	struct ib_cq	*ib;
	struct ib_cq	*sends;
	unsigned int	awaited;
	bool		draining;
	void		*context;
	const struct nvme_rdma_cq_ops *ops;
	bool		broken;
	bool		polled;
	bool		at_once;
	unsigned int	vector;
	struct mutex	flush_lock; /* one flush or stop at a time */
	unsigned int	wanted;
	unsigned int	flushed;
	int		behind;
	struct completion flush_done;
	int		nr_batch;
	u64		now;
	u64		interrupts;
	int		cpu;
	bool		armed;
	unsigned int	cycle;
	unsigned int	per_cycle;
	bool		came;
	bool		unseen;
	u8		late;
	atomic_t	lookers;
	struct timer_list watch;
	struct irq_poll	iop;
	struct ib_wc	wc[NVME_RDMA_CQ_BATCH];
};

/*
 * Takes the first completions out of a polled queue; most polls find none. If there are some,
 * nvme_rdma_cq_poll_on() is to handle them.
 *
 * Context: any; the caller serializes the calls for a queue. Return: their number, or less.
 */
static inline int nvme_rdma_cq_take(struct nvme_rdma_cq *cq)
{
	return ib_poll_cq(cq->ib, NVME_RDMA_CQ_BATCH, cq->wc);
}

/* Context: a handler of the queue. Return: the time; the same for a whole batch. */
static inline u64 nvme_rdma_cq_now(struct nvme_rdma_cq *cq)
{
	if (!cq->now)
		cq->now = ktime_get_ns();
	return cq->now;
}

/* Context: any. Return: true if those that are counted as lookers have not looked for some time. */
static inline bool nvme_rdma_cq_is_late(const struct nvme_rdma_cq *cq)
{
	return unlikely(READ_ONCE(cq->late)) && atomic_read(&cq->lookers);
}

/* Context: any. Return: true if an interrupt has brought several completions of late. */
static inline bool nvme_rdma_cq_is_busy(const struct nvme_rdma_cq *cq)
{
	return READ_ONCE(cq->per_cycle) >= NVME_RDMA_CQ_BUSY;
}

/*
 * Context: a work that looks. Return: true if it should look before it begins, for a larger
 * batch: it is the first one after an interrupt.
 */
static inline bool nvme_rdma_cq_look_early(const struct nvme_rdma_cq *cq)
{
	return READ_ONCE(cq->unseen);
}

struct nvme_rdma_cq *
nvme_rdma_cq_alloc(struct ib_device *ibdev, unsigned int size,
		   unsigned int vector, bool polled,
		   const struct nvme_rdma_cq_ops *ops, void *context);
int nvme_rdma_cq_add_sends(struct nvme_rdma_cq *cq, unsigned int size);
void nvme_rdma_cq_free(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_kick(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_drain_sends(struct nvme_rdma_cq *cq);
int nvme_rdma_cq_poll_on(struct nvme_rdma_cq *cq, int taken);
void nvme_rdma_cq_stop(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_discard(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_start(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_flush(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_expect(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_look(struct nvme_rdma_cq *cq);
int nvme_rdma_cq_look_in_thread(struct nvme_rdma_cq *cq);
void nvme_rdma_cq_looked(struct nvme_rdma_cq *cq);

#endif /* NVME_RDMA_CQ_H */
