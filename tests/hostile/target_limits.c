// SPDX-License-Identifier: GPL-2.0
/*
 * The host must keep to the limits that the controller has reported, true or poked; anything
 * beyond is an alarm. The limit of transfers does not apply after a reconnect with a smaller
 * one, because requests that waited meanwhile have their size.
 */
#include "target.h"

/* Identify Controller */
#define ID_MDTS		77
#define ID_MAXCMD	514
#define ID_SGLS		536
#define ID_IOCCSZ	1792

#define SGLS_OFFSET	(1u << 20)
#define MIN_PAGE_LEN	4096ull

void limits_ctrl(struct assoc *assoc, const uint8_t *id)
{
	struct limits *limits = &assoc->limits;

	limits->known = true;
	limits->mdts = id[ID_MDTS];
	limits->maxcmd = (uint16_t)get(id + ID_MAXCMD, 2);
	limits->sgls = (uint32_t)get(id + ID_SGLS, 4);
	limits->ioccsz = (uint32_t)get(id + ID_IOCCSZ, 4);
}

/* Submission and completion queues, each one less than there are */
void limits_queues(struct assoc *assoc, const uint8_t *cqe)
{
	unsigned int submission = (unsigned int)get(cqe, 2);
	unsigned int completion = (unsigned int)get(cqe + 2, 2);

	if (!get(cqe + CQE_STATUS, 2))
		assoc->limits.queues = 1 + (submission < completion ? submission : completion);
}

void limits_request(const struct assoc *assoc, uint16_t qid)
{
	if (qid && assoc->limits.queues && qid > assoc->limits.queues)
		alarm_say("queue %u is asked for, %u were granted", qid, assoc->limits.queues);
}

/* MDTS: a power of two, in pages; 0, or a value that no length reaches, means no limit */
static uint64_t max_transfer(const struct limits *limits)
{
	return limits->mdts && limits->mdts < 20 ? MIN_PAGE_LEN << limits->mdts : UINT64_MAX;
}

static unsigned int outstanding(const struct queue *queue)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < MAX_DEPTH; i++)
		n += queue->cmds[i].busy;
	return n;
}

/* Of an I/O queue, with so many bytes behind it */
void limits_command(const struct command *cmd, uint32_t in_capsule)
{
	const struct assoc *assoc = cmd->queue->assoc;
	const struct limits *limits = &assoc->limits;
	unsigned int n = outstanding(cmd->queue);

	if (!limits->known)
		return;
	if (in_capsule && !(limits->sgls & SGLS_OFFSET))
		alarm_say("%u bytes came in a capsule, SGLS is %#x", in_capsule, limits->sgls);
	if (limits->ioccsz * 16ull < in_capsule + (uint64_t)SQE_LEN)
		alarm_say("%u bytes came in a capsule, IOCCSZ is %u", in_capsule,
			  limits->ioccsz);
	if (assoc->twist.scope != LATER && max_transfer(limits) < cmd_len(cmd))
		alarm_say("%u bytes are to move, MDTS is %u", cmd_len(cmd), limits->mdts);
	/* acts hold answers back, or give them to others */
	if (limits->maxcmd && !assoc->twist.acts[0].run && n > limits->maxcmd)
		alarm_say("%u commands at once, MAXCMD is %u", n, limits->maxcmd);
}
