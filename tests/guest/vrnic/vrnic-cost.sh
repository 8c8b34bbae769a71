#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    cost of a message over the virtual RDMA NIC, in instructions; number of messages that one interrupt handles
# variants: none
# check:    6.12
# with:     vrnic vrnic_test
# icount:   yes
# iommu:    no
# debug:    no
# timeout:  300
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic.sh"

must "a card" vrnic_card 0
must "the modules" vrnic_load
must "vrnic0 is made" vrnic_add 0
[ -n "$VM_ICOUNT" ] || die "the clock of this guest does not count instructions"
vrnic_group cost vrnic0
vrnic_group at-once vrnic0
check "vrnic0 goes" vrnic_del 0
check "vrnic_test can be unloaded" vrnic_unload
finish
