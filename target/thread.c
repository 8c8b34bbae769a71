// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that poll: the I/O queues of a completion vector without interrupts and works.
 *
 * Operation: with io_threads=Y, each completion vector that has I/O queues has a thread. In a
 * round it looks at all completion queues of the vector, whose handlers list the queues that
 * have got commands, and runs these queues in turn under one plug (run.c). If it finds nothing
 * for a while (@spin_ns, poll_us at most), it has the completion queues armed, looks once more,
 * and sleeps. The interrupt then handles what has completed, and wakes it.
 *
 * Completion queues: while it is awake, the thread counts as a work that looks at each of them
 * (common/cq.c). So nothing arms them, and they are armed if the thread gets no CPU for some
 * time. All other rules for them, such as those of a stop, hold as they are.
 *
 * Queues: the handlers list a queue with the thread or, if that is away, with a work, as they
 * do without threads. Admin queues, and queues that have not authenticated, always have a work:
 * their commands may take the CPU for long, or wait. A queue is in one list at a time
 * (@run_state, run.c), so it may change between the two with each listing.
 *
 * Disks: a disk that is full or hangs holds up only the queue whose command it has. The thread
 * has a callback in its plug, as works that run several queues have. When it is about to sleep
 * with commands in its hands, it is away: it looks at no completion queue, so that they
 * interrupt, and what it has listed goes to works. It comes back when the command has been
 * submitted. A disk whose driver may sleep would send it away each time. So the queues that use
 * one have works from then on (@waits).
 *
 * No queue is left in the list of a thread that is away: the thread sets @away and then empties
 * the list. Who lists a queue reads @away after that, and empties the list if it is set. There
 * is a full barrier in between on both sides. A thread that sleeps is woken by the same rule:
 * it clears @awake and then looks at the list.
 *
 * Disks that can be polled: a look polls them, too, while commands of the thread are there
 * (disk_poll.c). Nothing else ends these commands. So if the thread has spun for long enough, it
 * sleeps for a short time only, and for twice that the next time, until one has ended. While it
 * is away, a work polls in its place, on any CPU, as the thread's may be taken. A thread that is
 * preempted polls no disk. One that is to end does so when all have ended.
 *
 * Spinning: an interrupt within poll_us after the thread has slept says that it should have
 * spun longer, so @spin_ns is doubled. A longer sleep says that it spun in vain, and @spin_ns
 * is halved. A thread whose CPU other tasks want does not spin, nor one that has spun for
 * poll_percent of CAP_WINDOW_NS. While it gives the CPU to another task it is away, as it may get
 * it back late. If it is preempted for long, completion queues are armed without it (common/cq.c),
 * and queues are listed for works.
 *
 * Place: a thread may run on the CPUs of its device's node, but not on those that are kept free
 * of the kernel's threads. The scheduler takes it away from one that a real-time task keeps. The
 * administrator may bind it elsewhere.
 *
 * Lifetime: the first listing of a queue that finds no thread for its vector has a work start
 * one. Until that is there, and if there is no memory for it, works run the queues. A thread
 * ends when io_threads is turned off, and with its device. Who lists a queue holds its lock or is
 * not preemptible. So the end takes the thread away from its vector, waits for RCU, and leaves to
 * works what is listed then.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "debugfs.h"
#include "device.h"
#include "list.h"
#include "params.h"
#include "run.h"
#include "thread.h"
#include "trace.h"
#include "wq.h"

/* Before ordinary tasks, as works are, and not for ever: fair tasks get their share */
#define NICE		-5
/* How long a thread spins first, and the shortest time that is worth it */
#define FIRST_SPIN_NS	(10 * NSEC_PER_USEC)
#define LEAST_SPIN_NS	(2 * NSEC_PER_USEC)
/* How long it sleeps between looks at a disk that has a command, from the first to the longest */
#define FIRST_NAP_NS	(10 * NSEC_PER_USEC)
#define LAST_NAP_NS	NSEC_PER_MSEC
/* How often the work that polls in its place does that, before it looks once a jiffy */
#define SHORT_NAPS	32
/* Of the time that poll_percent is a part of */
#define CAP_WINDOW_NS	(10 * NSEC_PER_MSEC)

static struct nvmet_rdma_vector *vector_of(const struct nvmet_rdma_thread *thread)
{
	return &thread->dev->vectors[thread->vector];
}

/* Polls disks that have commands of the thread. Returns how many have ended. */
static unsigned int look_at_disks(struct nvmet_rdma_thread *thread)
{
	unsigned int found = nvmet_rdma_disk_polls_look(&thread->polls);

	if (found)
		WRITE_ONCE(thread->disk_completions, thread->disk_completions + found);
	return found;
}

/*
 * Looks at all completion queues of the vector, for which the thread counts from then on, and at
 * disks. Returns false if no command has ended at a disk. The bench counts what follows as idle
 * if it ends in nvmet_rdma_thread_nothing() (tests/bench/plugin/vain.c).
 */
static noinline __noclone bool nvmet_rdma_thread_look(struct nvmet_rdma_thread *thread)
{
	struct nvmet_rdma_polled *polled;
	int found = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(polled, &vector_of(thread)->polled, entry) {
		if (!polled->counted) {
			polled->counted = true;
			nvme_rdma_cq_expect(polled->cq);
		}
		found += nvme_rdma_cq_look_in_thread(polled->cq);
	}
	rcu_read_unlock();
	if (found)
		WRITE_ONCE(thread->completions, thread->completions + found);
	return look_at_disks(thread);
}

/* They interrupt from now on. Completions that have come by then are handled here. */
static void look_no_more(struct nvmet_rdma_thread *thread)
{
	struct nvmet_rdma_polled *polled;

	rcu_read_lock();
	list_for_each_entry_rcu(polled, &vector_of(thread)->polled, entry) {
		if (!polled->counted)
			continue;
		polled->counted = false;
		nvme_rdma_cq_looked(polled->cq);
	}
	rcu_read_unlock();
}

/* Leaves all queues to works. Context: the thread, which may be about to sleep. */
static void step_back(struct nvmet_rdma_thread *thread)
{
	WRITE_ONCE(thread->away, true);
	look_no_more(thread);
	if (unlikely(nvmet_rdma_disk_polls_busy(&thread->polls))) {
		thread->helped = true;
		queue_delayed_work(nvmet_rdma_poll_wq, &thread->poll_work, 0);
	}
	/* Pairs with the listing of a queue */
	smp_mb();
	nvmet_rdma_thread_pass_on(thread);
}

/*
 * The thread may wait for a disk; it is back when its run ends. Context: the thread, which may be
 * about to sleep.
 */
static void leave(struct nvmet_rdma_thread *thread)
{
	if (thread->away)
		return;
	trace_nvmet_rdma_thread_away(thread);
	WRITE_ONCE(thread->absences, thread->absences + 1);
	step_back(thread);
}

/* Polls while the thread is away. That ends with the thread's return, or the last command. */
static void poll_in_place(struct work_struct *work)
{
	struct nvmet_rdma_thread *thread =
		container_of(to_delayed_work(work), struct nvmet_rdma_thread, poll_work);

	unsigned int found;

	if (!nvmet_rdma_disk_polls_busy(&thread->polls))
		return;
	found = look_at_disks(thread);
	WRITE_ONCE(thread->away_completions, thread->away_completions + found);
	if (found) {
		thread->poll_vain = 0;
	} else if (thread->poll_vain < SHORT_NAPS) {
		thread->poll_vain++;
		usleep_range(FIRST_NAP_NS / NSEC_PER_USEC, 5 * FIRST_NAP_NS / NSEC_PER_USEC);
	}
	queue_delayed_work(nvmet_rdma_poll_wq, &thread->poll_work,
			   thread->poll_vain == SHORT_NAPS);
}

/* The thread may have been away */
static void come_back(struct nvmet_rdma_thread *thread)
{
	if (unlikely(thread->helped)) {
		thread->helped = false;
		cancel_delayed_work_sync(&thread->poll_work);
	}
	WRITE_ONCE(thread->away, false);
}

/* Gives the CPU to a task that wants it: the thread may get it back late. @rest: to be run */
static void give_way(struct nvmet_rdma_thread *thread, struct llist_node *rest)
{
	step_back(thread);
	if (rest)
		nvmet_rdma_pass_on(rest);
	schedule();
	come_back(thread);
}

static bool run_listed(struct nvmet_rdma_thread *thread)
{
	struct llist_node *first = llist_del_all(&thread->list);

	if (!first)
		return false;
	WRITE_ONCE(thread->rounds, thread->rounds + 1);
	first = llist_reverse_order(first);
	while (first) {
		first = nvmet_rdma_run_in_thread(first, thread);
		come_back(thread);
		if (first)
			look_at_disks(thread);
		if (unlikely(nvmet_rdma_cpu_is_wanted())) {
			give_way(thread, first);
			break;
		}
		cond_resched_tasks_rcu_qs();
	}
	return true;
}

/* A time of looks in vain is over, if there was one */
static void count_spin(struct nvmet_rdma_thread *thread, u64 now)
{
	if (thread->vain_since)
		WRITE_ONCE(thread->spun_ns, thread->spun_ns + now - thread->vain_since);
	thread->vain_since = 0;
}

/* Has the thread looked in vain for as long as poll_percent allows it by now? */
static bool is_capped(struct nvmet_rdma_thread *thread, u64 now)
{
	unsigned int percent = READ_ONCE(nvmet_rdma_poll_percent);
	u64 spun = thread->spun_ns + now - thread->vain_since;

	if (percent == 100)
		return false;
	if (now - thread->window >= CAP_WINDOW_NS) {
		thread->window = now;
		thread->window_spun = spun;
	}
	return spun - thread->window_spun >= CAP_WINDOW_NS / 100 * percent;
}

/* A look has found nothing. Returns true if the thread shall go on to look. */
static noinline __noclone bool nvmet_rdma_thread_nothing(struct nvmet_rdma_thread *thread)
{
	u64 now;

	WRITE_ONCE(thread->vain, thread->vain + 1);
	/* A task that waits need not have asked for the CPU yet */
	if (thread->nap_since || !thread->spin_ns || !single_task_running() ||
	    nvmet_rdma_cpu_is_wanted() || READ_ONCE(thread->ending))
		return false;
	now = ktime_get_ns();
	if (!thread->vain_since)
		thread->vain_since = now;
	thread->vain_until = now;
	if (now - thread->vain_since >= thread->spin_ns || is_capped(thread, now))
		return false;
	cpu_relax();
	return true;
}

static void adapt(struct nvmet_rdma_thread *thread, u64 slept)
{
	u64 most = READ_ONCE(nvmet_rdma_poll_us) * NSEC_PER_USEC;
	u64 spin = thread->spin_ns;

	if (slept < most)
		spin = max_t(u64, 2 * spin, FIRST_SPIN_NS);
	else
		spin /= 2;
	WRITE_ONCE(thread->spin_ns, spin < LEAST_SPIN_NS ? 0 : min(spin, most));
}

/* A look has found something. With naps, the thread has slept since the first of them. */
static void count_found(struct nvmet_rdma_thread *thread)
{
	count_spin(thread, thread->vain_until);
	if (!thread->nap_since)
		return;
	adapt(thread, ktime_get_ns() - thread->nap_since);
	thread->nap_since = 0;
}

/* Rounds, until nothing was found for some time */
static void serve(struct nvmet_rdma_thread *thread)
{
	WRITE_ONCE(thread->awake, true);
	while (READ_ONCE(nvmet_rdma_io_threads)) {
		bool found = nvmet_rdma_thread_look(thread);

		if (run_listed(thread) || found) {
			count_found(thread);
			if (unlikely(nvmet_rdma_cpu_is_wanted()))
				give_way(thread, NULL);
		} else if (!nvmet_rdma_thread_nothing(thread)) {
			break;
		}
	}
	count_spin(thread, thread->vain_until);
	/* What was listed, or polled for, before the threads were turned off */
	run_listed(thread);
	if (look_at_disks(thread))
		count_found(thread);
}

/* Sleeps for some time, as a command at a disk has to be polled for. Context: not running. */
static void nap(struct nvmet_rdma_thread *thread, u64 now)
{
	ktime_t expires;

	if (!thread->nap_since) {
		thread->nap_since = now;
		thread->nap_ns = FIRST_NAP_NS;
	}
	expires = ns_to_ktime(thread->nap_ns);
	schedule_hrtimeout_range(&expires, thread->nap_ns / 4, HRTIMER_MODE_REL);
	thread->nap_ns = min_t(u64, 2 * thread->nap_ns, LAST_NAP_NS);
}

/* Sleeps until a queue is listed, or disks have to be polled */
static void sleep(struct nvmet_rdma_thread *thread)
{
	bool polls = nvmet_rdma_disk_polls_busy(&thread->polls);
	u64 since, slept;

	look_no_more(thread);
	since = ktime_get_ns();
	set_current_state(TASK_IDLE);
	WRITE_ONCE(thread->awake, false);
	/* Pairs with the listing of a queue */
	smp_mb();
	if (llist_empty(&thread->list) && !READ_ONCE(thread->ending)) {
		WRITE_ONCE(thread->sleeps, thread->sleeps + 1);
		if (polls)
			nap(thread, since);
		else
			schedule();
	}
	__set_current_state(TASK_RUNNING);
	slept = ktime_get_ns() - since;
	if (!polls) {
		thread->nap_since = 0;
		adapt(thread, slept);
	}
	trace_nvmet_rdma_thread_slept(thread, slept);
}

static int thread_main(void *data)
{
	struct nvmet_rdma_thread *thread = data;

	/* Commands may be what frees memory, if this machine is its own host */
	memalloc_noio_save();
	set_user_nice(current, NICE);
	/* As works of nice -20 have; a scheduler of the disk may go by it */
	set_task_ioprio(current, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 0));
	while (!READ_ONCE(thread->ending)) {
		serve(thread);
		sleep(thread);
	}
	look_no_more(thread);
	nvmet_rdma_thread_pass_on(thread);
	while (nvmet_rdma_disk_polls_busy(&thread->polls)) {
		look_at_disks(thread);
		set_current_state(TASK_IDLE);
		nap(thread, ktime_get_ns());
	}
	complete(&thread->ended);
	/* kthread_stop() gives it a signal, with which it shall not execute commands */
	set_current_state(TASK_IDLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_IDLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* On the CPUs of the device's node, of those that threads of the kernel may use, if it has any */
static void place(struct nvmet_rdma_thread *thread)
{
	int node = ibdev_to_node(thread->dev->ib);
	cpumask_var_t cpus;

	if (node == NUMA_NO_NODE || !alloc_cpumask_var(&cpus, GFP_KERNEL))
		return;
	if (cpumask_and(cpus, cpumask_of_node(node), thread->task->cpus_ptr))
		set_cpus_allowed_ptr(thread->task, cpus);
	free_cpumask_var(cpus);
}

static void start(struct nvmet_rdma_device *dev, u32 vector)
{
	struct nvmet_rdma_thread *thread;
	struct task_struct *task;

	thread = kzalloc_node(sizeof(*thread), GFP_KERNEL, ibdev_to_node(dev->ib));
	if (!thread)
		goto failed;
	init_completion(&thread->ended);
	INIT_DELAYED_WORK(&thread->poll_work, poll_in_place);
	thread->dev = dev;
	thread->vector = vector;
	thread->leave = leave;
	/* This does not fail in a work, which gets no signal */
	nvmet_rdma_device_interrupts(dev, vector, &thread->interrupts_before);
	task = kthread_create_on_node(thread_main, thread, ibdev_to_node(dev->ib),
				      "nvmet-io/%s-%u", dev->ib->name, vector);
	if (IS_ERR(task)) {
		kfree(thread);
		goto failed;
	}
	thread->task = task;
	place(thread);
	nvmet_rdma_debugfs_add_thread(thread);
	wake_up_process(task);
	/* Pairs with the listing of a queue */
	smp_store_release(&dev->vectors[vector].thread, thread);
	return;

failed:
	pr_warn("%s: no memory for the thread of completion vector %u; works execute its commands, turn io_threads off and on to try again\n",
		dev->ib->name, vector);
}

/* @thread: no queue is listed with it any more */
static void end(struct nvmet_rdma_thread *thread)
{
	nvmet_rdma_debugfs_remove_thread(thread);
	wait_for_completion(&thread->ended);
	kthread_stop(thread->task);
	/* It may have ended before it looked at its list */
	nvmet_rdma_thread_pass_on(thread);
	kfree(thread);
}

static void end_all(struct nvmet_rdma_device *dev)
{
	struct nvmet_rdma_thread *thread, *first = NULL;
	u32 i;

	for (i = 0; i < dev->ib->num_comp_vectors; i++) {
		thread = dev->vectors[i].thread;
		if (!thread)
			continue;
		WRITE_ONCE(dev->vectors[i].thread, NULL);
		thread->next = first;
		first = thread;
	}
	if (!first)
		return;
	/* Who lists a queue may still look at the thread */
	synchronize_rcu();
	for (thread = first; thread; thread = thread->next) {
		WRITE_ONCE(thread->ending, true);
		wake_up_process(thread->task);
	}
	/* One that waits for a disk keeps all from being started again until it has ended */
	while (first) {
		thread = first;
		first = thread->next;
		end(thread);
	}
}

/**
 * nvmet_rdma_threads() - start the threads of a device, or end them (nvmet_rdma_device_ops.threads)
 * @dev: the device
 * @may: start those that queues have asked for; if not, end all
 *
 * Context: may sleep, as long as a disk takes. One caller at a time for a device.
 */
void nvmet_rdma_threads(struct nvmet_rdma_device *dev, bool may)
{
	u32 i;

	for (i = 0; i < dev->ib->num_comp_vectors; i++) {
		struct nvmet_rdma_vector *v = &dev->vectors[i];

		if (!may)
			WRITE_ONCE(v->wants_thread, false);
		else if (READ_ONCE(v->wants_thread) && !v->thread)
			start(dev, i);
	}
	if (!may)
		end_all(dev);
}

static int io_threads_set(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_bool(val, kp);

	/* Queues ask for threads; at load there is no device */
	if (!ret && !nvmet_rdma_io_threads)
		nvmet_rdma_devices_update_threads();
	return ret;
}

static const struct kernel_param_ops io_threads_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= io_threads_set,
	.get	= param_get_bool,
};

module_param_cb(io_threads, &io_threads_ops, &nvmet_rdma_io_threads, 0644);
MODULE_PARM_DESC(io_threads,
		 "a thread for each completion vector polls and executes commands, which takes CPU time and saves interrupts and wake-ups; may be changed at any time (default N)");
