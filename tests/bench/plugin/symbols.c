// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's symbols, and the rules that assign owners to them.
 *
 * The rules, one a line; '#' starts a comment (written by attribution.py):
 *
 *   owner NAME [yields [dma]]
 *                            owners get numbers from 0 in this order; if it yields,
 *                            a weak owner of a called function prevails; if it is dma,
 *                            its accesses to memory are a device's own (lines.c)
 *   module NAME OWNER [weak] every function of a module
 *   function NAME OWNER      one function
 *   interrupt PREFIX         functions by which the kernel enters interrupts and exceptions
 *   vain NAME NAME OWNER     a function that looks for something to do, and the one that is
 *                            called if there is nothing: what is executed from the one to
 *                            the other is OWNER's, whatever other rules say (vain.c)
 *
 * The symbols are the guest's /proc/kallsyms (nokaslr): address, type, name and, for a
 * module's symbol, "[module]". They are read again whenever modules were loaded or unloaded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

#define RULES_MAX 128
#define NAME_MAX_LENGTH 64

struct rule {
	enum { RULE_MODULE, RULE_FUNCTION, RULE_INTERRUPT } kind;
	char name[NAME_MAX_LENGTH];
	struct whose whose;
};

struct symbol {
	uint64_t address;
	char *name;
	struct whose whose;
};

unsigned int owners;
bool owner_yields[OWNERS_MAX], owner_dma[OWNERS_MAX];

static char owner_name[OWNERS_MAX][NAME_MAX_LENGTH];
static struct {
	char looks[NAME_MAX_LENGTH], nothing[NAME_MAX_LENGTH];
	unsigned int owner;
} vains[VAINS_MAX];
static unsigned int vain_count;
static struct rule rules[RULES_MAX];
static unsigned int rule_count;
static struct symbol *symbols;
static size_t symbol_count;

static int owner_number(const char *name)
{
	for (unsigned int i = 0; i < owners; i++) {
		if (!strcmp(owner_name[i], name))
			return i;
	}
	return -1;
}

/* One line of the rules; false if it means nothing. */
static bool rule_read(const char *line)
{
	char word[4][NAME_MAX_LENGTH];
	int n = sscanf(line, "%63s %63s %63s %63s", word[0], word[1], word[2],
		       word[3]);
	struct rule *rule = &rules[rule_count];
	int owner;

	if (n < 1 || word[0][0] == '#')
		return true;
	if (n < 2 || rule_count == RULES_MAX)
		return false;
	if (!strcmp(word[0], "owner")) {
		if (owners == OWNERS_MAX)
			return false;
		owner_yields[owners] = n > 2 && !strcmp(word[2], "yields");
		owner_dma[owners] = n > 3 && !strcmp(word[3], "dma");
		strcpy(owner_name[owners++], word[1]);
		return true;
	}
	if (!strcmp(word[0], "vain")) {
		owner = n > 3 ? owner_number(word[3]) : -1;
		if (owner < 0 || vain_count == VAINS_MAX)
			return false;
		strcpy(vains[vain_count].looks, word[1]);
		strcpy(vains[vain_count].nothing, word[2]);
		vains[vain_count++].owner = owner;
		return true;
	}
	strcpy(rule->name, word[1]);
	rule_count++;
	if (!strcmp(word[0], "interrupt")) {
		rule->kind = RULE_INTERRUPT;
		rule->whose = (struct whose){ OWNER_IRQ, CLAIM_INTERRUPT };
		return true;
	}
	owner = n > 2 ? owner_number(word[2]) : -1;
	if (owner < 0)
		return false;
	rule->whose = (struct whose){ owner, CLAIM_STRONG };
	if (n > 3 && !strcmp(word[3], "weak"))
		rule->whose.claim = CLAIM_WEAK;
	if (!strcmp(word[0], "module"))
		rule->kind = RULE_MODULE;
	else if (!strcmp(word[0], "function"))
		rule->kind = RULE_FUNCTION;
	else
		return false;
	return true;
}

bool rules_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];
	bool good = true;

	if (!f) {
		complain("the rules %s: %s", path, strerror(errno));
		return false;
	}
	while (good && fgets(line, sizeof(line), f)) {
		good = rule_read(line);
		if (!good)
			complain("the rules %s: what does this mean? %s", path,
				 line);
	}
	fclose(f);
	if (good && owners <= OWNER_IRQ) {
		complain("the rules %s name no owners", path);
		good = false;
	}
	return good;
}

/* By the first rule that matches; those of interrupts are prefixes, of the kernel's own. */
static struct whose whose_is(const char *name, const char *module)
{
	for (unsigned int i = 0; i < rule_count; i++) {
		const struct rule *rule = &rules[i];

		if (rule->kind == RULE_MODULE ? !strcmp(rule->name, module) :
		    rule->kind == RULE_FUNCTION ? !strcmp(rule->name, name) :
		    !*module && !strncmp(rule->name, name, strlen(rule->name)))
			return rule->whose;
	}
	return (struct whose){ OWNER_NONE, CLAIM_NOT };
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void symbols_forget(void)
{
	for (size_t i = 0; i < symbol_count; i++)
		free(symbols[i].name);
	symbol_count = 0;
}

static bool symbol_add(const char *line)
{
	char name[512], module[NAME_MAX_LENGTH + 2] = "", type;
	unsigned long long address;
	static size_t room;
	struct symbol *more;

	if (sscanf(line, "%llx %c %511s [%65[^]]", &address, &type, name,
		   module) < 3)
		return false;
	if (!strchr("tTwW", type) || !in_kernel(address))
		return true;
	if (symbol_count == room) {
		more = realloc(symbols, (room + 65536) * sizeof(*symbols));
		if (!more)
			return false;
		symbols = more;
		room += 65536;
	}
	symbols[symbol_count].address = address;
	symbols[symbol_count].whose = whose_is(name, module);
	symbols[symbol_count].name = strdup(name);
	return symbols[symbol_count++].name;
}

/**
 * symbols_read() - replace the symbols by those of a file
 * @path: a copy of /proc/kallsyms
 */
bool symbols_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	bool good = true;

	if (!f) {
		complain("the symbols %s: %s", path, strerror(errno));
		return false;
	}
	symbols_forget();
	while (good && fgets(line, sizeof(line), f)) {
		good = symbol_add(line);
		if (!good)
			complain("the symbols %s: cannot read %s", path, line);
	}
	fclose(f);
	if (good && !symbol_count) {
		complain("the symbols %s: all addresses are hidden; "
			 "/proc/kallsyms has to be read by root", path);
		good = false;
	}
	qsort(symbols, symbol_count, sizeof(*symbols), by_address);
	return good;
}

/**
 * symbols_whose() - the owner of the function at an address
 * @address: any address in it
 * @begins: whether it is the function's first one
 */
struct whose symbols_whose(uint64_t address, bool *begins)
{
	size_t low = 0, high = symbol_count;

	*begins = false;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return (struct whose){ OWNER_NONE, CLAIM_NOT };
	/* Of several names of one address, one that has an owner */
	*begins = symbols[--low].address == address;
	address = symbols[low].address;
	for (high = low; symbols[high].whose.claim == CLAIM_NOT && high &&
	     symbols[high - 1].address == address;)
		high--;
	return symbols[high].whose;
}

/* The address of a function, 0 if no function has that name. */
uint64_t symbols_address(const char *name)
{
	for (size_t i = 0; i < symbol_count; i++) {
		if (!strcmp(symbols[i].name, name))
			return symbols[i].address;
	}
	return 0;
}

/* The rule @n of "vain" */
struct vain symbols_vain(unsigned int n)
{
	return (struct vain){ symbols_address(vains[n].looks),
			      symbols_address(vains[n].nothing), vains[n].owner };
}
