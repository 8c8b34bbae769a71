// SPDX-License-Identifier: GPL-2.0
/*
 * Capsules of each length.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

/* Every length up to here, and the boundaries beyond */
#define EACH_LENGTH	80
/* So many of them are one outcome, where it is about all; and how long they may take */
#define RANGE		512
#define EACH_SECONDS	600
#define CAME_LEN	32

/* Of a command that moves no data, when @len bytes of it are sent */
static const char *expected_of(uint32_t len, uint32_t room)
{
	return len < SQE_LEN ? "ended" :
	       len <= SQE_LEN + room ? ANSWERED : "ended|refused *";
}

/* A queue that can take one more capsule; each may have ended the last one */
static void need_admin(struct queue *q)
{
	if (q->c.channel && !q->ended && !q->c.disconnected)
		return;
	queue_close(q);
	need_queue(q, &(struct queue_how){ 0 });
}

/* Before Connect: Property Get, cut off or with something behind it */
static void capsule_length(void)
{
	uint8_t capsule[SLOT_LEN] = { 0 };
	struct queue q = { 0 };
	uint32_t len;

	for (len = 0; len <= EACH_LENGTH; len++) {
		if (!begin("%u", len))
			continue;
		need_admin(&q);
		wire_fabrics(capsule, FCTYPE_PROPERTY_GET, 7);
		queue_send(&q, capsule, len);
		outcome(expected_of(len, 0x1000), "%s",
			reply_text(queue_await(&q, CID_ANY, ANSWER_MS)));
	}
}

static void lengths_of(struct ctrl *k, struct queue *q, const char *name,
		       uint8_t opc, const uint32_t *lengths, int nr)
{
	uint8_t capsule[SLOT_LEN] = { 0 };
	int i;

	for (i = 0; i < nr; i++) {
		if (!begin("%s-%u", name, lengths[i]))
			continue;
		need_again(k);
		wire_command(capsule, opc, queue_cid(q), 1);
		queue_send(q, capsule, lengths[i]);
		outcome(expected_of(lengths[i], k->room), "%s",
			reply_text(queue_await(q, CID_ANY, ANSWER_MS)));
	}
}

/* The same on queues that work */
static void capsule_length_live(void)
{
	uint32_t lengths[16];
	struct ctrl k;
	int n = 0;

	need_all(&k);
	lengths[n++] = 0;
	lengths[n++] = 1;
	lengths[n++] = 16;
	lengths[n++] = SQE_LEN - 1;
	lengths[n++] = SQE_LEN;
	lengths[n++] = SQE_LEN + 1;
	lengths[n++] = SQE_LEN + BLOCK_LEN;
	lengths[n++] = SQE_LEN + k.room - 1;
	lengths[n++] = SQE_LEN + k.room;
	lengths[n++] = SQE_LEN + k.room + 1;
	lengths[n++] = SLOT_LEN;
	lengths_of(&k, &k.admin, "admin", OPC_KEEP_ALIVE, lengths, n);
	lengths_of(&k, &k.io, "io", OPC_FLUSH, lengths, n);
}

/* The first length that did not go as it should, what came then; @end if all did */
static uint32_t range(struct ctrl *k, uint32_t len, uint32_t end, char *came)
{
	uint8_t capsule[SLOT_LEN] = { 0 };

	for (; len < end; len++) {
		need_again(k);
		wire_command(capsule, OPC_FLUSH, queue_cid(&k->io), 1);
		queue_send(&k->io, capsule, len);
		snprintf(came, CAME_LEN, "%s",
			 reply_text(queue_await(&k->io, CID_ANY, ANSWER_MS)));
		if (!is_one_of(came, expected_of(len, k->room)))
			break;
	}
	return len;
}

/* Each that there is, and one more: a line for each would be some thousands */
static void capsule_length_each(void)
{
	uint32_t from, end, at, last;
	char came[CAME_LEN];
	struct ctrl k;

	need_all(&k);
	last = SQE_LEN + k.room + 1;
	if (last > SLOT_LEN)
		last = SLOT_LEN;
	for (from = 0; from <= last; from = end) {
		end = from < SQE_LEN ? SQE_LEN : from + RANGE;
		if (end > last + 1)
			end = last + 1;
		if (!begin("io-%u-%u", from, end - 1))
			continue;
		at = range(&k, from, end, came);
		if (at == end)
			outcome("each as it should be", "each as it should be");
		else
			outcome("each as it should be", "%u: %s", at, came);
	}
}

const struct hostile_case length_cases[] = {
	{ "capsule-length", "each length, before Connect", capsule_length, 0 },
	{ "capsule-length-live", "lengths at each boundary, on live queues",
	  capsule_length_live, 0 },
	{ "capsule-length-each", "each length, on a live I/O queue",
	  capsule_length_each, EACH_SECONDS },
	{ 0 }
};
