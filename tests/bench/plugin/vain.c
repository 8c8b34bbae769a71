// SPDX-License-Identifier: GPL-2.0
/*
 * Looks in vain: what a task that polls does while there is nothing to do.
 *
 * A rule names two functions of such a task, the one that looks, and the one that is called
 * when it has found nothing. What its stack executes from a call of the first to a call of the
 * second, and whatever these functions call for it, was in vain. It is taken from its owners
 * and given to another one. That is known only when the second function is called, so
 * executions are noted until then. If the first one is called again before, something was found.
 * So is what the loop around them executes before it looks again, if that is little: if it is
 * more, the task has slept. Interrupts in between, and other tasks, are not part of it.
 */
#include <stddef.h>

#include "count.h"

/* Blocks: some hundred completion queues */
#define NOTES_MAX 16384
/* Those from the one function that found nothing to the other */
#define LOOP_MAX 64

static struct {
	struct stack_place place;
	unsigned int rule;
	unsigned int notes;
	bool open;
	bool nothing;		/* what is noted comes after the second function was called */
	unsigned int to;	/* the owner of what was in vain */
	struct note {
		uint64_t *count;	/* by owner */
		unsigned int owner;
	} note[NOTES_MAX];
} looks[CPUS_MAX];

/* Counting begins: notes of before would take from what is counted from now on. */
void vain_reset(void)
{
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++)
		looks[cpu].open = false;
}

static void give(unsigned int cpu)
{
	for (unsigned int i = 0; i < looks[cpu].notes; i++) {
		const struct note *note = &looks[cpu].note[i];

		note->count[note->owner]--;
		note->count[looks[cpu].to]++;
	}
}

/* What is executed from now on is noted */
static void begin(unsigned int cpu, bool nothing)
{
	looks[cpu].notes = 0;
	looks[cpu].open = true;
	looks[cpu].nothing = nothing;
}

/**
 * vain_begin() - the function that looks begins
 * @cpu: on this processor
 * @rule: of this rule
 */
void vain_begin(unsigned int cpu, unsigned int rule)
{
	if (looks[cpu].open && looks[cpu].nothing && looks[cpu].rule == rule &&
	    stack_within(cpu, &looks[cpu].place) && looks[cpu].notes <= LOOP_MAX)
		give(cpu);
	looks[cpu].place = stack_here(cpu);
	looks[cpu].rule = rule;
	begin(cpu, false);
}

/**
 * vain_note() - a block of the kernel is executed
 * @cpu: on this processor
 * @count: how often it was, by owner; with this time
 * @owner: for whom this time
 */
void vain_note(unsigned int cpu, uint64_t *count, unsigned int owner)
{
	if (!looks[cpu].open || !stack_within(cpu, &looks[cpu].place))
		return;
	if (looks[cpu].notes == NOTES_MAX) {
		looks[cpu].open = false;	/* it has found something */
		return;
	}
	looks[cpu].note[looks[cpu].notes++] = (struct note){ count, owner };
}

/**
 * vain_end() - nothing was found
 * @cpu: on this processor
 * @rule: by a function of this rule
 * @to: the owner of what was noted
 */
void vain_end(unsigned int cpu, unsigned int rule, unsigned int to)
{
	if (!looks[cpu].open || looks[cpu].nothing || looks[cpu].rule != rule ||
	    !stack_within(cpu, &looks[cpu].place))
		return;
	looks[cpu].to = to;
	give(cpu);
	begin(cpu, true);
}
