/* SPDX-License-Identifier: GPL-2.0 */
/* Which of two modules of one name it is: ours, or the kernel's own */
#ifndef NVMERDMA_MODULE_H
#define NVMERDMA_MODULE_H

#include <stdbool.h>

/* module_is_ours() - by the path that 'modinfo -n' prints */
bool module_is_ours(const char *path);

#endif
