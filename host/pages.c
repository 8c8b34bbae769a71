// SPDX-License-Identifier: GPL-2.0
/* The memory of common/pages.c: an object of one module, as kbuild wants */
#include "../common/pages.c"
