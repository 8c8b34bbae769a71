/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counting plugin's parts:
 *
 *   count.c    translation, execution, phases, output
 *   stack.c    owners of running code: a shadow of the call stacks
 *   turn.c     processors take turns
 *   lines.c    cache lines that move between processors
 *   vain.c     looks of a task that polls, which found nothing
 *   symbols.c  the guest's symbols, and the rules that assign owners
 *   decode.c   the few instructions that matter by themselves
 */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * An owner is the part of the system for which an instruction is executed. Number 0 is none,
 * number 1 interrupts; the file of rules names the others.
 */
#define OWNERS_MAX 16
#define OWNER_NONE 0
#define OWNER_IRQ 1

/* Processors, which one thread of QEMU runs in turns (-icount) */
#define CPUS_MAX 4

/* How a symbol's owner comes to its right. */
enum claim {
	CLAIM_NOT,		/* it works for its caller */
	CLAIM_WEAK,		/* as above, if that is a strong owner */
	CLAIM_STRONG,		/* it and its callees belong to its owner */
	CLAIM_INTERRUPT,	/* an interrupt or exception enters here */
};

/* The guest's kernel has the upper half of the address space. */
static inline bool in_kernel(uint64_t address)
{
	return address >> 63;
}

/* decode.c */
enum kind {
	KIND_OTHER,
	KIND_CALL,
	KIND_RETURN,
	KIND_INTERRUPT_RETURN,
	KIND_STRING,	/* rep movs and the like */
	KIND_MARK,
};

/* A nop that no program contains by accident: nopl MARK_BASE+n(%rax,%rax,1). */
#define MARK_BASE 0x4d524b00u
/* n: 0 to 15 are half a byte of a command; this one marks its end. */
#define MARK_GO 16

enum kind decode(const uint8_t *code, size_t size, unsigned int *mark);
bool is_locked(const uint8_t *code, size_t size);

/* symbols.c */
struct whose {
	uint8_t owner;
	uint8_t claim;
};

extern unsigned int owners;
extern bool owner_yields[OWNERS_MAX];	/* to a weak claim */
extern bool owner_dma[OWNERS_MAX];	/* its accesses are a device's own */

/* Functions of a task that polls, 0 if the guest has none, and whose its looks in vain are */
struct vain {
	uint64_t looks, nothing;
	unsigned int owner;
};

#define VAINS_MAX 2

struct vain symbols_vain(unsigned int n);
bool rules_read(const char *path);
bool symbols_read(const char *path);
struct whose symbols_whose(uint64_t address, bool *begins);
uint64_t symbols_address(const char *name);

/* stack.c */
struct stack_place {
	const struct stack *stack;
	unsigned int depth;
};

struct stack_place stack_here(unsigned int cpu);
bool stack_within(unsigned int cpu, const struct stack_place *place);
void stack_reset(void);
void stack_user(unsigned int cpu);
unsigned int stack_caller(unsigned int cpu);
unsigned int stack_owner(unsigned int cpu, struct whose whose, bool begins);
void stack_call(unsigned int cpu, uint64_t slot, unsigned int owner);
void stack_return(unsigned int cpu, uint64_t slot);
void stack_interrupt_return(unsigned int cpu);
unsigned int stack_lost(void);

/* turn.c */
bool turn_init(void);
void turn_used(unsigned int cpu, unsigned int instructions);
void turn_check_thread(void);

/* lines.c */
enum line_event {
	LINE_STAYS,
	LINE_MOVES,		/* from another processor's cache */
	LINE_TAKEN,		/* other processors' copies become invalid */
};

void lines_reset(void);
void lines_begin(void);
enum line_event lines_touch(unsigned int cpu, uint64_t physical,
			    uint64_t virtual, bool store);
void lines_print(unsigned int cpus, FILE *f);

/* vain.c */
void vain_reset(void);
void vain_begin(unsigned int cpu, unsigned int rule);
void vain_note(unsigned int cpu, uint64_t *count, unsigned int owner);
void vain_end(unsigned int cpu, unsigned int rule, unsigned int to);

/* count.c */
__attribute__((format(printf, 1, 2)))
void complain(const char *format, ...);

#endif /* BENCH_COUNT_H */
