#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a host that breaks every rule, by name and at random, beside one that keeps them
# check:   none
# timeout: 3600
HOSTILE_CASES=${HOSTILE_CASES:-all}
HOSTILE_EVERY=1
HOSTILE_FUZZ=${HOSTILE_FUZZ:-1000}
HOSTILE_IOPS=all
. "$(dirname "$0")/hostile-host.sh"
