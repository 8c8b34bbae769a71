// SPDX-License-Identifier: GPL-2.0
/* What is shown of a row, in numbers and in words */
#include "stat/stat.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Of a longer name the end is shown, which tells one NQN from another */
#define NAME_LEN	20

static double per_second(const struct stat_row *row, enum work_kind kind)
{
	return row->seconds > 0 ? row->work.n[kind] / row->seconds : NAN;
}

/* Of a thread, in a second */
static double thread_rate(const struct stat_row *row, enum thread_work work)
{
	return row->thread && row->seconds > 0 ? row->thread->delta[work] / row->seconds : NAN;
}

double column_value(const struct stat_row *row, enum stat_column column)
{
	switch (column) {
	case COL_IOPS:
		return per_second(row, WORK_COMMANDS);
	case COL_READ:
		return per_second(row, WORK_READ);
	case COL_WRITE:
		return per_second(row, WORK_WRITTEN);
	case COL_WAITS:
		return per_second(row, WORK_WAITS);
	case COL_P50:
		return percentile_us(row->work.hist, 0.50);
	case COL_P99:
		return percentile_us(row->work.hist, 0.99);
	case COL_FLIGHT:
		return row->in_flight;
	case COL_ENDS:
		return row->has_ends ? (double)row->ends : NAN;
	case COL_ERRORS:
		return row->errors;
	case COL_RETRIES:
		return row->retries_known && row->seconds > 0 ?
		       row->retries_delta / row->seconds : NAN;
	case COL_CREDITS:	/* the part that is in use */
		return row->slots ? 1 - (double)row->slots_free / row->slots : NAN;
	case COL_CPU:		/* nanoseconds of a second, in percent */
		return thread_rate(row, THREAD_CPU) / 1e7;
	case COL_SPUN:
		return thread_rate(row, THREAD_SPUN) / 1e7;
	case COL_ROUNDS:
		return thread_rate(row, THREAD_ROUNDS);
	case COL_SLEEPS:
		return thread_rate(row, THREAD_SLEEPS);
	case COL_INTERRUPTS:
		return thread_rate(row, THREAD_INTERRUPTS);
	case COL_ABSENCES:
		return thread_rate(row, THREAD_ABSENCES);
	default:
		return NAN;
	}
}

static const char *rate_text(double rate)
{
	return mem_fmt(rate > 0 && rate < 9.95 ? "%.1f" : "%.0f", rate);
}

static const char *mega_text(double bytes)
{
	return mem_fmt("%.1f", bytes / 1e6);
}

static const char *count_text(double count)
{
	return mem_fmt("%.0f", count);
}

static const char *percent_text(double percent)
{
	return mem_fmt("%.1f%%", percent);
}

static const char *time_text(double us)
{
	if (us < 999.5)
		return mem_fmt("%.0fus", us);
	if (us < 9995)
		return mem_fmt("%.2fms", us / 1e3);
	if (us < 999500)
		return mem_fmt("%.0fms", us / 1e3);
	return mem_fmt("%.2fs", us / 1e6);
}

static const char *name_text(const char *name)
{
	size_t len = strlen(name);

	if (len > NAME_LEN)
		name = mem_fmt("~%s", name + len - NAME_LEN + 1);
	return safe_words(name);
}

static const struct {
	const char *name;	/* for --sort, if it can be sorted by */
	const char *title;
	int width;
	const char *(*text)(double value);
} columns[NR_COLUMNS] = {
	[COL_NAME]	= { "name",	NULL,		-NAME_LEN, NULL },
	[COL_STATE]	= { NULL,	"STATE",	-9,	NULL },
	[COL_IOPS]	= { "iops",	"IOPS",		7,	rate_text },
	[COL_READ]	= { "read",	"RD_MB/s",	7,	mega_text },
	[COL_WRITE]	= { "write",	"WR_MB/s",	7,	mega_text },
	[COL_P50]	= { "p50",	"P50",		6,	time_text },
	[COL_P99]	= { "p99",	"P99",		6,	time_text },
	[COL_FLIGHT]	= { "inflight",	"INFL",		5,	count_text },
	[COL_ENDS]	= { "reconnects", NULL,		5,	count_text },
	[COL_ERRORS]	= { "errors",	"ERRS",		5,	count_text },
	[COL_RETRIES]	= { "retries",	"RETR/s",	6,	rate_text },
	[COL_WAITS]	= { "waits",	"WAIT/s",	6,	rate_text },
	[COL_CREDITS]	= { "credits",	"CREDITS",	11,	NULL },
	[COL_ADDRESS]	= { NULL,	"ADDRESS",	-21,	NULL },
	[COL_NQN]	= { NULL,	NULL,		0,	NULL },
	[COL_CPU]	= { "cpu",	"CPU",		7,	percent_text },
	[COL_SPUN]	= { "spun",	"SPUN",		7,	percent_text },
	[COL_ROUNDS]	= { "rounds",	"ROUND/s",	8,	rate_text },
	[COL_SLEEPS]	= { "sleeps",	"SLEEP/s",	8,	rate_text },
	[COL_INTERRUPTS] = { "interrupts", "IRQ/s",	7,	rate_text },
	[COL_ABSENCES]	= { "absences",	"AWAY/s",	7,	rate_text },
};

const char *column_text(const struct stat_row *row, enum stat_column column)
{
	double value = column_value(row, column);

	switch (column) {
	case COL_NAME:
		return name_text(row->name);
	case COL_STATE:
		return safe_words(row->state);
	case COL_ADDRESS:
		return safe_words(row->address);
	case COL_NQN:
		return safe_words(row->nqn);
	case COL_CREDITS:
		return mem_fmt("%" PRIu64 "/%" PRIu64, row->slots_free, row->slots);
	case COL_FLIGHT:
		if (!row->in_flight_exact)
			return mem_fmt("<=%" PRIu64, row->in_flight);
		break;
	default:
		break;
	}
	return isnan(value) ? "-" : columns[column].text(value);
}

const char *column_title(enum stat_column column, enum side side, enum stat_by by)
{
	static const char * const names[NR_BY] = {
		[BY_CONTROLLER] = "CONTROLLER", [BY_QUEUE] = "QUEUE", [BY_HOST] = "HOST",
		[BY_PORT] = "PORT", [BY_THREAD] = "THREAD",
	};

	switch (column) {
	case COL_NAME:
		return names[by];
	case COL_ENDS:
		return side == SIDE_HOST ? "RECON" : "ENDED";
	case COL_NQN:
		return side == SIDE_HOST ? "SUBSYSTEM" : "HOST_NQN";
	default:
		return columns[column].title;
	}
}

int column_width(enum stat_column column)
{
	return columns[column].width;
}

enum stat_column column_named(const char *name)
{
	enum stat_column column = 0;

	while (column < NR_COLUMNS && (!columns[column].name || strcmp(columns[column].name, name)))
		column++;
	return column;
}

bool column_is_of(enum stat_column column, enum stat_by by)
{
	if (column == COL_NAME || column == COL_STATE)
		return true;
	return (column >= COL_CPU) == (by == BY_THREAD);
}

const char *column_names(enum stat_by by)
{
	const char *names = NULL;
	enum stat_column column;

	for (column = 0; column < NR_COLUMNS; column++) {
		if (columns[column].name && column_is_of(column, by))
			names = names ? mem_fmt("%s, %s", names, columns[column].name) :
				columns[column].name;
	}
	return names;
}
