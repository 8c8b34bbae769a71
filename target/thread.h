/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: the threads that poll, see thread.c */
#ifndef NVMET_RDMA_THREAD_H
#define NVMET_RDMA_THREAD_H

#include <linux/completion.h>
#include <linux/llist.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "disk_poll.h"

struct dentry;
struct nvmet_rdma_device;
struct task_struct;

/**
 * struct nvmet_rdma_thread - polls the completion queues of a vector, and runs its I/O queues
 * @list: queues that have something to do, the newest first
 * @awake: the thread looks at @list by itself; if not, whoever fills it wakes the thread
 * @away: the thread may wait for a disk; works run its queues meanwhile
 * @task: the thread
 * @polls: the disks that it polls
 * @poll_work: polls them while it is @away
 * @poll_vain: looks of @poll_work in vain, one after the other; it alone uses it
 * @helped: @poll_work may be queued, or run
 * @dev: the device
 * @vector: the completion vector
 * @leave: called by the thread when it may be about to sleep with commands in its hands
 * @file: in debugfs
 * @next: another thread that ends
 * @ending: it shall end
 * @ended: it has run its last queue
 * @spin_ns: how long it looks in vain before it sleeps
 * @vain_since: when the first look in vain after one that found something was made, in
 *	nanoseconds of ktime; 0 if the last one was not in vain
 * @vain_until: when the last look in vain was made
 * @nap_since: when it began to sleep for a short time at a time, to poll disks in between; 0 if it
 *	does not
 * @nap_ns: how long it sleeps next at a time
 * @window: when the present CAP_WINDOW_NS began
 * @window_spun: @spun_ns at that time
 * @rounds: looks that found something to run
 * @vain: looks after which there was nothing to run
 * @completions: what looks have found
 * @disk_completions: commands for which it polled disks, and that have ended
 * @away_completions: those of them that have ended while it was away
 * @spun_ns: time that was spent on looks in vain
 * @sleeps: how often it slept
 * @absences: how often it was @away
 * @interrupts_before: those of the vector's completion queues before it was started
 *
 * Only the thread writes it, but for @list, and @poll_work what it needs. Others read it.
 */
struct nvmet_rdma_thread {
	struct llist_head		list;
	bool				awake;
	bool				away;
	struct task_struct		*task;
	struct nvmet_rdma_disk_polls	polls;
	struct delayed_work		poll_work;
	unsigned int			poll_vain;
	bool				helped;
	struct nvmet_rdma_device	*dev;
	u32				vector;
	void (*leave)(struct nvmet_rdma_thread *thread);
	struct dentry			*file;
	struct nvmet_rdma_thread	*next;
	bool				ending;
	struct completion		ended;
	u64				spin_ns;
	u64				vain_since;
	u64				vain_until;
	u64				nap_since;
	u64				nap_ns;
	u64				window;
	u64				window_spun;
	u64				rounds;
	u64				vain;
	u64				completions;
	u64				disk_completions;
	u64				away_completions;
	u64				spun_ns;
	u64				sleeps;
	u64				absences;
	u64				interrupts_before;
};

void nvmet_rdma_threads(struct nvmet_rdma_device *dev, bool may);

#endif /* NVMET_RDMA_THREAD_H */
