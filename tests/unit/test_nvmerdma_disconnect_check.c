// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma: which changes affect a host that is connected, or that may be
 *
 * Port 1 (rdma) and port 2 (tcp) offer one subsystem to two hosts, one of them with a key. The
 * kernel reports connected hosts only for RDMA.
 */
#include "harness.h"

#include <string.h>

#include "tools/nvmerdma/rdma/connected-hosts.h"

#define A	"nqn.2026-01.test:a"
#define ONE	"nqn.2026-01.test:one"
#define TWO	"nqn.2026-01.test:two"

static struct connected_hosts there;

struct connected_hosts hosts_read(const char *root)
{
	(void)root;
	return there;
}

bool hosts_known_at(const struct connected_hosts *peers, const struct node *port)
{
	return peers->core || node_is(port, "addr_trtype", "rdma");
}

static struct node *target(void)
{
	struct node *root = node_root(), *subsys = node_add(root, &schema_subsys, A), *node;

	node_set(node_add(root, &schema_host, ONE), "dhchap_key", "");
	node = node_add(root, &schema_host, TWO);
	node_set(node, "dhchap_key", "KEY");
	node_set(node, "dhchap_ctrl_key", "");
	node_set(subsys, "attr_allow_any_host", "0");
	node_set(subsys, "attr_serial", "ONE");
	node_link(subsys, ONE);
	node_link(subsys, TWO);
	node = node_add(subsys, &schema_ns, "1");
	node_set(node, "device_path", "/dev/a");
	node_set(node, "enable", "1");
	node = node_add(root, &schema_port, "1");
	node_set(node, "addr_trtype", "rdma");
	node_set(node, "param_pi_enable", "0");
	node_link(node, A);
	node = node_add(root, &schema_port, "2");
	node_set(node, "addr_trtype", "tcp");
	return root;
}

static struct node *of(struct node *root, const struct schema *shape, const char *name)
{
	struct node *node = node_find(root, shape, name);

	assert_non_null(node);
	return node;
}

/* ---- changes ---- */

static void nothing(struct node *root)
{
	(void)root;
}

static void unexport(struct node *root)
{
	node_unlink(of(root, &schema_port, "1"), A);
	node_remove(of(root, &schema_subsys, A));
}

static void close_port_1(struct node *root)
{
	node_unlink(of(root, &schema_port, "1"), A);
}

static void other_serial(struct node *root)
{
	node_set(of(root, &schema_subsys, A), "attr_serial", "TWO");
}

static void other_disk(struct node *root)
{
	node_set(of(of(root, &schema_subsys, A), &schema_ns, "1"), "device_path", "/dev/b");
}

static void other_port(struct node *root)
{
	node_set(of(root, &schema_port, "1"), "addr_trsvcid", "4421");
}

static void shut_out_one(struct node *root)
{
	node_unlink(of(root, &schema_subsys, A), ONE);
}

static void open_to_all(struct node *root)
{
	struct node *subsys = of(root, &schema_subsys, A);

	node_unlink(subsys, ONE);
	node_unlink(subsys, TWO);
	node_set(subsys, "attr_allow_any_host", "1");
}

static void key_for_one(struct node *root)
{
	node_set(of(root, &schema_host, ONE), "dhchap_key", "KEY");
}

static void other_key_for_two(struct node *root)
{
	node_set(of(root, &schema_host, TWO), "dhchap_key", "OTHER");
}

static void no_key_for_two(struct node *root)
{
	node_set(of(root, &schema_host, TWO), "dhchap_key", "");
}

static void controllers_key(struct node *root)
{
	node_set(of(root, &schema_host, TWO), "dhchap_ctrl_key", "KEY");
}

static void another_subsystem(struct node *root)
{
	node_add(root, &schema_subsys, "nqn.2026-01.test:b");
	node_link(of(root, &schema_port, "1"), "nqn.2026-01.test:b");
}

/* ---- connected hosts ---- */

static const struct connected_host one_at_1 = {
	.subsys = A, .host = ONE, .addr = "192.0.2.2", .port = 1, .port_known = true,
};

static const struct connected_host one_at_2 = {
	.subsys = A, .host = ONE, .addr = "", .port = 2, .port_known = true,
};

static const struct connected_host two_somewhere = { .subsys = A, .host = TWO, .addr = "" };

static const struct connected_host one_of_another = {
	.subsys = "nqn.2026-01.test:b", .host = ONE, .addr = "", .port = 1, .port_known = true,
};

static const struct connected_host who_uses_what = { .host = ONE, .addr = "" };

static void cuts(void **state)
{
	static const struct {
		const char *what;
		void (*change)(struct node *root);
		const struct connected_host *peer;
		bool refused;
	} rows[] = {
		{ "nothing changes", nothing, &one_at_1, false },
		{ "nobody is there", unexport, NULL, false },
		{ "it goes", unexport, &one_at_1, true },
		{ "it goes, by the port that stays", close_port_1, &one_at_2, false },
		{ "who uses another one", unexport, &one_of_another, false },
		{ "it goes, and nobody knows what it uses", unexport, &who_uses_what, true },
		{ "its port goes", close_port_1, &one_at_1, true },
		{ "a port goes, which it may use", close_port_1, &two_somewhere, true },
		{ "it is made anew", other_serial, &one_at_1, true },
		{ "another disk", other_disk, &one_at_2, true },
		{ "its port changes", other_port, &one_at_1, true },
		{ "it is shut out", shut_out_one, &one_at_1, true },
		{ "the other one is", shut_out_one, &two_somewhere, false },
		{ "any host is let in", open_to_all, &one_at_1, false },
		{ "it needs a key", key_for_one, &one_at_1, true },
		{ "the other one does", key_for_one, &two_somewhere, false },
		{ "another key", other_key_for_two, &two_somewhere, true },
		{ "another's other key", other_key_for_two, &one_at_1, false },
		{ "no key any more", no_key_for_two, &two_somewhere, false },
		{ "a key of the controller, which it need not ask", controllers_key,
		  &two_somewhere, false },
		{ "something comes", another_subsystem, &one_at_1, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct node *have = target(), *want = node_copy(have);
		struct connected_host peer = rows[i].peer ? *rows[i].peer : one_at_1;

		unit_context("%s", rows[i].what);
		rows[i].change(want);
		there = (struct connected_hosts){ .peer = &peer,
						  .nr = rows[i].peer ? 1 : 0,
						  .core = true };
		unit_equal(rows[i].refused, check_no_disconnect(have, want) != 0);
	}
}

/* allow_any_host goes, and only some are named */
static void any_host_no_more(void **state)
{
	struct node *have = target(), *subsys = of(have, &schema_subsys, A), *want;
	struct connected_host peer = one_at_1;

	(void)state;
	want = node_copy(have);
	node_unlink(of(want, &schema_subsys, A), TWO);
	node_unlink(subsys, ONE);
	node_unlink(subsys, TWO);
	node_set(subsys, "attr_allow_any_host", "1");
	there = (struct connected_hosts) { .peer = &peer, .nr = 1, .core = true };
	unit_context("one who is named");
	unit_equal(0, check_no_disconnect(have, want) != 0);
	unit_context("one who is not");
	peer = two_somewhere;
	unit_equal(1, check_no_disconnect(have, want) != 0);
}

/* Hosts connected by TCP are not reported */
static void unknown(void **state)
{
	static const struct {
		const char *what;
		void (*change)(struct node *root);
		bool refused;
	} rows[] = {
		{ "nothing changes", nothing, false },
		{ "a port of which all is known goes", close_port_1, false },
		{ "another disk", other_disk, true },
		{ "it is made anew", other_serial, true },
		{ "one is shut out", shut_out_one, true },
		{ "any host is let in", open_to_all, false },
		{ "another key", other_key_for_two, true },
		{ "something comes", another_subsystem, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct node *have = target(), *want;

		unit_context("%s", rows[i].what);
		node_link(of(have, &schema_port, "2"), A);
		want = node_copy(have);
		rows[i].change(want);
		there = (struct connected_hosts) { .ours = true };
		unit_equal(rows[i].refused, check_no_disconnect(have, want) != 0);
		there.core = true;
		unit_equal(0, check_no_disconnect(have, want) != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts),
		cmocka_unit_test(any_host_no_more),
		cmocka_unit_test(unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
