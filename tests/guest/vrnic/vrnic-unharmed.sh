#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the in-tree modules over a virtual RNIC, which does not break them
# with:     vrnic
# variants: none
# check:    none
# timeout:  400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:unharmed
host_load
vrnic_wire roce
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0 $TARGET_IP
step "data"
wire_data $N
vrnic_down
finish
