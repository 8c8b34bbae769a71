// SPDX-License-Identifier: GPL-2.0
/* The moderation of common/moderate.c: an object of one module, as kbuild wants */
#include "../common/moderate.c"
