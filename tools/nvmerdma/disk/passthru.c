// SPDX-License-Identifier: GPL-2.0
/* The disks of an NVMe controller: a host of its passthru writes to all of them */
#include "disk/disk.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

const char *passthru_disk_name(const char *name)
{
	unsigned int subsys, ctrl, ns;
	int end = 0;

	if (sscanf(name, "nvme%un%u%n", &subsys, &ns, &end) == 2 && !name[end])
		return mem_str(name);
	if (sscanf(name, "nvme%uc%un%u%n", &subsys, &ctrl, &ns, &end) == 3 && !name[end])
		return mem_fmt("nvme%un%u", subsys, ns);
	return NULL;
}

struct disks passthru_disks(const char *path)
{
	struct disks disks = { 0 };
	struct names names;
	struct stat st;
	size_t i;

	if (stat(path, &st) || !S_ISCHR(st.st_mode))
		return disks;
	names = names_in("/sys/dev/char/%u:%u", major(st.st_rdev), minor(st.st_rdev));
	for (i = 0; i < names.nr; i++) {
		const char *name = passthru_disk_name(names.name[i]);
		struct disk disk = { 0 };

		if (!name || !place_at(mem_fmt("/sys/class/block/%s", name), &disk.place))
			continue;
		disk.path = mem_fmt("/dev/%s", name);
		disk.real = disk.path;
		disk.kept = disk.path;
		mem_push(disks.disk, disks.nr, disk);
	}
	return disks;
}

void passthru_numbered(const struct node *root)
{
	const struct node *subsys, *node;
	unsigned int nr;
	int end;

	for_each_node(subsys, root, &schema_subsys) {
		for_each_node(node, subsys, &schema_passthru) {
			const char *path = node_get(node, "device_path") ?: "";

			end = 0;
			if (node_is(node, "enable", "1") &&
			    sscanf(path, "/dev/nvme%u%n", &nr, &end) == 1 && !path[end])
				note_msg("%s points to %s, which may name another controller after a reboot; see nvmerdma(8), \"save\"",
					 node_words(node), path);
		}
	}
}
