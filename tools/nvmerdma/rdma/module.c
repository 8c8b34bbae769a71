// SPDX-License-Identifier: GPL-2.0
/*
 * Whose a module is.
 *
 * That a module has a version, or is below updates/, says nothing: all that DKMS installs is
 * there. Ours are told by their descriptions, and once loaded by parameters that no other one
 * has.
 */
#include "rdma/rdma.h"

#include <string.h>

enum module_whose module_whose(const char *path, const char *description)
{
	if (description && (!strcmp(description, "NVMe over RDMA host") ||
			    !strcmp(description, "NVMe over RDMA target")))
		return MODULE_OURS;
	return strstr(path, "/kernel/drivers/") ? MODULE_KERNELS : MODULE_OTHERS;
}

bool module_loaded_is_ours(const char *root, const char *sysfs)
{
	return file_there("%s/sys/module/%s/parameters/%s", root, sysfs,
			  strcmp(sysfs, "nvme_rdma") ? "host_pending" : "fabrics_tmo");
}

bool module_target_is_ours(void)
{
	static enum { UNKNOWN, NO, YES } found;

	if (file_there("/sys/module/nvmet_rdma"))
		return module_loaded_is_ours("", "nvmet_rdma");
	if (!found)
		found = module_whose("", program_output(PROGRAM_S, "modinfo", "-F", "description",
							"nvmet-rdma", NULL)) == MODULE_OURS ?
			YES : NO;
	return found == YES;
}
