#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a host that breaks the rules over iWARP, where private data has the length that was sent
# with:    siw
# check:   none
# timeout: 900
#
# Of work requests iWARP has no atomic, and none with immediate data.
FABRIC=siw
HOSTILE_CASES="cm-* capsule-length* capsule-short before-connect-* sgl-*"
HOSTILE_FUZZ=0
HOSTILE_IOPS=all
. "$(dirname "$0")/hostile-host.sh"
