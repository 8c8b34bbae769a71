// SPDX-License-Identifier: GPL-2.0
/* The target's threads that poll, and whether there are processors for them */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PARAMETERS	"/sys/module/nvmet_rdma/parameters"
#define THREADS		"/sys/kernel/debug/nvmet_rdma/threads"

void check_target_threads(struct doctor *d)
{
	const char *on = file_read("%s" PARAMETERS "/io_threads", d->root);
	struct names threads = names_in("%s" THREADS, d->root);
	uint64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!on || !strcmp(on, "N")) {
		report(d, FOUND_OK, "no thread of the target polls (io_threads)");
	} else if (threads.nr && threads.nr >= cpus) {
		report(d, FOUND_WARNING, "%s of the target poll on %" PRIu64 " processors",
		       count_words(threads.nr, "thread"), cpus);
		report_reason(d, "each takes up to a processor while commands come, so that nothing is left for disks, the network and other programs, and threads wait for each other; without them, interrupts and works execute commands, without a gap");
		report_fix(d, HERE, "echo N >" PARAMETERS "/io_threads");
	} else {
		report(d, FOUND_OK, "%s of the target for %" PRIu64 " processors",
		       count_words(threads.nr, "thread"), cpus);
	}
}
