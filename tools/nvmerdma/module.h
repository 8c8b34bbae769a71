/* SPDX-License-Identifier: GPL-2.0 */
/* Whose a module is: of nvme-rdma.ko and nvmet-rdma.ko a machine may have several */
#ifndef NVMERDMA_MODULE_H
#define NVMERDMA_MODULE_H

#include "base.h"

/* The package with our modules, where that is, and what installs it there */
#define MODULE_PACKAGE	"./nvme-rdma-dkms_*.deb"
#define MODULE_WHERE	"; the package is in the directory where 'make deb' has put it"
#define MODULE_INSTALL	"apt install " MODULE_PACKAGE

enum module_whose {
	MODULE_OURS,
	MODULE_KERNELS,		/* the kernel's own */
	MODULE_OTHERS,		/* somebody else's, as MLNX_OFED's */
};

/*
 * module_whose() - of a module's file
 * @path: as 'modinfo -n' prints it
 * @description: as 'modinfo -F description' does; NULL: it has none
 */
enum module_whose module_whose(const char *path, const char *description);

/*
 * module_loaded_is_ours() - whether it is one of ours that is loaded
 * @root: "", but in tests
 * @sysfs: "nvme_rdma" or "nvmet_rdma"
 */
bool module_loaded_is_ours(const char *root, const char *sysfs);

/*
 * module_target_is_ours() - whether the target's is ours: the one that is loaded, or else that
 * modprobe would load
 *
 * Programs are asked for the latter, once.
 */
bool module_target_is_ours(void);

#endif
