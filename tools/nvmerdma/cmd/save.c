// SPDX-License-Identifier: GPL-2.0
/* nvmerdma save: the configuration, to a file that nvmetcli reads, too */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "config/config.h"
#include "disk/disk.h"
#include "restore/restore.h"
#include "config/plan.h"
#include "common/util.h"

static const char usage[] =
"[FILE|-] [--dry-run]\n"
"\n"
"Writes what this machine exports to FILE, or - to print it; by default to\n"
CONFIG_FILE ", which is restored at boot (systemctl enable nvmerdma-restore).\n"
"The file is the one of nvmetcli. It may hold keys, and only root can read it. If what\n"
"it has is not configured any more, it is kept as " CONFIG_FILE_OLD ".\n"
"\n"
"  --dry-run    print what would be written, and write nothing\n";

static const char *as_text(const struct node *root)
{
	struct json_object *obj = json_of(root);
	const char *text;

	text = mem_fmt("%s\n", json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PRETTY |
						JSON_C_TO_STRING_SPACED |
						JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
	return text;
}

/* A device or a pipe: /dev/stdout */
static int write_into(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return error_msg("%s cannot be written: %m", path);
	err = replace_write(fd, text) ? error_msg("%s cannot be written: %m", path) : 0;
	close(fd);
	return err;
}

static int save_to(const char *path, const char *text)
{
	const char *dir = dirname(mem_str(path));
	char real[PATH_MAX];
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_into(path, text);
	if (!lstat(path, &st) && S_ISLNK(st.st_mode)) {
		if (!realpath(path, real))
			return error_msg("%s is a symbolic link that leads nowhere: %m", path);
		path = real;
	} else if (mkdir(dir, 0755) && errno != EEXIST) {
		return error_msg("the directory %s cannot be made: %m", dir);
	}
	return replace_file(path, text, 0600);
}

/* None is written over: it may be what has rescued all that there was */
static const char *name_for_old(void)
{
	const char *name = CONFIG_FILE_OLD;
	unsigned int nr;

	for (nr = 1; file_there("%s", name); nr++)
		name = mem_fmt(CONFIG_FILE_OLD ".%u", nr);
	return name;
}

/*
 * What the file has and the target has not, and this run did not take away, somebody else has
 * taken away, or it was never restored, be it for a typing error. Then the file is kept, by
 * another name.
 */
static int keep_old(const char *text, const struct node *kept, const struct node *root,
		    const struct node *had)
{
	const char *lost = kept ? describe_lost(kept, root, had) : NULL, *old;

	if (kept && !lost)
		return 0;
	old = name_for_old();
	if (replace_file(old, mem_fmt("%s\n", text), 0600))
		return error_msg(CONFIG_FILE " has what is not configured now; it was not replaced");
	if (lost)
		note_msg("%s had %s that are not configured now: it is kept as %s", CONFIG_FILE,
			 lost, old);
	else
		note_msg("%s cannot be read: it is kept as %s", CONFIG_FILE, old);
	return 0;
}

/* ---- save ---- */

/* What the target's configuration is to be written as; NULL: it was said */
static struct node *as_wished(const struct node *asked, const struct node *kept)
{
	struct node *root = configfs_read();

	if (!root)
		return NULL;
	keep_requested_values(root, asked);
	keep_deferred(root, kept);
	if (kept)
		keep_requested_values(root, kept);
	passthru_numbered(root);
	identity_unknown(root);
	return root;
}

static bool is_config_file(const char *path)
{
	struct place a, b;

	return !strcmp(path, CONFIG_FILE) ||
	       (!place_of(path, &a) && !place_of(CONFIG_FILE, &b) && place_same(&a, &b));
}

int save_config(const char *path, const struct node *had, const struct node *asked)
{
	struct node *root, *kept = NULL;
	const char *text;

	if (!configfs_there())
		return error_msg("nothing is configured, the module nvmet is not loaded%s",
				 strcmp(path, "-") ? mem_fmt(": %s is left as it is", path) : "");
	if (geteuid() == 0 && configfs_lock())
		return -1;
	text = file_read(CONFIG_FILE);
	if (!text && errno != ENOENT && is_config_file(path))
		return error_msg(CONFIG_FILE " cannot be read, and is left as it is: %m");
	if (text)		/* what is wrong with it is said */
		kept = json_parse(text, CONFIG_FILE " as it was");
	root = as_wished(asked, kept);
	if (!root)
		return -1;
	if (!strcmp(path, "-")) {
		fputs(as_text(root), stdout);
		return 0;
	}
	if (text && is_config_file(path) && keep_old(text, kept, root, had ?: root))
		return -1;
	if (save_to(path, as_text(root)))
		return -1;
	printf("%s: %s, %s\n", path, count_words(node_count(root, &schema_subsys), "subsystem"),
	       count_words(node_count(root, &schema_port), "port"));
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dry-run", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *path = CONFIG_FILE;
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h')
			return command_help(&cmd_save);
		if (c != 'n')
			return command_usage_hint(&cmd_save);
		path = "-";
	}
	if (argc - optind > 1) {
		error_msg("unexpected argument \"%s\" (expected one file)", argv[optind + 1]);
		return command_usage_hint(&cmd_save);
	}
	if (argc > optind && strcmp(path, "-"))
		path = argv[optind];
	return save_config(path, NULL, NULL) ? STATUS_FAILED : STATUS_OK;
}

const struct command cmd_save = {
	"save", run, "write what is exported to a file", usage,
};
