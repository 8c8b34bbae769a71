// SPDX-License-Identifier: GPL-2.0
/*
 * Would a packet get through the rules that nft prints?
 *
 * Each base chain of the hook is walked as the kernel does. A rule may match, not match,
 * or perhaps match, if it asks for what is not known here, as the peer's address. Perhaps
 * decides only if what follows does not come to the same.
 */
#include "doctor_parse.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST_JUMP	16
/* Jumps of one packet; the kernel takes no loops, but what is printed may be anything */
#define MOST_JUMPS	1000

enum match { NO, MAYBE, YES };

struct chain {
	const char *family, *table, *name;
	const char *hook;	/* NULL: it is jumped to */
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
	struct blocked_by *by;
	bool maybe_passed, maybe_dropped;
	unsigned int depth, jumps;
};

/* How a chain ended; a chain that was jumped to may come back */
enum ending { PASSED, DROPS, CAME_BACK };

/* The next word of a rule: a blank parts them, a comma or semicolon at its end is left
 * out, and what is quoted is one word without its quotes; NULL at the end.
 */
static const char *next_word(const char **at)
{
	const char *from;
	size_t len;

	*at += strspn(*at, " \t");
	if (!**at)
		return NULL;
	from = *at;
	if (*from == '"') {
		len = strcspn(++from, "\"");
		*at = from + len + (from[len] == '"');
		return mem_strn(from, len);
	}
	len = strcspn(from, " \t");
	*at = from + len;
	while (len > 1 && strchr(",;", from[len - 1]))
		len--;
	return mem_strn(from, len);
}

static enum match not_if(bool negated, enum match match)
{
	return !negated || match == MAYBE ? match : match == YES ? NO : YES;
}

typedef enum match compare(const char *word, const struct packet *packet);

static enum match is_port(const char *word, const struct packet *packet)
{
	char *end;
	unsigned long first = strtoul(word, &end, 10), last = first;

	if (end == word)
		return MAYBE;
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	return *end ? MAYBE : packet->dport >= first && packet->dport <= last ? YES : NO;
}

static enum match is_protocol(const char *word, const struct packet *packet)
{
	const char *number = strcmp(packet->protocol, "udp") ? "6" : "17";

	return !strcmp(word, packet->protocol) || !strcmp(word, number) ? YES : NO;
}

/* A name may end with a star for any rest */
static enum match is_iface(const char *word, const struct packet *packet)
{
	size_t len = strlen(word);

	if (!packet->iface)
		return MAYBE;
	if (len && word[len - 1] == '*')
		return strncmp(word, packet->iface, len - 1) ? NO : YES;
	return strcmp(word, packet->iface) ? NO : YES;
}

static enum match is_family(const char *word, const struct packet *packet)
{
	return !strcmp(word, strcmp(packet->family, "ip") ? "ipv6" : "ipv4") ? YES : NO;
}

/* The first packet of a connection: what was there before is none of ours */
static enum match is_state(const char *word, const struct packet *packet)
{
	(void)packet;
	return strstr(word, "new") || strstr(word, "untracked") ? YES : NO;
}

/* One value, or those in braces, with != before them or not */
static enum match of_values(const char **at, const struct packet *packet, compare *is)
{
	const char *word = next_word(at);
	bool negated = word && !strcmp(word, "!=");
	enum match match = NO, one;

	if (negated)
		word = next_word(at);
	if (!word || *word == '@' || !strcmp(word, "vmap"))
		return MAYBE;
	if (strcmp(word, "{"))
		return not_if(negated, is(word, packet));
	while ((word = next_word(at)) && strcmp(word, "}")) {
		one = is(word, packet);
		if (one > match)
			match = one;
	}
	return not_if(negated, match);
}

/* Words of a statement that changes nothing for the packet */
static bool skip_statement(const char *word, const char **at)
{
	if (!strcmp(word, "counter")) {
		if (!strncmp(*at + strspn(*at, " "), "packets", 7)) {
			next_word(at);
			next_word(at);
			next_word(at);
		}
		next_word(at);
		return true;
	}
	if (!strcmp(word, "log") || !strcmp(word, "notrack"))
		return true;
	if (!strcmp(word, "prefix") || !strcmp(word, "level") || !strcmp(word, "group") ||
	    !strcmp(word, "comment") || !strcmp(word, "flags")) {
		next_word(at);
		return true;
	}
	return false;
}

/* What a word that begins a condition makes of the packet; @known is unset for a word
 * that is none of these
 */
static enum match condition(const char *word, const char **at, const struct packet *packet,
			    bool *known)
{
	const char *other = strcmp(packet->hook, "output") ? "oif" : "iif";
	const char *before = *at, *second;

	if (!strncmp(word, "iif", 3) || !strncmp(word, "oif", 3))
		return strncmp(word, other, 3) ? of_values(at, packet, is_iface) : NO;
	if (!strcmp(word, "udp") || !strcmp(word, "tcp") || !strcmp(word, "th")) {
		if (strcmp(word, "th") && strcmp(word, packet->protocol))
			return NO;
		second = next_word(at);
		return second && !strcmp(second, "dport") ?
		       of_values(at, packet, is_port) : MAYBE;
	}
	if (!strcmp(word, "icmp") || !strcmp(word, "icmpv6") || !strcmp(word, "sctp"))
		return NO;
	if (!strcmp(word, "ip") || !strcmp(word, "ip6")) {
		if (strcmp(word, packet->family))
			return NO;
		second = next_word(at);
		return second && (!strcmp(second, "protocol") || !strcmp(second, "nexthdr")) ?
		       of_values(at, packet, is_protocol) : MAYBE;
	}
	if (!strcmp(word, "meta") || !strcmp(word, "ct")) {
		second = next_word(at);
		if (second && !strcmp(second, "l4proto"))
			return of_values(at, packet, is_protocol);
		if (second && !strcmp(second, "nfproto"))
			return of_values(at, packet, is_family);
		if (second && !strcmp(second, "state"))
			return of_values(at, packet, is_state);
		return MAYBE;
	}
	*at = before;
	*known = false;
	return MAYBE;
}

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

static void blame(struct walk *walk, const struct chain *chain, const char *rule)
{
	const char *handle = rule ? strstr(rule, "# handle ") : NULL;

	*walk->by = (struct blocked_by) {
		.chain = mem_fmt("%s %s %s", chain->family, chain->table, chain->name),
		.rule = rule ? mem_strn(rule, handle && handle > rule ?
					(size_t)(handle - rule) - 1 : strlen(rule)) : NULL,
		.handle = handle ? mem_str(handle + strlen("# handle ")) : NULL,
	};
}

/* What a rule asks for and, in @verdict and @to, what it then does */
static enum match read_rule(const char *rule, const struct packet *packet,
			    const char **verdict, const char **to)
{
	enum match match = YES, one;
	const char *at = rule, *word;
	bool known;

	*verdict = NULL;
	*to = NULL;
	while ((word = next_word(&at)) && strcmp(word, "#")) {
		if (!strcmp(word, "accept") || !strcmp(word, "drop") ||
		    !strcmp(word, "reject") || !strcmp(word, "return")) {
			*verdict = word;
			break;
		}
		if (!strcmp(word, "jump") || !strcmp(word, "goto")) {
			*verdict = word;
			*to = next_word(&at);
			break;
		}
		if (skip_statement(word, &at))
			continue;
		known = true;
		one = condition(word, &at, packet, &known);
		if (one < match)
			match = one;
	}
	return match;
}

static enum ending walk_chain(struct walk *walk, const struct chain *chain);

static enum ending jump(struct walk *walk, const struct chain *from, const char *to,
			bool sure)
{
	const struct chain *chain = to ? find_chain(walk->rules, from, to) : NULL;
	enum ending end = CAME_BACK;

	if (!chain || walk->depth == DEEPEST_JUMP || walk->jumps++ >= MOST_JUMPS) {
		walk->maybe_passed = true;
		walk->maybe_dropped = true;
		return CAME_BACK;
	}
	walk->depth++;
	end = walk_chain(walk, chain);
	walk->depth--;
	if (sure)
		return end;
	walk->maybe_passed |= end == PASSED;
	walk->maybe_dropped |= end == DROPS;
	return CAME_BACK;
}

static enum ending walk_chain(struct walk *walk, const struct chain *chain)
{
	const char *verdict, *to;
	size_t i;

	for (i = 0; i < chain->nr_rules; i++) {
		enum match match = read_rule(chain->rule[i], walk->packet, &verdict, &to);
		bool drops = verdict && (!strcmp(verdict, "drop") || !strcmp(verdict, "reject"));
		enum ending end;

		if (match == NO || !verdict)
			continue;
		if (!strcmp(verdict, "jump") || !strcmp(verdict, "goto")) {
			end = jump(walk, chain, to, match == YES);
			if (end != CAME_BACK)
				return end;
			if (!strcmp(verdict, "goto") && match == YES)
				return CAME_BACK;
			continue;
		}
		if (!strcmp(verdict, "return")) {
			if (match == YES)
				return CAME_BACK;
			continue;
		}
		if (drops && !walk->maybe_dropped)
			blame(walk, chain, chain->rule[i]);
		if (match == YES)
			return drops ? DROPS : PASSED;
		*(drops ? &walk->maybe_dropped : &walk->maybe_passed) = true;
	}
	return CAME_BACK;
}

/* "table inet filter { # handle 1", "chain input { ...", a line of a chain, "}" */
static void read_line(struct ruleset *rules, const char *line, const char **family,
		      const char **table, struct chain **chain)
{
	const char *at = line, *word = next_word(&at);

	if (!word)
		return;
	if (!strcmp(word, "table")) {
		*family = next_word(&at);
		*table = next_word(&at);
		*chain = NULL;
	} else if (!strcmp(word, "chain") && *table) {
		rules->chain = mem_grow(rules->chain, rules->nr, sizeof(**chain));
		*chain = &rules->chain[rules->nr++];
		**chain = (struct chain) {
			.family = *family, .table = *table, .name = next_word(&at),
		};
	} else if (!strcmp(word, "}")) {
		*chain = NULL;
	} else if (*chain && !strcmp(word, "type")) {
		const char *hook = strstr(line, " hook ");

		if (hook) {
			hook += strlen(" hook ");
			(*chain)->hook = next_word(&hook);
		}
		(*chain)->drops = strstr(line, "policy drop");
	} else if (*chain) {
		(*chain)->rule = mem_grow((*chain)->rule, (*chain)->nr_rules,
					  sizeof(*(*chain)->rule));
		(*chain)->rule[(*chain)->nr_rules++] = line + strspn(line, " \t");
	}
}

static struct ruleset read_ruleset(const char *text)
{
	const char *family = NULL, *table = NULL;
	struct ruleset rules = { 0 };
	struct chain *chain = NULL;

	while (*text) {
		size_t len = strcspn(text, "\n");

		read_line(&rules, mem_strn(text, len), &family, &table, &chain);
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

enum verdict nft_judge(const char *ruleset, const struct packet *packet,
		       struct blocked_by *by)
{
	struct ruleset rules = read_ruleset(ruleset);
	enum verdict verdict = PASSES;
	struct blocked_by first = { 0 };
	size_t i;

	for (i = 0; i < rules.nr; i++) {
		struct chain *chain = &rules.chain[i];
		struct walk walk = { .rules = &rules, .packet = packet, .by = by };
		enum ending end;

		if (!sees(chain, packet))
			continue;
		end = walk_chain(&walk, chain);
		if (end == CAME_BACK && chain->drops) {
			if (!walk.maybe_dropped)
				blame(&walk, chain, NULL);
			end = DROPS;
		}
		if (end == DROPS && !walk.maybe_passed)
			return DROPPED;
		if (end == DROPS || walk.maybe_dropped) {
			if (verdict == PASSES)
				first = *by;
			verdict = PERHAPS;
		}
	}
	if (verdict == PERHAPS)
		*by = first;
	return verdict;
}
