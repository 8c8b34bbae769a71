// SPDX-License-Identifier: GPL-2.0
/*
 * Commands in flight on a host's queue.
 *
 * A host counts commands that it has sent and responses that have come. Those between
 * are in flight, but for the commands of a connection that was lost: they are never
 * answered, and stay between the two for the controller's life. How many they are is
 * known as long as a queue is on its first connection; and after a reconnect, if it was
 * seen without a connection before, when nothing can be in flight. If neither is so,
 * what is told is a number that those in flight do not exceed: what is between, and
 * the queue's depth.
 *
 * The file is not read in one moment: a response may have been counted whose command had
 * not been. So what is between may come out too low, by what the queue does meanwhile.
 */
#include "stat/stat.h"

/* States without a connection, in which nothing is in flight: host/state.c */
static const char * const at_rest[] = {
	"idle", "resolving the address", "resolving the route", "connecting", NULL
};

/* Is what was known before the same still? One connection may have been made since. */
static bool holds(const struct unanswered *old, const struct unanswered *now)
{
	if (!old || !old->known)
		return false;
	return old->connects == now->connects ||
	       (!old->live && old->connects + 1 == now->connects);
}

struct unanswered flight_host(struct stat_queue *queue, const struct unanswered *old)
{
	struct unanswered now = {
		.live = !word_in(at_rest, queue->state),
		.connects = counter(&queue->counters, "connects"),
	};

	if (!now.live) {
		now.known = true;
		now.nr = queue->open;
	} else if (now.connects <= 1) {
		now.known = true;
	} else if (holds(old, &now)) {
		now.known = true;
		now.nr = old->nr;
	}
	queue->in_flight = queue->open > now.nr ? queue->open - now.nr : 0;
	if (queue->in_flight > queue->depth)
		queue->in_flight = queue->depth;
	queue->in_flight_exact = now.known;
	return now;
}
