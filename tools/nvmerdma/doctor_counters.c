// SPDX-License-Identifier: GPL-2.0
/*
 * What went wrong before: counters of RDMA devices, and of our modules.
 *
 * They count since the device or the controller was made, so a number alone may be history. It
 * is a warning if it is large beside what was sent.
 */
#include "doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SYSFS	"/sys/class/infiniband"
/* One packet of so many that is sent again costs less than 1 % of what is sent */
#define RARE	10000

enum kind { RETRY, RNR, REFUSED, LOST };

/* Names by drivers: mlx5, bnxt_re, irdma, hns; rxe; and those of all InfiniBand ports */
static const struct {
	const char *name;
	enum kind kind;
} counters[] = {
	{ "rnr_nak_retry_err", RNR }, { "rnr_naks_retry_exc_err", RNR },
	{ "retry_rnr_exceeded_err", RNR }, { "send_rnr_err", RNR }, { "rcvd_rnr_err", RNR },
	{ "rnr_nak_sent", RNR }, { "out_of_buffer", RNR },
	{ "packet_seq_err", RETRY }, { "out_of_sequence", RETRY },
	{ "seq_err_naks_rcvd", RETRY },
	{ "local_ack_timeout_err", RETRY }, { "to_retransmits", RETRY },
	{ "implied_nak_seq_err", RETRY }, { "max_retry_exceeded", RETRY },
	{ "completer_retry_err", RETRY }, { "retry_exceeded_err", RETRY },
	{ "RxOosPsn", RETRY }, { "out_of_seq_request", RETRY }, { "duplicate_request", RETRY },
	{ "rcvd_seq_err", RETRY }, { "rcvd_pkts_discards", LOST },
	{ "send_err", LOST }, { "rx_icrc_encapsulated", LOST },
	{ "req_remote_access_errors", REFUSED }, { "resp_remote_access_errors", REFUSED },
};

/* Why a kind matters, and where to look: a command, the name of the network interface or
 * of the device, and the rest of the command
 */
static const struct {
	const char *why, *command, *rest;
	bool of_device;
} kinds[] = {
	[RETRY] = {
		"packets were lost or came in another order, and were sent again: each stalls its queue, and RoCE is meant for a network that loses none (PFC, or ECN)",
		"ethtool -S ", " | grep -iE 'drop|discard|pause|ecn|err'", false,
	},
	[RNR] = {
		"messages found no receive: the other side's queue is shorter than it said, or its processors do not keep up",
		"rdma statistic show link ", "", true,
	},
	[LOST] = {
		"packets were dropped or damaged on the way", "ip -s link show ", "", false,
	},
	[REFUSED] = {
		"memory was asked for by a key that does not allow it",
		"dmesg | grep -E 'nvmet?_rdma|", "'", true,
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

static size_t check_link(struct doctor *d, const struct rdma_link *link)
{
	uint64_t packets = packets_of(d, link);
	size_t i, n = 0;

	for (i = 0; i < NR(counters); i++) {
		uint64_t value = value_of(d, link, counters[i].name);
		bool often = packets && value > packets / RARE;

		if (!value)
			continue;
		n++;
		found(d, often ? FOUND_WARNING : FOUND_NOTE, "%s of %s is %" PRIu64 "%s",
		      counters[i].name, link->device, value, packets ?
		      mem_fmt(", of %" PRIu64 " packets sent", packets) : "");
		because(d, "%s", kinds[counters[i].kind].why);
		mend(d, HERE, "%s%s%s", kinds[counters[i].kind].command,
		     kinds[counters[i].kind].of_device ? link->device : link->netdev,
		     kinds[counters[i].kind].rest);
	}
	return n;
}

void check_device_counters(struct doctor *d)
{
	size_t i, bad = 0, looked = 0;

	for (i = 0; i < d->links.nr; i++) {
		const struct rdma_link *link = &d->links.link[i];

		if (!link->netdev || (d->link && d->link != link))
			continue;
		looked++;
		bad += check_link(d, link);
	}
	if (!looked)
		found(d, FOUND_SKIPPED, "there is no RDMA link");
	else if (!bad)
		found(d, FOUND_OK, "nothing was sent again, and no receive was missing");
}

/* Keys that say no more than that a connection has ended */
static bool is_harmless(const char *key)
{
	return !strncmp(key, "error_flush", strlen("error_flush"));
}

/* Lines "KEY N" with a prefix, added up over files of @dir by key: the first that is
 * not 0 begins the finding, the others are details
 */
static size_t check_keys(struct doctor *d, const char *dir, const char *who,
			 const char *prefix, enum severity severity, const char *words)
{
	struct names files = names_in("%s%s", d->root, dir);
	size_t i, n = 0;

	for (i = 0; i < files.nr; i++) {
		const char *text = file_read("%s%s/%s", d->root, dir, files.name[i]);

		for (; text && *text; text = strchr(text, '\n'), text += !!text) {
			const char *line = mem_strn(text, strcspn(text, "\n"));
			const char *blank = strchr(line, ' ');

			if (strncmp(line, prefix, strlen(prefix)) || is_harmless(line) ||
			    !blank || !strtoull(blank + 1, NULL, 10))
				continue;
			if (!n++) {
				found(d, severity, "%s counts %s in %s", who, line, files.name[i]);
				because(d, "%s", words);
				mend(d, HERE, "grep -E '^%s' %s/*", prefix, dir);
			} else {
				found(d, severity, "%s counts %s in %s", who, line, files.name[i]);
			}
		}
	}
	return n;
}

void check_host_counters(struct doctor *d)
{
	struct names all = names_in("%s/sys/kernel/debug/nvme_rdma", d->root);
	size_t i, n = 0;

	for (i = 0; i < all.nr; i++) {
		const char *dir = mem_fmt("/sys/kernel/debug/nvme_rdma/%s", all.name[i]);

		n += check_keys(d, dir, all.name[i], "error_", FOUND_WARNING,
				"something went wrong since it was connected: the log says what");
		n += check_keys(d, dir, all.name[i], "wait_", FOUND_NOTE,
				"commands had to wait for room here: a larger --queue-size, or more queues, may be faster");
	}
	if (!all.nr)
		found(d, FOUND_SKIPPED, "our host shows no controller in debugfs");
	else if (!n)
		found(d, FOUND_OK, "no error, and no command had to wait for room");
}

void check_target_counters(struct doctor *d)
{
	static const char dir[] = "/sys/kernel/debug/nvmet_rdma/hosts";
	size_t n;

	if (!file_there("%s%s", d->root, dir)) {
		found(d, FOUND_SKIPPED, "our target shows no host in debugfs");
		return;
	}
	n = check_keys(d, dir, "the target", "error_", FOUND_WARNING,
		       "something went wrong with that host: the log says what");
	n += check_keys(d, dir, "the target", "short_of_memory", FOUND_WARNING,
			"commands of hosts failed for want of memory");
	n += check_keys(d, dir, "the target", "short_of_receives", FOUND_NOTE,
			"hosts sent faster than commands were taken: a larger srq_size may help");
	n += check_keys(d, dir, "the target", "wait_no_", FOUND_NOTE,
			"commands had to wait for room of their queue");
	if (!n)
		found(d, FOUND_OK, "no error of a host, and nothing was short");
}
