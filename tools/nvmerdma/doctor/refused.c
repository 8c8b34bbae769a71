// SPDX-License-Identifier: GPL-2.0
/* Hosts that were turned away, and what they may take before they have said who they are */
#include "doctor/doctor.h"
#include "doctor/peer.h"
#include "doctor/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN	"/sys/kernel/debug/nvmet_rdma"
/* Read after other files there, which it leaves alone */
#define OPTIONS	"/etc/modprobe.d/zz-nvmerdma.conf"

static const struct refusal {
	const char *key, *words, *mend;
	unsigned int beyond;
} refusals[] = {
	{ "refused_length", "for the length of their private data", NULL, 0 },
	{ "refused_record_format", "for the record format of their private data", NULL, 0 },
	{ "refused_queue_id", "for the number of the queue", NULL, 0 },
	{ "refused_hsqsize", "for the commands that the host wants to have outstanding",
	  "grep . /sys/kernel/config/nvmet/ports/*/param_max_queue_size", 0 },
	{ "refused_hrqsize", "for the receives that the host has", NULL, 0 },
	{ "refused_ird", "as the host serves no RDMA READs", NULL, 0 },
	{ "refused_no_memory", "for want of memory, or of room in the RDMA device",
	  "rdma resource show", 0 },
	{ "refused_device", "while the RDMA device was being removed", NULL, 0 },
	{ "refused_host_queues", "by the limit of connections of one address", NULL,
	  BEYOND_HOST_QUEUES },
	{ "refused_host_pending", "by the limits of connections of one address without Connect",
	  NULL, BEYOND_HOST_PENDING },
	{ "refused_max_pending", "by the limits of all connections without Connect", NULL,
	  BEYOND_MAX_PENDING },
	{ "refused_host_unproved",
	  "by the limit of connections of one address for discovery, or without authentication",
	  NULL, BEYOND_HOST_UNPROVED },
	{ "refused_max_unproved",
	  "by the limit of all connections for discovery, or without authentication", NULL,
	  BEYOND_MAX_UNPROVED },
};

static uint64_t refused_at(struct doctor *d, const char *port, const struct refusal *r)
{
	const char *value = text_value(file_read("%s" SHOWN "/ports/%s", d->root, port), r->key);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* By which limits any port has refused */
static unsigned int all_beyond(struct doctor *d)
{
	struct names ports = names_in("%s" SHOWN "/ports", d->root);
	unsigned int beyond = 0;
	size_t i, r;

	for (i = 0; i < ports.nr; i++) {
		for (r = 0; r < NR(refusals); r++) {
			if (refused_at(d, ports.name[i], &refusals[r]))
				beyond |= refusals[r].beyond;
		}
	}
	return beyond;
}

/* The same commands for all that is wrong with limits: one does not undo another */
static void mend_limits(struct doctor *d, const char *why)
{
	struct limits now, better;
	const char *now_too = "";

	if (!limits_read(&now, d->root) || !limits_better(&better, &now, all_beyond(d))) {
		report_reason(d, "%s; they are as high as the module, or this machine's memory, allows",
			      why);
		return;
	}
	if (target_listens(d))
		now_too = ", and takes all exports away for a moment: I/O of connected hosts waits";
	report_reason(d, "%s. The first command sets the limits from the next boot on; files beside that one stay as they are. The second one has them now%s",
		      why, now_too);
	report_fix(d, HERE, "echo %s >" OPTIONS, word_for_shell(limits_options(&better, &now)));
	report_fix_reload_target(d);
}

static size_t say_refused(struct doctor *d, const char *port, const struct refusal *r)
{
	uint64_t n = refused_at(d, port, r);

	if (!n)
		return 0;
	report(d, FOUND_WARNING, "port %s has refused %s %s (%s)", port,
	       count_words(n, "connection"), r->words, r->key);
	if (r->beyond)
		mend_limits(d, "those hosts got fewer queues, or no disk, until they tried again; if they are to connect so many, the limit is too low");
	else
		report_reason(d, "those hosts got fewer queues, or no disk; they try again until ctrl_loss_tmo");
	if (r->mend)
		report_fix(d, HERE, "%s", r->mend);
	report_fix(d, HERE, "dmesg | grep 'nvmet_rdma: .*refused'");
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

/* Memory that is kept or may be asked for, against what the machine has */
void check_target_memory(struct doctor *d)
{
	struct limits limits;
	uint64_t pending, cache;

	if (!limits_read(&limits, d->root)) {
		report(d, FOUND_SKIPPED, "our nvmet-rdma is not loaded");
		return;
	}
	pending = limits_pending_mb(&limits);
	cache = limits_cache_mb(&limits);
	if (!limits_too_high(&limits)) {
		report(d, FOUND_OK, "hosts may take %" PRIu64 " MiB before Connect, and buffers %"
		       PRIu64 " MiB, of %" PRIu64, pending, cache, limits.mb);
		return;
	}
	report(d, FOUND_WARNING,
	       "the limits of memory, %llu MiB for hosts before Connect and %llu for unused buffers, are more than half of the %llu of this machine",
	       (unsigned long long)pending, (unsigned long long)cache,
	       (unsigned long long)limits.mb);
	mend_limits(d, "hosts that misbehave can take so much that others, and this machine, fail");
}
