// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of the guest's running kernel code, by a shadow of its call stacks.
 *
 * A function without an owner (memcpy, the slab allocator, IP) works for its caller. Plugins
 * of QEMU 7.2 cannot read registers, but they see where a call stores its return address, and
 * where a return reads one. So each call opens a frame named by that slot, which starts with
 * the caller's owner; code that has an owner itself makes the frame its own; and a return
 * closes the frame of the slot that it reads, with all frames below it.
 *
 * The kernel's stacks are 16 KiB, aligned to that (THREAD_SIZE; the stacks of interrupts as
 * well), so that the slot's address identifies the stack. Thus a context switch needs no
 * special case: the first return after it reads a slot of the other stack. Errors (a stack
 * with a new task, a frame opened before counting started) correct themselves: a call at a
 * slot closes the frames at or below it, and a return without a frame leaves the stack empty.
 *
 * An interrupt of the kernel has no call. Its entry opens a frame just below the current one,
 * which iret closes.
 */
#include <string.h>

#include "count.h"

#define STACK_SHIFT 14
#define STACKS 4096		/* a power of 2; tasks at one time */
#define FRAMES 192		/* deeper calls work for the last one's owner */

struct frame {
	uint64_t slot;
	struct stack *before;	/* current when this frame was opened */
	uint8_t owner;
	bool interrupt;
};

struct stack {
	uint64_t number;	/* 0: none */
	unsigned int depth;	/* of the current frame */
	struct frame frame[FRAMES];
};

/* A task's stack stays its own when the task moves to another processor. */
static struct stack stacks[STACKS];
/* Of each processor: the owner until the first call after an entry determines it. */
static struct stack entry[CPUS_MAX];
static struct stack *current[CPUS_MAX];
/* Since counting began: calls, and returns that read the slot of one */
static uint64_t calls, returns;

/* The processor's kernel stack is empty. */
static void enter(unsigned int cpu)
{
	entry[cpu].depth = 0;
	entry[cpu].frame[0] = (struct frame){ .slot = ~0ull };
	current[cpu] = &entry[cpu];
}

/* Forget all stacks; in use are some hundreds. */
static void forget(void)
{
	for (unsigned int i = 0; i < STACKS; i++)
		stacks[i].number = 0;
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++)
		enter(cpu);
}

static struct stack *find(uint64_t slot)
{
	uint64_t number = slot >> STACK_SHIFT;
	unsigned int i = (number * 0x9e3779b97f4a7c15ull) >> 52;
	unsigned int n;

	for (n = 0; stacks[i].number != number; i = (i + 1) % STACKS) {
		if (!stacks[i].number)
			break;
		if (++n == STACKS / 2) {
			forget();
			return find(slot);
		}
	}
	if (stacks[i].number != number) {
		stacks[i].number = number;
		stacks[i].depth = 0;
		stacks[i].frame[0] = (struct frame){ .slot = ~0ull };
	}
	return &stacks[i];
}

static struct frame *top(unsigned int cpu)
{
	return &current[cpu]->frame[current[cpu]->depth];
}

static void push(unsigned int cpu, struct stack *on, uint64_t slot,
		 unsigned int owner, bool interrupt)
{
	struct frame *frame;

	if (on->depth + 1 < FRAMES)
		on->depth++;
	frame = &on->frame[on->depth];
	frame->slot = slot;
	frame->owner = owner;
	frame->interrupt = interrupt;
	frame->before = current[cpu];
	current[cpu] = on;
}

/*
 * The stack that a frame was opened from. A task that has moved since then, and began in
 * user space, ends in the entry of the processor where it is now.
 */
static struct stack *before(unsigned int cpu, const struct frame *frame)
{
	for (unsigned int i = 0; i < CPUS_MAX; i++) {
		if (frame->before == &entry[i])
			return &entry[cpu];
	}
	return frame->before;
}

/* Counting begins. */
void stack_reset(void)
{
	calls = 0;
	returns = 0;
	forget();
}

/* User space runs, so that the kernel's stack of this task is empty. */
void stack_user(unsigned int cpu)
{
	enter(cpu);
}

/* Where a function that starts now was called, or rather its caller's frame. */
struct stack_place stack_here(unsigned int cpu)
{
	unsigned int depth = current[cpu]->depth;

	return (struct stack_place){ current[cpu], depth ? depth - 1 : 0 };
}

/* Does that caller run on this processor, or what it has called? An interrupt is neither. */
bool stack_within(unsigned int cpu, const struct stack_place *place)
{
	const struct stack *on = current[cpu];

	if (on != place->stack || on->depth < place->depth)
		return false;
	for (unsigned int i = place->depth + 1; i <= on->depth; i++) {
		if (on->frame[i].interrupt)
			return false;
	}
	return true;
}

/* The owner of the caller of a function that starts now. */
unsigned int stack_caller(unsigned int cpu)
{
	return top(cpu)->owner;
}

/**
 * stack_owner() - the owner of the execution of a kernel block
 * @cpu: the processor that executes it
 * @whose: the owner of the block's function
 * @begins: the block is the start of that function
 */
unsigned int stack_owner(unsigned int cpu, struct whose whose, bool begins)
{
	switch (whose.claim) {
	case CLAIM_STRONG:
		top(cpu)->owner = whose.owner;
		break;
	case CLAIM_WEAK:
		if (owner_yields[top(cpu)->owner])
			top(cpu)->owner = whose.owner;
		break;
	case CLAIM_INTERRUPT:
		if (begins)
			push(cpu, current[cpu], top(cpu)->slot - 1,
			     whose.owner, true);
		break;
	default:
		break;
	}
	return top(cpu)->owner;
}

/**
 * stack_call() - a call has stored its return address
 * @cpu: the processor
 * @slot: its address
 * @owner: the caller's owner
 */
void stack_call(unsigned int cpu, uint64_t slot, unsigned int owner)
{
	struct stack *on = find(slot);

	while (on->frame[on->depth].slot <= slot)
		on->depth--;
	push(cpu, on, slot, owner, false);
	calls++;
}

/**
 * stack_return() - a return has read the address to return to
 * @cpu: the processor
 * @slot: where
 */
void stack_return(unsigned int cpu, uint64_t slot)
{
	struct stack *on = find(slot);
	struct frame *frame;

	while (on->frame[on->depth].slot < slot)
		on->depth--;
	current[cpu] = on;
	frame = top(cpu);
	if (frame->slot == slot) {
		returns++;
		on->depth--;
		/* An interrupt's own stack is left with its last frame. */
		if (!on->depth)
			current[cpu] = before(cpu, frame);
	}
	if (!on->depth)
		on->frame[0].owner = OWNER_NONE;
}

/* iret: return to the interrupted code, if it was the kernel. */
void stack_interrupt_return(unsigned int cpu)
{
	struct stack *on = current[cpu];
	unsigned int depth = on->depth;

	while (depth && !on->frame[depth].interrupt)
		depth--;
	if (depth)
		on->depth = depth - 1;
}

/* How many in a hundred calls since counting began were not seen to return */
unsigned int stack_lost(void)
{
	return calls ? 100 - 100 * returns / calls : 0;
}
