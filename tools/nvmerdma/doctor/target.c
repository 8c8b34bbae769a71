// SPDX-License-Identifier: GPL-2.0
/* The target of this machine: what it offers, to whom, and why nobody gets it */
#include "doctor/doctor.h"
#include "rdma/connected-hosts.h"
#include "restore/restore.h"

#include <stdlib.h>
#include <string.h>

#define NVMET	"/sys/kernel/config/nvmet"
#define SHOWN	"/sys/kernel/debug/nvmet_rdma"

bool is_target(const struct doctor *d)
{
	return node_count(d->target, &schema_subsys) || node_count(d->target, &schema_port);
}

static bool is_rdma(const struct node *port)
{
	return node_is(port, "addr_trtype", "rdma");
}

bool target_listens(const struct doctor *d)
{
	const struct node *port;

	for_each_node(port, d->target, &schema_port) {
		if (is_rdma(port) && port->links)
			return true;
	}
	return false;
}

static bool is_optimized(const struct doctor *d, const struct node *ns)
{
	const struct node *port, *group;

	for_each_node(port, d->target, &schema_port) {
		group = node_find(port, &schema_ana, node_get(ns, "ana_grpid") ?: "");
		if (group && node_is(group, "ana_state", "optimized"))
			return true;
	}
	return false;
}

/* Restored, a disk of nvmerdma-ha stands by: for each that is served now */
static const char *promotions(const struct doctor *d)
{
	const struct node *subsys, *ns;
	const char *words = "";

	for_each_node(subsys, d->target, &schema_subsys) {
		for_each_node(ns, subsys, &schema_ns) {
			const char *resource = standby_resource(node_get(ns, "device_path"));

			if (resource && is_optimized(d, ns))
				words = mem_fmt("%s && nvmerdma-ha promote %s", words, resource);
		}
	}
	return words;
}

/*
 * What is exported is kept in a file meanwhile, which may hold keys. It comes back also if
 * the module stays, or a disk is missing.
 */
void report_fix_reload_target(struct doctor *d)
{
	if (target_listens(d))
		report_fix(d, HERE, "nvmerdma save /run/nvmerdma.json && nvmerdma unexport --all --force && { modprobe -r nvmet-rdma; modprobe nvmet-rdma; nvmerdma restore --without-missing /run/nvmerdma.json && rm /run/nvmerdma.json%s; }",
			   promotions(d));
	else
		report_fix(d, HERE, "modprobe -r nvmet-rdma && modprobe nvmet-rdma");
}

/* An address that waits: is it there and has no device, or is it not there at all? */
static void say_waits(struct doctor *d, const struct node *port, int error)
{
	const char *traddr = node_get(port, "addr_traddr") ?: "";
	const struct rdma_addr *addr = rdma_addr_find(&d->addrs, traddr);

	report(d, FOUND_ERROR, "port %s, %s %s, does not listen: it waits for %s", port->name,
	       traddr, node_get(port, "addr_trsvcid") ?: "", addr ? "an RDMA device" : "its address");
	if (addr && addr->link) {
		report_reason(d, "the RDMA device of %s is %s (error %d: %s)", addr->netdev,
			      addr->link->state, error, strerror(error));
		report_fix(d, HERE, "ip link set %s up", addr->netdev);
	} else if (addr) {
		report_reason(d, "%s, which has the address, belongs to no RDMA device (error %d: %s)",
			      addr->netdev, error, strerror(error));
		report_fix(d, HERE, "rdma link add rxe0 type rxe netdev %s", addr->netdev);
	} else {
		report_reason(d, "no interface of this machine has the address %s (error %d: %s); the command gives it one, if no other machine is to have it",
			      traddr, error, strerror(error));
		report_fix(d, HERE, "ip addr add %s/PREFIX dev IFACE", word_for_shell(traddr));
	}
}

static bool port_is_well(struct doctor *d, const struct node *port)
{
	const char *text = file_read("%s" SHOWN "/ports/%s", d->root, port->name);
	const char *listening = text_value(text, "listening");
	const char *waits = text_value(text, "waits_for");

	if (!port->links) {
		report(d, FOUND_WARNING, "no subsystem is linked to port %s", port->name);
		report_reason(d, "it does not listen, and hosts that connect are refused; NQN stands for the subsystem that it is to offer");
		report_fix(d, HERE, "ln -s " NVMET "/subsystems/NQN " NVMET "/ports/%s/subsystems/",
			   port->name);
		return false;
	}
	if (!listening || !strcmp(listening, "1"))
		return true;
	say_waits(d, port, waits ? abs(atoi(waits)) : 0);
	return false;
}

void check_target_port(struct doctor *d)
{
	const struct node *port;
	size_t rdma = 0, well = 0;

	for_each_node(port, d->target, &schema_port) {
		if (!is_rdma(port))
			continue;
		rdma++;
		well += port_is_well(d, port);
	}
	if (!rdma) {
		report(d, FOUND_WARNING, "this target has no port of the type rdma");
		report_reason(d, "its subsystems cannot be reached by NVMe/RDMA");
		report_fix(d, HERE, "nvmerdma export DEVICE");
	} else if (well) {
		report(d, FOUND_OK, "%s listening%s", well == 1 ? "a port is" :
		       mem_fmt("%zu ports are", well), file_there("%s" SHOWN, d->root) ? "" :
		       ", as far as can be seen without debugfs and our module");
	}
}

static bool is_linked(const struct doctor *d, const char *nqn)
{
	const struct node *port;

	for_each_node(port, d->target, &schema_port) {
		if (node_linked(port, nqn))
			return true;
	}
	return false;
}

/* Which of several networks a disk is for, nobody can guess */
static const char *only_port(const struct doctor *d)
{
	const struct node *port;
	const char *only = NULL;

	for_each_node(port, d->target, &schema_port) {
		if (is_rdma(port))
			only = only ? "PORT" : port->name;
	}
	return only ? only : "PORT";
}

void check_target_subsystem(struct doctor *d)
{
	size_t nr = node_count(d->target, &schema_subsys), linked = 0;
	const struct node *subsys;

	for_each_node(subsys, d->target, &schema_subsys) {
		if (is_linked(d, subsys->name)) {
			linked++;
			continue;
		}
		report(d, FOUND_WARNING, "the subsystem %s is linked to no port", subsys->name);
		report_reason(d, "no host can see it");
		report_fix(d, HERE, "ln -s " NVMET "/subsystems/%s " NVMET "/ports/%s/subsystems/",
			   word_for_shell(subsys->name), only_port(d));
	}
	if (!nr)
		report(d, FOUND_NOTE, "this target has no subsystem");
	else if (linked == nr)
		report(d, FOUND_OK, "%s, linked to ports", count_words(nr, "subsystem"));
}

/* Commands that let in a host by its name. The kernel takes no list while any host may. */
static const char *let_in(const char *dir, const char *host)
{
	const char *of_host = word_for_shell(mem_fmt(NVMET "/hosts/%s", host));

	return mem_fmt("mkdir -p %s && ln -s %s %s/allowed_hosts/", of_host, of_host,
		       word_for_shell(dir));
}

/* Those that are connected now go on; NULL: nobody is */
static const char *let_in_connected(struct doctor *d, const char *dir, const char *nqn)
{
	const struct connected_hosts hosts = hosts_read(d->root);
	const char *commands = NULL;
	size_t i;

	for (i = 0; i < hosts.nr; i++) {
		const struct connected_host *host = &hosts.peer[i];
		const char *more;

		if (!host->subsys || strcmp(host->subsys, nqn) || strchr(host->host, '/'))
			continue;
		more = let_in(dir, host->host);
		if (!commands || !strstr(commands, more))
			commands = commands ? mem_fmt("%s && %s", commands, more) : more;
	}
	return commands;
}

static void say_open_to_all(struct doctor *d, const char *dir, const char *nqn)
{
	const char *commands = let_in_connected(d, dir, nqn);

	report(d, FOUND_NOTE, "any host may use %s", nqn);
	report_reason(d, "whoever reaches the port can read and overwrite its disks; after the command only %s may connect, or come back: others that need it have to be let in likewise",
		      commands ? "hosts that are connected now" :
		      "the host of that name, which is in its /etc/nvme/hostnqn,");
	report_fix(d, HERE, "echo 0 >%s/attr_allow_any_host && %s", word_for_shell(dir),
		   commands ? commands : let_in(dir, "HOSTNQN"));
}

void check_target_hosts(struct doctor *d)
{
	const struct node *subsys;
	size_t well = 0;

	for_each_node(subsys, d->target, &schema_subsys) {
		const char *dir = mem_fmt(NVMET "/subsystems/%s", subsys->name);

		if (node_is(subsys, "attr_allow_any_host", "1")) {
			say_open_to_all(d, dir, subsys->name);
		} else if (!subsys->links) {
			report(d, FOUND_WARNING, "no host may use %s", subsys->name);
			report_reason(d, "its list of allowed hosts is empty: each one that connects is refused, \"connect by host ... not allowed\"; HOSTNQN is what the host has in /etc/nvme/hostnqn");
			report_fix(d, HERE, "%s", let_in(dir, "HOSTNQN"));
		} else {
			well++;
		}
	}
	if (well)
		report(d, FOUND_OK, "%s a list of allowed hosts",
		       well == 1 ? "a subsystem has" : mem_fmt("%zu subsystems have", well));
	else if (!node_count(d->target, &schema_subsys))
		report(d, FOUND_SKIPPED, "there is no subsystem");
}
