// SPDX-License-Identifier: GPL-2.0
/* Files of the kernel and of /etc, and directories */
#include "common/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a length that a file of the kernel does not tell */
char *stream_text(FILE *file)
{
	char *text = NULL, *copy;
	size_t room = 0;
	ssize_t len = getdelim(&text, &room, 0, file);

	if (len < 0 && ferror(file)) {
		free(text);
		return NULL;
	}
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	copy = len > 0 ? mem_strn(text, len) : mem_str("");
	free(text);
	return copy;
}

static char *read_path(const char *path)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char *text = file ? stream_text(file) : NULL;
	int saved = errno;

	if (file)
		fclose(file);
	errno = saved;
	return text;
}

char *file_read(const char *fmt, ...)
{
	char *path, *text;

	FORMAT(path, fmt);
	text = read_path(path);
	free(path);
	return text;
}

uint64_t file_u64(uint64_t absent, const char *fmt, ...)
{
	char *path, *text, *end;
	uint64_t value;

	FORMAT(path, fmt);
	text = read_path(path);
	free(path);
	if (!text || !isdigit((unsigned char)*text))
		return absent;
	value = strtoull(text, &end, 0);
	return *end ? absent : value;
}

bool file_there(const char *fmt, ...)
{
	char *path;
	bool there;

	FORMAT(path, fmt);
	there = path && faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0;
	free(path);
	return there;
}

const char *text_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		if (!strncmp(text, key, len) && text[len] == ' ')
			return mem_strn(text + len + 1, strcspn(text + len + 1, "\n"));
	}
	return NULL;
}

static int without_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

struct names names_in(const char *fmt, ...)
{
	struct names names = { 0 };
	struct dirent **entries;
	char *path;
	int i, n;

	FORMAT(path, fmt);
	n = path ? scandir(path, &entries, without_dot, versionsort) : -1;
	free(path);
	if (n < 0)
		return names;
	names.name = mem_get((n + 1) * sizeof(*names.name));
	for (i = 0; i < n; i++) {
		names.name[names.nr++] = mem_str(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return names;
}

/* ---- files that are written whole or not at all ---- */

int replace_write(int fd, const char *text)
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

static int replace(const char *path, const char *text, mode_t mode, bool durable)
{
	char *temp = mem_fmt("%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC);

	if (fd < 0)
		return error_msg("%s cannot be written: %m", temp);
	if (fchmod(fd, mode) || replace_write(fd, text) || (durable && fsync(fd))) {
		error_msg("%s cannot be written: %m", temp);
		close(fd);
		unlink(temp);
		return -1;
	}
	close(fd);
	if (rename(temp, path) || (durable && sync_directory(path))) {
		error_msg("%s cannot be replaced: %m", path);
		unlink(temp);
		return -1;
	}
	return 0;
}

int replace_file(const char *path, const char *text, mode_t mode)
{
	return replace(path, text, mode, true);
}

int replace_file_unsynced(const char *path, const char *text, mode_t mode)
{
	return replace(path, text, mode, false);
}
