// SPDX-License-Identifier: GPL-2.0
/*
 * Would a packet get through the rules that nft prints?
 *
 * Each base chain of the hook is walked as the kernel does. A rule may match, not match,
 * or perhaps match, if it asks for what is not known here, as the peer's address. Perhaps
 * decides only if what follows does not come to the same.
 */
#include "doctor/nft.h"

#include <string.h>

#define DEEPEST_JUMP	16
/* Jumps of one packet; the kernel takes no loops, but what is printed may be anything */
#define MOST_JUMPS	1000

struct chain {
	const char *family, *table, *name;
	const char *hook;	/* NULL: it is jumped to */
	const char *devices;	/* what it is bound to, as written; NULL: to any */
	bool drops;		/* its policy */
	const char **rule;
	size_t nr_rules;
};

struct ruleset {
	struct chain *chain;
	size_t nr;
};

struct walk {
	const struct ruleset *rules;
	const struct packet *packet;
	bool maybe_passed, maybe_dropped;
	/* what drops it for sure, and the first that may */
	struct blocked_by sure, maybe;
	unsigned int depth, jumps;
};

/* How a chain ended; a chain that was jumped to may come back */
enum ending { PASSED, DROPS, CAME_BACK };

static const struct chain *find_chain(const struct ruleset *rules, const struct chain *from,
				      const char *name)
{
	size_t i;

	for (i = 0; i < rules->nr; i++) {
		const struct chain *chain = &rules->chain[i];

		if (!strcmp(chain->family, from->family) && !strcmp(chain->table, from->table) &&
		    !strcmp(chain->name, name))
			return chain;
	}
	return NULL;
}

static struct blocked_by blame(const struct chain *chain, const char *rule)
{
	const char *handle = NULL, *next = rule;

	/* the last one: a comment may hold the same words */
	while (next && (next = strstr(next, "# handle ")))
		handle = next++;
	return (struct blocked_by) {
		.chain = mem_fmt("%s %s %s", chain->family, chain->table, chain->name),
		.rule = rule ? mem_strn(rule, handle && handle > rule ?
					(size_t)(handle - rule) - 1 : strlen(rule)) : NULL,
		.handle = handle ? mem_str(handle + strlen("# handle ")) : NULL,
	};
}

/* It ends so if the packet comes there, which is not sure: to be remembered, and it goes on */
static enum ending only_maybe(struct walk *walk, enum ending end)
{
	if (end == DROPS && !walk->maybe_dropped)
		walk->maybe = walk->sure;
	walk->maybe_passed |= end == PASSED;
	walk->maybe_dropped |= end == DROPS;
	return CAME_BACK;
}

static enum ending drop(struct walk *walk, const struct chain *chain, const char *rule)
{
	walk->sure = blame(chain, rule);
	return DROPS;
}

static enum ending walk_chain(struct walk *walk, const struct chain *chain);

static enum ending jump(struct walk *walk, const struct chain *from, const char *rule,
			const char *to)
{
	const struct chain *chain = to ? find_chain(walk->rules, from, to) : NULL;
	enum ending end;

	if (!chain || walk->depth == DEEPEST_JUMP || walk->jumps++ >= MOST_JUMPS) {
		walk->maybe_passed = true;
		return only_maybe(walk, drop(walk, from, rule));
	}
	walk->depth++;
	end = walk_chain(walk, chain);
	walk->depth--;
	return end;
}

/* @leaves: set if it ends this chain alone, for sure or perhaps */
static enum ending obey_rule(struct walk *walk, const struct chain *chain, const char *rule,
			     enum match *leaves)
{
	const char *verdict, *to;
	enum match match = nft_rule(rule, walk->packet, &verdict, &to);
	enum ending end = CAME_BACK;

	if (match == NO || !verdict)
		return CAME_BACK;
	/* a program decides */
	if (!strcmp(verdict, "queue"))
		walk->maybe_passed = true;
	if (!strcmp(verdict, "return"))
		*leaves = match;
	else if (!strcmp(verdict, "accept"))
		end = PASSED;
	else if (strcmp(verdict, "jump") && strcmp(verdict, "goto"))
		end = drop(walk, chain, rule);
	else
		end = jump(walk, chain, rule, to);
	if (!strcmp(verdict, "goto") && end == CAME_BACK)
		*leaves = match;
	return match == YES ? end : only_maybe(walk, end);
}

static enum ending walk_chain(struct walk *walk, const struct chain *chain)
{
	enum match left = NO, leaves;
	enum ending end = CAME_BACK;
	size_t i;

	for (i = 0; i < chain->nr_rules && end == CAME_BACK && left != YES; i++) {
		leaves = NO;
		end = obey_rule(walk, chain, chain->rule[i], &leaves);
		if (leaves > left)
			left = leaves;
	}
	return left == NO ? end : only_maybe(walk, end);
}

/* Where in the text it is read */
struct reading {
	const char *family, *table;
	bool dormant;		/* nothing of this table is hooked */
	struct chain *chain;	/* NULL: in none */
};

/* "type filter hook input priority filter; policy drop;" */
static void read_base(struct chain *chain, const char *line)
{
	const char *hook = strstr(line, " hook "), *devices = strstr(line, " device");

	if (hook) {
		hook += strlen(" hook ");
		chain->hook = nft_word(&hook);
	}
	if (devices)
		chain->devices = devices + strlen(" device");
	chain->drops = strstr(line, "policy drop");
}

/* "table inet filter { # handle 1", "chain input { ...", a line of a chain, "}" */
static void read_line(struct ruleset *rules, const char *line, struct reading *now)
{
	const char *at = line, *word = nft_word(&at);
	struct chain *chain = now->chain;

	if (!word)
		return;
	if (!strcmp(word, "table")) {
		*now = (struct reading) { .family = nft_word(&at) };
		now->table = nft_word(&at);
	} else if (!strcmp(word, "chain") && now->table) {
		rules->chain = mem_grow(rules->chain, rules->nr, sizeof(*chain));
		now->chain = &rules->chain[rules->nr++];
		*now->chain = (struct chain) {
			.family = now->family, .table = now->table, .name = nft_word(&at),
		};
	} else if (!strcmp(word, "}")) {
		now->chain = NULL;
	} else if (chain && !strcmp(word, "type")) {
		if (!now->dormant)
			read_base(chain, line);
	} else if (chain) {
		chain->rule = mem_grow(chain->rule, chain->nr_rules, sizeof(*chain->rule));
		chain->rule[chain->nr_rules++] = line + strspn(line, " \t");
	} else if (!strcmp(word, "flags")) {
		now->dormant |= !!strstr(at, "dormant");
	}
}

static struct ruleset read_ruleset(const char *text)
{
	struct ruleset rules = { 0 };
	struct reading now = { 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");

		read_line(&rules, mem_strn(text, len), &now);
		text += len + (text[len] == '\n');
	}
	return rules;
}

static bool sees(const struct chain *chain, const struct packet *packet)
{
	bool input = !strcmp(packet->hook, "input");

	if (!chain->hook || (strcmp(chain->family, "inet") && strcmp(chain->family, "netdev") &&
			     strcmp(chain->family, packet->family)))
		return false;
	if (!strcmp(chain->hook, packet->hook))
		return true;
	return input ? !strcmp(chain->hook, "prerouting") || !strcmp(chain->hook, "ingress") :
	       !strcmp(chain->hook, "postrouting") || !strcmp(chain->hook, "egress");
}

/* 'device "eth0"', 'devices = { "eth0", "eth1" }' */
static enum match is_bound_to(const struct chain *chain, const struct packet *packet)
{
	const char *at = chain->devices, *word;
	enum match match = NO;

	if (!at)
		return YES;
	while ((word = nft_word(&at)) && strcmp(word, "priority") && strcmp(word, "}")) {
		if (!strcmp(word, "s") || strchr("={,", *word))
			continue;
		if (nft_is_iface(word, packet) > match)
			match = nft_is_iface(word, packet);
	}
	return match;
}

/* What one base chain makes of it, and in @by who is to blame for what is not PASSES */
static enum verdict judge_chain(const struct ruleset *rules, const struct chain *chain,
				const struct packet *packet, struct blocked_by *by)
{
	enum match bound = is_bound_to(chain, packet);
	struct walk walk = { .rules = rules, .packet = packet };
	enum ending end;

	if (bound == NO)
		return PASSES;
	end = walk_chain(&walk, chain);
	if (end == CAME_BACK && chain->drops)
		end = drop(&walk, chain, NULL);
	if (bound == MAYBE)
		end = only_maybe(&walk, end);
	if (end == DROPS && !walk.maybe_passed) {
		*by = walk.sure;
		return DROPPED;
	}
	if (end != DROPS && !walk.maybe_dropped)
		return PASSES;
	*by = end == DROPS ? walk.sure : walk.maybe;
	return PERHAPS;
}

enum verdict nft_judge(const char *ruleset, const struct packet *packet,
		       struct blocked_by *by)
{
	struct ruleset rules = read_ruleset(ruleset);
	enum verdict verdict = PASSES;
	struct blocked_by one;
	size_t i;

	for (i = 0; i < rules.nr; i++) {
		enum verdict of_chain = PASSES;

		if (sees(&rules.chain[i], packet))
			of_chain = judge_chain(&rules, &rules.chain[i], packet, &one);
		if (of_chain == DROPPED || (of_chain == PERHAPS && verdict == PASSES)) {
			*by = one;
			verdict = of_chain;
		}
		if (verdict == DROPPED)
			break;
	}
	return verdict;
}
