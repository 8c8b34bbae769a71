// SPDX-License-Identifier: GPL-2.0
/*
 * Running queues: which work executes the commands of which queue.
 *
 * Operation: a queue that has something to do is added to a list of its CPU
 * (nvmet_rdma_queue_io()). The queue that finds the list empty queues its own work, @run. That
 * takes the whole list. If it has one queue, the work runs that queue for a batch. If it has
 * several, the work runs them in turn under one plug, each for one command. So queues with a
 * command each share a work, a wake-up and the submission to the disk. A queue with several
 * commands pays for a work of its own: the list from there on goes to its work.
 *
 * Disks: a disk that is full or hangs holds up only the queue whose command it has.
 * - A work that is about to sleep while it runs a queue passes the rest of its list to the
 *   work of the next queue. The plug's callback does that, so it is in the plug as long as
 *   there is a rest.
 * - A work that runs several queues belongs to none of them: the queue that it was of has got
 *   another one before. So each queue has a work that nothing else uses.
 * - Such a work ends its plug when it runs no queue. If the end may wait for a disk, the work
 *   lets go of the plug as a task does that sleeps: md's thread and kblockd wait instead. So
 *   neither the commands of other disks wait, nor works of this module.
 * - The block layer may submit in the middle, while another queue is RUNNING. So a command of a
 *   disk whose driver may sleep ends the sharing.
 * Admin queues do not share, because authentication may use the CPU for long. Without memory
 * for another work, the queues do not share one.
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
#include "run.h"
#include "send.h"
#include "wq.h"

/* Queues that share a plug: the block layer collects as many requests */
#define MAX_SHARED	32u
/*
 * Tags that the block layer takes at once. It takes them from one word of the disk's bitmap, or
 * one by one for the rest of the plug. A disk of 64 tags has 16 to a word, some of them in use.
 */
#define TAGS_AT_ONCE	8u

/**
 * struct run_turn - a work that runs several queues
 * @plug: of all of them
 * @sleep: in @plug's list of callbacks if there is a @rest
 * @rest: queues to be run after the present one; only the work's task uses it
 */
struct run_turn {
	struct blk_plug		plug;
	struct blk_plug_cb	sleep;
	struct llist_node	*rest;
};

static struct nvmet_rdma_queue *run_queue(struct llist_node *node)
{
	return llist_entry(node, struct nvmet_rdma_queue, run_node);
}

/* Passes queues of a list to the work of the first one. Context: process, or about to sleep. */
static void pass_on(struct llist_node *rest)
{
	struct nvmet_rdma_run *run = run_queue(rest)->run;

	run->rest = rest;
	queue_work(nvmet_rdma_io_wq, &run->work);
}

/* Its callback is off the plug's list */
static void run_sleeps(struct blk_plug_cb *cb, bool from_schedule)
{
	struct run_turn *turn = container_of(cb, struct run_turn, sleep);

	pass_on(turn->rest);
	turn->rest = NULL;
}

static void set_rest(struct run_turn *turn, struct llist_node *rest)
{
	if (rest && !turn->rest)
		list_add(&turn->sleep.list, &turn->plug.cb_list);
	else if (!rest && turn->rest)
		list_del(&turn->sleep.list);
	turn->rest = rest;
}

/* Leaves a queue, which may be freed then. Returns false if its release waits for that. */
static bool run_leave(struct nvmet_rdma_queue *queue)
{
	int again = NVMET_RDMA_RUN_RUNNING | NVMET_RDMA_RUN_LISTED;
	int state = atomic_cmpxchg(&queue->run_state, NVMET_RDMA_RUN_RUNNING, 0);

	if (likely(state == NVMET_RDMA_RUN_RUNNING))
		return true;
	if (atomic_cmpxchg(&queue->run_state, again, NVMET_RDMA_RUN_LISTED) != again)
		return false;
	nvmet_rdma_queue_list(queue);
	return true;
}

/* Runs a queue that was LISTED. It may be freed then. */
static __always_inline void run_one(struct nvmet_rdma_queue *queue, unsigned int max)
{
	int state = atomic_cmpxchg(&queue->run_state, NVMET_RDMA_RUN_LISTED,
				   NVMET_RDMA_RUN_RUNNING);

	if (likely(state == NVMET_RDMA_RUN_LISTED)) {
		nvmet_rdma_io_batch(queue, max);
		if (likely(run_leave(queue)))
			return;
	}
	complete(&queue->run_ended);
}

/* Has the plug got a request that the block layer may wait with, while it submits? */
static bool newest_blocks(struct blk_plug *plug)
{
	const struct request *rq = nvmet_rdma_plug_newest(plug);

	return rq && rq->mq_hctx->flags & BLK_MQ_F_BLOCKING;
}

/* Runs the queues of a list until one has several commands, or there are many of them */
static void run_shared(struct llist_node *node)
{
	struct run_turn turn = { .sleep.callback = run_sleeps };
	unsigned int nr = 0, done = 0;
	struct llist_node *i;

	for (i = node; i && nr < MAX_SHARED; i = i->next)
		nr++;
	blk_start_plug(&turn.plug);
	for (; node && nr && !nvmet_rdma_io_runs_alone(run_queue(node)); nr--) {
		if (!(done++ % TAGS_AT_ONCE))
			nvmet_rdma_plug_expect(&turn.plug, min(nr, TAGS_AT_ONCE));
		set_rest(&turn, node->next);
		run_one(run_queue(node), 1);
		node = turn.rest;
		if (unlikely(newest_blocks(&turn.plug)))
			break;
	}
	set_rest(&turn, NULL);
	if (node)
		pass_on(node);
	/* This flushes the plug as if the task slept: nothing in it waits for another disk */
	if (unlikely(nvmet_rdma_plug_may_wait(&turn.plug)))
		io_schedule();
	blk_finish_plug(&turn.plug);
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
		if (!nvmet_rdma_io_runs_alone(queue))
			other = nvmet_rdma_run_alloc(GFP_NOWAIT | __GFP_NOWARN);
		if (!other)
			pass_on(first->next);
	}
	if (other) {
		queue->run = other;
		run_shared(first);
		kfree(run);
	} else {
		run_one(queue, NVMET_RDMA_BATCH);
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
