/* SPDX-License-Identifier: GPL-2.0 */
/* The disks of an export */
#ifndef NVMERDMA_EXPORT_DISKS_H
#define NVMERDMA_EXPORT_DISKS_H

#include "disk.h"

/*
 * export_disks() - look at what is to be exported
 * @paths: what was named, @nr of them
 * @own_uuid: the UUID was named, too
 * @save: it is to be there after a reboot
 * @have: what is exported already
 * @disks: as many
 *
 * 0, or -1: one of them is not there, used, exported or named twice, or nothing will tell it
 * from another disk where it is to be saved, and it was said.
 */
int export_disks(char **paths, size_t nr, bool own_uuid, bool save, const struct node *have,
		 struct disk **disks);

#endif
