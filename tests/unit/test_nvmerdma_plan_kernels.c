// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma: plans, case by case, where kernels differ or have a mind of their own */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "nvmerdma_kernel_cases.h"
#include "tools/nvmerdma/config/plan.h"

/* ---- TLS ---- */

static struct node *with_tls(void)
{
	struct node *root = offered("tcp");

	node_set(port_of(root), "addr_tsas", "tls1.3");
	node_set(port_of(root), "addr_treq", "required");
	return root;
}

/* Each step of the way from TLS to RDMA fails once: the port has TLS again before it listens */
static void tls_comes_back(void **state)
{
	struct node *want = offered("rdma");
	int at;

	(void)state;
	node_set(port_of(want), "addr_tsas", "connected");
	node_set(port_of(want), "addr_treq", "not specified");
	for (at = 0; at < 5; at++) {
		struct nvmet nvmet = made(with_tls(), K6_12, false);
		unsigned int before = error_count();

		nvmet.fails_at = at;
		unit_context("step %d fails", at);
		assert_int_equal(-1, change(&nvmet, want));
		unit_equal(before + 1, error_count());
		is("tcp", port_of(nvmet.root), "addr_trtype");
		is("tls1.3", port_of(nvmet.root), "addr_tsas");
		is("required", port_of(nvmet.root), "addr_treq");
		assert_true(node_linked(port_of(nvmet.root), "nqn.a"));
	}
}

/* To write addr_tsas puts addr_treq back, which is written once more */
static void tls_goes(void **state)
{
	struct nvmet nvmet = made(with_tls(), K6_12, false);
	struct node *want = with_tls();

	(void)state;
	node_set(port_of(want), "addr_tsas", "none");
	assert_true(change(&nvmet, want) > 0);
	is("none", port_of(nvmet.root), "addr_tsas");
	is("required", port_of(nvmet.root), "addr_treq");
	assert_int_equal(0, change(&nvmet, want));
}

/* ---- kernels that lack something ---- */

/* What each kernel makes of a file that names an attribute of a newer one */
static void newer_file(void **state)
{
	static const struct {
		const struct schema *shape;
		const char *attr, *value;
		unsigned int since;
		bool refused;
	} rows[] = {
		{ &schema_root, "discovery_nqn", "nqn.2014-08.org.nvmexpress.discovery", K6_12,
		  false },
		{ &schema_root, "discovery_nqn", "nqn.mine", K6_12, false },
		{ &schema_port, "param_max_queue_size", "128", K6_12, false },
		{ &schema_port, "param_max_queue_size", "-1", K6_12, false },
		{ &schema_port, "param_mdts", "5", K7_2, false },
		{ &schema_port, "param_mdts", "-1", K7_2, false },
		{ &schema_port, "addr_tsas", "none", K6_12, false },
		{ &schema_port, "addr_tsas", "tls1.3", K6_12, true },
		{ &schema_port, "addr_tsas", "datagram", K6_12, true },
		{ &schema_subsys, "attr_firmware", "6.12.117", K6_12, false },
		{ &schema_subsys, "attr_ieee_oui", "0x000000", K6_12, false },
		{ &schema_subsys, "attr_ieee_oui", "0x123456", K6_12, true },
		{ &schema_subsys, "attr_vendor_id", "0x0", K7_2, false },
		{ &schema_subsys, "attr_vendor_id", "0x1af4", K7_2, true },
		/* MLNX_OFED's attributes, which no kernel has; misspelt ones do not exist either */
		{ &schema_subsys, "attr_offload", "1", K7_2 + 1, false },
		{ &schema_subsys, "attr_offload", "0", K7_2 + 1, false },
		{ &schema_port, "param_offload_queues", "1", K7_2 + 1, false },
		{ &schema_subsys, "attr_seriel", "0", K7_2 + 1, true },
	};
	static const unsigned int versions[] = { K6_1, K6_12, K7_2 };
	size_t i, v;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct node *want = offered("tcp"), *node;

		node = rows[i].shape == &schema_root ? want :
			rows[i].shape == &schema_port ? port_of(want) : subsys_of(want);
		node_set(node, rows[i].attr, rows[i].value);
		for (v = 0; v < NR(versions) && versions[v] < rows[i].since; v++) {
			struct nvmet nvmet = made(node_root(), versions[v], false);

			unit_context("%s %s on %u", rows[i].attr, rows[i].value, versions[v]);
			unit_equal(rows[i].refused, change(&nvmet, want) < 0);
			unit_equal(!rows[i].refused, !!port_of(nvmet.root));
			if (!rows[i].refused)
				assert_int_equal(0, change(&nvmet, want));
		}
	}
}

/* A value left out is reported each time, and only if it matters */
static void left_out_in_words(void **state)
{
	struct nvmet nvmet = made(offered("tcp"), K6_1, false);
	struct node *want = offered("tcp");
	struct plan plan;

	(void)state;
	node_set(want, "discovery_nqn", "nqn.2014-08.org.nvmexpress.discovery");
	node_set(port_of(want), "param_mdts", "-1");
	node_set(port_of(want), "addr_tsas", "none");
	unit_equal(0, plan_make(nvmet.root, want).nr_left);
	node_set(want, "discovery_nqn", "nqn.mine");
	node_set(port_of(want), "param_mdts", "5");
	plan = plan_make(nvmet.root, want);
	unit_equal(0, plan.nr);
	unit_equal(2, plan.nr_left);
	assert_string_equal("discovery_nqn", plan.left[0].name);
	assert_string_equal("param_mdts", plan.left[1].name);
}

/* ---- values that a kernel lowers ---- */

static void is_lowered(void **state)
{
	static const struct {
		const char *attr, *asked, *got;
		bool in_tree;
	} rows[] = {
		{ "param_pi_enable", "1", "0", false }, { "param_pi_enable", "1", "0", true },
		{ "param_inline_data_size", "65536", "16384", true },
		{ "param_inline_data_size", "65536", "65536", false },
		{ "param_max_queue_size", "1024", "256", true },
		{ "param_max_queue_size", "8", "16", false },
		{ "param_max_queue_size", "2000", "1024", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct node *want = offered("rdma");
		struct nvmet nvmet;
		struct plan plan;

		node_set(port_of(want), rows[i].attr, rows[i].asked);
		nvmet = made(want, K6_12, rows[i].in_tree);
		unit_context("%s %s%s", rows[i].attr, rows[i].asked,
			     rows[i].in_tree ? ", in-tree" : "");
		is(rows[i].got, port_of(nvmet.root), rows[i].attr);
		plan = plan_make(nvmet.root, want);
		unit_equal(0, plan.nr);
		unit_equal(strcmp(rows[i].asked, rows[i].got) != 0, plan.nr_left);
		/* Where the port has to start again it is asked again */
		node_set(port_of(want), "addr_traddr", "192.0.2.2");
		plan = plan_make(nvmet.root, want);
		unit_equal(strcmp(rows[i].asked, rows[i].got) ? 4 : 3, plan.nr);
		unit_equal(0, plan.nr_left);
	}
}

/* A value that was set can be changed: a step too small to be lowered is no step */
static void is_not_lowered(void **state)
{
	static const struct {
		const char *attr, *have, *want;
		bool in_tree;
	} rows[] = {
		{ "param_pi_enable", "1", "0", false },
		{ "param_inline_data_size", "16384", "65536", false },
		{ "param_inline_data_size", "4096", "16384", true },
		{ "param_inline_data_size", "16384", "4096", true },
		{ "param_max_queue_size", "256", "1024", false },
		{ "param_max_queue_size", "128", "256", true },
		{ "param_max_queue_size", "16", "32", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct node *have = offered("rdma"), *want = offered("rdma");

		port_of(have)->in_tree = rows[i].in_tree;
		node_set(port_of(have), rows[i].attr, rows[i].have);
		node_set(port_of(want), rows[i].attr, rows[i].want);
		unit_context("%s %s to %s", rows[i].attr, rows[i].have, rows[i].want);
		unit_equal(3, plan_make(have, want).nr);
	}
}

/* The requested value is saved, for a boot at which the device supports it */
static void wish_is_kept(void **state)
{
	struct node *want = offered("rdma"), *now;

	(void)state;
	node_set(port_of(want), "addr_trsvcid", "4420");
	node_set(port_of(want), "param_pi_enable", "1");
	node_set(port_of(want), "param_inline_data_size", "-1");
	now = node_copy(want);
	node_set(port_of(now), "param_pi_enable", "0");
	node_set(port_of(now), "param_inline_data_size", "4096");
	keep_requested_values(now, NULL);
	is("0", port_of(now), "param_pi_enable");
	keep_requested_values(now, want);
	is("1", port_of(now), "param_pi_enable");
	is("4096", port_of(now), "param_inline_data_size");
	/* Nothing is known about another port of that name, or an unused one */
	node_set(port_of(now), "param_pi_enable", "0");
	node_set(port_of(now), "addr_traddr", "192.0.2.9");
	keep_requested_values(now, want);
	is("0", port_of(now), "param_pi_enable");
	node_set(port_of(now), "addr_traddr", "192.0.2.1");
	node_unlink(port_of(now), "nqn.a");
	keep_requested_values(now, want);
	is("0", port_of(now), "param_pi_enable");
}

/* ---- what does not exist yet, and what cannot be reset ---- */

/* A subsystem's name is free only after its last controller has ended */
static void name_not_free_yet(void **state)
{
	struct node *want = offered("rdma");
	struct nvmet nvmet;

	(void)state;
	node_set(subsys_of(want), "attr_serial", "1");
	nvmet = made(want, K7_2, false);
	node_set(subsys_of(want), "attr_serial", "2");
	nvmet.busy = 20;
	assert_true(change(&nvmet, want) > 0);
	unit_equal(20, nvmet.naps);
	is("2", subsys_of(nvmet.root), "attr_serial");

	/* Also on the way back */
	node_set(subsys_of(want), "attr_serial", "3");
	nvmet.busy = 20;
	nvmet.fails_at = 2;		/* rm, rmdir, mkdir */
	assert_int_equal(-1, change(&nvmet, want));
	unit_equal(40, nvmet.naps);
	is("2", subsys_of(nvmet.root), "attr_serial");
	assert_true(node_linked(port_of(nvmet.root), "nqn.a"));

	/* And not for ever */
	nvmet.busy = 1000000;
	assert_int_equal(-1, change(&nvmet, want));
	assert_true(nvmet.naps < 1000);
}

/* param_mdts cannot be reset to -1: the port is created again, and the change can be undone */
static void mdts_goes_back(void **state)
{
	struct node *want = offered("rdma");
	struct nvmet nvmet;
	int at, nr = 1;

	(void)state;
	node_set(node_add(port_of(want), &schema_ana, "1"), "ana_state", "inaccessible");
	for (at = 0; at <= nr; at++) {
		unsigned int before = error_count();

		node_set(port_of(want), "param_mdts", "-1");
		nvmet = made(want, K7_2, false);
		node_set(port_of(want), "param_mdts", "5");
		nr = plan_make(nvmet.root, want).nr;
		nvmet.fails_at = at < nr ? at : -1;
		unit_context("step %d of %d fails", at, nr);
		unit_equal(at < nr, change(&nvmet, want) < 0);
		unit_equal(before + (at < nr), error_count());
		is(at < nr ? "-1" : "5", port_of(nvmet.root), "param_mdts");
		is("inaccessible", node_find(port_of(nvmet.root), &schema_ana, "1"), "ana_state");
		assert_true(node_linked(port_of(nvmet.root), "nqn.a"));
	}
	assert_int_equal(0, change(&nvmet, want));
}

/* Ranges of controller IDs that touch, up and down, on the kernel that takes no single one */
static void ranges_that_touch(void **state)
{
	static const char * const to[][2] = {
		{ "50", "100" }, { "100", "200" }, { "200", "300" }, { "100", "200" },
		{ "50", "150" }, { "150", "151" }, { "50", "150" },
	};
	struct nvmet nvmet = made(offered("rdma"), K6_1, false);
	struct node *want = offered("rdma");
	size_t i;

	(void)state;
	for (i = 0; i < NR(to); i++) {
		node_set(subsys_of(want), "attr_cntlid_min", to[i][0]);
		node_set(subsys_of(want), "attr_cntlid_max", to[i][1]);
		unit_context("to %s-%s", to[i][0], to[i][1]);
		unit_equal(2, change(&nvmet, want));
	}
}

/* What cannot be on this kernel, and matters, is refused, and nothing is left of it */
static void kernel_lacks(void **state)
{
	struct nvmet nvmet = made(offered("rdma"), K6_1, false);
	struct node *want = offered("rdma"), *other;

	(void)state;
	node_set(port_of(want), "addr_traddr", "192.0.2.2");
	other = node_add(want, &schema_subsys, "nqn.b");
	node_set(other, "attr_allow_any_host", "1");
	node_set(other, "attr_vendor_id", "0x1af4");
	assert_int_equal(-1, change(&nvmet, want));
	assert_null(node_find(nvmet.root, &schema_subsys, "nqn.b"));
	is("192.0.2.1", port_of(nvmet.root), "addr_traddr");
	assert_true(node_linked(port_of(nvmet.root), "nqn.a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tls_comes_back),
		cmocka_unit_test(tls_goes),
		cmocka_unit_test(newer_file),
		cmocka_unit_test(left_out_in_words),
		cmocka_unit_test(is_lowered),
		cmocka_unit_test(is_not_lowered),
		cmocka_unit_test(wish_is_kept),
		cmocka_unit_test(name_not_free_yet),
		cmocka_unit_test(mdts_goes_back),
		cmocka_unit_test(ranges_that_touch),
		cmocka_unit_test(kernel_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
