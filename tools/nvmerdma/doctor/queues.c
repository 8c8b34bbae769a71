// SPDX-License-Identifier: GPL-2.0
/* The I/O queues of the controllers that this host has */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define CONTROLLERS	"/sys/class/nvme"

static bool is_rdma(struct doctor *d, const char *name)
{
	const char *transport = file_read("%s" CONTROLLERS "/%s/transport", d->root, name);
	const char *nqn = file_read("%s" CONTROLLERS "/%s/subsysnqn", d->root, name);

	return transport && !strcmp(transport, "rdma") && nqn && !strstr(nqn, ".discovery");
}

/* queue_count has the admin queue, too */
static void check_queue_count(struct doctor *d, const char *name)
{
	uint64_t count = file_u64(0, "%s" CONTROLLERS "/%s/queue_count", d->root, name);
	uint64_t io = count ? count - 1 : 0;
	uint64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const char *state = file_read("%s" CONTROLLERS "/%s/state", d->root, name);
	const char *nqn = file_read("%s" CONTROLLERS "/%s/subsysnqn", d->root, name);

	if (state && strcmp(state, "live")) {
		report(d, FOUND_ERROR, "%s, of %s, is %s", name, nqn ? nqn : "?", state);
		report_reason(d, "it has lost its target: I/O waits, or takes another path, until it is back or ctrl_loss_tmo is over; the log says why");
		report_fix(d, HERE, "dmesg | grep 'nvme %s:'", name);
	} else if (io < cpus) {
		report(d, FOUND_NOTE, "%s has %s for %" PRIu64 " processors", name,
		       count_words(io, "I/O queue"), cpus);
		report_reason(d, "processors share queues, and their locks; it was asked for (-i), or the target or the RDMA device grants no more, as the log says. To ask for more, umount its disks, disconnect it, and connect it with the options that it had");
		report_fix(d, HERE, "dmesg | grep 'nvme %s:'", name);
	} else {
		report(d, FOUND_OK, "%s has %s for %" PRIu64 " processors", name,
		       count_words(io, "I/O queue"), cpus);
	}
}

void check_queues(struct doctor *d)
{
	struct names all = names_in("%s" CONTROLLERS, d->root);
	size_t i, n = 0;

	for (i = 0; i < all.nr; i++) {
		if (!is_rdma(d, all.name[i]))
			continue;
		check_queue_count(d, all.name[i]);
		n++;
	}
	if (!n)
		report(d, FOUND_SKIPPED, "no disk is connected over RDMA");
}
