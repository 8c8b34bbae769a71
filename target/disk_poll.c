// SPDX-License-Identifier: GPL-2.0
/*
 * Disks that a thread polls: those with hardware queues that do not interrupt, such as the nvme
 * driver has with poll_queues.
 *
 * Operation: a thread asks for its plain reads and writes to be polled (bdev.c). Each is counted
 * before it is submitted. The block layer puts its request into the thread's plug, which says
 * which hardware queue it goes to. One that is not there is submitted later, such as by the
 * block layer's throttling. Then the thread polls all such queues of the disk. It polls while
 * it has commands there. The block layer polls for a bio, which it only asks for the disk and the
 * hardware queue. The look has one of its own for that, as those of the commands may end, and be
 * used again, at any time.
 *
 * Who completes: whoever polls the hardware queue. That may be another thread, a program, or the
 * driver when it is reset.
 *
 * Who polls: the thread. While it is away, a work does (thread.c). Only the thread writes an entry,
 * but for its count of what has ended. It changes an entry that has no command only when it adds
 * one, which it does not do while it is away. But it may go away while it submits a command that
 * it has added, and note the hardware queue then.
 *
 * Lifetime: a command holds its namespace, and with that the disk, until it has been counted as
 * ended. RCU keeps the disk for a look that finds a command there. The disk may lose hardware
 * queues when its driver resets it. So a look has a reference of the queue of requests, which
 * keeps them as they are, and polls only those that there are.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/rcupdate.h>

#include "core-abi/core.h"
#include "disk_poll.h"

static bool is_busy(const struct nvmet_rdma_polled_disk *disk)
{
	return (unsigned int)atomic_read_acquire(&disk->completed) != READ_ONCE(disk->submitted);
}

/* Of a disk that may be polled; there may be none. Context: a reference of @q. */
static const struct blk_mq_queue_map *poll_queues(const struct request_queue *q)
{
	return &q->tag_set->map[HCTX_TYPE_POLL];
}

/* Some drivers sleep when they are polled */
static bool can_be_polled(const struct request_queue *q)
{
	return poll_queues(q)->nr_queues && !(q->tag_set->flags & BLK_MQ_F_BLOCKING);
}

/* The entry of a disk; or one without commands, which becomes its. NULL if there is neither. */
static struct nvmet_rdma_polled_disk *entry(struct nvmet_rdma_disk_polls *polls,
					    const struct block_device *bdev)
{
	struct nvmet_rdma_polled_disk *disk, *unused = NULL;
	unsigned int i;

	for (i = 0; i < polls->nr; i++) {
		disk = &polls->disk[i];
		if (disk->bdev == bdev)
			return disk;
		if (!is_busy(disk))
			unused = disk;
	}
	if (!unused && polls->nr < NVMET_RDMA_POLLED_DISKS)
		unused = &polls->disk[polls->nr++];
	return unused;
}

/**
 * nvmet_rdma_disk_polls_begin() - count a command that shall be polled for
 * @polls: what the thread polls
 * @bdev: the disk, which the command holds
 *
 * Context: the thread, which is not away.
 * Return: the disk, for nvmet_rdma_disk_polls_end(); NULL if the disk cannot be polled, or is one
 * more than the thread polls.
 */
struct nvmet_rdma_polled_disk *nvmet_rdma_disk_polls_begin(struct nvmet_rdma_disk_polls *polls,
							   struct block_device *bdev)
{
	struct request_queue *q = bdev_get_queue(bdev);
	struct nvmet_rdma_polled_disk *disk;

	if (likely(!nvmet_rdma_may_be_polled(q)))
		return NULL;
	disk = entry(polls, bdev);
	if (!disk)
		return NULL;
	if (!is_busy(disk)) {
		/* The driver may be taking the disk away */
		if (!percpu_ref_tryget_live(&q->q_usage_counter))
			return NULL;
		disk->bdev = can_be_polled(q) ? bdev : NULL;
		percpu_ref_put(&q->q_usage_counter);
		disk->nr_queues = 0;
		if (!disk->bdev)
			return NULL;
	}
	WRITE_ONCE(disk->submitted, disk->submitted + 1);
	return disk;
}

#define ALL	UINT_MAX

/* @number: of a hardware queue, or ALL */
static void add_queue(struct nvmet_rdma_polled_disk *disk, unsigned int number)
{
	unsigned int i, n = disk->nr_queues;

	for (i = 0; i < n; i++) {
		if (i == NVMET_RDMA_POLL_QUEUES || disk->queue[i] == number)
			return;
	}
	if (number == ALL || n == NVMET_RDMA_POLL_QUEUES) {
		WRITE_ONCE(disk->nr_queues, NVMET_RDMA_POLL_QUEUES + 1);
		return;
	}
	disk->queue[n] = number;
	/* Pairs with poll_disk() of the work */
	smp_store_release(&disk->nr_queues, n + 1);
}

/**
 * nvmet_rdma_disk_polls_note() - learn where to poll for a command
 * @disk: what nvmet_rdma_disk_polls_begin() has returned
 * @bio: the bio of the command, with REQ_POLLED and REQ_NOMERGE, which has just been submitted,
 *	with a plug, and has not ended
 *
 * Context: the thread.
 */
void nvmet_rdma_disk_polls_note(struct nvmet_rdma_polled_disk *disk, const struct bio *bio)
{
	struct request *rq = nvmet_rdma_plug_newest(current->plug);

	if (!rq || rq->bio != bio)
		add_queue(disk, ALL);
	else if (rq->mq_hctx->type == HCTX_TYPE_POLL)
		add_queue(disk, rq->mq_hctx->queue_num);
	/* if not, it interrupts */
}

/**
 * nvmet_rdma_disk_polls_busy() - is any command under way for which the thread polls?
 * @polls: what it polls
 *
 * Context: the thread, or the work that polls in its place.
 * Return: true if there is one. If not, nothing has access to @polls on behalf of a command.
 */
bool nvmet_rdma_disk_polls_busy(const struct nvmet_rdma_disk_polls *polls)
{
	unsigned int i;

	for (i = 0; i < polls->nr; i++) {
		if (is_busy(&polls->disk[i]))
			return true;
	}
	return false;
}

/* Context: a reference of @q, which is the disk's */
static void poll_disk(const struct nvmet_rdma_polled_disk *disk, const struct request_queue *q)
{
	const struct blk_mq_queue_map *map = poll_queues(q);
	unsigned int i, n;

	/* Pairs with add_queue() */
	n = smp_load_acquire(&disk->nr_queues);
	if (likely(n <= NVMET_RDMA_POLL_QUEUES)) {
		for (i = 0; i < n; i++) {
			if (likely(disk->queue[i] - map->queue_offset < map->nr_queues))
				nvmet_rdma_poll(disk->bdev, disk->queue[i]);
		}
		return;
	}
	for (i = 0; i < map->nr_queues; i++)
		nvmet_rdma_poll(disk->bdev, map->queue_offset + i);
}

/* A command that has not ended holds the disk: see the head of the file */
static void look_at(const struct nvmet_rdma_polled_disk *disk)
{
	struct request_queue *q;

	nvmet_rdma_polling_begins();
	rcu_read_lock();
	if (is_busy(disk)) {
		q = bdev_get_queue(disk->bdev);
		if (percpu_ref_tryget(&q->q_usage_counter)) {
			poll_disk(disk, q);
			percpu_ref_put(&q->q_usage_counter);
		}
	}
	rcu_read_unlock();
	nvmet_rdma_polling_ends();
}

/**
 * nvmet_rdma_disk_polls_look() - poll all disks that have commands of the thread
 * @polls: what it polls
 *
 * What has completed ends here, in the context of a softirq where the kernel allows that. Then
 * the responses of a queue are posted together (send.c).
 *
 * Context: as nvmet_rdma_disk_polls_busy().
 * Return: how many commands of the thread have ended since the last look.
 */
unsigned int nvmet_rdma_disk_polls_look(struct nvmet_rdma_disk_polls *polls)
{
	unsigned int i, completed, found = 0;

	for (i = 0; i < polls->nr; i++) {
		struct nvmet_rdma_polled_disk *disk = &polls->disk[i];

		if (is_busy(disk))
			look_at(disk);
		completed = atomic_read(&disk->completed);
		found += completed - disk->seen;
		disk->seen = completed;
	}
	return found;
}
