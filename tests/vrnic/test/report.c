// SPDX-License-Identifier: GPL-2.0
/*
 * Checks and their results; the violations that a device has reported, read from the kernel's
 * log.
 */

#include <linux/kmsg_dump.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "vrnic_test.h"

#define TEXT_BYTES	SZ_256K
#define LINE_BYTES	512
#define VIOLATION	": violation: "

/* The results of the last group; only the runner of a group changes them */
static char text[TEXT_BYTES];
static size_t used;
static unsigned int passed, failed;

/* Up to where the log has been looked at */
static struct kmsg_dump_iter log_at;
static char log_line[LINE_BYTES];

static void add(const char *fmt, ...) __printf(1, 2);
static void add(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	used += vscnprintf(text + used, sizeof(text) - used, fmt, args);
	va_end(args);
}

static bool vreport(bool good, const char *result, const char *fmt, va_list args)
{
	struct va_format vaf = { .fmt = fmt };
	va_list copy;
	size_t at = used;

	va_copy(copy, args);
	vaf.va = &copy;
	if (good) {
		passed++;
		add("ok - %pV\n", &vaf);
	} else {
		failed++;
		add("not ok - %pV: %s\n", &vaf, result);
		pr_warn("vrnic_test: %s", text + at);
	}
	va_end(copy);
	return good;
}

/**
 * vt_report() - a check
 * @good: what came of it
 * @result: "expected ..., came ...", for one that failed
 * @fmt: its name
 *
 * Return: @good
 */
bool vt_report(bool good, const char *result, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vreport(good, result, fmt, args);
	va_end(args);
	return good;
}

/**
 * vt_equal() - check that two numbers are the same
 * @want: this is expected
 * @got: this came
 * @fmt: the check's name
 *
 * Return: whether they are
 */
bool vt_equal(u64 want, u64 got, const char *fmt, ...)
{
	char result[80];
	va_list args;

	snprintf(result, sizeof(result), "expected %lld, came %lld", want, got);
	va_start(args, fmt);
	vreport(want == got, result, fmt, args);
	va_end(args);
	return want == got;
}

/**
 * vt_is_status() - check a completion's status
 * @want: this is expected
 * @got: this came
 * @fmt: the check's name
 *
 * Return: whether they are the same
 */
bool vt_is_status(enum ib_wc_status want, enum ib_wc_status got,
		  const char *fmt, ...)
{
	char result[120];
	va_list args;

	snprintf(result, sizeof(result), "expected \"%s\", came \"%s\"",
		 ib_wc_status_msg(want), ib_wc_status_msg(got));
	va_start(args, fmt);
	vreport(want == got, result, fmt, args);
	va_end(args);
	return want == got;
}

/**
 * vt_at_least() - check that a number is not too small
 * @least: this is expected, or more
 * @got: this came
 * @fmt: the check's name
 *
 * Return: whether it is not
 */
bool vt_at_least(u64 least, u64 got, const char *fmt, ...)
{
	char result[80];
	va_list args;

	snprintf(result, sizeof(result), "expected %lld or more, came %lld",
		 least, got);
	va_start(args, fmt);
	vreport(got >= least, result, fmt, args);
	va_end(args);
	return got >= least;
}

/**
 * vt_at_most() - check that a number is not too large
 * @most: this is expected, or less
 * @got: this came
 * @fmt: the check's name
 *
 * Return: whether it is not
 */
bool vt_at_most(u64 most, u64 got, const char *fmt, ...)
{
	char result[80];
	va_list args;

	snprintf(result, sizeof(result), "expected %lld or less, came %lld",
		 most, got);
	va_start(args, fmt);
	vreport(got <= most, result, fmt, args);
	va_end(args);
	return got <= most;
}

/**
 * vt_tell() - a line among the results that is no check
 * @fmt: it
 */
void vt_tell(const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	add("# %pV\n", &vaf);
	va_end(args);
}

/* Return: the next line of the log that reports a violation, or NULL */
static const char *next_violation(void)
{
	const char *found;
	size_t len;

	while (kmsg_dump_get_line(&log_at, false, log_line, sizeof(log_line) - 1,
				  &len)) {
		log_line[len] = '\0';
		strim(log_line);
		found = strstr(log_line, VIOLATION);
		if (found)
			return found + strlen(VIOLATION);
	}
	return NULL;
}

/**
 * vt_violations() - check the violations that were reported since the last call
 * @n: expected number
 * @pattern: text in each of them
 * @fmt: the check's name
 *
 * Context: all violations have been reported: that is so once a completion, or the
 * failure of a call, is known.
 */
void vt_violations(unsigned int n, const char *pattern, const char *fmt, ...)
{
	char result[2 * LINE_BYTES], other[LINE_BYTES] = "";
	unsigned int fit = 0, others = 0;
	const char *line;
	va_list args;

	while ((line = next_violation())) {
		if (strstr(line, pattern))
			fit++;
		else if (!others++)
			strscpy(other, line, sizeof(other));
	}
	snprintf(result, sizeof(result),
		 "expected %u violations \"%s\", came %u and %u others %s", n,
		 pattern, fit, others, other);
	va_start(args, fmt);
	vreport(fit == n && !others, result, fmt, args);
	va_end(args);
}

/**
 * vt_report_begin() - start a group; drops earlier results
 */
void vt_report_begin(void)
{
	used = 0;
	passed = 0;
	failed = 0;
	kmsg_dump_rewind(&log_at);
	while (next_violation())
		;
}

/**
 * vt_report_test_end() - a test has ended
 * @name: it
 */
void vt_report_test_end(const char *name)
{
	vt_violations(0, "no", "%s: no violation that was not expected", name);
}

/**
 * vt_report_end() - a group has ended
 */
void vt_report_end(void)
{
	add("%u passed, %u failed\n", passed, failed);
}

/**
 * vt_report_show() - the results
 * @s: where
 */
void vt_report_show(struct seq_file *s)
{
	seq_write(s, text, used);
}
