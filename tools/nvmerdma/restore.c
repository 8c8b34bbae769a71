// SPDX-License-Identifier: GPL-2.0
/* nvmerdma restore: the configuration of a file, all of it or nothing */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "configfs.h"
#include "cut.h"
#include "json.h"
#include "nvmerdma.h"
#include "number.h"
#include "restore_disks.h"
#include "save.h"

#define WAIT_MAX	3600

static const char usage[] =
"[FILE|-] [--dry-run] [--force] [--keep] [--wait SECONDS] [--without-missing]\n"
"\n"
"Makes the target what FILE says, by default " CONFIG_FILE ": the file of\n"
"nvmetcli. Says what it changed. All of it happens, or nothing; what is as FILE says\n"
"already goes on undisturbed.\n"
"\n"
"  --dry-run          print the commands that would do it, and do nothing\n"
"  --force            although connected hosts lose disks\n"
"  --keep             what FILE does not name stays\n"
"  --wait SECONDS     for disks that are not there yet, as at boot\n"
"  --without-missing  leave disks out that are not there, and export the others\n";

struct options {
	const char *path;
	bool dry, force, keep, without_missing;
	unsigned long wait;
};

/* ---- disks that are not there ---- */

static bool is_missing(const struct node *ns)
{
	const char *path = node_get(ns, "device_path");

	return node_is(ns, "enable", "1") && path && *path && !file_there("%s", path);
}

static const struct node *first_missing(const struct node *want)
{
	const struct node *subsys, *ns;

	for_each_node(subsys, want, &shape_subsys) {
		for_each_node(ns, subsys, &shape_ns) {
			if (is_missing(ns))
				return ns;
		}
	}
	return NULL;
}

static void wait_for_disks(const struct node *want, unsigned long seconds)
{
	const struct timespec pause = { .tv_nsec = 200 * 1000 * 1000 };
	const time_t end = time(NULL) + seconds;
	struct mem_mark mark;

	for (;;) {
		mark = mem_mark();
		if (!first_missing(want) || time(NULL) >= end)
			return;
		mem_release(mark);
		nanosleep(&pause, NULL);
	}
}

/* They are configured, and not enabled: 'echo 1 > enable' is all that is left to do */
static void leave_out_missing(struct node *want)
{
	struct node *subsys, *ns;

	for_each_node(subsys, want, &shape_subsys) {
		for_each_node(ns, subsys, &shape_ns) {
			if (!is_missing(ns))
				continue;
			warn("%s is left disabled: there is no %s", node_words(ns),
			     node_get(ns, "device_path"));
			node_set(ns, "enable", "0");
		}
	}
}

static int check_disks(struct node *want, const struct options *o)
{
	const struct node *missing;

	if (o->wait)
		wait_for_disks(want, o->wait);
	if (o->without_missing)
		leave_out_missing(want);
	missing = first_missing(want);
	if (missing && !o->dry)
		return complain("there is no %s, which %s is on: nothing was changed (--wait waits for it, --without-missing does without)",
				node_get(missing, "device_path"), node_words(missing));
	return 0;
}

/* ---- what is there and stays ---- */

/* Objects and links that @want does not name; one that lets in any host has no list */
static void keep_others(struct node *want, const struct node *have)
{
	const struct node *node;
	const struct link *link;
	struct node *same;

	for (link = have->links; link; link = link->next) {
		if (!node_is(want, "attr_allow_any_host", "1"))
			node_link(want, link->name);
	}
	for (node = have->below; node; node = node->next) {
		same = node_find(want, node->shape, node->name);
		if (same)
			keep_others(same, node);
		else
			node_graft(want, node);
	}
}

static char *read_file(const char *path)
{
	char *text = strcmp(path, "-") ? file_read("%s", path) : file_read("/dev/stdin");

	if (!text)
		complain("%s cannot be read: %s%s", path, strerror(errno),
			 errno == ENOENT ? "; 'nvmerdma save' writes it" : "");
	return text;
}

static int restore(const struct options *o)
{
	const char *text = read_file(o->path);
	struct node *have, *want;
	struct plan plan;

	want = text ? json_parse(text, o->path) : NULL;
	if (!want)
		return -1;
	if (check_disks(want, o) || (!o->dry && configfs_open()))
		return -1;
	have = configfs_read();
	if (!have)
		return -1;
	if (o->keep)
		keep_others(want, have);
	if (restore_disks(have, want, o->without_missing ? REFUSED_LEAVE :
			  o->dry ? REFUSED_SAY : REFUSED_FAIL))
		return -1;
	if (!o->force && cut_refused(have, want, o->dry))
		return -1;
	if (configfs_apply(have, want, o->dry, &plan))
		return -1;
	if (!o->dry)
		configfs_report(&plan);
	if (!plan.nr)
		puts("nothing to change");
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dry-run", no_argument, NULL, 'n' },
		{ "force", no_argument, NULL, 'f' },
		{ "keep", no_argument, NULL, 'k' },
		{ "wait", required_argument, NULL, 'w' },
		{ "without-missing", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options o = { .path = CONFIG_FILE };
	int c;

	while ((c = getopt_long(argc, argv, "nfkw:mh", longs, NULL)) != -1) {
		switch (c) {
		case 'n': o.dry = true; break;
		case 'f': o.force = true; break;
		case 'k': o.keep = true; break;
		case 'm': o.without_missing = true; break;
		case 'w':
			if (number_option("--wait", optarg, 0, WAIT_MAX, &o.wait))
				return STATUS_USAGE;
			break;
		case 'h': return command_help(&cmd_restore);
		default: return command_misused(&cmd_restore);
		}
	}
	if (argc - optind > 1) {
		complain("one file at most");
		return command_misused(&cmd_restore);
	}
	if (argc > optind)
		o.path = argv[optind];
	return restore(&o) ? STATUS_FAILED : STATUS_OK;
}

const struct command cmd_restore = {
	"restore", run, "make the target what a file says", usage,
};
