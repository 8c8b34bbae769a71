/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: disks that a thread polls, see disk_poll.c */
#ifndef NVMET_RDMA_DISK_POLL_H
#define NVMET_RDMA_DISK_POLL_H

#include <linux/bio.h>

/* Disks that a thread polls at a time. Commands for more of them are left to interrupts. */
#define NVMET_RDMA_POLLED_DISKS		8
/* Hardware queues of a disk that are polled; if commands are on more, all are */
#define NVMET_RDMA_POLL_QUEUES		4

/**
 * struct nvmet_rdma_polled_disk - a disk that a thread polls while it has commands there
 * @bdev: the disk
 * @submitted: commands that the thread has counted so far; wraps
 * @completed: those of them that have ended; wraps
 * @seen: @completed at the last look
 * @nr_queues: number of @queue; more than there is room for if all are polled
 * @queue: numbers of its hardware queues that have commands, or have had some since it had none
 */
struct nvmet_rdma_polled_disk {
	struct block_device	*bdev;
	unsigned int		submitted;
	atomic_t		completed;
	unsigned int		seen;
	unsigned int		nr_queues;
	unsigned int		queue[NVMET_RDMA_POLL_QUEUES];
};

/**
 * struct nvmet_rdma_disk_polls - what a thread polls of disks
 * @nr: number of @disk; some of them may have no commands
 * @disk: the disks
 *
 * The thread writes it, but for @completed, which is anybody's, and @seen, which is whose turn it
 * is to poll.
 */
struct nvmet_rdma_disk_polls {
	unsigned int			nr;
	struct nvmet_rdma_polled_disk	disk[NVMET_RDMA_POLLED_DISKS];
};

struct nvmet_rdma_polled_disk *nvmet_rdma_disk_polls_begin(struct nvmet_rdma_disk_polls *polls,
							   struct block_device *bdev);
void nvmet_rdma_disk_polls_note(struct nvmet_rdma_polled_disk *disk, const struct bio *bio);
bool nvmet_rdma_disk_polls_busy(const struct nvmet_rdma_disk_polls *polls);
unsigned int nvmet_rdma_disk_polls_look(struct nvmet_rdma_disk_polls *polls);

/* A command has ended. This is the last access to @disk on its behalf. Context: any. */
static inline void nvmet_rdma_disk_polls_end(struct nvmet_rdma_polled_disk *disk)
{
	/* Pairs with is_busy() */
	smp_mb__before_atomic();
	atomic_inc(&disk->completed);
}

#endif /* NVMET_RDMA_DISK_POLL_H */
