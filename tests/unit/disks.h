/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of restore, save and late with disks, which are files here */
#ifndef UNIT_DISKS_H
#define UNIT_DISKS_H

#include "harness.h"
#include "shell.h"

#include <string.h>
#include <unistd.h>

#include "tools/nvmerdma/restore/restore.h"

#define NQN	"nqn.2026-01.test:a"

/* mkdtemp() fills it in */
static char dir[sizeof("/tmp/nvmerdma-disks.XXXXXX")] = "/tmp/nvmerdma-disks.XXXXXX";

/* A path in the test's own directory, which nothing need have */
static const char *disk(const char *name)
{
	return mem_fmt("%s/%s", dir, name);
}

static __attribute__((unused)) void make_disk(const char *name)
{
	sh("truncate -s 1M %s", disk(name));
}

static __attribute__((unused)) void lose_disk(const char *name)
{
	unlink(disk(name));
}

static struct node *add_ns(struct node *root, const char *nsid, const char *path,
			   const char *enable)
{
	struct node *ns = node_add(node_add(root, &schema_subsys, NQN), &schema_ns, nsid);

	node_set(ns, "device_path", path);
	node_set(ns, "enable", enable);
	return ns;
}

static struct node *ns_of(const struct node *root, const char *nsid)
{
	struct node *subsys = node_find(root, &schema_subsys, NQN);

	assert_non_null(subsys);
	return node_find(subsys, &schema_ns, nsid);
}

static __attribute__((unused)) bool enabled(const struct node *root, const char *nsid)
{
	return node_is(ns_of(root, nsid), "enable", "1");
}

static int run_with_disks(const struct CMUnitTest *tests, size_t nr)
{
	int failed;

	if (!mkdtemp(dir))
		return 1;
	deferred_file = disk("left");
	failed = _cmocka_run_group_tests("disks", tests, nr, NULL, NULL);
	sh("rm -r %s", dir);
	return failed;
}

#endif
