// SPDX-License-Identifier: GPL-2.0
/* Which of two modules of one name it is: ours, or the kernel's own */
#include "module.h"

#include <string.h>

/* DKMS and 'make install' put ours there; the kernel's own are below kernel/ */
bool module_is_ours(const char *path)
{
	return strstr(path, "/updates/") || strstr(path, "/extra/");
}
