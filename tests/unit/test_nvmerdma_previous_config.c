// SPDX-License-Identifier: GPL-2.0
/* How save treats the content of the file, and what a restore has left disabled */
#include "disks.h"

#include "tools/nvmerdma/restore/restore.h"

#define OTHER	"nqn.2026-01.test:b"

static const struct unavailable none;

/* A restore has left namespace 1 disabled, as its disk is not there */
static struct node *restored(const struct node *file)
{
	struct node *now = node_copy(file);
	struct unavailable missing;

	lose_disk("left");
	missing = unavailable_in(node_root(), file);
	assert_int_equal(missing.nr, 1);
	unavailable_disable(now, missing.node[0]);
	deferred_record(now, &missing);
	return now;
}

static struct node *file_with_two(void)
{
	struct node *file = node_root();

	lose_disk("one");
	make_disk("two");
	add_ns(file, "1", disk("one"), "1");
	add_ns(file, "2", disk("two"), "1");
	return file;
}

static void left_stays_enabled(void **state)
{
	struct node *file = file_with_two(), *now = restored(file);

	(void)state;
	assert_string_equal(deferred_reason(ns_of(now, "1")),
			    mem_fmt("there is no %s", disk("one")));
	assert_null(deferred_reason(ns_of(now, "2")));
	keep_deferred(now, file);
	assert_true(enabled(now, "1"));
	assert_null(deferred_reason(ns_of(now, "1")));
}

/* It was restored from a file that is not there, and saved to a third one */
static void left_of_another_file(void **state)
{
	struct node *now = restored(file_with_two());

	(void)state;
	keep_deferred(now, NULL);
	assert_true(enabled(now, "1"));
	now = restored(file_with_two());
	keep_deferred(now, node_root());
	assert_true(enabled(now, "1"));
	node_set(ns_of(now, "2"), "enable", "0");
	keep_deferred(now, NULL);
	assert_false(enabled(now, "2"));
}

/* Ready by now, but not enabled yet: that is no reason to drop it */
static void left_and_ready(void **state)
{
	struct node *file = file_with_two(), *now = restored(file);

	(void)state;
	make_disk("one");
	keep_deferred(now, file);
	assert_true(enabled(now, "1"));
}

/* What an administrator has disabled stays disabled, whatever happened to its disk */
static void disabled_by_hand(void **state)
{
	struct node *file = file_with_two(), *now = restored(file);

	(void)state;
	node_set(ns_of(now, "2"), "enable", "0");
	lose_disk("two");
	keep_deferred(now, file);
	assert_false(enabled(now, "2"));
}

/* It was enabled meanwhile, and disabled then */
static void enabled_and_disabled(void **state)
{
	struct node *file = file_with_two(), *now = restored(file);

	(void)state;
	node_set(ns_of(now, "1"), "enable", "1");
	deferred_record(now, &none);
	assert_int_not_equal(access(deferred_file, F_OK), 0);
	node_set(ns_of(now, "1"), "enable", "0");
	keep_deferred(now, file);
	assert_false(enabled(now, "1"));
}

static void changed_otherwise(void **state)
{
	struct node *file = file_with_two(), *now = restored(file);

	(void)state;
	node_set(ns_of(now, "1"), "device_path", disk("three"));
	keep_deferred(now, file);
	assert_false(enabled(now, "1"));
	now = restored(file);
	node_set(ns_of(file, "1"), "enable", "0");
	keep_deferred(now, file);
	assert_false(enabled(now, "1"));
}

/* Another restore leaves another one: both are left, with the reason of now */
static void one_after_another(void **state)
{
	struct node *file = file_with_two(), *now = restored(file);
	const struct node *node = ns_of(file, "2");
	const char *why = "it is used";

	(void)state;
	node_set(ns_of(now, "2"), "enable", "0");
	deferred_record(now, &(struct unavailable) { &node, &why, 1 });
	assert_string_equal(deferred_reason(ns_of(now, "2")), why);
	assert_non_null(deferred_reason(ns_of(now, "1")));
	why = "it is still used";
	deferred_record(now, &(struct unavailable) { &node, &why, 1 });
	assert_string_equal(deferred_reason(ns_of(now, "2")), why);
}

static void what_is_lost(void **state)
{
	struct node *file = file_with_two(), *now = node_copy(file), *had;

	(void)state;
	node_add(file, &schema_port, "1");
	node_add(file, &schema_port, "2");
	node_add(node_add(file, &schema_subsys, OTHER), &schema_ns, "1");
	assert_null(describe_lost(file, file, file));
	assert_null(describe_lost(now, file, file));
	assert_string_equal(describe_lost(file, now, now), "1 subsystem, 1 namespace, 2 ports");
	/* removed by this run */
	had = node_copy(file);
	assert_null(describe_lost(file, now, had));
	node_remove(node_find(had, &schema_port, "1"));
	assert_string_equal(describe_lost(file, now, had), "1 port");
}

/* It exists by name, but has changed */
static void what_is_changed(void **state)
{
	struct node *file = file_with_two(), *now = restored(file), *other;
	struct node *host = node_add(file, &schema_host, "nqn.x:h");

	(void)state;
	node_add(now, &schema_host, "nqn.x:h");
	assert_null(describe_lost(file, now, now));
	node_set(host, "dhchap_key", "DHHC-1:00:a:");
	assert_string_equal(describe_lost(file, now, now), "settings");
	/* before it was as in the file */
	assert_null(describe_lost(file, now, file));
	node_set(node_find(now, &schema_host, "nqn.x:h"), "dhchap_key", "DHHC-1:00:a:");
	assert_null(describe_lost(file, now, now));
	other = node_copy(now);
	node_set(ns_of(other, "2"), "device_path", disk("one"));
	assert_string_equal(describe_lost(file, other, other), "settings");
	other = node_copy(now);
	node_link(node_find(file, &schema_subsys, NQN), "nqn.x:h");
	node_set(node_find(file, &schema_subsys, NQN), "attr_allow_any_host", "0");
	node_set(node_find(other, &schema_subsys, NQN), "attr_allow_any_host", "1");
	assert_string_equal(describe_lost(file, other, other), "settings");
}

/* The root has attributes, too */
static void what_the_root_has(void **state)
{
	struct node *file = file_with_two(), *now = node_copy(file);

	(void)state;
	node_set(file, "discovery_nqn", "nqn.2026-01.test:d");
	node_set(now, "discovery_nqn", "nqn.2014-08.org.nvmexpress.discovery");
	assert_string_equal(describe_lost(file, now, now), "settings");
}

/* The group of a disk of nvmerdma-ha need not be there: nothing is lost by that */
static void group_that_nobody_has(void **state)
{
	struct node *file = node_root(), *port = node_add(file, &schema_port, "1");
	struct node *ns = node_add(node_add(file, &schema_subsys, NQN), &schema_ns, "1");

	(void)state;
	node_set(ns, "device_path", "/dev/mapper/nvmerdma-r0");
	node_set(ns, "ana_grpid", "2");
	node_link(port, NQN);
	assert_null(describe_lost(file, node_copy(file), file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left_stays_enabled),
		cmocka_unit_test(left_of_another_file),
		cmocka_unit_test(left_and_ready),
		cmocka_unit_test(disabled_by_hand),
		cmocka_unit_test(enabled_and_disabled),
		cmocka_unit_test(changed_otherwise),
		cmocka_unit_test(one_after_another),
		cmocka_unit_test(what_is_lost),
		cmocka_unit_test(what_is_changed),
		cmocka_unit_test(what_the_root_has),
		cmocka_unit_test(group_that_nobody_has),
	};

	return run_with_disks(tests, NR(tests));
}
