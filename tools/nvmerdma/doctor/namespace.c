// SPDX-License-Identifier: GPL-2.0
/*
 * Namespaces of this machine's target that are not enabled.
 *
 * Often that is as it should be: a restore leaves those disabled whose disk is in use or is
 * another one by now. nvmet itself would enable them when told to, so that a command that
 * does so is printed for a disk alone that 'nvmerdma export' would take.
 */
#include "doctor/doctor.h"

#include <unistd.h>

#include "restore/restore.h"

#define SUBSYSTEMS	"/sys/kernel/config/nvmet/subsystems"

/* Capitals are to be replaced; what is in use is refused by the first command */
static void fix_without_disk(struct doctor *d, const char *nqn, const char *id)
{
	report_fix(d, HERE, "nvmerdma export DEVICE --nqn nqn.2026-01.org.example:free --dry-run >/dev/null && cd %s/namespaces && mkdir -p %s && echo DEVICE >%s/device_path && echo 1 >%s/enable",
		   word_for_shell(mem_fmt(SUBSYSTEMS "/%s", nqn)), id, id, id);
}

static void say_disabled(struct doctor *d, struct node *ns)
{
	const char *path = node_get(ns, "device_path"), *nqn = ns->parent->name, *why;

	report(d, FOUND_WARNING, "%s is not enabled", node_words(ns));
	if (!path || !*path) {
		report_reason(d, "hosts do not see it, and it names no disk yet: DEVICE, which the command takes if it is free");
		fix_without_disk(d, nqn, ns->name);
		return;
	}
	if (geteuid()) {
		report_reason(d, "hosts do not see %s; whether it is free only root can tell",
			      path);
		report_fix(d, HERE, "sudo nvmerdma doctor --only target-namespace");
		return;
	}
	node_set(ns, "enable", "1");
	why = not_ready_reason(ns);
	node_set(ns, "enable", "0");
	if (!why) {
		report_reason(d, "hosts do not see %s", path);
		report_fix(d, HERE, "echo 1 >%s",
			   word_for_shell(mem_fmt(SUBSYSTEMS "/%s/namespaces/%s/enable", nqn,
						  ns->name)));
		return;
	}
	report_reason(d, "hosts do not see it, and it is not to be enabled as it is: %s. When that is no more so, the doctor says how to enable it",
		      why);
	report_fix(d, HERE, "lsblk -o NAME,SIZE,TYPE,SERIAL,WWN,MOUNTPOINTS; nvmerdma list");
}

static size_t check_namespaces(struct doctor *d, struct node *subsys)
{
	size_t bad = 0;
	struct node *ns;

	if (!node_count(subsys, &schema_ns)) {
		report(d, FOUND_WARNING, "the subsystem %s has no namespace", subsys->name);
		report_reason(d, "hosts that connect get no disk; the command gives them DEVICE, if it is free");
		fix_without_disk(d, subsys->name, "1");
		return 1;
	}
	for_each_node(ns, subsys, &schema_ns) {
		if (!node_is(ns, "enable", "0"))
			continue;
		bad++;
		say_disabled(d, ns);
	}
	return bad;
}

void check_target_namespace(struct doctor *d)
{
	struct node *subsys, *passthru;
	size_t bad = 0;

	for_each_node(subsys, d->target, &schema_subsys) {
		passthru = node_find(subsys, &schema_passthru, "");
		/* one that is passed through has the namespaces of its controller */
		if (!passthru || !node_is(passthru, "enable", "1"))
			bad += check_namespaces(d, subsys);
	}
	if (!bad)
		report(d, FOUND_OK, "all namespaces are enabled");
}
