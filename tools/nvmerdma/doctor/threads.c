// SPDX-License-Identifier: GPL-2.0
/* The target's threads that poll, and whether there are processors for them */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stat/stat.h"

#define PARAMETERS	"/sys/module/nvmet_rdma/parameters"
#define THREADS		"/sys/kernel/debug/nvmet_rdma/threads"
#define MOST_CPUS	8192

/* Processors, by number; the list of a file such as "0-3,8" adds some */
struct processors { bool has[MOST_CPUS]; };

static void add_list(struct processors *cpus, const char *list)
{
	char *end;

	for (; *list >= '0' && *list <= '9'; list = *end == ',' ? end + 1 : end) {
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < MOST_CPUS; first++)
			cpus->has[first] = true;
	}
}

static uint64_t number(const struct processors *cpus)
{
	uint64_t nr = 0;
	size_t i;

	for (i = 0; i < MOST_CPUS; i++)
		nr += cpus->has[i];
	return nr;
}

/* On how many of the processors that are online may the threads run, all together? */
static uint64_t processors_of(struct doctor *d, const struct names *threads,
			      const struct processors *online)
{
	static const char key[] = "\nCpus_allowed_list:\t";
	struct processors cpus = { 0 };
	size_t i;

	for (i = 0; i < threads->nr; i++) {
		struct counters counters = { 0 };
		const char *status, *list;

		if (!counters_read(&counters, "%s" THREADS "/%s", d->root, threads->name[i]))
			continue;
		status = file_read("%s/proc/%" PRIu64 "/status", d->root,
				   counter(&counters, "pid"));
		list = status ? strstr(status, key) : NULL;
		if (list)
			add_list(&cpus, list + strlen(key));
	}
	for (i = 0; i < MOST_CPUS; i++)
		cpus.has[i] &= online->has[i];
	return number(&cpus);
}

void check_target_threads(struct doctor *d)
{
	const char *on = file_read("%s" PARAMETERS "/io_threads", d->root);
	struct names threads = names_in("%s" THREADS, d->root);
	const char *list = file_read("%s/sys/devices/system/cpu/online", d->root);
	struct processors online = { 0 };
	uint64_t all, cpus;

	if (!on || !strcmp(on, "N")) {
		report(d, FOUND_OK, "no thread of the target polls (io_threads)");
		return;
	}
	add_list(&online, list ? list : "");
	all = number(&online);
	cpus = processors_of(d, &threads, &online);
	if (all && threads.nr >= all) {
		report(d, FOUND_WARNING, "%s of the target poll on %s",
		       count_words(threads.nr, "thread"), count_words(all, "processor"));
		report_reason(d, "each takes up to a processor while commands come, so that nothing is left for disks, the network and other programs, and threads wait for each other; without them, interrupts and works execute commands, without a gap");
		report_fix(d, HERE, "echo N >" PARAMETERS "/io_threads");
	} else if (cpus && threads.nr > cpus) {
		report(d, FOUND_WARNING, "%s of the target may use only %" PRIu64 " of %" PRIu64 " processors",
		       count_words(threads.nr, "thread"), cpus, all);
		report_reason(d, "each takes up to a processor while commands come, so that threads wait for each other; they may use those of their device's memory node, or those that they were bound to");
		report_fix(d, HERE, "for f in " THREADS "/*; do taskset -pc %s $(sed -n 's/^pid //p' $f); done",
			   list);
	} else {
		report(d, FOUND_OK, "%s of the target for %s", count_words(threads.nr, "thread"),
		       count_words(cpus ? cpus : all, "processor"));
	}
}
