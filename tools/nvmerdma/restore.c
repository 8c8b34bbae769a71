// SPDX-License-Identifier: GPL-2.0
/* nvmerdma restore: the configuration of a file, all of it or nothing */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "configfs.h"
#include "cut.h"
#include "json.h"
#include "late.h"
#include "nvmerdma.h"
#include "number.h"
#include "overlay.h"
#include "restore_disks.h"
#include "save.h"

#define WAIT_MAX	3600

static const char usage[] =
"[FILE|-] [--dry-run] [--force] [--keep] [--wait SECONDS] [--without-missing|--late]\n"
"\n"
"Makes the target what FILE says, by default " CONFIG_FILE ": the file of\n"
"nvmetcli. Says what it changed. All of it happens, or nothing; what is as FILE says\n"
"already goes on undisturbed.\n"
"\n"
"  --dry-run          print the commands that would do it, and do nothing\n"
"  --force            although connected hosts lose disks\n"
"  --keep             what FILE does not name stays\n"
"  --wait SECONDS     for disks and addresses that are not there yet\n"
"  --without-missing  leave out what is not there, and export the rest\n"
"  --late             the same; then wait for it, and export each when it comes\n";

struct options {
	const char *path;
	bool dry, force, keep, without_missing, late;
	unsigned long wait;
};

/* ---- what is not there ---- */

/* It is configured, and not enabled: 'echo 1 > enable' is all that is left to do */
static void leave_out(struct node *want, const struct missing *missing, bool late)
{
	size_t i;

	for (i = 0; i < missing->nr; i++) {
		warn("%s is left disabled%s: %s", node_words(missing->node[i]),
		     late ? " until it can be enabled" : "", missing_why(missing->node[i]));
		missing_disable(want, missing->node[i]);
	}
}

static int refuse_missing(const struct missing *missing)
{
	const struct node *node = missing->node[0];

	return complain("%s, which %s is on: nothing was changed (--wait waits for it, --without-missing does without)",
			missing_why(node), node_words(node));
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

/* What is missing, as the file has it; @want is to be without it, or it was said */
static int find_missing(const struct options *o, const struct node *have, struct node *want,
			struct missing *missing)
{
	*missing = missing_in(have, node_copy(want));
	if (!missing->nr)
		return 0;
	if (!o->without_missing && !o->dry)
		return refuse_missing(missing);
	if (o->without_missing)
		leave_out(want, missing, o->late);
	return 0;
}

static int restore(const struct options *o)
{
	const char *text = read_file(o->path);
	struct missing missing;
	struct node *have, *want;
	struct plan plan;

	want = text ? json_parse(text, o->path) : NULL;
	have = want ? configfs_read() : NULL;
	if (!have)
		return -1;
	missing_wait(have, want, o->wait);
	if (!o->dry && configfs_open())
		return -1;
	have = configfs_read();
	if (!have)
		return -1;
	want = overlay(have, want);
	if (find_missing(o, have, want, &missing))
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
	if (o->late && !o->dry)
		late_follow(&missing);
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
		{ "late", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options o = { .path = CONFIG_FILE };
	int c;

	while ((c = getopt_long(argc, argv, "nfkw:mlh", longs, NULL)) != -1) {
		switch (c) {
		case 'n': o.dry = true; break;
		case 'f': o.force = true; break;
		case 'k': o.keep = true; break;
		case 'm': o.without_missing = true; break;
		case 'l': o.without_missing = o.late = true; break;
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
