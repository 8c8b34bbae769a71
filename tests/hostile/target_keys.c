// SPDX-License-Identifier: GPL-2.0
/*
 * Keys where they are not valid: on another queue, in another association.
 *
 * A key belongs to a protection domain, of which the host has one for each controller while it
 * is connected. A controller may use a key on any of its own queues while the command is
 * outstanding, and gains no access by that. A key of an ended association belongs to no domain
 * any more. A key of a command that the host has aborted must not be valid on the remaining
 * queues. A key of another controller belongs to another domain, even while its command is
 * outstanding. (The in-tree host has one domain for all controllers of a device.)
 */
#include "target_acts.h"

#define SC_INTERNAL_DNR	0x4006

/* The last one that an association has given */
struct given {
	unsigned int serial;	/* the association; 0: none */
	uint64_t addr;
	uint32_t key;
};

static struct given newest, before;
/* That of a command which waits, of another controller */
static struct given companion;

static bool is_keyed(const struct command *cmd)
{
	uint8_t opc = cmd->sqe[SQE_OPC], id = cmd->sqe[SQE_SGL + SGL_ID];

	return cmd->queue->qid && (opc == OPC_READ || opc == OPC_WRITE) &&
	       (id == SGL_KEYED || id == SGL_KEYED_INVALIDATE);
}

void key_note(const struct command *cmd)
{
	unsigned int serial = cmd->queue->assoc->serial;

	/* what still comes from an association that is being replaced */
	if (!is_keyed(cmd) || serial < newest.serial)
		return;
	if (serial > newest.serial)
		before = newest;
	newest = (struct given){ serial, cmd_addr(cmd), cmd_key(cmd) };
}

static bool gives(const struct queue *queue, uint32_t key)
{
	int i;

	for (i = 0; queue && i < MAX_DEPTH; i++)
		if (queue->cmds[i].busy && cmd_key(&queue->cmds[i]) == key)
			return true;
	return false;
}

/* Of a command that waits it would be no foreign one: devices use keys again */
static bool is_given(const struct queue *queue, uint32_t key)
{
	return gives(queue, key) || gives(other_queue(queue, false), key) ||
	       gives(other_queue(queue, true), key);
}

/* The command's own data, by the admin queue, or for @arg 0 by another I/O queue */
bool act_by_other(struct command *cmd, uint64_t arg)
{
	struct queue *other = other_queue(cmd->queue, arg & 1);
	bool read = cmd->sqe[SQE_OPC] == OPC_READ;

	if (!other)
		return act_idle();
	queue_move(other, read ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, disk_offset(cmd),
		   cmd_len(cmd), cmd_addr(cmd), cmd_key(cmd), NULL);
	cmd->no_data = true;
	return true;
}

/* By the key of a command that was answered long ago; @arg: 1: READ */
bool act_stale_by_admin(struct command *cmd, uint64_t arg)
{
	const struct assoc *assoc = cmd->queue->assoc;
	struct queue *admin = other_queue(cmd->queue, true);

	if (!admin)
		return act_idle();
	queue_probe(admin, arg ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, PROBE_LEN,
		    assoc->kept_addr, assoc->kept_key);
	return true;
}

/*
 * On the admin queue, by the key of a command that was kept, @arg milliseconds ago or
 * more: the host has given it up. Once in a case.
 */
bool act_cancelled_key(struct command *cmd, uint64_t arg)
{
	const struct assoc *assoc = cmd->queue->assoc;

	if (target.acted || !assoc->kept_at ||
	    now_ms() < assoc->kept_at + (unsigned int)timer_ms((int)arg))
		return act_idle();
	target.acted = true;
	queue_probe(cmd->queue, IBV_WR_RDMA_WRITE, PROBE_LEN, assoc->kept_addr,
		    assoc->kept_key);
	return true;
}

/* By the last key of the association before, once in a case; @arg: 1: READ */
bool act_old_key(struct command *cmd, uint64_t arg)
{
	unsigned int serial = cmd->queue->assoc->serial;
	const struct given *old = newest.serial < serial ? &newest : &before;

	if (target.acted || !old->serial || old->serial >= serial ||
	    is_given(cmd->queue, old->key))
		return act_idle();
	target.acted = true;
	queue_probe(cmd->queue, arg & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, PROBE_LEN,
		    old->addr, old->key);
	return true;
}

/* The second association of a case: its command waits, and then it fails */
bool act_companion(struct command *cmd, uint64_t arg)
{
	const struct assoc *assoc = cmd->queue->assoc;

	if (assoc->number != 1)
		return act_idle();
	companion = (struct given){ assoc->serial, cmd_addr(cmd), cmd_key(cmd) };
	put(cmd->answer.bytes + CQE_STATUS, SC_INTERNAL_DNR << 1, 2);
	cmd->answer.delay_ms = (unsigned int)arg;
	target.companion = true;
	return true;
}

/* By the key of that, on the first association, once in a case; @arg: 1: READ */
bool act_companion_key(struct command *cmd, uint64_t arg)
{
	const struct assoc *assoc = cmd->queue->assoc;

	if (target.acted || assoc->number || companion.serial != assoc->serial + 1)
		return act_idle();
	target.acted = true;
	queue_probe(cmd->queue, arg & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, PROBE_LEN,
		    companion.addr, companion.key);
	return true;
}
