// SPDX-License-Identifier: GPL-2.0
/*
 * What cases stand on: queues and controllers without which there is nothing to
 * show, so that a case ends where it does not get them.
 */
#include <stdio.h>

#include "host.h"

const char *result_text(const struct conn *c, enum conn_result result)
{
	static char words[32];

	switch (result) {
	case CONN_OK:
		return "accepted";
	case CONN_REJECTED:
		if (c->answer_len < CM_REJ_LEN)
			return "rejected by the fabric";
		snprintf(words, sizeof(words), "rejected %u",
			 (unsigned int)get(c->answer + CM_REJ_STS, 2));
		return words;
	case CONN_TIMEOUT:
		return "no answer";
	default:
		return "an error";
	}
}

void need_queue(struct queue *q, const struct queue_how *how)
{
	enum conn_result result = queue_open(q, how);

	if (result != CONN_OK)
		cannot(result_text(&q->c, result));
}

void need_ctrl(struct ctrl *k)
{
	const char *wrong = ctrl_open(k);

	if (wrong)
		cannot(wrong);
}

void need_io(struct ctrl *k, struct queue *q, const struct queue_how *how)
{
	const char *wrong = ctrl_open_io(k, q, how);

	if (wrong)
		cannot(wrong);
}

void need_all(struct ctrl *k)
{
	const char *wrong = ctrl_open_all(k);

	if (wrong)
		cannot(wrong);
}

bool begin_with(struct ctrl *k)
{
	if (!begin_whole())
		return false;
	need_all(k);
	return true;
}

static bool has_ended(const struct queue *q)
{
	return !q->c.channel || q->ended || q->c.disconnected;
}

void need_again(struct ctrl *k)
{
	if (!has_ended(&k->admin) && !has_ended(&k->io))
		return;
	ctrl_drop(k);
	need_all(k);
}
