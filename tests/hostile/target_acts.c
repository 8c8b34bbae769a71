// SPDX-License-Identifier: GPL-2.0
/*
 * Acts: what a twist does with a command.
 *
 * Most change the answer that is ready. The acts of a twist's "before" see a command when it
 * has arrived and nothing was done for it yet. An act that returns false has taken the
 * command: an answer that is ready is then not sent.
 */
#include <string.h>

#include "target_acts.h"

/* ---- the answer that is ready ---- */

bool act_len(struct command *cmd, uint64_t arg)
{
	cmd->answer.len = arg > MAX_RESPONSE ? MAX_RESPONSE : (uint32_t)arg;
	return true;
}

bool act_cid(struct command *cmd, uint64_t arg)
{
	put(cmd->answer.bytes + CQE_CID, arg, 2);
	return true;
}

bool act_cid_xor(struct command *cmd, uint64_t arg)
{
	uint8_t *at = cmd->answer.bytes + CQE_CID;

	put(at, get(at, 2) ^ arg, 2);
	return true;
}

/* @arg: how often more than once */
bool act_again(struct command *cmd, uint64_t arg)
{
	cmd->answer.times = 1 + (unsigned int)arg;
	return true;
}

bool act_drop(struct command *cmd, uint64_t arg)
{
	(void)cmd;
	(void)arg;
	return false;
}

bool act_delay(struct command *cmd, uint64_t arg)
{
	cmd->answer.delay_ms = (unsigned int)arg;
	return true;
}

/* @arg: without the phase bit */
bool act_status(struct command *cmd, uint64_t arg)
{
	put(cmd->answer.bytes + CQE_STATUS, arg << 1, 2);
	return true;
}

/* Another status each time, all types and codes in turn; @arg is added to each */
bool act_status_next(struct command *cmd, uint64_t arg)
{
	static unsigned int code;

	return act_status(cmd, (code++ & 0x7ff) | arg);
}

bool act_result(struct command *cmd, uint64_t arg)
{
	put(cmd->answer.bytes + CQE_RESULT, arg, 8);
	return true;
}

/* @arg: SQHD, and above it SQID */
bool act_sqhd(struct command *cmd, uint64_t arg)
{
	put(cmd->answer.bytes + CQE_SQHD, arg, 4);
	return true;
}

/* All sixteen bytes made of one */
bool act_fill(struct command *cmd, uint64_t arg)
{
	memset(cmd->answer.bytes, (int)arg, CQE_LEN);
	return true;
}

/* @arg: upper half, the command ID; lower half, the number of commands, all failed */
bool act_count(struct command *cmd, uint64_t arg)
{
	struct answer forged = cmd->answer;
	unsigned int i;

	forged.opcode = IBV_WR_SEND;
	for (i = 0; i < (arg & 0xffff); i++) {
		put(forged.bytes + CQE_CID, (arg >> 16) + i, 2);
		if (!queue_send(cmd->queue, &forged))
			break;
	}
	return true;
}

bool act_immediate(struct command *cmd, uint64_t arg)
{
	cmd->answer.opcode = IBV_WR_SEND_WITH_IMM;
	cmd->answer.key = (uint32_t)arg;
	return true;
}

bool act_not_invalidated(struct command *cmd, uint64_t arg)
{
	(void)arg;
	cmd->answer.opcode = IBV_WR_SEND;
	return true;
}

/* @arg: is added to the command's key, which a command without data has not */
bool act_invalidate(struct command *cmd, uint64_t arg)
{
	cmd->answer.opcode = IBV_WR_SEND_WITH_INV;
	cmd->answer.key = cmd_key(cmd) + (uint32_t)arg;
	return true;
}

/* The key of a command that has been answered, and another that waits */
bool act_invalidate_kept(struct command *cmd, uint64_t arg)
{
	(void)arg;
	cmd->answer.opcode = IBV_WR_SEND_WITH_INV;
	cmd->answer.key = cmd->queue->assoc->kept_key;
	return true;
}

/* Key, and completion if that is ready; @arg: which then waits, in milliseconds */
bool act_keep(struct command *cmd, uint64_t arg)
{
	struct assoc *assoc = cmd->queue->assoc;

	cmd->answer.delay_ms = (unsigned int)arg;
	assoc->kept_at = now_ms();
	assoc->kept_addr = cmd_addr(cmd);
	assoc->kept_key = cmd_key(cmd);
	memcpy(assoc->kept, cmd->answer.bytes, CQE_LEN);
	return true;
}

/* and nothing is invalidated by it */
bool act_keep_plain(struct command *cmd, uint64_t arg)
{
	return act_keep(cmd, arg) && act_not_invalidated(cmd, arg);
}

/* The completion that was kept once more, before this one; CID changed by @arg */
bool act_replay(struct command *cmd, uint64_t arg)
{
	struct answer old = cmd->answer;

	memcpy(old.bytes, cmd->queue->assoc->kept, CQE_LEN);
	put(old.bytes + CQE_CID, get(old.bytes + CQE_CID, 2) ^ arg, 2);
	old.opcode = IBV_WR_SEND;
	queue_send(cmd->queue, &old);
	return true;
}

/* @arg: 1: by the admin queue, 0: by another I/O queue; and not where it is due */
bool act_elsewhere(struct command *cmd, uint64_t arg)
{
	struct queue *other = other_queue(cmd->queue, arg);

	cmd->answer.opcode = IBV_WR_SEND;
	if (!other)
		return act_idle();
	queue_send(other, &cmd->answer);
	return false;
}

/* It is not answered until the host asks for it to be aborted */
bool act_hold(struct command *cmd, uint64_t arg)
{
	cmd->queue->assoc->held = cmd;
	act_status(cmd, arg);
	return false;
}

/* Of an Abort: it is answered then, as one that was aborted */
bool act_abort(struct command *cmd, uint64_t arg)
{
	struct command *held = cmd->queue->assoc->held;

	if (!held || get(held->sqe + SQE_CID, 2) != get(cmd->sqe + SQE_CDW10 + 2, 2))
		return act_idle();
	cmd->queue->assoc->held = NULL;
	command_send(held);
	return act_result(cmd, arg);
}

/* ---- the connection ---- */

bool act_leave(struct command *cmd, uint64_t arg)
{
	(void)arg;
	queue_disconnect(cmd->queue);
	return false;
}

bool act_answer_and_leave(struct command *cmd, uint64_t arg)
{
	(void)arg;
	command_send(cmd);
	queue_disconnect(cmd->queue);
	return false;
}

/* @arg: 1: all queues of the controller, those to come as well */
bool act_silent(struct command *cmd, uint64_t arg)
{
	if (arg)
		cmd->queue->assoc->silent = true;
	cmd->queue->silent = true;
	return false;
}

/* ---- asynchronous events ---- */

/* Every request is answered at once, by this event, until @arg's upper half of them */
bool act_event(struct command *cmd, uint64_t arg)
{
	struct assoc *assoc = cmd->queue->assoc;

	if (++assoc->events > (arg >> 32))
		return act_idle();
	command_answer(cmd, 0, arg & 0xffffffff);
	return false;
}

static const struct answer plain_event = { .len = CQE_LEN, .opcode = IBV_WR_SEND };

/* On behalf of an I/O queue: the outstanding event request's answer, @times */
static bool answer_event_of(struct queue *queue, struct answer event, uint64_t result,
			    uint64_t times)
{
	struct assoc *assoc = queue->assoc;
	struct queue *admin = other_queue(queue, true);
	unsigned int i;

	if (!admin || !assoc->event_request)
		return false;
	wire_cqe(event.bytes, (uint16_t)get(assoc->event_request->sqe + SQE_CID, 2), 0,
		 0, result);
	for (i = 0; i < times; i++)
		if (!queue_send(admin, &event))
			break;
	assoc->event_request->busy = false;
	assoc->event_request = NULL;
	return true;
}

static bool answer_event(struct command *cmd, struct answer event, uint64_t result,
			 uint64_t times)
{
	return answer_event_of(cmd->queue, event, result, times) || act_idle();
}

/* A group of namespaces changes its state: the log page is for act_delay_ana() */
bool target_ana_changes(struct queue *queue)
{
	queue->assoc->ana_changes = true;
	return answer_event_of(queue, plain_event, NOTICE_ANA, 1);
}

bool act_event_now(struct command *cmd, uint64_t arg)
{
	return answer_event(cmd, plain_event, 0, arg);
}

/* and it invalidates the I/O command's key */
bool act_event_invalidate(struct command *cmd, uint64_t arg)
{
	struct answer event = { .len = CQE_LEN, .opcode = IBV_WR_SEND_WITH_INV };

	(void)arg;
	event.key = (uint32_t)get(cmd->sqe + SQE_SGL + SGL_KEY, 4);
	return answer_event(cmd, event, 0, 1);
}

/* Firmware is being activated, for @arg milliseconds: the host sends no I/O meanwhile */
bool act_firmware(struct command *cmd, uint64_t arg)
{
	cmd->queue->assoc->activates_until = now_ms() + (unsigned int)timer_ms((int)arg);
	return answer_event(cmd, plain_event, NOTICE_FIRMWARE, 1);
}

/* Of the log that target_ana_changes() has the host fetch */
bool act_delay_ana(struct command *cmd, uint64_t arg)
{
	return cmd->queue->assoc->ana_changes ? act_delay(cmd, arg) : act_idle();
}

/* and the command is not answered */
bool act_firmware_keep(struct command *cmd, uint64_t arg)
{
	act_keep(cmd, 0);
	act_firmware(cmd, arg);
	return false;
}

/* Of the host's property commands: an I/O queue goes while it waits, once in a case */
bool act_leave_io(struct command *cmd, uint64_t arg)
{
	struct queue *io = other_queue(cmd->queue, false);

	(void)arg;
	if (target.acted || !io || now_ms() >= cmd->queue->assoc->activates_until)
		return act_idle();
	target.acted = true;
	queue_disconnect(io);
	return true;
}

/* ---- the data; all of these come before everything else ---- */

bool act_no_data(struct command *cmd, uint64_t arg)
{
	(void)arg;
	cmd->no_data = true;
	return true;
}

uint64_t disk_offset(const struct command *cmd)
{
	return get(cmd->sqe + SQE_CDW10, 8) << LBA_SHIFT;
}

/* A read gets half of the requested data */
bool act_half(struct command *cmd, uint64_t arg)
{
	(void)arg;
	queue_move(cmd->queue, IBV_WR_RDMA_WRITE, disk_offset(cmd), cmd_len(cmd) / 2,
		   cmd_addr(cmd), cmd_key(cmd), NULL);
	cmd->no_data = true;
	return true;
}

/* It is answered, and only then its data is moved */
bool act_early(struct command *cmd, uint64_t arg)
{
	bool read = cmd->sqe[SQE_OPC] == OPC_READ;

	cmd->acts = 0;
	cmd->sqe[SQE_SGL + SGL_ID] = arg ? SGL_KEYED_INVALIDATE : SGL_KEYED;
	command_answer(cmd, 0, 0);
	queue_move(cmd->queue, read ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
		   disk_offset(cmd), cmd_len(cmd), cmd_addr(cmd), cmd_key(cmd), NULL);
	return false;
}

/* A write's data is fetched again, although no command waits for it */
bool act_fetch_twice(struct command *cmd, uint64_t arg)
{
	(void)arg;
	queue_move(cmd->queue, IBV_WR_RDMA_READ, disk_offset(cmd), cmd_len(cmd),
		   cmd_addr(cmd), cmd_key(cmd), NULL);
	return true;
}

/* The two low bits of an opcode, or of a Fabrics command's type: the direction of the data */
static bool to_host(const struct command *cmd)
{
	uint8_t opc = cmd->sqe[SQE_OPC];

	return ((opc == OPC_FABRICS ? cmd->sqe[SQE_FCTYPE] : opc) & 3) == 2;
}

/* @arg: from the buffer's beginning where it is negative, else from its end */
static uint64_t beside(const struct command *cmd, uint64_t arg)
{
	uint64_t at = cmd_addr(cmd) + arg;

	return (int64_t)arg < 0 ? at : at + cmd_len(cmd);
}

bool act_write_beside(struct command *cmd, uint64_t arg)
{
	queue_probe(cmd->queue, IBV_WR_RDMA_WRITE, PROBE_LEN, beside(cmd, arg),
		    cmd_key(cmd));
	return true;
}

bool act_read_beside(struct command *cmd, uint64_t arg)
{
	queue_probe(cmd->queue, IBV_WR_RDMA_READ, PROBE_LEN, beside(cmd, arg),
		    cmd_key(cmd));
	return true;
}

/* Half of it within the buffer */
bool act_write_across(struct command *cmd, uint64_t arg)
{
	(void)arg;
	queue_probe(cmd->queue, IBV_WR_RDMA_WRITE, PROBE_LEN,
		    cmd_addr(cmd) + cmd_len(cmd) - PROBE_LEN / 2, cmd_key(cmd));
	return true;
}

bool act_read_across(struct command *cmd, uint64_t arg)
{
	(void)arg;
	queue_probe(cmd->queue, IBV_WR_RDMA_READ, PROBE_LEN,
		    cmd_addr(cmd) + cmd_len(cmd) - PROBE_LEN / 2, cmd_key(cmd));
	return true;
}

/* Out of the buffer of a read, into that of a write */
bool act_wrong_way(struct command *cmd, uint64_t arg)
{
	(void)arg;
	queue_probe(cmd->queue, to_host(cmd) ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
		    PROBE_LEN, cmd_addr(cmd), cmd_key(cmd));
	return true;
}

bool act_atomic(struct command *cmd, uint64_t arg)
{
	(void)arg;
	queue_probe(cmd->queue, IBV_WR_ATOMIC_FETCH_AND_ADD, sizeof(uint64_t), cmd_addr(cmd),
		    cmd_key(cmd));
	return true;
}

/* @arg: is added to the key, 0: 1 */
bool act_wrong_key(struct command *cmd, uint64_t arg)
{
	queue_probe(cmd->queue, IBV_WR_RDMA_WRITE, PROBE_LEN, cmd_addr(cmd),
		    cmd_key(cmd) + ((uint32_t)arg ?: 1));
	return true;
}

/* By the key of a command that was answered long ago; @arg: 1: READ */
bool act_stale_key(struct command *cmd, uint64_t arg)
{
	const struct assoc *assoc = cmd->queue->assoc;

	queue_probe(cmd->queue, arg ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, PROBE_LEN,
		    assoc->kept_addr, assoc->kept_key);
	return true;
}

/* @arg: bytes that come with the immediate; 0: none, and no key is needed */
bool act_write_immediate(struct command *cmd, uint64_t arg)
{
	queue_immediate(cmd->queue, (uint32_t)arg, cmd_addr(cmd), cmd_key(cmd));
	return true;
}

/* In place of an answer */
bool act_only_immediate(struct command *cmd, uint64_t arg)
{
	act_write_immediate(cmd, arg);
	return false;
}

/* ---- their names ---- */

#define NAMED(name) { #name, act_##name }

static const struct {
	const char *name;
	act_fn *run;
} names[] = {
	NAMED(len), NAMED(cid), NAMED(cid_xor), NAMED(again), NAMED(drop), NAMED(delay),
	NAMED(status), NAMED(status_next), NAMED(result), NAMED(sqhd), NAMED(fill),
	NAMED(count), NAMED(immediate), NAMED(not_invalidated), NAMED(invalidate),
	NAMED(invalidate_kept), NAMED(keep),
	NAMED(keep_plain), NAMED(replay), NAMED(elsewhere),
	NAMED(leave), NAMED(answer_and_leave), NAMED(silent), NAMED(event),
	NAMED(event_now), NAMED(event_invalidate), NAMED(firmware), NAMED(firmware_keep),
	NAMED(delay_ana),
	NAMED(leave_io), NAMED(no_data), NAMED(half), NAMED(early),
	NAMED(fetch_twice), NAMED(write_beside), NAMED(read_beside),
	NAMED(write_across), NAMED(read_across),
	NAMED(wrong_way), NAMED(atomic), NAMED(wrong_key), NAMED(stale_key), NAMED(write_immediate),
	NAMED(only_immediate), NAMED(by_other), NAMED(stale_by_admin), NAMED(old_key),
	NAMED(companion), NAMED(companion_key), NAMED(cancelled_key),
};

const char *act_name(act_fn *run)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].run == run)
			return names[i].name;
	return "nothing";
}
