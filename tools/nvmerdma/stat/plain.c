// SPDX-License-Identifier: GPL-2.0
/* Plain rows: a line each, with the time in front, and a header every so often */
#include "stat/stat.h"

#include <stdio.h>

#define LINES_PER_HEADER	24

static void print_field(const char *text, enum stat_column column)
{
	int width = column_width(column);

	if (!width)
		printf(" %s", text);
	else
		printf(" %*s", width, text);
}

static void print_header(const struct stat_row *row)
{
	enum stat_column column;

	printf("%-8s", "TIME");
	for (column = 0; column < NR_COLUMNS; column++) {
		if (column_is_of(column, row->by))
			print_field(column_title(column, row->side, row->by), column);
	}
	putchar('\n');
}

void plain_print(struct plain_state *state, const struct sample *sample,
		 const struct stat_rows *rows)
{
	enum stat_column column;
	char when[sizeof("hh:mm:ss")] = "-";
	struct tm tm;
	size_t i;

	if (localtime_r(&sample->time.tv_sec, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	for (i = 0; i < rows->nr; i++) {
		const struct stat_row *row = &rows->list[i];

		if (!state->lines || state->side != row->side || state->by != row->by) {
			print_header(row);
			state->lines = LINES_PER_HEADER;
		}
		state->side = row->side;
		state->by = row->by;
		state->lines--;
		printf("%-8s", when);
		for (column = 0; column < NR_COLUMNS; column++) {
			if (column_is_of(column, row->by))
				print_field(column_text(row, column), column);
		}
		putchar('\n');
	}
}
