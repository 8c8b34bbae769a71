// SPDX-License-Identifier: GPL-2.0
/*
 * nvmerdma unexport: disks off the network. With a subsystem go the ports that offered
 * nothing else, referrals neither, and the hosts that were let in nowhere else.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "configfs.h"
#include "cut.h"
#include "disk.h"
#include "nvmerdma.h"
#include "save.h"

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
	bool all, force, dry, save;
};

static void remove_subsys(struct node *root, struct node *subsys)
{
	struct node *port;

	for_each_node(port, root, &shape_port) {
		if (!node_linked(port, subsys->name))
			continue;
		node_unlink(port, subsys->name);
		if (!port->links && !node_count(port, &shape_referral))
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

	for_each_node(host, root, &shape_host) {
		was = false;
		is = false;
		for_each_node(subsys, have, &shape_subsys)
			was |= node_linked(subsys, host->name);
		for_each_node(subsys, root, &shape_subsys)
			is |= node_linked(subsys, host->name);
		if (was && !is)
			node_remove(host);
	}
}

static struct node *namespace_on(const struct node *root, const struct disk *disk)
{
	struct node *subsys, *ns;
	const char *path;

	for_each_node(subsys, root, &shape_subsys) {
		for_each_node(ns, subsys, &shape_ns) {
			path = node_get(ns, "device_path");
			if (path && (disk_is(disk, path) || !strcmp(disk->path, path)))
				return ns;
		}
	}
	return NULL;
}

/* A disk may be gone by now: then its path has to be that of the export */
static int remove_one(struct node *root, const char *what)
{
	struct node *subsys = node_find(root, &shape_subsys, what), *ns;
	struct disk disk = { .path = what, .real = what, .file = true };

	if (subsys) {
		remove_subsys(root, subsys);
		return 0;
	}
	if (file_there("%s", what) && disk_look(what, &disk))
		return -1;
	ns = namespace_on(root, &disk);
	if (!ns)
		return complain("%s is not exported, neither as an NQN nor as a disk: 'nvmerdma list' shows what is",
				what);
	if (node_count(ns->parent, &shape_ns) == 1)
		remove_subsys(root, ns->parent);
	else
		node_remove(ns);
	return 0;
}

static void remove_all(struct node *root)
{
	struct node *subsys;

	for_each_node(subsys, root, &shape_subsys)
		remove_subsys(root, subsys);
}

static int change(const struct options *o, char **what, int nr)
{
	struct node *have, *want;
	struct plan plan;
	int i;

	if (!o->dry && configfs_there() && configfs_open())
		return -1;
	have = configfs_read();
	if (!have)
		return -1;
	want = node_copy(have);
	if (o->all)
		remove_all(want);
	for (i = 0; i < nr; i++) {
		if (remove_one(want, what[i]))
			return -1;
	}
	remove_hosts(want, have);
	if (!o->force && !o->dry && cut_refused(have, want))
		return -1;
	if (configfs_apply(have, want, o->dry, &plan))
		return -1;
	if (o->dry)
		return 0;
	configfs_report(&plan);
	if (!plan.nr)
		puts("nothing to change");
	return o->save ? save_config(CONFIG_FILE) : 0;
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "force", no_argument, NULL, 'f' },
		{ "save", no_argument, NULL, 'S' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options o = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "afnh", longs, NULL)) != -1) {
		switch (c) {
		case 'a': o.all = true; break;
		case 'f': o.force = true; break;
		case 'S': o.save = true; break;
		case 'n': o.dry = true; break;
		case 'h': return command_help(&cmd_unexport);
		default: return command_misused(&cmd_unexport);
		}
	}
	if (o.all ? optind < argc : optind == argc) {
		complain(o.all ? "--all, and something by name: which of the two?" :
				 "what? An NQN, a device or a file was expected, or --all");
		return command_misused(&cmd_unexport);
	}
	return change(&o, argv + optind, argc - optind) ? STATUS_FAILED : STATUS_OK;
}

const struct command cmd_unexport = {
	"unexport", run, "take disks from the network", usage,
};
