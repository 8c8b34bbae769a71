/* SPDX-License-Identifier: GPL-2.0 */
/* The disks of an NVMe controller that is passed through as a whole */
#ifndef NVMERDMA_PASSTHRU_H
#define NVMERDMA_PASSTHRU_H

#include "disk.h"

struct disks {
	struct disk *disk;
	size_t nr;
};

/* passthru_disks() - those of the controller /dev/nvme0; none if it is no such device */
struct disks passthru_disks(const char *path);

/*
 * passthru_disk_name() - "nvme0n1" for what sysfs calls a namespace of a controller
 *
 * That is the disk itself or, with native multipath, the path nvme0c1n1 to it. NULL:
 * neither.
 */
const char *passthru_disk_name(const char *name);

/*
 * passthru_numbered() - warn of passthrus by a number, as /dev/nvme0 is
 * @root: a configuration that is saved, or restored
 *
 * At another boot that may be another controller, and nothing in the file tells.
 */
void passthru_numbered(const struct node *root);

#endif
