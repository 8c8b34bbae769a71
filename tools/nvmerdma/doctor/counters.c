// SPDX-License-Identifier: GPL-2.0
/*
 * What went wrong before: counters of RDMA devices, and of our modules.
 *
 * They count since the device or the controller was made, so a number alone may be history. It
 * is a warning if it is large beside what was sent.
 */
#include "doctor/doctor.h"
#include "rdma/rdma.h"
#include "stat/stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SYSFS	"/sys/class/infiniband"
/* One packet of so many that is sent again costs less than 1 % of what is sent */
#define RARE	10000

/* Why a kind of trouble matters, and where to look */
static const struct {
	const char *why;
	const char *begin, *end;	/* of a command, around the name of ... */
	enum { INTERFACE, DEVICE, PORT } of;
} troubles[] = {
	[TROUBLE_RETRY] = {
		"packets were lost or came in another order, and were sent again: each stalls its queue, and RoCE is meant for a network that loses none (PFC, or ECN)",
		"ethtool -S ", " | grep -iE 'drop|discard|pause|ecn|err'", INTERFACE,
	},
	[TROUBLE_RNR_THERE] = {
		"messages found no receive at the other side, and were sent again: its queue is shorter than it said, or its processors do not keep up",
		"rdma statistic show link ", "", PORT,
	},
	[TROUBLE_RNR_HERE] = {
		"messages of the other side found no receive here: a program's queue is too short, or the processors do not keep up",
		"rdma statistic show link ", "", PORT,
	},
	[TROUBLE_LOST] = {
		"packets were dropped or damaged on the way", "ip -s link show ", "", INTERFACE,
	},
	[TROUBLE_REFUSED] = {
		"memory was asked for by a key that does not allow it",
		"dmesg | grep -E 'nvmet?_rdma|", "'", DEVICE,
	},
};

static uint64_t value_of(struct doctor *d, const struct rdma_link *link, const char *name)
{
	return file_u64(0, "%s" SYSFS "/%s/ports/%u/hw_counters/%s", d->root, link->device,
			link->port, name);
}

static uint64_t packets_of(struct doctor *d, const struct rdma_link *link)
{
	uint64_t n = value_of(d, link, "sent_pkts");

	return n ? n : file_u64(0, "%s" SYSFS "/%s/ports/%u/counters/port_xmit_packets", d->root,
				link->device, link->port);
}

static void fix_trouble(struct doctor *d, const struct rdma_link *link,
			enum rdma_trouble trouble)
{
	const char *name = troubles[trouble].of == INTERFACE ? link->netdev :
			   troubles[trouble].of == DEVICE ? link->device :
			   mem_fmt("%s/%u", link->device, link->port);

	report_reason(d, "%s", troubles[trouble].why);
	report_fix(d, HERE, "%s%s%s", troubles[trouble].begin, name, troubles[trouble].end);
}

static size_t check_port(struct doctor *d, const struct rdma_link *link)
{
	uint64_t packets = packets_of(d, link);
	const struct rdma_counter *one;
	size_t i, n = 0;

	for (i = 0; (one = rdma_counter_at(i)); i++) {
		uint64_t value = value_of(d, link, one->name);
		bool often = packets && value > packets / RARE;

		if (!value)
			continue;
		n++;
		report(d, often ? FOUND_WARNING : FOUND_NOTE, "%s of %s is %" PRIu64 "%s",
		       one->name, link->device, value, packets ?
		       mem_fmt(", of %" PRIu64 " packets sent", packets) : "");
		fix_trouble(d, link, one->trouble);
	}
	return n;
}

/* Of a port with several interfaces the first one: VLANs and bonds are above it */
void check_device_counters(struct doctor *d)
{
	const struct rdma_link *asked = d->link ? rdma_port_of(&d->links, d->link) : NULL;
	const struct rdma_link *link;
	size_t bad = 0, looked = 0;

	for_each_link(link, &d->links) {
		if (!link->netdev || link != rdma_port_of(&d->links, link) ||
		    (asked && link != asked))
			continue;
		looked++;
		bad += check_port(d, link);
	}
	if (!looked)
		report(d, FOUND_SKIPPED, "there is no RDMA link");
	else if (!bad)
		report(d, FOUND_OK, "nothing was sent again, and no receive was missing");
}

/* Keys that say no more than that a connection has ended, or has just begun */
static bool is_harmless(const char *key)
{
	return !strcmp(key, "error_flush") || !strcmp(key, "wait_no_mr");
}

/* What is looked for in a directory of files of counters */
struct keys {
	const char *dir;
	const char *who, *noun;		/* whose they are; what a file is */
	const char *prefix;
	enum severity severity;
	const char *why;
	const char *look;		/* the command; NULL: what shows the counters */
};

/* Is it one of them, with a count? */
static bool counts(const struct keys *keys, const struct counter *one)
{
	return one->is_number && one->value && !is_harmless(one->key) &&
	       !strncmp(one->key, keys->prefix, strlen(keys->prefix));
}

/* "error_work 3, error_post 1", of the counts that there are */
static const char *list_counts(const struct keys *keys, const struct counters *counters)
{
	const char *list = NULL;
	size_t i;

	for (i = 0; i < counters->nr; i++) {
		const struct counter *one = &counters->list[i];

		if (counts(keys, one))
			list = mem_fmt("%s%s%s %" PRIu64, list ? list : "", list ? ", " : "",
				       one->key, one->value);
	}
	return list;
}

/* One finding for all files: a connection that is lost is counted by each of its queues */
static size_t check_keys(struct doctor *d, const struct keys *keys)
{
	struct names files = names_in("%s%s", d->root, keys->dir);
	const char **lists = mem_get((files.nr + 1) * sizeof(*lists));
	const char *only = NULL;
	struct counters sum = { 0 };
	size_t i, n = 0;

	for (i = 0; i < files.nr; i++) {
		struct counters counters;

		if (!counters_read(&counters, "%s%s/%s", d->root, keys->dir, files.name[i]))
			continue;
		lists[i] = list_counts(keys, &counters);
		counters_add(&sum, &counters);
		n += !!lists[i];
		only = lists[i] ? files.name[i] : only;
	}
	if (!n)
		return 0;
	report(d, keys->severity, "%s counts %s in %s", keys->who, list_counts(keys, &sum),
	       n == 1 ? only : count_words(n, keys->noun));
	report_reason(d, "%s", keys->why);
	report_fix(d, HERE, "%s", keys->look ? keys->look :
		   mem_fmt("grep -E '^%s.* [1-9]' %s/*", keys->prefix, keys->dir));
	for (i = 0; i < files.nr; i++) {
		if (lists[i])
			report_detail(d, "%s: %s", files.name[i], lists[i]);
	}
	return 1;
}

static size_t check_ctrl(struct doctor *d, const char *name)
{
	struct keys errors = {
		.dir = mem_fmt("/sys/kernel/debug/nvme_rdma/%s", name), .who = name,
		.noun = "queue", .prefix = "error_", .severity = FOUND_WARNING,
		.why = "something went wrong since it was connected; the log says what, and when",
		.look = mem_fmt("dmesg | grep 'nvme %s:'", name),
	};
	struct keys waits = {
		.dir = errors.dir, .who = name, .noun = "queue", .prefix = "wait_",
		.severity = FOUND_NOTE,
		.why = "commands had to wait for room here: where it is connected with a larger --queue-size, or more queues, it may be faster",
	};

	return check_keys(d, &errors) + check_keys(d, &waits);
}

void check_host_counters(struct doctor *d)
{
	struct names all = names_in("%s/sys/kernel/debug/nvme_rdma", d->root);
	size_t i, n = 0;

	for (i = 0; i < all.nr; i++)
		n += check_ctrl(d, all.name[i]);
	if (!all.nr)
		report(d, FOUND_SKIPPED, "our host shows no controller in debugfs");
	else if (!n)
		report(d, FOUND_OK, "no error, and no command had to wait for room");
}

void check_target_counters(struct doctor *d)
{
	static const char dir[] = "/sys/kernel/debug/nvmet_rdma/hosts";
	static const struct keys all[] = {
		{ dir, "the target", "host", "error_", FOUND_WARNING,
		  "something went wrong with a host since it first came; the log says what, and when",
		  "dmesg | grep 'nvmet_rdma:'" },
		{ dir, "the target", "host", "short_of_receives", FOUND_NOTE,
		  "hosts sent faster than commands were taken: nvmet-rdma loaded with a larger srq_size may help",
		  NULL },
		{ dir, "the target", "host", "wait_no_", FOUND_NOTE,
		  "commands had to wait for room of their queue, or for memory", NULL },
	};
	size_t i, n = 0;

	if (report_skipped(d, file_there("%s%s", d->root, dir) ? NULL :
			   "our target shows no host in debugfs"))
		return;
	for (i = 0; i < NR(all); i++)
		n += check_keys(d, &all[i]);
	if (!n)
		report(d, FOUND_OK, "no error of a host, and nothing was short");
}
