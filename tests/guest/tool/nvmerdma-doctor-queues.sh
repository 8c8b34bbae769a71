#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: finds a controller with fewer I/O queues than processors, and its command connects the others
# shares:  io
# check:   6.12
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/doctor.sh"

N=nqn.2026-01.test:doctor
host_load
wire_up
must "a disk" null_disk nullb0 16
simple_target $N /dev/nullb0

step "one queue"
must "connect" connect $N "$MY_IP4" 4420 -i 1
get_disk $N 1
finds queues note "$CTRL has 1 I/O queue for $(nproc) processors"
check "what is told of it can be seen: ${MEND[0]-}" bash -c "${MEND[0]-false}"
must "as it says, connected anew" eval "disconnect $N && connect $N $MY_IP4 4420"
clean_now
check "disconnect" disconnect $N
all_down
finish
