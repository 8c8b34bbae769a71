// SPDX-License-Identifier: GPL-2.0
/* What the peer offers to this host: its discovery log */
#include "doctor/parse.h"
#include "doctor/peer.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libnvme.h>

#define LOG_S		5	/* of all commands */
#define AT_ONCE		4	/* entries of a command: a page, which each controller takes */
#define MOST_ENTRIES	1024
#define MOST_READS	3	/* if it changes meanwhile */
#define MOST_ADDRESSES	32	/* that ip(8) is asked for */

/* Fields of the log are filled with blanks or zeros, to their ends */
static const char *field(const char *bytes, size_t size)
{
	size_t len = strnlen(bytes, size);

	while (len && bytes[len - 1] == ' ')
		len--;
	return mem_strn(bytes, len);
}

static const char *entry_traddr(const struct nvmf_disc_log_entry *entry)
{
	return field(entry->traddr, sizeof(entry->traddr));
}

static const char *entry_subnqn(const struct nvmf_disc_log_entry *entry)
{
	return field(entry->subnqn, sizeof(entry->subnqn));
}

bool entry_nqn(const struct peer *peer, const char *nqn)
{
	size_t i;

	for (i = 0; i < peer->nr_entries; i++) {
		if (!strcmp(entry_subnqn(&peer->entry[i]), nqn))
			return true;
	}
	return false;
}

/* What another process has read of the log */
struct discovery {
	int rc;			/* 0, -errno, or an NVMe status */
	size_t nr;
	uint64_t left_out;
	struct nvmf_disc_log_entry entry[MOST_ENTRIES];
};

/* All entries that the head tells of, as far as time allows */
static int read_entries(struct verbs_host *host, struct discovery *log,
			const struct nvmf_discovery_log *head, time_t until)
{
	size_t size = sizeof(log->entry[0]), n;
	uint64_t nr = le64toh(head->numrec);
	int rc = 0;

	if (nr > MOST_ENTRIES)
		nr = MOST_ENTRIES;
	log->nr = 0;
	while (log->nr < nr && seconds_now() < until) {
		n = nr - log->nr < AT_ONCE ? nr - log->nr : AT_ONCE;
		rc = verbs_read_log(host, sizeof(*head) + log->nr * size, n * size,
				    &log->entry[log->nr]);
		if (rc)
			break;
		log->nr += n;
	}
	log->left_out = le64toh(head->numrec) - log->nr;
	return rc;
}

/* Once more if its generation is another one then */
static void read_all(struct verbs_host *host, void *shared)
{
	struct discovery *log = shared;
	time_t until = seconds_now() + LOG_S;
	struct nvmf_discovery_log head, after;
	int rc, reads;

	rc = verbs_read_log(host, 0, sizeof(head), &head);
	for (reads = 0; !rc && reads < MOST_READS; reads++) {
		rc = read_entries(host, log, &head, until);
		if (rc || seconds_now() >= until)
			break;
		rc = verbs_read_log(host, 0, sizeof(after), &after);
		if (rc || after.genctr == head.genctr)
			break;
		head = after;
	}
	log->rc = rc;
}

static const char *why_not(struct doctor *d)
{
	const struct peer *peer = d->peer;

	if (!d->link)
		return "the way leads over no RDMA device";
	if (!d->hostnqn)
		return "this host has no name";
	if (peer && peer->asked && peer->answer.step < STEP_COMMAND)
		return "no connection was made";
	return NULL;
}

/* True if it was: the log may be read */
static bool say_connected(struct doctor *d, const struct verbs_answer *answer)
{
	if (answer->step <= STEP_PROGRAMS) {
		report(d, FOUND_SKIPPED, "programs cannot use RDMA: %s", strerror(answer->error));
	} else if (answer->step != STEP_DONE) {
		report(d, FOUND_ERROR, "the discovery service does not take a connection: %s",
		       strerror(answer->error));
		report_reason(d, "'nvme discover' and 'nvme connect-all' fail the same way");
		if (answer->error == ETIMEDOUT)
			report_fix_firewall(d);
		report_fix(d, TARGET, "dmesg | grep nvmet | tail");
	} else if (answer->status) {
		report(d, FOUND_ERROR, "the discovery service refuses Connect: %s",
		       nvme_status_to_string(answer->status, false));
		report_reason(d, "'nvme discover' and 'nvme connect-all' fail the same way");
		report_fix(d, TARGET, "dmesg | grep nvmet | tail");
	} else if (answer->result & CONNECT_AUTH_REQUIRED) {
		report(d, FOUND_SKIPPED, "the discovery service wants this host to authenticate");
	} else {
		return true;
	}
	return false;
}

static void say_log(struct doctor *d)
{
	const struct peer *peer = d->peer;
	size_t i, offered = 0;

	for (i = 0; i < peer->nr_entries; i++)
		offered += peer->entry[i].subtype == NVME_NQN_NVME;
	if (offered) {
		report(d, FOUND_OK, "this host is offered %s", count_words(offered, "path"));
	} else {
		report(d, FOUND_WARNING, "this host is offered nothing");
		report_reason(d, "no subsystem is linked to that port, or its list of allowed hosts has not this host's name, %s",
			      d->hostnqn);
		report_fix(d, TARGET, "ls /sys/kernel/config/nvmet/ports/*/subsystems /sys/kernel/config/nvmet/subsystems/*/allowed_hosts");
	}
	for (i = 0; i < peer->nr_entries; i++) {
		const struct nvmf_disc_log_entry *entry = &peer->entry[i];

		if (entry->subtype == NVME_NQN_NVME)
			report_detail(d, "%s at %s %s, %s", safe_words(entry_subnqn(entry)),
				      nvmf_trtype_str(entry->trtype),
				      safe_words(entry_traddr(entry)),
				      safe_words(field(entry->trsvcid, sizeof(entry->trsvcid))));
	}
	if (peer->left_out)
		report_detail(d, "%s of the log are left out: it is long, or the target slow",
			      peer->left_out == 1 ? "1 entry" :
			      mem_fmt("%llu entries", (unsigned long long)peer->left_out));
}

void check_discovery(struct doctor *d)
{
	struct discovery *log = shared_alloc(sizeof(*log));
	struct verbs_question question;
	struct verbs_answer answer;

	if (report_skipped(d, why_not(d)))
		return;
	log->rc = -ETIMEDOUT;
	question = peer_question(d, NVME_DISC_SUBSYS_NAME);
	verbs_ask(&question, &answer, read_all, log);
	if (!say_connected(d, &answer))
		return;
	if (log->rc) {
		report(d, FOUND_ERROR, "the discovery log could not be read: %s", log->rc < 0 ?
		       strerror(answer.error ? answer.error : -log->rc) :
		       nvme_status_to_string(log->rc, false));
		report_reason(d, "'nvme discover' and 'nvme connect-all' find nothing, or not all");
		report_fix(d, TARGET, "dmesg | grep nvmet | tail");
		return;
	}
	d->peer->discovered = true;
	d->peer->entry = log->entry;
	d->peer->nr_entries = log->nr;
	d->peer->left_out = log->left_out;
	say_log(d);
}

enum way {
	WAY_UNKNOWN,		/* not looked for */
	WAY_THERE,
	WAY_NO_ADDRESS,		/* "any", which nobody can connect to */
	WAY_NO_ROUTE,
	WAY_NO_RDMA,		/* the route leads over no RDMA device */
};

static const char *const way_words[] = {
	[WAY_NO_ADDRESS] = "which is no address to connect to",
	[WAY_NO_ROUTE] = "to which this host has no route",
	[WAY_NO_RDMA] = "to which no RDMA device of this host leads",
};

/* @traddr is the peer's word, and an address: word_is_address() */
static enum way way_to(struct doctor *d, const char *traddr)
{
	const char *text, *dev, *zone = strchr(traddr, '%');
	const struct rdma_link *link;

	if (!strcmp(traddr, "0.0.0.0") || !strcmp(traddr, "::"))
		return WAY_NO_ADDRESS;
	if (!strcmp(traddr, d->address) || rdma_addr_find(&d->addrs, traddr))
		return WAY_THERE;
	text = program_output(PROGRAM_S, "ip", "-o", "route", "get",
			      mem_strn(traddr, strcspn(traddr, "%")), zone ? "oif" : NULL,
			      zone ? zone + 1 : NULL, NULL);
	if (!text)
		return WAY_NO_ROUTE;
	dev = strstr(text, " dev ");
	for_each_link(link, &d->links) {
		size_t len = dev && link->netdev ? strlen(link->netdev) : 0;

		if (len && !strncmp(dev + 5, link->netdev, len) && strchr(" \n", dev[5 + len]))
			return WAY_THERE;
	}
	return WAY_NO_RDMA;
}

/* A path by RDMA, to a subsystem or another discovery service */
static bool is_path(const struct nvmf_disc_log_entry *entry)
{
	return entry->trtype == NVMF_TRTYPE_RDMA && entry->subtype <= NVME_NQN_NVME;
}

/* By entry; each address is looked for once */
static enum way *find_ways(struct doctor *d)
{
	const struct peer *peer = d->peer;
	enum way *way = mem_get((peer->nr_entries + 1) * sizeof(*way));
	size_t i, k, asked = 0;

	for (i = 0; i < peer->nr_entries; i++) {
		const char *traddr = entry_traddr(&peer->entry[i]);

		if (!is_path(&peer->entry[i]) || !word_is_address(traddr))
			continue;
		for (k = 0; k < i && way[i] == WAY_UNKNOWN; k++) {
			if (!strcmp(entry_traddr(&peer->entry[k]), traddr))
				way[i] = way[k];
		}
		if (way[i] == WAY_UNKNOWN && asked++ < MOST_ADDRESSES)
			way[i] = way_to(d, traddr);
	}
	return way;
}

static bool has_other_way(const struct peer *peer, const enum way *way, size_t of)
{
	const char *nqn = entry_subnqn(&peer->entry[of]);
	size_t i;

	for (i = 0; i < peer->nr_entries; i++) {
		if (way[i] == WAY_THERE && !strcmp(entry_subnqn(&peer->entry[i]), nqn))
			return true;
	}
	return false;
}

static void say_no_address(struct doctor *d, size_t i)
{
	report(d, FOUND_WARNING, "entry %zu of the discovery log has no address in the place of one",
	       i + 1);
	report_reason(d, "'nvme connect-all' fails at it: the target is set up wrongly, or is not what it seems");
	report_fix(d, TARGET, "grep -r . /sys/kernel/config/nvmet/ports/ --include=addr_traddr");
}

/*
 * A path that cannot be gone is no fault as long as there is another: it may be for hosts of
 * another network. No route is made up to where nothing is known to lead.
 */
static void say_no_way(struct doctor *d, size_t i, enum way way, bool other)
{
	const struct nvmf_disc_log_entry *entry = &d->peer->entry[i];
	const char *traddr = entry_traddr(entry);
	bool may_be_meant = way != WAY_NO_ADDRESS && (other || entry->subtype != NVME_NQN_NVME);

	report(d, may_be_meant ? FOUND_NOTE : FOUND_WARNING, "%s is offered at %s%s, %s",
	       safe_words(entry_subnqn(entry)), traddr, other ? ", too" : "", way_words[way]);
	if (way == WAY_NO_ADDRESS && entry->subtype == NVME_NQN_NVME) {
		report_reason(d, "'nvme connect-all' fails at it; the target takes an address when nothing is linked to the port, which cuts off the hosts that use it");
		report_fix(d, TARGET, "echo %s >/sys/kernel/config/nvmet/ports/%u/addr_traddr",
			   strchr(d->address, '%') ? "ADDRESS" : d->address,
			   le16toh(entry->portid));
		return;
	}
	if (entry->subtype != NVME_NQN_NVME) {
		report_reason(d, "it is another discovery service, at which 'nvme connect-all' fails; it may be for other hosts");
		report_fix(d, TARGET, "grep -r %s /sys/kernel/config/nvmet/ports/*/referrals/",
			   traddr);
		return;
	}
	if (other)
		report_reason(d, "'nvme connect-all' fails at it and takes the other path; it may be for hosts of another network");
	else
		report_reason(d, "'nvme connect-all' fails at it, and there is no other path: this host needs an address of its network, or the target one of this host's");
	report_fix(d, HERE, "ip -br addr; rdma link; ip route get %s", traddr);
}

void check_discovery_address(struct doctor *d)
{
	const struct peer *peer = d->peer;
	const enum way *way;
	size_t i, bad = 0;

	if (report_skipped(d, peer->discovered ? NULL : "there is no discovery log"))
		return;
	way = find_ways(d);
	for (i = 0; i < peer->nr_entries; i++) {
		if (!is_path(&peer->entry[i]) || way[i] == WAY_THERE)
			continue;
		if (!word_is_address(entry_traddr(&peer->entry[i])))
			say_no_address(d, i);
		else if (way[i] != WAY_UNKNOWN)
			say_no_way(d, i, way[i], has_other_way(peer, way, i));
		bad += way[i] != WAY_UNKNOWN || !word_is_address(entry_traddr(&peer->entry[i]));
	}
	if (!bad)
		report(d, FOUND_OK, "each address that is offered can be reached");
}
