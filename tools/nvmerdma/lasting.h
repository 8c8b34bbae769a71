/* SPDX-License-Identifier: GPL-2.0 */
/* Names of disks that lead to the same disk after a reboot, which those of the kernel may not */
#ifndef NVMERDMA_LASTING_H
#define NVMERDMA_LASTING_H

#include "place.h"

/* lasting_is() - whether a path is such a name: a link that somebody made, or of device mapper */
bool lasting_is(const char *path);

/* lasting_made() - whether it is one that device mapper, or udev for a kind of disk, has made */
bool lasting_made(const char *path);

/* lasting_sure() - whether it is a name of that very disk, and no other's that takes its place */
bool lasting_sure(const char *path);

/* lasting_sure_name() - such a one of a block device; NULL: udev has made none */
const char *lasting_sure_name(const struct place *place);

/* lasting_name() - one of a block device; NULL: udev has made none */
const char *lasting_name(const struct place *place);

/* lasting_all() - all paths that lasting_name() may give */
struct names lasting_all(void);

/* lasting_better() - whether of two names in /dev/disk/by-id @a tells more surely which disk it
 * is; @b may be NULL
 */
bool lasting_better(const char *a, const char *b);

#endif
