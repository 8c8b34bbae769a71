/* SPDX-License-Identifier: GPL-2.0 */
/*
 * feeder: a minimal NVMe/RDMA host that keeps a target busy at little cost of its own, so that
 * the instructions of the target alone can be counted (tests/bench/target).
 *
 *   main.c   the files in debugfs
 *   conn.c   queues: memory, queue pairs, connections
 *   setup.c  the commands that make a controller ready
 *   feed.c   reads and writes, back to back or at a rate
 *
 * All queues complete into one CQ, which is only polled: the feeder causes no interrupts and
 * never sleeps while it feeds, so that whatever runs beside it is the target's work. A
 * controller has few queues, so more of them are of several controllers. The device must stay
 * until the feeder has disconnected.
 *
 * Memory is not synced for DMA: tests run on x86, where that does nothing.
 */
#ifndef _FEEDER_H
#define _FEEDER_H

#include <linux/completion.h>
#include <linux/in.h>
#include <linux/nvme-rdma.h>
#include <linux/nvme.h>
#include <linux/sizes.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define FEEDER_CTRLS		8
/* Those of a controller, of which nvmet allows 127 */
#define FEEDER_CTRL_QUEUES	64
#define FEEDER_IO_QUEUES	(FEEDER_CTRLS * FEEDER_CTRL_QUEUES)
/* Commands that a queue may have, as the kernel's host requests by default */
#define FEEDER_QUEUE_SIZE	128
/* Commands in flight, of all queues; one queue may have all of them */
#define FEEDER_DEPTH		64
/* Data of a command; namespaces have blocks of 512 bytes */
#define FEEDER_DATA		SZ_4K
#define FEEDER_BLOCK_SHIFT	9

struct feeder_queue;

/**
 * struct feeder_mem - memory of the device's
 * @va: where the CPU sees it
 * @dma: where the device sees it
 * @len: bytes
 */
struct feeder_mem {
	void *va;
	u64 dma;
	size_t len;
};

/**
 * struct feeder_slot - a command, ready to be sent
 * @wr: the SEND of its capsule
 * @sge: the capsule, and data within it
 * @sqe: the command; its ID is the slot's number
 * @data: the command's data
 * @dma: the same for the device
 * @lba: the first of its blocks, which no other slot uses
 * @next: another unused slot of the queue
 * @queue: the queue
 * @written: how often it has been written with a pattern
 * @busy: it is in flight
 */
struct feeder_slot {
	struct ib_send_wr wr;
	struct ib_sge sge[2];
	struct nvme_command *sqe;
	void *data;
	u64 dma;
	u64 lba;
	struct feeder_slot *next;
	struct feeder_queue *queue;
	u32 written;
	bool busy;
};

/**
 * struct feeder_recv - a receive for a response
 * @wr: its work request, whose wr_id is this structure
 * @sge: its memory
 * @cqe: the response
 * @queue: the queue
 */
struct feeder_recv {
	struct ib_recv_wr wr;
	struct ib_sge sge;
	struct nvme_completion *cqe;
	struct feeder_queue *queue;
};

/**
 * struct feeder_queue - a queue
 * @host: the host
 * @id: the connection, which has the queue pair
 * @event: the last event of the connection
 * @step: completed by each event until the connection is established
 * @ended: the peer has disconnected, or the device goes
 * @qid: the queue's number; 0 is the admin queue
 * @capsules: memory of the slots' commands
 * @replies: memory of the receives
 * @data: memory of the slots' data
 * @slots: FEEDER_DEPTH of them
 * @recvs: FEEDER_QUEUE_SIZE of them
 * @free: unused slots
 * @sent: SENDs so far: some of them are signaled
 */
struct feeder_queue {
	struct feeder *host;
	struct rdma_cm_id *id;
	enum rdma_cm_event_type event;
	struct completion step;
	bool ended;
	u16 qid;
	struct feeder_mem capsules, replies, data;
	struct feeder_slot *slots;
	struct feeder_recv *recvs;
	struct feeder_slot *free;
	u32 sent;
};

/**
 * struct feeder - the host
 * @pd: protection domain; all memory has its key
 * @cq: completions of all queues
 * @nr: I/O queues
 * @admins: admin queues, one for each FEEDER_CTRL_QUEUES of them
 * @queues: I/O queues
 */
struct feeder {
	struct ib_pd *pd;
	struct ib_cq *cq;
	unsigned int nr;
	struct feeder_queue admins[FEEDER_CTRLS];
	struct feeder_queue queues[FEEDER_IO_QUEUES];
};

/**
 * struct feeder_job - what to feed, and what came of it
 * @opcode: read or write
 * @keyed: the target fetches the data of writes; otherwise they are in the capsules
 * @random: the next command goes to any queue; otherwise to all of them in turn
 * @at_once: the target may run after each command; otherwise when there is nothing to send
 * @check: writes have patterns, and reads must return them
 * @every: nanoseconds from the start of a command to that of the next; 0 if they go back to back
 * @nsid: the namespace
 * @depth: commands in flight, of all queues
 * @count: commands
 * @began: when the first was due
 * @sent: commands sent
 * @answered: responses
 * @failed: those with another status than success
 * @wrong: reads that returned other data
 */
struct feeder_job {
	u8 opcode;
	bool keyed;
	bool random;
	bool at_once;
	bool check;
	u32 every;
	u32 nsid;
	u32 depth;
	u32 count;
	u64 began;
	u32 sent;
	u32 answered;
	u32 failed;
	u32 wrong;
};

/* A keyed SGL of @len bytes at @dma; the fields are not aligned */
static inline void feeder_sgl(struct nvme_command *sqe, u64 dma, u32 len, u32 key)
{
	struct nvme_keyed_sgl_desc *sgl = &sqe->common.dptr.ksgl;
	unsigned int i;

	sgl->addr = cpu_to_le64(dma);
	for (i = 0; i < sizeof(sgl->length); i++)
		sgl->length[i] = len >> 8 * i;
	for (i = 0; i < sizeof(sgl->key); i++)
		sgl->key[i] = key >> 8 * i;
	sgl->type = NVME_KEY_SGL_FMT_DATA_DESC << 4;
}

/* conn.c */
unsigned int feeder_ctrls(const struct feeder *host);
int feeder_queue_connect(struct feeder *host, struct feeder_queue *queue, u16 qid,
			 const struct sockaddr_storage *to, struct sockaddr_in *from);
void feeder_queue_disconnect(struct feeder_queue *queue);
void feeder_free(struct feeder *host);

/* setup.c */
struct feeder *feeder_connect(const struct sockaddr_storage *to,
			      const struct sockaddr_storage *from, unsigned int addresses,
			      const char *subnqn, const char *hostnqn, unsigned int queues);
void feeder_disconnect(struct feeder *host);

/* feed.c */
int feeder_send(struct feeder_slot *slot);
int feeder_reply(struct feeder_recv *recv, const struct ib_wc *wc, struct feeder_slot **slot);
int feeder_feed(struct feeder *host, struct feeder_job *job);

#endif /* _FEEDER_H */
