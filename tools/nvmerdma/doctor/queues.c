// SPDX-License-Identifier: GPL-2.0
/* Where the work goes: queues, completion vectors, processors, memory of the device */
#include "doctor/doctor.h"
#include "doctor/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN		"/sys/kernel/debug/nvme_rdma"
#define CONTROLLERS	"/sys/class/nvme"
/* Fewer interrupts say nothing of how they are spread */
#define MANY_INTERRUPTS	10000

static unsigned int cpus_online(struct doctor *d)
{
	const char *list = file_read("%s/sys/devices/system/cpu/online", d->root);

	return list ? parse_list_count(list) : 0;
}

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
	unsigned int cpus = cpus_online(d);
	const char *state = file_read("%s" CONTROLLERS "/%s/state", d->root, name);
	const char *nqn = file_read("%s" CONTROLLERS "/%s/subsysnqn", d->root, name);

	if (state && strcmp(state, "live")) {
		report(d, FOUND_ERROR, "%s, of %s, is %s", name, nqn ? nqn : "?", state);
		report_reason(d, "it has lost its target: I/O waits, or takes another path, until it is back or ctrl_loss_tmo is over; the log says why");
		report_fix(d, HERE, "dmesg | grep 'nvme %s:'", name);
	} else if (io < cpus) {
		report(d, FOUND_NOTE, "%s has %s for %u processors", name,
		       count_words(io, "I/O queue"), cpus);
		report_reason(d, "processors share queues, and their locks; it was asked for (-i), or the target or the RDMA device grants no more, as the log says. To ask for more, umount its disks, disconnect it, and connect it with the options that it had");
		report_fix(d, HERE, "dmesg | grep 'nvme %s:'", name);
	} else {
		report(d, FOUND_OK, "%s has %s for %u processors", name,
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

/* Queues of one controller, and whether they all have one vector: that of the first */
static bool share_a_vector(struct doctor *d, const char *ctrl, size_t *nr,
			   const char **vector)
{
	struct names queues = names_in("%s" SHOWN "/%s", d->root, ctrl);
	bool same = true;
	size_t i;

	*nr = 0;
	*vector = NULL;
	for (i = 0; i < queues.nr; i++) {
		const char *text = file_read("%s" SHOWN "/%s/%s", d->root, ctrl,
					     queues.name[i]);
		const char *polled = text_value(text, "polled");
		const char *of = text_value(text, "vector");

		if (!strcmp(queues.name[i], "queue0") || !of || (polled && *polled == '1'))
			continue;
		if (*vector && strcmp(of, *vector))
			same = false;
		*vector = of;
		(*nr)++;
	}
	return same && *nr > 1;
}

/* Interrupts by the names that drivers give them: "mlx5_comp3@pci:...", "bnxt_re-nq-1" */
static size_t check_interrupts(struct doctor *d)
{
	static const char * const names[] = { "mlx5_comp", "mlx4-", "irdma", "bnxt_re", "qedr",
					      "hns_roce", "ionic_rdma", "erdma" };
	const char *text = file_read("%s/proc/interrupts", d->root);
	size_t i, bad = 0;

	for (i = 0; text && i < NR(names); i++) {
		struct irq_load load = parse_interrupts(text, names[i]);

		if (load.vectors < 2 || load.all < MANY_INTERRUPTS ||
		    load.most < load.all / 100 * 90)
			continue;
		bad++;
		report(d, FOUND_WARNING, "processor %u takes %" PRIu64 " of %" PRIu64
		       " interrupts of %u vectors (%s)", load.cpu, load.most, load.all,
		       load.vectors, names[i]);
		report_reason(d, "all completions wait for it, however many queues there are");
		report_fix(d, HERE, "apt install irqbalance && systemctl start irqbalance");
	}
	return bad;
}

void check_vectors(struct doctor *d)
{
	struct names all = names_in("%s" SHOWN, d->root);
	size_t i, nr, bad = check_interrupts(d), queues = 0;
	const char *vector;

	for (i = 0; i < all.nr; i++) {
		if (share_a_vector(d, all.name[i], &nr, &vector)) {
			bad++;
			report(d, FOUND_WARNING, "all %zu I/O queues of %s have completion vector %s",
			       nr, all.name[i], vector);
			report_reason(d, "one processor handles the completions of all of them; the device has no other vector, or its interrupts have one affinity");
			report_fix(d, HERE, "grep . /proc/irq/*/effective_affinity_list");
		}
		queues += nr;
	}
	if (!bad && !queues)
		report(d, FOUND_SKIPPED, "our host shows no I/O queue in debugfs");
	else if (!bad)
		report(d, FOUND_OK, "%s, over more than one completion vector or alone on it",
		       count_words(queues, "I/O queue"));
}

void check_numa(struct doctor *d)
{
	const char *nodes = file_read("%s/sys/devices/system/node/online", d->root);
	struct names devices = names_in("%s/sys/class/infiniband", d->root);
	unsigned int nr = nodes ? parse_list_count(nodes) : 1;
	size_t i, said = 0;

	for (i = 0; i < devices.nr && nr > 1; i++) {
		const char *node = file_read("%s/sys/class/infiniband/%s/device/numa_node",
					     d->root, devices.name[i]);
		const char *cpus;

		if (!node || *node == '-')
			continue;
		cpus = file_read("%s/sys/devices/system/node/node%s/cpulist", d->root, node);
		report(d, FOUND_NOTE, "%s is at NUMA node %s of %u, processors %s", devices.name[i],
		       node, nr, cpus ? cpus : "unknown");
		report_reason(d, "work from the other processors crosses between sockets: it costs latency and bandwidth");
		report_fix(d, HERE, "numactl --cpunodebind=%s --membind=%s PROGRAM", node, node);
		said++;
	}
	if (nr < 2)
		report(d, FOUND_OK, "this machine has one NUMA node");
	else if (!said)
		report(d, FOUND_SKIPPED, "no RDMA device says at which node it is");
}

/* The mode of the group that a device is in, or of the first one */
static const char *iommu_type(struct doctor *d)
{
	struct names devices = names_in("%s/sys/class/infiniband", d->root);
	struct names groups = names_in("%s/sys/kernel/iommu_groups", d->root);
	const char *type = NULL;
	size_t i;

	for (i = 0; i < devices.nr && !type; i++)
		type = file_read("%s/sys/class/infiniband/%s/device/iommu_group/type", d->root,
				 devices.name[i]);
	if (!type && groups.nr)
		type = file_read("%s/sys/kernel/iommu_groups/%s/type", d->root, groups.name[0]);
	return type;
}

void check_iommu(struct doctor *d)
{
	const char *cmdline = file_read("%s/proc/cmdline", d->root);
	const char *type = iommu_type(d);

	if (!names_in("%s/sys/class/iommu", d->root).nr || !type) {
		report(d, FOUND_OK, "no IOMMU is in the way");
		report_detail(d, "memory is reached by its own address: nothing to map, and nothing that a device could not reach");
		return;
	}
	if (!strcmp(type, "identity")) {
		report(d, FOUND_OK, "the IOMMU passes through (identity)");
		return;
	}
	report(d, FOUND_NOTE, "the IOMMU translates (%s)%s", type,
	       !strcmp(type, "DMA") ? ", strictly" : "");
	report_reason(d, "%s; the command is a trade: from the next boot on I/O maps nothing, and a device that is faulty, or not to be trusted, reaches all of this machine's memory",
		      !strcmp(type, "DMA") ?
		      "each I/O maps its memory, and flushes that again when it ends: the dearest mode" :
		      "each I/O maps its memory, for which what a device may reach is bounded");
	/* unlike iommu=pt not only of x86 */
	report_fix(d, HERE, "mkdir -p /etc/default/grub.d && echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu.passthrough=1\"' >/etc/default/grub.d/iommu-passthrough.cfg && update-grub");
	report_detail(d, "command line now: %s", cmdline ? cmdline : "unknown");
}
