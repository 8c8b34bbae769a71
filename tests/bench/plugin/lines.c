// SPDX-License-Identifier: GPL-2.0
/*
 * Cache lines that move between processors.
 *
 * Each processor has a cache that holds everything, so that a line leaves it only because
 * another processor writes the line. A line moves if a processor touches it that has no valid
 * copy, and another one has. A line is taken if a processor writes it that has a valid copy,
 * and others have one, too, which become invalid. On hardware both wait for another core; the
 * first touch of a line after counting began does neither.
 *
 * Lines are told apart by physical address, because the kernel has several virtual ones for a
 * page. A line's last virtual address is kept for people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

#define LINE_SHIFT 6
#define LINES_MIN 65536		/* a power of 2 */

struct line {
	uint64_t number;	/* of the line, plus 1; 0: none */
	uint64_t address;
	uint64_t moves[CPUS_MAX];	/* to this processor, or taken by it */
	uint8_t valid;		/* a bit for each processor */
};

static struct line *lines;
static size_t room, used;

static struct line *slot_of(uint64_t number)
{
	size_t i = (number * 0x9e3779b97f4a7c15ull) >> 32 & (room - 1);

	while (lines[i].number && lines[i].number != number)
		i = (i + 1) & (room - 1);
	return &lines[i];
}

static void grow(void)
{
	struct line *old = lines;
	size_t had = room;

	room = had ? 2 * had : LINES_MIN;
	lines = calloc(room, sizeof(*lines));
	if (!lines) {
		complain("no memory for another cache line");
		abort();
	}
	for (size_t i = 0; i < had; i++) {
		if (old[i].number)
			*slot_of(old[i].number) = old[i];
	}
	free(old);
}

/* Forget where lines are. */
void lines_reset(void)
{
	if (lines)
		memset(lines, 0, room * sizeof(*lines));
	used = 0;
}

/* Forget what has moved, not where lines are. */
void lines_begin(void)
{
	for (size_t i = 0; i < room; i++)
		memset(lines[i].moves, 0, sizeof(lines[i].moves));
}

/**
 * lines_touch() - a processor reads or writes memory
 * @cpu: the processor
 * @physical: the address
 * @virtual: the address that the code used
 * @store: it writes
 */
enum line_event lines_touch(unsigned int cpu, uint64_t physical,
			    uint64_t virtual, bool store)
{
	uint64_t number = (physical >> LINE_SHIFT) + 1;
	enum line_event event = LINE_STAYS;
	uint8_t me = 1u << cpu;
	struct line *line;

	if (used * 2 >= room)
		grow();
	line = slot_of(number);
	if (!line->number) {
		line->number = number;
		used++;
	} else if (!(line->valid & me)) {
		event = LINE_MOVES;
	} else if (store && line->valid != me) {
		event = LINE_TAKEN;
	}
	line->valid = store ? me : line->valid | me;
	if (event != LINE_STAYS) {
		line->address = virtual >> LINE_SHIFT << LINE_SHIFT;
		line->moves[cpu]++;
	}
	return event;
}

/**
 * lines_print() - a line "line ADDRESS" with the moves to each processor, for each that moved
 * @cpus: how many processors
 * @f: where
 */
void lines_print(unsigned int cpus, FILE *f)
{
	for (size_t i = 0; i < room; i++) {
		uint64_t any = 0;

		for (unsigned int cpu = 0; cpu < cpus; cpu++)
			any |= lines[i].moves[cpu];
		if (!any)
			continue;
		fprintf(f, "line %" PRIx64, lines[i].address);
		for (unsigned int cpu = 0; cpu < cpus; cpu++)
			fprintf(f, " %" PRIu64, lines[i].moves[cpu]);
		fputc('\n', f);
	}
}
