// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma/doctor, the way to the peer: what its checks find, and that the commands
 * they print do no harm
 */
#include "machine.h"

/* ---- rules of this machine ---- */

#define MATCH(left, right) "{'match':{'op':'==','left':" left ",'right':" right "}},"
#define PORT(protocol, port) \
	MATCH("{'payload':{'protocol':'" protocol "','field':'dport'}}", port)
#define FROM(family, what, right) \
	MATCH("{'payload':{'protocol':'" family "','field':'" what "'}}", right)
#define IFACE(name)	MATCH("{'meta':{'key':'iifname'}}", "'" name "'")
#define RULE(expr)	",{'rule':{'family':'inet','table':'guard','chain':'in','handle':4,'expr':[" \
			expr "]}}"
#define NETWORK		"{'prefix':{'addr':'192.0.2.0','len':24}}"
#define ALL6		"{'prefix':{'addr':'::','len':0}}"
#define DROP		"{'drop':null}"
#define ACCEPT		"{'accept':null}"
#define NFT		"nft -j list ruleset"
#define NO_RULES	"{'nftables':[{'metainfo':{}}]}"

#define GUARD	"{'nftables':[{'chain':{'family':'inet','table':'guard','name':'in','hook':'%s','policy':'%s'}}%s]}"

static const char *chain(const char *hook, const char *policy, const char *rules)
{
	return mem_fmt(GUARD, hook, policy, rules);
}

/* No other rule is removed, and only this peer gets through to this port */
static void firewall(void **state)
{
	static const char in[] =
		RULE(FROM("ip", "saddr", "'192.0.2.9'") PORT("udp", "4791") ACCEPT);
	static const char out[] =
		RULE(FROM("ip", "daddr", "'192.0.2.9'") PORT("udp", "4791") ACCEPT);
	static const struct {
		const char *what, *hook, *policy, *rules, *command;
	} rows[] = {
		{ "the port", "input", "accept", RULE(PORT("udp", "4791") DROP),
		  "nft insert rule inet guard in ip saddr 192.0.2.9 udp dport 4791 accept" },
		{ "the last rule", "input", "accept", RULE("{'reject':{'type':'icmpx'}}"),
		  "nft insert rule inet guard in ip saddr 192.0.2.9 udp dport 4791 accept" },
		{ "a policy", "output", "drop", "",
		  "nft insert rule inet guard in ip daddr 192.0.2.9 udp dport 4791 accept" },
		{ "perhaps", "input", "accept", RULE(FROM("ip", "saddr", "'@bad'") DROP),
		  "nft insert rule inet guard in ip saddr 192.0.2.9 udp dport 4791 accept" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct program nft[] = {
			{ NFT,
			  chain(rows[i].hook, rows[i].policy, rows[i].rules) },
			{ NULL, NULL }
		};
		struct doctor d = machine(nft);

		unit_context("%s", rows[i].what);
		check_port_blocked(&d);
		finds(&d, strcmp(rows[i].what, "perhaps") ? FOUND_ERROR : FOUND_NOTE,
		      "dropped by the chain \"inet guard in\"");
		mends(&d, 0, rows[i].command);
		no_command_has(&d, "delete");
		/* and so it is well */
		nft[0].says = chain(rows[i].hook, rows[i].policy,
				    mem_fmt("%s%s", strcmp(rows[i].hook, "input") ? out : in,
					    rows[i].rules));
		d.nr_findings = 0;
		check_port_blocked(&d);
		finds(&d, FOUND_OK, "no rule of this machine drops it");
	}
}

/* Over iWARP it is the target's TCP port, outwards */
static void firewall_iwarp(void **state)
{
	struct program nft[] = {
		{ NFT, chain("output", "accept", RULE(PORT("tcp", "4420") DROP)) },
		{ NULL, NULL }
	};
	struct doctor d = machine(nft);

	(void)state;
	unit_context("iWARP");
	links[0].kind = "iWARP";
	check_port_blocked(&d);
	finds(&d, FOUND_ERROR, "TCP port 4420 is dropped");
	mends(&d, 0, "nft insert rule inet guard in ip daddr 192.0.2.9 tcp dport 4420 accept");
}

/* A table that the target does not know, but the doctor does */
static void firewall_there(void **state)
{
	static const struct program nft[] = { { NFT, NO_RULES }, { NULL, NULL } };
	static const struct { const char *kind, *command; } rows[] = {
		{ "RoCE", "nvmerdma doctor 192.0.2.1 --only port-blocked" },
		{ "iWARP", "nvmerdma doctor --only target-blocked" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = machine(nft);

		unit_context("%s", rows[i].kind);
		links[0].kind = rows[i].kind;
		d.peer->answer.step = STEP_CONNECT;
		d.peer->answer.error = ETIMEDOUT;
		check_port_blocked(&d);
		finds(&d, FOUND_ERROR, "that is what a firewall looks like");
		mends(&d, 0, rows[i].command);
	}
}

/* A rule that may drop it does not keep the doctor from saying that the peer is silent */
static void firewall_perhaps(void **state)
{
	struct program nft[] = {
		{ NFT, chain("input", "accept", RULE(FROM("ip", "saddr", "'@bad'") DROP)) },
		{ NULL, NULL }
	};
	struct doctor d = machine(nft);

	(void)state;
	d.peer->answer.step = STEP_CONNECT;
	d.peer->answer.error = ETIMEDOUT;
	check_port_blocked(&d);
	assert_int_equal(d.nr_findings, 2);
	assert_int_equal(d.finding[0].severity, FOUND_NOTE);
	assert_int_equal(d.finding[1].severity, FOUND_ERROR);
}

/* Rules that could not be read are not "no rule" */
static void firewall_unread(void **state)
{
	static const struct program nft[] = { { NFT, NO_RULES }, { NULL, NULL } };
	struct doctor d = machine(NULL);

	(void)state;
	check_port_blocked(&d);
	finds(&d, FOUND_SKIPPED, "rules of this machine are not checked: 'nft -j list ruleset'");
	mends(&d, 0, "nft list ruleset");
	/* a host that receives from the peer need not know its address */
	d.nr_findings = 0;
	d.peer->answer.step = STEP_COMMAND;
	check_port_blocked(&d);
	finds(&d, FOUND_OK, "the peer is heard");

	d = machine(nft);
	check_port_blocked(&d);
	finds(&d, FOUND_OK, "no rule of this machine drops it");
	file_is("proc/net/ip_tables_names", "filter\n");
	d = machine(nft);
	check_port_blocked(&d);
	finds(&d, FOUND_SKIPPED, "not checked: tables of iptables-legacy");
	mends(&d, 0, "iptables-legacy -S");
	assert_int_equal(unlink(mem_fmt("%s/proc/net/ip_tables_names", root)), 0);
}

static void port_is(const char *traddr, const char *service)
{
	file_is("sys/kernel/config/nvmet/ports/1/addr_trtype", "rdma\n");
	file_is("sys/kernel/config/nvmet/ports/1/addr_traddr", traddr);
	file_is("sys/kernel/config/nvmet/ports/1/addr_trsvcid", service);
	file_is("sys/kernel/config/nvmet/ports/1/subsystems/nqn.x:s", "");
}

/* A target's own rules, for any host: without an ADDRESS */
static void firewall_target(void **state)
{
	static const struct {
		const char *what, *kind, *traddr, *hook, *policy, *rules;
		enum severity severity;
		const char *words, *command;
	} rows[] = {
		{ "RoCE", "RoCE", "192.0.2.1", "input", "accept", RULE(PORT("udp", "4791") DROP),
		  FOUND_ERROR, "UDP port 4791, RoCE v2, is dropped",
		  "nft insert rule inet guard in ip saddr HOSTADDRESS udp dport 4791 accept" },
		{ "iWARP", "iWARP", "192.0.2.1", "input", "accept", RULE(PORT("tcp", "4444") DROP),
		  FOUND_ERROR, "TCP port 4444 is dropped",
		  "nft insert rule inet guard in ip saddr HOSTADDRESS tcp dport 4444 accept" },
		{ "another port", "iWARP", "192.0.2.1", "input", "accept",
		  RULE(PORT("tcp", "4420") DROP),
		  FOUND_OK, "no rule of this machine drops", NULL },
		{ "any address", "RoCE", "0.0.0.0", "input", "accept",
		  RULE(IFACE("eth1") PORT("udp", "4791") DROP), FOUND_ERROR, "RoCE v2, is dropped",
		  "nft insert rule inet guard in ip saddr HOSTADDRESS udp dport 4791 accept" },
		{ "another device", "RoCE", "192.0.2.1", "input", "accept",
		  RULE(IFACE("eth1") PORT("udp", "4791") DROP), FOUND_OK, "no rule", NULL },
		{ "for some hosts", "RoCE", "192.0.2.1", "input", "drop",
		  RULE(FROM("ip", "saddr", NETWORK) ACCEPT), FOUND_NOTE, "may be dropped",
		  "nft insert rule inet guard in ip saddr HOSTADDRESS udp dport 4791 accept" },
		{ "what goes out", "RoCE", "192.0.2.1", "output", "drop", "", FOUND_OK, "no rule",
		  NULL },
		{ "of IPv6", "RoCE", "192.0.2.1", "input", "accept",
		  RULE(FROM("ip6", "saddr", ALL6) DROP), FOUND_OK, "no rule", NULL },
		{ "no such address", "RoCE", "192.0.2.77", "input", "drop", "", FOUND_SKIPPED,
		  "no port listens on software RDMA", NULL },
	};
	struct rdma_addr own = { .text = "192.0.2.1", .family = AF_INET, .netdev = "eth0",
				 .link = &links[0] };
	struct doctor d;
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		const struct program nft[] = {
			{ NFT,
			  chain(rows[i].hook, rows[i].policy, rows[i].rules) },
			{ NULL, NULL }
		};

		unit_context("%s", rows[i].what);
		port_is(rows[i].traddr, "4444\n");
		d = machine(nft);
		d.addrs = (struct rdma_addrs) { &own, 1 };
		d.address = NULL;
		links[0].kind = rows[i].kind;
		check_target_blocked(&d);
		finds(&d, rows[i].severity, rows[i].words);
		if (rows[i].command)
			mends(&d, 0, rows[i].command);
	}
	d = machine(NULL);
	d.addrs = (struct rdma_addrs) { &own, 1 };
	port_is("192.0.2.1", "4420\n");
	check_target_blocked(&d);
	finds(&d, FOUND_SKIPPED, "rules of this machine are not checked");
}

/* ---- MTUs ---- */

static void mtu(void **state)
{
	static const struct {
		const char *mtu;
		struct verbs_mtu port;
		enum severity severity;
		const char *words;
	} rows[] = {
		{ "9000", { 4096, 4096 }, FOUND_OK, "RDMA has 4096" },
		{ "4200", { 4096, 4096 }, FOUND_OK, "RDMA has 4096" },
		{ "2160", { 2048, 4096 }, FOUND_NOTE, "RDMA has 2048" },
		{ "1500", { 1024, 4096 }, FOUND_NOTE, "RDMA has 1024" },
		{ "1500", { 0, 0 }, FOUND_NOTE, "RDMA has 1024" },
		{ "9000", { 1024, 4096 }, FOUND_WARNING, "has taken 1024 for RDMA of 4096" },
		{ "9000", { 2048, 2048 }, FOUND_OK, "RDMA has 2048, the most of rxe0" },
		{ "300", { 256, 4096 }, FOUND_ERROR, "the MTU of eth0 is 300" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = machine(NULL);

		unit_context("MTU %s, taken %u", rows[i].mtu, rows[i].port.active);
		file_is("sys/class/net/eth0/mtu", rows[i].mtu);
		port_mtu = rows[i].port;
		check_mtu(&d);
		finds(&d, rows[i].severity, rows[i].words);
		no_command_has(&d, "down");
	}
}

/* Pings of 9000 do not get through; the largest that does is 28 more than -s has */
static const char PING[] = "ping -n -q -M do -c 2 -i 0.2 -W 1 -s ";

static void mtu_path(void **state)
{
	static const struct {
		const char *kind, *passes, *ping;
		enum severity severity;
		const char *words;
	} rows[] = {
		{ "RoCE", "9000", "8972", FOUND_OK, "packets of 9000 bytes" },
		{ "RoCE", "4200", "4172", FOUND_WARNING, "packets of 4200 bytes" },
		{ "RoCE", "4156", "4128", FOUND_WARNING, "packets of 4156 bytes" },
		{ "RoCE", "2300", "2272", FOUND_ERROR, "packets of 2300 bytes" },
		{ "RoCE", "1500", "1472", FOUND_ERROR, "packets of 1500 bytes" },
		{ "iWARP", "1500", "1472", FOUND_WARNING, "packets of 1500 bytes" },
		{ "InfiniBand", "1500", "1472", FOUND_SKIPPED, "subnet manager" },
		{ "RoCE", "none", "1", FOUND_NOTE, "are not answered" },
	};
	size_t i;

	(void)state;
	file_is("sys/class/net/eth0/mtu", "9000");
	for (i = 0; i < NR(rows); i++) {
		/* where 4156 pass, so do 2300 */
		const struct program ping[] = {
			{ mem_fmt("%s%s ", PING, rows[i].ping), "" },
			{ !strcmp(rows[i].passes, "4156") ? mem_fmt("%s2272 ", PING) : NULL, "" },
			{ NULL, NULL }
		};
		struct doctor d = machine(ping);

		unit_context("%s, %s pass", rows[i].kind, rows[i].passes);
		links[0].kind = rows[i].kind;
		check_mtu_path(&d);
		finds(&d, rows[i].severity, rows[i].words);
		/* what fits is not made smaller */
		if (rows[i].severity == FOUND_WARNING && !strcmp(rows[i].kind, "RoCE"))
			no_command_has(&d, "eth0");
	}
}

/* ---- the way ---- */

static const struct program routed[] = {
	{ "ip -j route get 192.0.2.9",
	  "[{'dst':'192.0.2.9','gateway':'10.0.0.1','dev':'eth0','prefsrc':'10.0.0.2'}]" },
	{ "ip -j neigh show to 10.0.0.1 dev eth0",
	  "[{'dst':'10.0.0.1','state':['FAILED']}]" },
	{ "ip -j neigh show", "[]" },
	{ NULL, NULL }
};

/* The gateway has to answer on the network, if there is one */
static void gateway(void **state)
{
	static const struct program there[] = {
		{ "ip -j neigh show to 10.0.0.1 dev eth0",
		  "[{'dst':'10.0.0.1','state':['REACHABLE']}]" },
		{ NULL, NULL }
	};
	struct doctor d = machine(routed);

	(void)state;
	unit_context("a gateway");
	d.iface = NULL;
	check_route(&d);
	finds(&d, FOUND_OK, "via 10.0.0.1");
	d.nr_findings = 0;
	check_neighbour(&d);
	finds(&d, FOUND_ERROR, "nobody answers for 10.0.0.1, the gateway to 192.0.2.9,");
	d.nr_findings = 0;
	programs = there;
	check_neighbour(&d);
	finds(&d, FOUND_NOTE, "192.0.2.9 does not answer pings");
	assert_non_null(strstr(only(&d)->why, "the gateway to it, 10.0.0.1, is there"));
	mends(&d, 0, "tracepath -n 192.0.2.9");
}

/* A route is led over another interface only if the peer is on its network */
static void other_interface(void **state)
{
	static const struct program elsewhere[] = {
		{ "ip -j -4 route show match 192.0.2.9 dev eth",
		  "[{'dst':'default','gateway':'10.0.0.1'},{'dst':'default','scope':'link'}]" },
		{ NULL, NULL }
	};
	static const struct program on_eth1[] = {
		{ "ip -j -4 route show match 192.0.2.9 dev eth1",
		  "[{'dst':'default','gateway':'192.0.2.1'},{'dst':'192.0.2.0/24'}]" },
		{ "ip -j -4 route show exact 192.0.2.9",
		  "[{'dst':'192.0.2.9','dev':'mgmt0','gateway':'10.9.9.9'}]" },
		{ NULL, NULL }
	};
	struct doctor d = machine(elsewhere);

	(void)state;
	unit_context("another network");
	file_is("sys/class/net/mgmt0/type", "1");
	d.iface = "mgmt0";
	check_rdma_path(&d);
	finds(&d, FOUND_ERROR, "leads over mgmt0, which has no RDMA device");
	no_command_has(&d, "ip route replace");
	mends(&d, 0, "rdma link add rxe0 type rxe netdev mgmt0");
	d = machine(on_eth1);
	unit_context("its network");
	d.iface = "mgmt0";
	check_rdma_path(&d);
	mends(&d, 0, "ip route replace 192.0.2.9 dev eth1");
	assert_non_null(strstr(only(&d)->why, "ssh, too, goes by eth1 then"));
	assert_non_null(strstr(only(&d)->why, "somebody has set, over mgmt0 via 10.9.9.9"));
}

static void no_route(void **state)
{
	struct doctor d = machine(NULL);

	(void)state;
	unit_context("no route");
	d.iface = NULL;
	check_route(&d);
	finds(&d, FOUND_ERROR, "no route to 192.0.2.9");
	/* of two interfaces none is guessed */
	mends(&d, 0, "ip route add 192.0.2.9 dev IFACE");
	mends(&d, 1, "ip route add 192.0.2.9 via GATEWAY");
	d = machine(NULL);
	d.iface = NULL;
	d.links.nr = 1;
	check_route(&d);
	mends(&d, 0, "ip route add 192.0.2.9 dev eth0");
}

/* A route by a gateway stays one; what down and up removes is printed */
static void no_gid(void **state)
{
	static struct rdma_addr own = { .text = "10.0.0.2", .family = AF_INET, .netdev = "eth0" };
	struct doctor d = machine(NULL);

	(void)state;
	unit_context("no GID");
	d.addrs = (struct rdma_addrs) { &own, 1 };
	d.gateway = "10.0.0.1";
	check_gid(&d);
	finds(&d, FOUND_ERROR, "rxe0 has no GID of 192.0.2.1");
	mends(&d, 0, "ip route replace 192.0.2.9 via 10.0.0.1 dev eth0 src 10.0.0.2");
	d = machine(NULL);
	check_gid(&d);
	mends(&d, 0, "ip link set eth0 down && ip link set eth0 up");
	assert_non_null(strstr(only(&d)->why, "static routes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(firewall),
		cmocka_unit_test(firewall_iwarp),
		cmocka_unit_test(firewall_there),
		cmocka_unit_test(firewall_perhaps),
		cmocka_unit_test(firewall_unread),
		cmocka_unit_test(firewall_target),
		cmocka_unit_test(mtu),
		cmocka_unit_test(mtu_path),
		cmocka_unit_test(gateway),
		cmocka_unit_test(other_interface),
		cmocka_unit_test(no_route),
		cmocka_unit_test(no_gid),
	};

	return run_on_machine(tests, NR(tests));
}
