// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma: a file does not determine which target serves a disk of nvmerdma-ha */
#include "harness.h"

#include "tools/nvmerdma/restore/restore.h"

#define A	"nqn.2026-01.test:a"

/* One disk, in ANA group 2 of port 1, which is in the state @state; NULL: no such group */
static struct node *target(const char *path, const char *state)
{
	struct node *root = node_root(), *port = node_add(root, &schema_port, "1");
	struct node *ns = node_add(node_add(root, &schema_subsys, A), &schema_ns, "1");

	node_set(ns, "device_path", path);
	node_set(ns, "ana_grpid", "2");
	node_link(port, A);
	node_set(node_add(port, &schema_ana, "1"), "ana_state", "optimized");
	if (state)
		node_set(node_add(port, &schema_ana, "2"), "ana_state", state);
	return root;
}

static const char *state_of(const struct node *root, const char *group)
{
	const struct node *port = node_find(root, &schema_port, "1");

	return node_get(node_find(port, &schema_ana, group), "ana_state");
}

#define MOVED	"/dev/mapper/nvmerdma-r0"

static void states(void **state)
{
	static const struct {
		const char *what, *path, *have, *want, *is;
	} rows[] = {
		{ "served, and saved while it was not", MOVED, "optimized", "inaccessible",
		  "optimized" },
		{ "not served, and saved while it was", MOVED, "inaccessible", "optimized",
		  "inaccessible" },
		{ "the port has no such group", MOVED, NULL, "optimized", "inaccessible" },
		{ "by its other name", "/dev/disk/by-id/dm-name-nvmerdma-r0", NULL, "optimized",
		  "inaccessible" },
		{ "any other disk", "/dev/mapper/vg-r0", "inaccessible", "optimized",
		  "optimized" },
	};
	struct node *want;
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		unit_context("%s", rows[i].what);
		want = target(rows[i].path, rows[i].want);
		standby_apply(target(rows[i].path, rows[i].have), want);
		assert_string_equal(rows[i].is, state_of(want, "2"));
		assert_string_equal("optimized", state_of(want, "1"));
	}
}

/* The group was another disk's, or unused: after 'unexport' nothing has set "optimized" */
static void what_a_group_says_of_others(void **state)
{
	struct node *have = target(MOVED, "optimized"), *want = target(MOVED, "optimized");
	struct node *subsys = node_find(have, &schema_subsys, A), *port;

	(void)state;
	node_remove(node_find(subsys, &schema_ns, "1"));
	standby_apply(have, want);
	assert_string_equal("inaccessible", state_of(want, "2"));
	want = target(MOVED, "optimized");
	standby_apply(target("/dev/mapper/nvmerdma-r1", "optimized"), want);
	assert_string_equal("inaccessible", state_of(want, "2"));
	have = target(MOVED, "optimized");
	want = target(MOVED, "optimized");
	node_set(node_find(node_find(have, &schema_subsys, A), &schema_ns, "1"), "ana_grpid", "3");
	standby_apply(have, want);
	assert_string_equal("inaccessible", state_of(want, "2"));
	have = target(MOVED, "optimized");
	want = target(MOVED, "optimized");
	port = node_find(have, &schema_port, "1");
	node_unlink(port, A);
	standby_apply(have, want);
	assert_string_equal("inaccessible", state_of(want, "2"));
}

static void own_group(void **state)
{
	struct node *root = target("/dev/sda", NULL), *b, *ns;

	(void)state;
	b = node_add(root, &schema_subsys, "nqn.2026-01.test:b");
	ns = node_add(b, &schema_ns, "1");
	node_set(ns, "device_path", "/dev/sdb");
	standby_own_group(root, ns);
	assert_null(node_get(ns, "ana_grpid"));
	node_set(ns, "device_path", MOVED);
	standby_own_group(root, ns);
	assert_string_equal("3", node_get(ns, "ana_grpid"));
	assert_string_equal("r0", standby_resource(MOVED));
}

static void at_boot(void **state)
{
	struct node *want = target(MOVED, "optimized");

	(void)state;
	standby_apply(node_root(), want);
	assert_string_equal("inaccessible", state_of(want, "2"));
}

/* nvmet's defaults are group 1, and optimized */
static void file_without_groups(void **state)
{
	struct node *want = target(MOVED, NULL);

	(void)state;
	standby_apply(node_root(), want);
	assert_string_equal("inaccessible", state_of(want, "2"));
	want = node_root();
	node_set(node_add(node_add(want, &schema_subsys, A), &schema_ns, "1"), "device_path",
		 MOVED);
	node_link(node_add(want, &schema_port, "1"), A);
	standby_apply(node_root(), want);
	assert_string_equal("inaccessible", state_of(want, "1"));
}

static void not_offered_there(void **state)
{
	struct node *want = target(MOVED, "optimized");

	(void)state;
	node_unlink(node_find(want, &schema_port, "1"), A);
	standby_apply(node_root(), want);
	assert_string_equal("optimized", state_of(want, "2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states),
		cmocka_unit_test(what_a_group_says_of_others),
		cmocka_unit_test(own_group),
		cmocka_unit_test(at_boot),
		cmocka_unit_test(file_without_groups),
		cmocka_unit_test(not_offered_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
