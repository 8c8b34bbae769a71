#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a host that breaks the rules, against queues with receives of their own
# check:   none
# timeout: 900
HOSTILE_PARAMS=use_srq=N
HOSTILE_CASES="cm-* capsule-* before-connect-* sgl-* bad-* flood-* recv-* after-*"
HOSTILE_IOPS=all
. "$(dirname "$0")/hostile-host.sh"
