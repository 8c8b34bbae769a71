// SPDX-License-Identifier: GPL-2.0
/* Rules of iptables-save, put into the words of nft, which are judged by nft_judge() */
#include "doctor/parse.h"

#include <ctype.h>
#include <string.h>

/* A word of a rule: blanks part them, and what is in quotes is one, with \" for a quote in
 * it. NULL at the end.
 */
struct word {
	char *text;
	bool quoted;
};

static bool next_word(const char **at, struct word *word)
{
	char *to;

	*at += strspn(*at, " ");
	*word = (struct word) { .quoted = **at == '"' };
	if (!**at)
		return false;
	if (!word->quoted) {
		word->text = mem_strn(*at, strcspn(*at, " "));
		*at += strlen(word->text);
		return true;
	}
	word->text = mem_str(++*at);
	to = word->text;
	while (**at && **at != '"') {
		*at += **at == '\\' && (*at)[1];
		*to++ = *(*at)++;
	}
	*to = 0;
	*at += **at == '"';
	return true;
}

static char *word_of(const char **at)
{
	struct word word;

	return next_word(at, &word) ? word.text : NULL;
}

/* "1000:2000" is "1000-2000" there, and "53,1000:2000" is "{ 53, 1000-2000 }" */
static const char *port_words(const char *ports)
{
	const char *words = "", *end;

	for (; *ports; ports = end + (*end == ',')) {
		char *one, *colon;

		end = ports + strcspn(ports, ",");
		one = mem_strn(ports, end - ports);
		colon = strchr(one, ':');
		if (colon)
			*colon = '-';
		words = mem_fmt("%s%s%s", words, *words ? ", " : "", one);
	}
	return mem_fmt("{ %s }", words);
}

/* "eth+" is "eth*" there */
static const char *iface_words(char *name)
{
	size_t len = strlen(name);

	if (len && name[len - 1] == '+')
		name[len - 1] = '*';
	return name;
}

static const char *lower(char *word)
{
	char *at;

	for (at = word; *at; at++)
		*at = tolower((unsigned char)*at);
	return word;
}

static bool is_one_of(const char *word, const char *const *list, size_t nr)
{
	while (nr--) {
		if (!strcmp(word, list[nr]))
			return true;
	}
	return false;
}

static const char *target_words(char *target, bool comes_back)
{
	static const char * const verdicts[] = { "ACCEPT", "DROP", "REJECT", "RETURN" };
	static const char * const notes[] = {
		"LOG", "NFLOG", "AUDIT", "TRACE", "MARK", "CONNMARK", "SET",
	};

	if (is_one_of(target, verdicts, NR(verdicts)))
		return lower(target);
	if (is_one_of(target, notes, NR(notes)))
		return "log";
	return mem_fmt("%s %s", comes_back ? "jump" : "goto", target);
}

/* The values of an option that is not known here: all up to the next option */
static void skip_values(const char **at)
{
	const char *behind = *at;
	struct word word;

	while (next_word(&behind, &word) &&
	       (word.quoted || (*word.text != '-' && strcmp(word.text, "!"))))
		*at = behind;
}

/* What a condition with one value is in nft's words; NULL: it is not known here */
static const char *condition_words(const char *family, const char *option, const char *not,
				   char *value)
{
	static const char * const modules[] = {
		"udp", "tcp", "multiport", "conntrack", "state", "comment",
	};

	if (!strcmp(option, "-p"))
		return mem_fmt("meta l4proto %s%s", not, value);
	if (!strcmp(option, "--dport") || !strcmp(option, "--dports"))
		return mem_fmt("th dport %s%s", not, port_words(value));
	if (!strcmp(option, "-i") || !strcmp(option, "-o"))
		return mem_fmt("%cifname %s%s", option[1], not, iface_words(value));
	if (!strcmp(option, "-s") || !strcmp(option, "-d"))
		return mem_fmt("%s %caddr %s%s", family, option[1], not, value);
	if (!strcmp(option, "--ctstate") || !strcmp(option, "--state"))
		return mem_fmt("ct state %s%s", not, lower(value));
	if (!strcmp(option, "--comment") ||
	    (!strcmp(option, "-m") && is_one_of(value, modules, NR(modules))))
		return "";
	return NULL;
}

/* What is not known becomes a word that nft_judge() does not know either */
static const char *rule_words(const char *family, const char *rule)
{
	const char *at = rule, *so_far = "", *not = "", *behind, *words;
	struct word word, value;

	while (next_word(&at, &word)) {
		if (!strcmp(word.text, "!")) {
			not = "!= ";
			continue;
		}
		behind = at;
		if (!next_word(&behind, &value))
			value.text = mem_str("");
		if (!strcmp(word.text, "-j") || !strcmp(word.text, "-g"))
			return mem_fmt("%s %s", so_far,
				       target_words(value.text, word.text[1] == 'j'));
		words = condition_words(family, word.text, not, value.text);
		if (words)
			at = behind;
		else
			skip_values(&at);
		so_far = mem_fmt("%s %s", so_far, words ? words : "unknown");
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

	name = name ? name : "";
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
			of->rules = mem_fmt("%s%s # handle %s\n", of->rules,
					    rule_words(packet->family, at), line + 3);
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
