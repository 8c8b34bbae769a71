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
#include "left.h"
#include "nvmerdma.h"
#include "number.h"
#include "overlay.h"
#include "passthru.h"
#include "save.h"
#include "standby.h"
#include "valid.h"

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
"  --wait SECONDS     for disks and addresses that are not there yet, or not ready\n"
"  --without-missing  leave out what is not there or not ready, and export the rest\n"
"  --late             the same; then wait for it, and export each when it can be\n";

struct options {
	const char *path;
	bool dry, force, keep, without_missing, late;
	unsigned long wait;
};

/* ---- what cannot be enabled now ---- */

/* It is configured, and not enabled: 'echo 1 > enable' is all that is left to do */
static void leave_out(struct node *want, const struct missing *missing, bool late)
{
	size_t i;

	for (i = 0; i < missing->nr; i++) {
		warn("%s is left disabled%s: %s", node_words(missing->node[i]),
		     late ? " until it can be enabled" : "", missing->why[i]);
		missing_disable(want, missing->node[i]);
	}
}

static int refuse(const struct missing *missing)
{
	size_t i;

	for (i = 0; i < missing->nr; i++)
		complain("%s cannot be enabled: %s", node_words(missing->node[i]),
			 missing->why[i]);
	return complain("nothing was changed; --wait waits for what cannot be enabled yet, --without-missing leaves it disabled and restores the rest");
}

/* What is missing, as the file has it; @want is to be without it, or it was said */
static int find_missing(const struct options *o, const struct node *have, struct node *want,
			struct missing *missing)
{
	*missing = missing_in(have, node_copy(want));
	if (!missing->nr)
		return 0;
	if (!o->without_missing)
		return refuse(missing);
	leave_out(want, missing, o->late);
	return 0;
}

/* ---- what there is to be ---- */

static char *read_file(const char *path)
{
	char *text = strcmp(path, "-") ? file_read("%s", path) : file_read("/dev/stdin");

	if (!text)
		complain("%s cannot be read: %s%s", path, strerror(errno),
			 errno == ENOENT ? "; 'nvmerdma save' writes it" : "");
	return text;
}

/* What there is to be: what the file says, and what stays; NULL: it was said */
static struct node *wanted(const struct options *o, const struct node *have,
			   const struct node *file)
{
	struct node *want = overlay(have, file);

	standby(have, want);
	if (!o->keep)
		return want;
	overlay_others(want, have);
	return valid_config("with what stays", want) ? NULL : want;
}

static int restore(const struct options *o)
{
	const char *text = read_file(o->path);
	struct node *file, *have, *want;
	struct missing missing;
	struct plan plan;

	file = text ? json_parse(text, o->path) : NULL;
	have = file ? configfs_read() : NULL;
	if (!have)
		return -1;
	missing_wait(have, file, o->wait);
	if (!o->dry && configfs_open())
		return -1;
	passthru_numbered(file);
	have = configfs_read();		/* others may have changed it until it was locked */
	want = have ? wanted(o, have, file) : NULL;
	if (!want || find_missing(o, have, want, &missing))
		return -1;
	if (!o->force && cut_refused(have, want))
		return -1;
	if (configfs_apply(have, want, o->dry, &plan))
		return -1;
	if (!o->dry) {
		if (!o->keep)
			left_forget();
		left_keep(want, &missing);
		configfs_report(&plan);
		standby_say(have, want);
	}
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

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
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
