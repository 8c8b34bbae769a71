// SPDX-License-Identifier: GPL-2.0
/* Words for people, and numbers of theirs */
#include "common/util.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int nr_complaints;

static void say(const char *prefix, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "nvmerdma: %s", prefix);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int error_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
	nr_complaints++;
	return -1;
}

void note_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("note: ", fmt, ap);
	va_end(ap);
}

unsigned int error_count(void)
{
	return nr_complaints;
}

const char *count_words(uint64_t n, const char *noun)
{
	return mem_fmt("%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

const char *safe_words(const char *words)
{
	char *text = mem_str(words && *words ? words : "-"), *c;

	for (c = text; *c; c++) {
		if (iscntrl((unsigned char)*c) || (unsigned char)*c >= 0x80)
			*c = '?';
	}
	return text;
}

const char *word_for_shell(const char *word)
{
	static const char plain[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:_-/@%+,=";
	const char *quoted = "'", *end;

	if (*word && !word[strspn(word, plain)])
		return word;
	for (; *(end = word + strcspn(word, "'")); word = end + 1)
		quoted = mem_fmt("%s%.*s'\\''", quoted, (int)(end - word), word);
	return mem_fmt("%s%s'", quoted, word);
}

bool word_in(const char * const *list, const char *word)
{
	for (; *list; list++) {
		if (!strcmp(*list, word))
			return true;
	}
	return false;
}

const char *size_words(uint64_t bytes)
{
	static const char * const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = bytes;
	unsigned int i = 0;

	for (; value >= 1024 && i < NR(units) - 1; i++)
		value /= 1024;
	return mem_fmt(i ? "%.1f %s" : "%.0f %s", value, units[i]);
}

bool words_are_news(char *last, size_t size, const char *words)
{
	if (!strncmp(last, words, size - 1))
		return false;
	snprintf(last, size, "%s", words);
	return true;
}

int number_option(const char *option, const char *text, unsigned long min, unsigned long max,
		  unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || *value < min || *value > max)
		return error_msg("%s: invalid value \"%s\" (expected %lu to %lu)", option,
				 text, min, max);
	return 0;
}
