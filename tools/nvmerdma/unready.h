/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why something cannot be enabled now. Of a namespace that is its disk: it is not there, has
 * no size, is used, is exported otherwise, is another one than before; of a passthru the
 * same of all disks of its controller; of a port its address. Our nvmet-rdma's ports wait by
 * themselves and are always ready; those of the kernel's own and of other transports cannot
 * be enabled before their address is there.
 */
#ifndef NVMERDMA_UNREADY_H
#define NVMERDMA_UNREADY_H

#include "node.h"

/*
 * unready_why() - the whole question, in words: "/dev/sdb is mounted at /mnt"
 * @node: as it is to be, enabled, in a configuration as it is to be: what else is enabled
 *	  there must not have the same data
 *
 * NULL: nothing speaks against it, or it is not to be enabled.
 *
 * A disk of which nothing else says that it is used is opened for a moment, so that
 * nobody else can (O_EXCL): not each second, for that might be just when md, LVM or
 * mkfs wants it.
 */
const char *unready_why(const struct node *node);

/*
 * unready_yet() - the part that may be asked each second: is it there, and has it a size?
 *
 * "there is no /dev/sdb"; NULL: it is there, and unready_why() has the rest.
 */
const char *unready_yet(const struct node *node);

#endif
