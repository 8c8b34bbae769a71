// SPDX-License-Identifier: GPL-2.0
/* Connections that the target has refused, and the limits that they met */
#include "doctor/doctor.h"
#include "stat/stat.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN	"/sys/kernel/debug/nvmet_rdma"
/* Read after other files there, which it leaves alone; its last line counts */
#define OPTIONS	"/etc/modprobe.d/zz-nvmerdma.conf"
#define MOST	1048576u	/* that each limit takes */
#define ALONE	5		/* one address has so many times less than all */

/* Those that a limit of the module has caused; of others the log has what was wrong */
static const struct limit {
	const char *key;
	const char *one;		/* the parameter of nvmet-rdma */
	const char *all;		/* that of all addresses, of which one has a fifth */
} limits[] = {
	{ "refused_host_queues", "host_queues", NULL },
	{ "refused_host_pending", "host_pending", "max_pending" },
	{ "refused_max_pending", "max_pending", NULL },
	{ "refused_host_unproved", "host_unproved", "max_unproved" },
	{ "refused_max_unproved", "max_unproved", NULL },
};

static const struct limit *limit_of(const char *key)
{
	size_t i;

	for (i = 0; i < NR(limits); i++) {
		if (!strcmp(limits[i].key, key))
			return &limits[i];
	}
	return NULL;
}

static uint64_t in_force(struct doctor *d, const char *parameter)
{
	return file_u64(0, "%s/sys/module/nvmet_rdma/parameters/%s", d->root, parameter);
}

static uint64_t twice(uint64_t n)
{
	return n < MOST / 2 ? n * 2 : MOST;
}

/* Twice what is in force; the memory that hosts may take stays bounded by *_pending_mb */
static const char *raised(struct doctor *d, const struct limit *r)
{
	uint64_t limit = twice(in_force(d, r->one));
	uint64_t all = limit < MOST / ALONE ? limit * ALONE : MOST;

	if (!r->all || in_force(d, r->all) >= all)
		return mem_fmt("%s=%" PRIu64, r->one, limit);
	return mem_fmt("%s=%" PRIu64 " %s=%" PRIu64, r->one, limit, r->all, all);
}

static void fix_limit(struct doctor *d, const struct limit *r)
{
	if (in_force(d, r->one) >= MOST) {
		report_reason(d, "those hosts got fewer queues, or no disk; %s is as high as the module allows",
			      r->one);
		return;
	}
	report_reason(d, "those hosts got fewer queues, or no disk, until they tried again. If they are to connect so many, raise %s: the first command does from the next boot on, the second one now%s. See nvmet-rdma(4) for the memory that this may take",
		      r->one, !target_listens(d) ? "" :
		      ", and takes all exports away for a moment: I/O of connected hosts waits");
	report_fix(d, HERE, "echo 'options nvmet-rdma %s' >>" OPTIONS, raised(d, r));
	report_fix_reload_target(d);
}

static void say_refused(struct doctor *d, const char *port, const struct counter *count)
{
	const struct limit *limit = limit_of(count->key);

	report(d, FOUND_WARNING, "port %s has refused %s (%s)", port,
	       count_words(count->value, "connection"), count->key);
	if (limit)
		fix_limit(d, limit);
	else
		report_reason(d, "those hosts got fewer queues, or no disk; they try again until ctrl_loss_tmo");
	report_fix(d, HERE, "dmesg | grep 'nvmet_rdma: .*rejected'");
}

void check_target_refused(struct doctor *d)
{
	struct names ports = names_in("%s" SHOWN "/ports", d->root);
	size_t i, k, bad = 0;

	for (i = 0; i < ports.nr; i++) {
		struct counters counters = { 0 };

		counters_read(&counters, "%s" SHOWN "/ports/%s", d->root, ports.name[i]);
		for (k = 0; k < counters.nr; k++) {
			if (strncmp(counters.list[k].key, "refused_", 8) ||
			    !counters.list[k].value)
				continue;
			say_refused(d, ports.name[i], &counters.list[k]);
			bad++;
		}
	}
	if (!ports.nr)
		report(d, FOUND_SKIPPED, "our target shows no port in debugfs");
	else if (!bad)
		report(d, FOUND_OK, "no connection was refused");
}
