// SPDX-License-Identifier: GPL-2.0
/* Namespaces that a configuration enables and that cannot be enabled now */
#include "disks.h"

#include <time.h>

#include "tools/nvmerdma/restore/restore.h"
#include "tools/nvmerdma/disk/disk.h"

#define THERE	disk("there")
#define NOWHERE	"/dev/not-there"

static struct node *add_port(struct node *root, const char *id, const char *trtype,
			     const char *traddr)
{
	struct node *port = node_add(root, &schema_port, id);

	node_set(port, "addr_trtype", trtype);
	node_set(port, "addr_traddr", traddr);
	node_link(port, NQN);
	return port;
}

static void devices(void **state)
{
	struct node *want = node_root(), *passthru;
	struct unavailable missing;

	(void)state;
	make_disk("there");
	add_ns(want, "1", THERE, "1");
	add_ns(want, "2", NOWHERE, "0");
	add_ns(want, "3", "", "1");
	assert_int_equal(unavailable_in(node_root(), want).nr, 0);
	add_ns(want, "4", NOWHERE, "1");
	passthru = node_add(node_add(want, &schema_subsys, "nqn.2026-01.test:p"),
			    &schema_passthru, "");
	node_set(passthru, "device_path", NOWHERE);
	node_set(passthru, "enable", "1");
	missing = unavailable_in(node_root(), want);
	assert_int_equal(missing.nr, 2);
	assert_string_equal(missing.node[0]->name, "4");
	assert_string_equal(missing.why[0], "there is no " NOWHERE);
	assert_ptr_equal(missing.node[1], passthru);
}

/* It is there, and cannot be exported, or not yet */
static void not_ready(void **state)
{
	struct node *want = node_root();
	struct unavailable missing;

	(void)state;
	make_disk("there");
	add_ns(want, "1", THERE, "1");
	sh(": > %s", disk("empty"));
	add_ns(want, "2", disk("empty"), "1");
	add_ns(want, "3", dir, "1");
	missing = unavailable_in(node_root(), want);
	assert_int_equal(missing.nr, 2);
	assert_non_null(strstr(missing.why[0], "has 0 bytes"));
	assert_string_equal(missing.why[0], not_present_reason(missing.node[0]));
	assert_non_null(strstr(missing.why[1], "is a directory"));
	assert_true(enabled(want, "2"));
}

/* Of two namespaces on the same disk one is enabled: the one that already is */
static void twice(void **state)
{
	struct node *want = node_root(), *have = node_root();
	struct unavailable missing;

	(void)state;
	make_disk("there");
	sh("ln -sf there %s", disk("link"));
	add_ns(want, "1", THERE, "1");
	add_ns(want, "2", disk("link"), "1");
	missing = unavailable_in(have, want);
	assert_int_equal(missing.nr, 1);
	assert_string_equal(missing.node[0]->name, "1");
	assert_non_null(strstr(missing.why[0], "to be namespace 2 of " NQN " as well"));
	add_ns(have, "1", disk("link"), "1");
	missing = unavailable_in(have, want);
	assert_int_equal(missing.nr, 1);
	assert_string_equal(missing.node[0]->name, "2");
	assert_null(not_present_reason(missing.node[0]));
}

static void passthru_names(void **state)
{
	static const struct {
		const char *name, *disk;
	} rows[] = {
		{ "nvme0n1", "nvme0n1" }, { "nvme3c12n4", "nvme3n4" }, { "ng0n1", NULL },
		{ "nvme0n1p1", NULL }, { "nvme0c1n1p1", NULL }, { "hwmon1", NULL },
		{ "nvme0", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		const char *is = passthru_disk_name(rows[i].name);

		unit_context("%s is %s", rows[i].name, is ?: "none");
		unit_equal(1, rows[i].disk ? is && !strcmp(is, rows[i].disk) : !is);
	}
	assert_int_equal(passthru_disks("/dev/null").nr, 0);
	assert_int_equal(passthru_disks(NOWHERE).nr, 0);
}

/* An enabled namespace stays so when its disk's name disappears, but not on another device */
static void what_goes_on(void **state)
{
	struct node *have = node_root(), *want = node_root();

	(void)state;
	add_ns(want, "1", NOWHERE, "1");
	add_ns(have, "1", NOWHERE, "1");
	assert_int_equal(unavailable_in(have, want).nr, 0);
	add_ns(have, "1", NOWHERE, "0");
	assert_int_equal(unavailable_in(have, want).nr, 1);
	add_ns(have, "1", NOWHERE "-either", "1");
	assert_int_equal(unavailable_in(have, want).nr, 1);
}

/* 192.0.2.0/24 belongs to nobody */
static void addresses(void **state)
{
	struct node *want = node_root(), *have;
	struct unavailable missing;

	(void)state;
	add_port(want, "1", "tcp", "127.0.0.1");
	add_port(want, "2", "tcp", "0.0.0.0");
	add_port(want, "3", "fc", "192.0.2.77");
	add_port(want, "4", "tcp", "not-an-address");
	node_unlink(add_port(want, "5", "tcp", "192.0.2.77"), NQN);
	assert_int_equal(unavailable_in(node_root(), want).nr, 0);
	add_port(want, "6", "tcp", "192.0.2.77");
	missing = unavailable_in(node_root(), want);
	assert_int_equal(missing.nr, 1);
	assert_string_equal(missing.node[0]->name, "6");
	assert_string_equal(missing.why[0],
			    "this machine does not have the address 192.0.2.77");
	have = node_copy(want);
	assert_int_equal(unavailable_in(have, want).nr, 0);
	/* one that listens elsewhere has to move there */
	node_set(node_find(have, &schema_port, "6"), "addr_traddr", "127.0.0.1");
	assert_int_equal(unavailable_in(have, want).nr, 1);
}

static void disabled_and_enabled(void **state)
{
	struct node *want = node_root(), *root;
	const struct node *ns = add_ns(want, "1", NOWHERE, "1");
	const struct node *port = add_port(want, "1", "tcp", "192.0.2.77");

	(void)state;
	root = node_copy(want);
	assert_null(unavailable_enable(root, ns));
	assert_null(unavailable_enable(root, port));
	unavailable_disable(root, ns);
	unavailable_disable(root, port);
	assert_true(node_is(node_find(node_find(root, &schema_subsys, NQN), &schema_ns, "1"),
			    "enable", "0"));
	assert_null(node_find(root, &schema_port, "1")->links);
	assert_non_null(unavailable_enable(root, ns));
	assert_non_null(unavailable_enable(root, port));
	assert_int_equal(unavailable_in(root, want).nr, 0);
	assert_true(node_linked(node_find(root, &schema_port, "1"), NQN));
}

/* A change by another program is left alone */
static void changed_meanwhile(void **state)
{
	struct node *want = node_root(), *root = node_root();
	const struct node *ns = add_ns(want, "1", NOWHERE, "1");
	const struct node *port = add_port(want, "1", "tcp", "192.0.2.77");

	(void)state;
	assert_null(unavailable_enable(root, ns));
	assert_null(unavailable_enable(root, port));
	add_ns(root, "1", THERE, "0");
	assert_null(unavailable_enable(root, ns));
	assert_true(node_is(node_find(node_find(root, &schema_subsys, NQN), &schema_ns, "1"),
			    "enable", "0"));
	node_remove(node_find(root, &schema_subsys, NQN));
	unavailable_disable(add_port(root, "1", "tcp", "192.0.2.77")->parent, port);
	assert_null(unavailable_enable(root, port));	/* the subsystem has gone */
	assert_null(node_find(root, &schema_port, "1")->links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices),
		cmocka_unit_test(not_ready),
		cmocka_unit_test(twice),
		cmocka_unit_test(passthru_names),
		cmocka_unit_test(what_goes_on),
		cmocka_unit_test(addresses),
		cmocka_unit_test(disabled_and_enabled),
		cmocka_unit_test(changed_meanwhile),
	};

	return run_with_disks(tests, NR(tests));
}
