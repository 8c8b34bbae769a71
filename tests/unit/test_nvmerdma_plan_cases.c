// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma: plans, case by case; those at random are in test_nvmerdma_plan.c */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "nvmerdma_kernel_cases.h"
#include "tools/nvmerdma/config/config.h"

static struct node *some(struct node *parent, const struct schema *shape, const char *name)
{
	struct node *node = node_add(parent, shape, name);

	kernel_defaults(node, K7_2);
	return node;
}

/* ---- which steps ---- */

/* Hosts of an unchanged subsystem notice no change beside it */
static void others_undisturbed(void **state)
{
	struct node *have = node_root(), *want, *port;
	struct plan plan;
	size_t i;

	(void)state;
	some(have, &schema_subsys, "nqn.a");
	some(have, &schema_subsys, "nqn.b");
	port = some(have, &schema_port, "1");
	node_set(port, "addr_trtype", "rdma");
	node_link(port, "nqn.a");
	node_link(port, "nqn.b");
	want = node_copy(have);
	node_unlink(node_find(want, &schema_port, "1"), "nqn.b");
	node_remove(node_find(want, &schema_subsys, "nqn.b"));
	plan = plan_make(have, want);
	assert_true(plan.nr > 1);
	for (i = 0; i < plan.nr; i++)
		assert_null(strstr(step_path(&plan.step[i]), "nqn.a"));
}

/* An attribute that may change while in use changes in one step */
static void changes_in_use(void **state)
{
	struct node *have = node_root(), *want, *subsys, *ns;
	struct plan plan;

	(void)state;
	subsys = some(have, &schema_subsys, "nqn.a");
	ns = some(subsys, &schema_ns, "1");
	node_set(ns, "device_path", "/dev/a");
	node_set(ns, "enable", "1");
	want = node_copy(have);
	ns = node_find(node_find(want, &schema_subsys, "nqn.a"), &schema_ns, "1");
	node_set(ns, "ana_grpid", "5");
	plan = plan_make(have, want);
	unit_equal(1, plan.nr);
	assert_string_equal("echo 5 > subsystems/nqn.a/namespaces/1/ana_grpid",
			    step_shell(&plan.step[0]));
}

/* A port whose values the transport chose has the requested values */
static void chosen_by_transport(void **state)
{
	struct node *have = offered("rdma"), *want = offered("rdma");

	(void)state;
	node_set(port_of(have), "param_inline_data_size", "4096");
	node_set(port_of(want), "param_inline_data_size", "-1");
	unit_equal(0, plan_make(have, want).nr);
	node_set(port_of(want), "param_inline_data_size", "0x1000");
	unit_equal(0, plan_make(have, want).nr);
	/* The link goes, the value comes, the link comes */
	node_set(port_of(want), "param_inline_data_size", "8192");
	unit_equal(3, plan_make(have, want).nr);
}

static void in_words(void **state)
{
	const struct node *root = offered("rdma");
	struct node *host = node_add(node_root(), &schema_host, "nqn.h");
	struct step step = {
		.kind = STEP_LINK, .node = root->below->next, .name = "nqn.a",
	};

	(void)state;
	assert_string_equal("+ port 1 offers nqn.a", step_words(&step));
	assert_string_equal("ln -s /sys/kernel/config/nvmet/subsystems/nqn.a ports/1/subsystems/nqn.a",
			    step_shell(&step));
	step = (struct step) { .kind = STEP_WRITE, .node = host, .name = "dhchap_key",
			       .value = "DHHC-1:00:secret:", .old = "" };
	assert_null(strstr(step_words(&step), "secret"));
	assert_string_equal("echo KEY > hosts/nqn.h/dhchap_key  # the key is not shown",
			    step_shell(&step));
	step.value = "";
	assert_string_equal("printf '\\0' > hosts/nqn.h/dhchap_key", step_shell(&step));
	step = (struct step) { .kind = STEP_WRITE, .node = root->below->next,
			       .name = "addr_treq", .value = "not required" };
	assert_string_equal("echo 'not required' > ports/1/addr_treq", step_shell(&step));
	/* Where it is not known whether the kernel has it */
	step.optional = true;
	assert_string_equal("[ ! -e ports/1/addr_treq ] || echo 'not required' > ports/1/addr_treq",
			    step_shell(&step));
}

/* ---- values that a file lacks ---- */

/* "enable" that is not named stays, also over a change that needs it to be off */
static void enable_not_named(void **state)
{
	struct node *have = node_root(), *want = node_root(), *ns;
	struct nvmet nvmet;

	(void)state;
	ns = some(some(have, &schema_subsys, "nqn.a"), &schema_ns, "1");
	node_set(ns, "device_path", "/dev/a");
	node_set(ns, "enable", "1");
	ns = node_add(node_add(want, &schema_subsys, "nqn.a"), &schema_ns, "1");
	node_set(ns, "device_path", "/dev/b");
	nvmet = kernel_with(have, K7_2, false);
	assert_true(change(&nvmet, want) > 0);
	ns = node_find(subsys_of(nvmet.root), &schema_ns, "1");
	is("/dev/b", ns, "device_path");
	is("1", ns, "enable");
}

/* A subsystem that is created again for another serial number: disk and hosts stay */
static void anew_not_named(void **state)
{
	struct node *have = node_root(), *want = node_root(), *ns;
	struct nvmet nvmet;

	(void)state;
	node_set(some(have, &schema_subsys, "nqn.a"), "attr_allow_any_host", "1");
	node_set(subsys_of(have), "attr_serial", "1");
	ns = some(subsys_of(have), &schema_ns, "1");
	node_set(ns, "device_path", "/dev/a");
	node_set(ns, "device_uuid", "1111");
	node_set(ns, "enable", "1");
	node_set(node_add(want, &schema_subsys, "nqn.a"), "attr_serial", "2");
	node_add(subsys_of(want), &schema_ns, "1");
	nvmet = kernel_with(have, K7_2, false);
	assert_true(change(&nvmet, want) > 0);
	is("2", subsys_of(nvmet.root), "attr_serial");
	is("1", subsys_of(nvmet.root), "attr_allow_any_host");
	ns = node_find(subsys_of(nvmet.root), &schema_ns, "1");
	is("1111", ns, "device_uuid");
	is("1", ns, "enable");
	/* But a list of hosts determines which hosts are allowed */
	node_add(want, &schema_host, "nqn.h");
	node_link(subsys_of(want), "nqn.h");
	assert_true(change(&nvmet, want) > 0);
	is("0", subsys_of(nvmet.root), "attr_allow_any_host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_undisturbed),
		cmocka_unit_test(changes_in_use),
		cmocka_unit_test(chosen_by_transport),
		cmocka_unit_test(in_words),
		cmocka_unit_test(enable_not_named),
		cmocka_unit_test(anew_not_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
