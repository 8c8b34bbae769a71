// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of nvmet-rdma, and what to load it with where they do not fit.
 *
 * They hang together: of what is left of a limit for all addresses, one that has some
 * may have a quarter, which for one alone is a fifth of all. So a limit of an address
 * that is more than a fifth of that for all has no effect. And what hosts may take before
 * anybody knows who they are, and the buffers, together are to leave the machine half of
 * its memory.
 */
#include "doctor/peer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALONE		5	/* one address has so many times less than all */
#define HOST_PART	20	/* of all memory, where the parameter is 0 */
#define MAX_PART	4
#define MOST		1048576	/* that each of them takes, but for the buffers */

static const struct {
	const char *name;
	uint64_t standard;
} names[NR_LIMITS] = {
	[HOST_QUEUES]		= { "host_queues", 12000 },
	[HOST_PENDING]		= { "host_pending", 1024 },
	[MAX_PENDING]		= { "max_pending", 8192 },
	[HOST_UNPROVED]		= { "host_unproved", 1024 },
	[MAX_UNPROVED]		= { "max_unproved", 16384 },
	[HOST_PENDING_MB]	= { "host_pending_mb", 0 },
	[MAX_PENDING_MB]	= { "max_pending_mb", 0 },
	[BUFFER_CACHE_MB]	= { "buffer_cache_mb", 64 },
};

bool limits_read(struct limits *limits, const char *root)
{
	const char *meminfo = file_read("%s/proc/meminfo", root);
	const char *total = meminfo ? strstr(meminfo, "MemTotal:") : NULL;
	size_t i;

	limits->mb = total ? strtoull(total + strlen("MemTotal:"), NULL, 10) / 1024 : 0;
	limits->devices = names_in("%s/sys/class/infiniband", root).nr;
	for (i = 0; i < NR_LIMITS; i++)
		limits->of[i] = file_u64(names[i].standard,
					 "%s/sys/module/nvmet_rdma/parameters/%s", root,
					 names[i].name);
	return limits->mb && file_there("%s/sys/module/nvmet_rdma/parameters/%s", root,
					names[BUFFER_CACHE_MB].name);
}

uint64_t limits_pending_mb(const struct limits *limits)
{
	return limits->of[MAX_PENDING_MB] ? limits->of[MAX_PENDING_MB] : limits->mb / MAX_PART;
}

static uint64_t host_mb(const struct limits *limits)
{
	return limits->of[HOST_PENDING_MB] ? limits->of[HOST_PENDING_MB] :
	       limits->mb / HOST_PART;
}

uint64_t limits_cache_mb(const struct limits *limits)
{
	return limits->of[BUFFER_CACHE_MB] * limits->devices;
}

bool limits_too_high(const struct limits *limits)
{
	return limits_pending_mb(limits) + limits_cache_mb(limits) > limits->mb / 2;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A quarter of memory for hosts, and no more than another one for buffers */
static void lower(struct limits *limits)
{
	if (!limits_too_high(limits))
		return;
	if (limits_pending_mb(limits) > limits->mb / MAX_PART) {
		limits->of[MAX_PENDING_MB] = 0;
		if (host_mb(limits) > limits_pending_mb(limits) / ALONE)
			limits->of[HOST_PENDING_MB] = 0;
	}
	if (limits_too_high(limits))
		limits->of[BUFFER_CACHE_MB] = limits->mb / 4 / limits->devices;
}

/* What hosts may take at most, for the rest of the machine to have its half */
static uint64_t room(const struct limits *limits)
{
	uint64_t half = limits->mb / 2, cache = limits_cache_mb(limits);

	return cache < half ? least(half - cache, MOST) : 0;
}

/* That of one address, and that of all, which has to be so many times as much */
static void raise_number(struct limits *limits, enum limit host, enum limit all)
{
	limits->of[host] = least(limits->of[host] * 2, MOST);
	if (limits->of[all] < limits->of[host] * ALONE)
		limits->of[all] = least(limits->of[host] * ALONE, MOST);
}

/* The most for one address, and with it that for all */
static void raise_host(struct limits *limits)
{
	uint64_t mb = least(host_mb(limits) * 2, room(limits) / ALONE);

	raise_number(limits, HOST_PENDING, MAX_PENDING);
	if (mb <= host_mb(limits))
		return;
	limits->of[HOST_PENDING_MB] = mb;
	if (limits_pending_mb(limits) < mb * ALONE)
		limits->of[MAX_PENDING_MB] = mb * ALONE;
}

static void raise_all(struct limits *limits)
{
	uint64_t mb = least(limits_pending_mb(limits) * 2, room(limits));

	limits->of[MAX_PENDING] = least(limits->of[MAX_PENDING] * 2, MOST);
	if (mb > limits_pending_mb(limits))
		limits->of[MAX_PENDING_MB] = mb;
}

bool limits_better(struct limits *better, const struct limits *now, unsigned int refused)
{
	*better = *now;
	lower(better);
	if (refused & BEYOND_HOST_QUEUES)
		better->of[HOST_QUEUES] = least(better->of[HOST_QUEUES] * 2, MOST);
	if (refused & BEYOND_HOST_PENDING)
		raise_host(better);
	if (refused & BEYOND_MAX_PENDING)
		raise_all(better);
	if (refused & BEYOND_HOST_UNPROVED)
		raise_number(better, HOST_UNPROVED, MAX_UNPROVED);
	if (refused & BEYOND_MAX_UNPROVED)
		better->of[MAX_UNPROVED] = least(better->of[MAX_UNPROVED] * 2, MOST);
	return memcmp(better->of, now->of, sizeof(better->of));
}

const char *limits_options(const struct limits *better, const struct limits *now)
{
	const char *line = "options nvmet-rdma";
	size_t i;

	for (i = 0; i < NR_LIMITS; i++) {
		if (better->of[i] != names[i].standard || better->of[i] != now->of[i])
			line = mem_fmt("%s %s=%" PRIu64, line, names[i].name, better->of[i]);
	}
	return line;
}
