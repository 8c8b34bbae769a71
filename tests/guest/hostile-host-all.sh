#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the same as hostile-host, nothing left out, and more of it at random
# check:   none
# timeout: 1800
HOSTILE_EVERY=1
HOSTILE_FUZZ=${HOSTILE_FUZZ:-1000}
. "$(dirname "$0")/hostile-host.sh"
