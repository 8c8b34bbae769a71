// SPDX-License-Identifier: GPL-2.0
/*
 * Plain reads and writes of block devices, by a bio of this module.
 *
 * The core executes a read or write by a bio that it sets up from the scatterlist. This does the
 * same in fewer steps for plain commands: their data is in memory of this module and as long as
 * the command says, they have no metadata, and no flag is set (Force Unit Access, Limited
 * Retry). The bio is in the memory that the core has for its own, and the same flags are set. The
 * core executes all others. It has parsed, checked and accounted for each command before, and
 * completes it, so that ANA, reservations and all else are as they were.
 *
 * Without waiting: if a thread runs the queue (thread.c), the block layer shall not wait for a
 * tag. It fails the bio instead (REQ_NOWAIT). The command is then put with those whose data was
 * read, for a work to execute by the core's function, which may wait. This is asked of disks with
 * tags of their own only: a stack of disks may take the failure of one of them for an error of
 * the disk. It is not asked for what the block layer splits, which it would fail each time, nor
 * for writes of zoned disks, which it would hand to a work of its own.
 *
 * Polled: if the disk has hardware queues to be polled, the thread polls for the command
 * (disk_poll.c). Nothing merges it with another one then, so that it can be told where it is.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/bio.h>
#include <linux/blkdev.h>

#include "disk_poll.h"
#include "error.h"
#include "io.h"
#include "list.h"
#include "send.h"
#include "thread.h"

core_abi_assert(sizeof_field(struct nvmet_req, b) >= sizeof(struct bio));
core_abi_assert(!(offsetof(struct nvmet_req, b) % __alignof__(struct bio)));

/* The core's own, of which it has one in each request */
static struct bio *bio_of(struct nvmet_req *req)
{
	return (struct bio *)req->b;
}

/**
 * struct outcome - what a failure of a bio means for a command
 * @of: the failure
 * @status: the status of the command
 * @dnr: it need not be repeated
 * @error_loc: the byte of the command that is to blame
 */
struct outcome {
	blk_status_t of;
	u16 status;
	bool dnr;
	u16 error_loc;
};

/* As the core has them (drivers/nvme/target/io-cmd-bdev.c) */
static const struct outcome outcomes[] = {
	{ BLK_STS_NOSPC, NVME_SC_CAP_EXCEEDED, true, offsetof(struct nvme_rw_command, length) },
	{ BLK_STS_TARGET, NVME_SC_LBA_RANGE, true, offsetof(struct nvme_rw_command, slba) },
	{ BLK_STS_NOTSUPP, NVME_SC_INVALID_OPCODE, true,
	  offsetof(struct nvme_common_command, opcode) },
	{ BLK_STS_MEDIUM, NVME_SC_ACCESS_DENIED, false, offsetof(struct nvme_rw_command, nsid) },
	/* all others */
	{ BLK_STS_IOERR, NVME_SC_INTERNAL, true, offsetof(struct nvme_common_command, opcode) },
};

static u16 status_of(struct nvmet_req *req, blk_status_t failure)
{
	const struct outcome *outcome = outcomes;

	while (outcome->of != failure && outcome < &outcomes[ARRAY_SIZE(outcomes) - 1])
		outcome++;
	req->error_loc = outcome->error_loc;
	req->error_slba = le64_to_cpu(req->cmd->rw.slba);
	return outcome->status | (outcome->dnr ? NVME_STATUS_DNR : 0);
}

/*
 * The disk would have kept the thread waiting. Returns false if the queue is being ended: its
 * release may be past the commands to be executed, and it waits for the core's reference of this
 * one. Context: any.
 */
static bool leave_to_work(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_rdma_queue *queue = rsp->queue;
	unsigned long flags;
	bool live;

	spin_lock_irqsave(&queue->lock, flags);
	live = queue->state == NVMET_RDMA_Q_LIVE;
	if (likely(live)) {
		rsp->may_wait = true;
		/* As if its data had just been read: it holds the core's reference */
		rsp->reading = true;
		WRITE_ONCE(queue->blocked, true);
		nvmet_rdma_event(queue, NVMET_RDMA_EV_NO_TAG);
		nvmet_rdma_rsps_add(&queue->ready, rsp);
		nvmet_rdma_queue_io(queue);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return live;
}

/* Was a bio failed because it was not to wait, or because a disk cannot do that any more? */
static bool would_wait(const struct nvmet_rdma_rsp *rsp, blk_status_t failure)
{
	return !rsp->may_wait && (failure == BLK_STS_AGAIN || failure == BLK_STS_NOTSUPP);
}

/* Context: any. */
static void bdev_done(struct bio *bio)
{
	struct nvmet_rdma_rsp *rsp = bio->bi_private;
	struct nvmet_rdma_polled_disk *disk = rsp->polled;
	blk_status_t failure = bio->bi_status;

	bio_uninit(bio);
	if (disk) {
		WRITE_ONCE(rsp->polled, NULL);
		nvmet_rdma_disk_polls_end(disk);
	}
	if (likely(!failure))
		nvmet_req_complete(&rsp->req, NVME_SC_SUCCESS);
	else if (!would_wait(rsp, failure) || !leave_to_work(rsp))
		nvmet_req_complete(&rsp->req, status_of(&rsp->req, failure));
}

/* Shall the block layer not wait? See the head of the file */
static bool asks_not_to_wait(const struct nvmet_rdma_rsp *rsp, struct request_queue *q)
{
	const struct nvmet_req *req = &rsp->req;

	return rsp->queue->thread && queue_is_mq(q) && bdev_nowait(req->ns->bdev) &&
	       req->transfer_len <= queue_max_bytes(q) &&
	       (req->cmd->rw.opcode == nvme_cmd_read || !bdev_is_zoned(req->ns->bdev));
}

/* See the head of the file */
static bool is_plain(const struct nvmet_rdma_rsp *rsp)
{
	const struct nvmet_req *req = &rsp->req;
	const struct nvme_rw_command *rw = &req->cmd->rw;

	return (rw->opcode == nvme_cmd_read || rw->opcode == nvme_cmd_write) &&
	       rsp->queue->qid && req->ns && req->ns->bdev && !rw->control &&
	       rsp->xfer.how <= NVMET_RDMA_XFER_CHUNKS && !req->metadata_len &&
	       req->sg_cnt && req->sg_cnt <= ARRAY_SIZE(req->inline_bvec) &&
	       req->transfer_len == (le16_to_cpu(rw->length) + 1ul) << req->ns->blksize_shift;
}

/* The disk, if the thread shall poll for one more command there */
static struct nvmet_rdma_polled_disk *polled_disk(struct nvmet_rdma_thread *thread,
						  struct block_device *bdev)
{
	return thread->away ? NULL : nvmet_rdma_disk_polls_begin(&thread->polls, bdev);
}

/* As the core: what is split reaches a driver together, and md does not use its thread */
static noinline void submit_in_plug(struct bio *bio)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	submit_bio(bio);
	blk_finish_plug(&plug);
}

/**
 * nvmet_rdma_bdev_execute() - execute a command, if it is a plain read or write
 * @rsp: the command; the core has parsed it, and its data is where the disk reads or writes it
 *
 * Context: may sleep. Return: false if the core has to execute it.
 */
bool nvmet_rdma_bdev_execute(struct nvmet_rdma_rsp *rsp)
{
	struct nvmet_req *req = &rsp->req;
	struct bio *bio = bio_of(req);
	struct nvmet_rdma_polled_disk *disk = NULL;
	struct block_device *bdev;
	struct scatterlist *sg;
	blk_opf_t opf;
	int i;

	if (!is_plain(rsp) || unlikely(rsp->may_wait))
		return false;
	bdev = req->ns->bdev;
	opf = req->cmd->rw.opcode == nvme_cmd_read ? REQ_OP_READ :
						     REQ_OP_WRITE | REQ_SYNC | REQ_IDLE;
	rsp->may_wait = !asks_not_to_wait(rsp, bdev_get_queue(bdev));
	if (!rsp->may_wait) {
		opf |= REQ_NOWAIT;
		disk = polled_disk(rsp->queue->thread, bdev);
		if (disk)
			opf |= REQ_POLLED | REQ_NOMERGE;
	}
	rsp->polled = disk;
	bio_init(bio, bdev, req->inline_bvec, req->sg_cnt, opf);
	for_each_sg(req->sg, sg, req->sg_cnt, i)
		bvec_set_page(&req->inline_bvec[i], sg_page(sg), sg->length, sg->offset);
	bio->bi_vcnt = req->sg_cnt;
	bio->bi_iter.bi_size = req->transfer_len;
	bio->bi_iter.bi_sector = le64_to_cpu(req->cmd->rw.slba) <<
				 (req->ns->blksize_shift - SECTOR_SHIFT);
	bio->bi_private = rsp;
	bio->bi_end_io = bdev_done;
	/* A thread, which alone polls disks, has a plug */
	if (unlikely(!current->plug)) {
		submit_in_plug(bio);
		return true;
	}
	submit_bio(bio);
	/* If it has ended, the response may be another command's, which is not executed yet */
	if (disk && READ_ONCE(rsp->polled))
		nvmet_rdma_disk_polls_note(disk, bio);
	return true;
}
