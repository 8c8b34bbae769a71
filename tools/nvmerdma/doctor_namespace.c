// SPDX-License-Identifier: GPL-2.0
/*
 * Namespaces of this machine's target that are not enabled.
 *
 * Often that is as it should be: a restore leaves those disabled whose disk is in use or is
 * another one by now. nvmet itself would enable them when told to, so that a command that
 * does so is printed for a disk alone that 'nvmerdma export' would take.
 */
#include "doctor.h"
#include "doctor_parse.h"

#include <string.h>
#include <unistd.h>

#include "disk.h"
#include "identity.h"

#define SUBSYSTEMS	"/sys/kernel/config/nvmet/subsystems"

static const char *ns_value(struct doctor *d, const char *nqn, const char *id, const char *attr)
{
	return file_read("%s" SUBSYSTEMS "/%s/namespaces/%s/%s", d->root, nqn, id, attr);
}

/* NULL: none was set */
static const char *ns_path(struct doctor *d, const char *nqn, const char *id)
{
	const char *path = ns_value(d, nqn, id, "device_path");

	return path && *path && strcmp(path, "(null)") ? path : NULL;
}

static bool ns_enabled(struct doctor *d, const char *nqn, const char *id)
{
	const char *value = ns_value(d, nqn, id, "enable");

	return !value || strcmp(value, "0");
}

/* The namespaces that are enabled and have a disk, as disk_clash() takes them */
static struct node *enabled_ones(struct doctor *d)
{
	struct names all = names_in("%s" SUBSYSTEMS, d->root);
	struct node *root = node_root();
	size_t i, k;

	for (i = 0; i < all.nr; i++) {
		const char *nqn = all.name[i];
		struct names ids = names_in("%s" SUBSYSTEMS "/%s/namespaces", d->root, nqn);
		struct node *subsys = node_add(root, &shape_subsys, nqn);

		for (k = 0; k < ids.nr; k++) {
			const char *path = ns_path(d, nqn, ids.name[k]);

			if (path && ns_enabled(d, nqn, ids.name[k]))
				node_set(node_add(subsys, &shape_ns, ids.name[k]),
					 "device_path", path);
		}
	}
	return root;
}

static const char *exported_as(struct doctor *d, const struct disk *disk)
{
	const struct node *root = enabled_ones(d), *subsys, *ns;
	const char *clash;

	for_each_node(subsys, root, &shape_subsys) {
		for_each_node(ns, subsys, &shape_ns) {
			clash = disk_clash(disk, ns);
			if (clash)
				return mem_fmt("%s exported already, as %s", clash, node_words(ns));
		}
	}
	return NULL;
}

/* NULL: it may be enabled */
static const char *why_not(struct doctor *d, const char *path, const char *uuid)
{
	struct disk disk;
	const char *why;

	if (!file_there("%s", path))
		return mem_fmt("there is no %s", path);
	why = disk_look(path, &disk);
	if (!why)
		why = disk_user(&disk);
	if (!why)
		why = exported_as(d, &disk);
	return why ?: uuid ? identity_differs(&disk, uuid) : NULL;
}

/* Capitals are to be replaced; what is in use is refused by the first command */
static void mend_without_disk(struct doctor *d, const char *nqn, const char *id)
{
	mend(d, HERE, "nvmerdma export DEVICE --nqn nqn.2026-01.org.example:free --dry-run >/dev/null && cd %s/namespaces && mkdir -p %s && echo DEVICE >%s/device_path && echo 1 >%s/enable",
	     word_for_shell(mem_fmt(SUBSYSTEMS "/%s", nqn)), id, id, id);
}

static void say_disabled(struct doctor *d, const char *nqn, const char *id)
{
	const char *path = ns_path(d, nqn, id), *why;

	found(d, FOUND_WARNING, "namespace %s of %s is not enabled", id, nqn);
	if (!path) {
		because(d, "hosts do not see it, and it names no disk yet: DEVICE, which the command takes if it is free");
		mend_without_disk(d, nqn, id);
		return;
	}
	if (geteuid()) {
		because(d, "hosts do not see %s; whether it is free only root can tell", path);
		mend(d, HERE, "sudo nvmerdma doctor --only target-namespace");
		return;
	}
	why = why_not(d, path, ns_value(d, nqn, id, "device_uuid"));
	if (!why) {
		because(d, "hosts do not see %s", path);
		mend(d, HERE, "echo 1 >%s",
		     word_for_shell(mem_fmt(SUBSYSTEMS "/%s/namespaces/%s/enable", nqn, id)));
		return;
	}
	because(d, "hosts do not see it, and it is not to be enabled as it is: %s. When that is no more so, the doctor says how to enable it",
		why);
	mend(d, HERE, "lsblk -o NAME,SIZE,TYPE,SERIAL,WWN,MOUNTPOINTS; nvmerdma list");
}

static size_t check_namespaces(struct doctor *d, const char *nqn)
{
	struct names ids = names_in("%s" SUBSYSTEMS "/%s/namespaces", d->root, nqn);
	size_t i, bad = 0;

	if (!ids.nr) {
		found(d, FOUND_WARNING, "the subsystem %s has no namespace", nqn);
		because(d, "hosts that connect get no disk; the command gives them DEVICE, if it is free");
		mend_without_disk(d, nqn, "1");
		return 1;
	}
	for (i = 0; i < ids.nr; i++) {
		if (ns_enabled(d, nqn, ids.name[i]))
			continue;
		bad++;
		say_disabled(d, nqn, ids.name[i]);
	}
	return bad;
}

void check_target_namespace(struct doctor *d)
{
	struct names all = names_in("%s" SUBSYSTEMS, d->root);
	size_t i, bad = 0;

	for (i = 0; i < all.nr; i++) {
		/* one that is passed through has the namespaces of its controller */
		if (file_u64(0, "%s" SUBSYSTEMS "/%s/passthru/enable", d->root,
			     all.name[i]) != 1)
			bad += check_namespaces(d, all.name[i]);
	}
	if (!bad)
		found(d, FOUND_OK, "all namespaces are enabled");
}
