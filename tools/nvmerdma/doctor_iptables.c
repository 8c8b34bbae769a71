// SPDX-License-Identifier: GPL-2.0
/* Rules of iptables-save, put into the words of nft, which are judged by nft_judge() */
#include "doctor_parse.h"

#include <ctype.h>
#include <string.h>

/* A word of a rule; blanks part them. NULL at the end. */
static char *word_of(const char **at)
{
	size_t len;
	char *word;

	*at += strspn(*at, " ");
	len = strcspn(*at, " ");
	if (!len)
		return NULL;
	word = mem_strn(*at, len);
	*at += len;
	return word;
}

/* "1000:2000" is "1000-2000" there */
static const char *port_words(char *ports)
{
	char *at;

	for (at = ports; *at; at++) {
		if (*at == ':')
			*at = '-';
	}
	return ports;
}

static const char *lower(char *word)
{
	char *at;

	for (at = word; *at; at++)
		*at = tolower((unsigned char)*at);
	return word;
}

static const char *target_words(char *target)
{
	static const char * const verdicts[] = { "ACCEPT", "DROP", "REJECT", "RETURN" };
	size_t i;

	for (i = 0; i < NR(verdicts); i++) {
		if (!strcmp(target, verdicts[i]))
			return lower(target);
	}
	if (!strcmp(target, "LOG") || !strcmp(target, "NFLOG"))
		return "log";
	return mem_fmt("jump %s", target);
}

/* What is not known becomes a word that nft_judge() does not know either */
static const char *rule_words(const char *rule)
{
	const char *at = rule, *so_far = "";
	const char *not = "";
	char *word, *value;

	while ((word = word_of(&at))) {
		if (!strcmp(word, "!")) {
			not = "!= ";
			continue;
		}
		value = word_of(&at);
		if (!value)
			break;
		if (!strcmp(word, "-p"))
			so_far = mem_fmt("%s meta l4proto %s%s", so_far, not, value);
		else if (!strcmp(word, "--dport"))
			so_far = mem_fmt("%s th dport %s%s", so_far, not, port_words(value));
		else if (!strcmp(word, "-i") || !strcmp(word, "-o"))
			so_far = mem_fmt("%s %cifname %s%s", so_far, word[1], not, value);
		else if (!strcmp(word, "--ctstate") || !strcmp(word, "--state"))
			so_far = mem_fmt("%s ct state %s%s", so_far, not, lower(value));
		else if (!strcmp(word, "-j") || !strcmp(word, "-g"))
			return mem_fmt("%s %s", so_far, target_words(value));
		else if (strcmp(word, "-m") || (strcmp(value, "udp") && strcmp(value, "tcp") &&
						strcmp(value, "conntrack") &&
						strcmp(value, "state")))
			so_far = mem_fmt("%s unknown", so_far);
		not = "";
	}
	return so_far;
}

struct rules_of {
	const char *chain;
	const char *rules;	/* lines in nft's words */
	const char *policy;
};

static struct rules_of *of_chain(struct rules_of **all, size_t *nr, const char *name)
{
	size_t i;

	for (i = 0; i < *nr; i++) {
		if (!strcmp((*all)[i].chain, name))
			return &(*all)[i];
	}
	*all = mem_grow(*all, *nr, sizeof(**all));
	(*all)[*nr] = (struct rules_of) { .chain = name, .rules = "", .policy = "" };
	return &(*all)[(*nr)++];
}

/* Of the table "filter" alone, where packets are dropped. The rule itself is put where
 * nft has its handle, to be found again.
 */
enum verdict iptables_judge(const char *saved, const struct packet *packet,
			    struct blocked_by *by)
{
	struct rules_of *all = NULL, *of;
	size_t nr = 0, i;
	bool filter = false;
	const char *text;

	while (*saved) {
		const char *line = mem_strn(saved, strcspn(saved, "\n")), *at = line + 1;

		saved += strcspn(saved, "\n");
		saved += *saved == '\n';
		if (*line == '*')
			filter = !strcmp(line, "*filter");
		if (filter && *line == ':') {
			of = of_chain(&all, &nr, word_of(&at));
			of->policy = !strncmp(at, " DROP", 5) ? "drop" : "accept";
		} else if (filter && !strncmp(line, "-A ", 3)) {
			at = line + 3;
			of = of_chain(&all, &nr, word_of(&at));
			of->rules = mem_fmt("%s%s # handle %s\n", of->rules, rule_words(at),
					    line + 3);
		}
	}
	text = mem_fmt("table %s filter {\n", packet->family);
	for (i = 0; i < nr; i++) {
		bool base = !strcmp(all[i].chain, "INPUT") || !strcmp(all[i].chain, "OUTPUT");

		text = mem_fmt("%schain %s {\n%s\n%s}\n", text, all[i].chain, base ?
			       mem_fmt("type filter hook %s priority 0; policy %s;",
				       lower(mem_str(all[i].chain)), all[i].policy) : "",
			       all[i].rules);
	}
	return nft_judge(text, packet, by);
}
