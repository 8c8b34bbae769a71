#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    connect, I/O and disconnect while each work request of the host fails once by number, its completion is late, early, doubled or lost, and the queue pair dies at each of them
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
steps_through_all $HOST_DEV nvme_rdma
steps_end
vrnic_down
finish
