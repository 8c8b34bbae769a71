// SPDX-License-Identifier: GPL-2.0
/*
 * The counting plugin's parts that need no QEMU: instructions told apart, owners
 * found by rules, the shadow of the stacks, through calls, interrupts and switches of
 * context that are made up, on one processor and two, cache lines, looks in vain, and turns.
 * Prints "ok - " and "not ok - " lines.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/count.h"

#define TASK 0xffffc90000004000ull	/* a task's stack, and another one's */
#define OTHER 0xffffc90000010000ull
#define IRQ_STACK 0xffffc90000100000ull

enum { NOBODY, IRQ, HOST, DEVICE, VERBS };

static int wrong;

static void equal(const char *words, unsigned long long got,
		  unsigned long long expected)
{
	if (got == expected) {
		printf("ok - %s\n", words);
		return;
	}
	printf("not ok - %s: %llu, expected %llu\n", words, got, expected);
	wrong = 1;
}

static char complaint[512];

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(complaint, sizeof(complaint), format, args);
	va_end(args);
}

static void test_decode(void)
{
	static const struct {
		const char *words;
		uint8_t code[8];
		size_t size;
		enum kind kind;
	} some[] = {
		{ "call", { 0xe8, 1, 2, 3, 4 }, 5, KIND_CALL },
		{ "call *%rax", { 0xff, 0xd0 }, 2, KIND_CALL },
		{ "call *%r11", { 0x41, 0xff, 0xd3 }, 3, KIND_CALL },
		{ "call *8(%rax)", { 0xff, 0x50, 8 }, 3, KIND_CALL },
		{ "jmp *%rax", { 0xff, 0xe0 }, 2, KIND_OTHER },
		{ "incl (%rax)", { 0xff, 0x00 }, 2, KIND_OTHER },
		{ "ret", { 0xc3 }, 1, KIND_RETURN },
		{ "rep ret", { 0xf3, 0xc3 }, 2, KIND_RETURN },
		{ "ret $8", { 0xc2, 8, 0 }, 3, KIND_RETURN },
		{ "iretq", { 0x48, 0xcf }, 2, KIND_INTERRUPT_RETURN },
		{ "rep stosb", { 0xf3, 0xaa }, 2, KIND_STRING },
		{ "rep movsq", { 0xf3, 0x48, 0xa5 }, 3, KIND_STRING },
		{ "stosb", { 0xaa }, 1, KIND_OTHER },
		{ "a mark", { 0x0f, 0x1f, 0x84, 0, 5, 0x4b, 0x52, 0x4d }, 8,
		  KIND_MARK },
		{ "another nop", { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, 8,
		  KIND_OTHER },
		{ "prefixes alone", { 0xf3, 0x48 }, 2, KIND_OTHER },
	};
	unsigned int mark = 99;

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		equal(some[i].words, decode(some[i].code, some[i].size, &mark),
		      some[i].kind);
	equal("the mark's number", mark, 5);
}

static void test_locked(void)
{
	static const struct {
		const char *words;
		uint8_t code[8];
		size_t size;
		bool locked;
	} some[] = {
		{ "lock incl (%rax)", { 0xf0, 0xff, 0x00 }, 3, true },
		{ "lock cmpxchg %rcx,(%rdx)", { 0xf0, 0x48, 0x0f, 0xb1, 0x0a }, 5,
		  true },
		{ "lock decl %gs:(%rax)", { 0x65, 0xf0, 0xff, 0x08 }, 4, true },
		{ "xchg %rax,(%rdi)", { 0x48, 0x87, 0x07 }, 3, true },
		{ "xchg %al,8(%rdi)", { 0x86, 0x47, 8 }, 3, true },
		{ "xchg %rax,%rdi", { 0x48, 0x87, 0xc7 }, 3, false },
		{ "lock taken away", { 0x3e, 0xff, 0x00 }, 3, false },
		{ "incl (%rax)", { 0xff, 0x00 }, 2, false },
		{ "mov %rax,(%rdi)", { 0x48, 0x89, 0x07 }, 3, false },
		{ "a prefix alone", { 0x48 }, 1, false },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		equal(some[i].words, is_locked(some[i].code, some[i].size),
		      some[i].locked);
}

/* A file for the functions that read files */
static const char *file(const char *text)
{
	static char path[64];
	FILE *f;

	strcpy(path, "/tmp/bench-plugin-test.XXXXXX");
	f = fdopen(mkstemp(path), "w");
	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(path);
		exit(1);
	}
	return path;
}

static bool read_and_remove(bool (*read)(const char *path), const char *text)
{
	const char *path = file(text);
	bool good = read(path);

	unlink(path);
	return good;
}

static void test_symbols(void)
{
	static const char rules[] =
		"# a comment\n\n"
		"owner nobody yields\nowner irq yields\nowner host\n"
		"owner device yields dma\nowner verbs\n"
		"module nvme_rdma host\nmodule ib_core verbs weak\n"
		"function net_rx_action device\ninterrupt asm_sysvec_\n"
		"vain ib_post memcpy host\n"
		"vain memcpy net_rx_action device\n";
	static const char symbols[] =
		"ffffffff81000300 T net_rx_action\n"
		"ffffffff81000100 T memcpy\n"
		"ffffffff81000100 W __memcpy\n"
		"ffffffff81000200 t asm_sysvec_reboot\n"
		"ffffffff82000000 D jiffies\n"
		"0000000000001000 A fixed_percpu_data\n"
		"ffffffffc0000000 t nvme_rdma_queue_rq\t[nvme_rdma]\n"
		"ffffffffc0001000 T ib_post\t[ib_core]\n";
	static const char hidden[] = "0000000000000000 T memcpy\n";
	struct whose whose;
	bool begins;

	equal("rules", read_and_remove(rules_read, rules), true);
	equal("owners", owners, 5);
	equal("whose accesses are DMA", owner_dma[DEVICE], true);
	equal("and whose not", owner_dma[IRQ] || owner_dma[HOST], false);
	equal("a rule for nobody's owner",
	      read_and_remove(rules_read, "module x whom\n"), false);
	equal("symbols", read_and_remove(symbols_read, symbols), true);
	whose = symbols_whose(0xffffffff81000110, &begins);
	equal("memcpy() is nobody's", whose.claim, CLAIM_NOT);
	equal("and does not begin in its middle", begins, false);
	whose = symbols_whose(0xffffffff81000300, &begins);
	equal("a function of the device", whose.owner, DEVICE);
	equal("begins there", begins, true);
	equal("an entry", symbols_whose(0xffffffff81000200, &begins).claim,
	      CLAIM_INTERRUPT);
	equal("a module's", symbols_whose(0xffffffffc0000010, &begins).owner,
	      HOST);
	equal("weakly", symbols_whose(0xffffffffc0001010, &begins).claim,
	      CLAIM_WEAK);
	equal("nothing below", symbols_whose(0xffff800000000000, &begins).claim,
	      CLAIM_NOT);
	equal("an address", symbols_address("memcpy"), 0xffffffff81000100);
	equal("none", symbols_address("nothing"), 0);
	equal("a function that looks", symbols_vain(1).looks, 0xffffffff81000100);
	equal("one that has found nothing", symbols_vain(1).nothing, 0xffffffff81000300);
	equal("whose that is", symbols_vain(1).owner, DEVICE);
	equal("of another rule", symbols_vain(0).nothing, 0xffffffff81000100);
	equal("too many", read_and_remove(rules_read, "vain memcpy memcpy host\n"), false);
	equal("nobody's", read_and_remove(rules_read, "vain memcpy memcpy whom\n"), false);
	equal("hidden addresses", read_and_remove(symbols_read, hidden), false);
	equal("are named", !!strstr(complaint, "hidden"), true);
}

static const struct whose neutral = { OWNER_NONE, CLAIM_NOT };
static const struct whose host = { HOST, CLAIM_STRONG };
static const struct whose device = { DEVICE, CLAIM_STRONG };
static const struct whose verbs = { VERBS, CLAIM_WEAK };
static const struct whose entry = { IRQ, CLAIM_INTERRUPT };

/* A call of a function with the rule @whose by one of @owner. */
static unsigned int call(uint64_t slot, unsigned int owner, struct whose whose)
{
	stack_call(0, slot, owner);
	return stack_owner(0, whose, true);
}

static unsigned int back(uint64_t slot)
{
	stack_return(0, slot);
	return stack_owner(0, neutral, false);
}

static void test_calls(void)
{
	stack_reset();
	equal("a system call is nobody's", call(TASK + 0x3f00, NOBODY, neutral),
	      NOBODY);
	equal("a module is its owner's", call(TASK + 0x3e00, NOBODY, host), HOST);
	equal("memcpy() for it, too", call(TASK + 0x3d00, HOST, neutral), HOST);
	back(TASK + 0x3d00);
	equal("the core works for the host",
	      call(TASK + 0x3d00, HOST, verbs), HOST);
	equal("the device is its own", call(TASK + 0x3c00, HOST, device), DEVICE);
	equal("the core does not work for the device",
	      call(TASK + 0x3b00, DEVICE, verbs), VERBS);
	equal("back in the device", (back(TASK + 0x3b00),
				     stack_owner(0, device, false)), DEVICE);
	equal("back in the core", back(TASK + 0x3c00), HOST);
	back(TASK + 0x3d00);
	/* jmp to a function of the kernel, in place of a call and a return */
	equal("two of six calls have not returned", stack_lost(), 34);
	stack_owner(0, host, false);
	equal("a tail call", stack_owner(0, neutral, true), HOST);
	equal("its return", back(TASK + 0x3e00), NOBODY);
	call(TASK + 0x3e00, NOBODY, host);
	stack_call(0, TASK + 0x3f80, NOBODY);
	equal("a call above closes what lies below",
	      stack_owner(0, neutral, true), NOBODY);
}

static void test_interrupts(void)
{
	stack_reset();
	call(TASK + 0x3f00, NOBODY, host);
	call(TASK + 0x3e00, HOST, neutral);
	equal("an interrupt", stack_owner(0, entry, true), IRQ);
	equal("its handler", call(TASK + 0x3d00, IRQ, neutral), IRQ);
	equal("on a stack of its own", call(IRQ_STACK + 0x3f00, IRQ, device),
	      DEVICE);
	equal("and back", back(IRQ_STACK + 0x3f00), IRQ);
	back(TASK + 0x3d00);
	stack_interrupt_return(0);
	equal("what was interrupted goes on", stack_owner(0, neutral, false), HOST);
	stack_interrupt_return(0);
	equal("iret of no interrupt", stack_owner(0, neutral, false), HOST);
	stack_user(0);
	equal("an interrupt of user space", stack_owner(0, entry, true), IRQ);
	call(TASK + 0x3f00, IRQ, neutral);
	back(TASK + 0x3f00);
	equal("has its owner on any stack", stack_owner(0, neutral, false), IRQ);
	stack_user(0);
	equal("which ends with it", stack_owner(0, neutral, false), NOBODY);
}

static void test_switches(void)
{
	stack_reset();
	call(TASK + 0x3f00, NOBODY, host);
	call(TASK + 0x3e00, HOST, neutral);
	call(OTHER + 0x3f00, NOBODY, device);
	call(OTHER + 0x3e00, DEVICE, neutral);
	/* the other task's switch returns on the first one's stack */
	equal("another task", back(TASK + 0x3e00), HOST);
	equal("and the first again", back(OTHER + 0x3e00), DEVICE);
	equal("a frame that nobody opened", back(OTHER + 0x3f80), NOBODY);
	for (unsigned int i = 0; i < 5000; i++)
		call(TASK + i * 0x4000ull + 0x3f00, HOST, neutral);
	equal("thousands of stacks", stack_owner(0, neutral, false), HOST);
	stack_user(0);
	for (unsigned int i = 0; i < 1000; i++)
		call(TASK + 0x3ff0 - i * 8, DEVICE, neutral);
	equal("depth without end", stack_owner(0, neutral, false), DEVICE);
	equal("comes to one", back(TASK + 0x3ff0), NOBODY);
}

/* Two processors, 0 and 1 */
static void test_processors(void)
{
	stack_reset();
	call(TASK + 0x3f00, NOBODY, host);
	stack_call(1, OTHER + 0x3f00, NOBODY);
	equal("another processor", stack_owner(1, device, true), DEVICE);
	equal("beside the first", stack_owner(0, neutral, false), HOST);
	equal("an interrupt of the other", stack_owner(1, entry, true), IRQ);
	stack_call(1, IRQ_STACK + 0x3f00, IRQ);
	stack_return(1, IRQ_STACK + 0x3f00);
	stack_interrupt_return(1);
	equal("ends there", stack_owner(1, neutral, false), DEVICE);
	stack_user(0);
	equal("user space of the first", stack_owner(0, neutral, false), NOBODY);
	equal("is not the other's", stack_owner(1, neutral, false), DEVICE);
	stack_user(1);
	equal("but that of the other one is", stack_owner(1, neutral, false),
	      NOBODY);
	stack_call(1, OTHER + 0x3f00, NOBODY);
	stack_owner(1, device, true);
	/* the task of the first processor goes on on the other one */
	call(TASK + 0x3f00, NOBODY, host);
	call(TASK + 0x3e00, HOST, neutral);
	stack_return(1, TASK + 0x3e00);
	equal("a task that moved", stack_owner(1, neutral, false), HOST);
	stack_return(1, TASK + 0x3f00);
	equal("ends on the processor where it is",
	      stack_owner(1, device, true), DEVICE);
	stack_user(0);
	equal("and not on the one where it began",
	      stack_owner(1, neutral, false), DEVICE);
}

static void test_lines(void)
{
	const uint64_t a = 0x12340, virtual = 0xffff888000012348ull;
	char *text = NULL;
	size_t size;
	FILE *f;

	lines_reset();
	equal("a line's first touch",
	      lines_touch(0, a, virtual, true), LINE_STAYS);
	equal("a line of its own", lines_touch(0, a + 8, virtual, true),
	      LINE_STAYS);
	equal("another processor reads it",
	      lines_touch(1, a + 63 - (a & 63), virtual, false), LINE_MOVES);
	equal("and again", lines_touch(1, a, virtual, false), LINE_STAYS);
	equal("both have it", lines_touch(0, a, virtual, false), LINE_STAYS);
	equal("one writes it", lines_touch(0, a, virtual, true), LINE_TAKEN);
	equal("and has it alone", lines_touch(0, a, virtual, true), LINE_STAYS);
	equal("the other writes it", lines_touch(1, a, virtual, true), LINE_MOVES);
	equal("the next line", lines_touch(1, a + 64, virtual, true), LINE_STAYS);
	for (uint64_t i = 0; i < 200000; i++)
		lines_touch(0, 0x100000 + i * 64, virtual, true);
	equal("many lines", lines_touch(0, a, virtual, false), LINE_MOVES);
	f = open_memstream(&text, &size);
	lines_print(2, f);
	fclose(f);
	equal("what moved", strcmp(text, "line ffff888000012340 2 2\n"), 0);
	free(text);
	lines_begin();
	equal("its place is not forgotten", lines_touch(0, a, virtual, true),
	      LINE_TAKEN);
	lines_reset();
	equal("but after that", lines_touch(0, a, virtual, true), LINE_STAYS);
}

/* A block executed once by @owner */
static void executed(uint64_t *count, unsigned int owner)
{
	count[owner]++;
	vain_note(0, count, owner);
}

/* A task's rounds: its caller's frame is open, and it calls what looks */
static void test_vain(void)
{
	uint64_t look[OWNERS_MAX] = {}, irq[OWNERS_MAX] = {}, work[OWNERS_MAX] = {};

	stack_reset();
	call(TASK + 0x3f00, NOBODY, host);
	call(TASK + 0x3e00, HOST, neutral);
	vain_begin(0, 1);
	executed(look, HOST);
	call(TASK + 0x3d00, HOST, device);
	executed(look, DEVICE);
	stack_owner(0, entry, true);
	executed(irq, IRQ);
	call(IRQ_STACK + 0x3f00, IRQ, host);
	executed(irq, HOST);
	back(IRQ_STACK + 0x3f00);
	stack_interrupt_return(0);
	back(TASK + 0x3d00);
	back(TASK + 0x3e00);
	executed(look, HOST);
	call(TASK + 0x3e00, HOST, device);
	equal("before it is known", look[HOST] * 10 + look[DEVICE], 21);
	vain_end(0, 0, VERBS);
	equal("another rule's", look[VERBS], 0);
	vain_end(0, 1, VERBS);
	equal("looks in vain", look[VERBS], 3);
	equal("are no other's", look[HOST] + look[DEVICE], 0);
	equal("an interrupt is none of them", irq[IRQ] * 10 + irq[HOST], 11);
	vain_end(0, 1, VERBS);
	equal("and not twice", look[VERBS], 3);
	back(TASK + 0x3e00);

	call(TASK + 0x3e00, HOST, neutral);
	vain_begin(0, 1);
	executed(look, HOST);
	back(TASK + 0x3e00);
	executed(work, HOST);
	call(TASK + 0x3e00, HOST, neutral);
	vain_begin(0, 1);
	executed(look, HOST);
	back(TASK + 0x3e00);
	call(TASK + 0x3e00, HOST, neutral);
	vain_end(0, 1, VERBS);
	equal("something was found once, and then nothing", look[HOST] * 10 + look[VERBS], 14);
	equal("what was to be done was not in vain", work[HOST], 1);
	back(TASK + 0x3e00);
	executed(look, HOST);
	call(TASK + 0x3e00, HOST, neutral);
	vain_begin(0, 1);
	equal("the loop around a look in vain", look[HOST] * 10 + look[VERBS], 15);
	vain_end(0, 1, VERBS);
	back(TASK + 0x3e00);
	for (unsigned int i = 0; i < 1000; i++)
		executed(work, HOST);
	call(TASK + 0x3e00, HOST, neutral);
	vain_begin(0, 1);
	equal("the task has slept", work[HOST], 1001);

	vain_begin(0, 1);
	executed(look, HOST);
	vain_reset();
	vain_end(0, 1, VERBS);
	equal("counting has begun in between", look[VERBS], 5);
}

/* What turn.c wants of QEMU */
static int exits[2];

__attribute__((visibility("default"))) void *qemu_get_cpu(int index);
__attribute__((visibility("default"))) void cpu_exit(void *cpu);

void *qemu_get_cpu(int index)
{
	return &exits[index];
}

void cpu_exit(void *cpu)
{
	++*(int *)cpu;
}

static void test_turns(void)
{
	equal("QEMU's functions", turn_init(), true);
	for (unsigned int i = 0; i < 99; i++)
		turn_used(0, 5);
	equal("a turn lasts for 500 instructions", exits[0], 0);
	turn_used(0, 5);
	equal("and ends then", exits[0], 1);
	for (unsigned int i = 0; i < 200; i++) {
		turn_used(0, 300);
		turn_used(1, 300);
	}
	equal("each turn by itself", exits[0] + exits[1], 1);
	turn_used(1, 200);
	equal("the other's", exits[1], 1);
}

int main(void)
{
	test_decode();
	test_locked();
	test_symbols();
	test_calls();
	test_interrupts();
	test_switches();
	test_processors();
	test_lines();
	test_vain();
	test_turns();
	return wrong;
}
