#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    connect, I/O and disconnect while the RDMA device of either side dies at each work request, is removed and created again: no acknowledged write is lost
# with:     vrnic
# variants: ours
# check:    none
# append:   init_on_free=1
# timeout:  9000
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"
. "$GUEST_DIR/lib/steps.sh"

steps_over_wire
all=0
for what in "wr any NTH device-dies" "wr recv NTH device-dies"; do
	deaths "$STEPS_EVERY" $HOST_DEV eth1 "$what from=nvme_rdma"
	all=$((all + KEPT))
	deaths "$STEPS_EVERY" $TARGET_DEV eth0 "$what from=nvmet_rdma"
	all=$((all + KEPT))
done
check "writes acknowledged to rounds that died, and there afterwards: $all" at_least 1 $all
steps_end
vrnic_down
finish
