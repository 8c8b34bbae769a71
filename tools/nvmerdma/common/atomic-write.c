// SPDX-License-Identifier: GPL-2.0
/* Files that are written whole or not at all */
#include "common/util.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int replace_file(const char *path, const char *text)
{
	char *temp = mem_fmt("%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC);

	if (fd < 0)
		return error_msg("%s cannot be written: %m", temp);
	if (replace_write(fd, text) || fsync(fd)) {
		error_msg("%s cannot be written: %m", temp);
		close(fd);
		unlink(temp);
		return -1;
	}
	close(fd);
	if (rename(temp, path) || sync_directory(path)) {
		error_msg("%s cannot be replaced: %m", path);
		unlink(temp);
		return -1;
	}
	return 0;
}
