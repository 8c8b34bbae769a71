// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma/doctor/namespace.c: the printed command enables a disabled namespace only if
 * its disk exists, is free, and is the one that was exported
 */
#include "machine.h"
#include "tools/nvmerdma/config/config.h"

#define SUBSYSTEMS	"sys/kernel/config/nvmet/subsystems"
#define ENABLE		"echo 1 >/" SUBSYSTEMS "/nqn.x:s/namespaces/1/enable"

static void ns_is(const char *ns, const char *path, const char *enable)
{
	file_is(mem_fmt(SUBSYSTEMS "/%s/device_path", ns), path);
	file_is(mem_fmt(SUBSYSTEMS "/%s/enable", ns), enable);
}

static void disk_is(const char *name, off_t bytes)
{
	file_is(name, "");
	assert_int_equal(truncate(mem_fmt("%s/%s", root, name), bytes), 0);
}

static void check(struct doctor *d)
{
	d->target = configfs_read_below(root);
	check_target_namespace(d);
}

static void not_enabled(const char *why)
{
	struct doctor d = machine(NULL);

	check(&d);
	finds(&d, FOUND_WARNING, "namespace 1 of nqn.x:s is not enabled");
	no_command_has(&d, "echo");
	if (!strstr(d.finding->why, why))
		fail_msg("why: \"%s\", expected: \"%s\"", d.finding->why, why);
}

static void disabled(void **state)
{
	const char *disk = mem_fmt("%s/disk", root);
	struct doctor d = machine(NULL);

	(void)state;
	/* one that was never used; and another one, which is well */
	ns_is("nqn.x:s/namespaces/1", disk, "0");
	ns_is("nqn.x:t/namespaces/1", mem_fmt("%s/other", root), "1");
	not_enabled(mem_fmt("there is no %s", disk));
	disk_is("disk", 0);
	not_enabled("0 bytes");
	disk_is("disk", 1 << 20);
	check(&d);
	finds(&d, FOUND_WARNING, "namespace 1 of nqn.x:s is not enabled");
	mends(&d, 0, ENABLE);

	/* two writers on one disk, by whatever name */
	assert_int_equal(symlink(disk, mem_fmt("%s/other", root)), 0);
	not_enabled("to be namespace 1 of nqn.x:t as well");
	ns_is("nqn.x:t/namespaces/1", mem_fmt("%s/other", root), "0");
	d = machine(NULL);
	check(&d);
	unit_equal(2, d.nr_findings);
	unit_equal(1, d.finding[0].nr_remedies);
}

/* What becomes of a disk that a person names is not left to nvmet, either */
static void no_disk(void **state)
{
	struct doctor d = machine(NULL);

	(void)state;
	ns_is("nqn.x:s/namespaces/1", "(null)", "0");
	check(&d);
	assert_memory_equal(d.finding[0].remedy[0].command, "nvmerdma export DEVICE ", 23);
	assert_non_null(strstr(d.finding[0].remedy[0].command, " --dry-run >/dev/null && "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disabled),
		cmocka_unit_test(no_disk),
	};

	return run_on_machine(tests, NR(tests));
}
