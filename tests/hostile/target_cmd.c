// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of the hostile target: a controller that follows the rules, except for its twist.
 *
 * A command arrives; acts that come first see it; its data is moved; its answer is made; other
 * acts see that; it is sent, at once or later.
 */
#include <string.h>

#include "target.h"

/* NVMe statuses, without the phase bit: type and code, and Do Not Retry */
#define SC_INVALID_OPCODE	0x0001
#define SC_INVALID_FIELD	0x0002
#define SC_LBA_RANGE		0x0080
#define DNR			0x4000

#define FEAT_QUEUES		0x07

/* A controller that comes under I/O again: how many commands it lasts */
#define LEAVES_AFTER		12

uint32_t cmd_len(const struct command *cmd)
{
	const uint8_t *sgl = cmd->sqe + SQE_SGL;

	return (uint32_t)get(sgl + SGL_LEN, sgl[SGL_ID] == SGL_IN_CAPSULE ? 4 : 3);
}

uint64_t cmd_addr(const struct command *cmd)
{
	return get(cmd->sqe + SQE_SGL + SGL_ADDR, 8);
}

uint32_t cmd_key(const struct command *cmd)
{
	return (uint32_t)get(cmd->sqe + SQE_SGL + SGL_KEY, 4);
}

static bool in_capsule(const struct command *cmd)
{
	return cmd->sqe[SQE_SGL + SGL_ID] == SGL_IN_CAPSULE;
}

/* ---- which command is it ---- */

static enum event io_event(const struct command *cmd)
{
	switch (cmd->sqe[SQE_OPC]) {
	case OPC_READ:
		return ON_READ;
	case OPC_WRITE:
		return in_capsule(cmd) ? ON_WRITE_IN : ON_WRITE;
	default:
		return ON_IO;
	}
}

static enum event fabrics_event(const struct command *cmd)
{
	uint8_t fctype = cmd->sqe[SQE_FCTYPE];

	if (fctype == FCTYPE_CONNECT)
		return cmd->queue->qid ? ON_CONNECT_IO : ON_CONNECT;
	if (fctype == FCTYPE_PROPERTY_SET &&
	    get(cmd->sqe + SQE_PROP_OFFSET, 4) == PROP_NSSR)
		return ON_SUBSYSTEM_RESET;
	return ON_PROPERTY;
}

static enum event event_of(const struct command *cmd)
{
	uint8_t opc = cmd->sqe[SQE_OPC];

	if (opc == OPC_FABRICS)
		return fabrics_event(cmd);
	if (cmd->queue->qid)
		return io_event(cmd);
	if (opc == OPC_KEEP_ALIVE)
		return ON_KEEP_ALIVE;
	if (opc == OPC_ABORT)
		return ON_ABORT;
	return opc == OPC_ASYNC_EVENT ? ON_EVENT_REQUEST : ON_ADMIN;
}

static bool is_io(enum event event)
{
	return event == ON_READ || event == ON_WRITE || event == ON_WRITE_IN ||
	       event == ON_IO;
}

static bool matches(enum event on, enum event event)
{
	if (on == event)
		return on != ON_NOTHING;
	if (on == ON_IO)
		return is_io(event);
	return on == ON_WRITE_ANY && (event == ON_WRITE || event == ON_WRITE_IN);
}

static void choose_acts(struct command *cmd)
{
	struct assoc *assoc = cmd->queue->assoc;
	enum event event = event_of(cmd);
	int i;

	cmd->acts = 0;
	if (event == ON_WRITE || event == ON_WRITE_IN)
		target.armed = true;
	if (is_io(event) && !target.armed)
		return;
	if (is_io(event))
		assoc->io++;
	for (i = 0; assoc->twisted && i < MAX_ACTS; i++) {
		const struct act *act = &assoc->twist.acts[i];

		if (!act->run || !matches(act->on, event))
			continue;
		assoc->seen[i]++;
		if (!act->nth || act->nth == assoc->seen[i])
			cmd->acts |= 1u << i;
	}
}

static bool run_acts(struct command *cmd, bool before)
{
	struct assoc *assoc = cmd->queue->assoc;
	bool goes_on = true;
	int i;

	for (i = 0; i < MAX_ACTS; i++) {
		const struct act *act = &assoc->twist.acts[i];

		if (!(cmd->acts & 1u << i) || act->before != before)
			continue;
		target.idle = false;
		goes_on &= act->run(cmd, act->arg);
		if (!target.idle)
			used(assoc, PART_ACT + i);
	}
	return goes_on;
}

/* ---- answers ---- */

void poke_bytes(const struct assoc *assoc, enum place at, uint8_t *bytes, size_t len)
{
	int i;

	for (i = 0; assoc->twisted && i < MAX_POKES; i++) {
		const struct poke *poke = &assoc->twist.pokes[i];

		if (poke->at != at || (size_t)poke->offset + poke->bytes > len)
			continue;
		put(bytes + poke->offset, poke->value, poke->bytes);
		used(assoc, PART_POKE + i);
	}
}

static void completion_pokes(struct command *cmd)
{
	struct assoc *assoc = cmd->queue->assoc;
	uint8_t *cqe = cmd->answer.bytes;

	switch (event_of(cmd)) {
	case ON_CONNECT:
		poke_bytes(assoc, AT_CONNECT, cqe, CQE_LEN);
		break;
	case ON_CONNECT_IO:
		poke_bytes(assoc, AT_CONNECT_IO, cqe, CQE_LEN);
		break;
	case ON_ADMIN:
		if (cmd->sqe[SQE_OPC] == OPC_SET_FEATURES &&
		    cmd->sqe[SQE_CDW10] == FEAT_QUEUES) {
			poke_bytes(assoc, AT_QUEUES, cqe, CQE_LEN);
			limits_queues(assoc, cqe);
		}
		break;
	default:
		break;
	}
}

/* Only the answer of the command is left to send */
void command_send(struct command *cmd)
{
	struct answer *answer = &cmd->answer;

	for (; answer->times; answer->times--)
		if (!queue_send(cmd->queue, answer))
			break;
	cmd->busy = false;
	cmd->due = 0;
}

void command_answer(struct command *cmd, uint16_t status, uint64_t result)
{
	struct queue *queue = cmd->queue;
	struct answer *answer = &cmd->answer;

	memset(answer, 0, sizeof(*answer));
	wire_cqe(answer->bytes, (uint16_t)get(cmd->sqe + SQE_CID, 2), queue->sqhd,
		 status, result);
	answer->len = CQE_LEN;
	answer->times = 1;
	answer->opcode = IBV_WR_SEND;
	if (cmd->sqe[SQE_SGL + SGL_ID] == SGL_KEYED_INVALIDATE) {
		answer->opcode = IBV_WR_SEND_WITH_INV;
		answer->key = cmd_key(cmd);
	}
	completion_pokes(cmd);
	if (!run_acts(cmd, false))
		return;
	if (answer->delay_ms)
		cmd->due = now_ms() + (uint64_t)timer_ms((int)answer->delay_ms);
	else
		command_send(cmd);
}

/* Answers that were held back and are due */
void command_due(struct queue *queue, uint64_t now)
{
	int i;

	for (i = 0; i < MAX_DEPTH; i++)
		if (queue->cmds[i].busy && queue->cmds[i].due &&
		    queue->cmds[i].due <= now)
			command_send(&queue->cmds[i]);
}

/* ---- I/O ---- */

static void io_command(struct command *cmd, const uint8_t *data, uint32_t len)
{
	uint64_t at = get(cmd->sqe + SQE_CDW10, 8);
	uint32_t size = (uint32_t)(get(cmd->sqe + SQE_CDW12, 2) + 1) << LBA_SHIFT;
	uint8_t opc = cmd->sqe[SQE_OPC];

	if (opc == OPC_FLUSH) {
		command_answer(cmd, 0, 0);
		return;
	}
	if (opc != OPC_READ && opc != OPC_WRITE) {
		command_answer(cmd, SC_INVALID_OPCODE | DNR, 0);
		return;
	}
	if (at > DISK_LEN >> LBA_SHIFT || size > DISK_LEN - (at << LBA_SHIFT)) {
		command_answer(cmd, SC_LBA_RANGE | DNR, 0);
		return;
	}
	if (in_capsule(cmd) ? size != len : size != cmd_len(cmd)) {
		command_answer(cmd, SC_INVALID_FIELD | DNR, 0);
		return;
	}
	at <<= LBA_SHIFT;
	if (opc == OPC_WRITE && in_capsule(cmd)) {
		if (!cmd->no_data)
			memcpy(target_disk + at, data, size);
		command_answer(cmd, 0, 0);
	} else if (opc == OPC_WRITE && !cmd->no_data) {
		queue_move(cmd->queue, IBV_WR_RDMA_READ, at, size, cmd_addr(cmd),
			   cmd_key(cmd), cmd);
	} else {
		if (!cmd->no_data)
			queue_move(cmd->queue, IBV_WR_RDMA_WRITE, at, size,
				   cmd_addr(cmd), cmd_key(cmd), NULL);
		command_answer(cmd, 0, 0);
	}
}

/* A write's data has come */
void command_data_here(struct command *cmd)
{
	if (cmd->busy)
		command_answer(cmd, 0, 0);
}

/* ---- arrival ---- */

/* One that is well and is to end under I/O: all of its queues at once */
static bool leaves(struct queue *queue)
{
	struct assoc *assoc = queue->assoc;
	struct queue *admin;

	if (!assoc->leaves || assoc->io < LEAVES_AFTER)
		return false;
	assoc->leaves = false;
	say("leaving under I/O");
	admin = other_queue(queue, true);
	if (admin)
		queue_disconnect(admin);
	queue_disconnect(queue);
	return true;
}

static struct command *take_command(struct queue *queue)
{
	int i;

	for (i = 0; i < MAX_DEPTH; i++)
		if (!queue->cmds[i].busy)
			break;
	if (i == MAX_DEPTH)
		return NULL;
	queue->cmds[i] = (struct command){ .queue = queue, .busy = true };
	return &queue->cmds[i];
}

void command_arrived(struct queue *queue, const uint8_t *capsule, uint32_t len)
{
	struct command *cmd;
	bool io;

	if (len < SQE_LEN) {
		alarm_say("a capsule of %u bytes came", len);
		queue_disconnect(queue);
		return;
	}
	if (queue->silent || queue->assoc->silent || queue->leaving)
		return;
	cmd = take_command(queue);
	if (!cmd) {
		say("queue %u: more than %d commands at once", queue->qid, MAX_DEPTH);
		queue_disconnect(queue);
		return;
	}
	memcpy(cmd->sqe, capsule, SQE_LEN);
	key_note(cmd);
	queue->sqhd = (uint16_t)((queue->sqhd + 1) % queue->depth);
	choose_acts(cmd);
	io = queue->qid && cmd->sqe[SQE_OPC] != OPC_FABRICS;
	if (io)
		limits_command(cmd, len - SQE_LEN);
	if (leaves(queue))
		return;
	cmd->answer.times = 1;
	if (!run_acts(cmd, true))
		return;
	if (io)
		io_command(cmd, capsule + SQE_LEN, len - SQE_LEN);
	else
		admin_command(cmd);
}
