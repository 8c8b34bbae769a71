// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU (TCG) that counts the instructions that a guest executes, by code block
 * and by owner.
 *
 *   -plugin count.so,out=DIRECTORY,rules=FILE[,cpus=N][,lines=yes]
 *
 * QEMU translates a guest's code block by block; the instructions of a block are executed
 * together, unless one of them faults. So a count for each block is enough. For blocks at the
 * start of a function it is also a count of calls. Counts are kept by address and length,
 * because QEMU may discard translations and translate again.
 *
 * The guest gives commands by executing certain nops (mark.c):
 *
 *   symbols FILE            read DIRECTORY/FILE, a copy of its /proc/kallsyms
 *   begin NAME, end         count everything in between, into DIRECTORY/NAME.counts
 *   arm NAME WARM COUNT FUNCTION...
 *                           count between calls of these functions:
 *                           from call number WARM on, COUNT calls
 *   disarm                  end that, if it has not ended yet
 *
 * A file of counts has a line "owners N cpus M", then a line for each executed block with its
 * address, its number of instructions, and N times how often it was executed for an owner; M
 * times that, for each processor. The line starts with the word "string" if the block is an
 * instruction such as rep stosb: QEMU executes, and counts, each of its iterations as an
 * instruction. It starts with "locked K" if K of its instructions are locked ones (decode.c).
 * After a block at the start of a function follows a line "calls ADDRESS" with as many
 * numbers, how often it was called for an owner. All blocks of user space have the address 0.
 * The last line is "end". Errors are written to DIRECTORY/complaints.
 *
 * With lines=yes, lines "moves ADDRESS" and "takes ADDRESS" of a block have as many numbers:
 * cache lines that its accesses moved from another processor, or took (lines.c). Then follow
 * lines "line ADDRESS" with M numbers.
 *
 * Several processors (cpus=N, one by default) need one thread that runs them in turns, as
 * under -icount (turn.c). While nothing is counted, a block costs a call that returns at once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "qemu-plugin.h"

#define BUCKET_BITS 18
#define BUCKETS 262144		/* 2 to that power */
#define EDGES_MAX 8
#define LOST_MAX 3	/* in a hundred calls; it is less than one */

/* By owner, on one processor */
struct tally {
	uint64_t count[OWNERS_MAX];
	uint64_t calls[OWNERS_MAX];	/* by the caller's owner */
	uint64_t moves[OWNERS_MAX];	/* cache lines */
	uint64_t takes[OWNERS_MAX];
};

struct block {
	struct block *next;	/* of its bucket */
	uint64_t address;
	uint32_t instructions;
	uint32_t locked;	/* of them */
	bool kernel;
	bool begins;		/* its function begins here */
	bool string;		/* an iteration of a string instruction */
	bool edge;		/* a function whose calls separate phases does */
	uint8_t looks, nothing;	/* the function of which rule of vain.c does, and one more */
	struct whose whose;
	struct tally tally[];	/* by processor */
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct block *buckets[BUCKETS];
static const char *out;
static char command[512];
static unsigned int command_length;	/* in halves of a byte */

static bool counting;
static unsigned int cpus = 1;
static bool with_lines;
static struct vain vains[VAINS_MAX];
/* What each processor executes */
static struct {
	struct block *executed;
	unsigned int owner;		/* of that block */
} now[CPUS_MAX];

/* What is being counted */
static struct {
	char name[128];
	unsigned long long warm, count, seen;
	uint64_t edge[EDGES_MAX];
	unsigned int edges;
} phase;

void complain(const char *format, ...)
{
	char path[4096];
	va_list args;
	FILE *f;

	snprintf(path, sizeof(path), "%s/complaints", out ? out : ".");
	f = fopen(path, "a");
	for (int i = 0; i < 2; i++) {
		FILE *to = i ? f : stderr;

		if (!to)
			continue;
		va_start(args, format);
		fputs("counting plugin: ", to);
		vfprintf(to, format, args);
		fputc('\n', to);
		va_end(args);
	}
	if (f)
		fclose(f);
}

static bool is_edge(uint64_t address)
{
	for (unsigned int i = 0; i < phase.edges; i++) {
		if (phase.edge[i] == address)
			return true;
	}
	return false;
}

static void block_know(struct block *block)
{
	if (!block->kernel)
		return;
	block->whose = symbols_whose(block->address, &block->begins);
	block->edge = is_edge(block->address);
	block->looks = 0;
	block->nothing = 0;
	for (unsigned int i = 0; i < VAINS_MAX; i++) {
		if (block->address == vains[i].looks)
			block->looks = i + 1;
		if (block->address == vains[i].nothing)
			block->nothing = i + 1;
	}
}

static struct block *block_get(uint64_t address, size_t instructions)
{
	uint64_t hash = (address ^ instructions << 56) * 0x9e3779b97f4a7c15ull;
	struct block **bucket = &buckets[hash >> (64 - BUCKET_BITS)], *block;

	for (block = *bucket; block; block = block->next) {
		if (block->address == address &&
		    block->instructions == instructions)
			return block;
	}
	block = calloc(1, sizeof(*block) + cpus * sizeof(*block->tally));
	if (!block) {
		complain("no memory for another block");
		abort();
	}
	block->address = address;
	block->instructions = instructions;
	block->kernel = in_kernel(address);
	block_know(block);
	block->next = *bucket;
	*bucket = block;
	return block;
}

static void for_all(void (*function)(struct block *block, FILE *f), FILE *f)
{
	for (unsigned int i = 0; i < BUCKETS; i++) {
		for (struct block *b = buckets[i]; b; b = b->next)
			function(b, f);
	}
}

static void know(struct block *block, FILE *f)
{
	(void)f;
	block_know(block);
}

static void clear(struct block *block, FILE *f)
{
	(void)f;
	memset(block->tally, 0, cpus * sizeof(*block->tally));
}

/* One kind of a block's numbers; @at: where it is in a tally */
static const uint64_t *numbers(const struct block *block, unsigned int cpu,
			       size_t at)
{
	return (const uint64_t *)((const char *)&block->tally[cpu] + at);
}

static bool any(const struct block *block, size_t at)
{
	uint64_t some = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		for (unsigned int i = 0; i < owners; i++)
			some |= numbers(block, cpu, at)[i];
	}
	return some;
}

static void print_all(const struct block *block, size_t at, FILE *f)
{
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		for (unsigned int i = 0; i < owners; i++)
			fprintf(f, " %" PRIu64, numbers(block, cpu, at)[i]);
	}
	fputc('\n', f);
}

static void print_more(const char *word, const struct block *block, size_t at,
		       FILE *f)
{
	fprintf(f, "%s %" PRIx64, word, block->address);
	print_all(block, at, f);
}

static void print(struct block *block, FILE *f)
{
	if (any(block, offsetof(struct tally, count))) {
		if (block->locked)
			fprintf(f, "locked %u ", block->locked);
		fprintf(f, "%s%" PRIx64 " %u", block->string ? "string " : "",
			block->address, block->instructions);
		print_all(block, offsetof(struct tally, count), f);
		if (block->begins)
			print_more("calls", block,
				   offsetof(struct tally, calls), f);
	}
	if (any(block, offsetof(struct tally, moves)))
		print_more("moves", block, offsetof(struct tally, moves), f);
	if (any(block, offsetof(struct tally, takes)))
		print_more("takes", block, offsetof(struct tally, takes), f);
}

static void begin(void)
{
	for_all(clear, NULL);
	vain_reset();
	if (with_lines)
		lines_begin();
}

/* Written under another name and renamed, so that a reader sees the whole file. */
static void write_counts(void)
{
	char path[4096 + 512], final[4096 + 512];
	bool bad;
	FILE *f;

	if (stack_lost() > LOST_MAX)
		complain("%s: %u in a hundred calls were not seen to return: on whose behalf functions run is not known",
			 phase.name, stack_lost());
	snprintf(final, sizeof(final), "%s/%s.counts", out, phase.name);
	snprintf(path, sizeof(path), "%s/.%s.new", out, phase.name);
	f = fopen(path, "w");
	if (!f) {
		complain("%s: %s", path, strerror(errno));
		return;
	}
	fprintf(f, "owners %u cpus %u\n", owners, cpus);
	for_all(print, f);
	if (with_lines)
		lines_print(cpus, f);
	fputs("end\n", f);
	bad = ferror(f);
	if (fclose(f) || bad || rename(path, final))
		complain("%s: %s", final, strerror(errno));
}

static void start_counting(void)
{
	for_all(know, NULL);
	stack_reset();
	memset(now, 0, sizeof(now));	/* nothing, for OWNER_NONE */
	if (with_lines)
		lines_reset();
	phase.seen = 0;
	begin();
	counting = true;
}

/* A call of one of the functions whose calls separate phases */
static void edge_crossed(void)
{
	unsigned long long seen = phase.seen++;

	if (seen == phase.warm) {
		begin();
	} else if (seen == phase.warm + phase.count) {
		write_counts();
		counting = false;
	}
}

static void on_block(unsigned int cpu, void *data)
{
	struct block *block = data;
	struct tally *tally = &block->tally[cpu];
	unsigned int owner = OWNER_NONE;

	if (!counting)
		return;
	if (!block->kernel) {
		stack_user(cpu);
	} else {
		if (block->edge)
			edge_crossed();
		if (block->begins)
			tally->calls[stack_caller(cpu)]++;
		owner = stack_owner(cpu, block->whose, block->begins);
		if (block->nothing)
			vain_end(cpu, block->nothing - 1, vains[block->nothing - 1].owner);
		else if (block->looks)
			vain_begin(cpu, block->looks - 1);
	}
	now[cpu].executed = block;
	now[cpu].owner = owner;
	tally->count[owner]++;
	if (block->kernel)
		vain_note(cpu, tally->count, owner);
	if (cpus > 1)
		turn_used(cpu, block->instructions);
}

/*
 * QEMU 7.2 also calls back for accesses that were not requested, but never for loads if only
 * loads were requested. Therefore both callbacks request all accesses. The callback of a
 * return stays registered for accesses of later blocks that QEMU executes by helpers, such as
 * cmpxchg16b and iret.
 */
static bool is_its_own(unsigned int cpu, const struct block *block,
		       qemu_plugin_meminfo_t info, bool store)
{
	return counting && block == now[cpu].executed &&
	       qemu_plugin_mem_is_store(info) == store;
}

static void on_call(unsigned int cpu, qemu_plugin_meminfo_t info,
		    uint64_t slot, void *data)
{
	if (is_its_own(cpu, data, info, true))
		stack_call(cpu, slot, now[cpu].owner);
}

static void on_return(unsigned int cpu, qemu_plugin_meminfo_t info,
		      uint64_t slot, void *data)
{
	if (is_its_own(cpu, data, info, false))
		stack_return(cpu, slot);
}

static void on_interrupt_return(unsigned int cpu, void *data)
{
	(void)data;
	if (counting)
		stack_interrupt_return(cpu);
}

/* An access to memory by the kernel. A device's own is DMA, or its registers. */
static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info,
		      uint64_t address, void *data)
{
	struct block *block = now[cpu].executed;
	unsigned int owner = now[cpu].owner;
	struct qemu_plugin_hwaddr *where;

	(void)data;
	if (!counting || !block || owner_dma[owner])
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	switch (lines_touch(cpu, qemu_plugin_hwaddr_phys_addr(where), address,
			    qemu_plugin_mem_is_store(info))) {
	case LINE_MOVES:
		block->tally[cpu].moves[owner]++;
		break;
	case LINE_TAKEN:
		block->tally[cpu].takes[owner]++;
		break;
	default:
		break;
	}
}

/* "arm NAME WARM COUNT FUNCTION..." without its first word */
static void arm(char *words)
{
	int at = 0;
	char *name;

	if (sscanf(words, "%127s %llu %llu%n", phase.name, &phase.warm,
		   &phase.count, &at) < 3 || !phase.count ||
	    strchr(phase.name, '/')) {
		complain("what does '%s' count?", words);
		return;
	}
	phase.edges = 0;
	for (name = strtok(words + at, " "); name; name = strtok(NULL, " ")) {
		uint64_t address = symbols_address(name);

		if (address && phase.edges < EDGES_MAX)
			phase.edge[phase.edges++] = address;
	}
	if (!phase.edges) {
		complain("%s: this kernel has none of the functions whose calls were to be counted",
			 phase.name);
		return;
	}
	start_counting();
}

static void obey(char *line)
{
	char path[4096 + 512], word[128] = "";

	if (sscanf(line, "symbols %127s", word) == 1) {
		snprintf(path, sizeof(path), "%s/%s", out, word);
		symbols_read(path);
		for (unsigned int i = 0; i < VAINS_MAX; i++)
			vains[i] = symbols_vain(i);
		for_all(know, NULL);
	} else if (sscanf(line, "begin %127s", word) == 1) {
		strcpy(phase.name, word);
		phase.edges = 0;
		start_counting();
	} else if (!strncmp(line, "arm ", 4)) {
		arm(line + 4);
	} else if (!strcmp(line, "end")) {
		counting = false;
		write_counts();
	} else if (!strcmp(line, "disarm")) {
		if (counting)
			complain("%s: only %llu calls were seen, expected %llu",
				 phase.name, phase.seen,
				 phase.warm + phase.count + 1);
		counting = false;
	} else {
		complain("what is '%s'?", line);
	}
}

static void on_mark(unsigned int cpu, void *data)
{
	unsigned int n = (uintptr_t)data, half = command_length & 1;

	(void)cpu;
	if (n == MARK_GO) {
		command[command_length / 2] = '\0';
		command_length = 0;
		obey(command);
	} else if (command_length / 2 + 1 < sizeof(command)) {
		if (half)
			command[command_length / 2] |= n;
		else
			command[command_length / 2] = n << 4;
		command_length++;
	}
}

/* The effect of an instruction by itself, besides being part of its block */
static enum kind watch(struct qemu_plugin_insn *insn, struct block *block)
{
	const enum qemu_plugin_cb_flags none = QEMU_PLUGIN_CB_NO_REGS;
	unsigned int mark = 0;
	enum kind kind = decode(qemu_plugin_insn_data(insn),
				qemu_plugin_insn_size(insn), &mark);
	void *data = (void *)(uintptr_t)mark;

	if (kind == KIND_MARK && !block->kernel)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, none, data);
	if (!block->kernel)
		return kind;
	if (with_lines)
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, none,
						 QEMU_PLUGIN_MEM_RW, NULL);
	if (kind == KIND_CALL)
		qemu_plugin_register_vcpu_mem_cb(insn, on_call, none,
						 QEMU_PLUGIN_MEM_RW, block);
	else if (kind == KIND_RETURN)
		qemu_plugin_register_vcpu_mem_cb(insn, on_return, none,
						 QEMU_PLUGIN_MEM_RW, block);
	else if (kind == KIND_INTERRUPT_RETURN)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_interrupt_return,
						       none, NULL);
	return kind;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	bool kernel = in_kernel(address);
	/*
	 * For user space only the sum matters. Each process has separate addresses: after some
	 * hundreds of processes their blocks would be ten million.
	 */
	struct block *block = block_get(kernel ? address : 0, n);
	enum kind kind = KIND_OTHER;
	uint32_t locked = 0;

	(void)id;
	turn_check_thread();
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block,
					     QEMU_PLUGIN_CB_NO_REGS, block);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		kind = watch(insn, block);
		locked += is_locked(qemu_plugin_insn_data(insn),
				    qemu_plugin_insn_size(insn));
	}
	/* the block of user space stands for all of its length */
	block->locked = kernel ? locked : 0;
	block->string = kernel && n == 1 && kind == KIND_STRING;
}

/* QEMU also prints why it refused a plugin. */
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const qemu_info_t *info,
					   int argc, char **argv)
{
	const char *rules = NULL;

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "rules=", 6))
			rules = argv[i] + 6;
		else if (!strncmp(argv[i], "cpus=", 5))
			cpus = strtoul(argv[i] + 5, NULL, 10);
		else if (!strncmp(argv[i], "lines=", 6))
			with_lines = !strcmp(argv[i] + 6, "yes");
	}
	if (!out || !rules) {
		complain("it wants out=DIRECTORY and rules=FILE");
		return -1;
	}
	if (strcmp(info->target_name, "x86_64") || !info->system_emulation ||
	    cpus < 1 || cpus > CPUS_MAX ||
	    info->system.max_vcpus != (int)cpus) {
		complain("it counts for %u x86-64 processors, of at most %u; this is %s with up to %d (give -smp, or cpus=N)",
			 cpus, CPUS_MAX, info->target_name,
			 info->system.max_vcpus);
		return -1;
	}
	if (!rules_read(rules) || (cpus > 1 && !turn_init()))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
