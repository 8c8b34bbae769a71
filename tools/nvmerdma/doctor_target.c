// SPDX-License-Identifier: GPL-2.0
/* The target of this machine: what it offers, to whom, and why nobody gets it */
#include "doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVMET	"/sys/kernel/config/nvmet"
#define SHOWN	"/sys/kernel/debug/nvmet_rdma"

static const char *shown_value(struct doctor *d, const char *file, const char *key)
{
	const char *text = file_read("%s" SHOWN "/%s", d->root, file);
	size_t len = strlen(key);

	while (text && *text) {
		if (!strncmp(text, key, len) && text[len] == ' ')
			return mem_strn(text + len + 1, strcspn(text + len + 1, "\n"));
		text = strchr(text, '\n');
		text += !!text;
	}
	return NULL;
}

static const char *port_is(struct doctor *d, const char *id, const char *attribute)
{
	const char *value = file_read("%s" NVMET "/ports/%s/addr_%s", d->root, id, attribute);

	return value ? value : "";
}

/* An address that waits: is it there and has no device, or is it not there at all? */
static void say_waits(struct doctor *d, const char *id, int error)
{
	const char *traddr = port_is(d, id, "traddr");
	const struct rdma_addr *addr = rdma_addr_find(&d->addrs, traddr);

	found(d, FOUND_ERROR, "port %s, %s %s, does not listen: it waits for %s", id, traddr,
	      port_is(d, id, "trsvcid"), addr ? "an RDMA device" : "its address");
	if (addr && addr->link) {
		because(d, "the RDMA device of %s is %s (error %d: %s)", addr->netdev,
			addr->link->state, error, strerror(error));
		mend(d, HERE, "ip link set %s up", addr->netdev);
	} else if (addr) {
		because(d, "%s, which has the address, belongs to no RDMA device (error %d: %s)",
			addr->netdev, error, strerror(error));
		mend(d, HERE, "rdma link add rxe0 type rxe netdev %s", addr->netdev);
	} else {
		because(d, "no interface of this machine has the address %s (error %d: %s)",
			traddr, error, strerror(error));
		mend(d, HERE, "ip addr add %s/%u dev %s", traddr, strchr(traddr, ':') ? 64 : 24,
		     d->links.nr && d->links.link[0].netdev ? d->links.link[0].netdev : "IFACE");
	}
}

static bool port_is_well(struct doctor *d, const char *id)
{
	const char *listening = shown_value(d, mem_fmt("ports/%s", id), "listening");
	const char *waits = shown_value(d, mem_fmt("ports/%s", id), "waits_for");

	if (!names_in("%s" NVMET "/ports/%s/subsystems", d->root, id).nr) {
		struct names subsystems = names_in("%s" NVMET "/subsystems", d->root);

		found(d, FOUND_WARNING, "no subsystem is linked to port %s", id);
		because(d, "it does not listen, and hosts that connect are refused");
		mend(d, HERE, "ln -s %s/subsystems/%s %s/ports/%s/subsystems/", NVMET,
		     subsystems.nr ? subsystems.name[0] : "NQN", NVMET, id);
		return false;
	}
	if (!listening || !strcmp(listening, "1"))
		return true;
	say_waits(d, id, waits ? abs(atoi(waits)) : 0);
	return false;
}

void check_target_port(struct doctor *d)
{
	struct names ports = names_in("%s" NVMET "/ports", d->root);
	size_t i, rdma = 0, well = 0;

	for (i = 0; i < ports.nr; i++) {
		if (strcmp(port_is(d, ports.name[i], "trtype"), "rdma"))
			continue;
		rdma++;
		well += port_is_well(d, ports.name[i]);
	}
	if (!rdma) {
		found(d, FOUND_WARNING, "this target has no port of the type rdma");
		because(d, "its subsystems cannot be reached by NVMe/RDMA");
		mend(d, HERE, "nvmerdma export DEVICE");
	} else if (well) {
		found(d, FOUND_OK, "%s listening%s", well == 1 ? "a port is" :
		      mem_fmt("%zu ports are", well), file_there("%s" SHOWN, d->root) ? "" :
		      ", as far as can be seen without debugfs and our module");
	}
}

static bool is_linked(struct doctor *d, const char *nqn)
{
	struct names ports = names_in("%s" NVMET "/ports", d->root);
	size_t i;

	for (i = 0; i < ports.nr; i++) {
		if (file_there("%s" NVMET "/ports/%s/subsystems/%s", d->root, ports.name[i], nqn))
			return true;
	}
	return false;
}

void check_target_subsystem(struct doctor *d)
{
	struct names all = names_in("%s" NVMET "/subsystems", d->root);
	struct names ports = names_in("%s" NVMET "/ports", d->root);
	size_t i, linked = 0;

	for (i = 0; i < all.nr; i++) {
		if (is_linked(d, all.name[i])) {
			linked++;
			continue;
		}
		found(d, FOUND_WARNING, "the subsystem %s is linked to no port", all.name[i]);
		because(d, "no host can see it");
		mend(d, HERE, "ln -s %s/subsystems/%s %s/ports/%s/subsystems/", NVMET,
		     all.name[i], NVMET, ports.nr ? ports.name[0] : "ID");
	}
	if (!all.nr)
		found(d, FOUND_NOTE, "this target has no subsystem");
	else if (linked == all.nr)
		found(d, FOUND_OK, "%s, linked to ports", word_for(all.nr, "subsystem"));
}

static size_t check_namespaces(struct doctor *d, const char *nqn)
{
	const char *dir = mem_fmt(NVMET "/subsystems/%s/namespaces", nqn);
	struct names ids = names_in("%s%s", d->root, dir);
	size_t i, bad = 0;

	if (!ids.nr) {
		found(d, FOUND_WARNING, "the subsystem %s has no namespace", nqn);
		because(d, "hosts that connect get no disk");
		mend(d, HERE, "mkdir %s/1 && echo DEVICE >%s/1/device_path && echo 1 >%s/1/enable",
		     dir, dir, dir);
		return 1;
	}
	for (i = 0; i < ids.nr; i++) {
		const char *path = file_read("%s%s/%s/device_path", d->root, dir, ids.name[i]);

		if (file_u64(1, "%s%s/%s/enable", d->root, dir, ids.name[i]) == 1)
			continue;
		bad++;
		found(d, FOUND_WARNING, "namespace %s of %s is not enabled", ids.name[i], nqn);
		because(d, "hosts do not see %s", path && *path && strcmp(path, "(null)") ?
			path : "it, and it names no disk yet: write its device_path first");
		mend(d, HERE, "echo 1 >%s/%s/enable", dir, ids.name[i]);
	}
	return bad;
}

void check_target_namespace(struct doctor *d)
{
	struct names all = names_in("%s" NVMET "/subsystems", d->root);
	size_t i, bad = 0;

	for (i = 0; i < all.nr; i++) {
		/* one that is passed through has the namespaces of its controller */
		if (file_u64(0, "%s" NVMET "/subsystems/%s/passthru/enable", d->root,
			     all.name[i]) != 1)
			bad += check_namespaces(d, all.name[i]);
	}
	if (!bad)
		found(d, FOUND_OK, "all namespaces are enabled");
}

void check_target_hosts(struct doctor *d)
{
	struct names all = names_in("%s" NVMET "/subsystems", d->root);
	size_t i, well = 0;

	for (i = 0; i < all.nr; i++) {
		const char *dir = mem_fmt(NVMET "/subsystems/%s", all.name[i]);
		struct names hosts = names_in("%s%s/allowed_hosts", d->root, dir);

		if (file_u64(0, "%s%s/attr_allow_any_host", d->root, dir) == 1) {
			found(d, FOUND_NOTE, "any host may use %s", all.name[i]);
			because(d, "whoever reaches the port can read and overwrite its disks");
			mend(d, HERE, "echo 0 >%s/attr_allow_any_host", dir);
			detail(d, "after linking those that may, into %s/allowed_hosts", dir);
		} else if (!hosts.nr) {
			found(d, FOUND_WARNING, "no host may use %s", all.name[i]);
			because(d, "its list of allowed hosts is empty: each one that connects is refused, \"Invalid host\"");
			mend(d, HERE, "mkdir -p %s/hosts/HOSTNQN && ln -s %s/hosts/HOSTNQN %s/allowed_hosts/",
			     NVMET, NVMET, dir);
			detail(d, "HOSTNQN is what the host has in /etc/nvme/hostnqn");
		} else {
			well++;
		}
	}
	if (well)
		found(d, FOUND_OK, "%s a list of allowed hosts",
		      well == 1 ? "a subsystem has" : mem_fmt("%zu subsystems have", well));
	else if (!all.nr)
		found(d, FOUND_SKIPPED, "there is no subsystem");
}

static const struct refusal {
	const char *key, *words, *mend;
} refusals[] = {
	{ "refused_length", "for the length of their private data", NULL },
	{ "refused_record_format", "for the record format of their private data", NULL },
	{ "refused_queue_id", "for the number of the queue", NULL },
	{ "refused_hsqsize", "for the commands that the host wants to have outstanding",
	  "grep . /sys/kernel/config/nvmet/ports/*/param_max_queue_size" },
	{ "refused_hrqsize", "for the receives that the host has", NULL },
	{ "refused_ird", "as the host serves no RDMA READs", NULL },
	{ "refused_no_memory", "for want of memory, or of room in the RDMA device",
	  "rdma resource show" },
	{ "refused_device", "while the RDMA device was being removed", NULL },
	{ "refused_host_queues", "by the limit of connections of one address",
	  "echo options nvmet-rdma host_queues=131072 >/etc/modprobe.d/nvmet-rdma.conf" },
	{ "refused_host_pending", "by the limit of connections of one address without Connect",
	  "echo options nvmet-rdma host_pending=4096 host_pending_mb=4096 >/etc/modprobe.d/nvmet-rdma.conf"
	},
	{ "refused_max_pending", "by the limit of all connections without Connect",
	  "echo options nvmet-rdma max_pending=32768 max_pending_mb=16384 >/etc/modprobe.d/nvmet-rdma.conf"
	},
};

static size_t say_refused(struct doctor *d, const char *port, const struct refusal *r)
{
	const char *value = shown_value(d, mem_fmt("ports/%s", port), r->key);
	uint64_t n = value ? strtoull(value, NULL, 10) : 0;

	if (!n)
		return 0;
	found(d, FOUND_WARNING, "port %s has refused %s %s (%s)", port,
	      word_for(n, "connection"), r->words, r->key);
	because(d, "those hosts got fewer queues, or no disk; they try again until ctrl_loss_tmo");
	if (r->mend)
		mend(d, HERE, "%s", r->mend);
	mend(d, HERE, "dmesg | grep 'nvmet_rdma: .*refused'");
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
		found(d, FOUND_SKIPPED, "our target shows no port in debugfs");
	else if (!bad)
		found(d, FOUND_OK, "no connection was refused");
}

/* Memory that is kept or may be asked for, against what the machine has */
void check_target_memory(struct doctor *d)
{
	const char *dir = mem_fmt("%s/sys/module/nvmet_rdma/parameters", d->root);
	const char *meminfo = file_read("%s/proc/meminfo", d->root);
	const char *total = meminfo ? strstr(meminfo, "MemTotal:") : NULL;
	uint64_t mb = total ? strtoull(total + strlen("MemTotal:"), NULL, 10) / 1024 : 0;
	uint64_t pending = file_u64(0, "%s/max_pending_mb", dir);
	uint64_t cache = file_u64(0, "%s/buffer_cache_mb", dir) *
			 names_in("%s/sys/class/infiniband", d->root).nr;

	if (!file_there("%s/buffer_cache_mb", dir) || !mb) {
		found(d, FOUND_SKIPPED, "our nvmet-rdma is not loaded");
		return;
	}
	if (!pending)
		pending = mb / 4;
	if (cache + pending <= mb / 2) {
		found(d, FOUND_OK, "hosts may take %" PRIu64 " MiB before Connect, and buffers %"
		      PRIu64 " MiB, of %" PRIu64, pending, cache, mb);
		return;
	}
	found(d, FOUND_WARNING,
	      "the limits of memory, %llu MiB for hosts before Connect and %llu for unused buffers, are more than half of the %llu of this machine",
	      (unsigned long long)pending, (unsigned long long)cache, (unsigned long long)mb);
	because(d, "hosts that misbehave can take so much that others, and this machine, fail");
	mend(d, HERE, "echo options nvmet-rdma buffer_cache_mb=64 max_pending_mb=0 >/etc/modprobe.d/nvmet-rdma.conf");
}
