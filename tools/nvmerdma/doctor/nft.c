// SPDX-License-Identifier: GPL-2.0
/*
 * What the rules of nftables make of a packet, by the JSON of 'nft -j list ruleset'.
 *
 * A match or statement that is not known here may match or not. If that decides, the
 * verdict is PERHAPS: a rule is never blamed for certain by a guess.
 */
#include "doctor/parse.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#define MOST_JUMPS	16	/* as nftables has it: from chain to chain */

enum match { NO, MAYBE, YES };

struct walk {
	struct json_object *all;	/* tables, chains and rules, in one list */
	const struct packet *packet;
	struct blocked_by *by;
	struct json_object *base;	/* the hooked chain that it began in */
	enum verdict worst;
	bool unsure;		/* the packet may have been accepted before, or not come here */
	int jumps;
};

static struct json_object *get(struct json_object *obj, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(obj, key, &value);
	return value;
}

static const char *text(struct json_object *obj, const char *key)
{
	const char *value = json_object_get_string(get(obj, key));

	return value ? value : "";
}

static bool is(struct json_object *obj, const char *key, const char *value)
{
	return !strcmp(text(obj, key), value);
}

/* ---- one value ---- */

#define ADDRESS_BYTES	16	/* IPv6; after the four of IPv4 there are zeros */

/* The family of an address; AF_UNSPEC: it is none */
static int read_address(const char *word, unsigned char bytes[ADDRESS_BYTES])
{
	int family = strchr(word, ':') ? AF_INET6 : AF_INET;

	memset(bytes, 0, ADDRESS_BYTES);
	return inet_pton(family, word, bytes) == 1 ? family : AF_UNSPEC;
}

static enum match in_network(const char *address, const char *network, unsigned int bits)
{
	unsigned char a[ADDRESS_BYTES], n[ADDRESS_BYTES];
	int family = read_address(network, n);
	unsigned int i;

	if (!family || read_address(address, a) != family)
		return MAYBE;
	for (i = 0; i < bits && i < 8 * ADDRESS_BYTES; i++) {
		if ((a[i / 8] ^ n[i / 8]) & (0x80 >> i % 8))
			return NO;
	}
	return YES;
}

/* The bytes of an address have the order of the network, so they compare as numbers do */
static enum match in_addresses(const char *address, const char *first, const char *last)
{
	unsigned char a[ADDRESS_BYTES], from[ADDRESS_BYTES], to[ADDRESS_BYTES];
	int family = read_address(first, from);

	if (!family || read_address(last, to) != family || read_address(address, a) != family)
		return MAYBE;
	return memcmp(a, from, sizeof(a)) >= 0 && memcmp(a, to, sizeof(a)) <= 0 ? YES : NO;
}

/* MAYBE: @have is not a number */
static enum match in_numbers(const char *have, int64_t first, int64_t last)
{
	char *end;
	long number = strtol(have, &end, 10);

	return *end ? MAYBE : number >= first && number <= last ? YES : NO;
}

/* Of two numbers or two addresses; any other ends are not known here */
static enum match in_range(struct json_object *range, const char *have)
{
	struct json_object *first = NULL, *last = NULL;

	if (json_object_is_type(range, json_type_array)) {
		first = json_object_array_get_idx(range, 0);
		last = json_object_array_get_idx(range, 1);
	}
	if (json_object_is_type(first, json_type_int) && json_object_is_type(last, json_type_int))
		return in_numbers(have, json_object_get_int64(first), json_object_get_int64(last));
	if (json_object_is_type(first, json_type_string) &&
	    json_object_is_type(last, json_type_string))
		return in_addresses(have, json_object_get_string(first),
				    json_object_get_string(last));
	return MAYBE;
}

static enum match in_prefix(struct json_object *prefix, const char *have)
{
	struct json_object *len = get(prefix, "len");

	return json_object_is_type(len, json_type_int) ?
	       in_network(have, text(prefix, "addr"), json_object_get_int(len)) : MAYBE;
}

static enum match is_word(const char *want, const char *have)
{
	size_t len = strlen(want);

	if (*want == '@')		/* a named set */
		return MAYBE;
	if (len && want[len - 1] == '*')
		return strncmp(want, have, len - 1) ? NO : YES;
	if (strpbrk(want, ".:") && in_network(have, want, 8 * ADDRESS_BYTES) == YES)
		return YES;
	return strcmp(want, have) ? NO : YES;
}

static enum match is_value(struct json_object *want, const char *have);

static enum match is_one_of(struct json_object *list, const char *have)
{
	enum match best = NO, one;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		one = is_value(json_object_array_get_idx(list, i), have);
		if (one > best)
			best = one;
	}
	return best;
}

static enum match is_value(struct json_object *want, const char *have)
{
	int64_t number;

	switch (json_object_get_type(want)) {
	case json_type_array:
		return is_one_of(want, have);
	case json_type_string:
		return is_word(json_object_get_string(want), have);
	case json_type_int:
		number = json_object_get_int64(want);
		return in_numbers(have, number, number);
	default:
		break;
	}
	if (json_object_is_type(get(want, "set"), json_type_array))
		return is_one_of(get(want, "set"), have);
	if (get(want, "prefix"))
		return in_prefix(get(want, "prefix"), have);
	return in_range(get(want, "range"), have);
}

/* ---- one rule ---- */

/* What the packet has where a match looks; NO: it has nothing there */
static enum match packet_has(struct json_object *left, const struct packet *packet,
			     const char **have)
{
	struct json_object *payload = get(left, "payload");
	const char *protocol = text(payload, "protocol"), *field = text(payload, "field");
	const char *key = text(get(left, "meta"), "key");
	bool input = !strcmp(packet->hook, "input");

	*have = NULL;
	if (!strcmp(protocol, packet->family)) {
		if (!strcmp(field, "protocol") || !strcmp(field, "nexthdr"))
			*have = packet->protocol;
		else if (!strcmp(field, "saddr"))
			*have = input ? packet->peer : packet->own;
		else if (!strcmp(field, "daddr"))
			*have = input ? packet->own : packet->peer;
	} else if (!strcmp(protocol, packet->protocol) || !strcmp(protocol, "th")) {
		if (!strcmp(field, "dport"))
			*have = mem_fmt("%u", packet->dport);
	} else if (*protocol) {
		return NO;
	}
	if (!strcmp(key, "l4proto"))
		*have = packet->protocol;
	else if (!strcmp(key, input ? "iifname" : "oifname") || !strcmp(key, input ? "iif" : "oif"))
		*have = packet->iface;
	else if (!strcmp(key, input ? "oifname" : "iifname") || !strcmp(key, input ? "oif" : "iif"))
		return NO;
	else if (is(get(left, "ct"), "key", "state"))
		*have = "new";
	return *have ? YES : MAYBE;
}

static enum match matches(struct json_object *match, const struct packet *packet)
{
	const char *have, *op = text(match, "op");
	enum match there = packet_has(get(match, "left"), packet, &have);

	if (there != YES)
		return there;
	there = is_value(get(match, "right"), have);
	if (!strcmp(op, "!="))
		return YES - there;
	return !strcmp(op, "==") || !strcmp(op, "in") ? there : MAYBE;
}

/* The statement that a map of verdicts has for the packet */
static enum match mapped(struct json_object *vmap, const struct packet *packet,
			 struct json_object **verdict)
{
	struct json_object *set = get(get(vmap, "data"), "set"), *pair;
	const char *have;
	enum match one = packet_has(get(vmap, "key"), packet, &have);
	size_t i;

	*verdict = vmap;	/* of no known kind */
	if (one != YES || !json_object_is_type(set, json_type_array))
		return one == NO ? NO : MAYBE;
	for (i = 0; i < json_object_array_length(set); i++) {
		pair = json_object_array_get_idx(set, i);
		if (!json_object_is_type(pair, json_type_array))
			return MAYBE;
		*verdict = json_object_array_get_idx(pair, 1);
		one = is_value(json_object_array_get_idx(pair, 0), have);
		if (one != NO)
			return one;
	}
	return NO;
}

/* Whether a rule matches, and the statement that it ends with; NULL: it has none */
static enum match judge_rule(struct json_object *rule, const struct packet *packet,
			     struct json_object **verdict)
{
	static const char * const verdicts[] = {
		"accept", "drop", "reject", "queue", "jump", "goto", "return", NULL
	};
	static const char * const neutral[] = { "counter", "log", "mangle", NULL };
	struct json_object *expr = get(rule, "expr");
	size_t i, k, nr = json_object_is_type(expr, json_type_array) ?
			  json_object_array_length(expr) : 0;
	enum match all = YES, one;

	*verdict = NULL;
	for (i = 0; i < nr && all != NO; i++) {
		struct json_object *part = json_object_array_get_idx(expr, i), *value;

		one = MAYBE;
		for (k = 0; verdicts[k]; k++) {
			if (json_object_object_get_ex(part, verdicts[k], &value)) {
				*verdict = part;
				return all;
			}
		}
		if (get(part, "match"))
			one = matches(get(part, "match"), packet);
		else if (get(part, "vmap"))
			one = mapped(get(part, "vmap"), packet, verdict);
		else if (is(get(part, "xt"), "name", "comment"))
			one = YES;
		else if (is(get(part, "xt"), "type", "target"))
			*verdict = part;
		for (k = 0; neutral[k]; k++) {
			if (json_object_object_get_ex(part, neutral[k], &value))
				one = YES;
		}
		if (one < all)
			all = one;
	}
	return all;
}

/* ---- chains ---- */

/* The first to drop the packet for certain is blamed, or else the first that may */
static void blame(struct walk *walk, struct json_object *chain, const char *handle, bool sure)
{
	enum verdict verdict = sure && !walk->unsure ? DROPPED : PERHAPS;

	if (walk->worst == PASSES || (walk->worst == PERHAPS && verdict == DROPPED)) {
		walk->worst = verdict;
		walk->by->chain = mem_fmt("%s %s %s", text(chain, "family"), text(chain, "table"),
					  text(chain, "name"));
		walk->by->handle = handle;
	}
}

/* The packet, or some that look like it, gets to the end of the hooked chain */
static void blame_policy(struct walk *walk, bool sure)
{
	if (is(walk->base, "policy", "drop"))
		blame(walk, walk->base, NULL, sure);
}

/* The "chain" of a table that @from is in, or that "table" itself; NULL: there is none */
static struct json_object *find(struct walk *walk, const char *kind, struct json_object *from,
				const char *name)
{
	size_t i;

	for (i = 0; i < json_object_array_length(walk->all); i++) {
		struct json_object *one = get(json_object_array_get_idx(walk->all, i), kind);

		if (one && is(one, "name", name) && is(one, "family", text(from, "family")) &&
		    (!get(one, "table") || is(one, "table", text(from, "table"))))
			return one;
	}
	return NULL;
}

static bool walk_chain(struct walk *walk, struct json_object *chain, bool came);

/* To another chain; what happens in one that is not there, or too far, is not known */
static bool follow(struct walk *walk, struct json_object *chain, struct json_object *rule,
		   const char *target, bool came)
{
	struct json_object *to = find(walk, "chain", chain, target);
	bool ends;

	if (!to || walk->jumps >= MOST_JUMPS) {
		blame(walk, chain, mem_str(text(rule, "handle")), false);
		walk->unsure = true;
		return false;
	}
	walk->jumps++;
	ends = walk_chain(walk, to, came);
	walk->jumps--;
	return ends;
}

/*
 * Follow a statement that @all packets like this one meet, or some of them
 *
 * @came: the packet comes to this chain for certain
 * @returns: set if the chain ends here for all
 *
 * True if no further rule sees any of them, whatever the verdict.
 */
static bool obey(struct walk *walk, struct json_object *chain, struct json_object *rule,
		 struct json_object *verdict, bool came, bool all, bool *returns)
{
	struct json_object *to = get(verdict, "jump"), *value;
	bool jumps = to, sure = came && all, ends = false;

	*returns = false;
	if (json_object_object_get_ex(verdict, "accept", &value)) {
		walk->unsure |= !sure;
		return all;
	}
	if (!to)
		to = get(verdict, "goto");
	if (!to && !json_object_object_get_ex(verdict, "return", &value)) {
		blame(walk, chain, mem_str(text(rule, "handle")),
		      sure && !json_object_object_get_ex(verdict, "queue", &value));
		return all;
	}
	if (to)
		ends = follow(walk, chain, rule, text(to, "target"), sure);
	*returns = !jumps && all;
	if (!jumps && !all)
		blame_policy(walk, false);
	return ends && all;
}

/* The same of a chain; @came: the packet comes here for certain */
static bool walk_chain(struct walk *walk, struct json_object *chain, bool came)
{
	size_t i;

	for (i = 0; i < json_object_array_length(walk->all); i++) {
		struct json_object *rule = get(json_object_array_get_idx(walk->all, i), "rule");
		struct json_object *verdict;
		enum match match;
		bool returns;

		if (!rule || !is(rule, "chain", text(chain, "name")) ||
		    !is(rule, "table", text(chain, "table")) ||
		    !is(rule, "family", text(chain, "family")))
			continue;
		match = judge_rule(rule, walk->packet, &verdict);
		if (match == NO || !verdict)
			continue;
		if (obey(walk, chain, rule, verdict, came, match == YES, &returns))
			return true;
		if (returns)
			break;
	}
	return false;
}

/* nft 1.0.6 prints memory that it has freed for a single flag, which may be any word */
static enum match is_dormant(struct walk *walk, struct json_object *chain)
{
	struct json_object *table = find(walk, "table", chain, text(chain, "table"));

	if (strstr(text(table, "flags"), "dormant"))
		return YES;
	return json_object_is_type(get(table, "flags"), json_type_string) &&
	       !is(table, "flags", "owner") && !is(table, "flags", "persist") ? MAYBE : NO;
}

/* Whether it is hooked where the packet passes */
static bool is_hooked(struct walk *walk, struct json_object *chain)
{
	const struct packet *packet = walk->packet;
	bool ingress = is(chain, "hook", "ingress") && !strcmp(packet->hook, "input");

	if (is_dormant(walk, chain) == YES)
		return false;
	if (ingress)
		return packet->iface && is_value(get(chain, "dev"), packet->iface) == YES;
	return is(chain, "hook", packet->hook) &&
	       (is(chain, "family", "inet") || is(chain, "family", packet->family));
}

bool nft_is_whole(const char *ruleset)
{
	struct json_object *root = json_tokener_parse(ruleset);
	bool whole = json_object_is_type(get(root, "nftables"), json_type_array);

	json_object_put(root);
	return whole;
}

enum verdict nft_judge(const char *ruleset, const struct packet *packet, struct blocked_by *by)
{
	struct json_object *root = json_tokener_parse(ruleset);
	struct walk walk = { .all = get(root, "nftables"), .packet = packet, .by = by };
	size_t i, nr = 0;

	if (json_object_is_type(walk.all, json_type_array))
		nr = json_object_array_length(walk.all);
	for (i = 0; i < nr; i++) {
		struct json_object *chain = get(json_object_array_get_idx(walk.all, i), "chain");

		walk.unsure = chain && is_dormant(&walk, chain) != NO;
		walk.base = chain;
		if (chain && is_hooked(&walk, chain) && !walk_chain(&walk, chain, true))
			blame_policy(&walk, true);
	}
	json_object_put(root);
	return walk.worst;
}
