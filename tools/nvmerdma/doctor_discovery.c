// SPDX-License-Identifier: GPL-2.0
/* What the peer offers to this host: its discovery log, read by the kernel's own host */
#include "doctor_peer.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libnvme.h>

#define LOG_MS		5000
#define MOST_ENTRIES	1024
#define PROGRAM_S	5

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

bool entry_nqn(const struct peer *peer, const char *nqn)
{
	size_t i;

	for (i = 0; i < peer->nr_entries; i++) {
		if (!strcmp(field(peer->entry[i].subnqn, sizeof(peer->entry[i].subnqn)), nqn))
			return true;
	}
	return false;
}

static int read_log(int fd, uint64_t offset, uint32_t len, void *to)
{
	struct nvme_get_log_args args = {
		.args_size = sizeof(args), .fd = fd, .timeout = LOG_MS,
		.lid = NVME_LOG_LID_DISCOVER, .nsid = NVME_NSID_NONE, .lpo = offset,
		.len = len, .log = to, .lsi = NVME_LOG_LSI_NONE, .lsp = NVME_LOG_LSP_NONE,
		.csi = NVME_CSI_NVM, .uuidx = NVME_UUID_NONE,
	};

	return nvme_get_log(&args);
}

/* 0, -1 with errno, or an NVMe status */
static int read_entries(struct peer *peer, const char *name)
{
	struct nvmf_discovery_log head;
	int fd = open(mem_fmt("/dev/%s", name), O_RDWR | O_CLOEXEC), rc;
	uint64_t i, nr;

	if (fd < 0)
		return -1;
	rc = read_log(fd, 0, sizeof(head), &head);
	nr = rc ? 0 : le64toh(head.numrec);
	if (nr > MOST_ENTRIES)
		nr = MOST_ENTRIES;
	peer->entry = mem_get((nr + 1) * sizeof(*peer->entry));
	for (i = 0; i < nr && !rc; i++) {
		rc = read_log(fd, sizeof(head) + i * sizeof(*peer->entry), sizeof(*peer->entry),
			      &peer->entry[i]);
		if (!rc)
			peer->nr_entries++;
	}
	close(fd);
	return rc;
}

static const char *why_not(struct doctor *d)
{
	const struct peer *peer = d->peer;

	if (!d->link)
		return "the way leads over no RDMA device";
	if (!file_there("/dev/nvme-fabrics"))
		return "nvme-fabrics is not loaded";
	if (geteuid())
		return "only root may connect";
	if (!d->hostnqn)
		return "this host has no name";
	if (peer && peer->asked && peer->answer.step > STEP_PROGRAMS &&
	    peer->answer.step < STEP_COMMAND)
		return "no connection was made";
	return NULL;
}

static void say_failed(struct doctor *d, int error)
{
	found(d, FOUND_ERROR, "the kernel could not connect to discover: %s", strerror(error));
	switch (error) {
	case ECONNREFUSED:
		because(d, "nothing listens on port %s there", d->port);
		mend(d, TARGET, "nvmerdma doctor");
		break;
	case ETIMEDOUT:
		because(d, "nobody answered: a firewall (RoCE v2 is UDP port 4791), other MTUs, or the peer is off");
		mend(d, TARGET, "nft insert rule inet filter input udp dport 4791 accept");
		break;
	case EINVAL:
		because(d, "the module nvme-rdma could not be loaded, or does not take an option");
		mend(d, HERE, "modprobe nvme-rdma");
		break;
	default:
		because(d, "the kernel's log says why (--verbose)");
		mend(d, HERE, "dmesg | grep nvme | tail");
	}
	fabrics_details(d);
}

static void say_log(struct doctor *d)
{
	const struct peer *peer = d->peer;
	size_t i, offered = 0;

	for (i = 0; i < peer->nr_entries; i++)
		offered += peer->entry[i].subtype == NVME_NQN_NVME;
	if (offered) {
		found(d, FOUND_OK, "this host is offered %s", word_for(offered, "path"));
	} else {
		found(d, FOUND_WARNING, "this host is offered nothing");
		because(d, "no subsystem is linked to that port, or its list of allowed hosts has not this host's name, %s",
			d->hostnqn);
		mend(d, TARGET, "ls /sys/kernel/config/nvmet/ports/*/subsystems /sys/kernel/config/nvmet/subsystems/*/allowed_hosts");
	}
	for (i = 0; i < peer->nr_entries; i++) {
		const struct nvmf_disc_log_entry *entry = &peer->entry[i];

		if (entry->subtype == NVME_NQN_NVME)
			detail(d, "%s at %s %s, %s",
			       safe_words(field(entry->subnqn, sizeof(entry->subnqn))),
			       nvmf_trtype_str(entry->trtype), safe_words(entry_traddr(entry)),
			       safe_words(field(entry->trsvcid, sizeof(entry->trsvcid))));
	}
}

void check_discovery(struct doctor *d)
{
	const char *words = why_not(d), *name;
	int rc;

	if (words) {
		found(d, FOUND_SKIPPED, "%s", words);
		return;
	}
	rc = fabrics_connect(d, DISCOVERY_NQN, "", &name);
	if (rc) {
		say_failed(d, rc);
		return;
	}
	rc = read_entries(d->peer, name);
	if (rc) {
		found(d, FOUND_ERROR, "the discovery log could not be read: %s",
		      rc < 0 ? strerror(errno) : nvme_status_to_string(rc, false));
		because(d, "'nvme discover' and 'nvme connect-all' find nothing");
		mend(d, TARGET, "dmesg | grep nvmet | tail");
	} else {
		d->peer->discovered = true;
		say_log(d);
	}
	if (!fabrics_disconnect(d, name)) {
		found(d, FOUND_WARNING, "the discovery controller %s did not go", name);
		mend(d, HERE, "nvme disconnect -d %s", name);
	}
}

/*
 * Whether the peer's word is an address, and no more: it goes into commands that a person
 * is told to type as root.
 */
static bool is_address(const char *traddr)
{
	static const char letters[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:%_-";

	return rdma_addr_family(traddr) >= 0 && !traddr[strspn(traddr, letters)];
}

/* Why an address of the log is of no use here; NULL: it is */
static const char *unreachable(struct doctor *d, const char *traddr)
{
	const char *text, *dev;
	size_t i;

	if (!strcmp(traddr, "0.0.0.0") || !strcmp(traddr, "::"))
		return "which is no address to connect to";
	if (!strcmp(traddr, d->address) || rdma_addr_find(&d->addrs, traddr))
		return NULL;
	text = output(PROGRAM_S, "ip", "-o", "route", "get", traddr, NULL);
	if (!text)
		return "to which this host has no route";
	dev = strstr(text, " dev ");
	for (i = 0; dev && i < d->links.nr; i++) {
		const char *netdev = d->links.link[i].netdev;
		size_t len = netdev ? strlen(netdev) : 0;

		if (len && !strncmp(dev + 5, netdev, len) && strchr(" \n", dev[5 + len]))
			return NULL;
	}
	return "to which no RDMA device of this host leads";
}

void check_discovery_address(struct doctor *d)
{
	struct peer *peer = d->peer;
	size_t i, bad = 0;

	for (i = 0; peer->discovered && i < peer->nr_entries; i++) {
		const struct nvmf_disc_log_entry *entry = &peer->entry[i];
		const char *traddr = entry_traddr(entry), *words;

		if (entry->trtype != NVMF_TRTYPE_RDMA || entry->subtype > NVME_NQN_NVME)
			continue;
		if (!is_address(traddr)) {
			bad++;
			found(d, FOUND_WARNING, "entry %zu of the discovery log has no address in the place of one",
			      i + 1);
			because(d, "'nvme connect-all' fails at it: the target is set up wrongly, or is not what it seems");
			continue;
		}
		words = unreachable(d, traddr);
		if (!words)
			continue;
		bad++;
		found(d, FOUND_WARNING, "%s is offered at %s, %s",
		      safe_words(field(entry->subnqn, sizeof(entry->subnqn))), traddr, words);
		because(d, "'nvme connect-all' fails at it, and a path is missing");
		if (*words == 't')
			mend(d, HERE, "ip route add %s dev %s", traddr, d->iface);
		if (entry->subtype == NVME_NQN_NVME)
			mend(d, TARGET, "echo %s >/sys/kernel/config/nvmet/ports/%u/addr_traddr",
			     d->address, le16toh(entry->portid));
		else
			mend(d, TARGET, "grep -r %s /sys/kernel/config/nvmet/ports/*/referrals/",
			     traddr);
		detail(d, "the target takes another address when nothing is linked to the port, or the referral is not enabled");
	}
	if (!peer->discovered)
		found(d, FOUND_SKIPPED, "there is no discovery log");
	else if (!bad)
		found(d, FOUND_OK, "each address that is offered can be reached");
}
