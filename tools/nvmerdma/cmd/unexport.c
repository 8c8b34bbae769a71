// SPDX-License-Identifier: GPL-2.0
/*
 * nvmerdma unexport: disks off the network. With a subsystem go the ports that offered
 * nothing else, referrals neither, and the hosts that were let in nowhere else.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "rdma/connected-hosts.h"
#include "command.h"
#include "disk/disk.h"

static const char usage[] =
"NQN|DEVICE|FILE... [--force] [--save] [--dry-run]\n"
"       nvmerdma unexport --all [--force] [--save] [--dry-run]\n"
"\n"
"Takes disks from the network: the subsystem of that name, or what exports that disk.\n"
"\n"
"  --all        everything\n"
"  --force      although hosts are connected: they lose what they have not written\n"
"  --save       and keep it so: as 'nvmerdma save'\n"
"  --dry-run    print the commands that would do it, and do nothing\n";

struct options {
	int all, force, dry, save;	/* flags of getopt_long() */
};

static void remove_subsys(struct node *root, struct node *subsys)
{
	struct node *port;

	for_each_node(port, root, &schema_port) {
		if (!node_linked(port, subsys->name))
			continue;
		node_unlink(port, subsys->name);
		if (!port->links && !node_count(port, &schema_referral))
			node_remove(port);
	}
	node_remove(subsys);
}

/* A host that was let in by what is gone, and is let in nowhere any more */
static void remove_hosts(struct node *root, const struct node *have)
{
	const struct node *subsys;
	struct node *host;
	bool was, is;

	for_each_node(host, root, &schema_host) {
		was = false;
		is = false;
		for_each_node(subsys, have, &schema_subsys)
			was |= node_linked(subsys, host->name);
		for_each_node(subsys, root, &schema_subsys)
			is |= node_linked(subsys, host->name);
		if (was && !is)
			node_remove(host);
	}
}

/* A disk may be gone by now: then its path has to be that of the export */
static struct node *namespace_on(const struct node *root, const char *what)
{
	struct place asked, there;
	bool is_there = !place_of(what, &asked);
	struct node *subsys, *ns;
	const char *path;

	for_each_node(subsys, root, &schema_subsys) {
		for_each_node(ns, subsys, &schema_ns) {
			path = node_get(ns, "device_path");
			if (path && (!strcmp(path, what) ||
				     (is_there && !place_of(path, &there) &&
				      place_same(&asked, &there))))
				return ns;
		}
	}
	return NULL;
}

static int remove_one(struct node *root, const char *what)
{
	struct node *subsys = node_find(root, &schema_subsys, what);
	struct node *ns = namespace_on(root, what);

	if (subsys) {
		remove_subsys(root, subsys);
		return 0;
	}
	if (!ns)
		return error_msg("%s is not exported, neither as an NQN nor as a disk; see 'nvmerdma list'",
				 what);
	/* It may be exported more than once */
	for (; ns; ns = namespace_on(root, what)) {
		if (node_count(ns->parent, &schema_ns) == 1)
			remove_subsys(root, ns->parent);
		else
			node_remove(ns);
	}
	return 0;
}

static void remove_all(struct node *root)
{
	struct node *subsys;

	for_each_node(subsys, root, &schema_subsys)
		remove_subsys(root, subsys);
}

/* The status to end with */
static int change(const struct options *o, char **what, int nr)
{
	struct node *have, *want;
	struct plan plan;
	int i;

	if (!o->dry && configfs_there() && configfs_open())
		return STATUS_FAILED;
	have = configfs_read();
	if (!have)
		return STATUS_FAILED;
	want = node_copy(have);
	if (o->all)
		remove_all(want);
	for (i = 0; i < nr; i++) {
		if (remove_one(want, what[i]))
			return STATUS_FAILED;
	}
	remove_hosts(want, have);
	if ((!o->force && check_no_disconnect(have, want)) ||
	    configfs_apply(have, want, o->dry, &plan))
		return STATUS_FAILED;
	if (o->dry)
		return STATUS_OK;
	configfs_print(&plan);
	if (!plan.nr)
		puts("nothing to change");
	if (!o->save || !save_config(CONFIG_FILE, have, want))
		return STATUS_OK;
	error_msg("removed, but saving failed: it is exported again after a reboot. Run 'nvmerdma save'");
	return STATUS_NOT_KEPT;
}

static int run(int argc, char **argv)
{
	struct options o = { 0 };
	const struct option longs[] = {
		{ "all", no_argument, &o.all, true },
		{ "force", no_argument, &o.force, true },
		{ "save", no_argument, &o.save, true },
		{ "dry-run", no_argument, &o.dry, true },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c)
			return c == 'h' ? command_help(&cmd_unexport) :
			       command_usage_hint(&cmd_unexport);
	}
	if (o.all ? optind < argc : optind == argc) {
		error_msg(o.all ? "--all and a name: use only one of them" :
				 "missing argument: NQN, device, file or --all");
		return command_usage_hint(&cmd_unexport);
	}
	return change(&o, argv + optind, argc - optind);
}

const struct command cmd_unexport = {
	"unexport", run, "take disks from the network", usage,
};
