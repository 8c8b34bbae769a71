/* SPDX-License-Identifier: GPL-2.0 */
/* What a restore at boot had to leave out, and comes later */
#ifndef NVMERDMA_LATE_H
#define NVMERDMA_LATE_H

#include "missing.h"

/*
 * late_follow() - the rest is done: enable what is missing, each as soon as it can be
 * @missing: what was left out; what somebody else has changed meanwhile is left alone
 *
 * Tells systemd that the service is ready, and what it waits for. The lock of
 * configfs_open() is given back, and held for each change only. Returns when nothing is
 * left to wait for.
 */
void late_follow(const struct missing *missing);

#endif
