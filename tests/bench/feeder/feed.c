// SPDX-License-Identifier: GPL-2.0
/*
 * Feeding: a command is sent as soon as the response to another is there, or when its time comes.
 *
 * Operation: the capsules are made before. The loop polls the CQ; for each response it checks
 * the status, posts the receive again, and sends the next command, which is a slot of the queue
 * whose turn it is. Of all that, the processor executes some hundred instructions in this
 * module; those of the device are its own.
 *
 * The order of execution decides how many commands the target finds at a time, where feeder and
 * target share a processor:
 *
 * - usually, the target runs when all responses are taken and all commands are sent. It finds
 *   all of them together, like a busy target. This is its best case.
 * - at once, it runs before and after each command, like a worker that preempts the sender.
 *   It finds one command at a time whatever the depth, like a target with little to do. This
 *   is its worst.
 *
 * At a rate, the target runs whenever it has something to do, and is idle in between. A command
 * whose time has come waits only while as many as may be are in flight.
 *
 * The interrupts of the target come at once in all of them. The feeder has the idle policy, so that
 * the scheduler prefers every other task, and is not preempted otherwise. While no other task
 * can run, it polls, and thus stands in for the idle task.
 */
#define pr_fmt(fmt) "feeder: " fmt

#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include "feeder.h"

#define STATUS_PHASE	((u16)1)	/* of the field with the status */
#define POLL_BATCH	16
/* At most this many places of the send queue wait for a completion that gives them back */
#define SIGNAL_EVERY	16
/* Polls that find nothing, of which one lets other tasks run, if none was woken */
#define GIVE_WAY_EVERY	64
/* Without a response for that long, the target hangs */
#define STUCK_MS	10000
/* Far enough from each other that the block layer merges no two commands */
#define LBAS_APART	(2 * FEEDER_DATA >> FEEDER_BLOCK_SHIFT)

/**
 * feeder_send() - send a slot's capsule
 * @slot: the slot; its queue's list has it no more
 *
 * The counting plugin counts between calls of this function.
 *
 * Context: any; one caller at a time.
 *
 * Return: 0 or a negative errno.
 */
noinline __noclone int feeder_send(struct feeder_slot *slot)
{
	struct feeder_queue *queue = slot->queue;

	slot->busy = true;
	slot->wr.send_flags = ++queue->sent % SIGNAL_EVERY ? 0 : IB_SEND_SIGNALED;
	return ib_post_send(queue->id->qp, &slot->wr, NULL);
}

/**
 * feeder_reply() - take a response and post its receive again
 * @recv: the receive
 * @wc: its completion
 * @slot: the command that the response is for
 *
 * Context: any; one caller at a time.
 *
 * Return: 0 or a negative errno.
 */
int feeder_reply(struct feeder_recv *recv, const struct ib_wc *wc, struct feeder_slot **slot)
{
	struct feeder_queue *queue = recv->queue;
	u16 id = recv->cqe->command_id;

	if (wc->byte_len != sizeof(*recv->cqe) || id >= FEEDER_DEPTH ||
	    !queue->slots[id].busy) {
		pr_err("queue %u: a response of %u bytes for command %u, which is not in flight\n",
		       queue->qid, wc->byte_len, id);
		return -EPROTO;
	}
	*slot = &queue->slots[id];
	(*slot)->busy = false;
	(*slot)->next = queue->free;
	queue->free = *slot;
	return ib_post_recv(queue->id->qp, &recv->wr, NULL);
}

/* What the slot's blocks contain after their @n-th write */
static u64 pattern(const struct feeder_slot *slot, u32 n, unsigned int at)
{
	return (slot->lba << 32 | n) * 0x9e3779b97f4a7c15ull + at;
}

static void data_make(struct feeder_slot *slot, const struct feeder_job *job)
{
	u64 *words = slot->data;
	unsigned int i;

	if (job->opcode == nvme_cmd_write)
		slot->written++;
	for (i = 0; i < FEEDER_DATA / sizeof(*words); i++)
		words[i] = job->opcode == nvme_cmd_write ?
			   pattern(slot, slot->written, i) : 0;
}

static bool data_good(const struct feeder_slot *slot)
{
	const u64 *words = slot->data;
	unsigned int i;

	for (i = 0; i < FEEDER_DATA / sizeof(*words); i++) {
		if (words[i] != pattern(slot, slot->written, i))
			return false;
	}
	return true;
}

static void capsule_make(struct feeder_slot *slot, const struct feeder_job *job)
{
	bool inside = job->opcode == nvme_cmd_write && !job->keyed;
	struct nvme_rw_command *rw = &slot->sqe->rw;

	memset(rw, 0, sizeof(*rw));
	rw->opcode = job->opcode;
	rw->flags = NVME_CMD_SGL_METABUF;
	rw->command_id = slot - slot->queue->slots;
	rw->nsid = cpu_to_le32(job->nsid);
	rw->slba = cpu_to_le64(slot->lba);
	rw->length = cpu_to_le16((FEEDER_DATA >> FEEDER_BLOCK_SHIFT) - 1);
	if (inside) {
		rw->dptr.sgl.length = cpu_to_le32(FEEDER_DATA);
		rw->dptr.sgl.type = NVME_SGL_FMT_DATA_DESC << 4 | NVME_SGL_FMT_OFFSET;
	} else {
		feeder_sgl(slot->sqe, slot->dma, FEEDER_DATA,
			   slot->queue->host->pd->unsafe_global_rkey);
	}
	slot->wr.num_sge = inside ? 2 : 1;
}

static void capsules_make(struct feeder *host, const struct feeder_job *job)
{
	unsigned int q, i;

	for (q = 0; q < host->nr; q++) {
		for (i = 0; i < FEEDER_DEPTH; i++) {
			struct feeder_slot *slot = &host->queues[q].slots[i];

			slot->lba = (q * FEEDER_DEPTH + i) * LBAS_APART;
			capsule_make(slot, job);
		}
	}
}

/* The queue of the next command: there is an unused slot, as all commands fit into one queue */
static struct feeder_queue *next_queue(struct feeder *host, const struct feeder_job *job)
{
	unsigned int n = job->sent;

	if (job->random)
		n = n * 0x9e3779b1U >> 8;
	return &host->queues[n % host->nr];
}

static int send_next(struct feeder *host, struct feeder_job *job)
{
	struct feeder_queue *queue = next_queue(host, job);
	struct feeder_slot *slot = queue->free;

	queue->free = slot->next;
	if (unlikely(job->check))
		data_make(slot, job);
	job->sent++;
	return feeder_send(slot);
}

static int take(struct feeder *host, struct feeder_job *job, const struct ib_wc *wc)
{
	struct feeder_recv *recv = (struct feeder_recv *)(uintptr_t)wc->wr_id;
	struct feeder_slot *slot;
	__le16 status;
	int ret;

	if (unlikely(wc->status)) {
		pr_err("%s: %s\n", recv ? "a receive" : "a SEND", ib_wc_status_msg(wc->status));
		return -EIO;
	}
	if (!recv)
		return 0;
	status = recv->cqe->status;
	ret = feeder_reply(recv, wc, &slot);
	if (unlikely(ret))
		return ret;
	job->answered++;
	if (unlikely(status & cpu_to_le16(~STATUS_PHASE))) {
		if (!job->failed++)
			pr_err("queue %u: status %#x\n", slot->queue->qid,
			       le16_to_cpu(status) >> 1);
	} else if (unlikely(job->check) && job->opcode == nvme_cmd_read && slot->written &&
		   !data_good(slot)) {
		job->wrong++;
	}
	return 0;
}

/* Let other tasks run, if there are any; RCU learns of it in any case */
static void give_way(void)
{
	preempt_enable();
	if (single_task_running())
		cond_resched();
	else
		schedule();
	preempt_disable();
}

static bool any_ended(struct feeder *host)
{
	unsigned int i;

	for (i = 0; i < host->nr; i++) {
		if (READ_ONCE(host->queues[i].ended))
			return true;
	}
	for (i = 0; i < feeder_ctrls(host); i++) {
		if (READ_ONCE(host->admins[i].ended))
			return true;
	}
	return false;
}

/*
 * Nothing has arrived. Since 6.12 the scheduler counts a sleeping task as runnable for some time.
 * Then schedule() returns at once, and its instructions count as the target's. So only one poll
 * in GIVE_WAY_EVERY calls it, unless a task was woken.
 */
static int wait_more(struct feeder *host, unsigned long since, unsigned int waits)
{
	if (need_resched() || !(waits % GIVE_WAY_EVERY))
		give_way();
	cpu_relax();
	if (likely(time_before(jiffies, since + msecs_to_jiffies(STUCK_MS))))
		return 0;
	pr_err("%s\n", any_ended(host) ? "disconnected" : "no response");
	return -ETIMEDOUT;
}

static bool is_due(const struct feeder_job *job)
{
	if (job->sent == job->count || job->sent - job->answered == job->depth)
		return false;
	return !job->every || ktime_get_ns() - job->began >= (u64)job->sent * job->every;
}

/**
 * feeder_feed() - do a job
 * @host: the host
 * @job: the job; receives the results
 *
 * Context: may sleep; a task of its own with the idle policy.
 *
 * Return: 0, or a negative errno, after which the host is of no use. Commands that
 * failed and wrong data are counted, and are no error here.
 */
int feeder_feed(struct feeder *host, struct feeder_job *job)
{
	unsigned long since = jiffies;
	unsigned int waits = 0;
	struct ib_wc wc[POLL_BATCH];
	int i, n, ret = 0;

	capsules_make(host, job);
	job->began = ktime_get_ns();
	preempt_disable();
	while (!ret && job->answered < job->count) {
		n = ib_poll_cq(host->cq, ARRAY_SIZE(wc), wc);
		/* What woke a task may have brought a response, too, which goes first */
		if (!n && !single_task_running())
			n = ib_poll_cq(host->cq, ARRAY_SIZE(wc), wc);
		for (i = 0; i < n && !ret; i++)
			ret = take(host, job, &wc[i]);
		if (n)
			since = jiffies;
		while (!ret && is_due(job)) {
			if (job->at_once)
				give_way();
			ret = send_next(host, job);
			if (job->at_once)
				give_way();
		}
		if (!n && !ret)
			ret = wait_more(host, since, waits++);
	}
	preempt_enable();
	return ret;
}
