// SPDX-License-Identifier: GPL-2.0
/*
 * Listing queues that have something to do, for whoever runs them.
 *
 * A queue is listed once until it is run (@run_state, run.c): for a work, in the list of the
 * present CPU (run.c), or for the thread of its vector (thread.c). These functions may be called
 * from any file.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/percpu.h>

#include "list.h"
#include "params.h"
#include "thread.h"
#include "wq.h"

/* Queues for works, the newest first; see run.c */
static DEFINE_PER_CPU(struct llist_head, run_lists);

/**
 * nvmet_rdma_pass_on() - let a work run queues of a list
 * @first: the first queue, whose work it is; all are LISTED
 *
 * Context: any.
 */
void nvmet_rdma_pass_on(struct llist_node *first)
{
	struct nvmet_rdma_run *run = llist_entry(first, struct nvmet_rdma_queue, run_node)->run;

	run->rest = first;
	queue_work(nvmet_rdma_io_wq, &run->work);
}

/**
 * nvmet_rdma_thread_pass_on() - let a work run what a thread has listed
 * @thread: the thread, which is away
 *
 * Context: any.
 */
void nvmet_rdma_thread_pass_on(struct nvmet_rdma_thread *thread)
{
	struct llist_node *first = llist_del_all(&thread->list);

	if (first)
		nvmet_rdma_pass_on(llist_reverse_order(first));
}

/* Who runs a queue that has been listed */
enum runner { WORK, THREAD, THREAD_THAT_SLEPT };

/* The vector has no thread: has one started. A failed start is not repeated. */
static void want_thread(struct nvmet_rdma_device *dev, struct nvmet_rdma_vector *vector)
{
	if (READ_ONCE(vector->wants_thread))
		return;
	WRITE_ONCE(vector->wants_thread, true);
	nvmet_rdma_device_update_threads(dev);
}

/*
 * Lists a queue with the thread of its vector, if there is one for it. Admin queues, and those
 * that have to authenticate, may take the CPU for long, and do not keep the thread. Context: with
 * the queue's lock, or not preemptible: see the end of a thread.
 */
static noinline enum runner list_for_thread(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_vector *vector = &queue->dev->vectors[queue->vector];
	enum runner runner = THREAD;
	struct nvmet_rdma_thread *thread;

	if (!queue->qid || !READ_ONCE(queue->authenticated) || READ_ONCE(queue->waits) ||
	    READ_ONCE(queue->blocked))
		return WORK;
	/* Pairs with the start of a thread */
	thread = smp_load_acquire(&vector->thread);
	if (unlikely(!thread))
		want_thread(queue->dev, vector);
	/* It may be away, or somebody may keep it from its CPU */
	if (!thread || READ_ONCE(thread->away) ||
	    nvme_rdma_cq_is_late(queue->cq))
		return WORK;
	/* A full barrier: see thread.c */
	if (llist_add(&queue->run_node, &thread->list) && !READ_ONCE(thread->awake)) {
		wake_up_process(thread->task);
		runner = THREAD_THAT_SLEPT;
	}
	if (unlikely(READ_ONCE(thread->away)))
		nvmet_rdma_thread_pass_on(thread);
	return runner;
}

static enum runner try_thread(struct nvmet_rdma_queue *queue)
{
	return likely(!READ_ONCE(nvmet_rdma_io_threads)) ? WORK : list_for_thread(queue);
}

/* Lists a queue, which is LISTED, for a work. Returns true if others are listed before it. */
static bool list_for_work(struct nvmet_rdma_queue *queue)
{
	/* Any CPU's will do if this task moves to another one */
	struct llist_head *list = raw_cpu_ptr(&run_lists);

	if (!llist_add(&queue->run_node, list))
		return true;
	/* Nothing but this work takes the list, so @run is still the queue's */
	queue->run->list = list;
	queue_work(nvmet_rdma_io_wq, &queue->run->work);
	return false;
}

/**
 * nvmet_rdma_queue_list() - list a queue that has something to do
 * @queue: the queue; the caller has made it LISTED
 *
 * Context: with the queue's lock, or not preemptible.
 */
void nvmet_rdma_queue_list(struct nvmet_rdma_queue *queue)
{
	if (try_thread(queue) == WORK)
		list_for_work(queue);
}

/**
 * nvmet_rdma_queue_io() - start and execute commands of a queue, in a work (run.c)
 * @queue: the queue, its lock held, or the caller is the work that runs it
 *
 * Context: any.
 */
void nvmet_rdma_queue_io(struct nvmet_rdma_queue *queue)
{
	/* The first operation is the usual one, and costs less */
	if (!atomic_cmpxchg(&queue->run_state, 0, NVMET_RDMA_RUN_LISTED) ||
	    !atomic_fetch_or(NVMET_RDMA_RUN_LISTED, &queue->run_state))
		nvmet_rdma_queue_list(queue);
}

/**
 * nvmet_rdma_queue_is_busy() - do commands arrive faster than they are started?
 * @queue: the queue, its lock held, or the caller is the work that runs it
 *
 * Context: any. Return: true if this or another queue of its completion queue was busy.
 */
bool nvmet_rdma_queue_is_busy(const struct nvmet_rdma_queue *queue)
{
	return queue->deep || nvme_rdma_cq_is_busy(queue->cq);
}

/**
 * nvmet_rdma_queue_io_and_look() - as nvmet_rdma_queue_io(); the work also looks for completions
 * @queue: the queue, its lock held
 *
 * No interrupt is needed until the work runs: it looks at the completion queue then. If a work
 * runs the queue already, it may sleep as long as a disk takes before the queue runs again. It
 * counts itself (io.c). If commands come one at a time, an interrupt for each costs less.
 *
 * Context: a completion handler of the queue.
 */
void nvmet_rdma_queue_io_and_look(struct nvmet_rdma_queue *queue)
{
	enum runner runner;

	lockdep_assert_held(&queue->lock);
	if (atomic_cmpxchg(&queue->run_state, 0, NVMET_RDMA_RUN_LISTED)) {
		if (!atomic_fetch_or(NVMET_RDMA_RUN_LISTED, &queue->run_state))
			nvmet_rdma_queue_list(queue);
		return;
	}
	runner = try_thread(queue);
	/* It counts for all completion queues while it is awake */
	if (runner == THREAD)
		return;
	/* Queues share completion queues, so others in the list mean more completions */
	if (runner == WORK && !list_for_work(queue) && !nvmet_rdma_queue_is_busy(queue))
		return;
	/*
	 * A work that runs the queue by now takes the lock before it writes this. It may read it
	 * earlier, to look once more or once less.
	 */
	WRITE_ONCE(queue->looks, true);
	nvme_rdma_cq_expect(queue->cq);
}

/**
 * nvmet_rdma_queue_looked() - do not count on looks of the work that runs a queue
 * @queue: the queue; the caller is that work, which ends or may sleep, or the release
 *
 * Context: process.
 */
void nvmet_rdma_queue_looked(struct nvmet_rdma_queue *queue)
{
	if (!queue->looks)
		return;
	queue->looks = false;
	nvme_rdma_cq_looked(queue->cq);
}
