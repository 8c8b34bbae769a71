// SPDX-License-Identifier: GPL-2.0
/*
 * Running queues: which work executes the commands of which queue.
 *
 * Operation: a queue that has something to do is added to a list of its CPU
 * (nvmet_rdma_queue_io()). The queue that finds the list empty queues its own work, @run. That
 * takes the whole list. If it has one queue, the work runs that queue for a batch. If it has
 * several, the work runs them in turn under one plug, each for a few commands. So queues with
 * few commands each share a work, a wake-up and the submission to the disk. A queue with many
 * commands has a work and a plug of its own: the list from there on goes to its work.
 *
 * Open queues: disks that complete synchronously do so when the plug ends. So a queue with
 * several commands stays RUNNING until then, and the work collects its responses (send.c), to
 * post them together. Its @run_node is in the list of what is open. A queue with one command is
 * left at once.
 *
 * Disks: a disk that is full or hangs holds up only the queue whose command it has.
 * - A work that is about to sleep while it runs a queue passes the rest of its list to the
 *   work of the next queue, and leaves the queues that are open. Their commands may be in the
 *   plug, which the block layer flushes for a task that sleeps. A callback in the plug does that.
 * - A work that runs several queues belongs to none of them: the queue that it was of has got
 *   another one before. So each queue has a work that nothing else uses.
 * - The end of the plug is not to wait for a disk while queues are open. If it may, such as by
 *   callbacks of other modules, the work leaves them first, and then lets go of the plug as a
 *   task does that sleeps: md's thread and kblockd wait instead.
 * - The block layer may submit in the middle, while another queue is RUNNING. So a command of a
 *   disk whose driver may sleep ends the sharing (io.c).
 * Authentication may use the CPU for tens of milliseconds (a Diffie-Hellman group of 8,192
 * bits). So admin queues do not share. An I/O queue shares only after a command that the core
 * accepts from an authenticated host alone. Such a host may authenticate again, and hold up the
 * others for that time. Without memory for another work, the queues do not share one.
 *
 * States, @run_state: idle is 0. LISTED: the queue is in a list, or in the rest of a work.
 * RUNNING: a work runs it. Both: it has to run again, and its work will list it. STOPPED: it
 * is being released; nothing lists it any more. Each transition is one atomic operation. So
 * one context lists a queue, and one work at a time runs it. @run is written only by the work
 * that has taken the queue from the list, before it leaves it.
 *
 * Release: nvmet_rdma_run_stop() sets STOPPED. If the queue was not idle, the work that leaves
 * it, or finds it in its list, completes @run_ended as its last access. That takes as long as
 * the queue's own commands do. It takes longer if the work of its list finds no worker: the
 * workqueue already runs as many works as it may, or there is no memory for a worker. After
 * that @run is pending for no list, because its queue was in that list. It may still be at its
 * end, after it has run this queue alone: cancel_work_sync() waits for that.
 *
 * CPUs: a work takes the list that it was queued for, even if it runs on another CPU, because
 * that one is gone.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "error.h"
#include "io.h"
#include "list.h"
#include "run.h"
#include "send.h"
#include "thread.h"
#include "wq.h"

/* Commands of queues that share a plug: the block layer collects as many requests */
#define MAX_SHARED	32u
/*
 * Tags that the block layer takes at once. It takes them from one word of the disk's bitmap, or
 * one by one for the rest of the plug. A disk of 64 tags has 16 to a word, some of them in use.
 */
#define TAGS_AT_ONCE	8u

/**
 * struct run_turn - a work, or a thread, that runs several queues
 * @plug: of all of them
 * @sleep: in @plug's list of callbacks, until the task has slept
 * @thread: the thread; NULL for a work
 * @rest: queues to be run after the present one
 * @open: queues whose commands are executed, and whose responses are collected; RUNNING, so
 *	that their @run_node is free for this list
 * @open_end: where the next one is added
 *
 * Only the task uses it.
 */
struct run_turn {
	struct blk_plug		plug;
	struct blk_plug_cb	sleep;
	struct nvmet_rdma_thread *thread;
	struct llist_node	*rest;
	struct llist_node	*open;
	struct llist_node	**open_end;
};

static struct nvmet_rdma_queue *run_queue(struct llist_node *node)
{
	return llist_entry(node, struct nvmet_rdma_queue, run_node);
}

/* Leaves a queue, which may be freed then. Returns false if its release waits for that. */
static __always_inline bool run_leave(struct nvmet_rdma_queue *queue)
{
	int again = NVMET_RDMA_RUN_RUNNING | NVMET_RDMA_RUN_LISTED;
	int state = atomic_cmpxchg(&queue->run_state, NVMET_RDMA_RUN_RUNNING, 0);

	if (likely(state == NVMET_RDMA_RUN_RUNNING))
		return true;
	if (atomic_cmpxchg(&queue->run_state, again, NVMET_RDMA_RUN_LISTED) != again)
		return false;
	/* The queue may be run, and end, as soon as it is listed */
	preempt_disable();
	nvmet_rdma_queue_list(queue);
	preempt_enable();
	return true;
}

/* Begins to run a queue that was LISTED. Returns false if it is being released. */
static __always_inline bool run_begin(struct nvmet_rdma_queue *queue)
{
	int state = atomic_cmpxchg(&queue->run_state, NVMET_RDMA_RUN_LISTED,
				   NVMET_RDMA_RUN_RUNNING);

	if (likely(state == NVMET_RDMA_RUN_LISTED))
		return true;
	complete(&queue->run_ended);
	return false;
}

/* The queue may be freed then */
static void run_end(struct nvmet_rdma_queue *queue)
{
	if (unlikely(!run_leave(queue)))
		complete(&queue->run_ended);
}

/* Ends what is open, in order. Context: the work's task, or about to sleep. */
static void end_open(struct run_turn *turn, void (*how)(struct nvmet_rdma_queue *queue))
{
	struct llist_node *node = turn->open;
	struct nvmet_rdma_queue *queue;

	turn->open = NULL;
	turn->open_end = &turn->open;
	while (node) {
		queue = run_queue(node);
		/* it may be listed again, or freed, when it is left */
		node = node->next;
		how(queue);
		run_end(queue);
	}
}

/* Others do not wait while the task sleeps */
static void leave_others(struct run_turn *turn)
{
	if (turn->thread)
		turn->thread->leave(turn->thread);
	if (turn->rest)
		nvmet_rdma_pass_on(turn->rest);
	turn->rest = NULL;
	end_open(turn, nvmet_rdma_io_shared_sleeps);
}

/*
 * The task is about to sleep while it runs a queue that is not open, or none. The callback is off
 * the plug's list.
 */
static void run_sleeps(struct blk_plug_cb *cb, bool from_schedule)
{
	struct run_turn *turn = container_of(cb, struct run_turn, sleep);

	INIT_LIST_HEAD(&cb->list);
	leave_others(turn);
}

static bool runs_alone(const struct nvmet_rdma_queue *queue, unsigned int has)
{
	return !queue->qid || !READ_ONCE(queue->authenticated) ||
	       has > NVMET_RDMA_SHARED_BATCH;
}

/* Starts at most @max commands of a queue */
static __always_inline void run_in_turn(struct run_turn *turn, struct nvmet_rdma_queue *queue,
					unsigned int max)
{
	if (unlikely(!run_begin(queue)))
		return;
	queue->thread = turn->thread;
	if (!nvmet_rdma_io_shared(queue, max, !turn->thread)) {
		run_end(queue);
		return;
	}
	queue->run_node.next = NULL;
	*turn->open_end = &queue->run_node;
	turn->open_end = &queue->run_node.next;
}

/* Ends the plug, and then what is open; the other way round if the former may wait for a disk */
static void end_turn(struct run_turn *turn)
{
	struct llist_node *node;

	/* This also takes the callbacks of this module out of the plug. The rest does not sleep. */
	for (node = turn->open; node; node = node->next)
		nvmet_rdma_send_collected(run_queue(node));
	list_del_init(&turn->sleep.list);
	if (unlikely(nvmet_rdma_plug_may_wait(&turn->plug))) {
		leave_others(turn);
		/* The plug is flushed as if the task slept: nothing in it waits for another disk */
		io_schedule();
	}
	blk_finish_plug(&turn->plug);
	/* All of them first: after that, their handlers may run here, where there is no plug */
	for (node = turn->open; node; node = node->next)
		nvmet_rdma_send_collect_end(run_queue(node));
	end_open(turn, nvmet_rdma_io_shared_done);
}

/*
 * Runs the queues of a list until all together have had many commands, or one has for which there
 * is a work. A work passes on the rest, and a thread gets it back.
 */
static struct llist_node *run_shared(struct llist_node *node, struct nvmet_rdma_thread *thread)
{
	struct run_turn turn = {
		.sleep.callback	= run_sleeps,
		.thread		= thread,
		.open_end	= &turn.open,
	};
	unsigned int max = thread && !node->next ? NVMET_RDMA_BATCH : NVMET_RDMA_SHARED_BATCH;
	unsigned int nr = 0, done = 0, tags = 0, has;
	struct nvmet_rdma_queue *queue;
	struct llist_node *i;

	for (i = node; i && nr < MAX_SHARED; i = i->next)
		nr++;
	blk_start_plug(&turn.plug);
	list_add(&turn.sleep.list, &turn.plug.cb_list);
	for (; node && done < MAX_SHARED; node = turn.rest, nr--) {
		queue = run_queue(node);
		/* One that is being released has none, and takes time, too */
		has = max(nvmet_rdma_io_has(queue), 1u);
		if (!thread && runs_alone(queue, has))
			break;
		has = min(has, max);
		if (has > 1)
			nvmet_rdma_plug_expect(&turn.plug, has);
		else if (!(tags++ % TAGS_AT_ONCE))
			nvmet_rdma_plug_expect(&turn.plug, min(nr, TAGS_AT_ONCE));
		done += has;
		/* What it has ready may be much more */
		if (thread && has == max)
			done = MAX_SHARED;
		turn.rest = node->next;
		run_in_turn(&turn, queue, max);
	}
	turn.rest = thread ? node : NULL;
	if (node && !thread)
		nvmet_rdma_pass_on(node);
	end_turn(&turn);
	return turn.rest;
}

/**
 * nvmet_rdma_run_in_thread() - run queues
 * @first: the first of them; not an admin queue
 * @thread: the thread, which is the caller
 *
 * Context: may sleep; then works run the other queues, and the thread is away.
 * Return: those that are left to run.
 */
struct llist_node *nvmet_rdma_run_in_thread(struct llist_node *first,
					    struct nvmet_rdma_thread *thread)
{
	return run_shared(first, thread);
}

/**
 * nvmet_rdma_run_work() - run queues
 * @work: of the first of them, until it runs several
 *
 * Context: may sleep.
 */
void nvmet_rdma_run_work(struct work_struct *work)
{
	struct nvmet_rdma_run *run = container_of(work, struct nvmet_rdma_run, work);
	struct nvmet_rdma_run *other = NULL;
	struct llist_node *first = run->rest;
	unsigned int noio = memalloc_noio_save();
	struct nvmet_rdma_queue *queue;

	run->rest = NULL;
	if (likely(!first)) {
		first = llist_del_all(run->list);
		if (first->next)
			first = llist_reverse_order(first);
	}
	/* The oldest, which @run is of */
	queue = run_queue(first);
	if (first->next) {
		if (!runs_alone(queue, nvmet_rdma_io_has(queue)))
			other = nvmet_rdma_run_alloc(GFP_NOWAIT | __GFP_NOWARN);
		if (!other)
			nvmet_rdma_pass_on(first->next);
	}
	if (other) {
		queue->run = other;
		run_shared(first, NULL);
		kfree(run);
	} else if (likely(run_begin(queue))) {
		queue->thread = NULL;
		nvmet_rdma_io_batch(queue);
		run_end(queue);
	}
	memalloc_noio_restore(noio);
}

/**
 * nvmet_rdma_run_alloc() - make a work for a queue
 * @gfp: how to allocate
 *
 * Context: as @gfp says. Return: the work, which kfree() frees, or NULL.
 */
struct nvmet_rdma_run *nvmet_rdma_run_alloc(gfp_t gfp)
{
	struct nvmet_rdma_run *run = kzalloc(sizeof(*run), gfp);

	if (run)
		INIT_WORK(&run->work, nvmet_rdma_run_work);
	return run;
}

/**
 * nvmet_rdma_run_stop() - end the execution of commands of a queue
 * @queue: the queue, DISCONNECTING
 *
 * Context: may sleep, for as long as its commands wait for a disk. No work runs the queue
 * after this.
 */
void nvmet_rdma_run_stop(struct nvmet_rdma_queue *queue)
{
	if (atomic_fetch_or(NVMET_RDMA_RUN_STOPPED, &queue->run_state))
		wait_for_completion(&queue->run_ended);
	cancel_work_sync(&queue->run->work);
}
