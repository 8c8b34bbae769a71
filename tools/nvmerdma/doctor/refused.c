// SPDX-License-Identifier: GPL-2.0
/* Connections that the target has refused, and the limits that they met */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <stdlib.h>

#define SHOWN	"/sys/kernel/debug/nvmet_rdma"
/* Read after other files there, which it leaves alone; its last line counts */
#define OPTIONS	"/etc/modprobe.d/zz-nvmerdma.conf"
#define MOST	1048576u	/* that each limit takes */
#define ALONE	5		/* one address has so many times less than all */

static const struct refusal {
	const char *key, *words, *fix;
	const char *limit;	/* the parameter of nvmet-rdma; NULL: it is none */
	const char *all;	/* that of all addresses, of which one has a fifth */
} refusals[] = {
	{ .key = "refused_length", .words = "for the length of their private data" },
	{ .key = "refused_record_format",
	  .words = "for the record format of their private data" },
	{ .key = "refused_queue_id", .words = "for the number of the queue" },
	{ .key = "refused_hsqsize",
	  .words = "for the commands that the host wants to have outstanding",
	  .fix = "grep . /sys/kernel/config/nvmet/ports/*/param_max_queue_size" },
	{ .key = "refused_hrqsize", .words = "for the receives that the host has" },
	{ .key = "refused_ird", .words = "as the host serves no RDMA READs" },
	{ .key = "refused_no_memory", .words = "for want of memory, or of room in the RDMA device",
	  .fix = "rdma resource show" },
	{ .key = "refused_device", .words = "while the RDMA device was being removed" },
	{ .key = "refused_host_queues", .words = "by the limit of connections of one address",
	  .limit = "host_queues" },
	{ .key = "refused_host_pending",
	  .words = "by the limits of connections of one address without Connect",
	  .limit = "host_pending", .all = "max_pending" },
	{ .key = "refused_max_pending",
	  .words = "by the limits of all connections without Connect", .limit = "max_pending" },
	{ .key = "refused_host_unproved",
	  .words = "by the limit of connections of one address for discovery, or without authentication",
	  .limit = "host_unproved", .all = "max_unproved" },
	{ .key = "refused_max_unproved",
	  .words = "by the limit of all connections for discovery, or without authentication",
	  .limit = "max_unproved" },
};

static uint64_t refused_at(struct doctor *d, const char *port, const struct refusal *r)
{
	const char *value = text_value(file_read("%s" SHOWN "/ports/%s", d->root, port), r->key);

	return value ? strtoull(value, NULL, 10) : 0;
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
static const char *raised(struct doctor *d, const struct refusal *r)
{
	uint64_t limit = twice(in_force(d, r->limit));
	uint64_t all = limit < MOST / ALONE ? limit * ALONE : MOST;

	if (!r->all || in_force(d, r->all) >= all)
		return mem_fmt("%s=%" PRIu64, r->limit, limit);
	return mem_fmt("%s=%" PRIu64 " %s=%" PRIu64, r->limit, limit, r->all, all);
}

static void fix_limit(struct doctor *d, const struct refusal *r)
{
	if (in_force(d, r->limit) >= MOST) {
		report_reason(d, "those hosts got fewer queues, or no disk; %s is as high as the module allows",
			      r->limit);
		return;
	}
	report_reason(d, "those hosts got fewer queues, or no disk, until they tried again. If they are to connect so many, raise %s: the first command does from the next boot on, the second one now%s. See nvmet-rdma(4) for the memory that this may take",
		      r->limit, !target_listens(d) ? "" :
		      ", and takes all exports away for a moment: I/O of connected hosts waits");
	report_fix(d, HERE, "echo 'options nvmet-rdma %s' >>" OPTIONS, raised(d, r));
	report_fix_reload_target(d);
}

static size_t say_refused(struct doctor *d, const char *port, const struct refusal *r)
{
	uint64_t n = refused_at(d, port, r);

	if (!n)
		return 0;
	report(d, FOUND_WARNING, "port %s has refused %s %s (%s)", port,
	       count_words(n, "connection"), r->words, r->key);
	if (r->limit)
		fix_limit(d, r);
	else
		report_reason(d, "those hosts got fewer queues, or no disk; they try again until ctrl_loss_tmo");
	if (r->fix)
		report_fix(d, HERE, "%s", r->fix);
	report_fix(d, HERE, "dmesg | grep 'nvmet_rdma: .*rejected'");
	return 1;
}

void check_target_refused(struct doctor *d)
{
	struct names ports = names_in("%s" SHOWN "/ports", d->root);
	size_t i, r, bad = 0;

	for (i = 0; i < ports.nr; i++) {
		for (r = 0; r < NR(refusals); r++)
			bad += say_refused(d, ports.name[i], &refusals[r]);
	}
	if (!ports.nr)
		report(d, FOUND_SKIPPED, "our target shows no port in debugfs");
	else if (!bad)
		report(d, FOUND_OK, "no connection was refused");
}
