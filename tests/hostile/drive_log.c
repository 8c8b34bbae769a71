// SPDX-License-Identifier: GPL-2.0
/* The kernel's log from /dev/kmsg, one case at a time */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "drive.h"

#define LOG_LEN		(256 << 10)
#define RECORD_LEN	8192

static int reader = -1, writer = -1;
static char text[LOG_LEN];
static size_t used;

void log_open(void)
{
	reader = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	writer = open("/dev/kmsg", O_WRONLY);
	if (reader < 0 || writer < 0 || lseek(reader, 0, SEEK_END) < 0)
		die("no /dev/kmsg");
}

/* "priority,number,time,flags;words\n continued"; ours are those of nvme */
static void keep(char *record)
{
	char *words = strchr(record, ';');
	size_t len;

	if (!words)
		return;
	words[strcspn(words, "\n")] = 0;
	len = strlen(++words);
	if (!strstr(words, "nvme") || used + len + 2 > sizeof(text))
		return;
	memcpy(text + used, words, len);
	used += len;
	text[used++] = '\n';
	text[used] = 0;
}

static void look(void)
{
	char record[RECORD_LEN];
	ssize_t n;

	for (;;) {
		n = read(reader, record, sizeof(record) - 1);
		/* EPIPE: some lines are lost, continue after them */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		record[n] = 0;
		keep(record);
	}
}

void log_begin(const char *words)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "<6>test: == %s\n", words);

	look();
	used = 0;
	text[0] = 0;
	if (n > 0 && write(writer, line, (size_t)n) < 0)
		die("cannot write to the kernel's log");
}

static int find(const char *regex, char *line, size_t len)
{
	char *at, *end;
	regex_t compiled;
	int count = 0;

	look();
	if (regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB)) {
		errno = EINVAL;
		die("'%s' is no regular expression", regex);
	}
	for (at = text; (end = strchr(at, '\n')); at = end + 1) {
		*end = 0;
		if (!strstr(at, "test: ==") && !regexec(&compiled, at, 0, NULL, 0) &&
		    !count++ && line)
			snprintf(line, len, "%s", at);
		*end = '\n';
	}
	regfree(&compiled);
	return count;
}

bool log_said(const char *regex, char *line, size_t len)
{
	return find(regex, line, len) > 0;
}

int log_count(const char *regex)
{
	return find(regex, NULL, 0);
}
