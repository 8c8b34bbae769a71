// SPDX-License-Identifier: GPL-2.0
/* What one rule asks for, and what it then does, in the words of nft */
#include "doctor/nft.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

const char *nft_word(const char **at)
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

enum match nft_is_iface(const char *word, const struct packet *packet)
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

/* "192.0.2.0/24", "192.0.2.1-192.0.2.9", or one address */
static enum match is_address(const char *word, const char *address)
{
	size_t len = strcspn(word, "/-"), bytes, i;
	unsigned char want[2][16] = { { 0 } }, have[16] = { 0 };
	int family = address && strchr(address, ':') ? AF_INET6 : AF_INET;
	unsigned long bits;
	char *end;

	bytes = family == AF_INET ? 4 : 16;
	if (!address || inet_pton(family, address, have) != 1 ||
	    inet_pton(family, mem_strn(word, len), want[0]) != 1)
		return MAYBE;
	if (word[len] == '-')
		return inet_pton(family, word + len + 1, want[1]) != 1 ? MAYBE :
		       memcmp(have, want[0], bytes) >= 0 && memcmp(have, want[1], bytes) <= 0 ?
		       YES : NO;
	bits = word[len] ? strtoul(word + len + 1, &end, 10) : 8 * bytes;
	if (bits > 8 * bytes || (word[len] && *end))
		return MAYBE;
	for (i = 0; i < bits; i++) {
		if ((have[i / 8] ^ want[0][i / 8]) & (0x80 >> i % 8))
			return NO;
	}
	return YES;
}

static enum match is_peer(const char *word, const struct packet *packet)
{
	return is_address(word, packet->peer);
}

static enum match is_own(const char *word, const struct packet *packet)
{
	return is_address(word, packet->own);
}

/* The first packet of a connection: what was there before is none of ours */
static enum match is_state(const char *word, const struct packet *packet)
{
	(void)packet;
	return strstr(word, "new") || strstr(word, "untracked") ? YES : NO;
}

/* What a rule then does, and the chain that is jumped to */
struct outcome {
	const char *verdict, *to;
};

static bool read_verdict(const char *word, const char **at, struct outcome *then)
{
	if (!strcmp(word, "jump") || !strcmp(word, "goto"))
		*then = (struct outcome) { word, nft_word(at) };
	else if (!strcmp(word, "accept") || !strcmp(word, "drop") || !strcmp(word, "reject") ||
		 !strcmp(word, "return") || !strcmp(word, "queue"))
		*then = (struct outcome) { word, NULL };
	else
		return false;
	return true;
}

/* "{ 53 : accept, 4000-5000 : jump more }"; of a map with a name nothing is known */
static enum match of_map(const char **at, const struct packet *packet, compare *is,
			 struct outcome *then)
{
	const char *key = nft_word(at), *word;
	struct outcome one = { "jump", NULL };
	enum match match = NO, of_key;

	if (!key || strcmp(key, "{")) {
		*then = one;
		return MAYBE;
	}
	while (match != YES && (key = nft_word(at)) && strcmp(key, "}")) {
		word = nft_word(at);
		if (!word || strcmp(word, ":") || !(word = nft_word(at)) ||
		    !read_verdict(word, at, &one)) {
			*then = (struct outcome) { "jump", NULL };
			return MAYBE;
		}
		of_key = is(key, packet);
		if (of_key > match) {
			match = of_key;
			*then = one;
		}
	}
	return match;
}

/* One value, or those in braces, with != before them or not; or a map, which says what
 * @then is done
 */
static enum match of_values(const char **at, const struct packet *packet, compare *is,
			    struct outcome *then)
{
	const char *word = nft_word(at);
	bool negated = word && !strcmp(word, "!=");
	enum match match = NO, one;

	if (negated)
		word = nft_word(at);
	if (word && !strcmp(word, "vmap"))
		return of_map(at, packet, is, then);
	/* a dot joins it with what comes next, to be looked for together */
	if (!word || *word == '@' || !strcmp(word, "."))
		return MAYBE;
	if (strcmp(word, "{"))
		return not_if(negated, is(word, packet));
	while ((word = nft_word(at)) && strcmp(word, "}")) {
		one = is(word, packet);
		if (one > match)
			match = one;
	}
	return not_if(negated, match);
}

/* "counter", "counter name x", "counter packets 1 bytes 2" */
static void skip_counter(const char **at)
{
	const char *behind = *at, *word = nft_word(&behind);
	int words = !word ? 0 : !strcmp(word, "packets") ? 4 : !strcmp(word, "name") ? 2 : 0;

	while (words--)
		nft_word(at);
}

/* Words of a statement that changes nothing for the packet */
static bool skip_statement(const char *word, const char **at)
{
	if (!strcmp(word, "counter")) {
		skip_counter(at);
		return true;
	}
	if (!strcmp(word, "log") || !strcmp(word, "notrack"))
		return true;
	if (!strcmp(word, "prefix") || !strcmp(word, "level") || !strcmp(word, "group") ||
	    !strcmp(word, "comment") || !strcmp(word, "flags")) {
		nft_word(at);
		return true;
	}
	return false;
}

/* Of the IP header */
static enum match of_header(const char **at, const struct packet *packet, struct outcome *then)
{
	bool comes = strcmp(packet->hook, "output");
	const char *field = nft_word(at);

	if (!field)
		return MAYBE;
	if (!strcmp(field, "protocol") || !strcmp(field, "nexthdr"))
		return of_values(at, packet, is_protocol, then);
	if (!strcmp(field, "saddr"))
		return of_values(at, packet, comes ? is_peer : is_own, then);
	if (!strcmp(field, "daddr"))
		return of_values(at, packet, comes ? is_own : is_peer, then);
	return MAYBE;
}

static bool is_iface_word(const char *word, const char *way)
{
	return !strncmp(word, way, 3) && (!word[3] || !strcmp(word + 3, "name"));
}

/* What a word that begins a condition makes of the packet; @known is unset for a word
 * that is none of these
 */
static enum match condition(const char *word, const char **at, const struct packet *packet,
			    bool *known, struct outcome *then)
{
	const char *other = strcmp(packet->hook, "output") ? "oif" : "iif";
	const char *before = *at, *second;

	if (is_iface_word(word, other))
		return NO;
	if (is_iface_word(word, "iif") || is_iface_word(word, "oif"))
		return of_values(at, packet, nft_is_iface, then);
	if (!strcmp(word, "udp") || !strcmp(word, "tcp") || !strcmp(word, "th")) {
		if (strcmp(word, "th") && strcmp(word, packet->protocol))
			return NO;
		second = nft_word(at);
		return second && !strcmp(second, "dport") ?
		       of_values(at, packet, is_port, then) : MAYBE;
	}
	if (!strcmp(word, "icmp") || !strcmp(word, "icmpv6") || !strcmp(word, "sctp"))
		return NO;
	if (!strcmp(word, "ip") || !strcmp(word, "ip6"))
		return strcmp(word, packet->family) ? NO : of_header(at, packet, then);
	if (!strcmp(word, "meta") || !strcmp(word, "ct")) {
		second = nft_word(at);
		if (second && !strcmp(second, "l4proto"))
			return of_values(at, packet, is_protocol, then);
		if (second && !strcmp(second, "nfproto"))
			return of_values(at, packet, is_family, then);
		if (second && !strcmp(second, "state"))
			return of_values(at, packet, is_state, then);
		return MAYBE;
	}
	*at = before;
	*known = false;
	return MAYBE;
}

enum match nft_rule(const char *rule, const struct packet *packet, const char **verdict,
		    const char **to)
{
	struct outcome then = { NULL, NULL };
	enum match match = YES, one;
	const char *at = rule, *word;
	bool known;

	while (!then.verdict && (word = nft_word(&at)) && strcmp(word, "#")) {
		if (read_verdict(word, &at, &then) || skip_statement(word, &at))
			continue;
		known = true;
		one = condition(word, &at, packet, &known, &then);
		if (one < match)
			match = one;
	}
	*verdict = then.verdict;
	*to = then.to;
	return match;
}
