// SPDX-License-Identifier: GPL-2.0
/* Files of the kernel and of /etc, directories, and what programs print */
#include "common/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK	4096

/* All that comes, of a length that a file of the kernel does not tell; NULL: errno */
static char *read_all(int fd)
{
	size_t have = 0, room = CHUNK;
	char *text = mem_get(room + 1);

	for (;;) {
		ssize_t n = read(fd, text + have, room - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return NULL;
		if (n == 0)
			break;
		have += n;
		if (have == room) {
			char *more = mem_get(room * 2 + 1);

			memcpy(more, text, have);
			text = more;
			room *= 2;
		}
	}
	while (have && isspace((unsigned char)text[have - 1]))
		have--;
	text[have] = 0;
	return text;
}

static char *read_path(const char *path)
{
	int fd, saved;
	char *text;

	if (!path)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = read_all(fd);
	saved = errno;
	close(fd);
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
	there = path && access(path, F_OK) == 0;
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

char *command_output(char *const argv[])
{
	int pipefd[2], status, quiet;
	char *text;
	pid_t pid;

	if (pipe2(pipefd, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (pid == 0) {
		quiet = open("/dev/null", O_RDWR);
		dup2(quiet, STDIN_FILENO);
		dup2(pipefd[1], STDOUT_FILENO);
		dup2(quiet, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipefd[1]);
	text = pid < 0 ? NULL : read_all(pipefd[0]);
	close(pipefd[0]);
	if (pid < 0)
		return NULL;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return NULL;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : NULL;
}
