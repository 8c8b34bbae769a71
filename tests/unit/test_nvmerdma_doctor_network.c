// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma/doctor, the way to the peer: what its checks find, and that the commands
 * they print do no harm
 */
#include "machine.h"

/* ---- a firewall ---- */

/* Only a peer that resolves and stays silent is one; rules here are named if there are any */
static void firewall(void **state)
{
	static const struct program nft[] = {
		{ "nft list ruleset", "table inet filter {\n}" }, { NULL, NULL }
	};
	static const struct program no_rules[] = {
		{ "nft list ruleset", "" }, { NULL, NULL }
	};
	static const struct {
		const char *what;
		struct verbs_answer answer;
		enum severity severity;
		const char *words;
	} rows[] = {
		{ "silent", { .step = STEP_CONNECT, .error = ETIMEDOUT }, FOUND_ERROR,
		  "that is what a firewall looks like" },
		{ "rejected", { .step = STEP_CONNECT, .rejected = true }, FOUND_OK,
		  "the peer is heard" },
		{ "no Connect", { .step = STEP_COMMAND, .error = ETIMEDOUT }, FOUND_OK,
		  "the peer is heard" },
		{ "connected", { .step = STEP_DONE }, FOUND_OK, "the peer is heard" },
		{ "not resolved", { .step = STEP_ADDRESS, .error = ETIMEDOUT }, FOUND_SKIPPED,
		  "no connection request was sent" },
		{ "not asked", { .step = STEP_NOT_TRIED }, FOUND_SKIPPED,
		  "no connection request was sent" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = machine(nft);

		unit_context("%s", rows[i].what);
		d.answer = rows[i].answer;
		check_port_blocked(&d);
		finds(&d, rows[i].severity, rows[i].words);
		if (rows[i].severity != FOUND_ERROR)
			continue;
		unit_equal(2, only(&d)->nr_remedies);
		mends(&d, 0, "nft list ruleset; rdma link");
		mends(&d, 1, "nft list ruleset");
		unit_equal(TARGET, only(&d)->remedy[0].where);
		assert_non_null(strstr(only(&d)->why, "UDP to port 4791"));
		programs = no_rules;
		links[0].kind = "iWARP";
		d.nr_findings = 0;
		check_port_blocked(&d);
		unit_equal(1, only(&d)->nr_remedies);
		assert_non_null(strstr(only(&d)->why, "TCP to port 4420"));
	}
}

/* ---- MTUs ---- */

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
	/* IP, UDP, BTH, RETH, ICRC */
	assert_int_equal(roce_packet(4096, false), 4096 + 20 + 8 + 12 + 16 + 4);
	assert_int_equal(roce_packet(4096, true), 4096 + 40 + 8 + 12 + 16 + 4);
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

/* Which interface is on the peer's network is not guessed */
static void other_interface(void **state)
{
	struct doctor d = machine(NULL);

	(void)state;
	unit_context("another network");
	file_is("sys/class/net/mgmt0/type", "1");
	d.iface = "mgmt0";
	check_rdma_path(&d);
	finds(&d, FOUND_ERROR, "leads over mgmt0, which has no RDMA device");
	mends(&d, 0, "ip route replace 192.0.2.9 dev IFACE");
	mends(&d, 1, "rdma link add rxe0 type rxe netdev mgmt0");
	assert_non_null(strstr(only(&d)->why, "ssh, too, goes by it then"));
	assert_non_null(strstr(only(&d)->why, "that somebody has set is replaced"));
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
		cmocka_unit_test(roce_sizes),
		cmocka_unit_test(mtu_path),
		cmocka_unit_test(gateway),
		cmocka_unit_test(other_interface),
		cmocka_unit_test(no_route),
		cmocka_unit_test(no_gid),
	};

	return run_on_machine(tests, NR(tests));
}
