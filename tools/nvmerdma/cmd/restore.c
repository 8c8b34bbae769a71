// SPDX-License-Identifier: GPL-2.0
/* nvmerdma restore: the configuration of a file, all of it or nothing */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "rdma/connected-hosts.h"
#include "restore/restore.h"
#include "command.h"
#include "common/util.h"
#include "config/plan.h"
#include "disk/disk.h"

static const char usage[] =
"[FILE|-] [--dry-run] [--force] [--keep] [--without-missing|--late]\n"
"\n"
"Makes the target what FILE says, by default " CONFIG_FILE ": the file of\n"
"nvmetcli. Says what it changed. All of it happens, or nothing; what is as FILE says\n"
"already goes on undisturbed.\n"
"\n"
"  --dry-run          print the commands that would do it, and do nothing\n"
"  --force            although connected hosts lose disks\n"
"  --keep             what FILE does not name stays\n"
"  --without-missing  leave out what is not there or not ready, and export the rest\n"
"  --late             the same; then wait for it, and export each when it can be\n";

struct options {
	const char *path;
	int dry, force, keep, without_missing, late;	/* flags of getopt_long() */
};

/* ---- what cannot be enabled now ---- */

/* It is configured, and not enabled: 'echo 1 > enable' is all that is left to do */
static void leave_out(struct node *want, const struct unavailable *missing, bool late)
{
	size_t i;

	for (i = 0; i < missing->nr; i++) {
		note_msg("%s is left disabled%s: %s", node_words(missing->node[i]),
			 late ? " until it can be enabled" : "", missing->why[i]);
		unavailable_disable(want, missing->node[i]);
	}
}

static int refuse(const struct unavailable *missing)
{
	size_t i;

	for (i = 0; i < missing->nr; i++)
		error_msg("%s cannot be enabled: %s", node_words(missing->node[i]),
			  missing->why[i]);
	return error_msg("nothing was changed; --late waits for what cannot be enabled yet, --without-missing leaves it disabled and restores the rest");
}

/* What is missing, as the file has it; @want is to be without it, or it was said */
static int find_missing(const struct options *o, const struct node *have, struct node *want,
			struct unavailable *missing)
{
	*missing = unavailable_in(have, node_copy(want));
	if (!missing->nr)
		return 0;
	if (!o->without_missing && !o->late)
		return refuse(missing);
	leave_out(want, missing, o->late);
	return 0;
}

/* ---- what there is to be ---- */

static char *read_file(const char *path)
{
	char *text = strcmp(path, "-") ? file_read("%s", path) : file_read("/dev/stdin");

	if (!text)
		error_msg("%s cannot be read: %s%s", path, strerror(errno),
			  errno == ENOENT ? "; 'nvmerdma save' writes it" : "");
	return text;
}

/* What there is to be: what the file says, and what stays; NULL: it was said */
static struct node *wanted(const struct options *o, const struct node *have,
			   const struct node *file)
{
	struct node *want = merge_unnamed(have, file);

	standby_apply(have, want);
	if (!o->keep)
		return want;
	merge_others(want, have);
	return validate_config("with what stays", want) ? NULL : want;
}

static int restore(const struct options *o)
{
	const char *text = read_file(o->path);
	struct node *file, *have, *want;
	struct unavailable missing;
	struct plan plan;

	file = text ? json_parse(text, o->path) : NULL;
	if (!file || (!o->dry && configfs_open()))
		return -1;
	passthru_numbered(file);
	have = configfs_read();
	want = have ? wanted(o, have, file) : NULL;
	if (!want || find_missing(o, have, want, &missing))
		return -1;
	if (!o->force && check_no_disconnect(have, want))
		return -1;
	if (configfs_apply(have, want, o->dry, &plan))
		return -1;
	if (!o->dry) {
		if (!o->keep)
			deferred_clear();
		deferred_record(want, &missing);
		configfs_report(&plan);
		standby_report(have, want);
	}
	if (!plan.nr)
		puts("nothing to change");
	if (o->late && !o->dry)
		retry_unavailable(&missing);
	return 0;
}

static int run(int argc, char **argv)
{
	struct options o = { .path = CONFIG_FILE };
	const struct option longs[] = {
		{ "dry-run", no_argument, &o.dry, true },
		{ "force", no_argument, &o.force, true },
		{ "keep", no_argument, &o.keep, true },
		{ "without-missing", no_argument, &o.without_missing, true },
		{ "late", no_argument, &o.late, true },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c)
			return c == 'h' ? command_help(&cmd_restore) :
			       command_usage_hint(&cmd_restore);
	}
	if (argc - optind > 1) {
		error_msg("unexpected argument \"%s\" (expected one file)", argv[optind + 1]);
		return command_usage_hint(&cmd_restore);
	}
	if (argc > optind)
		o.path = argv[optind];
	return restore(&o) ? STATUS_FAILED : STATUS_OK;
}

const struct command cmd_restore = {
	"restore", run, "make the target what a file says", usage,
};
