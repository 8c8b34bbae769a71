// SPDX-License-Identifier: GPL-2.0
/* The completion queues of common/cq.c: an object of one module, as kbuild wants */
#include "../common/cq.c"
