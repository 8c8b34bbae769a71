// SPDX-License-Identifier: GPL-2.0
/* What a case must leave unchanged: another target's disk, RDMA objects, memory */
#include <unistd.h>

#include "conn.h"
#include "drive.h"
#include "held.h"

#define LEFT_MS		8000
#define BESIDE_MS	20000
/* The other disk: so many times as slow as before is too slow, if it is at each try */
#define SLOWER		3
#define TRIES		12
#define FIRST_WAIT_US	200000
#define LONGEST_WAIT_US	1600000
#define BEFORE_TRIES	3

static struct {
	const char *beside;
	unsigned int us;
	struct held held;
} rest;

static unsigned int beside(void)
{
	return host_beside(rest.beside, slow_ms(BESIDE_MS));
}

/* Of the other disk's host not all is made yet: held_remember() waits for that */
void rest_remember(const char *disk, const char *device)
{
	unsigned int us;
	int i;

	rest.beside = disk;
	held_remember(&rest.held, device);
	for (i = 0; disk && i < BEFORE_TRIES; i++) {
		us = beside();
		if (!us)
			die("the well-behaved target's disk does not work");
		if (!rest.us || us < rest.us)
			rest.us = us;
	}
}

/* The machine below is shared: a permanent slowdown still shows after 16 s */
static const char *look_beside(unsigned int *us)
{
	useconds_t wait = FIRST_WAIT_US;
	int tries;

	*us = beside();
	for (tries = 0; *us > SLOWER * rest.us && tries < TRIES; tries++) {
		usleep(wait);
		if (wait < LONGEST_WAIT_US)
			wait *= 2;
		*us = beside();
	}
	if (!*us)
		return "the well-behaved target's disk does not work";
	return *us > SLOWER * rest.us ? "the well-behaved target's disk is slow" : NULL;
}

const char *rest_wrong(unsigned int *beside_us)
{
	uint64_t until = own_ms() + slow_ms(LEFT_MS);
	int others = rest.beside ? 1 : 0;
	const char *wrong;

	while (host_count() != others && own_ms() < until)
		usleep(50000);
	wrong = held_left(&rest.held);
	if (host_count() != others)
		wrong = "a controller is left";
	if (rest.beside)
		wrong = look_beside(beside_us) ?: wrong;
	return wrong;
}
