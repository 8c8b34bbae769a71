#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a host that breaks every rule, by name and at random, beside a host that follows them
# check:   none
# timeout: 3600
HOSTILE_CASES=${HOSTILE_CASES:-all}
# on a kernel that watches itself all of them would take days
[ "${VM_WATCHED:-1}" -gt 1 ] || HOSTILE_EVERY=${HOSTILE_EVERY:-1}
HOSTILE_FUZZ=${HOSTILE_FUZZ:-1000}
HOSTILE_IOPS=all
. "$(dirname "$0")/hostile-host.sh"
