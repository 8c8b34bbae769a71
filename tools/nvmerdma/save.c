// SPDX-License-Identifier: GPL-2.0
/* nvmerdma save: the configuration, to a file that nvmetcli reads, too */
#include "save.h"

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

#include "configfs.h"
#include "json.h"
#include "lowered.h"
#include "missing.h"
#include "nvmerdma.h"

static const char usage[] =
"[FILE|-] [--dry-run]\n"
"\n"
"Writes what this machine exports to FILE, or - to print it; by default to\n"
CONFIG_FILE ", which is restored at boot (systemctl enable nvmerdma-restore).\n"
"The file is the one of nvmetcli. It may hold keys, and only root can read it.\n"
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

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		left -= n;
	}
	return 0;
}

/* The new name is on the disk, too, when this returns */
static int sync_directory(const char *path)
{
	int fd = open(dirname(mem_str(path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -1;
	err = fsync(fd);
	close(fd);
	return err;
}

/* A file in whose place another one comes; @path is what no symbolic link leads to */
static int replace_file(const char *path, const char *text)
{
	char *temp = mem_fmt("%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC);	/* which only its owner can read */

	if (fd < 0)
		return complain("%s cannot be written: %m", temp);
	if (write_all(fd, text) || fsync(fd)) {
		complain("%s cannot be written: %m", temp);
		close(fd);
		unlink(temp);
		return -1;
	}
	close(fd);
	if (rename(temp, path) || sync_directory(path)) {
		complain("%s cannot be replaced: %m", path);
		unlink(temp);
		return -1;
	}
	return 0;
}

/* A device or a pipe: /dev/stdout */
static int write_into(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return complain("%s cannot be written: %m", path);
	err = write_all(fd, text) ? complain("%s cannot be written: %m", path) : 0;
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
			return complain("%s is a symbolic link that leads nowhere: %m", path);
		path = real;
	} else if (mkdir(dir, 0755) && errno != EEXIST) {
		return complain("the directory %s cannot be made: %m", dir);
	}
	return replace_file(path, text);
}

/*
 * What is disabled only because its disk is not there is to be exported at the next boot as
 * before: it stays enabled in what is saved.
 */
static void keep_missing(struct node *root, const struct node *kept)
{
	struct missing missing = missing_in(root, kept);
	size_t i;

	for (i = 0; i < missing.nr; i++) {
		if (missing_enable(root, missing.node[i]))
			warn("%s is saved as enabled, as it was: %s", node_words(missing.node[i]),
			     missing_why(missing.node[i]));
	}
}

/* What was restored and could not be done, or not as much of it; a broken file is said */
static void keep_wishes(struct node *root)
{
	const char *text = file_read(CONFIG_FILE);
	const struct node *kept = text ? json_parse(text, CONFIG_FILE " as it was") : NULL;

	if (!kept)
		return;
	keep_missing(root, kept);
	lowered_keep(root, kept);
}

int save_config(const char *path)
{
	struct node *root;

	if (!configfs_there())
		return complain("nothing is configured, the module nvmet is not loaded: %s is left as it is",
				path);
	if (geteuid() == 0 && configfs_lock())
		return -1;
	root = configfs_read();
	if (!root)
		return -1;
	lowered_keep(root, configfs_asked());
	keep_wishes(root);
	if (!strcmp(path, "-")) {
		fputs(as_text(root), stdout);
		return 0;
	}
	if (save_to(path, as_text(root)))
		return -1;
	printf("%s: %s, %s\n", path, word_for(node_count(root, &shape_subsys), "subsystem"),
	       word_for(node_count(root, &shape_port), "port"));
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

	while ((c = getopt_long(argc, argv, "nh", longs, NULL)) != -1) {
		if (c == 'h')
			return command_help(&cmd_save);
		if (c != 'n')
			return command_misused(&cmd_save);
		path = "-";
	}
	if (argc - optind > 1) {
		complain("one file at most");
		return command_misused(&cmd_save);
	}
	if (argc > optind && strcmp(path, "-"))
		path = argv[optind];
	return save_config(path) ? STATUS_FAILED : STATUS_OK;
}

const struct command cmd_save = {
	"save", run, "write what is exported to a file", usage,
};
